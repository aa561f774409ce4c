"""Shape, rank and size as tensors: what the table cannot say."""

import numpy as np
import pytest

import gtape as gt
from gtape import errors
from gtape.ops.creation import constant, fill, zeros
from gtape.ops.measures import ensure_shape, rank, shape, size


def test_values_and_dtypes():
    x = zeros([2, 0, 3])
    assert shape(x).numpy().tolist() == [2, 0, 3]
    assert rank(x).numpy() == 3
    assert size(x).numpy() == 0
    assert {shape(x).dtype, rank(x).dtype, size(x).dtype} == {gt.int32}
    assert shape(1.0).shape == (0,)
    assert shape(1.0).dtype == "int32"
    assert rank(1.0).shape == size(1.0).shape == ()
    assert size(gt.Variable([1.0, 2.0])).numpy() == 2


def test_out_type():
    assert shape([1.0], gt.int64).dtype == "int64"
    assert size([1.0], out_type="uint8").dtype == "uint8"
    many = fill([2**16, 2**16], True)  # a view, which takes no memory
    assert size(many, gt.int64).numpy() == 2**32
    with pytest.raises(errors.RangeError, match=r"size: 4294967296 .*int32.*int64"):
        size(many)
    with pytest.raises(errors.DTypeError, match="shape: out_type float32"):
        shape([1.0], gt.float32)
    with pytest.raises(errors.DTypeError, match="size: out_type bool"):
        size([1.0], gt.bool)


def test_ensure_shape():
    x = constant([[1.0, 2.0]])
    np.testing.assert_array_equal(ensure_shape(x, (None, 2)).numpy(), x.numpy())
    assert ensure_shape(x, x.shape).shape == x.shape
    v = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = ensure_shape(v * 2.0, [None])
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("wanted", "error", "text"),
    [
        ([None, 3], errors.ShapeError, r"\(1, 2\), not \(None, 3\)"),
        ([2], errors.ShapeError, r"\(1, 2\), not \(2,\)"),
        (["a", 2], errors.ArgumentTypeError, "size must be an integer, got 'a'"),
        (None, errors.ArgumentTypeError, "None is not a shape"),
        (2, errors.ArgumentTypeError, "2 is not a shape"),
        ("ab", errors.ArgumentTypeError, "'ab' is not a shape"),
    ],
)
def test_ensure_shape_refuses(wanted, error, text):
    with pytest.raises(error, match=f"ensure_shape: .*{text}"):
        ensure_shape([[1.0, 2.0]], wanted)


@pytest.mark.parametrize("function", [shape, rank, size])
def test_no_tensor(function):
    with pytest.raises(errors.ArgumentTypeError, match=f"{function.__name__}: None"):
        function(None)
