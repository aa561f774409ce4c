"""Variance, standard deviation, and the norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import as_dtype
from gtape.errors import ArgumentError, DTypeError
from gtape.lowering import Fold
from gtape.ops.arithmetic import divide_no_nan, multiply_no_nan, square
from gtape.ops.arithmetic import pow as power
from gtape.ops.common import Axis, Tensor, TensorLike, as_ints, convert, normalize_axes
from gtape.ops.linear import cast, reduce_sum, stop_gradient, where
from gtape.ops.logic import equal, is_finite, logical_and
from gtape.ops.math import abs as absolute
from gtape.ops.math import conj, is_complex
from gtape.ops.precision import convert_inexact, widened
from gtape.ops.reduction import count_over, keep_axes, reduce_max, reduce_mean, reduced
from gtape.ops.shaping import expand_dims
from gtape.primitive import Primitive, inexact

# --- Spread ---------------------------------------------------------------------------


def _inexact(name: str, x: TensorLike) -> Tensor:
    x = convert_inexact(x)
    if x.dtype.kind in "iub":
        raise DTypeError(
            f"{name} needs a floating-point dtype, got {as_dtype(x.dtype)}",
            "Cast first: gt.cast(x, gt.float32)",
        )
    return x


def _deviations(name: str, x: TensorLike, axis: Axis) -> tuple[Any, Any, Any]:
    """Return x, its differences from the mean in a wide dtype, and the axes."""
    x = _inexact(name, x)
    axes = normalize_axes(name, axis, x.ndim)
    values = widened(x)
    return x, values - reduce_mean(values, axes, keepdims=True), axes


def reduce_variance(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the mean of abs(x - mean(x)) ** 2 over the given axes.

    Args:
        x: A floating-point or complex tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is integer or bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_variance([1., 2., 3., 4.]).numpy()
        np.float32(1.25)
    """
    x, away, axes = _deviations("reduce_variance", x, axis)
    squares = square(absolute(away) if is_complex(away) else away)
    out = cast(reduce_mean(squares, axes), as_dtype(x.dtype).real_dtype)
    return keep_axes("reduce_variance", out, axes, keepdims)


