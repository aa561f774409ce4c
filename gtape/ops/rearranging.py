"""Cut, repeat, reverse and roll: the elements of a tensor in other places."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.errors import ShapeError
from gtape.lowering import Reindex, View
from gtape.ops.common import (
    Axis,
    Tensor,
    TensorLike,
    as_int,
    as_ints,
    normalize_axes,
    normalize_axis,
    numpy_dtype_of,
    same_spec,
)
from gtape.ops.creation import check_memory, given, made
from gtape.ops.indices import index
from gtape.ops.linear import broadcast_to
from gtape.ops.padding import check_counts
from gtape.ops.shaping import reshape
from gtape.ops.slicing import block, strided_slice
from gtape.primitive import Primitive
from gtape.spec import TensorSpec

# --- Cut ------------------------------------------------------------------------------


def unstack(value: TensorLike, num: int | None = None, axis: int = 0) -> list[Tensor]:
    """Return the tensors that lie one after the other along an axis, without that axis.

    Args:
        value: A tensor of rank 1 or more.
        num: How many there are, for a check; the size of the axis.
        axis: The axis that goes.

    Raises:
        ShapeError: If there is no such axis, or num is not its size.

    Example:
        >>> import gtape as gt
        >>> [row.numpy().tolist() for row in gt.unstack([[1, 2], [3, 4]])]
        [[1, 2], [3, 4]]
    """
    x = given("unstack", value)
    place = normalize_axis("unstack", axis, x.ndim)
    size = x.shape[place]
    if num is not None and as_int("unstack", "num", num) != size:
        raise ShapeError(
            f"unstack: num is {num}, but axis {place} of shape {tuple(x.shape)} has "
            f"size {size}",
            "Leave num out, or give the size",
        )
    rest = (*x.shape[:place], *x.shape[place + 1 :])
    return [reshape(block(x, place, i, 1), rest) for i in builtins.range(size)]


def split(
    value: TensorLike, num_or_size_splits: int | Sequence[int], axis: int = 0
) -> list[Tensor]:
    """Return the pieces of a tensor along an axis.

    Args:
        value: A tensor of rank 1 or more.
        num_or_size_splits: The number of equal pieces, or a list of their sizes, of
            which one may be -1 and follows from the others.
        axis: The axis that is cut.

    Raises:
        ShapeError: If the sizes do not add up to that of the axis.

    Example:
        >>> import gtape as gt
        >>> [piece.numpy().tolist() for piece in gt.split([1, 2, 3, 4, 5], [2, -1])]
        [[1, 2], [3, 4, 5]]
    """
    x = given("split", value)
    place = normalize_axis("split", axis, x.ndim)
    sizes = _split_sizes(num_or_size_splits, x.shape[place], place)
    pieces, start = [], 0
    for size in sizes:
        pieces.append(block(x, place, start, size))
        start += size
    return pieces


def _split_sizes(splits: Any, total: int, axis: int) -> tuple[int, ...]:
    sizes = as_ints("split", "num_or_size_splits", splits)
    if not hasattr(splits, "__iter__") or getattr(splits, "ndim", 1) == 0:
        [count] = sizes
        if count <= 0 or total % count:
            raise ShapeError(
                f"split: axis {axis} of size {total} has no {count} equal parts",
                "Give a divisor of the size, or a list of sizes",
            )
        return (total // count,) * count
    known = builtins.sum(s for s in sizes if s != -1)
    if sizes.count(-1) == 1 and known <= total:
        sizes = tuple(total - known if s == -1 else s for s in sizes)
    if any(s < 0 for s in sizes) or builtins.sum(sizes) != total:
        raise ShapeError(
            f"split: sizes {sizes} for axis {axis} of size {total}",
            "Give sizes that add up to that of the axis; one may be -1",
        )
    return sizes


# --- Repeat ---------------------------------------------------------------------------


def tile(input: TensorLike, multiples: Sequence[int] | int) -> Tensor:
    """Return a tensor laid side by side with itself.

    Args:
        input: A tensor.
        multiples: How many times along each axis.

    Raises:
        ShapeError: If there is not one entry for each axis.
        ArgumentError: If an entry is negative.

    Example:
        >>> import gtape as gt
        >>> gt.tile([[1, 2]], [2, 2]).numpy()
        array([[1, 2, 1, 2],
               [1, 2, 1, 2]], dtype=int32)
    """
    x = given("tile", input)
    counts = as_ints("tile", "multiples", multiples)
    if len(counts) != x.ndim:
        raise ShapeError(
            f"tile: multiples {counts} for a tensor of shape {tuple(x.shape)}",
            "Give one entry for each axis",
        )
    check_counts("tile", "multiples", counts)
    columns, blocks = [], []
    for count, size in zip(counts, x.shape, strict=True):
        columns += [1, size]
        blocks += [count, size]
    shape = tuple(c * d for c, d in zip(counts, x.shape, strict=True))
    check_memory("tile", shape, numpy_dtype_of(x))
    return reshape(broadcast_to(reshape(x, columns), blocks), shape)


def repeat(
    input: TensorLike, repeats: int | Sequence[int], axis: int | None = None
) -> Tensor:
    """Return a tensor with each element along an axis repeated.

    Args:
        input: A tensor.
        repeats: How many times, for all elements along the axis or for each.
        axis: The axis; the flattened tensor by default.

    Raises:
        ShapeError: If there is neither one count nor one for each element.
        ArgumentError: If a count is negative.

    Example:
        >>> import gtape as gt
        >>> gt.repeat([3, 4], [1, 2]).numpy()
        array([3, 4, 4], dtype=int32)
    """
    x = given("repeat", input)
    if axis is None:
        x = reshape(x, [-1] if math.prod(x.shape) else [0])
        axis = 0
    place = normalize_axis("repeat", axis, x.ndim)
    counts = as_ints("repeat", "repeats", repeats)
    check_counts("repeat", "repeats", counts)
    before, size, after = x.shape[:place], x.shape[place], x.shape[place + 1 :]
    if len(counts) == 1:
        shape = (*before, size * counts[0], *after)
        check_memory("repeat", shape, numpy_dtype_of(x))
        column = reshape(x, (*before, size, 1, *after))
        return reshape(broadcast_to(column, (*before, size, counts[0], *after)), shape)
    if len(counts) != size:
        raise ShapeError(
            f"repeat: {len(counts)} counts for axis {place} of size {size}",
            "Give one count, or one for each element",
        )
    check_memory("repeat", (*before, builtins.sum(counts), *after), numpy_dtype_of(x))
    places = np.repeat(np.arange(size), counts)
    return index(x, (made(places),), (place,))


# --- Reverse and roll -----------------------------------------------------------------


def reverse(tensor: TensorLike, axis: Axis) -> Tensor:
    """Return a tensor with the order of its elements along the axes reversed.

    Args:
        tensor: A tensor.
        axis: The axes.

    Raises:
        ShapeError: If there is no such axis, or one is named twice.

    Example:
        >>> import gtape as gt
        >>> gt.reverse([[1, 2], [3, 4]], axis=[1]).numpy()
        array([[2, 1],
               [4, 3]], dtype=int32)
    """
    x = given("reverse", tensor)
    axes = normalize_axes("reverse", axis, x.ndim)
    back = [i in axes for i in builtins.range(x.ndim)]
    starts = [max(d - 1, 0) if b else 0 for b, d in zip(back, x.shape, strict=True)]
    return strided_slice(x, starts, x.shape, [-1 if b else 1 for b in back])


def _roll_views(
    x: TensorSpec, *, shifts: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[View, ...]:
    by = dict(zip(axes, shifts, strict=True))
    return (
        View(
            tuple(
                f"(i{i} + {(d or 1) - by[i]}) % {d}" if i in by else f"i{i}"
                for i, d in enumerate(x.shape)
            )
        ),
    )


_roll = Primitive(
    "roll",
    forward=lambda x, *, shifts, axes: np.roll(x, shifts, axes),
    spec=same_spec,
    vjp=lambda g, _out, _x, *, shifts, axes: (
        _rolled(g, tuple([-s for s in shifts]), axes),
    ),
    lowering=Reindex(_roll_views),
)


def _rolled(x: Tensor, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Tensor:
    shifts = tuple([s % (x.shape[a] or 1) for s, a in zip(shifts, axes, strict=True)])
    return apply(_roll, x, shifts=shifts, axes=axes)


def roll(input: TensorLike, shift: int | Sequence[int], axis: Axis) -> Tensor:
    """Return a tensor with its elements moved along axes, around the ends.

    Args:
        input: A tensor.
        shift: By how many places towards higher indices, for each axis.
        axis: The axes. One that is named twice is moved twice.

    Raises:
        ShapeError: If there is no such axis, or not one shift for each.

    Example:
        >>> import gtape as gt
        >>> gt.roll([1, 2, 3, 4], shift=1, axis=0).numpy()
        array([4, 1, 2, 3], dtype=int32)
    """
    x = given("roll", input)
    shifts, places = as_ints("roll", "shift", shift), as_ints("roll", "axis", axis)
    if len(shifts) != len(places):
        raise ShapeError(
            f"roll: shift {shifts} for axis {places}", "Give one shift for each axis"
        )
    by: dict[int, int] = {}
    for s, place in zip(shifts, places, strict=True):
        i = normalize_axis("roll", place, x.ndim)
        by[i] = by.get(i, 0) + s
    return _rolled(x, tuple(by.values()), tuple(by)) if by else x
