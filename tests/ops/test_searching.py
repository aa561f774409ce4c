"""searchsorted, argwhere, nonzero and unique."""

import numpy as np
import pytest

import gtape as gt
from gtape.ops.searching import (
    argwhere,
    nonzero,
    searchsorted,
    unique,
    unique_with_counts,
)

NAN = np.nan


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_as_numpy(dtype, side):
    sequence, values = [-1.0, 0.0, 0.0, 2.0, NAN], [[-2.0, 0.0], [NAN, 2.0]]
    found = searchsorted(gt.cast(sequence, dtype), gt.cast(values, dtype), side)
    assert found.dtype == gt.int32
    np.testing.assert_array_equal(
        found.numpy(), np.searchsorted(sequence, values, side)
    )


def test_searchsorted_promotes():
    assert searchsorted([1, 2, 3], 2.5).numpy() == 2
    assert (
        searchsorted(gt.constant([1.0]), gt.constant(2.0, dtype=gt.float64)).numpy()
        == 1
    )


def test_dtype_of_places():
    assert searchsorted([1, 3], [2], out_type="int64").dtype == gt.int64
    assert unique([4, 4], out_idx=gt.int64).idx.dtype == gt.int64
    y, idx, count = unique_with_counts([4.0, 4.0], gt.int64)
    assert (y.dtype, idx.dtype, count.dtype) == (gt.float32, gt.int64, gt.int64)
    for call in (
        lambda: searchsorted([1, 3], [2], out_type="float32"),
        lambda: unique([4, 4], out_idx=gt.bool),
    ):
        with pytest.raises(TypeError, match="not an integer dtype"):
            call()


def test_where_is_argwhere():
    x = np.array([[0.0, 2.0], [NAN, 0.0]])
    assert argwhere(x).numpy().tolist() == [[0, 1], [1, 0]]
    assert argwhere(x).dtype == gt.int64
    assert argwhere(True).shape == (1, 0)
    assert argwhere(np.zeros((0, 3))).shape == (0, 2)


def test_nonzero_is_an_index():
    x = gt.constant([[0.0, 2.0], [3.0, 0.0]])
    assert x[nonzero(x)].numpy().tolist() == [2.0, 3.0]
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = x[nonzero(x)] * [5.0, 7.0]
    assert tape.gradient(y, x).numpy().tolist() == [[0.0, 5.0], [7.0, 0.0]]


def test_unique_in_order_of_occurrence():
    y, idx = unique([5, 2, 5, 9, 2])
    assert y.numpy().tolist() == [5, 2, 9]
    assert idx.numpy().tolist() == [0, 1, 0, 2, 1]
    assert y[idx].numpy().tolist() == [5, 2, 5, 9, 2]
    found = unique_with_counts([5, 2, 5, 9, 2])
    assert found.count.numpy().tolist() == [2, 2, 1]
    assert found.y.dtype == found.idx.dtype == found.count.dtype == gt.int32


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_unique_takes_all_nan_as_one(dtype):
    y, idx = unique(gt.cast([NAN, 1.0, NAN], dtype))
    assert y.dtype == gt.as_dtype(dtype)
    np.testing.assert_array_equal(gt.cast(y, gt.float64).numpy(), [NAN, 1.0])
    assert idx.numpy().tolist() == [0, 1, 0]


def test_unique_has_no_gradient_and_says_why():
    v = gt.Variable([1.0, 2.0, 1.0])
    with gt.GradientTape() as tape:
        y = unique(v).y * 2.0
    assert tape.gradient(y, v) is None
    assert "arbitrary" in str(tape.explain(y, v))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: unique([[1]]), r"unique: .*\(1, 1\)"),
        (lambda: unique(1), r"unique: .*\(\)"),
        (lambda: unique_with_counts([[1]]), r"unique_with_counts"),
        (lambda: nonzero(1.0), r"nonzero: .*rank 1"),
        (lambda: searchsorted(1.0, 1.0), r"searchsorted: .*rank 1"),
        (lambda: searchsorted([[1.0]], [1.0]), r"searchsorted: .*\(1, 1\).*\(1,\)"),
        (lambda: searchsorted([1.0], 1.0, "both"), r"'both'.*left, right"),
    ],
)
def test_bad_values(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize(
    "call", [lambda: searchsorted([1j], 1j), lambda: unique("a"), lambda: nonzero(None)]
)
def test_bad_types(call):
    with pytest.raises(TypeError, match=r"searchsorted|tensor"):
        call()
