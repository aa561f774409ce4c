"""Places in tensors as LLVM integers, and the arithmetic of sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from llvmlite import ir

from gtape.errors import GraphError
from gtape.jit.graph.attrs import changed_sizes
from gtape.sizes import Size, Unknown, same_size, value_of

I64 = ir.IntType(64)
Int: TypeAlias = "Any"
"""An integer: a Python int where it is known, else an LLVM value of 64 bits."""


def as_value(number: Int) -> ir.Value:
    """Return an integer as an LLVM value."""
    return I64(number) if isinstance(number, int) else number


def add(b: ir.IRBuilder, x: Int, y: Int) -> Int:
    """Return x + y."""
    if isinstance(x, int) and isinstance(y, int):
        return x + y
    if x == 0 and isinstance(x, int):
        return y
    if y == 0 and isinstance(y, int):
        return x
    return b.add(as_value(x), as_value(y), flags=("nsw",))


def sub(b: ir.IRBuilder, x: Int, y: Int) -> Int:
    """Return x - y."""
    if isinstance(x, int) and isinstance(y, int):
        return x - y
    if isinstance(y, int) and y == 0:
        return x
    return b.sub(as_value(x), as_value(y), flags=("nsw",))


def mul(b: ir.IRBuilder, x: Int, y: Int) -> Int:
    """Return x * y."""
    if isinstance(x, int) and isinstance(y, int):
        return x * y
    for one, other in ((x, y), (y, x)):
        if isinstance(one, int) and one in (0, 1):
            return other if one else 0
    return b.mul(as_value(x), as_value(y), flags=("nsw",))


def floordiv(b: ir.IRBuilder, x: Int, y: Int) -> Int:
    """Return x // y, of which y is positive."""
    if isinstance(x, int) and isinstance(y, int) and y:
        return x // y
    if isinstance(y, int) and y == 1:
        return x
    x, y = as_value(x), as_value(y)
    quotient = b.sdiv(x, y)
    rest = b.sub(x, b.mul(quotient, y))
    below = b.icmp_signed("<", rest, I64(0))
    return b.sub(quotient, b.zext(below, I64))


def mod(b: ir.IRBuilder, x: Int, y: Int) -> Int:
    """Return x % y, of which y is positive."""
    if isinstance(x, int) and isinstance(y, int) and y:
        return x % y
    if isinstance(y, int) and y == 1:
        return 0
    x, y = as_value(x), as_value(y)
    rest = b.srem(x, y)
    return b.select(b.icmp_signed("<", rest, I64(0)), b.add(rest, y), rest)


class NotCompiledError(GraphError):
    """A graph has something that the compiler does not compile."""


class Decision(NamedTuple):
    """What the code was made for: a relation of sizes that holds, or does not."""

    relation: str
    left: Any
    right: Any
    holds: bool

    def holds_for(self, sizes: Mapping[Unknown, int]) -> bool:
        """Return whether it is so for the sizes of a call."""
        a, b = value_of(self.left, sizes), value_of(self.right, sizes)
        return (a == b if self.relation == "==" else a < b) is self.holds


class Decider:
    """Decides relations of sizes as in the call that is compiled for, and notes them.

    Args:
        names: The unknowns of the graph, each with the one that stands for it.
        noted: Takes the decisions.
    """

    def __init__(self, names: Mapping[Unknown, Unknown], noted: list[Decision]) -> None:
        self._names = names
        self._noted = noted

    def decide(self, relation: str, left: Any, right: Any) -> bool:
        """Return whether a relation holds.

        Raises:
            NotCompiledError: If it depends on data.
        """
        a, b = self._hint(left), self._hint(right)
        holds = a == b if relation == "==" else a < b
        back = {own: outer for outer, own in self._names.items()}
        sides = {"sides": (left, right)}
        x, y = changed_sizes(sides, back.__getitem__)["sides"]
        self._noted.append(Decision(relation, x, y, holds))
        return holds

    def number(self, size: Any) -> int:
        """Return a size as a number.

        Raises:
            NotCompiledError: If it depends on data.
        """
        found = self._hint(size)
        self.decide("==", size, found)
        return found

    def tensor(self, size: Any) -> Any:
        """Refuse: code has no tensors."""
        raise NotCompiledError(f"the size {size} as a tensor")

    @staticmethod
    def _hint(size: Any) -> int:
        found = size.hint() if type(size) is Size else int(size)
        if found is None:
            raise NotCompiledError(f"a decision about the size {size}")
        return found


