"""Singular values and eigenvalues: known values, equal values, refusals."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import (
    ArgumentError,
    DTypeError,
    GradientError,
    LinalgError,
    ShapeError,
)
from gtape.ops.norm import matrix_norm
from gtape.ops.spectral import eigh, eigvalsh, svd
from gtape.testing import check_grads

RNG = np.random.default_rng(9)
TWICE_ONE = np.array([[2.0, 1, 1], [1, 2, 1], [1, 1, 2]])  # eigenvalues 1, 1, 4


def gradient(f, value, dtype=np.float64):
    x = gt.Variable(np.asarray(value, dtype))
    with gt.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x).numpy()


def second_gradient(f, value):
    x = gt.Variable(value)
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = f(x)
        g = inner.gradient(y, x)
    return outer.gradient(g, x).numpy()


@pytest.mark.parametrize("values", [eigvalsh, lambda x: eigh(x)[0]])
def test_known_gradients_of_eigenvalues(values):
    found = gradient(values, [[2, 1], [1, 4]], np.float32)
    np.testing.assert_allclose(found, np.eye(2), atol=1e-6)
    np.testing.assert_allclose(gradient(values, np.eye(2)), np.eye(2))


def test_only_the_lower_triangle_is_read():
    a = RNG.normal(size=(3, 3))
    lower = np.tril(a) + np.tril(a, -1).T
    np.testing.assert_allclose(eigvalsh(a).numpy(), np.linalg.eigvalsh(lower))
    assert not np.triu(gradient(eigvalsh, a), 1).any()
    check_grads(eigh, a)


def test_known_gradients_of_singular_values():
    a = [[1, 2], [3, 4]]
    wanted = [[-0.5144958, 0.8574928], [0.8574929, 0.5144959]]
    for values in (lambda x: svd(x)[0], lambda x: svd(x, compute_uv=False)):
        np.testing.assert_allclose(gradient(values, a, np.float32), wanted, rtol=1e-5)
    found = gradient(lambda x: matrix_norm(x, 2), a, np.float32)
    wanted = [[0.2330424, 0.3306883], [0.5268045, 0.7475383]]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


# --- Equal values ---------------------------------------------------------------------


def test_vectors_of_equal_values_contribute_nothing():
    assert not gradient(lambda x: eigh(x)[1], np.eye(3)).any()
    assert not gradient(lambda x: svd(x)[1], np.eye(3)).any()


def test_second_derivatives_of_functions_of_equal_values():
    # The sum of squares of the eigenvalues is that of all elements.
    found = second_gradient(lambda x: gt.reduce_sum(eigvalsh(x) ** 2), TWICE_ONE)
    wanted = np.tril(np.full((3, 3), 4.0)) - 2 * np.eye(3)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    found = second_gradient(
        lambda x: gt.reduce_sum(svd(x, compute_uv=False)), TWICE_ONE
    )
    np.testing.assert_allclose(found, 0, atol=1e-12)


def test_what_depends_on_the_space_of_equal_values():
    # The projector on the space of the two equal eigenvalues is smooth.
    weights = RNG.normal(size=(3, 3))

    def projected(x):
        v = eigh(x)[1][:, :2]
        return gt.reduce_sum(gt.matmul(v, v, transpose_b=True) * weights)

    found = gradient(projected, TWICE_ONE)
    step = 1e-5
    for i, j in [(0, 0), (1, 0), (2, 1)]:
        change = np.zeros((3, 3))
        change[i, j] = step
        ahead, back = projected(TWICE_ONE + change), projected(TWICE_ONE - change)
        slope = (float(ahead) - float(back)) / (2 * step)
        np.testing.assert_allclose(found[i, j], slope, atol=1e-8)


def test_singular_values_of_zero():
    a = np.outer([1.0, 2], [3.0, 1, 2])
    for f in (lambda x: svd(x)[0], lambda x: svd(x)[1], lambda x: svd(x)[2]):
        assert np.isfinite(gradient(f, a)).all()
    assert np.isfinite(gradient(lambda x: matrix_norm(x, 2), np.zeros((2, 2)))).all()


# --- Shapes ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3), (2, 4, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_svd_shapes(shape, full):
    a = RNG.normal(size=shape)
    s, u, v = svd(a, full_matrices=full)
    us, ss, vh = np.linalg.svd(a, full_matrices=full)
    assert (s.shape, u.shape) == (ss.shape, us.shape)
    assert v.shape == np.swapaxes(vh, -1, -2).shape
    k = s.shape[-1]
    product = (u.numpy()[..., :k] * s.numpy()[..., None, :]) @ np.swapaxes(
        v.numpy()[..., :k], -1, -2
    )
    np.testing.assert_allclose(product, a, atol=1e-12)


def test_svd_with_arbitrary_columns():
    a = RNG.normal(size=(4, 2))
    check_grads(lambda x: svd(x, full_matrices=True)[::2], a)
    with pytest.raises(GradientError, match="the last 2 columns of u are arbitrary"):
        gradient(lambda x: svd(x, full_matrices=True)[1], a)
    with pytest.raises(GradientError, match="the last 2 columns of v are arbitrary"):
        gradient(lambda x: svd(x, full_matrices=True)[2], a.T)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (0, 2, 2)])
def test_empty_matrices(shape):
    for f in (svd, lambda x: svd(x, compute_uv=False)):
        assert gradient(f, np.zeros(shape)).shape == shape
    if shape[-1] == shape[-2]:
        assert gradient(eigh, np.zeros(shape)).shape == shape


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, 2, -2, np.inf])
def test_matrix_norms(ord):
    a = RNG.normal(size=(2, 3, 4))
    found = matrix_norm(a, ord, keepdims=True).numpy()
    wanted = np.linalg.norm(a, ord, axis=(-2, -1), keepdims=True)
    np.testing.assert_allclose(found, wanted)


# --- Refusals -------------------------------------------------------------------------


@pytest.mark.parametrize("f", [svd, eigh])
def test_refusals(f):
    name = f.__name__
    with pytest.raises(ShapeError, match=f"{name}: .* must have rank 2"):
        f([1.0])
    with pytest.raises(DTypeError, match=f"{name} needs a floating-point dtype"):
        f(np.eye(2, dtype=int))
    with pytest.raises(DTypeError, match=f"{name}: complex matrices are not supported"):
        f(np.eye(2) * 1j)


def test_other_refusals():
    for f in (eigh, eigvalsh):
        with pytest.raises(ShapeError, match=r"the matrix must be square.*\(2, 3\)"):
            f(np.ones((2, 3)))
    with pytest.raises(LinalgError, match=r"svd: .* did not converge"):
        svd([[np.nan, 1.0], [1.0, 1.0]])
    for ord in ("frobenius", 3, None, [2]):
        with pytest.raises(ArgumentError, match="is no norm of matrices"):
            matrix_norm(np.eye(2), ord)
    with pytest.raises(ShapeError, match="no singular values"):
        matrix_norm(np.zeros((2, 0)), 2)
    with pytest.raises(ShapeError, match="rank 2"):
        matrix_norm([1.0])
