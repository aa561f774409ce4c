"""Operators, promotion, comparisons: E3 to E8.

Each test carries the code of its line. Promotion, fancy indexing, item assignment
and the further operators are gtape's decisions; TensorFlow refuses them.
"""

import math
import operator

import numpy as np
import pytest

import gtape as gt
from tests.reference.content import content, typed

# ---- E3, X15, X16: promotion ----------------------------------------------------


PROMOTION = [
    ("float32", "float64", "float64"),
    ("float16", "float32", "float32"),
    ("float16", "float64", "float64"),
    ("bfloat16", "float32", "float32"),
    ("int32", "float32", "float32"),
    ("int64", "float32", "float32"),
    ("int64", "float16", "float16"),
    ("uint64", "float32", "float32"),
    ("int8", "float64", "float64"),
    ("int8", "int16", "int16"),
    ("int32", "int64", "int64"),
    ("uint8", "uint16", "uint16"),
    ("uint8", "int8", "int16"),
    ("uint16", "int8", "int32"),
    ("uint8", "int32", "int32"),
    ("uint32", "int32", "int64"),
    ("uint32", "uint64", "uint64"),
    ("float32", "complex64", "complex64"),
    ("float64", "complex64", "complex128"),
    ("float32", "complex128", "complex128"),
    ("complex64", "complex128", "complex128"),
    ("int32", "complex64", "complex64"),
]


@pytest.mark.parametrize(("left", "right", "expected"), PROMOTION)
def test_e3_promotion_table(left, right, expected):
    a, b = typed([2, 3], left), typed([1, 2], right)
    for t in (a + b, b + a, a * b, b * a):
        assert t.dtype == getattr(gt, expected)


@pytest.mark.parametrize("signed", ["int8", "int16", "int32", "int64"])
def test_e3_uint64_with_a_signed_integer_is_refused(signed):
    a, b = typed(1, "uint64"), typed(1, signed)
    assert issubclass(gt.errors.DTypeError, TypeError)
    for left, right in ((a, b), (b, a)):
        with pytest.raises(gt.errors.DTypeError, match=r"(?s)uint64"):
            left + right


NUMBERS = [
    ("float16", 2.5, "float16"),
    ("float64", 2.5, "float64"),
    ("float32", 2, "float32"),
    ("int8", 2, "int8"),
    ("uint64", 2, "uint64"),
    ("int64", True, "int64"),
    ("complex64", 2.5, "complex64"),
    ("complex64", 2j, "complex64"),
    ("float32", [1.5, 2.5], "float32"),
    ("float64", [1.5, 2.5], "float64"),
    ("float64", [1, 2], "float64"),
    ("int8", [1, 2], "int8"),
]


@pytest.mark.parametrize(("name", "number", "expected"), NUMBERS)
def test_e3_python_numbers_and_lists_adapt(name, number, expected):
    t = typed([3, 5], name)
    for r in (t + number, number + t, t * number, number * t):
        assert r.dtype == getattr(gt, expected)


@pytest.mark.parametrize("number", [300, -200])
def test_e3_python_int_out_of_range_never_wraps(number):
    t = typed(1, "int8")
    try:
        r = t + number
    except (OverflowError, TypeError, ValueError):
        return
    assert int(r) == 1 + number


def test_e3_x15_array_keeps_its_dtype():
    t = gt.constant([1.0, 2.0])
    for r in (t + np.ones(2), np.ones(2) + t, t * np.ones(2), np.ones(2) * t):
        assert isinstance(r, gt.Tensor)
        assert r.dtype == gt.float64


def test_e3_x15_integer_array_beside_a_float_tensor():
    t = gt.constant([1.0, 2.0])
    r = t + np.array([1, 2])
    assert r.dtype == gt.float32
    assert content(r) == [2.0, 4.0]