class Sizes:
    """The lengths of unknown sizes in a program.

    Args:
        known: The length of each.
        noted: The decisions about sizes that the code was made for.
    """

    def __init__(
        self, known: Mapping[Unknown, Int], noted: list[Decision] | None = None
    ) -> None:
        self.known = dict(known)
        self.noted: list[Decision] = [] if noted is None else noted

    def decider(self, names: Mapping[Unknown, Unknown]) -> Decider:
        """Return what decides about sizes under other names."""
        return Decider(names, self.noted)

    def of(self, b: ir.IRBuilder, dim: Any) -> Int:
        """Return a size as an integer.

        Raises:
            NotCompiledError: If it depends on an unknown without a length.
        """
        if type(dim) is not Size:
            return int(dim)
        total: Int = 0
        for monomial, coefficient in dim.terms:
            product: Int = coefficient
            for atom in monomial:
                product = mul(b, product, self._atom(b, atom))
            total = add(b, total, product)
        return total

    def _atom(self, b: ir.IRBuilder, atom: Any) -> Int:
        if isinstance(atom, Unknown):
            if atom not in self.known:
                raise NotCompiledError(f"the size {atom}, which depends on data")
            return self.known[atom]
        left, right = self.of(b, atom.left), self.of(b, atom.right)
        return (floordiv if atom.relation == "//" else mod)(b, left, right)

    def product(self, b: ir.IRBuilder, dims: Sequence[Any]) -> Int:
        """Return the number of elements of a shape."""
        total: Int = 1
        for dim in dims:
            total = mul(b, total, self.of(b, dim))
        return total


class Place:
    """Where an element of a tensor lies: a position on each axis, or in all.

    Args:
        axes: The positions on the axes; `None` if only the other is known.
        flat: The position in row-major order; `None` where it is not known yet.
    """

    __slots__ = ("axes", "flat")

    def __init__(
        self, axes: tuple[Int, ...] | None = None, flat: Int | None = None
    ) -> None:
        self.axes = axes
        self.flat = flat

    def key(self) -> Any:
        """Return what tells it from other places."""
        if self.axes is None:
            return "flat", _key(self.flat)
        return tuple([_key(i) for i in self.axes])

    def position(self, b: ir.IRBuilder, sizes: Sizes, shape: Sequence[Any]) -> Int:
        """Return the position in row-major order in a tensor of a shape."""
        if self.flat is None:
            assert self.axes is not None
            total: Int = 0
            for index, dim in zip(self.axes, shape, strict=True):
                total = add(b, mul(b, total, sizes.of(b, dim)), index)
            self.flat = total
        return self.flat

    def positions(
        self, b: ir.IRBuilder, sizes: Sizes, shape: Sequence[Any]
    ) -> tuple[Int, ...]:
        """Return the position on each axis of a tensor of a shape."""
        if self.axes is None:
            rest, found = self.flat, []
            for dim in reversed(shape[1:]):
                size = sizes.of(b, dim)
                found.append(mod(b, rest, size))
                rest = floordiv(b, rest, size)
            found += [rest] if shape else []
            self.axes = tuple(reversed(found))
        return self.axes


def _key(index: Int) -> Any:
    return index if isinstance(index, int) or index is None else ("value", id(index))


def is_one(dim: Any) -> bool:
    """Return whether a size is surely 1."""
    return same_size(dim, 1)
