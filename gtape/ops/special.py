"""Logistic, error and gamma functions and kin, stable in both tails, by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.lazy import scipy_special
from gtape.lowering import Map
from gtape.ops.arithmetic import square
from gtape.ops.common import Tensor, TensorLike, elementwise, same_spec
from gtape.ops.linear import where
from gtape.ops.logic import equal, is_inf, logical_and
from gtape.ops.math import abs, exp, is_complex, log, log1p
from gtape.ops.precision import through_float32
from gtape.ops.trig import tanh
from gtape.primitive import Primitive, floating, inexact
from gtape.spec import TensorSpec, broadcast_shapes

# --- Logistic functions ---------------------------------------------------------------


def _sigmoid_slope_forward(x: Any) -> Any:
    y = np.exp(x)
    d = 1 / y
    d += y
    d += 2
    return 1 / d


@elementwise(
    through_float32(_sigmoid_slope_forward),
    "1 / (2 + exp(x) + 1 / exp(x))",
    vjp=lambda g, out, x: (g * (-out * tanh(0.5 * x)),),
    operands=floating,
)
def sigmoid_slope(x: TensorLike) -> Tensor:
    """Return sigmoid(x) * sigmoid(-x), the derivative of sigmoid, accurate in tails."""


def _sigmoid_forward(x: Any) -> Any:
    d = np.exp(-x)
    d += 1
    return 1 / d


@elementwise(
    through_float32(_sigmoid_forward),
    "1 / (1 + exp(-x))",
    # Not out * (1 - out): that is 0 as soon as out rounds to 1.
    vjp=lambda g, _out, x: (g * sigmoid_slope(x),),
    operands=floating,
)
def sigmoid(x: TensorLike) -> Tensor:
    """Return 1 / (1 + exp(-x)).

    Example:
        >>> import gtape as gt
        >>> gt.sigmoid([-1., 0., 1.]).numpy().round(3)
        array([0.269, 0.5  , 0.731], dtype=float32)
    """


@elementwise(
    through_float32(lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))),
    "minimum(x, 0) - log1p(exp(-abs(x)))",
    vjp=lambda g, _out, x: (g * sigmoid(-x),),
    operands=floating,
)
def log_sigmoid(x: TensorLike) -> Tensor:
    """Return log(sigmoid(x)), accurate where the sigmoid rounds to 0 or 1.

    Example:
        >>> import gtape as gt
        >>> gt.log_sigmoid([-100., 0.]).numpy().round(3)
        array([-100.   ,   -0.693], dtype=float32)
    """


def softplus_forward(x: Any) -> Any:
    """Return log(1 + exp(x)) of an array without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


_softplus = Primitive(
    "softplus",
    forward=through_float32(softplus_forward),
    spec=same_spec,
    vjp=lambda g, _out, x: (g * sigmoid(x),),
    lowering=Map("maximum(x, 0) + log1p(exp(-abs(x)))"),
    operands=floating,
)


def softplus(features: TensorLike) -> Tensor:
    """Return log(1 + exp(x)), a smooth maximum of x and 0.

    Example:
        >>> import gtape as gt
        >>> gt.nn.softplus([-1000., 1000.]).numpy()
        array([   0., 1000.], dtype=float32)
    """
    return apply(_softplus, features)


_softsign = Primitive(
    "softsign",
    forward=through_float32(lambda x: x / (1 + np.abs(x))),
    spec=same_spec,
    vjp=lambda g, _out, x: (g / square(1 + abs(x)),),
    lowering=Map("x / (1 + abs(x))"),
    operands=floating,
)


def softsign(features: TensorLike) -> Tensor:
    """Return x / (1 + abs(x)).

    Example:
        >>> import gtape as gt
        >>> gt.nn.softsign([-1., 3.]).numpy()
        array([-0.5 ,  0.75], dtype=float32)
    """
    return apply(_softsign, features)


# --- Logarithms of sums and products --------------------------------------------------


