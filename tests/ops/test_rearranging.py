"""Cut, repeat, reverse and roll: what the table cannot say."""

import numpy as np
import pytest

import gtape as gt
from gtape import errors
from gtape.ops.creation import constant, zeros
from gtape.ops.rearranging import repeat, reverse, roll, split, tile, unstack

X = np.arange(6.0).reshape(2, 3)


def content(tensor):
    return tensor.numpy().tolist()


def gradient(f, x, weights):
    v = gt.Variable(x)
    with gt.GradientTape() as tape:
        y = f(v) * weights
    return content(tape.gradient(y, v))


# --- Cut ------------------------------------------------------------------------------


def test_unstack_is_the_inverse_of_stack():
    for axis in (0, 1, -1):
        parts = unstack(X, axis=axis)
        assert len(parts) == X.shape[axis]
        assert (gt.stack(parts, axis=axis).numpy() == X).all()
    assert unstack(zeros([0, 2])) == []
    assert len(unstack(X, num=2)) == 2


def test_unstack_gradient_of_one_part():
    assert gradient(lambda v: unstack(v, axis=1)[2], X, [5.0, 7.0]) == [
        [0.0, 0.0, 5.0],
        [0.0, 0.0, 7.0],
    ]


@pytest.mark.parametrize(
    ("splits", "axis", "sizes"),
    [
        (2, 0, [1, 1]),
        (3, 1, [1, 1, 1]),
        (np.int64(3), -1, [1, 1, 1]),
        (constant(3), 1, [1, 1, 1]),
        ([1, 2], 1, [1, 2]),
        ([1, -1], 1, [1, 2]),
        ([-1, 3], 1, [0, 3]),
        (constant([0, 3]), 1, [0, 3]),
        ((2,), 0, [2]),
    ],
)
def test_split_sizes(splits, axis, sizes):
    parts = split(X, splits, axis)
    assert [p.shape[axis] for p in parts] == sizes
    assert (gt.concat(parts, axis).numpy() == X).all()


def test_concat_of_one_tensor_is_that_tensor():
    for x in (gt.constant(X), X, gt.Variable(X)):
        assert (gt.concat(x, 0).numpy() == X).all()
    # NumPy's function takes the rows for the arrays.
    assert (np.concatenate(gt.constant(X)).numpy() == np.concatenate(X)).all()


# --- Repeat ---------------------------------------------------------------------------


def test_tile_of_vectors_and_scalars():
    assert content(tile([1, 2], 2)) == [1, 2, 1, 2]
    assert content(tile(3.0, [])) == 3.0
    assert tile(X, constant([2, 1])).shape == (4, 3)


def test_tile_gradient_sums_the_copies():
    weights = np.arange(8.0).reshape(2, 4)
    assert gradient(lambda v: tile(v, [2, 2]), [[1.0, 2.0]], weights) == [[12.0, 16.0]]


def test_repeat_counts():
    assert content(repeat(3, 2)) == [3, 3]
    assert content(repeat([1, 2], constant([0, 2]))) == [2, 2]
    assert content(repeat([1, 2], [3])) == [1, 1, 1, 2, 2, 2]
    assert repeat(X, 2).shape == (12,)
    assert repeat(zeros([0, 3]), 2).shape == (0,)
    assert repeat(X, [0, 0, 0], axis=1).shape == (2, 0)


def test_repeat_gradient_sums_the_copies():
    weights = [1.0, 2.0, 4.0, 8.0]
    assert gradient(lambda v: repeat(v, 2), [1.0, 1.0], weights) == [3.0, 12.0]
    assert gradient(lambda v: repeat(v, [3, 1]), [1.0, 1.0], weights) == [7.0, 8.0]


# --- Reverse and roll -----------------------------------------------------------------


def test_reverse_axes():
    assert content(reverse(X, 0)) == X[::-1].tolist()
    assert content(reverse(X, [0, -1])) == X[::-1, ::-1].tolist()
    assert content(reverse(X, constant([1]))) == X[:, ::-1].tolist()
    assert content(reverse(X, [])) == X.tolist()
    assert reverse(zeros([0, 2]), [0, 1]).shape == (0, 2)


