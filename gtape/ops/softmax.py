"""Softmax and its logarithm along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import default_float
from gtape.lowering import Custom
from gtape.ops.common import Tensor, TensorLike, convert, normalize_axis
from gtape.ops.linear import cast, reduce_sum
from gtape.ops.math import exp
from gtape.ops.precision import through_float32
from gtape.primitive import Primitive, floating
from gtape.spec import TensorSpec


def _shifted(x: Any, axis: int) -> Any:
    """Return an array less its maximum along an axis: no exponential overflows then."""
    return x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)


def _softmax_forward(x: Any, *, axis: int) -> Any:
    out = np.exp(_shifted(x, axis))
    out /= out.sum(axis=axis, keepdims=True)
    return out


def _log_softmax_forward(x: Any, *, axis: int) -> Any:
    out = _shifted(x, axis)
    out -= np.log(np.exp(out).sum(axis=axis, keepdims=True))
    return out


def _softmax_vjp(g: Any, out: Any, _x: Any, *, axis: int) -> tuple[Any, ...]:
    return (out * (g - reduce_sum(g * out, axis, keepdims=True)),)


def _log_softmax_vjp(g: Any, out: Any, _x: Any, *, axis: int) -> tuple[Any, ...]:
    return (g - exp(out) * reduce_sum(g, axis, keepdims=True),)


def _softmax_spec(x: TensorSpec, *, axis: int) -> TensorSpec:
    return x


_softmax = Primitive(
    "softmax",
    forward=through_float32(_softmax_forward),
    spec=_softmax_spec,
    vjp=_softmax_vjp,
    lowering=Custom("softmax"),
    operands=floating,
)

_log_softmax = Primitive(
    "log_softmax",
    forward=through_float32(_log_softmax_forward),
    spec=_softmax_spec,
    vjp=_log_softmax_vjp,
    lowering=Custom("log_softmax"),
    operands=floating,
)


def _along(primitive: Primitive, logits: TensorLike, axis: int | None) -> Tensor:
    x = convert(logits)
    if x.dtype.kind in "iu" and isinstance(logits, (int, list, tuple)):
        x = cast(x, default_float())  # Python integers are no integer tensor
    place = normalize_axis(primitive.name, -1 if axis is None else axis, x.ndim)
    return apply(primitive, x, axis=place)


def softmax(logits: TensorLike, axis: int | None = -1) -> Tensor:
    """Return exp(x) / sum(exp(x)) along an axis, without overflow.

    Args:
        logits: A tensor of rank 1 or more.
        axis: The axis along which the result sums to 1; the last by default.

    Raises:
        ShapeError: If logits has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.nn.softmax([1000., 1000.]).numpy()
        array([0.5, 0.5], dtype=float32)
    """
    return _along(_softmax, logits, axis)


def log_softmax(logits: TensorLike, axis: int | None = -1) -> Tensor:
    """Return log(softmax(x)) along an axis, exact where softmax rounds to 0 or 1.

    Args:
        logits: A tensor of rank 1 or more.
        axis: The axis along which the exponentials sum to 1; the last by default.

    Raises:
        ShapeError: If logits has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.nn.log_softmax([0., -1000.]).numpy()
        array([    0., -1000.], dtype=float32)
    """
    return _along(_log_softmax, logits, axis)
