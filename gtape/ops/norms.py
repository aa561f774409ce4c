"""Variance, standard deviation and the Euclidean norm over axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import as_dtype
from gtape.lowering import Fold
from gtape.ops.arithmetic import divide_no_nan, multiply_no_nan, square
from gtape.ops.common import Axis, Tensor, TensorLike, convert, normalize_axes
from gtape.ops.linear import cast
from gtape.ops.math import abs as absolute
from gtape.ops.math import conj, is_complex
from gtape.ops.precision import as_inexact, widened
from gtape.ops.reduction import count_over, keep_axes, reduce_mean, reduced
from gtape.ops.shaping import expand_dims
from gtape.primitive import Primitive, inexact
from gtape.sizes import is_size

# --- Spread ---------------------------------------------------------------------------


def _deviations(name: str, x: TensorLike, axis: Axis) -> tuple[Any, Any, Any]:
    """Return x, its differences from the mean in a wide dtype, and the axes."""
    x = as_inexact(name, x)
    axes = normalize_axes(name, axis, x.ndim)
    values = widened(x)
    return x, values - reduce_mean(values, axes, keepdims=True), axes


def reduce_variance(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return the mean of abs(x - mean(x)) ** 2 over the given axes of a tensor x.

    Args:
        input_tensor: A floating-point or complex tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If input_tensor is integer or bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_variance([1., 2., 3., 4.]).numpy()
        np.float32(1.25)
    """
    x, away, axes = _deviations("reduce_variance", input_tensor, axis)
    squares = square(absolute(away) if is_complex(away) else away)
    out = cast(reduce_mean(squares, axes), as_dtype(x.dtype).real_dtype)
    return keep_axes("reduce_variance", out, axes, keepdims)


def reduce_std(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return the square root of the variance over the given axes.

    The gradient is 0 where all elements are equal.

    Args:
        input_tensor: A floating-point or complex tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If input_tensor is integer or bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_std([1., 3.]).numpy()
        np.float32(1.0)
    """
    x, away, axes = _deviations("reduce_std", input_tensor, axis)
    spread = apply(_reduce_euclidean_norm, away, axes=axes)
    count = count_over(x, axes)
    out = spread / (count**0.5 if is_size(count) else math.sqrt(count))
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
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return sqrt(sum(abs(x) ** 2)) of a tensor x, without overflow or underflow.

    The gradient is 0 where all elements are 0.

    Args:
        input_tensor: A tensor of numbers. A norm of integers stays an integer,
            rounded down.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If input_tensor is bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_euclidean_norm([3., 4.]).numpy()
        np.float32(5.0)
    """
    x = convert(input_tensor)
    if x.dtype.kind not in "iu":
        return reduced(_reduce_euclidean_norm, x, axis, keepdims)
    out = reduced(_reduce_euclidean_norm, cast(x, "float64"), axis, keepdims)
    return cast(out, x.dtype)
