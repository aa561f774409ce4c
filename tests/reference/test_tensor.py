"""What a tensor is: E1, E2, E9 to E13, E20 and E21.

Each test carries the code of its line. Promotion, fancy indexing, item assignment
and the further operators are gtape's decisions; TensorFlow refuses them.
"""

import contextlib
import copy
import pickle
import re

import numpy as np
import pytest

import gtape as gt
from tests.reference.content import content, typed

# TensorFlow says ValueError for a dtype that does not fit; gtape's DTypeError is a
# TypeError. Both name the fault.
DTYPE_FAULT = (TypeError, ValueError)


# ---- E1: constant ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int32"),
        (2**31 - 1, "int32"),
        (2**31, "int64"),
        (-(2**31) - 1, "int64"),
        ([1, 2**40], "int64"),
        (1.0, "float32"),
        (True, "bool"),
        (1j, "complex128"),
        ([1, 2.5], "float32"),
        ([1, True], "int32"),
        ([], "float32"),
        ([[1, 2], [3, 4]], "int32"),
        ((1.0, 2.0), "float32"),
        ([np.float64(1.0), np.float64(2.0)], "float64"),
        (np.ones(2), "float64"),
        (np.ones(2, np.float16), "float16"),
        (np.arange(2, dtype=np.int64), "int64"),
        (np.array([True]), "bool"),
        (np.ones(1, np.complex64), "complex64"),
    ],
)
def test_e1_dtype(value, dtype):
    assert gt.constant(value).dtype == getattr(gt, dtype)


def test_e1_empty_list():
    t = gt.constant([])
    assert t.shape == (0,)


def test_e1_integer_that_fits_nowhere():
    with pytest.raises((ValueError, OverflowError), match=r"(?i)int|too large|range"):
        gt.constant(2**63)


def test_e1_mixed_bool_and_float():
    with pytest.raises(DTYPE_FAULT, match=r"(?i)mixed|bool"):
        gt.constant([True, 2.0])


@pytest.mark.parametrize("value", [[[1.0, 2.0], [3.0]], [1.0, [2.0]], [[1], [[2]]]])
def test_e1_ragged_list(value):
    with pytest.raises(ValueError, match=r"(?i)rectang|ragged|shape|length|nest"):
        gt.constant(value)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, "None"),
        ({"a": 1.0}, "dict"),
        ("text", "str"),
        (["a", "b"], "str"),
        ([1.0, None], "None"),
        (object(), "object"),
    ],
)
def test_e1_what_is_no_tensor(value, word):
    with pytest.raises(DTYPE_FAULT, match=word):
        gt.constant(value)


def test_e1_shape_fills_or_reshapes():
    assert content(gt.constant(2.0, shape=(2, 2))) == [[2.0, 2.0], [2.0, 2.0]]
    assert content(gt.constant([1, 2, 3, 4], shape=(2, 2))) == [[1, 2], [3, 4]]


def test_e1_shape_of_wrong_size():
    with pytest.raises((TypeError, ValueError), match=r"(?s)3"):
        gt.constant([1.0, 2.0, 3.0], shape=(2, 2))


def test_e1_no_truncation():
    with pytest.raises(TypeError, match="int32"):
        gt.constant(1.5, dtype=gt.int32)


def test_e1_dtype_argument():
    assert gt.constant(1, dtype=gt.float64).dtype == gt.float64
    assert gt.constant([1, 2], dtype="int8").dtype == gt.int8
    assert gt.constant(1.5, dtype=np.float16).dtype == gt.float16
    assert gt.constant(np.ones(2), dtype=gt.float32).dtype == gt.float32


def test_e1_tensor_and_another_dtype():
    with pytest.raises(DTYPE_FAULT, match="float64"):
        gt.constant(gt.constant(1.0), dtype=gt.float64)


def test_e1_list_of_tensors_is_stacked_or_refused():
    t = gt.constant(1.5)
    try:
        s = gt.constant([t, t * 2.0])
    except (TypeError, ValueError):  # as TensorFlow
        return
    assert s.dtype == gt.float32
    assert content(s) == [1.5, 3.0]


def test_e1_array_is_copied():
    array = np.ones(2)
    t = gt.constant(array)
    array[0] = 9.0
    assert content(t) == [1.0, 1.0]


# ---- E2: convert_to_tensor ------------------------------------------------------


