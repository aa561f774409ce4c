"""The atoms of sizes: unknown axis lengths, and roundings that do not come out even."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Protocol

_numbers = itertools.count(1)
INFINITE = float("inf")


class Owner(Protocol):
    """The trace that unknowns belong to. Sizes are ints, or `gtape.sizes.Size`s."""

    def decide(self, relation: str, left: Any, right: Any) -> bool:
        """Return whether a relation holds in this call, and note it as a guard."""

    def number(self, size: Any) -> int:
        """Return a size as the number it is in this call, and note it as a guard."""

    def tensor(self, size: Any) -> Any:
        """Return a size as a traced integer."""


class Unknown:
    """An axis length by name.

    Args:
        name: How printed graphs say it.
        owner: The trace it belongs to, `None` in a graph that was read from text.
        hint: Its value in the call that is traced; `None` where nobody knows, such as
            the number of trips of a loop.
        least: A bound that every call keeps.
    """

    __slots__ = ("hint", "least", "name", "number", "owner")

    greatest = INFINITE  # an upper bound

    def __init__(
        self,
        name: str,
        owner: Owner | None = None,
        hint: int | None = None,
        least: int = 0,
    ) -> None:
        self.name = name
        self.owner = owner
        self.hint = hint
        self.least = least
        self.number = next(_numbers)

    def value(self, sizes: Mapping[Unknown, int]) -> int:
        """Return the length in a call."""
        return sizes[self]

    def __repr__(self) -> str:
        return self.name


class Rounded:
    """A floor division or remainder that does not come out even.

    Args:
        relation: "//" or "%".
        left: The dividend, an int or a size.
        right: The divisor.
    """

    __slots__ = ("left", "relation", "right")

    def __init__(self, relation: str, left: Any, right: Any) -> None:
        self.relation = relation
        self.left = left
        self.right = right

    def _parts(self) -> tuple[Any, ...]:
        # By expression: comparing sizes with == would decide something.
        parts = [getattr(part, "terms", part) for part in (self.left, self.right)]
        return (self.relation, *parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rounded) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    @property
    def name(self) -> str:
        """The expression as text."""
        return f"({self.left!r}) {self.relation} ({self.right!r})"

    @property
    def number(self) -> int:
        """A place in the order of atoms, behind those of unknowns."""
        return 2**62 + hash(self) % 2**61

    @property
    def least(self) -> float:
        """A lower bound."""
        if not least_of(self.right) > 0:
            return -INFINITE
        if self.relation == "%":
            return 0  # Python's remainder has the sign of the divisor
        least = least_of(self.left)
        if least < 0:
            return -INFINITE
        return least // self.right if type(self.right) is int else 0

    @property
    def greatest(self) -> float:
        """An upper bound."""
        if not (type(self.right) is int and self.right > 0):
            return INFINITE
        if self.relation == "%":
            return self.right - 1
        greatest = self.left if isinstance(self.left, int) else -(-self.left).least
        return greatest // self.right if greatest < INFINITE else INFINITE

    def value(self, sizes: Mapping[Unknown, int]) -> int:
        """Return the number in a call."""
        left, right = [
            part if isinstance(part, int) else part.value(sizes)
            for part in (self.left, self.right)
        ]
        number: int = left // right if self.relation == "//" else left % right
        return number


def least_of(value: Any) -> float:
    """Return a lower bound of an int or a size."""
    bound: float = value if isinstance(value, int) else value.least
    return bound
