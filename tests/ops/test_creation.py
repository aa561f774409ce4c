"""Tensors from values, and filled ones: what the table cannot say."""

import enum
import fractions
import time

import numpy as np
import pytest

import gtape as gt
from gtape import dispatch, errors
from gtape.ops.creation import (
    constant,
    convert_to_tensor,
    eye,
    fill,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from gtape.testing import check_grads


class Level(enum.IntEnum):
    LOW = 3


def content(tensor):
    return tensor.numpy().tolist()


# --- constant -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (range(3), "int32", [0, 1, 2]),
        (range(2**31, 2**31 + 2), "int64", [2**31, 2**31 + 1]),
        (range(0), "int32", []),
        (range(3, 0, -1), "int32", [3, 2, 1]),
        ([range(2), range(2)], "int32", [[0, 1], [0, 1]]),
        (Level.LOW, "int32", 3),
        ([Level.LOW, 1], "int32", [3, 1]),
        ([[True, False]], "bool", [[True, False]]),
        ([1, 2.5, 1j], "complex128", [1, 2.5, 1j]),
        ([np.ones(2), [1, 2]], "float64", [[1.0, 1.0], [1.0, 2.0]]),
        ([np.float16(1), 2.5], "float16", [1.0, 2.5]),
        (np.float32(1.5), "float32", 1.5),
        (np.array(2), "int64", 2),
        (np.array([1.0], ">f8"), "float64", [1.0]),
        (1e300, "float32", np.inf),
        ([1e300, -1e300], "float32", [np.inf, -np.inf]),
        ([[], []], "float32", [[], []]),
    ],
)
def test_constant_of_python_and_numpy_values(value, dtype, expected):
    t = constant(value)
    assert t.dtype == dtype
    assert content(t) == expected


@pytest.mark.parametrize("dtype", [d.name for d in gt.dtypes.ALL])
def test_constant_of_every_dtype(dtype):
    value = [True, False] if dtype == "bool" else [1, 0]
    assert constant(value, dtype).dtype == dtype
    assert constant(value[0], dtype).dtype == dtype
    assert constant(np.array(value), dtype).dtype == dtype


def test_constant_follows_the_default_float():
    gt.set_default_float("float64")
    try:
        assert constant(1.5).dtype == "float64"
        assert zeros([2]).dtype == "float64"
        assert eye(2).dtype == "float64"
    finally:
        gt.set_default_float("float32")


def test_constant_of_what_has_an_array_protocol():
    class Foreign:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    assert content(constant(Foreign())) == [0.0, 1.0, 2.0]
    assert constant(Foreign(), gt.float32).dtype == "float32"


def test_constant_of_tensors():
    t, v = constant(1.5), gt.Variable(2.5)
    assert constant(t).numpy() == 1.5
    assert constant(t) is not t
    assert content(constant([t, v, 3.5])) == [1.5, 2.5, 3.5]
    with gt.GradientTape() as tape:
        y = constant([v * v, 1.0], shape=(2, 1))
    assert content(tape.gradient(y, v)) == 5.0


def test_constant_with_a_shape_has_a_gradient():
    check_grads(lambda x: constant(x, shape=(2, 2)), np.array(1.5))
    check_grads(lambda x: constant(x, shape=(2, 2)), np.arange(4.0))