def test_e2_array_is_cast():
    t = gt.convert_to_tensor(np.ones(2), dtype=gt.float32)
    assert t.dtype == gt.float32


def test_e2_tensor_is_not_cast():
    t = gt.constant(1.0)
    assert content(gt.convert_to_tensor(t, dtype=gt.float32)) == 1.0
    with pytest.raises(DTYPE_FAULT, match="float64"):
        gt.convert_to_tensor(t, dtype=gt.float64)


def test_e2_dtype_hint_is_a_soft_wish():
    assert gt.convert_to_tensor(1, dtype_hint=gt.float64).dtype == gt.float64
    assert gt.convert_to_tensor(1.5, dtype_hint=gt.int32).dtype == gt.float32
    t = gt.constant(1.0)
    assert gt.convert_to_tensor(t, dtype_hint=gt.float64).dtype == gt.float32


def test_e2_variable_becomes_a_tensor():
    v = gt.Variable([1.0, 2.0])
    t = gt.convert_to_tensor(v)
    v.assign([3.0, 4.0])
    assert isinstance(t, gt.Tensor)
    assert content(t) == [1.0, 2.0]


# ---- E9: item assignment and hash -----------------------------------------------


def test_e9_item_assignment_updates_the_name():
    a = gt.constant([1.0, 2.0, 3.0])
    a[1] = 20.0
    assert content(a) == [1.0, 20.0, 3.0]
    a[0:2] = [7.0, 8.0]
    assert content(a) == [7.0, 8.0, 3.0]
    a[-1] = gt.constant(9.0)
    assert content(a) == [7.0, 8.0, 9.0]


def test_e9_earlier_views_and_copies_keep_their_values():
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    a = gt.constant(array)
    row = a[0]
    turned = gt.transpose(a)
    flat = gt.reshape(a, [-1])
    same = gt.identity(a)
    out = a.numpy()
    a[0, 0] = 9.0
    assert content(a) == [[9.0, 2.0], [3.0, 4.0]]
    assert content(row) == [1.0, 2.0]
    assert content(turned) == [[1.0, 3.0], [2.0, 4.0]]
    assert content(flat) == [1.0, 2.0, 3.0, 4.0]
    assert content(same) == [[1.0, 2.0], [3.0, 4.0]]
    assert out[0, 0] == 1.0
    assert array[0, 0] == 1.0


def test_e9_item_assignment_is_recorded():
    v = gt.Variable([1.0, 2.0, 3.0])
    with gt.GradientTape() as tape:
        t = v * 1.0
        before = gt.reduce_sum(t * t)
        t[1] = v[0] * 10.0
        y = gt.reduce_sum(t * t)
        both = before + y
    assert content(t) == [1.0, 10.0, 3.0]
    assert content(tape.gradient(both, v)) == [204.0, 4.0, 12.0]


def test_e9_read_and_overwrite_in_a_loop():
    v = gt.Variable(1.1, dtype=gt.float64)
    with gt.GradientTape() as tape:
        c = gt.ones(4, dtype=gt.float64) * 0.5
        c[0] = v
        for i in range(1, 4):
            c[i] = c[i - 1] * c[i - 1]
        y = c[3]
    np.testing.assert_allclose(y.numpy(), 1.1**8, rtol=1e-12)
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), 8 * 1.1**7, rtol=1e-12)


