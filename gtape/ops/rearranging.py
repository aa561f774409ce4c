"""Cut, repeat, pad, reverse and roll; and the shape, rank and size of a tensor as tensors."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import DTypeLike, as_dtype, as_numpy_dtype
from gtape.errors import ArgumentError, DTypeError, RangeError, ShapeError
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
    one_of,
    same_spec,
)
from gtape.ops.creation import check_memory, given, made
from gtape.ops.indexing import index
from gtape.ops.linear import broadcast_to
from gtape.ops.shaping import reshape
from gtape.ops.slicing import concat, embed, strided_slice
from gtape.primitive import Primitive
from gtape.spec import Dim, TensorSpec

# --- Cut ---------------------------------------------------------------------------------


def _block(x: Tensor, axis: int, start: int, size: int, step: int = 1) -> Tensor:
    """Return x[start], x[start + step], ... along an axis."""
    starts, sizes, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], sizes[axis], steps[axis] = start, size, step
    return strided_slice(x, starts, sizes, steps)


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
    return [reshape(_block(x, place, i, 1), rest) for i in builtins.range(size)]


def split(
    value: TensorLike, num_or_size_splits: int | Sequence[int], axis: int = 0
) -> list[Tensor]:
    """Return the pieces of a tensor along an axis.

    Args:
        value: A tensor of rank 1 or more.
        num_or_size_splits: The number of equal pieces, or a list of their sizes, of which one
            may be -1 and follows from the others.
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
        pieces.append(_block(x, place, start, size))
        start += size
    return pieces


