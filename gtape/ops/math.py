"""Absolute value, complex parts, roots, exponentials and logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import as_dtype
from gtape.errors import DTypeError
from gtape.lowering import Map
from gtape.ops.arithmetic import divide_no_nan, multiply, negative, subtract
from gtape.ops.common import (
    Tensor,
    TensorLike,
    convert,
    elementwise,
    numpy_dtype_of,
    renamed,
)
from gtape.ops.linear import cast, where
from gtape.primitive import Primitive, floating, inexact, number, real
from gtape.spec import TensorSpec, broadcast_shapes

# --- Absolute value and complex parts -------------------------------------------------


def is_complex(x: Any) -> bool:
    """Return whether a tensor, array or spec is complex."""
    return numpy_dtype_of(x).kind == "c"


def _real_spec(x: TensorSpec) -> TensorSpec:
    return x.with_dtype(x.dtype.real_dtype)


def _abs_vjp(g: Any, out: Any, x: Any) -> tuple[Any, ...]:
    if is_complex(x):
        return (multiply(divide_no_nan(g, out), conj(x)),)
    return (where(x > 0, g, where(x < 0, -g, 0.0)),)


_abs = Primitive(
    "abs",
    forward=np.abs,
    spec=_real_spec,
    vjp=_abs_vjp,
    lowering=Map("abs(x)"),
    operands=number,
)


def abs(x: TensorLike) -> Tensor:
    """Return the absolute value of x; the gradient at 0 is 0.

    Example:
        >>> import gtape as gt
        >>> gt.abs([-1.5, 2.]).numpy()
        array([1.5, 2. ], dtype=float32)
    """
    return apply(_abs, x)


_real = Primitive(
    "real",
    forward=np.real,
    spec=_real_spec,
    vjp=lambda g, _out, _x: (cast(g, _x.dtype),),
    lowering=Map("real(x)"),
    operands=number,
)


def real_part(input: TensorLike) -> Tensor:
    """Return the real part of a tensor.

    Example:
        >>> import gtape as gt
        >>> gt.real(3 + 4j).numpy()
        np.float64(3.0)
    """
    return apply(_real, x) if is_complex(x := convert(input)) else renamed(x)


_imag = Primitive(
    "imag",
    forward=np.imag,
    spec=_real_spec,
    vjp=lambda g, _out, _x: (
        multiply(cast(g, _x.dtype), -1j) if is_complex(_x) else None,
    ),
    lowering=Map("imag(x)"),
    operands=number,
)


def imag(input: TensorLike) -> Tensor:
    """Return the imaginary part of a tensor; zero for a real one.

    Example:
        >>> import gtape as gt
        >>> gt.imag(3 + 4j).numpy()
        np.float64(4.0)
    """
    return apply(_imag, input)


_conj = Primitive(
    "conj",
    forward=np.conj,
    spec=lambda x: x,
    vjp=lambda g, _out, _x: (conj(g),),
    lowering=Map("conj(x)"),
    operands=number,
)


def conj(x: TensorLike) -> Tensor:
    """Return the complex conjugate of x; real x itself.

    Example:
        >>> import gtape as gt
        >>> gt.conj(3 + 4j).numpy()
        np.complex128(3-4j)
    """
    return apply(_conj, x) if is_complex(x := convert(x)) else renamed(x)


def _angle_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    if not is_complex(x):
        return (None,)
    re, im = real_part(x), imag(x)
    square = re * re + im * im
    # d angle = (re d im - im d re) / |x|^2, as one complex number for the pair.
    return (
        cast(divide_no_nan(-g * im, square), x.dtype)
        - 1j * divide_no_nan(g * re, square),
    )


_angle = Primitive(
    "angle",
    forward=lambda x: np.angle(x).astype(np.real(x).dtype),
    spec=_real_spec,
    vjp=_angle_vjp,
    lowering=Map("angle(x)"),
    operands=inexact,
)


def angle(input: TensorLike) -> Tensor:
    """Return the angle of a tensor in the complex plane, in radians, in (-pi, pi].

    Example:
        >>> import gtape as gt
        >>> gt.angle(1j).numpy()
        np.float64(1.5707963267948966)
    """
    return apply(_angle, input)


def _complex_forward(re: Any, im: Any) -> Any:
    wide = np.complex64 if re.dtype == np.float32 else np.complex128
    out = np.empty(np.broadcast_shapes(re.shape, im.shape), wide)
    out.real, out.imag = re, im
    return out


_complex = Primitive(
    "complex",
    forward=_complex_forward,
    spec=lambda re, im: TensorSpec(
        broadcast_shapes("complex", re.shape, im.shape),
        "complex64" if re.dtype == "float32" else "complex128",
    ),
    vjp=lambda g, _out, _re, _im: (lambda: real_part(g), lambda: negative(imag(g))),
    lowering=Map("complex(re, im)"),
    operands=floating,
)


def complex(real: TensorLike, imag: TensorLike) -> Tensor:
    """Return real + 1j * imag.

    Args:
        real: A float32 or float64 tensor.
        imag: A tensor of the same dtype.

    Raises:
        DTypeError: If the dtype has no complex counterpart.

    Example:
        >>> import gtape as gt
        >>> gt.complex(1., 2.).numpy()
        np.complex64(1+2j)
    """
    real, imag = convert(real), convert(imag)
    for x in (real, imag):
        if as_dtype(x.dtype).name not in ("float32", "float64"):
            raise DTypeError(
                f"complex: no complex dtype has parts of {x.dtype}", "Cast"
            )
    return apply(_complex, real, imag)


# --- Differences ----------------------------------------------------------------------


@elementwise(
    lambda x, y: np.square(x - y),
    "(x - y) * (x - y)",
    vjp=lambda g, _out, x, y: (lambda: g * (2 * (x - y)), lambda: g * (2 * (y - x))),
    operands=real,
)
def _squared_difference(x: TensorLike, y: TensorLike) -> Tensor:
    """Return (x - y) ** 2 of real numbers."""


def squared_difference(x: TensorLike, y: TensorLike) -> Tensor:
    """Return (x - y) ** 2; of complex numbers conj(x - y) * (x - y).

    Example:
        >>> import gtape as gt
        >>> gt.squared_difference(5., 3.).numpy()
        np.float32(4.0)
    """
    if is_complex(convert(x)) or is_complex(convert(y)):
        difference = subtract(x, y)
        return multiply(conj(difference), difference)
    return _squared_difference(x, y)


# --- Roots ----------------------------------------------------------------------------


@elementwise(
    np.sqrt, "sqrt(x)", vjp=lambda g, out, _x: (g * 0.5 / out,), operands=inexact
)
def sqrt(x: TensorLike) -> Tensor:
    """Return the square root of x.

    Example:
        >>> import gtape as gt
        >>> gt.sqrt(9.).numpy()
        np.float32(3.0)
    """


@elementwise(
    lambda x: 1 / np.sqrt(x),
    "rsqrt(x)",
    vjp=lambda g, out, x: (g * -0.5 * out / x,),
    operands=inexact,
)
def rsqrt(x: TensorLike) -> Tensor:
    """Return 1 / sqrt(x).

    Example:
        >>> import gtape as gt
        >>> gt.rsqrt(4.).numpy()
        np.float32(0.5)
    """


@elementwise(
    np.cbrt,
    "cbrt(x)",
    vjp=lambda g, out, _x: (g / (3 * out * out),),
    operands=floating,
)
def cbrt(x: TensorLike) -> Tensor:
    """Return the real cube root of x.

    Example:
        >>> import gtape as gt
        >>> gt.cbrt(-8.).numpy()
        np.float32(-2.0)
    """


@elementwise(
    np.hypot,
    "hypot(x, y)",
    vjp=lambda g, out, x, y: (
        lambda: g * divide_no_nan(x, out),
        lambda: g * divide_no_nan(y, out),
    ),
    operands=floating,
)
def hypot(x: TensorLike, y: TensorLike) -> Tensor:
    """Return sqrt(x**2 + y**2) without overflow; the gradient at the origin is 0.

    Example:
        >>> import gtape as gt
        >>> gt.hypot(3., 4.).numpy()
        np.float32(5.0)
    """


# --- Exponentials and logarithms ------------------------------------------------------

_LN2 = 0.6931471805599453
_LN10 = 2.302585092994046


@elementwise(np.exp, "exp(x)", vjp=lambda g, out, _x: (g * out,), operands=inexact)
def exp(x: TensorLike) -> Tensor:
    """Return e**x.

    Example:
        >>> import gtape as gt
        >>> gt.exp(0.).numpy()
        np.float32(1.0)
    """


@elementwise(
    np.expm1, "expm1(x)", vjp=lambda g, out, _x: (g * (out + 1),), operands=inexact
)
def expm1(x: TensorLike) -> Tensor:
    """Return e**x - 1, exact for small x.

    Example:
        >>> import gtape as gt
        >>> gt.expm1(0.).numpy()
        np.float32(0.0)
    """


@elementwise(
    np.exp2, "exp2(x)", vjp=lambda g, out, _x: (g * (out * _LN2),), operands=inexact
)
def exp2(x: TensorLike) -> Tensor:
    """Return 2**x.

    Example:
        >>> import gtape as gt
        >>> gt.exp2(3.).numpy()
        np.float32(8.0)
    """


@elementwise(np.log, "log(x)", vjp=lambda g, _out, x: (g / x,), operands=inexact)
def log(x: TensorLike) -> Tensor:
    """Return the natural logarithm of x; NaN for negative x, -inf at 0.

    Example:
        >>> import gtape as gt
        >>> gt.log(1.).numpy()
        np.float32(0.0)
    """


@elementwise(
    np.log1p, "log1p(x)", vjp=lambda g, _out, x: (g / (1 + x),), operands=inexact
)
def log1p(x: TensorLike) -> Tensor:
    """Return log(1 + x), exact for small x.

    Example:
        >>> import gtape as gt
        >>> gt.log1p(0.).numpy()
        np.float32(0.0)
    """


@elementwise(
    np.log2, "log2(x)", vjp=lambda g, _out, x: (g / (x * _LN2),), operands=inexact
)
def log2(x: TensorLike) -> Tensor:
    """Return the logarithm of x to base 2.

    Example:
        >>> import gtape as gt
        >>> gt.log2(8.).numpy()
        np.float32(3.0)
    """


@elementwise(
    np.log10, "log10(x)", vjp=lambda g, _out, x: (g / (x * _LN10),), operands=inexact
)
def log10(x: TensorLike) -> Tensor:
    """Return the logarithm of x to base 10.

    Example:
        >>> import gtape as gt
        >>> gt.log10(1.).numpy()
        np.float32(0.0)
    """
