"""Variable, line by line: V1 to V13, and the Module that stands beside it.

Each test carries the code of its line. Where gtape decided otherwise than
TensorFlow (`assign` returns the variable, names are unique, X21 is mended), the
test holds gtape's decision.
"""

import copy
import operator
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import gtape as gt

# TensorFlow says ValueError for a dtype that does not fit; gtape's DTypeError is a
# TypeError. Both name the fault.
DTYPE_FAULT = (TypeError, ValueError)


def content(variable):
    return variable.numpy().tolist()


# ---- V1, V2, V3: construction ---------------------------------------------------


def test_v1_no_initial_value():
    with pytest.raises((TypeError, ValueError), match="initial_value"):
        gt.Variable()


def test_v1_none():
    with pytest.raises(ValueError, match=r"(?i)none|initial_value"):
        gt.Variable(None)


def test_v1_callable_initial_value():
    v = gt.Variable(lambda: [1.0, 2.0])
    assert content(v) == [1.0, 2.0]
    assert v.dtype == gt.float32


def test_v1_array_is_copied():
    array = np.ones(2)
    v = gt.Variable(array)
    array[0] = 9.0
    assert content(v) == [1.0, 1.0]


def test_v1_variable_is_copied():
    source = gt.Variable([1.0, 2.0])
    v = gt.Variable(source)
    source.assign([3.0, 4.0])
    assert content(v) == [1.0, 2.0]
    v.assign([5.0, 6.0])
    assert content(source) == [3.0, 4.0]


def test_v1_variable_does_not_write_into_the_array():
    array = np.ones(2)
    v = gt.Variable(array)
    v.assign_add([1.0, 1.0])
    v[0].assign(7.0)
    assert array.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int32"),
        (1.0, "float32"),
        (True, "bool"),
        (1j, "complex128"),
        (np.ones(2), "float64"),
        (np.ones(2, np.float16), "float16"),
        (np.arange(2, dtype=np.int64), "int64"),
    ],
)
def test_v2_dtype_as_constant(value, dtype):
    v = gt.Variable(value)
    assert v.dtype == getattr(gt, dtype)
    assert v.trainable is True


def test_v2_dtype_argument_converts_python_numbers():
    v = gt.Variable(1, dtype=gt.float32)
    assert v.dtype == gt.float32
    assert content(v) == 1.0
    assert gt.Variable([1, 2], dtype="float64").dtype == gt.float64


def test_v2_no_truncation():
    with pytest.raises(TypeError, match=r"(?i)int32"):
        gt.Variable(1.5, dtype=gt.int32)


def test_v2_dtype_argument_does_not_convert_tensors():
    with pytest.raises(DTYPE_FAULT, match="float64"):
        gt.Variable(gt.constant(1.0), dtype=gt.float64)


def test_v3_trainable_by_default():
    assert gt.Variable(1.0).trainable is True
    assert gt.Variable(1.0, trainable=None).trainable is True


def test_v3_trainable_is_read_only():
    v = gt.Variable(1.0, trainable=False)
    assert v.trainable is False
    with pytest.raises(AttributeError):
        v.trainable = True


def test_v3_default_names_are_numbered():
    program = (
        "import gtape as gt\n"
        "vs = [gt.Variable(1.0) for _ in range(3)]\n"
        "ws = [gt.Variable(1.0, name='w') for _ in range(2)]\n"
        "print(*[v.name for v in vs + ws])\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert out.split() == ["Variable:0", "Variable_1:0", "Variable_2:0", "w:0", "w_1:0"]


def test_v3_x22_names_are_unique():
    vs = [gt.Variable(1.0) for _ in range(5)]
    vs += [gt.Variable(1.0, name="weight") for _ in range(5)]
    assert len({v.name for v in vs}) == 10
    assert all(re.fullmatch(r"(Variable|weight)(_\d+)?:0", v.name) for v in vs)


@pytest.mark.parametrize("shape", [[None], (None,)])
def test_v3_open_shape_allows_other_sizes(shape):
    v = gt.Variable([1.0, 2.0], shape=shape)
    v.assign([1.0, 2.0, 3.0])
    assert content(v) == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match=r"(?i)shape"):
        v.assign([[1.0]])


def test_v3_incompatible_shape():
    with pytest.raises(ValueError, match=r"(?s)3.*2|2.*3"):
        gt.Variable([1.0, 2.0], shape=(3,))


