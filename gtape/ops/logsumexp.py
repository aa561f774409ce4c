"""The logarithm of a sum of exponentials, over axes and running, without overflow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gtape.lowering import Fold
from gtape.ops.arithmetic import divide_no_nan, multiply_no_nan
from gtape.ops.common import Axis, Tensor, TensorLike, elementwise
from gtape.ops.linear import reduce_sum, stop_gradient
from gtape.ops.precision import convert_inexact, wide
from gtape.ops.reduction import reduced, without_axes_spec
from gtape.ops.scanning import ahead_of, linear_recurrence, run_scan, scan, shifted
from gtape.ops.shaping import expand_dims
from gtape.primitive import Primitive, floating

# --- Shares of a sum ------------------------------------------------------------------


def _exp_difference_forward(x: Any, y: Any) -> Any:
    same = np.isinf(x) & (x == y)
    out = np.where(same, x > 0, np.exp(x - np.where(same, 0, y)))
    return out.astype(x.dtype, copy=False)


@elementwise(
    _exp_difference_forward,
    "(1.0 if x > 0 else 0.0) if isinf(x) and x == y else exp(x - y)",
    vjp=lambda g, out, _x, _y: (lambda: g * out, lambda: -g * out),
    operands=floating,
)
def exp_difference(x: TensorLike, y: TensorLike) -> Tensor:
    """Return e**(x - y), with 1 where both are +inf and 0 where both are -inf.

    It is the share of e**x in a sum of exponentials whose logarithm is y.
    """


# --- Over axes ------------------------------------------------------------------------


def _logsumexp_forward(x: Any, *, axes: tuple[int, ...]) -> Any:
    values = wide(x)
    top = np.maximum.reduce(values, axis=axes, keepdims=True, initial=-math.inf)
    top = np.where(np.isfinite(top), top, 0).astype(values.dtype)
    total = np.add.reduce(np.exp(values - top), axis=axes, dtype=values.dtype)
    return (np.log(total) + top.reshape(total.shape)).astype(x.dtype, copy=False)


def _logsumexp_vjp(
    g: Any, out: Any, x: Any, *, axes: tuple[int, ...]
) -> tuple[Any, ...]:
    # Divided by their sum the shares do not depend on how the logarithm is rounded;
    # and several infinities share evenly.
    parts = exp_difference(x, expand_dims(stop_gradient(out), axes))
    shares = divide_no_nan(parts, expand_dims(reduce_sum(parts, axes), axes))
    return (multiply_no_nan(shares, expand_dims(g, axes)),)


_reduce_logsumexp = Primitive(
    "reduce_logsumexp",
    forward=_logsumexp_forward,
    spec=without_axes_spec,
    vjp=_logsumexp_vjp,
    lowering=Fold(
        # The greatest element so far, and the sum of e**(x - greatest).
        identity=("lowest", "0"),
        combine=(
            "maximum(acc0, x)",
            "acc1 if x == -inf else (acc1 + exp(x - acc0) if x < acc0 else "
            "(acc1 + 1 if x == acc0 else acc1 * exp(acc0 - x) + 1))",
        ),
        finish="acc0 + log(acc1)",
    ),
    operands=floating,
)


def reduce_logsumexp(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return log(sum(exp(x))) of a tensor x over the given axes, without overflow.

    Where all elements are -inf the result is -inf, with gradient 0.

    Args:
        input_tensor: A floating-point tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If input_tensor is not floating-point.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_logsumexp([1000., 1000.]).numpy().round(2)
        np.float32(1000.69)
    """
    return reduced(_reduce_logsumexp, convert_inexact(input_tensor), axis, keepdims)


# --- Running --------------------------------------------------------------------------


def _cumulative_logsumexp_vjp(
    g: Any, out: Any, x: Any, *, axis: int, reverse: bool
) -> tuple[Any, ...]:
    # The sum over i >= j of g[i] * e**(x[j] - out[i]), with factors that are at most 1:
    # out grows along the scan.
    ahead = ahead_of(reverse)
    decay = exp_difference(out, shifted(out, axis, -ahead, math.inf))
    return (exp_difference(x, out) * linear_recurrence(decay, g, axis, not reverse),)


_cumulative_logsumexp = scan(
    "cumulative_logsumexp",
    np.logaddexp,
    vjp=_cumulative_logsumexp_vjp,
    operands=floating,
)


def cumulative_logsumexp(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    """Return the running log(exp(x[0]) + ... + exp(x[i])), without overflow.

    Args:
        x: A floating-point tensor.
        axis: The axis to run along.
        exclusive: Whether x[i] itself is left out of out[i], so that out[0] is -inf.
        reverse: Whether it runs from the end.

    Raises:
        ShapeError: If x has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.cumulative_logsumexp([1000., 1000.]).numpy().round(2)
        array([1000.  , 1000.69], dtype=float32)
    """
    x = convert_inexact(x)
    return run_scan(_cumulative_logsumexp, x, axis, exclusive, reverse, -math.inf)
