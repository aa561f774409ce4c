"""What a program of the corpus is, and how its arguments are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Inputs = Callable[[int], tuple[Any, ...]]
"""Trips -> arguments. Those that are floating-point arrays are differentiated."""

TRIPS = (0, 1, 2, 7, 30)


@dataclass(frozen=True)
class Program:
    """An ordinary Python function of tensors that returns a float64 scalar.

    Args:
        name: Its name among all programs.
        function: The function, with its source in a file.
        inputs: Trips -> arguments, away from kinks and from jumps of trip counts.
        trips: The trip counts, or the numbers of the cases, that make sense for it.
        orders: How many derivatives to compare.
        tolerance: The relative error allowed to the first derivative.
        topic: What it is about.
    """

    name: str
    function: Callable[..., Any]
    inputs: Inputs
    trips: tuple[int, ...] = TRIPS
    orders: int = 2
    tolerance: float = 1e-6
    topic: str = ""


class Corpus:
    """The programs of one file, in order, each added by a decorator."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self._programs: list[Program] = []

    def __iter__(self) -> Iterator[Program]:
        return iter(self._programs)

    def add(
        self,
        inputs: Inputs,
        trips: Sequence[int] = TRIPS,
        orders: int = 2,
        tolerance: float = 1e-6,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that adds a function and leaves it as it is."""
        if isinstance(inputs, Cases) and trips is TRIPS:
            trips = range(len(inputs.sets))

        def added(function: Callable[..., Any]) -> Callable[..., Any]:
            self._programs.append(
                Program(
                    function.__name__,
                    function,
                    inputs,
                    tuple(trips),
                    orders,
                    tolerance,
                    self.topic,
                )
            )
            return function

        return added


class Cases:
    """Inputs for programs without a trip count: one set of arguments a case."""

    def __init__(self, *sets: tuple[Any, ...]) -> None:
        self.sets = sets

    def __call__(self, trips: int) -> tuple[Any, ...]:
        return tuple(map(prepared, self.sets[trips % len(self.sets)]))


def prepared(value: Any) -> Any:
    """Return a float or a list of floats as float64; anything else as it is."""
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, list):
        return np.array(value)
    return value


def counted(*sets: tuple[Any, ...]) -> Inputs:
    """Return inputs that are the trip count and then one of the sets, in turn."""
    cases = Cases(*sets)

    def inputs(trips: int) -> tuple[Any, ...]:
        # 0, 1, 2, 7, 30 would always meet the same sets if they were taken modulo.
        return (trips, *cases(TRIPS.index(trips) if trips in TRIPS else trips))

    return inputs


def with_tensor_count(*sets: tuple[Any, ...]) -> Inputs:
    """Return inputs as `counted`, with the trip count as an integer array."""
    plain = counted(*sets)

    def inputs(trips: int) -> tuple[Any, ...]:
        count, *rest = plain(trips)
        return (np.array(count, np.int64), *rest)

    return inputs


def row(
    trips: int, low: float = -1.0, high: float = 1.0, seed: int = 1, *shape: int
) -> Any:
    """Return an array with `trips` rows of numbers between two bounds."""
    rng = np.random.default_rng([seed, trips])
    return rng.uniform(low, high, (trips, *shape))


def rows(*sets: tuple[Any, ...], low: float = -1.0, high: float = 1.0) -> Inputs:
    """Return inputs that are a vector of `trips` numbers and then one of the sets."""
    plain = counted(*sets)

    def inputs(trips: int) -> tuple[Any, ...]:
        _, *rest = plain(trips)
        return (row(trips, low, high), *rest)

    return inputs


def matrices(
    width: int, *sets: tuple[Any, ...], low: float = -1.0, high: float = 1.0
) -> Inputs:
    """Return inputs that are a matrix of `trips` rows and then one of the sets."""
    plain = counted(*sets)

    def inputs(trips: int) -> tuple[Any, ...]:
        _, *rest = plain(trips)
        return (row(trips, low, high, 2, width), *rest)

    return inputs