def test_v3_validate_shape_does_not_open_the_shape():
    v = gt.Variable([1.0, 2.0], validate_shape=False)
    with pytest.raises(ValueError, match=r"(?s)3.*2|2.*3"):
        v.assign([1.0, 2.0, 3.0])


# ---- V4: constraint -------------------------------------------------------------


def not_negative(u):
    return gt.maximum(u, 0.0)


def test_v4_constraint_is_stored_and_assign_ignores_it():
    v = gt.Variable(1.0, constraint=not_negative)
    assert v.constraint is not_negative
    v.assign(-3.0)
    assert content(v) == -3.0


def test_v4_optimizer_applies_the_constraint():
    v = gt.Variable(1.0, constraint=not_negative)
    opt = gt.optim.SGD(learning_rate=1.0)
    opt.apply_gradients([(gt.constant(5.0), v)])
    assert content(v) == 0.0


# ---- V5, V6: assignment ---------------------------------------------------------


def test_v5_assign_returns_the_variable():
    v = gt.Variable(1.0)
    assert v.assign(2.0) is v
    assert v.assign_add(3.0) is v
    assert v.assign_sub(1.0) is v
    assert content(v) == 4.0


def test_v5_assign_chains():
    v = gt.Variable(1.0)
    assert content(v.assign(3.0).assign_add(2.0)) == 5.0


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_v5_read_value_false(method):
    v = gt.Variable(1.0)
    assert getattr(v, method)(1.0, read_value=False) is None
    with pytest.raises(TypeError):
        getattr(v, method)(1.0, False)  # TensorFlow's second one is use_locking


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
@pytest.mark.parametrize("value", [1.0, [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]])
def test_v6_shape_must_match_exactly(method, value):
    v = gt.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"(?s)2"):
        getattr(v, method)(value)
    assert content(v) == [1.0, 2.0]


def test_v6_python_int_into_float():
    v = gt.Variable(1.0)
    v.assign(3)
    assert content(v) == 3.0
    assert v.dtype == gt.float32


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_v6_float_into_int(method):
    v = gt.Variable(1)
    with pytest.raises(TypeError, match="int32"):
        getattr(v, method)(3.5)
    assert content(v) == 1


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_v6_x14_tensor_of_another_dtype(method):
    v = gt.Variable(1.0)
    with pytest.raises(DTYPE_FAULT, match=r"(?s)float64"):
        getattr(v, method)(gt.constant(1.0, dtype=gt.float64))


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_v6_x14_array_of_another_float_dtype(dtype):
    v = gt.Variable([0.0, 0.0])
    v.assign(np.array([1.0, 2.0], dtype))
    v.assign_add(np.array([1.0, 1.0], dtype))
    assert v.dtype == gt.float32
    assert content(v) == [2.0, 3.0]


# ---- V7: scatter ----------------------------------------------------------------


def slices(values, indices):
    return gt.IndexedSlices(
        values=gt.constant(values), indices=gt.constant(indices), dense_shape=(3,)
    )


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("scatter_add", [4.0, 2.0, 14.0]),
        ("scatter_sub", [-2.0, 2.0, -8.0]),
        ("scatter_update", [3.0, 2.0, 11.0]),
        ("scatter_max", [3.0, 2.0, 11.0]),
        ("scatter_min", [1.0, 2.0, 3.0]),
        ("scatter_mul", [3.0, 2.0, 33.0]),
        ("scatter_div", [1.0 / 3.0, 2.0, 3.0 / 11.0]),
    ],
)
def test_v7_scatter(method, expected):
    v = gt.Variable([1.0, 2.0, 3.0])
    getattr(v, method)(slices([3.0, 11.0], [0, 2]))
    np.testing.assert_allclose(v.numpy(), expected, rtol=1e-6)


def test_v7_scatter_duplicates():
    v = gt.Variable([1.0, 2.0, 3.0])
    v.scatter_add(slices([10.0, 100.0], [1, 1]))
    assert content(v) == [1.0, 112.0, 3.0]
    v.scatter_update(slices([10.0, 100.0], [1, 1]))
    assert content(v) == [1.0, 100.0, 3.0]


def test_v7_scatter_out_of_range():
    v = gt.Variable([1.0, 2.0, 3.0])
    with pytest.raises(IndexError, match=r"(?s)5.*3|3.*5"):
        v.scatter_add(slices([1.0], [5]))


