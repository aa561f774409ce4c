"""Broadcast, sum, cast, choice: linear operations, closed under their gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import DTypeLike, NumpyDType, as_dtype, as_numpy_dtype
from gtape.errors import ShapeError
from gtape.lowering import Fold, Map, Reindex, View
from gtape.ops.common import (
    Axis,
    Tensor,
    TensorLike,
    as_shape,
    convert,
    normalize_axes,
    renamed,
    same_spec,
)
from gtape.ops.shaping import expand_dims, reshape
from gtape.primitive import Primitive, choice, number
from gtape.spec import TensorSpec, broadcast_shapes

# --- Broadcast and sum ----------------------------------------------------------------


def _broadcast_views(x: TensorSpec, *, shape: tuple[int, ...]) -> tuple[View, ...]:
    extra = len(shape) - x.rank
    return (
        View(tuple("0" if d == 1 else f"i{i + extra}" for i, d in enumerate(x.shape))),
    )


_FEW = 1 << 12  # elements that are copied sooner than NumPy makes a view


def _broadcast_forward(x: Any, *, shape: tuple[int, ...]) -> Any:
    if x.ndim or math.prod(shape) > _FEW:
        return np.broadcast_to(x, shape)
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


_broadcast_to = Primitive(
    "broadcast_to",
    forward=_broadcast_forward,
    spec=lambda x, *, shape: x.with_shape(shape),
    vjp=lambda g, _out, _x, *, shape: (g,),  # the tape sums g to the input's shape
    lowering=Reindex(_broadcast_views),
)


def broadcast_to(input: TensorLike, shape: Sequence[int]) -> Tensor:
    """Return the input repeated along axes of size 1 and new leading axes.

    Args:
        input: A tensor.
        shape: The new sizes.

    Raises:
        ShapeError: If the input does not broadcast to the shape.

    Example:
        >>> import gtape as gt
        >>> gt.broadcast_to([1, 2], [3, 2]).shape
        TensorShape([3, 2])
    """
    x = convert(input)
    target = as_shape("broadcast_to", shape)
    if broadcast_shapes("broadcast_to", x.shape, target) != target:
        raise ShapeError(
            f"broadcast_to: shape {tuple(x.shape)} does not broadcast to {target}",
            "Only axes of size 1 and new leading axes are repeated",
        )
    return apply(_broadcast_to, x, shape=target)


def _sum_forward(x: Any, *, axes: tuple[int, ...]) -> Any:
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":  # 16 bits lose small terms
        return np.add.reduce(x, axis=axes, dtype=np.float32).astype(x.dtype)
    return np.add.reduce(x, axis=axes, dtype=x.dtype)


_reduce_sum = Primitive(
    "reduce_sum",
    forward=_sum_forward,
    spec=lambda x, *, axes: x.without_axes(axes),
    vjp=lambda g, _out, _x, *, axes: (spread(g, axes, _x.shape),),
    lowering=Fold(identity=("0",), combine=("acc + x",)),
    operands=number,
)


def spread(g: Tensor, axes: tuple[int, ...], shape: Sequence[int]) -> Tensor:
    """Return the cotangent of a sum over axes as that of each term."""
    if len(axes) != len(shape):  # a scalar broadcasts as it is
        g = expand_dims(g, axes)
    return apply(_broadcast_to, g, shape=tuple(shape))


def reduce_sum(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return the sum of a tensor over the given axes.

    Args:
        input_tensor: A tensor of numbers. A bool tensor is refused: cast it, or use
            `count_nonzero`.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_sum([[1., 2.], [3., 4.]], axis=0)
        <gt.Tensor: shape=(2,), dtype=float32, numpy=array([4., 6.], dtype=float32)>
    """
    x = convert(input_tensor)
    axes = normalize_axes("reduce_sum", axis, x.ndim)
    out = apply(_reduce_sum, x, axes=axes)
    return expand_dims(out, axes) if keepdims and axes else out