def test_e9_item_assignment_checks_shape_and_index():
    a = gt.constant([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match=r"(?s)3"):
        a[0] = [1.0, 2.0, 3.0]
    with pytest.raises(IndexError, match=r"(?s)5"):
        a[5] = 1.0
    assert content(a) == [[1.0, 2.0], [3.0, 4.0]]


def test_e9_hash_is_refused():
    t = gt.constant(1.0)
    with pytest.raises(TypeError, match="ref"):
        hash(t)
    assert {t.ref(): 3}[t.ref()] == 3
    assert t.ref().deref() is t


# ---- E10: attributes ------------------------------------------------------------


def test_e10_shape():
    t = gt.ones((2, 3))
    assert t.shape == (2, 3)
    assert t.shape != (3, 2)
    assert tuple(t.shape) == (2, 3)
    assert t.shape[0] == 2
    assert t.shape[-1] == 3
    assert len(t.shape) == 2
    assert t.get_shape() == (2, 3)
    assert t.ndim == 2


def test_e10_shape_compares_with_lists():
    assert gt.ones((2, 3)).shape == [2, 3]
    assert gt.ones(()).shape == []


def test_e10_shape_methods():
    shape = gt.ones((2, 3)).shape
    assert shape.rank == 2
    assert shape.as_list() == [2, 3]
    assert shape.num_elements() == 6
    assert shape.is_fully_defined()
    assert str(shape) == "(2, 3)"


def test_e10_dtype():
    dtype = gt.ones(2).dtype
    assert dtype == gt.float32
    assert dtype == np.float32
    assert dtype == "float32"
    assert dtype != gt.float64
    assert dtype.name == "float32"
    assert dtype.as_numpy_dtype is np.float32
    assert dtype.is_floating
    assert dtype.size == 4
    assert dtype.max == np.finfo(np.float32).max
    assert np.dtype(dtype) == np.float32


def test_e10_dtype_of_integers():
    assert not gt.int32.is_floating
    assert gt.int32.is_integer
    assert gt.int8.max == 127
    assert gt.int8.min == -128
    assert {gt.int8: 1}[gt.constant(1, dtype=gt.int8).dtype] == 1


def test_e10_numpy_is_a_writable_copy():
    t = gt.constant([1.0, 2.0])
    array = t.numpy()
    array[0] = 9.0
    assert content(t) == [1.0, 2.0]


def test_e10_device_and_ref():
    t = gt.constant(1.0)
    assert "CPU" in t.device.upper()
    assert t.ref() == t.ref()
    assert t.ref() != gt.constant(1.0).ref()


# ---- E11: NumPy -----------------------------------------------------------------


def test_e11_array():
    t = gt.constant([1.0, 2.0])
    assert type(np.array(t)) is np.ndarray
    assert np.asarray(t).dtype == np.float32
    assert np.asarray(t, np.float64).dtype == np.float64
    assert np.array(t).tolist() == [1.0, 2.0]


def test_e11_asarray_cannot_change_the_tensor():
    t = gt.constant([1.0, 2.0])
    array = np.asarray(t)
    with contextlib.suppress(ValueError):  # where the array is read-only
        array[0] = 9.0
    assert content(t) == [1.0, 2.0]


def test_e11_array_times_tensor_is_a_tensor():
    t = gt.constant([[1.0, 2.0], [3.0, 4.0]])
    a = np.ones((2, 2), np.float32)
    for r in (a * t, a @ t, a + t, a > t, t @ a):
        assert isinstance(r, gt.Tensor)


def test_e11_array_stays_an_array_in_place():
    a = np.ones(2, np.float32)
    same = a
    a += gt.constant([1.0, 2.0])
    assert type(a) is np.ndarray
    assert a.tolist() == [2.0, 3.0]
    assert same is a


NUMPY_FUNCTIONS = {
    "sin": lambda u: np.sin(u),
    "square": lambda u: np.square(u),
    "multiply": lambda u: np.multiply(u, 3.0),
    "sum": lambda u: np.sum(u * u),
    "mean": lambda u: np.mean(u * u),
    "max": lambda u: np.max(u * u),
    "concatenate": lambda u: np.concatenate([u, u * u]),
    "stack": lambda u: np.stack([u, u * u]),
    "where": lambda u: np.where(u > 1.0, u * u, 0.0),
    "reshape": lambda u: np.reshape(u * u, (3, 1)),
    "exp": lambda u: np.exp(u),
    "maximum": lambda u: np.maximum(u, 1.5),
    "matmul": lambda u: np.matmul(np.ones((2, 3)), np.reshape(u * u, (3, 1))),
}


@pytest.mark.parametrize("name", list(NUMPY_FUNCTIONS))
def test_e11_numpy_functions_are_recorded(name):
    f = NUMPY_FUNCTIONS[name]
    point = np.array([0.5, 1.25, 2.0])
    v = gt.Variable(point)
    with gt.GradientTape() as tape:
        y = f(v)
    assert isinstance(y, gt.Tensor)
    np.testing.assert_allclose(y.numpy(), f(point), rtol=1e-12)
    steps = 1e-6 * np.eye(3)
    numeric = [np.sum(f(point + s) - f(point - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), numeric, rtol=1e-6)


def test_e11_dlpack():
    t = gt.constant([1.0, 2.0])
    assert np.from_dlpack(t).tolist() == [1.0, 2.0]


# ---- E12, X17: indexing ---------------------------------------------------------


A = np.arange(60.0).reshape(3, 4, 5)
MASK = A[:, :, 0] % 3 == 0

INDICES = {
    "integer": 1,
    "negative": -1,
    "two integers": (1, 2),
    "slice": slice(1, 3),
    "negative step": slice(None, None, -1),
    "negative step with bounds": slice(2, 0, -1),
    "clipped slice": slice(1, 100),
    "empty slice": slice(2, 1),
    "step": (slice(None), slice(None, None, 2)),
    "ellipsis": (..., 0),
    "ellipsis in the middle": (0, ..., 1),
    "newaxis": (None, 1),
    "newaxis later": (slice(None), None, 2),
    "numpy integer": np.int64(2),
    "array": np.array([0, 2, 2]),
    "list": [0, 2],
    "negative array": np.array([-1, 0]),
    "two arrays": (np.array([0, 2]), np.array([1, 3])),
    "broadcast arrays": (np.array([[0], [2]]), np.array([1, 3])),
    "array and slice": (np.array([0, 2]), slice(1, 3)),
    "slice and array": (slice(None), np.array([0, 3, 0])),
    "arrays apart": (np.array([0, 2]), slice(None), np.array([1, 4])),
    "integer and array": (1, slice(None), np.array([0, 0])),
    "array of rank two": np.array([[0, 1], [2, 0]]),
    "mask": MASK,
    "mask of full rank": A > 30.0,
    "mask of one axis": np.array([True, False, True]),
    "mask later": (slice(None), np.array([True, False, True, False])),
    "mask and integer": (MASK, 1),
    "empty array": np.array([], np.int64),
}


@pytest.mark.parametrize("name", list(INDICES))
def test_e12_x17_indexing_as_numpy(name):
    index = INDICES[name]
    t = gt.constant(A)
    expected = A[index]
    r = t[index]
    assert r.shape == expected.shape
    np.testing.assert_array_equal(r.numpy(), expected)


@pytest.mark.parametrize("name", list(INDICES))
def test_e12_gradient_of_indexing(name):
    index = INDICES[name]
    v = gt.Variable(A)
    weights = np.arange(1.0, A[index].size + 1).reshape(A[index].shape)
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(v[index] * weights)
    expected = np.zeros_like(A)
    np.add.at(expected, index, weights)
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), expected, rtol=1e-12)


