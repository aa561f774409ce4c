"""Arithmetic, powers and signs, element by element with broadcasting.

Reverse rules are written for one element; the tape sums a cotangent over broadcast
axes, and makes it zero where the incoming cotangent is zero and the local derivative is
not finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.errors import ArgumentError, DivisionError
from gtape.ops.common import (
    Tensor,
    TensorLike,
    convert,
    elementwise,
    numpy_dtype_of,
)
from gtape.ops.linear import where
from gtape.primitive import floating, inexact, number, quotient, real


@elementwise(np.add, "x + y", vjp=lambda g, _out, _x, _y: (g, g), operands=number)
def add(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x + y.

    Example:
        >>> import gtape as gt
        >>> gt.add([1., 2.], 10.)
        <gt.Tensor: shape=(2,), dtype=float32, numpy=array([11., 12.], dtype=float32)>
    """


@elementwise(
    np.subtract,
    "x - y",
    vjp=lambda g, _out, _x, _y: (g, lambda: -g),
    operands=number,
)
def subtract(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x - y.

    Example:
        >>> import gtape as gt
        >>> gt.subtract(5., 3.).numpy()
        np.float32(2.0)
    """


@elementwise(
    np.multiply,
    "x * y",
    vjp=lambda g, _out, x, y: (lambda: g * y, lambda: g * x),
    operands=number,
)
def multiply(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x * y.

    Example:
        >>> import gtape as gt
        >>> gt.multiply([1., 2.], [3., 4.]).numpy()
        array([3., 8.], dtype=float32)
    """


@elementwise(
    np.true_divide,
    "x / y",
    vjp=lambda g, out, _x, y: (lambda: g / y, lambda: -g * out / y),
    operands=quotient,
)
def divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x / y; two integers divide as float64, division by zero gives inf or NaN.

    Example:
        >>> import gtape as gt
        >>> gt.divide(7, 2).numpy(), gt.divide(1., 0.).numpy()
        (np.float64(3.5), np.float32(inf))
    """


def _checked_divisor(name: str, y: Any) -> None:
    if y.dtype.kind in "iu" and not np.all(y):
        raise DivisionError(
            f"{name}: an integer divided by zero", "Guard the divisor, or use floats"
        )


def _floordiv_forward(x: Any, y: Any) -> Any:
    _checked_divisor("floordiv", y)
    return np.floor_divide(x, y)


def _mod_forward(x: Any, y: Any) -> Any:
    _checked_divisor("mod", y)
    return np.remainder(x, y)


@elementwise(_floordiv_forward, "x // y", vjp=None, operands=real)
def floordiv(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x / y rounded down, as Python's `//`.

    Raises:
        DivisionError: If an integer is divided by zero.

    Example:
        >>> import gtape as gt
        >>> gt.floordiv(-7, 2).numpy()
        np.int32(-4)
    """


@elementwise(
    _mod_forward,
    "x % y",
    vjp=lambda g, _out, x, y: (g, lambda: -g * floordiv(x, y)),
    operands=real,
)
def mod(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the remainder of x / y, with the sign of y, as Python's `%`.

    Raises:
        DivisionError: If an integer is divided by zero.

    Example:
        >>> import gtape as gt
        >>> gt.mod(-7, 3).numpy()
        np.int32(2)
    """


# --- Powers ---------------------------------------------------------------------------


def _pow_forward(x: Any, y: Any) -> Any:
    if y.dtype.kind == "i" and np.any(y < 0):
        raise ArgumentError(
            f"pow: an integer to the power {np.min(y)} is not an integer",
            "Cast the base to a floating-point dtype",
        )
    return np.power(x, y)


def _pow_vjp(g: Any, out: Any, x: Any, y: Any) -> tuple[Any, ...]:
    # Not out * y / x: that divides by the base. Where y is 0 the power is constant in
    # x, but its slope changes with y: only 0 * 0**-1 and 0 * NaN are left out.
    def base() -> Any:
        hole = (y == 0) & ((x == 0) | (x != x))
        return g * where(hole, 0.0, y * pow(x, where(hole, 1.0, y - 1)))

    def exponent() -> Any:
        return g * out * log_or_zero(x)

    return base, exponent


@elementwise(_pow_forward, "x ** y", vjp=_pow_vjp, operands=number)
def _pow(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x ** y."""


def pow(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x to the power y.

    The derivative by x is y * x**(y-1), and 0 where y is 0; by y it is x**y * log(x),
    with 0 for the logarithm where x is not positive.

    Args:
        x: The base.
        y: The exponent.

    Raises:
        ArgumentError: If an integer is raised to a negative integer.

    Example:
        >>> import gtape as gt
        >>> gt.pow([1., 2., 3.], 2).numpy()
        array([1., 4., 9.], dtype=float32)
    """
    if type(y) in (int, float) and y == 2:
        x = convert(x)
        if type(y) is int or x.dtype.kind in "fcV":
            return square(x)
    return _pow(x, y)


@elementwise(np.square, "x * x", vjp=lambda g, _out, x: (g * (x + x),), operands=number)
def square(x: TensorLike) -> Tensor:
    """Return x * x.

    Example:
        >>> import gtape as gt
        >>> gt.square(3.).numpy()
        np.float32(9.0)
    """


def _masked_log(x: Any, mask: Any) -> Any:
    return np.where(mask, np.log(np.where(mask, x, 1)), 0).astype(x.dtype)


@elementwise(
    lambda x: _masked_log(x, (x > 0) | (x != x)),
    "log(x) if x > 0 or isnan(x) else 0.0",
    vjp=lambda g, _out, x: (where(x > 0, g / where(x > 0, x, 1.0), 0.0),),
    operands=floating,
)
def _real_log_or_zero(x: TensorLike) -> Tensor:
    """Return log(x), and 0 where x is not positive."""


def _complex_log_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    return (divide_no_nan(g, x),)


@elementwise(
    lambda x: _masked_log(x, x != 0),
    "log(x) if x != 0 else 0.0",
    vjp=_complex_log_vjp,
    operands=inexact,
)
def _complex_log_or_zero(x: TensorLike) -> Tensor:
    """Return log(x), and 0 where x is 0."""


def log_or_zero(x: Tensor) -> Tensor:
    """Return log(x), and 0 where x is not positive, as powers' derivatives need."""
    is_complex = numpy_dtype_of(x).kind == "c"
    return _complex_log_or_zero(x) if is_complex else _real_log_or_zero(x)


@elementwise(
    lambda x: 1 / x,
    "1 / x",
    vjp=lambda g, out, _x: (-g * out * out,),
    operands=quotient,
)
def reciprocal(x: TensorLike) -> Tensor:
    """Return 1 / x.

    Example:
        >>> import gtape as gt
        >>> gt.reciprocal(4.).numpy()
        np.float32(0.25)
    """


def _divide_no_nan_forward(x: Any, y: Any) -> Any:
    zero = y == 0
    return np.where(
        zero, np.zeros((), x.dtype), x / np.where(zero, np.ones((), y.dtype), y)
    )


def _divide_no_nan_vjp(g: Any, out: Any, _x: Any, y: Any) -> tuple[Any, ...]:
    return (lambda: divide_no_nan(g, y), lambda: -divide_no_nan(g * out, y))


@elementwise(
    _divide_no_nan_forward,
    "0 * y if y == 0 else x / y",
    vjp=_divide_no_nan_vjp,
    operands=quotient,
)
def divide_no_nan(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x / y, and 0 where y is 0.

    Example:
        >>> import gtape as gt
        >>> gt.divide_no_nan([1., 2.], [0., 4.]).numpy()
        array([0. , 0.5], dtype=float32)
    """


def _multiply_no_nan_forward(x: Any, y: Any) -> Any:
    return np.where(y == 0, np.zeros((), y.dtype), x * y)


def _multiply_no_nan_vjp(g: Any, _out: Any, x: Any, y: Any) -> tuple[Any, ...]:
    return (lambda: multiply_no_nan(g, y), lambda: multiply_no_nan(x, g))


@elementwise(
    _multiply_no_nan_forward,
    "0 * y if y == 0 else x * y",
    vjp=_multiply_no_nan_vjp,
    operands=number,
)
def multiply_no_nan(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x * y, and 0 where y is 0 even if x is infinite or NaN.

    Example:
        >>> import gtape as gt
        >>> gt.multiply_no_nan([float("nan"), 2.], [0., 4.]).numpy()
        array([0., 8.], dtype=float32)
    """


# --- Sign -----------------------------------------------------------------------------


@elementwise(np.negative, "-x", vjp=lambda g, _out, _x: (-g,), operands=number)
def negative(x: TensorLike) -> Tensor:
    """Return -x.

    Example:
        >>> import gtape as gt
        >>> gt.negative(3.).numpy()
        np.float32(-3.0)
    """


@elementwise(np.sign, "sign(x)", vjp=None, operands=number)
def sign(x: TensorLike) -> Tensor:
    """Return -1, 0 or 1 by the sign of x; for complex numbers x / abs(x).

    Example:
        >>> import gtape as gt
        >>> gt.sign([-2., 0., 3.]).numpy()
        array([-1.,  0.,  1.], dtype=float32)
    """