def _split_sizes(splits: Any, total: int, axis: int) -> tuple[int, ...]:
    sizes = as_ints("split", "num_or_size_splits", splits)
    if not hasattr(splits, "__iter__") or getattr(splits, "ndim", 1) == 0:
        [count] = sizes
        if count <= 0 or total % count:
            raise ShapeError(
                f"split: axis {axis} of size {total} does not fall into {count} equal parts",
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


# --- Repeat ------------------------------------------------------------------------------


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
    _check_counts("tile", "multiples", counts)
    columns, blocks = [], []
    for count, size in zip(counts, x.shape, strict=True):
        columns += [1, size]
        blocks += [count, size]
    shape = tuple(c * d for c, d in zip(counts, x.shape, strict=True))
    check_memory("tile", shape, numpy_dtype_of(x))
    return reshape(broadcast_to(reshape(x, columns), blocks), shape)


def _check_counts(name: str, argument: str, counts: Sequence[int]) -> None:
    if any(c < 0 for c in counts):
        raise ArgumentError(
            f"{name}: {argument} {tuple(counts)} has a negative entry", "Give 0 or more"
        )


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
    _check_counts("repeat", "repeats", counts)
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


# --- Pad ---------------------------------------------------------------------------------


def pad(
    tensor: TensorLike,
    paddings: Sequence[Sequence[int]],
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
) -> Tensor:
    """Return a tensor with elements added before and behind it on each axis.

    Args:
        tensor: A tensor.
        paddings: For each axis how many before and how many behind.
        mode: "CONSTANT" adds a constant, "REFLECT" mirrors at the first and last element,
            "SYMMETRIC" mirrors at the edges, so that these elements come twice.
        constant_values: The constant, a scalar; no gradient flows to it.

    Raises:
        ShapeError: If paddings is not a pair for each axis, or a mirror image is longer than
            the tensor.
        ArgumentError: If an entry is negative, or the mode unknown.
        DTypeError: If the constant does not fit the dtype of the tensor.

    Example:
        >>> import gtape as gt
        >>> gt.pad([1, 2, 3], [[2, 1]], mode="REFLECT").numpy()
        array([3, 2, 1, 2, 3, 2], dtype=int32)
    """
    x = given("pad", tensor)
    word = one_of("pad", "mode", mode, ("CONSTANT", "REFLECT", "SYMMETRIC"))
    pairs = _pairs(paddings, x)
    shape = tuple(a + d + b for (a, b), d in zip(pairs, x.shape, strict=True))
    check_memory("pad", shape, numpy_dtype_of(x))
    if word == "CONSTANT":
        value = given("pad", constant_values, numpy_dtype_of(x))
        if value.ndim:
            raise ShapeError(
                f"pad: constant_values has shape {tuple(value.shape)}, not a scalar's",
                "Give a single number",
            )
        fill = np.asarray(value).item()
        return embed(x, shape, [a for a, _ in pairs], (1,) * x.ndim, fill)
    for axis, pair in enumerate(pairs):
        x = _mirrored(x, axis, *pair, edge=0 if word == "SYMMETRIC" else 1)
    return x


def _pairs(paddings: Any, x: Tensor) -> list[tuple[int, int]]:
    rows = paddings.tolist() if isinstance(paddings, np.ndarray) else paddings
    if isinstance(rows, (str, bytes)) or not hasattr(rows, "__iter__"):
        raise ShapeError(
            f"pad: paddings {paddings!r} is not a list of pairs",
            "Give [before, behind] for each axis",
        )
    pairs = [as_ints("pad", "paddings", row) for row in rows]
    if len(pairs) != x.ndim or any(len(pair) != 2 for pair in pairs):
        raise ShapeError(
            f"pad: paddings {pairs} for a tensor of shape {tuple(x.shape)}",
            "Give [before, behind] for each axis",
        )
    for pair in pairs:
        _check_counts("pad", "paddings", pair)
    return pairs  # type: ignore[return-value]


def _mirrored(x: Tensor, axis: int, before: int, behind: int, edge: int) -> Tensor:
    """Return x with mirror images along an axis; edge counts the elements mirrored at."""
    size = x.shape[axis]
    if max(before, behind) > max(size - edge, 0):
        raise ShapeError(
            f"pad: {max(before, behind)} mirrored elements for axis {axis} of size {size}",
            f"Pad by at most {max(size - edge, 0)} on each side",
        )
    pieces = [x]
    if before:
        pieces.insert(0, _block(x, axis, before - 1 + edge, before, -1))
    if behind:
        pieces.append(_block(x, axis, size - 1 - edge, behind, -1))
    return concat(pieces, axis) if len(pieces) > 1 else x


# --- Reverse and roll --------------------------------------------------------------------


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
    """Return a tensor with its elements moved along axes; those that fall out come in again.

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


# --- Shape, rank, size -------------------------------------------------------------------


def shape(input: TensorLike, out_type: DTypeLike = "int32") -> Tensor:
    """Return the sizes of the axes of a tensor as a vector.

    Args:
        input: A tensor.
        out_type: An integer dtype.

    Example:
        >>> import gtape as gt
        >>> gt.shape([[1, 2, 3], [4, 5, 6]]).numpy()
        array([2, 3], dtype=int32)
    """
    x = given("shape", input)
    return _measured("shape", list(x.shape), out_type)


def rank(input: TensorLike) -> Tensor:
    """Return the number of axes of a tensor as an int32 scalar.

    Example:
        >>> import gtape as gt
        >>> gt.rank([[1, 2, 3], [4, 5, 6]]).numpy()
        np.int32(2)
    """
    return made(np.int32(given("rank", input).ndim))


def size(input: TensorLike, out_type: DTypeLike = "int32") -> Tensor:
    """Return the number of elements of a tensor as a scalar.

    Args:
        input: A tensor.
        out_type: An integer dtype.

    Example:
        >>> import gtape as gt
        >>> gt.size([[1, 2, 3], [4, 5, 6]]).numpy()
        np.int32(6)
    """
    x = given("size", input)
    return _measured("size", math.prod(x.shape), out_type)


def _measured(name: str, value: Any, out_type: DTypeLike) -> Tensor:
    target = as_numpy_dtype(out_type)
    if target.kind not in "iu":
        raise DTypeError(
            f"{name}: out_type {as_dtype(target)} is not an integer dtype",
            "Use int32 or int64",
        )
    try:
        return made(np.array(value, dtype=target))
    except OverflowError:
        raise RangeError(
            f"{name}: {value} is out of the range of {as_dtype(target)}",
            "Use out_type=gt.int64",
        ) from None


def ensure_shape(x: TensorLike, shape: Sequence[Dim]) -> Tensor:
    """Return a tensor as it is, if it has a shape.

    Args:
        x: A tensor.
        shape: The sizes it must have; `None` for any size.

    Raises:
        ShapeError: If it has another one.

    Example:
        >>> import gtape as gt
        >>> gt.ensure_shape([1, 2, 3], [None]).numpy()
        array([1, 2, 3], dtype=int32)
    """
    tensor = given("ensure_shape", x)
    wanted = tuple(
        None if d is None else as_int("ensure_shape", "size", d)
        for d in ([shape] if isinstance(shape, int) else shape)
    )
    if not TensorSpec(wanted).shape.is_compatible_with(tuple(tensor.shape)):
        raise ShapeError(
            f"ensure_shape: a tensor of shape {tuple(tensor.shape)}, not {wanted}",
            "Reshape it, or mend what made it",
        )
    return tensor