def test_v7_scatter_needs_indexed_slices():
    v = gt.Variable([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="IndexedSlices"):
        v.scatter_add([1.0])


def test_v7_batch_scatter_update():
    v = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
    update = gt.IndexedSlices(
        values=gt.constant([[10.0], [20.0]]), indices=gt.constant([[1], [0]])
    )
    v.batch_scatter_update(update)
    assert content(v) == [[1.0, 10.0], [20.0, 4.0]]


ND_RESULTS = [
    ("add", [4.0, 2.0, 14.0]),
    ("sub", [-2.0, 2.0, -8.0]),
    ("update", [3.0, 2.0, 11.0]),
    ("max", [3.0, 2.0, 11.0]),
    ("min", [1.0, 2.0, 3.0]),
]


@pytest.mark.parametrize(("kind", "expected"), ND_RESULTS)
def test_v7_scatter_nd(kind, expected):
    v = gt.Variable([1.0, 2.0, 3.0])
    getattr(v, f"scatter_nd_{kind}")([[0], [2]], [3.0, 11.0])
    assert content(v) == expected


@pytest.mark.parametrize(("kind", "expected"), ND_RESULTS)
def test_v7_functional_scatter_on_tensors(kind, expected):
    t = gt.constant([1.0, 2.0, 3.0])
    scatter = getattr(gt, f"tensor_scatter_nd_{kind}")
    assert scatter(t, [[0], [2]], [3.0, 11.0]).numpy().tolist() == expected
    assert t.numpy().tolist() == [1.0, 2.0, 3.0]


def test_v7_reading():
    v = gt.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = v.sparse_read([2, 0])
    assert rows.numpy().tolist() == [[5.0, 6.0], [1.0, 2.0]]
    assert v.gather_nd([[0, 1], [2, 0]]).numpy().tolist() == [2.0, 5.0]


# ---- V8: slice assignment -------------------------------------------------------


@pytest.mark.parametrize(
    ("take", "value", "expected"),
    [
        (lambda v: v[0], [9.0, 8.0, 7.0], [[9.0, 8.0, 7.0], [4.0, 5.0, 6.0]]),
        (lambda v: v[0], 0.0, [[0.0, 0.0, 0.0], [4.0, 5.0, 6.0]]),
        (lambda v: v[1, 2], 9.0, [[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]]),
        (lambda v: v[:, 1], [9.0, 8.0], [[1.0, 9.0, 3.0], [4.0, 8.0, 6.0]]),
        (lambda v: v[:, ::2], 0.0, [[0.0, 2.0, 0.0], [0.0, 5.0, 0.0]]),
        (lambda v: v[0, ::-1], [1.0, 2.0, 9.0], [[9.0, 2.0, 1.0], [4.0, 5.0, 6.0]]),
        (lambda v: v[..., -1], 0.0, [[1.0, 2.0, 0.0], [4.0, 5.0, 0.0]]),
    ],
)
def test_v8_slice_assign(take, value, expected):
    v = gt.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    take(v).assign(value)
    assert content(v) == expected


def test_v8_slice_of_wrong_shape():
    v = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match=r"(?s)3"):
        v[0].assign([1.0, 2.0, 3.0])
    assert content(v) == [[1.0, 2.0], [3.0, 4.0]]


def test_v8_item_assignment_is_an_assignment():
    v = gt.Variable([1.0, 2.0])
    a = gt.Variable(5.0)
    with gt.GradientTape() as tape:
        v[0] = a * 2.0
        y = gt.reduce_sum(v * v)
    assert isinstance(v, gt.Variable)
    assert content(v) == [10.0, 2.0]
    gv, ga = tape.gradient(y, [v, a])
    assert content(gv) == [20.0, 4.0]
    assert ga is None


# ---- V9: attributes -------------------------------------------------------------


def test_v9_numpy_is_a_copy():
    v = gt.Variable([1.0, 2.0])
    before = v.numpy()
    v.assign([3.0, 4.0])
    assert before.tolist() == [1.0, 2.0]
    before[0] = 9.0
    assert content(v) == [3.0, 4.0]


@pytest.mark.parametrize("method", ["value", "read_value"])
def test_v9_value_is_a_snapshot(method):
    v = gt.Variable([1.0, 2.0])
    t = getattr(v, method)()
    v.assign_add([1.0, 1.0])
    v[0].assign(7.0)
    assert isinstance(t, gt.Tensor)
    assert content(t) == [1.0, 2.0]
    assert content(v) == [7.0, 3.0]


