"""Running sums, products and extrema: zeros, ties, narrow dtypes and refusals."""

import ml_dtypes
import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentTypeError, DTypeError, ShapeError
from gtape.ops.scanning import linear_recurrence


def gradient(f, at, dtype=np.float64):
    x = gt.Variable(np.asarray(at, dtype))
    with gt.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x).numpy()


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        ([3.0, 0.0, 4.0], [1, 15, 0]),
        ([5.0, 0.0, 0.0, 2.0], [1, 5, 0, 0]),
        ([1.0, 0.0, 3.0], [1, 4, 0]),
    ],
)
def test_gradient_of_cumprod_at_zeros(at, wanted):
    np.testing.assert_array_equal(gradient(gt.cumprod, at), wanted)


def test_second_derivatives_of_cumprod_at_zeros():
    # y = x0 + x0 x1 + x0 x1 x2
    x = gt.Variable(np.array([3.0, 0.0, 0.0]))
    found = gt.hessian(lambda x: gt.reduce_sum(gt.cumprod(x)))(x)
    np.testing.assert_array_equal(found, [[0, 1, 0], [1, 0, 3], [0, 3, 0]])


def test_cumprod_of_many_numbers_keeps_their_scale():
    x = np.full(3000, 0.5)
    found = gradient(gt.cumprod, x)
    after = np.cumsum(0.5 ** np.arange(3000.0))[::-1]
    np.testing.assert_allclose(found, 0.5 ** np.arange(3000.0) * after, rtol=1e-12)


def test_exclusive_and_reverse_as_tensorflow():
    x = [2, 3, 4]
    ways = [(False, False), (True, False), (False, True), (True, True)]
    sums = [gt.cumsum(x, 0, e, r).numpy().tolist() for e, r in ways]
    assert sums == [[2, 5, 9], [0, 2, 5], [9, 7, 4], [7, 4, 0]]
    products = [gt.cumprod(x, 0, e, r).numpy().tolist() for e, r in ways]
    assert products == [[2, 6, 24], [1, 2, 6], [24, 12, 4], [12, 4, 1]]


def test_integers_keep_their_dtype_and_wrap():
    x = np.array([100, 100], np.int8)
    assert gt.cumsum(x).dtype == gt.int8
    assert gt.cumsum(x).numpy().tolist() == [100, -56]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_is_added_in_float32(dtype):
    found = gt.cumsum(np.ones(4096, dtype))
    assert found.dtype == dtype
    assert float(found[-1]) == 4096
    g = gradient(lambda x: gt.cumsum(x)[-1] * 1.0, np.ones(5), dtype)
    assert g.dtype == dtype


def test_a_running_extremum_belongs_to_its_first_place():
    at = [3.0, 1.0, 4.0, 4.0, 5.0, 2.0]
    np.testing.assert_array_equal(gradient(gt.cummax, at), [2, 0, 2, 0, 2, 0])
    found = gradient(lambda x: gt.cummax(x, reverse=True), at)
    np.testing.assert_array_equal(found, [0, 0, 0, 0, 5, 1])
    np.testing.assert_array_equal(gradient(gt.cummin, at), [1, 5, 0, 0, 0, 0])
    found = gradient(lambda x: gt.cummax(x, axis=1), [[-np.inf, 1.0], [2.0, 2.0]])
    np.testing.assert_array_equal(found, [[1, 1], [2, 0]])


def test_a_running_extremum_stays_nan():
    found = gt.cummax([1.0, np.nan, 3.0]).numpy()
    np.testing.assert_array_equal(found, [1, np.nan, np.nan])


@pytest.mark.parametrize("width", [1, 60])
def test_linear_recurrence_does_not_read_the_first_factor(width):
    a = np.array([[np.inf] * width, [2.0] * width, [3.0] * width])
    found = linear_recurrence(a, np.ones((3, width)), 0).numpy()
    np.testing.assert_array_equal(found[:, -1], [1, 3, 10])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: gt.cumsum([1.0], 1), ShapeError, "cumsum: axis 1 of a tensor of rank"),
        (lambda: gt.cumprod(1.0), ShapeError, "cumprod: axis 0 of a tensor of rank 0"),
        (lambda: gt.cumsum([True]), DTypeError, "cumsum: bool is not a number"),
        (
            lambda: gt.cummax([1j]),
            DTypeError,
            "cummax: complex128 numbers have no order",
        ),
        (lambda: gt.cumsum([1.0], "x"), ArgumentTypeError, "axis must be an integer"),
        (
            lambda: gt.cumsum([1.0], 0, "no"),
            ArgumentTypeError,
            "exclusive must be True",
        ),
        (lambda: gt.cumsum([1.0], 0, False, 2), ArgumentTypeError, "reverse must be"),
        (
            lambda: linear_recurrence([1.0], [1.0, 2.0], 0),
            ShapeError,
            r"factors of shape \(1,\) for terms of shape \(2,\)",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
