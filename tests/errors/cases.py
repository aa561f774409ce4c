"""A wrong call, what gtape must say of it, and the values that the calls share."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gtape as gt

HERE = "# <- here"

A23 = gt.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
A45 = gt.ones([4, 5])
V3 = gt.constant([1.0, 2.0, 3.0])
V4 = gt.constant([1.0, 2.0, 3.0, 4.0])
S = gt.constant(2.5)
I3 = gt.constant([1, 2, 3])
B3 = gt.constant([True, False, True])
C3 = gt.constant([1j, 2j, 3j])
D3 = gt.constant([1.0, 2.0, 3.0], gt.float64)
EMPTY = gt.zeros([0])
CUBE = gt.ones([2, 3, 4])
IMAGE = gt.ones([1, 8, 8, 3])
FILTERS = gt.ones([3, 3, 3, 4])


@dataclass(frozen=True)
class Case:
    """One wrong call.

    Args:
        id: What is wrong.
        call: Makes the wrong call: on its only line, or on the line marked as such.
        error: The class that gtape raises.
        says: What the message must contain: the operation first, then the values.
    """

    id: str
    call: Callable[[], Any]
    error: type[gt.errors.GtapeError]
    says: tuple[str, ...]


class Table:
    """Collects cases, as rows of calls or with a decorator."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def row(self, id: str, call: Callable[[], Any], error: Any, *says: str) -> None:
        """Add a call."""
        self.cases.append(Case(id, call, error, says))

    def wrong(self, error: Any, *says: str) -> Callable[[Any], Any]:
        """Add a function of several statements, under its own name."""

        def add(function: Callable[[], Any]) -> Callable[[], Any]:
            self.row(function.__name__, function, error, *says)
            return function

        return add


def lines_of(function: Callable[..., Any]) -> range | list[int]:
    """Return the lines of a function, or those marked in it where some are."""
    lines, first = inspect.getsourcelines(function)
    marked = [first + i for i, line in enumerate(lines) if HERE in line]
    return marked or range(first, first + len(lines))
