"""Reshape and transpose: the same elements in another arrangement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gtape.dispatch import apply
from gtape.errors import ShapeError
from gtape.lowering import Reindex, View
from gtape.ops.common import (
    Axis,
    Tensor,
    TensorLike,
    as_ints,
    check_rank,
    convert,
    normalize_axes,
    normalize_axis,
)
from gtape.ops.known import sizes_of
from gtape.primitive import Primitive
from gtape.sizes import is_open
from gtape.spec import TensorSpec

# --- Reshape --------------------------------------------------------------------------


def _linear(shape: Sequence[Any]) -> str:
    """The position in row-major order of the index i0, i1, ... in a shape."""
    out = "0"
    for axis, dim in enumerate(shape):
        out = f"({out}) * {dim} + i{axis}" if axis else "i0"
    return out


def _reshape_views(x: TensorSpec, *, shape: tuple[int, ...]) -> tuple[View, ...]:
    position = _linear(shape)
    index, below = [], "1"
    for dim in reversed(x.shape):
        index.append(f"(({position}) // ({below})) % {dim}")
        below = f"{below} * {dim}"
    return (View(tuple(reversed(index))),)


_reshape = Primitive(
    "reshape",
    forward=lambda x, *, shape: x.reshape(shape),
    spec=lambda x, *, shape: x.with_shape(shape),
    vjp=lambda g, _out, _x, *, shape: (renamed_sizes(g, _x.shape),),
    lowering=Reindex(_reshape_views),
)


def reshape(tensor: TensorLike, shape: Sequence[int] | int) -> Tensor:
    """Return a tensor with the same elements in another shape.

    Args:
        tensor: A tensor.
        shape: The new sizes; one of them may be -1, and follows from the others.

    Raises:
        ShapeError: If the number of elements differs.

    Example:
        >>> import gtape as gt
        >>> gt.reshape([1, 2, 3, 4], [2, -1])
        <gt.Tensor: shape=(2, 2), dtype=int32, numpy=
        array([[1, 2],
               [3, 4]], dtype=int32)>
    """
    x = convert(tensor)
    return apply(_reshape, x, shape=_solve_shape(x.shape, shape))


def renamed_sizes(x: Tensor, shape: Sequence[Any]) -> Tensor:
    """Return a tensor whose sizes are those of a shape when it runs, as one of it."""
    return apply(_reshape, x, shape=tuple(shape))


def _solve_shape(old: Sequence[int], shape: Any) -> tuple[int, ...]:
    dims = as_ints("reshape", "shape", sizes_of(shape))
    total = math.prod(old)
    if dims.count(-1) > 1:
        raise ShapeError(f"reshape: shape {dims} has more than one -1", "Keep one")
    unsure = any(map(is_open, (total, *dims)))  # then NumPy checks, when it runs
    if -1 in dims:
        known = math.prod(d for d in dims if d != -1)
        guess = total // known if unsure or known > 0 else 0
        dims = tuple(guess if d == -1 else d for d in dims)
    if unsure:
        return dims
    if any(d < 0 for d in dims) or math.prod(dims) != total:
        raise ShapeError(
            f"reshape: {total} elements of shape {tuple(old)} do not fit shape {shape}",
            "Choose sizes with the same product",
        )
    return dims


def expand_dims(input: TensorLike, axis: Axis) -> Tensor:
    """Return a tensor with axes of size 1 inserted at the given places of the result.

    Args:
        input: A tensor.
        axis: An int, or several.

    Example:
        >>> import gtape as gt
        >>> gt.expand_dims([1, 2], 0).shape
        TensorShape([1, 2])
    """
    x = convert(input)
    places = as_ints("expand_dims", "axis", axis)
    rank = x.ndim + len(places)
    axes = normalize_axes("expand_dims", places, rank)
    dims = iter(x.shape)
    return apply(
        _reshape, x, shape=tuple(1 if i in axes else next(dims) for i in range(rank))
    )


def squeeze(input: TensorLike, axis: Axis = None) -> Tensor:
    """Return a tensor without axes of size 1.

    Args:
        input: A tensor.
        axis: The axes to drop; by default all of size 1.

    Raises:
        ShapeError: If a named axis has another size.

    Example:
        >>> import gtape as gt
        >>> gt.squeeze(gt.ones([1, 2, 1])).shape
        TensorShape([2])
    """
    x = convert(input)
    if axis is None:
        return apply(_reshape, x, shape=tuple(d for d in x.shape if d != 1))
    axes = normalize_axes("squeeze", axis, x.ndim)
    for i in axes:
        if x.shape[i] != 1:
            raise ShapeError(
                f"squeeze: axis {i} of shape {tuple(x.shape)} has size {x.shape[i]}, "
                "not 1",
                "Name axes of size 1 only",
            )
    shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
    return apply(_reshape, x, shape=shape)


# --- Transpose ------------------------------------------------------------------------


def _transpose_views(x: TensorSpec, *, perm: tuple[int, ...]) -> tuple[View, ...]:
    return (View(tuple(f"i{perm.index(axis)}" for axis in range(len(perm)))),)


_transpose = Primitive(
    "transpose",
    forward=lambda x, *, perm: x.transpose(perm),
    spec=lambda x, *, perm: x.with_shape(x.shape[p] for p in perm),
    vjp=lambda g, _out, _x, *, perm: (transpose(g, _inverse(perm)),),
    lowering=Reindex(_transpose_views),
)


def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def transpose(a: TensorLike, perm: Sequence[int] | None = None) -> Tensor:
    """Return a tensor with its axes in another order.

    Args:
        a: A tensor.
        perm: For each axis of the result, the axis of a; reversed by default.

    Raises:
        ShapeError: If perm does not name each axis once.

    Example:
        >>> import gtape as gt
        >>> gt.transpose(gt.ones([1, 2, 3]), perm=[2, 0, 1]).shape
        TensorShape([3, 1, 2])
    """
    x = convert(a)
    if perm is None:
        order = tuple(range(x.ndim))[::-1]
    else:
        order = tuple(
            normalize_axis("transpose", p, x.ndim, "perm entry")
            for p in as_ints("transpose", "perm", perm)
        )
        if sorted(order) != list(range(x.ndim)):
            raise ShapeError(
                f"transpose: perm {list(order)} for a tensor of rank {x.ndim}",
                "Name each axis once",
            )
    return apply(_transpose, x, perm=order)


def matrix_transpose(a: TensorLike) -> Tensor:
    """Return a tensor with its last two axes exchanged.

    Example:
        >>> import gtape as gt
        >>> gt.matrix_transpose(gt.ones([5, 2, 3])).shape
        TensorShape([5, 3, 2])
    """
    x = convert(a)
    check_rank("matrix_transpose", x, 2)
    last = x.ndim - 1
    return apply(_transpose, x, perm=(*range(last - 1), last, last - 1))


def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Tensor:
    """Return x with two axes exchanged.

    Example:
        >>> import gtape as gt
        >>> gt.swapaxes(gt.ones([5, 2, 3]), 0, 1).shape
        TensorShape([2, 5, 3])
    """
    x = convert(x)
    i = normalize_axis("swapaxes", axis1, x.ndim)
    j = normalize_axis("swapaxes", axis2, x.ndim)
    order = list(range(x.ndim))
    order[i], order[j] = order[j], order[i]
    return apply(_transpose, x, perm=tuple(order))