def test_e3_promotion_is_differentiated_back():
    a = gt.Variable([1.0, 2.0])
    b = gt.Variable(np.array([3.0, 4.0]))
    with gt.GradientTape() as tape:
        y = a * b
    ga, gb = tape.gradient(y, [a, b])
    assert y.dtype == gt.float64
    assert ga.dtype == gt.float32
    assert content(ga) == [3.0, 4.0]
    assert gb.dtype == gt.float64
    assert content(gb) == [1.0, 2.0]


def test_e3_x16_integer_tensor_and_python_float_in_both_orders():
    t = gt.constant([1, 2])
    for r in (t + 1.5, 1.5 + t):
        assert r.dtype == gt.float32
        assert content(r) == [2.5, 3.5]


# ---- E4: division and integers --------------------------------------------------


@pytest.mark.parametrize("name", ["int32", "int64", "uint8"])
def test_e4_true_division_of_integers(name):
    q = typed([7, 1], name) / typed([2, 4], name)
    assert q.dtype == gt.float64
    assert content(q) == [3.5, 0.25]


@pytest.mark.parametrize("name", ["int32", "int64", "float32", "float64"])
def test_e4_floor_division_and_remainder(name):
    a = typed([7, -7, 7, -7], name)
    b = typed([3, 3, -3, -3], name)
    q, r = a // b, a % b
    assert q.dtype == getattr(gt, name)
    assert content(q) == [2, -3, -3, 2]
    assert content(r) == [1, 2, -2, -1]


@pytest.mark.parametrize("f", [operator.floordiv, operator.mod])
@pytest.mark.parametrize("zero", [0, gt.constant(0), gt.constant([1, 0])])
def test_e4_integer_division_by_zero_raises(f, zero):
    with pytest.raises(ZeroDivisionError, match=r"(?i)zero"):
        f(gt.constant([3, 4]), zero)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_e4_float_division_by_zero():
    q = gt.constant([1.0, -1.0, 0.0]) / 0.0
    np.testing.assert_array_equal(q.numpy(), [np.inf, -np.inf, np.nan])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "top", "bottom"),
    [("int8", 127, -128), ("int32", 2**31 - 1, -(2**31)), ("uint8", 255, 0)],
)
def test_e4_overflow_wraps(name, top, bottom):
    r = typed(top, name) + typed(1, name)
    assert r.dtype == getattr(gt, name)
    assert content(r) == bottom


@pytest.mark.parametrize("exponent", [-1, gt.constant(-1), gt.constant([2, -1])])
def test_e4_integer_to_a_negative_power(exponent):
    with pytest.raises((ValueError, ArithmeticError), match=r"(?i)negative"):
        gt.constant(2) ** exponent


def test_e4_power_in_both_orders():
    t = gt.constant([3, 2])
    assert content(t**2) == [9, 4]
    assert content(2**t) == [8, 4]
    assert content(2.0 ** gt.constant([3.0, 0.5])) == [8.0, pytest.approx(2**0.5)]


# ---- E5: operators --------------------------------------------------------------


BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["int32", "float64"])
def test_e5_binary_operators_and_their_reflections(f, name):
    a, b = np.array([7, 3, 2]).astype(name), np.array([2, 3, 5]).astype(name)
    ta, tb = gt.constant(a), gt.constant(b)
    expected = f(a, b)
    for left, right in ((ta, tb), (ta, b), (a, tb), (ta, b.tolist()), (a.tolist(), tb)):
        r = f(left, right)
        assert isinstance(r, gt.Tensor)
        np.testing.assert_allclose(r.numpy(), expected, rtol=1e-12)


BITWISE = [operator.and_, operator.or_, operator.xor]


@pytest.mark.parametrize("f", BITWISE, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("a", "b"), [([True, True, False], [True, False, False]), ([6, 5, -1], [3, 4, 7])]
)
def test_e5_bitwise_operators(f, a, b):
    expected = f(np.array(a), np.array(b)).tolist()
    assert content(f(gt.constant(a), gt.constant(b))) == expected
    assert content(f(gt.constant(a), b)) == expected
    assert content(f(a, gt.constant(b))) == expected


