"""Inverses and linear systems: known values, right-hand sides, singular matrices."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentTypeError, DTypeError, LinalgError, ShapeError
from gtape.ops.solving import inv, solve, triangular_solve

RNG = np.random.default_rng(6)


def gradients(f, *values):
    xs = [gt.Variable(np.asarray(v, np.float32)) for v in values]
    with gt.GradientTape() as tape:
        y = f(*xs)
    return [g.numpy() for g in tape.gradient(y, xs)]


def test_known_gradients():
    (found,) = gradients(inv, np.diag([2, 4]))
    np.testing.assert_allclose(found, [[-0.25, -0.125], [-0.125, -0.0625]], rtol=1e-6)
    matrix, rhs = gradients(solve, np.diag([2, 4]), [1, 1])
    np.testing.assert_allclose(matrix, [[-0.25, -0.125], [-0.125, -0.0625]], rtol=1e-6)
    np.testing.assert_allclose(rhs, [0.5, 0.25], rtol=1e-6)


def test_the_other_triangle_is_neither_read_nor_differentiated():
    a = np.array([[2.0, np.nan], [1.0, 4.0]])
    matrix, rhs = gradients(triangular_solve, a, [2.0, 5.0])
    assert matrix[0, 1] == 0
    assert np.isfinite(matrix).all()
    assert np.isfinite(rhs).all()
    a = a.T.copy()
    found = triangular_solve(a, [2.0, 4.0], lower=False).numpy()
    np.testing.assert_allclose(found, [0.5, 1.0])


@pytest.mark.parametrize("f", [solve, triangular_solve])
def test_batches_broadcast(f):
    a = np.tril(RNG.normal(size=(2, 1, 3, 3))) + 3 * np.eye(3)
    for shape in [(3,), (3, 2), (4, 3, 2), (2, 4, 3, 0)]:
        b = RNG.normal(size=shape)
        np.testing.assert_allclose(f(a, b).numpy(), np.linalg.solve(a, b))
    b = RNG.normal(size=(4, 5, 3, 2))
    one = a[0, 0]
    np.testing.assert_allclose(f(one, b).numpy(), np.linalg.solve(one, b))


def test_python_lists_adapt():
    assert solve([[2, 0], [0, 4]], [1, 1]).dtype == "float32"
    assert solve(np.eye(2), [1, 1]).dtype == "float64"
    assert inv([[2, 0], [0, 4]]).dtype == "float32"


def test_a_system_is_not_factored_for_a_wrong_reason():
    with pytest.raises(LinalgError, match="solve: the matrix is singular"):
        solve(np.ones((2, 2)), [1.0, 1.0])
    with pytest.raises(np.linalg.LinAlgError):
        inv(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda a: inv(a), r"at batch index \(1, 0\) is singular"),
        (lambda a: solve(a, np.ones(2)), r"at batch index \(1, 0\) is singular"),
        (
            lambda a: triangular_solve(a, np.ones(2)),
            r"at batch index \(1, 0\) is singular: element 1",
        ),
    ],
)
def test_singular_matrices_are_named(call, place):
    a = np.stack([np.eye(2), np.diag([1.0, 0.0]), np.eye(2)])[:, None]
    with pytest.raises(LinalgError, match=place):
        call(a)


@pytest.mark.parametrize("f", [solve, triangular_solve])
def test_refusals(f):
    name = f.__name__
    with pytest.raises(ShapeError, match=rf"{name}: the matrix must be square.*\(2, 3"):
        f(np.ones((2, 3)), np.ones(2))
    with pytest.raises(
        ShapeError,
        match=rf"{name}: a matrix of shape \(2, 2\) and a right-hand side of shape "
        r"\(3, 1\) differ in rows, 2 against 3",
    ):
        f(np.eye(2), np.ones(3))
    with pytest.raises(ShapeError, match="rank 2 or more"):
        f(np.eye(2), 1.0)
    with pytest.raises(ShapeError, match="do not broadcast"):
        f(np.ones((2, 2, 2)), np.ones((3, 2, 2)))
    with pytest.raises(DTypeError, match=f"{name} needs a floating-point dtype"):
        f(np.eye(2, dtype=int), np.ones(2, int))


def test_flags_are_bools():
    with pytest.raises(ArgumentTypeError, match="inv: adjoint must be True or False"):
        inv(np.eye(2), adjoint="no")
    with pytest.raises(ArgumentTypeError, match="solve: adjoint must be True or False"):
        solve(np.eye(2), np.ones(2), adjoint=2)
    with pytest.raises(
        ArgumentTypeError, match="lower must be True or False, got None"
    ):
        triangular_solve(np.eye(2), np.ones(2), lower=None)


def test_inv_refusals():
    with pytest.raises(ShapeError, match=r"inv: the matrix must be square.*\(2, 3\)"):
        inv(np.ones((2, 3)))
    with pytest.raises(ShapeError, match="inv: the matrix must have rank 2"):
        inv([1.0])
    with pytest.raises(DTypeError, match="inv needs a floating-point dtype, got int64"):
        inv(np.eye(2, dtype=np.int64))
