"""Diagonals, bands and triangles: what the table cannot say."""

import numpy as np
import pytest

import gtape as gt
from gtape import errors
from gtape.ops.creation import constant, ones, zeros
from gtape.ops.diagonal import (
    band_part,
    diag,
    diag_part,
    set_diag,
    trace,
    tril,
    triu,
)

X = np.arange(6.0).reshape(2, 3)


def content(tensor):
    return tensor.numpy().tolist()


@pytest.mark.parametrize("k", [-3, -1, 0, 2])
def test_diag_part_takes_back_what_diag_placed(k, rng):
    x = rng.normal(size=(2, 3, 4))
    np.testing.assert_array_equal(diag_part(diag(x, k), k).numpy(), x)


def test_empty_diagonals():
    assert diag(zeros([0])).shape == (0, 0)
    assert content(diag(zeros([0]), k=2)) == [[0.0, 0.0], [0.0, 0.0]]
    assert content(diag(zeros([0]), k=-1)) == [[0.0]]
    assert diag(zeros([0, 2])).shape == (0, 2, 2)
    assert diag_part(zeros([0, 3])).shape == (0,)
    assert diag_part(zeros([2, 0, 0])).shape == (2, 0)
    assert triu(zeros([0, 3])).shape == (0, 3)
    assert content(trace(zeros([2, 0, 3]))) == [0.0, 0.0]


def test_gradients_stay_on_the_diagonal():
    v = gt.Variable(X)
    with gt.GradientTape(persistent=True) as tape:
        part, total = diag_part(v, k=1), trace(v)
        new = gt.Variable([5.0, 6.0], dtype="float64")
        out = set_diag(v, new, k=1) * [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert content(tape.gradient(part, v)) == [[0, 1, 0], [0, 0, 1]]
    assert content(tape.gradient(total, v)) == [[1, 0, 0], [0, 1, 0]]
    assert content(tape.gradient(out, v)) == [[1, 0, 3], [4, 5, 0]]
    assert content(tape.gradient(out, new)) == [2.0, 6.0]


def test_what_a_mask_leaves_out_is_clean():
    x = gt.Variable([[1.0, np.inf], [np.nan, 4.0]])
    with gt.GradientTape() as tape:
        y = band_part(x, 0, 0)
    assert content(y) == [[1.0, 0.0], [0.0, 4.0]]
    assert content(tape.gradient(y, x)) == [[1.0, 0.0], [0.0, 1.0]]
    assert content(triu([[np.nan, 1.0], [np.nan, 1.0]], k=1)) == [[0, 1], [0, 0]]


def test_set_diag_broadcasts_and_promotes():
    assert content(set_diag(ones([2, 2, 2]), [5.0])) == [[[5, 1], [1, 5]]] * 2
    assert content(set_diag(X, [8.0])) == [[8, 1, 2], [3, 8, 5]]
    assert set_diag(constant(X, "float16"), [5, 6.5]).dtype == "float16"
    assert set_diag([[1, 2], [3, 4]], [0.5, 6]).dtype == "float32"


REFUSED = [
    (diag, (1.0,), errors.ShapeError, r"shape \(\)"),
    (diag, ([1.0], 1.5), errors.ArgumentTypeError, "k must be an integer, got 1.5"),
    (diag, (np.ones(10**6),), errors.TensorMemoryError, "bytes"),
    (diag, ([1.0], 10**7), errors.TensorMemoryError, "bytes"),
    (diag, (None,), errors.ArgumentTypeError, "None"),
    (diag_part, ([1.0],), errors.ShapeError, r"shape \(1,\)"),
    (diag_part, (X, 3), errors.ShapeError, r"no diagonal 3 .*\(2, 3\)"),
    (diag_part, (X, -2), errors.ShapeError, r"no diagonal -2 .*k from -1 to 2"),
    (diag_part, (X, None), errors.ArgumentTypeError, "k must be an integer, got None"),
    (set_diag, (X, [1.0, 2.0, 3.0]), errors.ShapeError, r"\(3,\) and \(2,\)"),
    (set_diag, (X, 5.0), errors.ShapeError, r"diagonal of shape \(\)"),
    (set_diag, (X, [[5.0, 6.0]]), errors.ShapeError, r"diagonal of shape \(1, 2\)"),
    (set_diag, (X, [1.0], 7), errors.ShapeError, "no diagonal 7"),
    (band_part, ([1.0], 0, 0), errors.ShapeError, r"shape \(1,\)"),
    (band_part, (X, 0.5, 0), errors.ArgumentTypeError, "num_lower .*0.5"),
    (band_part, (X, 0, "a"), errors.ArgumentTypeError, "num_upper .*'a'"),
    (triu, (1.0,), errors.ShapeError, r"shape \(\)"),
    (tril, (X, "a"), errors.ArgumentTypeError, "k must be an integer, got 'a'"),
    (trace, ([1.0],), errors.ShapeError, r"shape \(1,\)"),
    (trace, ("ab",), errors.ArgumentTypeError, "'ab'"),
]


@pytest.mark.parametrize(("function", "args", "error", "text"), REFUSED)
def test_bad_arguments(function, args, error, text):
    with pytest.raises(error, match=f"{function.__name__}: .*{text}"):
        function(*args)


def test_trace_of_bools_is_refused():
    with pytest.raises(errors.DTypeError, match="bool is not a number"):
        trace([[True]])
