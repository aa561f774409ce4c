"""Trigonometric and hyperbolic functions and their inverses, by element.

Reverse rules avoid forms that cancel: 1 - x**2 is (1 - x) * (1 + x), and the derivative
of tanh comes from the exponential, so that it keeps its relative accuracy far from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.lowering import Map
from gtape.ops.arithmetic import divide_no_nan
from gtape.ops.common import UFUNCS, Tensor, TensorLike, elementwise
from gtape.ops.math import hypot, is_complex, sqrt
from gtape.ops.precision import through_float32
from gtape.primitive import Primitive, floating, inexact
from gtape.spec import TensorSpec, broadcast_shapes

# --- Trigonometric functions ----------------------------------------------------------


def _sin_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    return (g * cos(x),)


@elementwise(np.sin, "sin(x)", vjp=_sin_vjp, operands=inexact)
def sin(x: TensorLike) -> Tensor:
    """Return the sine of x, in radians.

    Example:
        >>> import gtape as gt
        >>> gt.sin([0., 1.]).numpy().round(3)
        array([0.   , 0.841], dtype=float32)
    """


@elementwise(np.cos, "cos(x)", vjp=lambda g, _out, x: (-g * sin(x),), operands=inexact)
def cos(x: TensorLike) -> Tensor:
    """Return the cosine of x, in radians.

    Example:
        >>> import gtape as gt
        >>> gt.cos(0.).numpy()
        np.float32(1.0)
    """


@elementwise(
    np.tan, "tan(x)", vjp=lambda g, out, _x: (g * (1 + out * out),), operands=inexact
)
def tan(x: TensorLike) -> Tensor:
    """Return the tangent of x, in radians.

    Example:
        >>> import gtape as gt
        >>> gt.tan(0.).numpy()
        np.float32(0.0)
    """


# Subtracting 1 or -1 from a complex number keeps the sign of a zero imaginary part,
# which tells the side of a branch cut; adding 1, or subtracting from 1, would lose it.


def _one_minus_square(x: Any) -> Any:
    """Return 1 - x**2: exact near -1 and 1, on the right side of a branch cut."""
    return -((x - 1) * (x - -1)) if is_complex(x) else (1 - x) * (1 + x)


@elementwise(
    np.arcsin,
    "asin(x)",
    vjp=lambda g, _out, x: (g / sqrt(_one_minus_square(x)),),
    operands=inexact,
)
def asin(x: TensorLike) -> Tensor:
    """Return the angle in [-pi/2, pi/2] whose sine is x; NaN for real x beyond -1 or 1.

    Example:
        >>> import gtape as gt
        >>> gt.asin([0., 1.]).numpy().round(3)
        array([0.   , 1.571], dtype=float32)
    """


@elementwise(
    np.arccos,
    "acos(x)",
    vjp=lambda g, _out, x: (-g / sqrt(_one_minus_square(x)),),
    operands=inexact,
)
def acos(x: TensorLike) -> Tensor:
    """Return the angle in [0, pi] whose cosine is x; NaN for real x beyond -1 or 1.

    Example:
        >>> import gtape as gt
        >>> gt.acos([0., 1.]).numpy().round(3)
        array([1.571, 0.   ], dtype=float32)
    """


@elementwise(
    np.arctan, "atan(x)", vjp=lambda g, _out, x: (g / (1 + x * x),), operands=inexact
)
def atan(x: TensorLike) -> Tensor:
    """Return the angle in (-pi/2, pi/2) whose tangent is x.

    Example:
        >>> import gtape as gt
        >>> gt.atan(1.).numpy().round(3)
        np.float32(0.785)
    """


def _atan2_spec(y: TensorSpec, x: TensorSpec) -> TensorSpec:
    return y.with_shape(broadcast_shapes("atan2", y.shape, x.shape))


def _atan2_vjp(g: Any, _out: Any, y: Any, x: Any) -> tuple[Any, ...]:
    # Two divisions by the radius: its square would overflow, or vanish if it is tiny.
    def over_square(t: Any) -> Any:
        radius = hypot(y, x)
        return divide_no_nan(divide_no_nan(t, radius), radius)

    return lambda: g * over_square(x), lambda: -g * over_square(y)


_atan2 = Primitive(
    "atan2",
    forward=np.arctan2,
    spec=_atan2_spec,
    vjp=_atan2_vjp,
    lowering=Map("atan2(y, x)"),
    operands=floating,
)


def atan2(y: TensorLike, x: TensorLike) -> Tensor:
    """Return the angle of the point (x, y), in [-pi, pi]; the gradient at (0, 0) is 0.

    Args:
        y: The ordinate, which comes first, as in y / x.
        x: The abscissa.

    Example:
        >>> import gtape as gt
        >>> gt.atan2(1., -1.).numpy().round(3)
        np.float32(2.356)
    """
    return apply(_atan2, y, x)


UFUNCS[np.arctan2] = atan2

# --- Hyperbolic functions -------------------------------------------------------------


def _sinh_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    return (g * cosh(x),)


@elementwise(np.sinh, "sinh(x)", vjp=_sinh_vjp, operands=inexact)
def sinh(x: TensorLike) -> Tensor:
    """Return the hyperbolic sine of x.

    Example:
        >>> import gtape as gt
        >>> gt.sinh(0.).numpy()
        np.float32(0.0)
    """


@elementwise(
    np.cosh, "cosh(x)", vjp=lambda g, _out, x: (g * sinh(x),), operands=inexact
)
def cosh(x: TensorLike) -> Tensor:
    """Return the hyperbolic cosine of x.

    Example:
        >>> import gtape as gt
        >>> gt.cosh(0.).numpy()
        np.float32(1.0)
    """


def _tanh_slope_forward(x: Any) -> Any:
    y = np.exp(x)
    d = 1 / y
    d += y
    d = 2 / d
    d *= d
    return d


def _tanh_slope_vjp(g: Any, out: Any, x: Any) -> tuple[Any, ...]:
    return (g * (-2 * out * tanh(x)),)


@elementwise(
    through_float32(_tanh_slope_forward),
    "(2 / (exp(x) + 1 / exp(x))) * (2 / (exp(x) + 1 / exp(x)))",
    vjp=_tanh_slope_vjp,
    operands=floating,
)
def tanh_slope(x: TensorLike) -> Tensor:
    """Return 1 / cosh(x)**2, the derivative of tanh, accurate in its tails."""


def _tanh_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    if is_complex(x):
        out = tanh(x)
        return (g * (1 - out * out),)
    return (g * tanh_slope(x),)


@elementwise(np.tanh, "tanh(x)", vjp=_tanh_vjp, operands=inexact)
def tanh(x: TensorLike) -> Tensor:
    """Return the hyperbolic tangent of x.

    Example:
        >>> import gtape as gt
        >>> gt.tanh([0., 1.]).numpy().round(3)
        array([0.   , 0.762], dtype=float32)
    """


# --- Inverse hyperbolic functions -----------------------------------------------------


def _asinh_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    if is_complex(x):
        return (g / sqrt(1 + x * x),)
    return (g / hypot(x, 1.0),)  # the square of a large x would overflow


@elementwise(np.arcsinh, "asinh(x)", vjp=_asinh_vjp, operands=inexact)
def asinh(x: TensorLike) -> Tensor:
    """Return the number whose hyperbolic sine is x.

    Example:
        >>> import gtape as gt
        >>> gt.asinh(1.).numpy().round(3)
        np.float32(0.881)
    """


@elementwise(
    np.arccosh,
    "acosh(x)",
    # Two roots: the square of a large x would overflow, and one root of a complex
    # product may lie on the wrong branch.
    vjp=lambda g, _out, x: (g / (sqrt(x - 1) * sqrt(x - -1)),),
    operands=inexact,
)
def acosh(x: TensorLike) -> Tensor:
    """Return the number from 0 up whose hyperbolic cosine is x; NaN for real x below 1.

    Example:
        >>> import gtape as gt
        >>> gt.acosh(2.).numpy().round(3)
        np.float32(1.317)
    """


@elementwise(
    np.arctanh,
    "atanh(x)",
    vjp=lambda g, _out, x: (g / ((1 - x) * (1 + x)),),
    operands=inexact,
)
def atanh(x: TensorLike) -> Tensor:
    """Return the number whose hyperbolic tangent is x; NaN for real x beyond -1 or 1.

    Example:
        >>> import gtape as gt
        >>> gt.atanh(0.5).numpy().round(3)
        np.float32(0.549)
    """