def reduce_std(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the square root of the variance of x over the given axes.

    The gradient is 0 where all elements are equal.

    Args:
        x: A floating-point or complex tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is integer or bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_std([1., 3.]).numpy()
        np.float32(1.0)
    """
    x, away, axes = _deviations("reduce_std", x, axis)
    spread = apply(_reduce_euclidean_norm, away, axes=axes)
    out = spread / math.sqrt(count_over(x, axes))
    out = cast(out, as_dtype(x.dtype).real_dtype)
    return keep_axes("reduce_std", out, axes, keepdims)


# --- Norms ----------------------------------------------------------------------------


def _norm_forward(x: Any, *, axes: tuple[int, ...]) -> Any:
    values = np.abs(x) if x.dtype.kind == "c" else x
    target = values.dtype
    # Squares of all 16- and 32-bit floats fit into float64.
    values = values.astype(np.float64, copy=False)
    out = np.sqrt(np.add.reduce(np.square(values), axis=axes))
    if target == np.float64 and np.any((out < 1e-140) | (out > 1e150)):
        top = np.maximum.reduce(np.abs(values), axis=axes, keepdims=True, initial=0)
        top = np.where(np.isfinite(top) & (top > 0), top, 1)
        total = np.add.reduce(np.square(values / top), axis=axes)
        out = np.sqrt(total) * top.reshape(total.shape)
    return out.astype(target, copy=False)


def _norm_vjp(g: Any, out: Any, x: Any, *, axes: tuple[int, ...]) -> tuple[Any, ...]:
    direction = divide_no_nan(conj(x), expand_dims(out, axes))
    return (multiply_no_nan(direction, expand_dims(g, axes)),)


_reduce_euclidean_norm = Primitive(
    "reduce_euclidean_norm",
    forward=_norm_forward,
    spec=lambda x, *, axes: x.without_axes(axes).with_dtype(x.dtype.real_dtype),
    vjp=_norm_vjp,
    lowering=Fold(
        # The greatest magnitude so far, and the sum of (abs(x) / greatest) ** 2.
        identity=("0", "0"),
        combine=(
            "maximum(acc0, abs(x))",
            "acc1 if x == 0 else (acc1 * (acc0 / abs(x)) ** 2 + 1 if abs(x) > acc0 "
            "else (acc1 + 1 if abs(x) == acc0 else acc1 + (abs(x) / acc0) ** 2))",
        ),
        finish="acc0 * sqrt(acc1)",
    ),
    operands=inexact,
)


def reduce_euclidean_norm(
    x: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return sqrt(sum(abs(x) ** 2)) over the given axes, without overflow or underflow.

    The gradient is 0 where all elements are 0.

    Args:
        x: A tensor of numbers. A norm of integers stays an integer, rounded down.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_euclidean_norm([3., 4.]).numpy()
        np.float32(5.0)
    """
    x = convert(x)
    if x.dtype.kind not in "iu":
        return reduced(_reduce_euclidean_norm, x, axis, keepdims)
    out = reduced(_reduce_euclidean_norm, cast(x, "float64"), axis, keepdims)
    return cast(out, x.dtype)


def norm(
    tensor: TensorLike,
    ord: float | str = "euclidean",
    axis: Axis = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the norm of vectors or matrices, a real number for each.

    Args:
        tensor: A floating-point or complex tensor.
        ord: For vectors "euclidean" or 2, 1, inf, or a positive p for
            sum(abs(x) ** p) ** (1 / p). For matrices "fro" or "euclidean", 1 for the
            greatest column sum, inf for the greatest row sum.
        axis: One axis for vectors, a pair (rows, columns) for matrices; by default all
            elements are one vector.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        ArgumentError: If there is no such norm.

    Example:
        >>> import gtape as gt
        >>> gt.norm([[3., 4.], [0., 5.]], axis=1).numpy()
        array([5., 5.], dtype=float32)
        >>> gt.norm([3., -4.], ord=1).numpy()
        np.float32(7.0)
    """
    x = _inexact("norm", tensor)
    axes = range(x.ndim) if axis is None else as_ints("norm", "axis", axis)
    if axis is not None and len(axes) not in (1, 2):
        raise ArgumentError(
            f"norm: axis {axis!r} is neither one axis nor a pair",
            "Give an int for vectors, two for matrices, or None for all elements",
        )
    pair = axis is not None and len(axes) == 2
    order = _norm_order(ord, pair)
    places = normalize_axes("norm", axis, x.ndim)
    if order == 2:
        out = apply(_reduce_euclidean_norm, x, axes=places)
    elif pair:
        out = _matrix_norm(x, order, *[a % x.ndim for a in axes])
    elif order == 1:
        out = reduce_sum(absolute(x), places)
    elif order == math.inf:
        out = reduce_max(absolute(x), places)
    else:
        out = _p_norm(x, order, places)
    return keep_axes("norm", out, places, keepdims)


def _norm_order(ord: Any, matrices: bool) -> float:
    """Return the order of a norm as a number, 2 for the one of squares.

    Raises:
        ArgumentError: If there is no such norm.
    """
    if isinstance(ord, str) and ord in ("euclidean", "fro"):
        return 2
    order = math.nan
    if isinstance(ord, (int, float, np.integer, np.floating)) and ord is not True:
        order = float(ord)
    if matrices and order == 2:
        raise ArgumentError(
            "norm: ord 2 of matrices is their greatest singular value",
            "Take the maximum of gt.linalg.svd(x, compute_uv=False), or ord='fro' for "
            "the root of the sum of squares",
        )
    if not order > 0 or (matrices and order not in (1, math.inf)):
        kind, known = (
            ("matrices", "'fro', 'euclidean', 1 or inf")
            if matrices
            else ("vectors", "'euclidean', 1, 2, inf or another positive number")
        )
        raise ArgumentError(f"norm: ord {ord!r} is no norm of {kind}", f"Use {known}")
    return order


def _matrix_norm(x: Tensor, order: float, rows: int, columns: int) -> Tensor:
    summed, other = (rows, columns) if order == 1 else (columns, rows)
    sums = reduce_sum(absolute(x), summed)
    return reduce_max(sums, other - (summed < other))


def _p_norm(x: Tensor, p: float, axes: tuple[int, ...]) -> Tensor:
    sizes = absolute(x)
    top = stop_gradient(reduce_max(sizes, axes))
    top = where(logical_and(is_finite(top), top > 0), top, 1.0)
    total = reduce_sum(power(sizes / expand_dims(top, axes), p), axes)
    # At zero the root is steep: its gradient stays out.
    zero = equal(total, 0)
    root = power(where(zero, 1.0, total), 1 / p)
    return where(zero, 0.0, root * top)
