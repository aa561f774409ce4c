"""The words of the scalar vocabulary on registers: one table for each kind of dtype.

Everything is branch-free, so that LLVM can turn a loop around it into vector code; what
needs a loop is a call. No result is undefined: division by zero, shifts beyond the
width and the like give what NumPy gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gtape.errors import DTypeError
from gtape.jit.codegen.floats import FLOATS
from gtape.jit.codegen.integers import BOOLS, INTEGERS
from gtape.jit.codegen.place import COMPARISONS, Place
from gtape.jit.codegen.scalars import intrinsic, is_float, rounded

# Words whose results every format has exactly if it has the operands.
_EXACT = {
    *("neg", "abs", "sign", "floor", "ceil", "round", "trunc", "conj", "real", "imag"),
    *("minimum", "maximum", "copysign", "nextafter"),
    *COMPARISONS,
    *("isnan", "isinf", "isfinite"),
}


def emit_word(place: Place, word: str, operands: Sequence[Any]) -> Any:
    """Emit a word of the vocabulary and return its value, an i1 for a bool.

    Args:
        place: Where to, and the dtype of the operands.
        word: Any word but select and the logical ones, which take several dtypes.
        operands: The registers.

    Raises:
        DTypeError: If the word is not for this dtype.
    """
    dtype = place.dtype
    table = BOOLS if dtype.kind == "b" else FLOATS if is_float(dtype) else INTEGERS
    if word not in table:
        raise DTypeError(
            f"{word} of {dtype} is not compiled", "Cast to a dtype that it takes"
        )
    out = table[word](place, *operands)
    return out if word in _EXACT else rounded(place.builder, out, dtype)


def known_power(place: Place, x: Any, exponent: float) -> Any:
    """Emit x to a power known now, if there is a simple way; else return `None`.

    A float is squared, inverted and so on just as NumPy does it for such exponents.
    """
    builder, dtype = place.builder, place.dtype
    if dtype.kind in "iu":
        if not isinstance(exponent, int) or exponent < 0:
            return None
        return _repeated(place, x, exponent)
    if not is_float(dtype):
        return None
    if exponent == 0.5:
        return rounded(builder, intrinsic(builder, "llvm.sqrt", x), dtype)
    if exponent == -1:
        return rounded(builder, builder.fdiv(place.number(1), x), dtype)
    if exponent in (0, 1):
        return x if exponent else place.number(1)
    if exponent in (2, 3):
        # Without flags: a sum around it must not change what the square is.
        square = builder.fmul(x, x)
        return rounded(
            builder, square if exponent == 2 else builder.fmul(square, x), dtype
        )
    return None


def _repeated(place: Place, x: Any, exponent: int) -> Any:
    out, factor = place.number(1), x
    while exponent:
        if exponent & 1:
            out = place.builder.mul(out, factor)
        exponent >>= 1
        if exponent:
            factor = place.builder.mul(factor, factor)
    return out
