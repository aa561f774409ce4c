"""Padding: what the table cannot say."""

import numpy as np
import pytest

import gtape as gt
from gtape import errors
from gtape.ops.creation import constant, zeros
from gtape.ops.padding import pad

X = np.arange(6.0).reshape(2, 3)


def content(tensor):
    return tensor.numpy().tolist()


def gradient(f, x):
    v = gt.Variable(x)
    with gt.GradientTape() as tape:
        y = f(v)
    return content(tape.gradient(y, v))


def test_gradients_count_the_copies():
    x = [1.0, 2.0, 3.0]
    assert gradient(lambda v: pad(v, [[1, 1]]), x) == [1.0, 1.0, 1.0]
    assert gradient(lambda v: pad(v, [[1, 1]], "REFLECT"), x) == [1.0, 3.0, 1.0]
    assert gradient(lambda v: pad(v, [[1, 1]], "SYMMETRIC"), x) == [2.0, 1.0, 2.0]
    assert gradient(lambda v: pad(v, [[2, 0]], "REFLECT"), x) == [1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("x", "value", "expected"),
    [
        ([1.0], 2, [2.0, 1.0]),
        ([1.0], constant(2.0), [2.0, 1.0]),
        ([1.0], float("inf"), [np.inf, 1.0]),
        ([1], -7, [-7, 1]),
        (np.array([1], np.int64), 2**53 + 1, [2**53 + 1, 1]),
        ([1j], 2j, [2j, 1j]),
        ([True], False, [False, True]),
        ([False], True, [True, False]),
        ([True], 0, [False, True]),
    ],
)
def test_the_constant(x, value, expected):
    t = pad(x, [[1, 0]], constant_values=value)
    assert content(t) == expected
    assert t.dtype == constant(x).dtype


def test_paddings_of_every_form():
    expected = np.pad(X, [[1, 0], [2, 3]])
    for paddings in (
        ((1, 0), (2, 3)),
        np.array([[1, 0], [2, 3]], np.int64),
        constant([[1, 0], [2, 3]]),
    ):
        np.testing.assert_array_equal(pad(X, paddings).numpy(), expected)
    assert content(pad(2.0, [])) == 2.0
    assert content(pad(2.0, np.zeros((0, 2), int))) == 2.0
    assert pad(zeros([0, 2]), [[1, 1], [0, 0]]).shape == (2, 2)
    assert pad(zeros([0]), [[0, 0]], "REFLECT").shape == (0,)
    assert content(pad([1, 2], [[1, 1]], mode="reflect")) == [2, 1, 2, 1]


def test_mirrors_are_at_most_as_long_as_the_tensor():
    assert content(pad([1, 2], [[2, 2]], "SYMMETRIC")) == [2, 1, 1, 2, 2, 1]
    assert content(pad([1, 2, 3], [[2, 2]], "REFLECT")) == [3, 2, 1, 2, 3, 2, 1]


REFUSED = [
    ((X, [1, 1]), errors.ShapeError, r"\(2, 3\)"),
    ((X, [[1, 1]]), errors.ShapeError, r"\(2, 3\)"),
    ((X, [[1, 1], [1]]), errors.ShapeError, r"\(2, 3\)"),
    ((X, [[1, 1], [1, -1]]), errors.ArgumentError, r"\(1, -1\) has a negative entry"),
    ((X, [[1, 1], [1, 0.5]]), errors.ArgumentTypeError, "0.5"),
    ((X, "ab"), errors.ShapeError, "'ab' is not a list of pairs"),
    ((X, 3), errors.ShapeError, "3 is not a list of pairs"),
    ((X, None), errors.ShapeError, "None is not a list of pairs"),
    ((X, [[1, 1], [0, 0]], "EDGE"), errors.ArgumentError, "mode 'EDGE' is unknown"),
    ((X, [[1, 1], [0, 0]], None), errors.ArgumentError, "mode None is unknown"),
    ((X, [[2, 0], [0, 0]], "REFLECT"), errors.ShapeError, "2 mirrored .* axis 0"),
    ((X, [[0, 3], [0, 0]], "SYMMETRIC"), errors.ShapeError, "3 mirrored .* size 2"),
    (([1], [[1, 0]], "CONSTANT", 1.5), errors.DTypeError, "1.5 does not fit .* int32"),
    (([1], [[1, 0]], "CONSTANT", [1]), errors.ShapeError, r"constant_values .*\(1,\)"),
    (([1], [[1, 0]], "CONSTANT", None), errors.ArgumentTypeError, "None"),
    ((X, [[10**13, 0], [0, 0]]), errors.TensorMemoryError, "bytes"),
    ((None, []), errors.ArgumentTypeError, "None"),
]


@pytest.mark.parametrize(("args", "error", "text"), REFUSED)
def test_bad_arguments(args, error, text):
    with pytest.raises(error, match=f"pad: .*{text}"):
        pad(*args)