def _logaddexp_vjp(g: Any, _out: Any, x: Any, y: Any) -> tuple[Any, ...]:
    def share(a: Any, b: Any) -> Any:
        # Two equal infinities share evenly, as all equal operands do.
        even = logical_and(equal(a, b), is_inf(a))
        return g * sigmoid(where(even, 0.0, a - b))

    return lambda: share(x, y), lambda: share(y, x)


@elementwise(
    np.logaddexp,
    "maximum(x, y) + log1p(exp(-abs(x - y))) if x != y else x + 0.6931471805599453",
    vjp=_logaddexp_vjp,
    operands=floating,
)
def logaddexp(x: TensorLike, y: TensorLike) -> Tensor:
    """Return log(exp(x) + exp(y)) without overflow; -inf stands for the logarithm of 0.

    Example:
        >>> import gtape as gt
        >>> gt.logaddexp(0., [0., 1000.]).numpy().round()
        array([   1., 1000.], dtype=float32)
    """


def _times_log(log: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def forward(x: Any, y: Any) -> Any:
        return np.where(x == 0, np.zeros((), x.dtype), x * log(y))

    return forward


def _no_log(x: Any, argument: Any) -> Any:
    """Where x is 0 and the logarithm of the argument is not finite."""
    if is_complex(argument):
        return (x == 0) & ((argument == 0) | (argument != argument))
    return (x == 0) & ~((argument > 0) & (argument < float("inf")))


def _xlogy_vjp(g: Any, _out: Any, x: Any, y: Any) -> tuple[Any, ...]:
    def slopes() -> tuple[Any, Any]:
        hole = _no_log(x, y)
        return hole, where(hole, 1.0, y)

    def by_x() -> Any:
        hole, safe = slopes()
        return g * where(hole, 0.0, log(safe))

    def by_y() -> Any:
        hole, safe = slopes()
        return g * where(hole, 0.0, x / safe)

    return by_x, by_y


@elementwise(
    _times_log(np.log), "x if x == 0 else x * log(y)", vjp=_xlogy_vjp, operands=inexact
)
def xlogy(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x * log(y), and 0 where x is 0, whatever y.

    The derivative by x is log(y), at x = 0 too; where x is 0 and y has no finite
    logarithm, both derivatives are 0.

    Example:
        >>> import gtape as gt
        >>> gt.xlogy([0., 2.], [0., 1.]).numpy()
        array([0., 0.], dtype=float32)
    """


def _xlog1py_vjp(g: Any, _out: Any, x: Any, y: Any) -> tuple[Any, ...]:
    def slopes() -> tuple[Any, Any]:
        hole = _no_log(x, 1 + y)
        return hole, where(hole, 0.0, y)

    def by_x() -> Any:
        hole, safe = slopes()
        return g * where(hole, 0.0, log1p(safe))

    def by_y() -> Any:
        hole, safe = slopes()
        return g * where(hole, 0.0, x / (1 + safe))

    return by_x, by_y


@elementwise(
    _times_log(np.log1p),
    "x if x == 0 else x * log1p(y)",
    vjp=_xlog1py_vjp,
    operands=inexact,
)
def xlog1py(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x * log(1 + y), and 0 where x is 0, whatever y.

    The derivative by x is log(1 + y), at x = 0 too; where x is 0 and 1 + y has no
    finite logarithm, both derivatives are 0.

    Example:
        >>> import gtape as gt
        >>> gt.xlog1py([0., 2.], [-1., 0.]).numpy()
        array([0., 0.], dtype=float32)
    """


# --- Error functions ------------------------------------------------------------------

_TWO_OVER_ROOT_PI = 1.1283791670955126
_HALF_ROOT_PI = 0.886226925452758


def _scipy(name: str) -> Callable[[Any], Any]:
    """Return the computation by a function of scipy.special, imported when it runs."""
    return through_float32(lambda x: getattr(scipy_special, name)(x))


@elementwise(
    _scipy("erf"),
    "erf(x)",
    vjp=lambda g, _out, x: (g * (_TWO_OVER_ROOT_PI * exp(-x * x)),),
    operands=floating,
)
def erf(x: TensorLike) -> Tensor:
    """Return the error function, 2/sqrt(pi) * (integral of exp(-t**2) from 0 to x).

    Example:
        >>> import gtape as gt
        >>> gt.erf([0., 1.]).numpy().round(3)
        array([0.   , 0.843], dtype=float32)
    """


@elementwise(
    _scipy("erfc"),
    "erfc(x)",
    vjp=lambda g, _out, x: (g * (-_TWO_OVER_ROOT_PI * exp(-x * x)),),
    operands=floating,
)
def erfc(x: TensorLike) -> Tensor:
    """Return 1 - erf(x), accurate where erf rounds to 1.

    Example:
        >>> import gtape as gt
        >>> gt.erfc([0., 1.]).numpy().round(3)
        array([1.   , 0.157], dtype=float32)
    """


@elementwise(
    _scipy("erfinv"),
    "erfinv(x)",
    vjp=lambda g, out, _x: (g * (_HALF_ROOT_PI * exp(out * out)),),
    operands=floating,
)
def erfinv(x: TensorLike) -> Tensor:
    """Return the number whose error function is x; infinite at -1 and 1, NaN beyond.

    Example:
        >>> import gtape as gt
        >>> gt.erfinv([0., 1.]).numpy()
        array([ 0., inf], dtype=float32)
    """


# --- Gamma functions ------------------------------------------------------------------


def _polygamma_forward(a: Any, x: Any) -> Any:
    # In float64 whatever the dtype: the factorial soon overflows the others.
    order, at = np.asarray(a).astype(np.float64), x.astype(np.float64)
    sign = np.where(order % 2 == 1, 1.0, -1.0)
    zeta, gamma = scipy_special.zeta(order + 1, at), scipy_special.gamma(order + 1)
    out = np.where(order == 0, scipy_special.psi(at), sign * gamma * zeta)
    valid = (order >= 0) & (order == np.floor(order))
    return np.where(valid, out, np.nan).astype(x.dtype)


def _polygamma_spec(a: TensorSpec, x: TensorSpec) -> TensorSpec:
    return x.with_shape(broadcast_shapes("polygamma", a.shape, x.shape))


_polygamma = Primitive(
    "polygamma",
    forward=_polygamma_forward,
    spec=_polygamma_spec,
    vjp=lambda g, _out, a, x: (None, lambda: g * polygamma(a + 1, x)),
    lowering=Map("polygamma(a, x)"),
    operands=floating,
)


def polygamma(a: TensorLike, x: TensorLike) -> Tensor:
    """Return the derivative of order a of digamma at x; there is a gradient by x only.

    For a > 0 the value is (-1)**(a+1) * a! * zeta(a+1, x), with Hurwitz's zeta function
    (Abramowitz and Stegun, Handbook of Mathematical Functions, 6.4.10).

    Args:
        a: The order, a number or a floating-point tensor; NaN results where it is not
            one of 0, 1, 2, ...
        x: Where to evaluate it. The two broadcast.

    Example:
        >>> import gtape as gt
        >>> gt.polygamma(1, 1.).numpy().round(3)
        np.float32(1.645)
    """
    return apply(_polygamma, a, x)


@elementwise(
    _scipy("psi"),
    "digamma(x)",
    vjp=lambda g, _out, x: (g * polygamma(1.0, x),),
    operands=floating,
)
def digamma(x: TensorLike) -> Tensor:
    """Return the derivative of lgamma at x.

    Example:
        >>> import gtape as gt
        >>> gt.digamma(1.).numpy().round(3)
        np.float32(-0.577)
    """


def _lgamma_forward(x: Any) -> Any:
    # SciPy says -inf at -inf and the C standard, so compiled code too, inf.
    return np.where(x == -np.inf, np.inf, scipy_special.gammaln(x))


@elementwise(
    through_float32(_lgamma_forward),
    "lgamma(x)",
    vjp=lambda g, _out, x: (g * digamma(x),),
    operands=floating,
)
def lgamma(x: TensorLike) -> Tensor:
    """Return log(abs(gamma(x))): log((n - 1)!) at a whole n, inf at 0, -1, -2, ...

    Example:
        >>> import gtape as gt
        >>> gt.lgamma([1., 5.]).numpy().round(3)
        array([0.   , 3.178], dtype=float32)
    """
