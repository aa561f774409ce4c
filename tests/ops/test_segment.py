"""Segments: empty and negative ones, ties, zeros, orders of ids and refusals."""

import ml_dtypes
import numpy as np
import pytest

import gtape as gt
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    IndexRangeError,
    ShapeError,
)


def gradient(f, at, dtype=np.float64):
    x = gt.Variable(np.asarray(at, dtype))
    with gt.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x).numpy()


def test_segments_without_slices():
    x, ids = [1.0, 2.0, 4.0], [0, 0, 2]
    found = {
        f.__name__: f(x, ids).numpy().tolist()
        for f in (
            gt.segment_sum,
            gt.segment_mean,
            gt.segment_prod,
            gt.segment_max,
            gt.segment_min,
        )
    }
    assert found == {
        "segment_sum": [3, 0, 4],
        "segment_mean": [1.5, 0, 4],
        "segment_prod": [2, 1, 4],
        "segment_max": [2, 0, 4],
        "segment_min": [1, 0, 4],
    }


def test_unsorted_extrema_of_nothing_are_the_finite_ends_of_the_range():
    ends = np.finfo(np.float32)
    x = np.float32([1, 2])
    assert gt.unsorted_segment_max(x, [0, 0], 2).numpy().tolist() == [2, ends.min]
    assert gt.unsorted_segment_min(x, [0, 0], 2).numpy().tolist() == [1, ends.max]
    assert gt.unsorted_segment_max([1, 2], [1, 1], 2).numpy().tolist() == [-(2**31), 2]
    found = gt.unsorted_segment_max([-np.inf, 1.0], [0, 1], 2).numpy()
    assert found.tolist() == [-np.inf, 1]
    half = gt.unsorted_segment_max(np.ones(1, ml_dtypes.bfloat16), [1], 2)
    assert float(half[0]) == float(ml_dtypes.finfo(ml_dtypes.bfloat16).min)


def test_negative_ids_leave_their_slice_out():
    x = np.arange(1.0, 5.0)
    found = gt.unsorted_segment_sum(x, [1, -1, 0, 1], 3).numpy()
    assert found.tolist() == [3, 5, 0]
    assert gradient(
        lambda x: gt.unsorted_segment_sum(x, [1, -1, 0, 1], 3), x
    ).tolist() == [1, 0, 1, 1]
    assert gt.unsorted_segment_mean(x, [1, -7, 0, 1], 2).numpy().tolist() == [3, 2.5]


def test_ids_of_any_rank():
    x = np.arange(12.0).reshape(2, 2, 3)
    found = gt.unsorted_segment_sum(x, [[0, 1], [1, 1]], np.int64(2)).numpy()
    np.testing.assert_array_equal(found, [x[0, 0], x[0, 1] + x[1, 0] + x[1, 1]])
    assert gt.unsorted_segment_sum(5.0, 1, 2).numpy().tolist() == [0, 5]


def test_equal_extrema_share_the_gradient():
    found = gradient(lambda x: gt.segment_max(x, [0, 0, 0, 1]), [5, 1, 5, 5])
    assert found.tolist() == [0.5, 0, 0.5, 1]
    found = gradient(lambda x: gt.unsorted_segment_min(x, [2, 0, 2], 3), [1, 7, 1])
    assert found.tolist() == [0.5, 1, 0.5]


def test_gradient_of_a_product_at_zeros():
    found = gradient(lambda x: gt.segment_prod(x, [0, 0, 0, 1]), [5, 0, 2, 3])
    assert found.tolist() == [0, 10, 0, 1]
    ids = [0, 1, 0, 0]
    found = gradient(lambda x: gt.unsorted_segment_prod(x, ids, 2), [5, 0, 0, 3])
    assert found.tolist() == [0, 1, 15, 0]
    x = gt.Variable(np.array([0.0, 4.0, 0.0, 3.0]))
    f = gt.hessian(lambda x: gt.reduce_sum(gt.unsorted_segment_prod(x, ids, 2)))
    wanted = np.zeros((4, 4))
    wanted[0, 2] = wanted[2, 0] = 3
    np.testing.assert_array_equal(f(x), wanted)