def test_e12_tensors_as_indices():
    t = gt.constant(A)
    np.testing.assert_array_equal(t[gt.constant(1)].numpy(), A[1])
    np.testing.assert_array_equal(t[gt.constant(1) :].numpy(), A[1:])
    np.testing.assert_array_equal(t[:, gt.constant([0, 2])].numpy(), A[:, [0, 2]])
    np.testing.assert_array_equal(t[t > 30.0].numpy(), A[A > 30.0])


def test_e12_x17_list_is_fancy():
    a = gt.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    assert content(a[[0, 2]]) == [[1, 2, 3], [7, 8, 9]]
    assert content(a[np.array([0, 2])]) == [[1, 2, 3], [7, 8, 9]]


@pytest.mark.parametrize("index", [1.0, "a", gt.constant(1.0), np.array([1.0]), 1j])
def test_e12_bad_index_kinds(index):
    with pytest.raises((TypeError, IndexError), match=r"(?i)ind"):
        gt.constant(A)[index]


@pytest.mark.parametrize(
    ("index", "axis", "value", "size"),
    [
        (5, 0, 5, 3),
        (-4, 0, -4, 3),
        ((0, 7), 1, 7, 4),
        ((slice(None), slice(None), 9), 2, 9, 5),
        (np.array([0, 8]), 0, 8, 3),
        ((slice(None), [1, -9]), 1, -9, 4),
        (gt.constant(6), 0, 6, 3),
    ],
)
def test_e12_out_of_range_names_axis_value_and_size(index, axis, value, size):
    with pytest.raises(IndexError) as caught:
        gt.constant(A)[index]
    numbers = re.findall(r"-?\d+", str(caught.value))
    assert {str(axis), str(value), str(size)} <= set(numbers)


def test_e12_too_many_indices():
    with pytest.raises(IndexError, match=r"(?i)too many|\b4\b"):
        gt.constant(A)[0, 0, 0, 0]


