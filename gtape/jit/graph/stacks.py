"""What a loop keeps of each trip, or of every k-th one within a limit of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Stacks:
    """The rows that the stacked outputs of a loop keep.

    Args:
        count: The number of stacks.
        limit: The most bytes that all of them take; `None` for any number. Then only
            rows of trips i with i % stride == 0 are kept, at least two of them, and
            the stride doubles whenever the limit would be passed.
    """

    def __init__(self, count: int, limit: int | None) -> None:
        self.rows: list[list[Any]] = [[] for _ in range(count)]
        self.limit = limit
        self.stride = 1
        self._sizes: list[int] = []  # the bytes of each kept trip
        self._total = 0

    def add(self, trip: int, values: Sequence[Any]) -> None:
        """Keep what a trip gives, if it is one of those that are kept."""
        if trip % self.stride:
            return
        for rows, value in zip(self.rows, values, strict=True):
            rows.append(value)
        if self.limit is None:
            return
        self._sizes.append(sum([value.nbytes for value in values]))
        self._total += self._sizes[-1]
        while self._total > self.limit and len(self._sizes) > 2:
            self.stride *= 2
            self.rows = [rows[::2] for rows in self.rows]
            self._sizes = self._sizes[::2]
            self._total = sum(self._sizes)
