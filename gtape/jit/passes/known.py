"""What rules of `simplify` ask: constants of one value, and what made a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from gtape.jit.graph.ir import Atom, Literal, Op, Value

Made: TypeAlias = "Mapping[Value, Op]"
"""The operation that each value of a graph comes from."""

_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def constant(atom: Atom) -> Any:
    """Return the number that all elements of a constant are, `None` if there is none.

    Zeros of either sign in one array are not one number.
    """
    if not isinstance(atom, Literal) or atom.array.size == 0:
        return None
    flat = np.ravel(atom.array)
    first = flat[0]
    if flat.size > 1 and flat.tobytes() != first.tobytes() * flat.size:
        return None
    return first


def is_number(atom: Atom, number: float, negative_zero: bool = False) -> bool:
    """Return whether a constant is a number, with its sign if it is zero.

    Args:
        atom: The operand.
        number: The number, such as 0.
        negative_zero: Which zero of the floats is meant.
    """
    found = constant(atom)
    if found is None or found.dtype.kind in "bc" or found != number:
        return False
    if number != 0 or found.dtype.kind in "iu":
        return True
    return bool(np.signbit(np.float64(found))) == negative_zero


def made_by(atom: Atom, made: Made, name: str) -> Op | None:
    """Return the operation of a name that an operand comes from, if it does."""
    node = made.get(atom) if isinstance(atom, Value) else None
    return node if node is not None and node.primitive.name == name else None


def keeps_all(source: Any, target: Any) -> bool:
    """Return whether a dtype holds every number of another, whatever comes after.

    Args:
        source: The dtype of the numbers.
        target: The dtype that they are converted to.
    """
    a, b = source.kind, target.kind
    a, b = ("f" if kind == "V" else kind for kind in (a, b))
    if source == target:
        return True
    if b in "iu":
        return a in "biu" and bool(np.can_cast(source, target, "safe"))
    if b != "f":
        return False
    if a == "f":
        # bfloat16 has the exponents of float32; float16 has neither's.
        wider = _DIGITS[target.name] > _DIGITS[source.name]
        return wider and (source.name, target.name) != ("bfloat16", "float16")
    bits = {"b": 1}.get(a, 8 * source.itemsize - (a == "i"))
    return a in "biu" and bits <= _DIGITS[target.name]


def power_of_two(atom: Atom) -> Any:
    """Return the reciprocal of a constant where it is exact, `None` elsewhere."""
    found = constant(atom)
    if found is None or found.dtype.name not in ("float32", "float64"):
        return None
    mantissa, exponent = np.frexp(found)
    least = np.finfo(found.dtype).minexp
    # Subnormal reciprocals are exact, too, but some processors take them for zero.
    if abs(mantissa) != 0.5 or not least + 2 < exponent < -least:
        return None
    return found.dtype.type(1) / found
