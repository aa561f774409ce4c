"""Sums, means, products and extrema of the slices of a tensor that share a segment.

Slice data[i] belongs to segment segment_ids[i]; the result has a row for each segment.
"""

from __future__ import annotations

import math
from typing import Any

from gtape.dtypes import DTypeLike, as_dtype
from gtape.errors import (
    ArgumentError,
    DTypeError,
    ShapeError,
)
from gtape.ops import segmented
from gtape.ops.common import Tensor, TensorLike, as_count, convert
from gtape.ops.extrema import minimum
from gtape.ops.indices import on_outside
from gtape.ops.linear import cast
from gtape.ops.shaping import reshape
from gtape.ops.slicing import block

# --- Sorted ids -----------------------------------------------------------------------


def segment_sum(data: TensorLike, segment_ids: TensorLike) -> Tensor:
    """Return the sum of the slices of each segment.

    A segment without slices has the sum 0.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers from 0 on, in ascending order, one for each data[i]. The
            last one tells the number of segments.

    Raises:
        ArgumentError: If the ids are not sorted or negative.
        ShapeError: If there is not one for each slice.

    Example:
        >>> import gtape as gt
        >>> gt.segment_sum([[1., 2.], [3., 4.], [5., 6.]], [0, 0, 1]).numpy()
        array([[4., 6.],
               [5., 6.]], dtype=float32)
    """
    values, rows, count = segmented.sorted_arguments("segment_sum", data, segment_ids)
    return segmented.total(values, rows, count)


def segment_mean(data: TensorLike, segment_ids: TensorLike) -> Tensor:
    """Return the mean of the slices of each segment.

    A mean of integers is rounded towards zero; a segment without slices has the mean 0.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers from 0 on, in ascending order, one for each data[i]. The
            last one tells the number of segments.

    Raises:
        ArgumentError: If the ids are not sorted or negative.
        ShapeError: If there is not one for each slice.

    Example:
        >>> import gtape as gt
        >>> gt.segment_mean([[1., 2.], [3., 4.], [5., 6.]], [0, 0, 1]).numpy()
        array([[2., 3.],
               [5., 6.]], dtype=float32)
    """
    values, rows, count = segmented.sorted_arguments("segment_mean", data, segment_ids)
    if values.dtype.kind in "iu":
        return segmented.integer_mean(values, rows, count)
    return segmented.mean(values, rows, count)


def segment_prod(data: TensorLike, segment_ids: TensorLike) -> Tensor:
    """Return the product of the slices of each segment.

    A segment without slices has the product 1. The gradient is right at zeros, too.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers from 0 on, in ascending order, one for each data[i]. The
            last one tells the number of segments.

    Raises:
        ArgumentError: If the ids are not sorted or negative.
        ShapeError: If there is not one for each slice.

    Example:
        >>> import gtape as gt
        >>> gt.segment_prod([[1., 2.], [3., 4.], [5., 6.]], [0, 0, 1]).numpy()
        array([[3., 8.],
               [5., 6.]], dtype=float32)
    """
    values, rows, count = segmented.sorted_arguments("segment_prod", data, segment_ids)
    return segmented.product(values, rows, count)


def segment_max(data: TensorLike, segment_ids: TensorLike) -> Tensor:
    """Return the greatest element of the slices of each segment.

    Equal ones share the gradient evenly. A segment without slices is 0.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers from 0 on, in ascending order, one for each data[i]. The
            last one tells the number of segments.

    Raises:
        ArgumentError: If the ids are not sorted or negative.
        ShapeError: If there is not one for each slice.

    Example:
        >>> import gtape as gt
        >>> gt.segment_max([[1., 2.], [3., 4.], [5., 6.]], [0, 0, 1]).numpy()
        array([[3., 4.],
               [5., 6.]], dtype=float32)
    """
    values, rows, count = segmented.sorted_arguments("segment_max", data, segment_ids)
    return segmented.greatest("segment_max", 0)(values, rows, count)


def segment_min(data: TensorLike, segment_ids: TensorLike) -> Tensor:
    """Return the least element of the slices of each segment.

    Equal ones share the gradient evenly. A segment without slices is 0.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers from 0 on, in ascending order, one for each data[i]. The
            last one tells the number of segments.

    Raises:
        ArgumentError: If the ids are not sorted or negative.
        ShapeError: If there is not one for each slice.

    Example:
        >>> import gtape as gt
        >>> gt.segment_min([[1., 2.], [3., 4.], [5., 6.]], [0, 0, 1]).numpy()
        array([[1., 2.],
               [5., 6.]], dtype=float32)
    """
    values, rows, count = segmented.sorted_arguments("segment_min", data, segment_ids)
    return segmented.least("segment_min", 0)(values, rows, count)


# --- Ids in any order -----------------------------------------------------------------


def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike
) -> Tensor:
    """Return the sum of the slices of each segment, from ids in any order.

    A segment without slices has the sum 0.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers below num_segments in any order, whose shape is the start
            of the data's shape; a negative one leaves its slice out.
        num_segments: The number of segments.

    Raises:
        IndexRangeError: If an id is not below num_segments.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.unsorted_segment_sum([1., 2., 4.], [1, 0, 1], 2).numpy()
        array([2., 5.], dtype=float32)
    """
    return segmented.on_unsorted(
        "unsorted_segment_sum", data, segment_ids, num_segments, segmented.total
    )


