"""Any, all, counts and places of extrema: ties, NaN, dtypes, no gradient, refusals."""

import ml_dtypes
import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentTypeError, DTypeError, ShapeError

NAN, INF = np.nan, np.inf


def test_the_first_of_equal_places():
    assert gt.argmax([1, 5, 5, 2]).numpy() == 1
    assert gt.argmin([3, 1, 1]).numpy() == 1
    assert gt.argmax([False, True, True]).numpy() == 1
    assert gt.argmax([-INF, -INF]).numpy() == 0
    assert gt.argmin([INF, INF]).numpy() == 0


def test_nan_is_both_greatest_and_least():
    assert gt.argmax([1.0, NAN, 5.0, NAN]).numpy() == 1
    assert gt.argmin([1.0, NAN, 0.0]).numpy() == 1


def test_places_along_the_first_axis_by_default():
    found = gt.argmax([[1.0, 9.0], [2.0, 3.0]])
    assert (found.numpy().tolist(), found.dtype) == ([1, 0], gt.int64)
    found = gt.argmax([[1.0, 3.0, 2.0]], axis=-1, output_type=gt.int32)
    assert (found.numpy().tolist(), found.dtype) == ([1], gt.int32)
    assert gt.argmax(np.ones((2, 0))).shape == (0,)
    assert gt.argmax(np.array([1, 3, 2], ml_dtypes.bfloat16)).numpy() == 1


def test_there_is_no_gradient():
    x = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = gt.cast(gt.argmax(x), gt.float32)
    assert tape.gradient(y, x) is None


def test_any_and_all_of_nothing():
    empty = np.zeros((0, 2), bool)
    assert gt.reduce_any(empty, 0).numpy().tolist() == [False, False]
    assert gt.reduce_all(empty).numpy()
    assert gt.reduce_any([[True, False]], keepdims=True).shape == (1, 1)


def test_counts():
    x = [[0.0, 1.0, NAN], [0.0, 0.0, -2.0]]
    assert gt.count_nonzero(x).numpy() == 3
    assert gt.count_nonzero(x).dtype == gt.int64
    found = gt.count_nonzero(x, axis=1, keepdims=True, dtype="int32")
    assert (found.numpy().tolist(), found.dtype) == ([[2], [1]], gt.int32)
    assert gt.count_nonzero([True, False, True]).numpy() == 2
    assert gt.count_nonzero(np.ones(300, np.int8)).numpy() == 300
    assert gt.count_nonzero([0j, 1j]).numpy() == 1


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: gt.reduce_any([1.0]), DTypeError, "reduce_any needs a bool.* x != 0"),
        (
            lambda: gt.reduce_all([1]),
            DTypeError,
            "reduce_all needs a bool dtype, got int",
        ),
        (lambda: gt.reduce_all([True], 1), ShapeError, "reduce_all: axis 1"),
        (lambda: gt.argmax(1.0), ShapeError, "argmax: axis 0 of a tensor of rank 0"),
        (
            lambda: gt.argmax([1.0], 1),
            ShapeError,
            "argmax: axis 1 of a tensor of rank 1",
        ),
        (lambda: gt.argmin([1.0], [0]), ArgumentTypeError, "axis must be an integer"),
        (
            lambda: gt.argmin(np.ones((0, 2))),
            ShapeError,
            r"axis 0 of shape \(0, 2\) is em",
        ),
        (lambda: gt.argmax([1j]), DTypeError, "complex128 numbers have no order"),
        (
            lambda: gt.argmax([1.0], output_type="float32"),
            DTypeError,
            "output_type float32 is not an integer dtype.* Use int64",
        ),
        (lambda: gt.count_nonzero([1.0], dtype="x"), DTypeError, "'x' is not a dtype"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
