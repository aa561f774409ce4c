"""The words of the scalar vocabulary on bools and integers."""

from __future__ import annotations

from typing import Any

from gtape.jit.codegen import specials
from gtape.jit.codegen.place import (
    BITS,
    ORDER,
    PARTS,
    WHOLE,
    Place,
    Word,
    comparison,
    instruction,
    same,
)

BOOLS: dict[str, Word] = {
    **ORDER,
    **BITS,
    **PARTS,
    **WHOLE,
    "abs": same,
    # As NumPy: a sum of bools is their disjunction.
    "add": instruction("or_"),
    "mul": instruction("and_"),
    "maximum": instruction("or_"),
    "minimum": instruction("and_"),
}


def _less(p: Place, x: Any, y: Any) -> Any:
    return ORDER["lt"](p, x, y)


def _division(quotient: bool) -> Word:
    """Return the quotient rounded down, or the remainder with the divisor's sign."""

    def emit(p: Place, x: Any, y: Any) -> Any:
        b, zero, one = p.builder, p.number(0), p.number(1)
        by_zero = b.icmp_unsigned("==", y, zero)
        if p.dtype.kind == "u":
            y = b.select(by_zero, one, y)
            out = b.udiv(x, y) if quotient else b.urem(x, y)
            return b.select(by_zero, zero, out)
        # Processors stop at the least number over -1 too. Over 1 it is what NumPy has.
        lowest = p.number(-(1 << (x.type.width - 1)))
        least = b.icmp_unsigned("==", x, lowest)
        overflow = b.and_(least, b.icmp_unsigned("==", y, p.number(-1)))
        y = b.select(b.or_(by_zero, overflow), one, y)
        rest = b.srem(x, y)
        unlike = b.icmp_signed("<", b.xor(rest, y), zero)
        off = b.and_(b.icmp_unsigned("!=", rest, zero), unlike)
        if quotient:
            out = b.sdiv(x, y)
            out = b.select(off, b.sub(out, one), out)
        else:
            out = b.select(off, b.add(rest, y), rest)
        return b.select(by_zero, zero, out)

    return emit


def _integer_abs(p: Place, x: Any) -> Any:
    if p.dtype.kind == "u":
        return x
    return p.builder.select(_less(p, x, p.number(0)), p.builder.neg(x), x)


def _integer_sign(p: Place, x: Any) -> Any:
    b, zero, one = p.builder, p.number(0), p.number(1)
    not_below = b.select(b.icmp_unsigned("==", x, zero), zero, one)
    return b.select(_less(p, x, zero), p.number(-1), not_below)


def _left(p: Place, x: Any, y: Any) -> Any:
    b, width = p.builder, x.type.width
    inside = b.icmp_unsigned("<", y, p.number(width))
    shifted = b.shl(x, b.and_(y, p.number(width - 1)))
    return b.select(inside, shifted, p.number(0))


def _right(p: Place, x: Any, y: Any) -> Any:
    b, width = p.builder, x.type.width
    inside = b.icmp_unsigned("<", y, p.number(width))
    if p.dtype.kind == "i":  # beyond the width only the sign stays
        return b.ashr(x, b.select(inside, y, p.number(width - 1)))
    shifted = b.lshr(x, b.and_(y, p.number(width - 1)))
    return b.select(inside, shifted, p.number(0))


def _integer_extremum(sign: str) -> Word:
    def emit(p: Place, x: Any, y: Any) -> Any:
        return p.builder.select(comparison(sign)(p, x, y), x, y)

    return emit


INTEGERS: dict[str, Word] = {
    **ORDER,
    **BITS,
    **PARTS,
    **WHOLE,
    **{"add": instruction("add"), "sub": instruction("sub")},
    **{"mul": instruction("mul"), "neg": instruction("neg")},
    **{"floordiv": _division(True), "mod": _division(False)},
    **{"abs": _integer_abs, "sign": _integer_sign},
    **{"shl": _left, "shr": _right},
    **{"minimum": _integer_extremum("<="), "maximum": _integer_extremum(">=")},
    "pow": lambda p, x, y: specials.integer_power(p.builder, x, y),
}