REFUSED = [
    ((fractions.Fraction(1, 2),), errors.ArgumentTypeError, "type Fraction"),
    ((b"ab",), errors.ArgumentTypeError, "bytes"),
    (({1, 2},), errors.ArgumentTypeError, "set"),
    ((iter([1]),), errors.ArgumentTypeError, "iterator"),
    ((np.array(["a"]),), errors.DTypeError, "<U1"),
    ((np.array([None]),), errors.DTypeError, "object"),
    (([[1, 2], [3]],), errors.ArgumentError, "ragged"),
    (([1, [2]],), errors.ArgumentError, "ragged"),
    (([True, 2.0],), errors.DTypeError, "mixes bools with floats"),
    ((2**63,), errors.RangeError, "9223372036854775808 is out of the range of int64"),
    (([2**63, -1],), errors.RangeError, "int64"),
    ((10**5000,), errors.RangeError, "huge int"),
    ((range(10**30),), errors.RangeError, "int64"),
    ((range(10**18),), errors.TensorMemoryError, "memory"),
    ((300, "int8"), errors.RangeError, "300 is out of the range of int8, -128 to 127"),
    (([1, 300], "int8"), errors.RangeError, "int8"),
    ((np.array([1, 300]), "int8"), errors.RangeError, "300"),
    ((-1, "uint8"), errors.RangeError, "0 to 255"),
    ((10**400, "float32"), errors.RangeError, "float32"),
    ((10**400, "complex64"), errors.RangeError, "complex64"),
    ((1.5, "int32"), errors.DTypeError, "1.5 does not fit the dtype int32"),
    ((np.array([1.5]), "int32"), errors.DTypeError, "an array of float64"),
    ((np.float64(1.5), "int32"), errors.DTypeError, "1.5"),
    ((float("nan"), "int64"), errors.DTypeError, "nan"),
    ((1j, "float32"), errors.DTypeError, "1j"),
    ((1, "bool"), errors.DTypeError, "bool"),
    (([np.uint64(1), np.int64(1)],), errors.DTypeError, "uint64 and int64"),
    (([1.0, 2.0], None, (3,)), errors.ShapeError, r"2 elements for shape \(3,\)"),
    (([], None, (3,)), errors.ShapeError, r"0 elements for shape \(3,\)"),
    ((1.0, None, (2, -1)), errors.ArgumentError, "negative size -1"),
    ((1.0, None, "ab"), errors.ArgumentError, "'ab' is not a shape"),
    ((1.0, None, (10**12,)), errors.TensorMemoryError, "4000000000000 bytes"),
]


@pytest.mark.parametrize(("args", "error", "text"), REFUSED)
@pytest.mark.filterwarnings("error")
def test_constant_refuses(args, error, text):
    with pytest.raises(error, match=f"constant: .*{text}") as caught:
        constant(*args)
    assert "test_creation.py" in str(caught.value)


def test_constant_refuses_a_list_that_holds_itself():
    endless = []
    endless.append(endless)
    with pytest.raises(errors.ArgumentError, match="too deep"):
        constant(endless)


def test_constant_refuses_another_dtype_for_a_tensor():
    with pytest.raises(
        errors.DTypeError, match=r"float64 for a tensor of float32.*cast"
    ):
        constant(constant(1.0), dtype=gt.float64)
    with pytest.raises(errors.DTypeError, match="int32 for a tensor of float32"):
        constant([gt.Variable(1.0), 2], dtype=gt.int32)


def test_constant_refuses_what_is_no_dtype():
    with pytest.raises(errors.DTypeError, match="'flot32' is not a dtype"):
        constant(1.0, dtype="flot32")


def test_a_range_error_is_a_type_error_and_a_value_error():
    assert issubclass(errors.RangeError, TypeError)
    assert issubclass(errors.RangeError, ValueError)


# --- convert_to_tensor ----------------------------------------------------------------


def test_convert_to_tensor_hint():
    assert convert_to_tensor([1, 2], dtype_hint="float16").dtype == "float16"
    assert convert_to_tensor(300, dtype_hint="int8").dtype == "int32"
    assert convert_to_tensor(np.ones(2), dtype_hint="float32").dtype == "float32"
    assert convert_to_tensor(1.5, dtype="float64", dtype_hint="int8").dtype == "float64"


def test_convert_to_tensor_refuses():
    with pytest.raises(errors.DTypeError, match="'real' is not a dtype"):
        convert_to_tensor(1, dtype_hint="real")
    with pytest.raises(errors.ArgumentTypeError, match="convert_to_tensor: None"):
        convert_to_tensor(None)
    with pytest.raises(errors.ArgumentError, match=r"convert_to_tensor: .*ragged"):
        convert_to_tensor([[1], [2, 3]], dtype_hint="float32")


# --- Filled ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [d.name for d in gt.dtypes.ALL])
def test_filled_in_every_dtype(dtype):
    for t, value in ((zeros([2, 3], dtype), 0), (ones([2, 3], dtype), 1)):
        assert t.dtype == dtype
        assert t.shape == (2, 3)
        assert (t.numpy() == value).all()
    assert eye(2, dtype=dtype).dtype == dtype
    assert content(gt.cast(eye(2, dtype=dtype), "int32")) == [[1, 0], [0, 1]]
    assert zeros_like(ones([2], dtype)).dtype == dtype
    assert ones_like(zeros([2], dtype)).dtype == dtype