@pytest.mark.parametrize("bad", [3, -1])
def test_e12_gather_out_of_range(bad):
    with pytest.raises(IndexError, match=rf"(?s){bad}.*3"):
        gt.gather(gt.constant([1.0, 2.0, 3.0]), [0, bad])


# ---- E13: shapes ----------------------------------------------------------------


def test_e13_reshape_with_two_unknowns():
    with pytest.raises(ValueError, match=r"-1"):
        gt.reshape(gt.ones(4), [-1, -1])


def test_e13_reshape_of_wrong_size():
    with pytest.raises(ValueError, match=r"(?s)4.*3|3.*4"):
        gt.reshape(gt.ones(4), [3])
    with pytest.raises(ValueError, match=r"(?s)4.*3|3.*4"):
        gt.reshape(gt.ones(4), [3, -1])


def test_e13_squeeze_of_a_long_axis():
    with pytest.raises(ValueError, match=r"(?s)2"):
        gt.squeeze(gt.ones((1, 2)), axis=1)


# ---- E20: text ------------------------------------------------------------------


STR = [
    (1.5, "gt.Tensor(1.5, shape=(), dtype=float32)"),
    (1e-10, "gt.Tensor(1e-10, shape=(), dtype=float32)"),
    (3, "gt.Tensor(3, shape=(), dtype=int32)"),
    (True, "gt.Tensor(True, shape=(), dtype=bool)"),
    ([1.0, 2.0], "gt.Tensor([1. 2.], shape=(2,), dtype=float32)"),
    ([], "gt.Tensor([], shape=(0,), dtype=float32)"),
    ([[1, 2], [3, 4]], "gt.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"),
    # A line of its own is for values of several lines.
    ([[1, 2]], "gt.Tensor([[1 2]], shape=(1, 2), dtype=int32)"),
]


@pytest.mark.parametrize(("value", "expected"), STR)
def test_e20_str(value, expected):
    assert str(gt.constant(value)) == expected


REPR = [
    (1.5, "<gt.Tensor: shape=(), dtype=float32, numpy=1.5>"),
    (1e-10, "<gt.Tensor: shape=(), dtype=float32, numpy=1.000000013351432e-10>"),
    (3, "<gt.Tensor: shape=(), dtype=int32, numpy=3>"),
    (True, "<gt.Tensor: shape=(), dtype=bool, numpy=True>"),
    (
        [1.0, 2.0],
        "<gt.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>",
    ),
    (
        [[1, 2], [3, 4]],
        "<gt.Tensor: shape=(2, 2), dtype=int32, numpy=\n"
        "array([[1, 2],\n       [3, 4]], dtype=int32)>",
    ),
    (
        [[1, 2]],
        "<gt.Tensor: shape=(1, 2), dtype=int32, numpy=array([[1, 2]], dtype=int32)>",
    ),
]


@pytest.mark.parametrize(("value", "expected"), REPR)
def test_e20_repr(value, expected):
    assert repr(gt.constant(value)) == expected


def test_e20_format():
    t = gt.constant(1.5)
    assert f"{t}" == "1.5"
    assert f"{t:.2f}" == "1.50"
    assert f"{gt.constant(3):03d}" == "003"


def test_e20_format_of_an_array():
    t = gt.constant([1.0, 2.0])
    assert f"{t}" == "[1. 2.]"
    with pytest.raises(TypeError, match=r"(?i)format"):
        f"{t:.2f}"


# ---- E21: copies ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int64", "complex64"])
def test_e21_pickle(name):
    t = typed([1, 2], name)
    r = pickle.loads(pickle.dumps(t))
    assert isinstance(r, gt.Tensor)
    assert r.dtype == t.dtype
    assert content(gt.cast(r, gt.complex128)) == [1.0, 2.0]


def test_e21_deepcopy():
    t = gt.constant([1.0, 2.0])
    r = copy.deepcopy(t)
    assert isinstance(r, gt.Tensor)
    t[0] = 9.0
    assert content(r) == [1.0, 2.0]


def test_e10_set_shape_and_cpu():
    t = gt.constant([[1.0, 2.0]])
    t.set_shape([None, 2])
    assert t.cpu() is t
    with pytest.raises(ValueError, match=r"\(1, 2\)"):
        t.set_shape([3, 2])
