"""Slice and embed, concat and stack: blocks of tensors, in transpose pairs."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.errors import ArgumentError, ArgumentTypeError, ShapeError
from gtape.lowering import Reindex, View
from gtape.ops.common import Tensor, TensorLike, as_ints, convert, normalize_axis
from gtape.ops.shaping import expand_dims, reshape, transpose
from gtape.primitive import Primitive, same
from gtape.spec import TensorSpec

# --- Slice and embed ------------------------------------------------------------------


def _take_slice(x: Any, *, starts: Any, sizes: Any, steps: Any) -> Any:
    return x[_slices(starts, sizes, steps)]


def _slices(starts: Any, sizes: Any, steps: Any) -> tuple[Any, ...]:
    out = []
    for start, size, step in zip(starts, sizes, steps, strict=True):
        stop: int | None = start + size * step
        if size == 0:
            start = stop = 0
        elif step < 0 and start + size * step < 0:
            stop = None
        out.append(builtins.slice(start, stop, step))
    return tuple(out)


def _slice_views(
    x: TensorSpec, *, starts: Any, sizes: Any, steps: Any
) -> tuple[View, ...]:
    pairs = enumerate(zip(starts, steps, strict=True))
    return (
        View(tuple(f"({start}) + i{axis} * ({step})" for axis, (start, step) in pairs)),
    )


_slice = Primitive(
    "slice",
    forward=_take_slice,
    spec=lambda x, *, starts, sizes, steps: x.with_shape(sizes),
    vjp=lambda g, _out, _x, *, starts, sizes, steps: (
        embed(g, _x.shape, starts, steps),
    ),
    lowering=Reindex(_slice_views),
)


def strided_slice(
    x: TensorLike, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]
) -> Tensor:
    """Return out[i] = x[starts + i * steps] for i below sizes.

    Args:
        x: A tensor.
        starts: The first position on each axis, counted from the front.
        sizes: The number of elements on each axis.
        steps: The distance between them; negative runs backwards.
    """
    return apply(
        _slice, x, starts=tuple(starts), sizes=tuple(sizes), steps=tuple(steps)
    )


def block(x: Tensor, axis: int, start: int, size: int, step: int = 1) -> Tensor:
    """Return x[start], x[start + step], ... along an axis."""
    starts, sizes, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], sizes[axis], steps[axis] = start, size, step
    return strided_slice(x, starts, sizes, steps)


def slice(input_: TensorLike, begin: Sequence[int], size: Sequence[int]) -> Tensor:
    """Return the block of a tensor that starts at begin and has the given size.

    Args:
        input_: A tensor.
        begin: The first position on each axis.
        size: The number of elements on each axis; -1 for all that follow.

    Raises:
        ShapeError: If the block does not lie in the tensor.

    Example:
        >>> import gtape as gt
        >>> gt.slice([1, 2, 3, 4], [1], [2])
        <gt.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>
    """
    x = convert(input_)
    starts, sizes = as_ints("slice", "begin", begin), as_ints("slice", "size", size)
    if len(starts) != x.ndim or len(sizes) != x.ndim:
        raise ShapeError(
            f"slice: begin {starts} and size {sizes} for a tensor of rank {x.ndim}",
            "Give one entry for each axis",
        )
    sizes = tuple(
        d - b if s == -1 else s for b, s, d in zip(starts, sizes, x.shape, strict=True)
    )
    for i, (b, s, d) in enumerate(zip(starts, sizes, x.shape, strict=True)):
        if b < 0 or s < 0 or b + s > d:
            raise ShapeError(
                f"slice: {s} elements from {b} on do not lie in axis {i} of size {d}",
                "Keep begin + size within the axis",
            )
    return strided_slice(x, starts, sizes, (1,) * x.ndim)


def _embed_forward(x: Any, *, shape: Any, starts: Any, steps: Any, fill: Any) -> Any:
    out = np.full(shape, fill, dtype=x.dtype)
    out[_slices(starts, x.shape, steps)] = x
    return out


def _embed_views(
    x: TensorSpec, *, shape: Any, starts: Any, steps: Any, fill: Any
) -> tuple[View, ...]:
    index, valid = [], "True"
    for axis, (start, step, size) in enumerate(
        zip(starts, steps, x.shape, strict=True)
    ):
        away = f"(i{axis} - ({start}))" if step > 0 else f"(({start}) - i{axis})"
        index.append(f"{away} // {abs(step)}")
        valid = (
            f"{valid} and ({away} >= 0 and "
            f"({away} % {abs(step)} == 0 and {away} // {abs(step)} < ({size})))"
        )
    return (View(tuple(index), valid=valid, fill=fill),)


_embed = Primitive(
    "embed",
    forward=_embed_forward,
    spec=lambda x, *, shape, starts, steps, fill: x.with_shape(shape),
    vjp=lambda g, _out, _x, *, shape, starts, steps, fill: (
        strided_slice(g, starts, _x.shape, steps),
    ),
    lowering=Reindex(_embed_views),
)


def embed(
    x: TensorLike,
    shape: Sequence[int],
    starts: Sequence[int],
    steps: Sequence[int],
    fill: float = 0,
) -> Tensor:
    """Return a tensor full of `fill` with out[starts + i * steps] = x[i]."""
    return apply(
        _embed,
        x,
        shape=tuple(shape),
        starts=tuple(starts),
        steps=tuple(steps),
        fill=fill,
    )


# --- Concatenate ----------------------------------------------------------------------


def _concat_spec(*xs: TensorSpec, axis: int) -> TensorSpec:
    first = xs[0]
    for x in xs:
        others = [s.shape[:axis] + s.shape[axis + 1 :] for s in (first, x)]
        if x.rank != first.rank or others[0] != others[1]:
            raise ShapeError(
                f"concat: shapes {first.shape} and {x.shape} differ beside axis {axis}",
                "Make all sizes but that of the axis equal",
            )
    sizes = [x.shape[axis] for x in xs]
    total = None if None in sizes else sum(sizes)
    return first.with_shape(
        total if i == axis else d for i, d in enumerate(first.shape)
    )


def _concat_vjp(g: Any, _out: Any, *_xs: Any, axis: int) -> tuple[Any, ...]:
    pieces, start = [], 0
    for x in _xs:
        pieces.append(_piece(g, axis, start, x.shape[axis]))
        start += x.shape[axis]
    return tuple(pieces)


def _piece(g: Any, axis: int, start: int, size: int) -> Any:
    return lambda: block(g, axis, start, size)


def _concat_views(*xs: TensorSpec, axis: int) -> tuple[View, ...]:
    views, start = [], 0
    for k, x in enumerate(xs):
        index = tuple(
            f"i{i} - ({start})" if i == axis else f"i{i}" for i in range(x.rank)
        )
        end = start + (x.shape[axis] or 0)
        views.append(
            View(index, operand=k, valid=f"i{axis} >= ({start}) and i{axis} < ({end})")
        )
        start = end
    return tuple(views)


_concat = Primitive(
    "concat",
    forward=lambda *xs, axis: np.concatenate(xs, axis=axis),
    spec=_concat_spec,
    vjp=_concat_vjp,
    lowering=Reindex(_concat_views),
    operands=same,
)


def concat(values: Sequence[TensorLike] | TensorLike, axis: int = 0) -> Tensor:
    """Return tensors joined along an axis they have.

    Args:
        values: Tensors with equal sizes beside the axis; a tensor or array that is not
            in a list counts as the only one.
        axis: The axis to join along.

    Raises:
        ShapeError: If the other sizes differ, or the tensors are scalars.

    Example:
        >>> import gtape as gt
        >>> gt.concat([[1, 2], [3]], axis=0)
        <gt.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>
    """
    rows = getattr(values, "__gtape_rows__", None)
    if rows is not None:
        return _concat_rows(rows(), axis)
    tensors = _several("concat", [values] if hasattr(values, "dtype") else values)
    rank = tensors[0].ndim
    if rank == 0:
        raise ShapeError("concat: scalars have no axis to join along", "Use gt.stack")
    return apply(_concat, *tensors, axis=normalize_axis("concat", axis, rank))


def _concat_rows(rows: Tensor, axis: int) -> Tensor:
    """Return the rows of a tensor, which stands for a list of them, joined."""
    if rows.ndim == 1:
        raise ShapeError("concat: scalars have no axis to join along", "Use gt.stack")
    place = normalize_axis("concat", axis, rows.ndim - 1)
    moved = swapped_to(rows, place)
    shape = [*moved.shape]
    shape[place : place + 2] = [shape[place] * shape[place + 1]]
    return reshape(moved, shape)


def swapped_to(x: Tensor, place: int) -> Tensor:
    """Return a tensor with its first axis moved to a place."""
    order = [*builtins.range(1, place + 1), 0, *builtins.range(place + 1, x.ndim)]
    return transpose(x, order)


def _several(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise ArgumentTypeError(
            f"{name}: {values!r} is not a list of tensors",
            "Give a list, such as [x, y]",
        )
    tensors = [convert(v) for v in values]
    if not tensors:
        raise ArgumentError(
            f"{name}: the list of tensors is empty", "Give at least one"
        )
    return tensors


def stack(values: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis.

    Args:
        values: Tensors of equal shapes.
        axis: The place of the new axis in the result.

    Raises:
        ShapeError: If the shapes differ.

    Example:
        >>> import gtape as gt
        >>> gt.stack([1., 2.])
        <gt.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    rows = getattr(values, "__gtape_rows__", None)
    if rows is not None:
        return swapped_to(rows(), normalize_axis("stack", axis, rows().ndim))
    tensors = _several("stack", values)
    for t in tensors:
        if t.shape != tensors[0].shape:
            raise ShapeError(
                f"stack: shapes {tuple(tensors[0].shape)} and {tuple(t.shape)} differ",
                "Stack tensors of one shape",
            )
    place = normalize_axis("stack", axis, tensors[0].ndim + 1)
    return apply(_concat, *[expand_dims(t, place) for t in tensors], axis=place)
