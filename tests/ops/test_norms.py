"""Variance, deviation and norms: zeros, tiny and huge numbers, orders and refusals."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError, DTypeError, ShapeError

INF = np.inf


def gradient(f, at, dtype=np.float64):
    x = gt.Variable(np.asarray(at, dtype))
    with gt.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x).numpy()


@pytest.mark.parametrize("ord", ["euclidean", 1, 2, 3, 0.5, INF])
def test_norms_of_zero_have_gradient_zero(ord):
    np.testing.assert_array_equal(gradient(lambda x: gt.norm(x, ord), [0, 0]), [0, 0])


@pytest.mark.parametrize(
    "f", [gt.reduce_euclidean_norm, lambda x: gt.norm(x, 3), lambda x: gt.norm(x, 1.5)]
)
@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_norms_neither_underflow_nor_overflow(f, scale):
    x = np.array([1.0, -2.0, 0.0, 3.0])
    found = f(np.float32(x * scale)).numpy()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, f(x).numpy() * scale, rtol=1e-5)
    g = gradient(f, x * scale, np.float32)
    np.testing.assert_allclose(g, gradient(f, x), rtol=1e-5)


def test_float64_norms_neither_underflow_nor_overflow():
    x = np.array([[3e-200, 4e-200], [3e200, 4e200], [0.0, 0.0], [INF, 1.0]])
    found = gt.reduce_euclidean_norm(x, 1).numpy()
    np.testing.assert_allclose(found, [5e-200, 5e200, 0, INF], rtol=1e-14)
    g = gradient(lambda x: gt.reduce_euclidean_norm(x, 1), x[:3])
    np.testing.assert_allclose(g, [[0.6, 0.8], [0.6, 0.8], [0, 0]], rtol=1e-14)


def test_a_norm_left_out_by_a_mask_has_a_clean_gradient():
    def f(x):
        rows = gt.reduce_euclidean_norm(x, 1)
        return gt.reduce_sum(gt.where([True, False], rows, 0.0))

    found = gradient(f, [[3.0, 4.0], [INF, 1.0]])
    np.testing.assert_allclose(found, [[0.6, 0.8], [0, 0]], rtol=1e-15)


def test_a_norm_of_integers_is_an_integer():
    found = gt.reduce_euclidean_norm([[1, 2, 3], [1, 1, 1]])
    assert (found.numpy(), found.dtype) == (4, gt.int32)


def test_a_deviation_of_equal_values_has_gradient_zero():
    np.testing.assert_array_equal(gradient(gt.reduce_std, [2, 2, 2]), [0, 0, 0])
    assert gt.reduce_std([2.0, 2.0]).numpy() == 0


def test_variance_far_from_zero():
    x = np.float32(1e4) + np.float32([0, 1, 2, 3])
    assert gt.reduce_variance(x).numpy() == 1.25
    np.testing.assert_allclose(gt.reduce_std(x), np.sqrt(1.25), rtol=1e-6)


def test_half_precision_is_squared_in_float32():
    x = np.float16([300, -300])
    assert gt.reduce_std(x).numpy() == np.float16(300)
    small = np.float16([1e-4, -1e-4] * 4)
    np.testing.assert_allclose(gt.reduce_std(small), 1e-4, rtol=2e-3)
    assert gt.reduce_euclidean_norm(x).dtype == gt.float16


def test_complex_numbers_have_real_norms():
    z = np.array([3 + 4j, 0])
    for f in (gt.norm, gt.reduce_euclidean_norm):
        assert f(z).numpy() == 5
        assert f(z).dtype == gt.float64
        np.testing.assert_allclose(gradient(f, z, np.complex128), [0.6 + 0.8j, 0])
    assert gt.reduce_variance(np.complex64([1j, -1j])).dtype == gt.float32
    np.testing.assert_allclose(gt.reduce_variance([1j, -1j, 1.0, -1.0]), 1.0)


def test_orders_as_numpy():
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    for ord in (1, 2, 3, 0.5, INF):
        wanted = np.linalg.vector_norm(x, ord=ord, axis=1)
        np.testing.assert_allclose(gt.norm(x, ord, axis=1), wanted, rtol=1e-12)
    for axis in ((0, 2), (2, 0), [-1, 0]):
        for ord in (1, INF, "fro"):
            wanted = np.linalg.norm(x, ord=ord, axis=tuple(axis))
            np.testing.assert_allclose(gt.norm(x, ord, axis), wanted, rtol=1e-12)
    assert gt.norm(x, axis=(0, 2), keepdims=True).shape == (1, 3, 1)
    assert gt.norm(x, 1, axis=(2, 0), keepdims=True).shape == (1, 3, 1)
    assert gt.norm([3, 4]).numpy() == 5


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda x: gt.norm(x, 3, axis=(0, 1)),
            ArgumentError,
            "ord 3 is no norm of matr",
        ),
        (
            lambda x: gt.norm(x, 0),
            ArgumentError,
            "ord 0 is no norm of vectors.* Use 'eu",
        ),
        (lambda x: gt.norm(x, -INF), ArgumentError, "ord -inf is no norm of vectors"),
        (lambda x: gt.norm(x, "nuc"), ArgumentError, "ord 'nuc' is no norm"),
        (lambda x: gt.norm(x, None), ArgumentError, "ord None is no norm"),
        (lambda x: gt.norm(x, True), ArgumentError, "ord True is no norm"),
        (lambda x: gt.norm(x, axis=(0, 1, 0)), ArgumentError, "neither one axis nor a"),
        (
            lambda x: gt.norm(x, axis=5),
            ShapeError,
            "^norm: axis 5 of a tensor of rank 2",
        ),
        (lambda x: gt.norm(x, 1, axis=(0, -2)), ShapeError, "names an axis twice"),
        (lambda x: gt.norm(x > 0), DTypeError, "norm needs a floating-point dtype"),
        (
            lambda x: gt.reduce_std(x > 0),
            DTypeError,
            "reduce_std needs a floating-point",
        ),
        (
            lambda x: gt.reduce_variance(np.ones(2, int)),
            DTypeError,
            r"reduce_variance needs a floating-point dtype, got int64.* gt.cast",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call(np.ones((2, 2)))
