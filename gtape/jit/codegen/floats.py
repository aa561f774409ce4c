"""The words of the scalar vocabulary on floating-point numbers.

Those of float16 and bfloat16 are computed in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen import specials
from gtape.jit.codegen.place import ORDER, PARTS, Place, Word, instruction
from gtape.jit.codegen.scalars import (
    DOUBLE,
    bits_of,
    fabs,
    intrinsic,
    of_bits,
    register_type,
    smallest,
)
from gtape.jit.codegen.vecmath import VectorMath

_FLOAT32, _FLOAT64 = as_numpy_dtype("float32"), as_numpy_dtype("float64")


def _flagged(name: str) -> Word:
    return lambda p, x, y: getattr(p.builder, name)(x, y, flags=p.flags)


def _intrinsic(name: str) -> Word:
    return lambda p, *xs: intrinsic(p.builder, f"llvm.{name}", *xs)


def _library(p: Place, name: str, *operands: Any) -> Any:
    computed = _FLOAT64 if p.dtype.itemsize == 8 else _FLOAT32
    return p.vector.call(p.builder, name, computed, operands)


def _of_library(name: str) -> Word:
    return lambda p, *xs: _library(p, name, *xs)


def _in_double(emit: Callable[..., Any]) -> Word:
    """Return a word that computes in float64 whatever the dtype."""

    def inner(p: Place, *operands: Any) -> Any:
        b, kind = p.builder, register_type(p.dtype)
        if kind == DOUBLE:
            return emit(b, p.vector, *operands)
        out = emit(b, p.vector, *[b.fpext(x, DOUBLE) for x in operands])
        return b.fptrunc(out, kind)

    return inner


def _lgamma(builder: Any, vector: VectorMath, x: Any) -> Any:
    # It also sets the global `signgam`, which nobody reads.
    return vector.call(builder, "lgamma", _FLOAT64, [x])


def _isnan(p: Place, x: Any) -> Any:
    return p.builder.fcmp_unordered("uno", x, x)


def _isinf(p: Place, x: Any) -> Any:
    size = fabs(p.builder, x)
    return p.builder.fcmp_ordered("==", size, p.number(math.inf))


def _isfinite(p: Place, x: Any) -> Any:
    size = fabs(p.builder, x)
    return p.builder.fcmp_ordered("<", size, p.number(math.inf))


def _rsqrt(p: Place, x: Any) -> Any:
    return p.builder.fdiv(p.number(1), intrinsic(p.builder, "llvm.sqrt", x))


def _sign(p: Place, x: Any) -> Any:
    b, zero = p.builder, p.number(0)
    out = b.select(b.fcmp_ordered("==", x, zero), zero, x)  # a NaN stays
    out = b.select(b.fcmp_ordered("<", x, zero), p.number(-1), out)
    return b.select(b.fcmp_ordered(">", x, zero), p.number(1), out)


def _extremum(sign: str) -> Word:
    def emit(p: Place, x: Any, y: Any) -> Any:
        first = p.builder.or_(p.builder.fcmp_ordered(sign, x, y), _isnan(p, x))
        return p.builder.select(first, x, y)

    return emit


def _floordiv(p: Place, x: Any, y: Any) -> Any:
    """From the exact remainder: the quotient rounded to a float may be one too many."""
    b, zero, one = p.builder, p.number(0), p.number(1)
    plain = b.fdiv(x, y)
    rest, off = _remainder(p, x, y)
    exact = b.fdiv(b.fsub(x, rest), y)
    exact = b.select(off, b.fsub(exact, one), exact)
    whole = intrinsic(b, "llvm.floor", exact)
    more = b.fcmp_ordered(">", b.fsub(exact, whole), p.number(0.5))
    whole = b.select(more, b.fadd(whole, one), whole)
    empty = intrinsic(b, "llvm.copysign", zero, plain)
    whole = b.select(b.fcmp_ordered("==", exact, zero), empty, whole)
    return b.select(b.fcmp_ordered("==", y, zero), plain, whole)


def _mod(p: Place, x: Any, y: Any) -> Any:
    b, zero = p.builder, p.number(0)
    rest, off = _remainder(p, x, y)
    out = b.select(off, b.fadd(rest, y), rest)
    empty = b.fcmp_ordered("==", rest, zero)
    return b.select(empty, intrinsic(b, "llvm.copysign", zero, y), out)


def _remainder(p: Place, x: Any, y: Any) -> tuple[Any, Any]:
    """Return the remainder with the sign of x, and whether y has the other sign."""
    b, zero = p.builder, p.number(0)
    rest = _library(p, "fmod", x, y)
    signs = b.fcmp_ordered("<", rest, zero), b.fcmp_ordered("<", y, zero)
    some = b.fcmp_ordered("!=", rest, zero)
    return rest, b.and_(some, b.xor(*signs))


def _nextafter(p: Place, x: Any, y: Any) -> Any:
    """On the bits: they count the numbers of one sign in order of their size."""
    b, zero = p.builder, p.number(0)
    bits = bits_of(b, x, p.dtype)
    one = ir.Constant(bits.type, 1)
    inward = b.xor(b.fcmp_ordered("<", x, y), b.fcmp_ordered(">", x, zero))
    moved = b.select(inward, b.sub(bits, one), b.add(bits, one))
    least = intrinsic(b, "llvm.copysign", p.number(smallest(p.dtype)), y)
    out = of_bits(b, moved, p.dtype)
    out = b.select(b.fcmp_ordered("==", x, zero), least, out)
    out = b.select(b.fcmp_ordered("==", x, y), y, out)
    return b.select(b.fcmp_unordered("uno", x, y), b.fadd(x, y), out)


def _angle(p: Place, x: Any) -> Any:
    b = p.builder
    ahead = intrinsic(b, "llvm.copysign", p.number(1), x)
    back = b.fcmp_ordered("<", ahead, p.number(0))
    out = b.select(back, p.number(math.pi), p.number(0))
    return b.select(_isnan(p, x), x, out)


FLOATS: dict[str, Word] = {
    **ORDER,
    **PARTS,
    **{"add": _flagged("fadd"), "sub": _flagged("fsub"), "mul": _flagged("fmul")},
    **{"div": instruction("fdiv"), "neg": instruction("fneg")},
    **{"floordiv": _floordiv, "mod": _mod, "rsqrt": _rsqrt, "sign": _sign},
    **{"minimum": _extremum("<="), "maximum": _extremum(">=")},
    **{"isnan": _isnan, "isinf": _isinf, "isfinite": _isfinite},
    **{"nextafter": _nextafter, "angle": _angle},
    **{"abs": _intrinsic("fabs"), "round": _intrinsic("rint")},
    **{w: _intrinsic(w) for w in ("sqrt", "floor", "ceil", "trunc", "copysign")},
    **{w: _of_library(w) for w in ("exp", "exp2", "expm1")},
    **{w: _of_library(w) for w in ("log", "log2", "log10", "log1p")},
    **{w: _of_library(w) for w in ("sin", "cos", "tan", "asin", "acos", "atan")},
    **{w: _of_library(w) for w in ("sinh", "cosh", "tanh")},
    **{w: _of_library(w) for w in ("asinh", "acosh", "atanh")},
    **{w: _of_library(w) for w in ("erf", "erfc", "cbrt", "pow", "atan2", "hypot")},
    **{"lgamma": _in_double(_lgamma), "erfinv": _in_double(specials.erfinv)},
    "digamma": _in_double(specials.digamma),
    "polygamma": _in_double(specials.polygamma),
}