def test_roll_sums_shifts_of_one_axis():
    assert content(roll(X, [1, 1], [1, -1])) == np.roll(X, 2, 1).tolist()
    assert content(roll(X, 10**30, 0)) == np.roll(X, 10**30 % 2, 0).tolist()
    assert content(roll(X, constant(1), 1)) == np.roll(X, 1, 1).tolist()
    assert content(roll(X, [], [])) == X.tolist()


def test_roll_gradient_rolls_back():
    assert gradient(lambda v: roll(v, 1, 0), [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]) == [
        2.0,
        3.0,
        1.0,
    ]


def test_roll_inside_a_vectorized_map():
    f = gt.vectorized_map(lambda row: roll(row, 1, 0), constant(X))
    assert content(f) == np.roll(X, 1, 1).tolist()


# --- Bad arguments --------------------------------------------------------------------

REFUSED = [
    (unstack, (1.0,), errors.ShapeError, "axis 0 of a tensor of rank 0"),
    (unstack, (X, 3), errors.ShapeError, r"num is 3, but axis 0 of shape \(2, 3\)"),
    (unstack, (X, "a"), errors.ArgumentTypeError, "num must be an integer, got 'a'"),
    (unstack, (X, None, 2), errors.ShapeError, "axis 2"),
    (unstack, ("ab",), errors.ArgumentTypeError, "'ab'"),
    (split, (X, 2, 1), errors.ShapeError, "axis 1 of size 3 has no 2 equal parts"),
    (split, (X, 0), errors.ShapeError, "no 0 equal parts"),
    (split, (X, -1), errors.ShapeError, "no -1 equal parts"),
    (split, (X, [1, 2]), errors.ShapeError, r"sizes \(1, 2\) for axis 0 of size 2"),
    (split, (X, [-1, -1]), errors.ShapeError, r"sizes \(-1, -1\)"),
    (split, (X, [3, -1]), errors.ShapeError, r"sizes \(3, -1\)"),
    (split, (X, []), errors.ShapeError, r"sizes \(\)"),
    (split, (X, 1.5), errors.ArgumentTypeError, "num_or_size_splits .*1.5"),
    (split, (X, None), errors.ArgumentTypeError, "num_or_size_splits .*None"),
    (split, (1.0, 1), errors.ShapeError, "axis 0 of a tensor of rank 0"),
    (tile, (X, [1]), errors.ShapeError, r"multiples \(1,\) .*\(2, 3\)"),
    (tile, (X, [1, -1]), errors.ArgumentError, "negative entry"),
    (tile, (X, [1, 1.5]), errors.ArgumentTypeError, "multiples .*1.5"),
    (tile, (X, [10**7, 10**7]), errors.TensorMemoryError, "bytes"),
    (repeat, (X, -1), errors.ArgumentError, "negative entry"),
    (repeat, (X, [1, 2], 1), errors.ShapeError, "2 counts for axis 1 of size 3"),
    (repeat, (X, 2.5), errors.ArgumentTypeError, "repeats .*2.5"),
    (repeat, (X, 10**13), errors.TensorMemoryError, "bytes"),
    (repeat, (X, [10**13, 1], 0), errors.TensorMemoryError, "bytes"),
    (repeat, (3, 2, 0), errors.ShapeError, "axis 0 of a tensor of rank 0"),
    (reverse, (X, [0, 0]), errors.ShapeError, r"axis \[0, 0\] names an axis twice"),
    (reverse, (X, 2), errors.ShapeError, "axis 2"),
    (reverse, (X, "a"), errors.ArgumentTypeError, "axis .*'a'"),
    (roll, (X, 1, 2), errors.ShapeError, "axis 2"),
    (roll, (X, [1, 2], 0), errors.ShapeError, r"shift \(1, 2\) for axis \(0,\)"),
    (roll, (X, 1.5, 0), errors.ArgumentTypeError, "shift .*1.5"),
    (roll, (X, 1, None), errors.ArgumentTypeError, "axis .*None"),
    (roll, (1.0, 1, 0), errors.ShapeError, "axis 0 of a tensor of rank 0"),
]


@pytest.mark.parametrize(("function", "args", "error", "text"), REFUSED)
def test_bad_arguments(function, args, error, text):
    with pytest.raises(error, match=f"{function.__name__}: .*{text}"):
        function(*args)