def test_means_of_integers():
    found = gt.segment_mean([-1, -2, 5], [0, 0, 1])
    assert (found.numpy().tolist(), found.dtype) == ([-1, 5], gt.int32)
    found = gt.unsorted_segment_mean([1, 2], [0, 0], 1)
    assert (found.numpy().tolist(), found.dtype) == ([1.5], gt.float64)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_is_added_in_float32(dtype):
    x, ids = np.ones(4096, dtype), np.zeros(4096, int)
    assert float(gt.segment_sum(x, ids)[0]) == 4096
    assert float(gt.segment_mean(x, ids)[0]) == 1
    assert gt.unsorted_segment_sqrt_n(x, ids, 1).dtype == dtype


def test_no_slices():
    x, ids = np.zeros((0, 2)), np.zeros(0, int)
    assert gt.segment_sum(x, ids).shape == (0, 2)
    assert gt.segment_max(x, ids).shape == (0, 2)
    assert gt.unsorted_segment_sum(x, ids, 3).numpy().tolist() == [[0, 0]] * 3
    assert gt.unsorted_segment_prod(x, ids, 0).shape == (0, 2)


def test_bincount():
    assert gt.bincount([1, 1, 3]).numpy().tolist() == [0, 2, 0, 1]
    assert gt.bincount([1, 1, 3]).dtype == gt.int32
    found = gt.bincount([[1], [5]], minlength=3, maxlength=4).numpy()
    assert found.tolist() == [0, 1, 0, 0]
    assert gt.bincount([5], minlength=4, maxlength=4).numpy().tolist() == [0] * 4
    assert gt.bincount(np.zeros(0, int)).shape == (0,)
    assert gt.bincount([0], dtype="float32").dtype == gt.float32
    found = gt.bincount([2, 0, 2], weights=np.array([1.0, 2.0, 4.0]))
    assert (found.numpy().tolist(), found.dtype) == ([2, 0, 5], gt.float64)
    g = gradient(lambda w: gt.bincount([2, 0, 2], w, maxlength=2) * 3.0, [1, 2, 4])
    assert g.tolist() == [0, 3, 0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda x: gt.segment_sum(x, [0]),
            ShapeError,
            r"segment_sum: segment ids of shape \(1,\) for data of shape \(2, 2\)",
        ),
        (
            lambda x: gt.segment_sum(x, [1, 0]),
            ArgumentError,
            r"segment ids \[1, 0\] are not sorted.* gt.unsorted_segment_sum",
        ),
        (lambda x: gt.segment_max(x, [-1, 0]), ArgumentError, "not sorted from 0 on"),
        (lambda x: gt.segment_sum(x, [0.0, 1.0]), DTypeError, "ids must be integers"),
        (lambda x: gt.segment_sum(x > 0, [0, 1]), DTypeError, "bool is not a number"),
        (lambda x: gt.segment_max(x * 1j, [0, 1]), DTypeError, "have no order"),
        (
            lambda x: gt.unsorted_segment_sum(x, [0, 2], 2),
            IndexRangeError,
            "segment id 2 is not below num_segments 2",
        ),
        (
            lambda x: gt.unsorted_segment_prod(x, [0, 2], 2),
            IndexRangeError,
            "unsorted_segment_prod: segment id 2 is not below num_segments 2",
        ),
        (
            lambda x: gt.unsorted_segment_max(x, [0, 1], -1),
            ArgumentError,
            "num_segments -1 is negative",
        ),
        (
            lambda x: gt.unsorted_segment_max(x, [0, 1], 1.5),
            ArgumentTypeError,
            "num_segments must be an integer",
        ),
        (
            lambda x: gt.unsorted_segment_sum(x, [0, 1, 1], 2),
            ShapeError,
            "must start with that of the ids",
        ),
        (lambda x: gt.bincount([1.0]), DTypeError, "bincount: arr must be integers"),
        (lambda x: gt.bincount([2, -1]), ArgumentError, "bincount: -1 is negative"),
        (lambda x: gt.bincount([1], [1.0, 2.0]), ShapeError, "weights of shape"),
        (lambda x: gt.bincount([1], minlength=-1), ArgumentError, "minlength -1 is"),
        (
            lambda x: gt.bincount([1], maxlength="a"),
            ArgumentTypeError,
            "maxlength must be an integer",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call(np.ones((2, 2)))