def test_e5_inversion():
    assert content(~gt.constant([True, False])) == [False, True]
    assert content(~gt.constant([5, -1])) == [-6, 0]


def test_e5_negative_and_abs():
    t = gt.constant([-1.5, 2.0])
    assert content(-t) == [1.5, -2.0]
    assert content(abs(t)) == [1.5, 2.0]


def test_e5_positive():
    t = gt.constant([-1.5, 2.0])
    assert content(+t) == [-1.5, 2.0]
    assert (+t).dtype == gt.float32


def test_e5_shifts():
    t = gt.constant([1, 6])
    assert content(t << 2) == [4, 24]
    assert content(t >> 1) == [0, 3]
    assert content(1 << t) == [2, 64]
    assert content(64 >> t) == [32, 1]


def test_e5_divmod():
    t = gt.constant([7, -7])
    q, r = divmod(t, 3)
    assert (content(q), content(r)) == ([2, -3], [1, 2])
    q, r = divmod(7, gt.constant([2, -2]))
    assert (content(q), content(r)) == ([3, -4], [1, -1])


def test_e5_round():
    t = gt.constant([0.5, 1.5, 2.5, -1.7])
    r = round(t)
    assert r.dtype == gt.float32
    assert content(r) == [0.0, 2.0, 2.0, -2.0]
    np.testing.assert_allclose(
        round(gt.constant([1.234, -2.678]), 1).numpy(), [1.2, -2.7], rtol=1e-6
    )


def test_e5_floor_ceil_trunc():
    t = gt.constant(-1.5)
    assert float(math.floor(t)) == -2.0
    assert float(math.ceil(t)) == -1.0
    assert float(math.trunc(t)) == -1.0


ARITHMETIC = [operator.add, operator.sub, operator.mul]


@pytest.mark.parametrize("f", ARITHMETIC, ids=lambda f: f.__name__)
def test_e5_arithmetic_on_two_bools_is_refused(f):
    t = gt.constant([True, False])
    for other in (t, True, [True, True]):
        with pytest.raises(TypeError, match=r"(?i)bool"):
            f(t, other)


def test_e5_negative_of_a_bool_is_refused():
    with pytest.raises(TypeError, match=r"(?i)bool"):
        -gt.constant(True)


@pytest.mark.parametrize("f", BITWISE, ids=lambda f: f.__name__)
def test_e5_bitwise_on_floats_is_refused(f):
    t = gt.constant([1.0, 2.0])
    with pytest.raises(TypeError, match=r"(?i)float"):
        f(t, t)


def test_e5_matrix_product():
    a = np.arange(24.0).reshape(2, 3, 4)
    b = np.arange(20.0).reshape(4, 5)
    np.testing.assert_allclose((gt.constant(a) @ gt.constant(b)).numpy(), a @ b)
    i = gt.constant([[1, 2], [3, 4]])
    assert (i @ i).dtype == gt.int32
    assert content(i @ i) == [[7, 10], [15, 22]]
    assert content([[1, 0], [0, 1]] @ i) == [[1, 2], [3, 4]]


def test_e5_matrix_product_of_wrong_sizes():
    with pytest.raises(ValueError, match=r"(?s)3.*2|2.*3"):
        gt.ones((2, 3)) @ gt.ones((2, 3))


def test_e5_matrix_product_of_vectors_is_numpys_or_refused():
    u = gt.constant([1.0, 2.0])
    try:
        r = u @ u
    except ValueError:  # as TensorFlow
        return
    assert r.shape == ()
    assert content(r) == 5.0


# ---- E6: float functions and folds of integers ----------------------------------


FLOAT_FUNCTIONS = ["sqrt", "exp", "log", "sin", "tanh", "sigmoid", "erf"]


@pytest.mark.parametrize("name", FLOAT_FUNCTIONS)
def test_e6_float_functions_refuse_integer_tensors(name):
    with pytest.raises(TypeError, match=r"(?i)cast"):
        getattr(gt, name)(gt.constant([4, 9]))


