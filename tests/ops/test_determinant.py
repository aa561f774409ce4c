"""Determinants of regular and singular matrices, logarithms, exponentials."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import DTypeError, LinalgError, ShapeError
from gtape.ops.determinant import det, expm, slogdet
from gtape.testing import check_grads
from tests.ops.records.determinant import SINGULAR, cofactors

RNG = np.random.default_rng(7)


def gradient(f, value, dtype=np.float64):
    x = gt.Variable(np.asarray(value, dtype))
    with gt.GradientTape() as tape:
        y = f(x)
    g = tape.gradient(y, x)
    return None if g is None else g.numpy()


def test_known_gradients():
    found = gradient(det, [[2, 1], [1, 4]], np.float32)
    np.testing.assert_allclose(found, [[4, -1], [-1, 2]], rtol=1e-5)
    found = gradient(lambda x: slogdet(x)[1], [[2, 1], [1, 4]], np.float32)
    wanted = [[0.5714286, -0.1428571], [-0.1428571, 0.2857143]]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    found = gradient(expm, [[0, 1], [0, 0]], np.float32)
    np.testing.assert_allclose(found, [[1.5, 1], [2.1666667, 1.5]], rtol=1e-5)


@pytest.mark.parametrize("matrix", SINGULAR.values(), ids=SINGULAR)
def test_singular_matrices(matrix):
    wanted = cofactors(np.array(matrix))
    np.testing.assert_allclose(gradient(det, matrix), wanted, atol=1e-12)
    check_grads(det, np.array(matrix), order=2)


def test_a_batch_with_one_singular_matrix():
    batch = np.stack([SINGULAR["rank 2"], np.eye(3), SINGULAR["rank 1"]])
    np.testing.assert_allclose(gradient(det, batch), cofactors(batch), atol=1e-12)
    check_grads(det, batch)


def test_badly_conditioned_matrices():
    a = np.array(SINGULAR["rank 2"]) + 1e-13 * RNG.normal(size=(3, 3))
    np.testing.assert_allclose(gradient(det, a), cofactors(a), rtol=1e-9)


def test_third_derivatives():
    def second(x):
        with gt.GradientTape() as tape:
            tape.watch(x)
            with gt.GradientTape() as inner:
                inner.watch(x)
                y = det(x)
            g = inner.gradient(y, x)
            z = gt.reduce_sum(g * g * g)
        return tape.gradient(z, x)

    check_grads(second, RNG.normal(size=(3, 3)), order=1)


def test_complex_determinant_of_a_singular_matrix():
    a = np.outer([1, 2j], [1 + 1j, 3])
    check_grads(det, a)


def test_slogdet():
    sign, logarithm = slogdet(np.diag([-1e200, 1e200]))
    assert float(sign) == -1
    np.testing.assert_allclose(float(logarithm), 400 * np.log(10))
    sign, logarithm = slogdet(np.zeros((2, 2)))
    assert (float(sign), float(logarithm)) == (0, -np.inf)
    assert gradient(lambda x: slogdet(x)[0], np.eye(2)) is None
    with pytest.raises(LinalgError, match="singular"):
        gradient(lambda x: slogdet(x)[1], np.zeros((2, 2)))


def test_expm_third_order():
    def second(x):
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = gt.reduce_sum(gt.square(expm(x)))
        return tape.gradient(y, x)

    check_grads(second, RNG.normal(size=(2, 2)), order=2)


@pytest.mark.parametrize("f", [det, slogdet, expm])
def test_refusals(f):
    name = f.__name__
    with pytest.raises(ShapeError, match=rf"{name}: the matrix must be square.*\(2, 3"):
        f(np.ones((2, 3)))
    with pytest.raises(ShapeError, match=f"{name}: the matrix must have rank 2"):
        f([1.0])
    with pytest.raises(DTypeError, match=f"{name} needs a floating-point dtype"):
        f(np.eye(2, dtype=int))


def test_other_refusals():
    with pytest.raises(DTypeError, match="slogdet: complex matrices are not supported"):
        slogdet(np.eye(2) * 1j)
    for bad in (np.nan, np.inf):
        with pytest.raises(LinalgError, match="expm: the matrix holds NaN or inf"):
            expm([[bad, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("f", [det, lambda x: slogdet(x)[1], expm])
def test_empty_matrices(f):
    assert gradient(f, np.zeros((2, 0, 0))).shape == (2, 0, 0)
    assert gradient(f, np.zeros((0, 2, 2))).shape == (0, 2, 2)
