"""Where the words of the scalar vocabulary are written, and what all dtypes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir

from gtape.dtypes import NumpyDType
from gtape.jit.codegen.scalars import BOOL, is_float, number
from gtape.jit.codegen.vecmath import VectorMath


class Place(NamedTuple):
    """Where a word is written, and with what.

    Args:
        builder: Where to.
        dtype: The dtype of the operands.
        vector: The mathematical functions.
        flags: The fast-math flags of sums, differences and products.
    """

    builder: Any
    dtype: NumpyDType
    vector: VectorMath
    flags: tuple[str, ...]

    def number(self, value: float) -> Any:
        """Return a constant of the dtype."""
        return number(self.dtype, value)


Word = Callable[..., Any]
"""What emits a word: the place and the registers of the operands -> a register."""

COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
"""The signs of the words that compare."""


def same(p: Place, x: Any) -> Any:
    """Emit the operand itself."""
    return x


def zero(p: Place, x: Any) -> Any:
    """Emit a zero of the dtype."""
    return p.number(0)


def instruction(name: str) -> Word:
    """Return the word that is one instruction, by the name of its builder's method."""
    return lambda p, *xs: getattr(p.builder, name)(*xs)


def comparison(sign: str) -> Word:
    """Return the word that compares, false for NaN save by "!="."""

    def emit(p: Place, x: Any, y: Any) -> Any:
        if is_float(p.dtype):
            ordered = sign != "!="
            compare = p.builder.fcmp_ordered if ordered else p.builder.fcmp_unordered
        elif p.dtype.kind == "i":
            compare = p.builder.icmp_signed
        else:
            compare = p.builder.icmp_unsigned
        return compare(sign, x, y)

    return emit


def answer(value: bool) -> Word:
    """Return the word with one answer for all operands."""
    return lambda p, x: ir.Constant(BOOL, int(value))


ORDER: dict[str, Word] = {w: comparison(sign) for w, sign in COMPARISONS.items()}
BITS: dict[str, Word] = {
    "bit_and": instruction("and_"),
    "bit_or": instruction("or_"),
    "bit_xor": instruction("xor"),
    "bit_not": instruction("not_"),
}
PARTS: dict[str, Word] = {"conj": same, "real": same, "imag": zero}
WHOLE: dict[str, Word] = {
    **dict.fromkeys(("floor", "ceil", "round", "trunc"), same),
    **{"isnan": answer(False), "isinf": answer(False), "isfinite": answer(True)},
}