def test_v9_value_is_recorded():
    v = gt.Variable(3.0)
    with gt.GradientTape() as tape:
        y = v.value() * v.read_value()
    assert content(tape.gradient(y, v)) == 6.0


def test_v9_properties():
    v = gt.Variable([[1.0, 2.0]], name="properties")
    assert v.shape == (1, 2)
    assert v.get_shape() == (1, 2)
    assert v.dtype == gt.float32
    assert v.trainable is True
    assert v.constraint is None
    assert v.name.startswith("properties")
    assert "CPU" in v.device.upper()
    assert v.is_initialized()


def test_v9_ref():
    v, w = gt.Variable(1.0), gt.Variable(1.0)
    assert v.ref() == v.ref()
    assert v.ref() != w.ref()
    assert hash(v.ref()) == hash(v.ref())
    assert v.ref().deref() is v


def test_v9_count_up_to():
    v = gt.Variable(0)
    assert int(v.count_up_to(2)) == 0
    assert int(v.count_up_to(2)) == 1
    assert content(v) == 2
    with pytest.raises((IndexError, ValueError), match="2"):
        v.count_up_to(2)


# ---- V10, V11: operators and what tensors have ----------------------------------


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda v: v + 1.0, [3.0, 5.0]),
        (lambda v: 1.0 - v, [-1.0, -3.0]),
        (lambda v: [2.0, 3.0] * v, [4.0, 12.0]),
        (lambda v: v / 2.0, [1.0, 2.0]),
        (lambda v: v // 3.0, [0.0, 1.0]),
        (lambda v: v % 3.0, [2.0, 1.0]),
        (lambda v: v**2.0, [4.0, 16.0]),
        (lambda v: 2.0**v, [4.0, 16.0]),
        (lambda v: -v, [-2.0, -4.0]),
        (lambda v: abs(-v), [2.0, 4.0]),
        (lambda v: v > 3.0, [False, True]),
        (lambda v: v == 2.0, [True, False]),
        (lambda v: v != v, [False, False]),
        (lambda v: v[0], 2.0),
        (lambda v: v[::-1], [4.0, 2.0]),
    ],
)
def test_v10_result_of_an_operator_is_a_tensor(f, expected):
    t = f(gt.Variable([2.0, 4.0]))
    assert isinstance(t, gt.Tensor)
    assert not isinstance(t, gt.Variable)
    assert content(t) == expected


def test_v10_matrix_product():
    v = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert content(v @ v) == [[7.0, 10.0], [15.0, 22.0]]


INPLACE = {
    "iadd": ("assign_add", operator.iadd),
    "isub": ("assign_sub", operator.isub),
    "imul": ("assign", operator.imul),
    "itruediv": ("assign", operator.itruediv),
}


@pytest.mark.parametrize("name", list(INPLACE))
def test_v10_augmented_assignment_is_refused(name):
    word, statement = INPLACE[name]
    v = gt.Variable(1.0)
    with pytest.raises(RuntimeError, match=word):
        statement(v, 1.0)
    assert content(v) == 1.0


def test_v10_hash_is_refused():
    v = gt.Variable(1.0)
    with pytest.raises(TypeError, match="ref"):
        hash(v)
    assert {v.ref(): 3}[v.ref()] == 3


def test_v11_x21_len_and_ndim():
    v = gt.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert len(v) == 3
    assert v.ndim == 2
    assert gt.Variable(1.0).ndim == 0
    with pytest.raises(TypeError, match=r"(?i)scalar|rank|len"):
        len(gt.Variable(1.0))


def test_v11_x21_use_as_an_index():
    i = gt.Variable(2)
    assert [10, 20, 30][i] == 30
    assert list(range(i)) == [0, 1]
    assert operator.index(i) == 2
    assert content(gt.constant([10, 20, 30])[i]) == 30


def test_v11_x21_format():
    v = gt.Variable(1.5)
    assert f"{v:.2f}" == "1.50"
    assert f"{v}" == "1.5"


def test_v11_int_float_bool_complex():
    v = gt.Variable(2.5)
    assert float(v) == 2.5
    assert int(v) == 2
    assert bool(v) is True
    assert complex(v) == 2.5
    assert bool(gt.Variable(0.0)) is False


