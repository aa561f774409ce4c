"""`Size`: an axis length that is known only when a traced function runs.

A polynomial of unknowns with integer coefficients. Comparisons are decided by what is
known of the unknowns; where that is not enough, by the sizes of the call that is being
traced, and its owner notes the decision: the trace holds for calls that decide alike.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from gtape.atoms import INFINITE, Owner, least_of
from gtape.atoms import Rounded as Rounded
from gtape.atoms import Unknown as Unknown

Integer: TypeAlias = "int | Size"

_ROUNDINGS: dict[str, Callable[..., Any]] = {
    "//": operator.floordiv,
    "%": operator.mod,
}
_RELATIONS: dict[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

Atom: TypeAlias = "Unknown | Rounded"
Monomial: TypeAlias = "tuple[Atom, ...]"


class Size:
    """An integer that is known only when a traced function runs.

    Args:
        terms: The coefficient of each product of atoms.
    """

    __slots__ = ("terms",)

    __array_ufunc__ = None  # NumPy arrays leave it to the operators below

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms

    # --- What it is -------------------------------------------------------------------

    @property
    def unknown(self) -> Unknown | None:
        """The unknown that this size is, `None` if it is an expression."""
        if len(self.terms) == 1:
            [(monomial, coefficient)] = self.terms
            if coefficient == 1 and len(monomial) == 1:
                [atom] = monomial
                return atom if isinstance(atom, Unknown) else None
        return None

    def unknowns(self) -> set[Unknown]:
        """Return the unknowns it depends on."""
        found: set[Unknown] = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                if isinstance(atom, Unknown):
                    found.add(atom)
                else:
                    for part in (atom.left, atom.right):
                        found |= part.unknowns() if isinstance(part, Size) else set()
        return found

    def value(self, sizes: Mapping[Unknown, int]) -> int:
        """Return the number in a call.

        Args:
            sizes: The length that each unknown has.
        """
        return sum(
            coefficient * math.prod([atom.value(sizes) for atom in monomial])
            for monomial, coefficient in self.terms
        )

    def hint(self) -> int | None:
        """Return the number in the call that is traced, `None` where nobody knows."""
        unknowns = self.unknowns()
        sizes = {u: u.hint for u in unknowns if u.hint is not None}
        return self.value(sizes) if len(sizes) == len(unknowns) else None

    @property
    def least(self) -> float:
        """A lower bound."""
        total = 0.0
        for monomial, coefficient in self.terms:
            bounds = [atom.least for atom in monomial]
            if len(bounds) > 1 and min(bounds) < 0:
                return -INFINITE  # two such factors may be anything
            if coefficient < 0:
                bounds = [atom.greatest for atom in monomial]
                if INFINITE in bounds:
                    return -INFINITE
            total += coefficient * math.prod(bounds)
        return total

    @property
    def owner(self) -> Owner:
        """The trace it belongs to."""
        for unknown in self.unknowns():
            if unknown.owner is not None:
                return unknown.owner
        raise ValueError(f"size {self!r} belongs to no trace")

    # --- Arithmetic -------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        if not _is_integer(other):
            return _beside(operator.add, self, other)
        total = dict(self.terms)
        for monomial, coefficient in _terms(other):
            total[monomial] = total.get(monomial, 0) + coefficient
        return _made(total)

    def __mul__(self, other: Any) -> Any:
        if not _is_integer(other):
            return _beside(operator.mul, self, other)
        total: dict[Monomial, int] = {}
        for (a, p), (b, q) in itertools.product(self.terms, _terms(other)):
            monomial = tuple(sorted((*a, *b), key=_order))
            total[monomial] = total.get(monomial, 0) + p * q
        return _made(total)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Size:
        return self

    def __sub__(self, other: Any) -> Any:
        if not _is_integer(other):
            return _beside(operator.sub, self, other)
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __floordiv__(self, other: Any) -> Any:
        return _rounded("//", self, other)

    def __mod__(self, other: Any) -> Any:
        return _rounded("%", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _rounded("//", other, self)

    def __rmod__(self, other: Any) -> Any:
        return _rounded("%", other, self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __truediv__(self, other: Any) -> Any:
        return self.owner.tensor(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.owner.tensor(self)

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, int) and 0 <= other <= 8:
            return math.prod([self] * other)
        return self.owner.tensor(self) ** other

    def __rpow__(self, other: Any) -> Any:
        return other ** self.owner.tensor(self)

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    # --- Comparisons ------------------------------------------------------------------

    def __eq__(self, other: object) -> Any:
        if isinstance(other, float) and other.is_integer():
            other = int(other)
        if not _is_integer(other):
            return False if isinstance(other, float) else NotImplemented
        return _equal(self, other)

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return NotImplemented if same is NotImplemented else not same

    def __lt__(self, other: Any) -> Any:
        return _ordered("<", self, other)

    def __ge__(self, other: Any) -> Any:
        return _ordered(">=", self, other)

    def __gt__(self, other: Any) -> Any:
        return _ordered(">", self, other)

    def __le__(self, other: Any) -> Any:
        return _ordered("<=", self, other)

    def __bool__(self) -> bool:
        return not _equal(self, 0)

    def __hash__(self) -> int:
        return hash(self.terms)

    # --- As a number ------------------------------------------------------------------

    def __index__(self) -> int:
        return self.owner.number(self)

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.owner.number(self))

    def __round__(self, digits: int | None = None) -> Size:
        return self

    def __trunc__(self) -> Size:
        return self

    __floor__ = __ceil__ = __trunc__

    def __repr__(self) -> str:
        parts = []
        for monomial, coefficient in self.terms:
            factors = [
                atom.name if isinstance(atom, Unknown) else f"({atom.name})"
                for atom in monomial
            ]
            if coefficient != 1 or not factors:
                factors.insert(0, str(coefficient))
            parts.append("*".join(factors))
        return "+".join(parts).replace("+-", "-")

    def __format__(self, spec: str) -> str:
        # In an expression it is one operand: index expressions are made of text.
        text = repr(self)
        return format(text if self.unknown is not None else f"({text})", spec)


def size_of_unknown(unknown: Unknown) -> Size:
    """Return an unknown as a size."""
    return Size((((unknown,), 1),))


def value_of(size: Integer, sizes: Mapping[Unknown, int]) -> int:
    """Return the number that a size is in a call."""
    return size.value(sizes) if isinstance(size, Size) else size


def is_size(value: Any) -> bool:
    """Return whether a value is a size that is not known yet."""
    return type(value) is Size


def is_open(value: Any) -> bool:
    """Return whether a value is a size that depends on data: nobody can guess it."""
    if type(value) is not Size or value.hint() is not None:
        return False
    return any(u.owner is not None for u in value.unknowns())


def is_at_least(size: Integer, number: int) -> bool:
    """Return whether a size surely is a number or more; nothing is noted."""
    difference = size - number
    return (least_of(difference) if is_size(difference) else difference) >= 0


def same_size(a: Any, b: Any) -> bool:
    """Return whether two sizes are the same expression; nothing is noted."""
    if type(a) is Size or type(b) is Size:
        return type(a) is type(b) and a.terms == b.terms
    return bool(a == b)


def same_shape(a: Any, b: Any) -> bool:
    """Return whether two shapes are the same expressions; nothing is noted."""
    return len(a) == len(b) and all(same_size(x, y) for x, y in zip(a, b, strict=True))


def _is_integer(value: object) -> bool:
    return type(value) is Size or isinstance(value, (int, np.integer))


def _terms(value: Any) -> Any:
    return value.terms if type(value) is Size else ((((), int(value)),))


def _order(atom: Atom) -> int:
    return atom.number


def _made(terms: dict[Monomial, int]) -> Integer:
    """Return the polynomial of the terms, or a number if it is one."""
    left = {m: c for m, c in terms.items() if c}
    if not left:
        return 0
    if left.keys() == {()}:
        return left[()]
    ordered = sorted(left.items(), key=lambda t: (-len(t[0]), [*map(_order, t[0])]))
    return Size(tuple(ordered))


def _beside(operation: Callable[..., Any], size: Size, other: Any) -> Any:
    """Return the result beside what is no integer; tensors see to it themselves."""
    if isinstance(other, (float, complex, np.ndarray, np.generic)):
        return operation(size.owner.tensor(size), other)
    return NotImplemented


def _rounded(relation: str, left: Any, right: Any) -> Any:
    if not _is_integer(right):
        return _beside(_ROUNDINGS[relation], left, right)
    if not _is_integer(left):
        return NotImplemented
    if type(right) is not Size:
        right = int(right)
        if right == 0:
            raise ZeroDivisionError(f"{left} {relation} 0")
        even = {m: c for m, c in _terms(left) if c % right == 0}
        odd = {m: c for m, c in _terms(left) if c % right}
        rest = _made(odd)
        if type(rest) is not Size:
            quotient = _made({m: c // right for m, c in even.items()})
            return quotient + rest // right if relation == "//" else rest % right
        if relation == "%":
            return _made({((Rounded("%", rest, right)),): 1})
        quotient = _made({m: c // right for m, c in even.items()})
        return _made({((Rounded("//", rest, right)),): 1}) + quotient
    if type(left) is Size:
        if left.terms == right.terms:
            return 1 if relation == "//" else 0
        shared = _divided(left, right)
        if shared is not None:
            return shared if relation == "//" else 0
    return _made({((Rounded(relation, left, right)),): 1})


def _divided(left: Size, right: Size) -> Integer | None:
    """Return left / right where right is one product and divides every term."""
    if len(right.terms) != 1:
        return None
    [(divisor, factor)] = right.terms
    out: dict[Monomial, int] = {}
    for monomial, coefficient in left.terms:
        rest = list(monomial)
        for atom in divisor:
            if atom not in rest:
                return None
            rest.remove(atom)
        if coefficient % factor:
            return None
        out[tuple(rest)] = coefficient // factor
    return _made(out)


def _equal(left: Any, right: Any) -> bool:
    difference = left - right
    if type(difference) is not Size:
        return bool(difference == 0)
    if least_of(difference) > 0 or least_of(-difference) > 0:
        return False
    return difference.owner.decide("==", left, right)


def _less(left: Any, right: Any) -> bool:
    difference = right - left
    if type(difference) is not Size:
        return bool(difference > 0)
    if least_of(difference) > 0:
        return True
    if least_of(-difference) >= 0:
        return False
    return difference.owner.decide("<", left, right)


def _ordered(relation: str, size: Size, other: Any) -> Any:
    if isinstance(other, (float, np.floating)):
        if not math.isfinite(other):
            return _RELATIONS[relation](0, float(other))  # as of any number
        other = math.ceil(other) if relation in ("<", ">=") else math.floor(other)
    if not _is_integer(other):
        return NotImplemented
    pair = (size, other) if relation in ("<", ">=") else (other, size)
    return _less(*pair) is (relation in "<>")
