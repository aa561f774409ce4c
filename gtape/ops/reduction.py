"""Mean, product and extrema over axes; the sum stands in `linear`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import NumpyDType, as_dtype
from gtape.errors import DivisionError
from gtape.lowering import Fold
from gtape.ops.arithmetic import multiply_no_nan
from gtape.ops.common import (
    Axis,
    Tensor,
    TensorLike,
    convert,
    normalize_axes,
    require_flag,
)
from gtape.ops.linear import cast, reduce_sum, spread, where
from gtape.ops.logic import equal
from gtape.ops.precision import wide
from gtape.ops.scanning import cumprod
from gtape.ops.shaping import expand_dims, reshape, transpose
from gtape.primitive import Primitive, inexact, number, real
from gtape.spec import TensorSpec

# --- The frame of all reductions ------------------------------------------------------


def reduced(primitive: Primitive, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Return a reduction of x over the axes, which stay with size 1 where wanted."""
    axes = normalize_axes(primitive.name, axis, x.ndim)
    out = apply(primitive, x, axes=axes)
    return keep_axes(primitive.name, out, axes, keepdims)


def keep_axes(name: str, out: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """Return a result with the axes it was reduced over, of size 1, where wanted."""
    if keepdims is False:
        return out
    return expand_dims(out, axes) if require_flag(name, "keepdims", keepdims) else out


def count_over(x: Any, axes: Sequence[int]) -> Any:
    """Return how many elements each result of a reduction stands for."""
    return math.prod([x.shape[i] for i in axes])


def without_axes_spec(x: TensorSpec, *, axes: tuple[int, ...]) -> TensorSpec:
    """The spec of a reduction that keeps the dtype."""
    return x.without_axes(axes)


# --- Mean -----------------------------------------------------------------------------


def _mean_forward(x: Any, *, axes: tuple[int, ...]) -> Any:
    values = wide(x)
    out = np.add.reduce(values, axis=axes, dtype=values.dtype) / count_over(x, axes)
    return out if values is x else out.astype(x.dtype)


_reduce_mean = Primitive(
    "reduce_mean",
    forward=_mean_forward,
    spec=without_axes_spec,
    vjp=lambda g, _out, _x, *, axes: (
        spread(g / count_over(_x, axes), axes, _x.shape),
    ),
    lowering=Fold(identity=("0",), combine=("acc + x",), finish="acc / n"),
    operands=inexact,
)


def reduce_mean(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return the mean of x over the given axes.

    Args:
        input_tensor: A tensor of numbers. A mean of integers is an integer, rounded
            towards zero.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool.
        DivisionError: If it is a mean of no integers. That of no floats is NaN.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_mean([1., 2., 6.]).numpy(), gt.reduce_mean([1, 2]).numpy()
        (np.float32(3.0), np.int32(1))
    """
    x = convert(input_tensor)
    if x.dtype.kind not in "iu":
        return reduced(_reduce_mean, x, axis, keepdims)
    axes = normalize_axes("reduce_mean", axis, x.ndim)
    total = reduce_sum(cast(x, "int64" if x.dtype.kind == "i" else "uint64"), axes)
    n = count_over(x, axes)
    if n == 0 and math.prod(total.shape) != 0:
        raise DivisionError(
            f"reduce_mean: no integers in shape {tuple(x.shape)} over axes {axes}",
            "Cast to a float for NaN, or leave the empty tensor out",
        )
    mean = truncated_quotient(total, max(n, 1))
    return keep_axes("reduce_mean", cast(mean, x.dtype), axes, keepdims)


def truncated_quotient(x: Tensor, y: TensorLike) -> Tensor:
    """Return the quotient of integers rounded towards zero, for positive y."""
    if x.dtype.kind == "u":
        return x // y
    return where(x < 0, -(-x // y), x // y)


# --- Product --------------------------------------------------------------------------


def _prod_forward(x: Any, *, axes: tuple[int, ...]) -> Any:
    values = wide(x)
    out = np.multiply.reduce(values, axis=axes, dtype=values.dtype)
    return out if values is x else out.astype(x.dtype)


def _prod_vjp(g: Any, _out: Any, x: Any, *, axes: tuple[int, ...]) -> tuple[Any, ...]:
    return (multiply_no_nan(_products_of_others(x, axes), expand_dims(g, axes)),)


def _products_of_others(x: Any, axes: tuple[int, ...]) -> Any:
    """Return for each element the product of all others, without a division."""
    rest = [i for i in range(x.ndim) if i not in axes]
    order = [*rest, *axes]
    moved = transpose(x, order)
    flat = reshape(moved, [*[x.shape[i] for i in rest], count_over(x, axes)])
    before = cumprod(flat, axis=-1, exclusive=True)
    after = cumprod(flat, axis=-1, exclusive=True, reverse=True)
    back = sorted(range(x.ndim), key=order.__getitem__)
    return transpose(reshape(before * after, moved.shape), back)


_reduce_prod = Primitive(
    "reduce_prod",
    forward=_prod_forward,
    spec=without_axes_spec,
    vjp=_prod_vjp,
    lowering=Fold(identity=("1",), combine=("acc * x",)),
    operands=number,
)


def reduce_prod(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return the product of x over the given axes.

    The gradient is right where elements are zero, too.

    Args:
        input_tensor: A tensor of numbers.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_prod([[1., 2.], [3., 4.]], axis=1).numpy()
        array([ 2., 12.], dtype=float32)
    """
    return reduced(_reduce_prod, convert(input_tensor), axis, keepdims)


# --- Extrema --------------------------------------------------------------------------


def _extremum_vjp(
    g: Any, out: Any, x: Any, *, axes: tuple[int, ...]
) -> tuple[Any, ...]:
    hit = equal(x, expand_dims(out, axes))
    ties = reduce_sum(cast(hit, "float32"), axes)
    share = expand_dims(g / cast(ties, g.dtype), axes)
    return (where(hit, share, 0.0),)


def _extremum(name: str, ufunc: np.ufunc, start: str, combine: str) -> Primitive:
    def forward(x: Any, *, axes: tuple[int, ...]) -> Any:
        if x.size:
            return ufunc.reduce(x, axis=axes)
        return ufunc.reduce(x, axis=axes, initial=_end(x.dtype, start))

    return Primitive(
        name,
        forward=forward,
        spec=without_axes_spec,
        vjp=_extremum_vjp,
        lowering=Fold(identity=(start,), combine=(combine,)),
        operands=real,
    )


def _end(dtype: NumpyDType, which: str) -> Any:
    """Return the end of the range of a dtype, infinite for floats."""
    if dtype.kind in "fV":
        return dtype.type(-math.inf if which == "lowest" else math.inf)
    limits = as_dtype(dtype)
    return dtype.type(limits.min if which == "lowest" else limits.max)


_reduce_max = _extremum("reduce_max", np.maximum, "lowest", "maximum(acc, x)")
_reduce_min = _extremum("reduce_min", np.minimum, "highest", "minimum(acc, x)")


def reduce_max(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return the greatest element of x over the given axes; NaN where there is a NaN.

    Equal greatest elements share the gradient evenly.

    Args:
        input_tensor: A tensor of real numbers. The result of none is -inf, or the least
            integer.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool or complex.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_max([[1., 5.], [3., 4.]], axis=1).numpy()
        array([5., 4.], dtype=float32)
    """
    return reduced(_reduce_max, convert(input_tensor), axis, keepdims)


def reduce_min(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return the least element of x over the given axes; NaN where there is a NaN.

    Equal least elements share the gradient evenly.

    Args:
        input_tensor: A tensor of real numbers. The result of none is inf, or the
            greatest integer.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool or complex.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_min([[1., 5.], [3., 4.]], axis=1).numpy()
        array([1., 3.], dtype=float32)
    """
    return reduced(_reduce_min, convert(input_tensor), axis, keepdims)
