"""Activation functions of neural networks, by element."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from gtape.dispatch import apply, apply_one, apply_two
from gtape.errors import ArgumentTypeError
from gtape.lazy import scipy_special
from gtape.lowering import Map
from gtape.ops.arithmetic import multiply
from gtape.ops.common import Tensor, TensorLike, convert, require_flag, same_spec
from gtape.ops.extrema import minimum
from gtape.ops.linear import where
from gtape.ops.logic import logical_and
from gtape.ops.math import abs, exp, expm1
from gtape.ops.precision import through_float32
from gtape.ops.special import erfc, sigmoid, sigmoid_slope, softplus, softplus_forward
from gtape.ops.trig import tanh, tanh_slope
from gtape.primitive import Primitive, floating, real
from gtape.spec import TensorSpec, broadcast_shapes

# --- Piecewise linear -----------------------------------------------------------------

_BITS = {2: np.int16, 4: np.int32, 8: np.int64}


def _where_positive_forward(x: Any, y: Any) -> Any:
    positive = y > 0
    if x.ndim == y.ndim == 0:
        return x if positive else x.dtype.type(0)
    if x.dtype.kind not in "fV":
        return np.where(positive, x, np.zeros((), x.dtype))
    # The bits times 1 or 0: a choice, so that inf and NaN go too, as fast as a product.
    bits = _BITS[x.dtype.itemsize]
    return (positive.astype(bits) * x.view(bits)).view(x.dtype)


def _where_positive_spec(x: TensorSpec, y: TensorSpec) -> TensorSpec:
    return x.with_shape(broadcast_shapes("where_positive", x.shape, y.shape))


_where_positive = Primitive(
    "where_positive",
    forward=_where_positive_forward,
    spec=_where_positive_spec,
    vjp=lambda g, _out, _x, y: (where_positive(g, y), None),
    lowering=Map("x if y > 0 else 0"),
    operands=real,
)


def where_positive(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x where y is positive, else 0: the reverse rule of relu."""
    return apply_two(_where_positive, x, y)


_relu = Primitive(
    "relu",
    forward=lambda x: np.maximum(x, 0),
    spec=same_spec,
    vjp=lambda g, out, _x: (where_positive(g, out),),
    lowering=Map("maximum(x, 0)"),
    operands=real,
)


def relu(features: TensorLike) -> Tensor:
    """Return x where it is positive, else 0; the gradient at 0 is 0.

    Example:
        >>> import gtape as gt
        >>> gt.nn.relu([-1., 0., 2.]).numpy()
        array([0., 0., 2.], dtype=float32)
    """
    return apply_one(_relu, features)


_relu6 = Primitive(
    "relu6",
    forward=lambda x: np.minimum(np.maximum(x, 0), 6),
    spec=same_spec,
    vjp=lambda g, out, _x: (where(logical_and(out > 0, out < 6), g, 0.0),),
    lowering=Map("minimum(maximum(x, 0), 6)"),
    operands=real,
)


def relu6(features: TensorLike) -> Tensor:
    """Return x between 0 and 6, and these bounds beyond; the gradient at both is 0.

    Example:
        >>> import gtape as gt
        >>> gt.nn.relu6([-1., 3., 8.]).numpy()
        array([0., 3., 6.], dtype=float32)
    """
    return apply_one(_relu6, features)


_hard_sigmoid = Primitive(
    "hard_sigmoid",
    forward=through_float32(lambda x: np.minimum(np.maximum(x + 3, 0), 6) / 6),
    spec=same_spec,
    vjp=lambda g, _out, x: (where(abs(x) < 3, g / 6, 0.0),),
    lowering=Map("minimum(maximum(x + 3, 0), 6) / 6"),
    operands=floating,
)


def hard_sigmoid(x: TensorLike) -> Tensor:
    """Return relu6(x + 3) / 6, a piecewise linear sigmoid, as Keras 3 defines it.

    Example:
        >>> import gtape as gt
        >>> gt.nn.hard_sigmoid([-3., 0., 3.]).numpy()
        array([0. , 0.5, 1. ], dtype=float32)
    """
    return apply_one(_hard_sigmoid, x)