def sum_to_shape(g: Tensor, shape: Sequence[int]) -> Tensor:
    """Return g summed over the axes along which `shape` was broadcast to g's shape."""
    extra = g.ndim - len(shape)
    axes = tuple(range(extra))
    if tuple(g.shape[extra:]) != tuple(shape):
        axes += tuple(
            i + extra for i, d in enumerate(shape) if d == 1 and g.shape[i + extra] != 1
        )
    out = apply(_reduce_sum, g, axes=axes) if axes else g
    return out if out.shape == tuple(shape) else reshape(out, tuple(shape))


# --- Cast -----------------------------------------------------------------------------


def _cast_vjp(g: Any, _out: Any, _x: Any, *, dtype: NumpyDType) -> tuple[Any, ...]:
    return (cast(g, _x.dtype),) if as_dtype(dtype).is_differentiable else (None,)


def _cast_forward(x: Any, *, dtype: NumpyDType) -> Any:
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real  # as TensorFlow; NumPy would warn of the discarded part
    return x.astype(dtype)


_cast = Primitive(
    "cast",
    forward=_cast_forward,
    spec=lambda x, *, dtype: x.with_dtype(dtype),
    vjp=_cast_vjp,
    lowering=Map("x"),
)


def cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """Return x converted to a dtype, element by element.

    Floats become integers by truncation, complex numbers real by dropping the imaginary
    part. The gradient is cast back; there is none through an integer or bool dtype.

    Args:
        x: A tensor.
        dtype: The new dtype.

    Example:
        >>> import gtape as gt
        >>> gt.cast([1.7, -1.7], gt.int32)
        <gt.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -1], dtype=int32)>
    """
    x = convert(x)
    target = as_numpy_dtype(dtype)
    return renamed(x) if x.dtype == target else apply(_cast, x, dtype=target)


# --- Identity -------------------------------------------------------------------------

_identity = Primitive(
    "identity",
    forward=lambda x: x,
    spec=same_spec,
    vjp=lambda g, _out, _x: (g,),
    lowering=Map("x"),
)

_stop_gradient = Primitive(
    "stop_gradient",
    forward=lambda x: x,
    spec=same_spec,
    vjp=None,
    lowering=Map("x"),
    why="stop_gradient makes its result a constant",
)


def identity(input: TensorLike) -> Tensor:
    """Return a tensor equal to the input that is a source of its own.

    Example:
        >>> import gtape as gt
        >>> gt.identity(2.0)
        <gt.Tensor: shape=(), dtype=float32, numpy=2.0>
    """
    return apply(_identity, input)


def stop_gradient(input: TensorLike) -> Tensor:
    """Return the input as a constant: no gradient flows through the result.

    Example:
        >>> import gtape as gt
        >>> x = gt.Variable(2.0)
        >>> with gt.GradientTape() as tape:
        ...     y = gt.stop_gradient(x * x) * x
        >>> tape.gradient(y, x).numpy()
        np.float32(4.0)
    """
    return apply(_stop_gradient, input)


# --- Choice ---------------------------------------------------------------------------


def _where_spec(condition: TensorSpec, x: TensorSpec, y: TensorSpec) -> TensorSpec:
    shape = broadcast_shapes("where", condition.shape, x.shape, y.shape)
    return TensorSpec(shape, x.dtype)


_where = Primitive(
    "where",
    forward=np.where,
    spec=_where_spec,
    vjp=lambda g, _out, condition, _x, _y: (
        None,
        lambda: where(condition, g, 0.0),
        lambda: where(condition, 0.0, g),
    ),
    lowering=Map("x if condition else y"),
    operands=choice,
)


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """Return x where the condition holds, else y.

    No gradient enters the operand that is not chosen, whatever its value.

    Args:
        condition: A bool tensor.
        x: The values where it is true.
        y: The values where it is false. The three broadcast.
    """
    return apply(_where, condition, x, y)