def test_v11_iteration():
    v = gt.Variable([1.0, 2.0])
    assert [content(t) for t in v] == [1.0, 2.0]


def test_v11_iteration_is_recorded():
    v = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        a, b = v
        y = a * a * b
    assert content(tape.gradient(y, v)) == [4.0, 1.0]


# ---- V12, V13: copies and text --------------------------------------------------


def test_v12_deepcopy_is_independent():
    v = gt.Variable([1.0, 2.0], trainable=False)
    w = copy.deepcopy(v)
    v.assign([3.0, 4.0])
    assert isinstance(w, gt.Variable)
    assert content(w) == [1.0, 2.0]
    assert w.trainable is False
    w.assign([5.0, 6.0])
    assert content(v) == [3.0, 4.0]


def test_v12_deepcopy_keeps_aliases():
    v = gt.Variable(1.0)
    first, second = copy.deepcopy([v, v])
    assert first is second


def test_v12_copy_shares_the_storage():
    v = gt.Variable([1.0, 2.0])
    w = copy.copy(v)
    v.assign([3.0, 4.0])
    assert content(w) == [3.0, 4.0]
    w[0].assign(9.0)
    assert content(v) == [9.0, 4.0]


def test_v12_pickle():
    v = gt.Variable(np.array([1.0, 2.0]), trainable=False, name="pickled")
    w = pickle.loads(pickle.dumps(v))
    assert isinstance(w, gt.Variable)
    assert content(w) == [1.0, 2.0]
    assert w.dtype == gt.float64
    assert w.trainable is False
    assert w.name.startswith("pickled")
    w.assign([3.0, 4.0])
    assert content(v) == [1.0, 2.0]


def test_v12_swap_takes_no_snapshot():
    a, b = gt.Variable(1.0), gt.Variable(2.0)
    a.assign(b)
    b.assign(a)
    assert (content(a), content(b)) == (2.0, 2.0)


def test_v12_assigned_variables_do_not_share_storage():
    a, b = gt.Variable([1.0, 2.0]), gt.Variable([3.0, 4.0])
    a.assign(b)
    b.assign_add([10.0, 10.0])
    b[0].assign(0.0)
    assert content(a) == [3.0, 4.0]
    a.assign_add([1.0, 1.0])
    assert content(b) == [0.0, 14.0]


def test_v13_text():
    v = gt.Variable([1, 2], name="text")
    expected = (
        f"<gt.Variable '{v.name}' shape=(2,) dtype=int32, "
        "numpy=array([1, 2], dtype=int32)>"
    )
    assert repr(v) == expected
    assert str(v) == expected


def test_v13_text_of_a_scalar():
    v = gt.Variable(1.5, name="text")
    assert repr(v) == f"<gt.Variable '{v.name}' shape=() dtype=float32, numpy=1.5>"


# ---- Module ---------------------------------------------------------------------


class DenseLayer(gt.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.w = gt.Variable(1.0)
        self.b = gt.Variable(2.0)
        self.count = gt.Variable(0, trainable=False)


class WholeNet(gt.Module):
    def __init__(self):
        super().__init__()
        self.z = gt.Variable(5.0)
        self.layers = [DenseLayer("first"), DenseLayer("second")]
        self.again = self.layers[0]
        self.table = {"k": gt.Variable(6.0)}


def test_module_default_name():
    assert DenseLayer().name == "dense_layer"
    assert WholeNet().name == "whole_net"


@pytest.mark.parametrize("name", ["a b", "1a", "x-y"])
def test_module_name_must_be_an_identifier(name):
    with pytest.raises(ValueError, match=re.escape(name)):
        DenseLayer(name)


def same(found, expected):
    found, expected = list(found), list(expected)
    assert len(found) == len(expected)
    assert [f is e for f, e in zip(found, expected, strict=True)] == [True] * len(found)


def test_module_variables_breadth_first_each_once():
    net = WholeNet()
    one, two = net.layers
    own = [net.table["k"], net.z]
    same(net.variables, [*own, one.b, one.count, one.w, two.b, two.count, two.w])
    same(net.trainable_variables, [*own, one.b, one.w, two.b, two.w])
    same(net.non_trainable_variables, [one.count, two.count])


def test_module_submodules():
    net = WholeNet()
    same(net.submodules, net.layers)