@pytest.mark.parametrize("name", FLOAT_FUNCTIONS)
def test_e6_float_functions_accept_python_ints(name):
    f = getattr(gt, name)
    r = f(4)
    assert r.dtype == gt.float32
    assert content(r) == content(f(4.0))


def test_e6_mean_of_integers_truncates():
    assert content(gt.reduce_mean(gt.constant([1, 2, 2]))) == 1
    assert gt.reduce_mean(gt.constant([1, 2])).dtype == gt.int32


def test_e6_sum_of_bools_is_refused():
    with pytest.raises(TypeError, match=r"(?i)bool"):
        gt.reduce_sum(gt.constant([True, False]))


# ---- E7, E8: comparisons and Python numbers -------------------------------------


def test_e7_equality_is_elementwise():
    a = gt.constant([1.0, 2.0])
    r = a == gt.constant([1.0, 3.0])
    assert r.dtype == gt.bool
    assert content(r) == [True, False]
    assert content(a != [1.0, 3.0]) == [False, True]
    assert content(a == 2.0) == [False, True]


def test_e7_equality_with_none():
    t = gt.constant(1.0)
    assert bool(operator.eq(t, None)) is False
    assert bool(operator.ne(t, None)) is True


def test_e7_x16_equality_of_different_dtypes():
    r = gt.constant([1.0, 2.5]) == gt.constant([1, 2])
    assert content(r) == [True, False]
    r = gt.constant(1.0) == gt.constant(1.0, dtype=gt.float64)
    assert bool(r) is True


def test_e7_x16_equality_of_shapes_that_do_not_fit():
    a, b = gt.constant([1.0, 2.0]), gt.constant([1.0, 2.0, 3.0])
    try:
        r = a == b
    except ValueError:
        return
    assert bool(r) is False  # as TensorFlow


def test_e7_chained_comparison():
    assert 0.0 < gt.constant(1.0) < 2.0
    assert not 0.0 < gt.constant(3.0) < 2.0


def test_e7_membership():
    t = gt.constant([1.0, 2.0])
    assert 2.0 in t
    assert 3.0 not in t


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, False), (2.0, True), ([3.0], True), ([[0.0]], False), (False, False)],
)
def test_e8_bool(value, expected):
    assert bool(gt.constant(value)) is expected


def test_e8_bool_of_empty_is_false():
    assert bool(gt.constant([])) is False


def test_e8_bool_of_many_is_refused():
    with pytest.raises(ValueError, match=r"(?i)ambiguous|truth|one element"):
        bool(gt.constant([1.0, 2.0]))


def test_e8_int_float_complex():
    assert int(gt.constant(2.75)) == 2
    assert float(gt.constant(2)) == 2.0
    assert complex(gt.constant(1 + 2j)) == 1 + 2j
    with pytest.raises(TypeError, match=r"(?i)scalar|size|element"):
        float(gt.constant([1.0, 2.0]))


def test_e8_index():
    i = gt.constant(2)
    assert [10, 20, 30][i] == 30
    assert list(range(i)) == [0, 1]
    assert operator.index(gt.constant(5, dtype=gt.int64)) == 5


@pytest.mark.parametrize("value", [2.0, [1, 2]])
def test_e8_index_of_what_is_no_integer_scalar(value):
    t = gt.constant(value)
    with pytest.raises(TypeError, match=r"(?i)int"):
        operator.index(t)


def test_e8_len_and_iteration():
    t = gt.constant([[1, 2], [3, 4], [5, 6]])
    assert len(t) == 3
    assert [content(row) for row in t] == [[1, 2], [3, 4], [5, 6]]


def test_e8_len_and_iteration_of_a_scalar():
    t = gt.constant(1.0)
    with pytest.raises(TypeError, match=r"(?i)scalar|rank|0-d"):
        len(t)
    with pytest.raises(TypeError, match=r"(?i)scalar|rank|0-d"):
        iter(t)
