"""Mean, product and extrema: integers, zeros, ties, empty axes and refusals."""

import ml_dtypes
import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentTypeError, DivisionError, DTypeError, ShapeError


def gradient(f, at, dtype=np.float64):
    x = gt.Variable(np.asarray(at, dtype))
    with gt.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x).numpy()


def test_a_mean_of_integers_is_an_integer_rounded_towards_zero():
    assert gt.reduce_mean([1, 2]).numpy() == 1
    assert gt.reduce_mean([1, 2]).dtype == gt.int32
    assert gt.reduce_mean([-1, -2]).numpy() == -1
    big = np.array([200, 255], np.uint8)
    assert (gt.reduce_mean(big).numpy(), gt.reduce_mean(big).dtype) == (227, gt.uint8)
    assert gt.reduce_mean([[1, 2], [3, 5]], 1, keepdims=True).numpy().tolist() == [
        [1],
        [4],
    ]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_is_added_in_float32(dtype):
    x = np.ones((5000, 2), dtype)
    for f in (gt.reduce_mean, gt.reduce_prod):
        found = f(x, axis=0)
        assert found.dtype == dtype
        assert found.numpy().astype(float).tolist() == [1, 1]
    assert float(gt.reduce_sum(np.ones(4096, dtype))) == 4096


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        ([5.0, 0.0, 2.0, 3.0], [0, 30, 0, 0]),
        ([0.0, 2.0, 3.0], [6, 0, 0]),
        ([0.0, 0.0, 3.0], [0, 0, 0]),
    ],
)
def test_gradient_of_a_product_at_zeros(at, wanted):
    np.testing.assert_array_equal(gradient(gt.reduce_prod, at), wanted)


def test_second_derivatives_of_a_product_at_zeros():
    x = gt.Variable(np.array([0.0, 0.0, 3.0]))
    found = gt.hessian(gt.reduce_prod)(x)
    np.testing.assert_array_equal(found, [[0, 3, 0], [3, 0, 0], [0, 0, 0]])


def test_equal_extrema_share_the_gradient():
    np.testing.assert_array_equal(gradient(gt.reduce_max, [1, 3, 3]), [0, 0.5, 0.5])
    np.testing.assert_array_equal(gradient(gt.reduce_min, [1, 1, 3]), [0.5, 0.5, 0])
    rows = gradient(lambda x: gt.reduce_max(x, 1), [[2, 2], [1, 0]])
    np.testing.assert_array_equal(rows, [[0.5, 0.5], [1, 0]])
    half = gradient(gt.reduce_max, np.zeros(300), ml_dtypes.bfloat16)
    np.testing.assert_allclose(half.astype(float), 1 / 300, rtol=1e-2)


def test_an_extremum_left_out_by_a_mask_has_a_clean_gradient():
    def f(x):
        tops = gt.reduce_max(x, 1)
        return gt.reduce_sum(gt.where([True, False], tops, 0.0))

    found = gradient(f, [[1.0, 2.0], [np.nan, 1.0]])
    np.testing.assert_array_equal(found, [[0, 1], [0, 0]])


def test_extrema_of_nothing_are_the_ends_of_the_range():
    empty = np.zeros((0, 2))
    assert gt.reduce_max(empty, 0).numpy().tolist() == [-np.inf] * 2
    assert gt.reduce_min(empty).numpy() == np.inf
    assert gt.reduce_max(empty.astype(np.int8)).numpy() == -128
    assert gt.reduce_min(empty.astype(np.uint8)).numpy() == 255
    assert np.isnan(gt.reduce_mean(empty).numpy())
    assert gt.reduce_prod(empty).numpy() == 1


def test_no_axes_and_no_rank():
    x = np.array([[1.0, 2.0]])
    for f in (gt.reduce_mean, gt.reduce_prod, gt.reduce_max, gt.reduce_min):
        np.testing.assert_array_equal(f(x, []), x)
        assert f(3.0).numpy() == 3
        assert f(x, keepdims=True).shape == (1, 1)
        assert f(x, keepdims=1).shape == (1, 1)
        assert gradient(f, 3.0) == 1


def test_nan_wins():
    x = [1.0, np.nan, 5.0]
    assert np.isnan(gt.reduce_max(x).numpy())
    assert np.isnan(gt.reduce_min(x).numpy())


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: gt.reduce_mean([True]),
            DTypeError,
            "reduce_mean needs a floating-poi",
        ),
        (
            lambda: gt.reduce_prod([True]),
            DTypeError,
            "reduce_prod: bool is not a number",
        ),
        (lambda: gt.reduce_max([True]), DTypeError, "reduce_max: bool is not a number"),
        (lambda: gt.reduce_min([1j]), DTypeError, "complex128 numbers have no order"),
        (lambda: gt.reduce_max([1.0], 1), ShapeError, "axis 1 of a tensor of rank 1"),
        (lambda: gt.reduce_max([1.0], [0, -1]), ShapeError, "names an axis twice"),
        (
            lambda: gt.reduce_mean([1.0], "a"),
            ArgumentTypeError,
            "axis must be an integer",
        ),
        (
            lambda: gt.reduce_mean([1.0], 0.5),
            ArgumentTypeError,
            "axis must be an integer",
        ),
        (lambda: gt.reduce_mean(None), ArgumentTypeError, "cannot become a tensor"),
        (lambda: gt.reduce_mean([1.0], 0, None), ArgumentTypeError, "keepdims must be"),
        (
            lambda: gt.reduce_mean(np.zeros((2, 0), int), 1),
            DivisionError,
            r"no integers in shape \(2, 0\) over axes \(1,\).* Cast to a float",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
