"""Cholesky, QR, pseudo-inverses, least squares: known values, edges, refusals."""

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
from gtape.ops.factorization import cholesky, cholesky_solve, logdet, lstsq, pinv, qr
from gtape.ops.linalg import matmul, outer
from gtape.ops.solving import solve
from gtape.testing import check_grads
from tests.ops.records.factorization import positive_definite, symmetric

RNG = np.random.default_rng(8)


def gradient(f, value, dtype=np.float64):
    x = gt.Variable(np.asarray(value, dtype))
    with gt.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x).numpy()


def test_cholesky_gradient_is_symmetric():
    found = gradient(cholesky, [[4, 2], [2, 3]], np.float32)
    wanted = [[0.2133884, 0.0732233], [0.0732233, 0.3535534]]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_cholesky_reads_the_lower_triangle():
    found = cholesky([[4.0, 99.0], [2.0, 10.0]]).numpy()
    np.testing.assert_allclose(found, [[2, 0], [1, 3]])


def test_cholesky_names_the_matrix_that_is_not_positive_definite():
    with pytest.raises(LinalgError, match="cholesky: the matrix is not positive def"):
        cholesky([[1.0, 2.0], [2.0, 1.0]])
    batch = np.stack([np.eye(2), np.eye(2), -np.eye(2)])
    with pytest.raises(LinalgError, match=r"at batch index \(2,\) is not positive"):
        cholesky(batch)


def test_solution_by_cholesky_is_that_of_solve():
    a, b = positive_definite(RNG, 2, 3, 3), RNG.normal(size=3)
    found = cholesky_solve(cholesky(a), b).numpy()
    np.testing.assert_allclose(found, solve(a, b).numpy())
    check_grads(lambda x: cholesky_solve(cholesky(symmetric(x)), b), a[0])
    np.testing.assert_allclose(logdet(a).numpy(), np.linalg.slogdet(a)[1])


def test_complex_cholesky_factor():
    a = np.array([[2, 1 - 1j], [1 + 1j, 3]])
    found = cholesky_solve(np.linalg.cholesky(a), [1.0, 2.0]).numpy()
    np.testing.assert_allclose(a @ found, [1, 2], atol=1e-12)


# --- QR -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3), (2, 4, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_qr_shapes(shape, full):
    a = RNG.normal(size=shape)
    q, r = qr(a, full_matrices=full)
    wanted = np.linalg.qr(a, "complete" if full else "reduced")
    assert (q.shape, r.shape) == (wanted[0].shape, wanted[1].shape)
    np.testing.assert_allclose((q @ r).numpy(), a, atol=1e-12)


def test_qr_with_arbitrary_columns():
    a = RNG.normal(size=(4, 2))
    check_grads(lambda x: qr(x, full_matrices=True)[1], a)
    with pytest.raises(GradientError, match=r"the last 2 columns of q are arbitrary"):
        gradient(lambda x: qr(x, full_matrices=True)[0], a)
    check_grads(lambda x: qr(x, full_matrices=True), a.T)


def test_qr_of_dependent_columns_has_no_gradient():
    a = np.array([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(LinalgError, match="singular"):
        gradient(lambda x: qr(x)[0], a)


# --- Pseudo-inverse and least squares -------------------------------------------------


def test_pinv_along_changes_that_keep_the_rank():
    u, v = RNG.normal(size=3), RNG.normal(size=2)
    check_grads(lambda u, v: pinv(outer(u, v)), u, v)


def test_pinv_cut():
    a = np.diag([1.0, 1e-3])
    np.testing.assert_allclose(pinv(a).numpy(), np.diag([1, 1e3]))
    np.testing.assert_allclose(pinv(a, rcond=1e-2).numpy(), np.diag([1.0, 0]))
    assert pinv(np.zeros((2, 0, 3))).shape == (2, 3, 0)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 4, 2), (3, 3)])
def test_lstsq_shapes(shape):
    a, b = RNG.normal(size=shape), RNG.normal(size=(shape[-2], 2))
    wanted = np.linalg.pinv(a) @ b
    np.testing.assert_allclose(lstsq(a, b).numpy(), wanted, atol=1e-10)
    np.testing.assert_allclose(lstsq(a, b[:, 0]).numpy(), wanted[..., 0], atol=1e-10)
    small = lstsq(a, b, l2_regularizer=1e-10).numpy()
    np.testing.assert_allclose(small, wanted, rtol=1e-5, atol=1e-5)


def test_lstsq_of_dependent_columns():
    u, v, b = RNG.normal(size=(4, 1)), RNG.normal(size=(1, 3)), RNG.normal(size=4)
    found = lstsq(u @ v, b).numpy()
    np.testing.assert_allclose(found, np.linalg.lstsq(u @ v, b)[0], atol=1e-10)
    check_grads(lambda u, v: lstsq(matmul(u, v), b), u, v)


def test_a_regularizer_has_a_gradient():
    a, b = RNG.normal(size=(4, 2)), RNG.normal(size=4)
    check_grads(lambda weight: lstsq(a, b, weight), np.float64(0.3))


# --- Refusals -------------------------------------------------------------------------


@pytest.mark.parametrize("f", [cholesky, qr, pinv])
def test_refusals(f):
    name = f.__name__
    with pytest.raises(ShapeError, match=f"{name}: .* must have rank 2"):
        f([1.0])
    with pytest.raises(DTypeError, match=f"{name} needs a floating-point dtype"):
        f(np.eye(2, dtype=int))
    with pytest.raises(DTypeError, match=f"{name}: complex matrices are not supported"):
        f(np.eye(2) * 1j)


def test_other_refusals():
    with pytest.raises(ShapeError, match=r"cholesky: the matrix must be square"):
        cholesky(np.ones((2, 3)))
    with pytest.raises(ShapeError, match=r"\(4, 2\).*\(3, 1\) differ in rows"):
        lstsq(np.ones((4, 2)), np.ones(3))
    for rcond in (-1.0, "small"):
        with pytest.raises(ArgumentError, match="pinv: rcond"):
            pinv(np.eye(2), rcond)
    for weight in (-1.0, np.inf, np.nan):
        with pytest.raises(ArgumentError, match="l2_regularizer"):
            lstsq(np.ones((4, 2)), np.ones(4), weight)
    with pytest.raises(LinalgError, match=r"pinv: .* did not converge"):
        pinv([[np.nan, 1.0]])
