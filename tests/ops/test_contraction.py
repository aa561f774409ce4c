"""tensordot, dot and inner against NumPy, and what they refuse."""

import numpy as np
import pytest

from gtape.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from gtape.ops.contraction import dot, inner, tensordot

RNG = np.random.default_rng(4)


@pytest.mark.parametrize(
    ("left", "right", "axes"),
    [
        ((2, 3), (3, 4), 1),
        ((2,), (3,), 0),
        ((), (3,), 0),
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3), (3, 4), [1, 0]),
        ((2, 3), (3, 4), np.array([[1], [0]])),
        ((2, 3, 4), (4, 2, 5), [[0, -1], [1, 0]]),
        ((2,), (3,), [[], []]),
        ((2, 0), (0, 3), 1),
        ((1, 3), (3, 1), 1),
    ],
)
def test_tensordot(left, right, axes):
    x, y = RNG.normal(size=left), RNG.normal(size=right)
    wanted = np.tensordot(x, y, axes)
    np.testing.assert_allclose(tensordot(x, y, axes).numpy(), wanted)


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3), (3,)), ((), (3,)), ((3,), ()), ((3,), (3,)), ((2, 3), (5, 3, 4))],
)
def test_dot(left, right):
    x, y = RNG.normal(size=left), RNG.normal(size=right)
    np.testing.assert_allclose(dot(x, y).numpy(), np.dot(x, y))


def test_inner():
    x, y = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 5, 3))
    np.testing.assert_allclose(inner(x, y).numpy(), np.inner(x, y))
    assert float(inner(2.0, 3.0)) == 6


@pytest.mark.parametrize(
    ("axes", "error", "text"),
    [
        (1, ShapeError, r"axis 1 of shape \(2, 3\) and axis 0 of shape \(2, 3\)"),
        (3, ShapeError, "3 axes of tensors of rank 2 and 2"),
        (-1, ShapeError, "-1 axes"),
        ([0, 5], ShapeError, "axis of b 5 of a tensor of rank 2"),
        ([[0, 0], [0, 1]], ShapeError, "do not pair"),
        ([[0, 1], [0]], ShapeError, "do not pair"),
        ([1, 2, 3], ArgumentError, "not two lists"),
        ("ab", ArgumentTypeError, "axes must be an integer, got 'ab'"),
        (1.0, ArgumentTypeError, "axes must be an integer, got 1.0"),
        (None, ArgumentTypeError, "axes must be an integer, got None"),
        ([[0.5], [0]], ArgumentTypeError, "axes of a must be an integer"),
    ],
)
def test_tensordot_refusals(axes, error, text):
    with pytest.raises(error, match=text):
        tensordot(np.ones((2, 3)), np.ones((2, 3)), axes)


def test_sizes_of_one_do_not_broadcast():
    with pytest.raises(ShapeError, match="1 against 3"):
        tensordot(np.ones((2, 1)), np.ones((3, 2)), 1)


@pytest.mark.parametrize("f", [dot, inner])
def test_dot_and_inner_refusals(f):
    with pytest.raises(ShapeError, match=r"\(3,\) and \(2,\) differ in the summed"):
        f(np.ones(3), np.ones(2))
    with pytest.raises(DTypeError, match=f"{f.__name__}: bool is not a number"):
        f([True], [True])