def test_filled_shapes():
    assert zeros(()).shape == ()
    assert zeros(3).shape == (3,)
    assert zeros(np.int64(3)).shape == (3,)
    assert zeros(constant([2, 3])).shape == (2, 3)
    assert zeros([0, 10**12]).shape == (0, 10**12)
    assert isinstance(zeros([]).numpy(), np.float32)


def test_likes_take_anything():
    assert zeros_like([[1, 2]]).dtype == "int32"
    assert content(ones_like(gt.Variable([1.0, 2.0]))) == [1.0, 1.0]
    assert ones_like([1.0, 2.0], dtype=gt.int8).dtype == "int8"


def test_inside_a_reverse_rule_they_are_arrays():
    with dispatch.running(dispatch.ARRAYS):
        made = [zeros_like(np.ones(2)), ones([2]), constant([1.0, 2.0], "float32")]
        scalars = [zeros([]), fill([], 2.0), constant(1.5)]
    assert all(isinstance(array, np.ndarray) for array in made)
    assert made[2].dtype == np.float32
    assert all(isinstance(scalar, np.generic) for scalar in scalars)


def test_likes_are_constants():
    v = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = v * ones_like(v) + zeros_like(v)
    assert content(tape.gradient(y, v)) == [1.0, 1.0]


def test_eye_in_batches():
    t = eye(2, 3, batch_shape=[4, 1])
    assert t.shape == (4, 1, 2, 3)
    assert (t.numpy() == np.eye(2, 3)).all()


def test_results_do_not_share_memory_with_the_user():
    array = np.ones(3)
    t = constant(array)
    array[0] = 5.0
    filled = fill([2, 2], 1.0).numpy()
    filled[0, 0] = 7.0
    assert content(t) == [1.0, 1.0, 1.0]
    assert filled.tolist() == [[7.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: zeros([-1]), errors.ArgumentError, "zeros: .*negative size -1"),
        (lambda: ones([2, 1.5]), errors.ArgumentError, "ones: .*1.5.*not an integer"),
        (lambda: zeros("ab"), errors.ArgumentError, "zeros: 'ab' is not a shape"),
        (lambda: zeros(None), errors.ArgumentError, "zeros: None is not a shape"),
        (lambda: zeros([1] * 65), errors.ShapeError, "zeros: 65 axes"),
        (lambda: zeros([10**20, 0]), errors.ShapeError, r"zeros: .*2\*\*63"),
        (lambda: zeros([2], "text"), errors.DTypeError, "'text' is not a dtype"),
        (lambda: zeros_like(None), errors.ArgumentTypeError, "zeros_like: None"),
        (lambda: ones_like("ab"), errors.ArgumentTypeError, "ones_like: 'ab'"),
        (lambda: fill([2], [1.0]), errors.ShapeError, r"fill: .*\(1,\)"),
        (lambda: fill([-2], 1.0), errors.ArgumentError, "fill: .*-2"),
        (lambda: eye(-1), errors.ArgumentError, "eye: .*-1"),
        (lambda: eye(2.5), errors.ArgumentTypeError, "eye: num_rows .*2.5"),
        (lambda: eye(2, "a"), errors.ArgumentTypeError, "eye: columns .*'a'"),
    ],
)
def test_filled_refuses(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: zeros([10**12]),
        lambda: ones([10**6, 10**7]),
        lambda: fill([10**14], True),
        lambda: eye(10**8),
        lambda: eye(3, batch_shape=[10**13]),
        lambda: constant(1.0, shape=[10**12]),
    ],
)
def test_huge_sizes_are_refused_at_once(call):
    start = time.perf_counter()
    with pytest.raises(errors.TensorMemoryError, match=r"bytes.*Use smaller sizes"):
        call()
    assert time.perf_counter() - start < 0.5
    assert issubclass(errors.TensorMemoryError, MemoryError)


@pytest.mark.filterwarnings("error")
def test_huge_numbers_beside_a_tensor():
    x = constant([1.0, 2.0])
    assert content(x * 1e300) == [np.inf, np.inf]
    with pytest.raises(errors.RangeError, match="is out of the range of float32"):
        x + 10**400
    with pytest.raises(errors.RangeError, match="300 is out of the range of int8"):
        constant(1, "int8") + 300