def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike
) -> Tensor:
    """Return the mean of the slices of each segment, from ids in any order.

    A mean of integers is float64; a segment without slices has the mean 0.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers below num_segments in any order, whose shape is the start
            of the data's shape; a negative one leaves its slice out.
        num_segments: The number of segments.

    Raises:
        IndexRangeError: If an id is not below num_segments.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.unsorted_segment_mean([1., 2., 4.], [1, 0, 1], 2).numpy()
        array([2. , 2.5], dtype=float32)
    """
    return segmented.on_unsorted(
        "unsorted_segment_mean", data, segment_ids, num_segments, segmented.mean
    )


def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike
) -> Tensor:
    """Return the sum of each segment over the root of its number of slices.

    A segment without slices is 0.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers below num_segments in any order, whose shape is the start
            of the data's shape; a negative one leaves its slice out.
        num_segments: The number of segments.

    Raises:
        IndexRangeError: If an id is not below num_segments.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.unsorted_segment_sqrt_n([1., 2., 3., 4.], [1, 1, 1, 1], 2).numpy()
        array([0., 5.], dtype=float32)
    """
    return segmented.on_unsorted(
        "unsorted_segment_sqrt_n", data, segment_ids, num_segments, segmented.over_root
    )


def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike
) -> Tensor:
    """Return the product of the slices of each segment, from ids in any order.

    A segment without slices has the product 1. The gradient is right at zeros, too.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers below num_segments in any order, whose shape is the start
            of the data's shape; a negative one leaves its slice out.
        num_segments: The number of segments.

    Raises:
        IndexRangeError: If an id is not below num_segments.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.unsorted_segment_prod([1., 2., 4.], [1, 0, 1], 2).numpy()
        array([2., 4.], dtype=float32)
    """
    return segmented.on_unsorted(
        "unsorted_segment_prod",
        data,
        segment_ids,
        num_segments,
        segmented.sorted_product,
    )


def unsorted_segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike
) -> Tensor:
    """Return the greatest element of the slices of each segment.

    Equal ones share the gradient evenly. A segment without slices is the least finite
    number of the dtype.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers below num_segments in any order, whose shape is the start
            of the data's shape; a negative one leaves its slice out.
        num_segments: The number of segments.

    Raises:
        IndexRangeError: If an id is not below num_segments.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.unsorted_segment_max([1., 2., 4.], [1, 0, 1], 2).numpy()
        array([2., 4.], dtype=float32)
    """
    name = "unsorted_segment_max"
    combine = segmented.greatest(name, None)
    return segmented.on_unsorted(name, data, segment_ids, num_segments, combine)


def unsorted_segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike
) -> Tensor:
    """Return the least element of the slices of each segment.

    Equal ones share the gradient evenly. Without slices it is the greatest finite
    number of the dtype.

    Args:
        data: A tensor of numbers.
        segment_ids: Integers below num_segments in any order, whose shape is the start
            of the data's shape; a negative one leaves its slice out.
        num_segments: The number of segments.

    Raises:
        IndexRangeError: If an id is not below num_segments.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.unsorted_segment_min([1., 2., 4.], [1, 0, 1], 2).numpy()
        array([2., 1.], dtype=float32)
    """
    name = "unsorted_segment_min"
    combine = segmented.least(name, None)
    return segmented.on_unsorted(name, data, segment_ids, num_segments, combine)


# --- Counts ---------------------------------------------------------------------------


def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = "int32",
) -> Tensor:
    """Return how often each of 0, 1, ... occurs, or the sum of the weights there.

    Args:
        arr: Integers from 0 on, of any shape.
        weights: What each one counts, in the shape of arr; the result has their dtype.
        minlength: The least length; else the result ends with the greatest integer.
        maxlength: Its greatest length; greater integers are left out.
        dtype: The dtype of counts without weights.

    Raises:
        ArgumentError: If an integer or a length is negative.

    Example:
        >>> import gtape as gt
        >>> gt.bincount([1, 3, 1], minlength=5).numpy()
        array([0, 2, 0, 1, 0], dtype=int32)
    """
    arr = convert(arr)
    if arr.dtype.kind not in "iu":
        raise DTypeError(
            f"bincount: arr must be integers, got {as_dtype(arr.dtype)}",
            "Cast it first",
        )
    if weights is not None:
        weights, _ = segmented.converted("bincount", weights, arr)
        if tuple(weights.shape) != tuple(arr.shape):
            raise ShapeError(
                f"bincount: weights of shape {tuple(weights.shape)} for arr of shape "
                f"{tuple(arr.shape)}",
                "Give one weight for each integer",
            )
    length = _bins(arr, minlength, maxlength)
    places = reshape(minimum(cast(arr, "int64"), length), [math.prod(arr.shape)])
    counted = cast(places >= 0, "int64") if weights is None else weights
    with on_outside(
        lambda error: ArgumentError(
            f"bincount: {error.value} is negative",
            "Count integers from 0 on",
            error.origin,
        )
    ):
        out = segmented.total(reshape(counted, places.shape), places, length + 1)
    out = block(out, 0, 0, length)
    return cast(out, dtype) if weights is None else out


def _bins(arr: Tensor, minlength: Any, maxlength: Any) -> int:
    """Return the length of the counts."""
    least, most = [
        None if value is None else as_count("bincount", argument, value)
        for argument, value in (("minlength", minlength), ("maxlength", maxlength))
    ]
    if most is not None and least is not None and least >= most:
        return most
    return segmented.number_of_rows("bincount", arr, False, least or 0, most)