def _number(name: str, argument: str, value: Any) -> float | None:
    """Return a number as a float, and `None` for a tensor: its gradient is wanted too.

    Raises:
        ArgumentTypeError: If it is neither.
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    if value is None or isinstance(value, (bool, str, bytes)):
        raise ArgumentTypeError(
            f"{name}: {argument} must be a number or a tensor, got {value!r}",
            "Give a float",
        )
    return None


_leaky_relu = Primitive(
    "leaky_relu",
    forward=through_float32(lambda x, *, alpha: np.where(x > 0, x, alpha * x)),
    spec=lambda x, *, alpha: x,
    vjp=lambda g, _out, x, *, alpha: (where(x > 0, g, alpha * g),),
    lowering=Map("x if x > 0 else alpha * x"),
    operands=floating,
)


def leaky_relu(features: TensorLike, alpha: TensorLike = 0.2) -> Tensor:
    """Return x where it is positive, else alpha * x; the gradient at 0 is alpha.

    Args:
        features: A tensor.
        alpha: The slope below 0: a number, or a tensor that broadcasts to features.

    Raises:
        ArgumentTypeError: If alpha is neither.

    Example:
        >>> import gtape as gt
        >>> gt.nn.leaky_relu([-1., 2.], alpha=0.5).numpy()
        array([-0.5,  2. ], dtype=float32)
    """
    slope = _number("leaky_relu", "alpha", alpha)
    if slope is not None:
        return apply(_leaky_relu, features, alpha=slope)
    features = convert(features)
    return where(features > 0, features, alpha * features)


# --- Exponential below 0 --------------------------------------------------------------


def _elu_forward(x: Any, *, alpha: float) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(x))


_elu = Primitive(
    "elu",
    forward=through_float32(_elu_forward),
    spec=lambda x, *, alpha: x,
    # From x and not as out + alpha, which cancels for negative x.
    vjp=lambda g, _out, x, *, alpha: (
        where(x > 0, g, g * (alpha * exp(minimum(x, 0.0)))),
    ),
    lowering=Map("x if x > 0 else alpha * expm1(x)"),
    operands=floating,
)


def elu(features: TensorLike, alpha: TensorLike = 1.0) -> Tensor:
    """Return x where it is positive, else alpha * (exp(x) - 1).

    Clevert, Unterthiner and Hochreiter, Fast and Accurate Deep Network Learning by
    Exponential Linear Units, 2016. The gradient at 0 is alpha.

    Args:
        features: A tensor.
        alpha: The scale below 0: a number, or a tensor that broadcasts to features.

    Raises:
        ArgumentTypeError: If alpha is neither.

    Example:
        >>> import gtape as gt
        >>> gt.nn.elu([-1., 2.]).numpy().round(3)
        array([-0.632,  2.   ], dtype=float32)
    """
    scale = _number("elu", "alpha", alpha)
    if scale is not None:
        return apply(_elu, features, alpha=scale)
    features = convert(features)
    return where(features > 0, features, alpha * expm1(minimum(features, 0.0)))


_SELU_SCALE = 1.0507009873554805
_SELU_LIMIT = 1.7580993408473766  # scale * alpha

_selu = Primitive(
    "selu",
    forward=through_float32(
        lambda x: np.where(x >= 0, _SELU_SCALE * x, _SELU_LIMIT * np.expm1(x))
    ),
    spec=same_spec,
    vjp=lambda g, _out, x: (
        g * where(x < 0, _SELU_LIMIT * exp(minimum(x, 0.0)), _SELU_SCALE),
    ),
    lowering=Map("1.0507009873554805 * x if x >= 0 else 1.7580993408473766 * expm1(x)"),
    operands=floating,
)


def selu(features: TensorLike) -> Tensor:
    """Return 1.0507 * elu(x, alpha=1.6733): it keeps mean 0 and variance 1 in layers.

    Klambauer, Unterthiner, Mayr and Hochreiter, Self-Normalizing Neural Networks, 2017.
    The gradient at 0 is 1.0507.

    Example:
        >>> import gtape as gt
        >>> gt.nn.selu([-1., 2.]).numpy().round(3)
        array([-1.111,  2.101], dtype=float32)
    """
    return apply_one(_selu, features)


# --- Smooth ---------------------------------------------------------------------------

_ROOT_HALF = 0.7071067811865476
_ONE_OVER_ROOT_TWO_PI = 0.3989422804014327
_TWICE_ROOT_TWO_OVER_PI = 1.5957691216057308


def _gelu_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    density = _ONE_OVER_ROOT_TWO_PI * exp(-0.5 * (x * x))
    return (g * (0.5 * erfc(-_ROOT_HALF * x) + x * density),)


_gelu = Primitive(
    "gelu",
    forward=through_float32(
        lambda x: 0.5 * x * scipy_special.erfc(-_ROOT_HALF * x)  # 1 + erf would cancel
    ),
    spec=same_spec,
    vjp=_gelu_vjp,
    lowering=Map("0.5 * x * erfc(-0.7071067811865476 * x)"),
    operands=floating,
)


def _gelu_inner(x: Any) -> Any:
    # 0.5 * (1 + tanh(u)) is sigmoid(2 * u), which does not cancel below 0.
    return _TWICE_ROOT_TWO_OVER_PI * (x + 0.044715 * (x * x * x))


def _gelu_tanh_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    u = _gelu_inner(x)
    inner_slope = _TWICE_ROOT_TWO_OVER_PI * (1 + 0.134145 * (x * x))
    return (g * (sigmoid(u) + x * sigmoid_slope(u) * inner_slope),)


_gelu_tanh = Primitive(
    "gelu_tanh",
    forward=through_float32(lambda x: x / (1 + np.exp(-_gelu_inner(x)))),
    spec=same_spec,
    vjp=_gelu_tanh_vjp,
    lowering=Map("x / (1 + exp(-(1.5957691216057308 * (x + 0.044715 * (x * x * x)))))"),
    operands=floating,
)


def gelu(features: TensorLike, approximate: bool = False) -> Tensor:
    """Return x times the probability that a standard normal number lies below x.

    Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.

    Args:
        features: A tensor.
        approximate: Whether to use 0.5*x * (1 + tanh(sqrt(2/pi) * (x + 0.0447*x**3))).

    Raises:
        ArgumentTypeError: If approximate is not a bool.

    Example:
        >>> import gtape as gt
        >>> gt.nn.gelu([-1., 0., 1.]).numpy().round(3)
        array([-0.159,  0.   ,  0.841], dtype=float32)
    """
    by_tanh = require_flag("gelu", "approximate", approximate)
    return apply_one(_gelu_tanh if by_tanh else _gelu, features)


_silu = Primitive(
    "silu",
    forward=through_float32(lambda x: x / (1 + np.exp(-x))),
    spec=same_spec,
    vjp=lambda g, _out, x: (g * (sigmoid(x) + x * sigmoid_slope(x)),),
    lowering=Map("x / (1 + exp(-x))"),
    operands=floating,
)


def silu(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """Return x * sigmoid(beta * x), also called swish.

    Ramachandran, Zoph and Le, Searching for Activation Functions, 2017.

    Args:
        features: A tensor.
        beta: The steepness: a number, or a tensor that broadcasts to features.

    Raises:
        ArgumentTypeError: If beta is neither.

    Example:
        >>> import gtape as gt
        >>> gt.nn.silu([-1., 1.]).numpy().round(3)
        array([-0.269,  0.731], dtype=float32)
    """
    steepness = _number("silu", "beta", beta)
    if steepness == 1.0:
        return apply_one(_silu, features)
    inner = multiply(features, beta if steepness is None else steepness)
    return multiply(features, sigmoid(inner))


swish = silu


def _mish_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    s = softplus(x)
    return (g * (tanh(s) + x * sigmoid(x) * tanh_slope(s)),)


_mish = Primitive(
    "mish",
    forward=through_float32(lambda x: x * np.tanh(softplus_forward(x))),
    spec=same_spec,
    vjp=_mish_vjp,
    lowering=Map("x * tanh(maximum(x, 0) + log1p(exp(-abs(x))))"),
    operands=floating,
)


def mish(x: TensorLike) -> Tensor:
    """Return x * tanh(softplus(x)).

    Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019.

    Example:
        >>> import gtape as gt
        >>> gt.nn.mish([-1., 1.]).numpy().round(3)
        array([-0.303,  0.865], dtype=float32)
    """
    return apply_one(_mish, x)
