"""Random programs, eagerly: they run, and their gradients agree with differences."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.jit import reference
from tests.jit.generator import arguments, compile_program, programs

CONSTRUCTS = {
    "if": r"^ +if ",
    "elif": r"^ +elif ",
    "else": r"^ +else:",
    "conditional expression": r"\(.* if .* else ",
    "while": r"^ +while k\d+ <",
    "while with a test": r"^ +while .* and ",
    "while True": r"^ +while True",
    "for over range": r"^ +for i\d+ in range\(\d\)",
    "for over n": r"^ +for i\d+ in range\(n\)",
    "for over a tensor": r"^ +for t\d+ in [vwu]",
    "enumerate": r"in enumerate\(",
    "break": r"^ +break",
    "continue": r"^ +continue",
    "early return": r"^ {8,}return .* \* x$",
    "item assignment": r"^ +[wu]\[.*\] = ",
    "augmented item": r"^ +[wu]\[.*\] [+*]= ",
    "augmented": r"^ +[abcdxy] [-+*]= ",
    "swap": r"^ +\w, \w = ",
    "closure": r"^ +def f\d+",
    "nonlocal": r"^ +nonlocal ",
    "list append": r"\.append\(",
    "generator": r" for t\d+ in [vwu]( if .*)?\), x\)",
    "min or max": r"(min|max)\(",
    "chained": r"-0\.713 < ",
    "guarded name": r"^ +\w \+= gt.sin\(s\d+ \* ",
    "membership": r"n in \(",
}


def relative(a: float, b: float) -> float:
    return abs(a - b) / max(1.0, abs(b))


def is_smooth(slopes: list[reference.Slope]) -> bool:
    """Return whether two steps give the same slopes: no kink or jump is near."""
    return all(s.error <= 1e-6 * max(1.0, abs(s.value)) for s in slopes)


@pytest.mark.parametrize("aliases", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_gradients_of_random_programs(order: int, aliases: bool) -> None:
    counts: Counter[str] = Counter()

    @given(programs(aliases), arguments())
    @settings(max_examples=200, suppress_health_check=list(HealthCheck))
    def check(source: str, args: tuple[Any, ...]) -> None:
        function = compile_program(source)
        counts["all"] += 1
        slopes = reference.differences(function, args, order)
        if not is_smooth(slopes):
            counts["discarded"] += 1
            return
        derivative = reference.gradients if order == 1 else reference.second
        found = reference.along(args, derivative(function, args))
        for number, slope in zip(found, slopes, strict=True):
            assert relative(number, slope.value) < 5e-6

    check()
    assert counts["discarded"] < 0.1 * counts["all"]


def test_every_construct_is_drawn() -> None:
    seen: Counter[str] = Counter()

    @given(programs())
    @settings(
        max_examples=300,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def look(source: str) -> None:
        seen.update(
            name
            for name, pattern in CONSTRUCTS.items()
            if re.search(pattern, source, re.MULTILINE)
        )

    look()
    assert set(seen) == set(CONSTRUCTS)


@given(programs())
@settings(max_examples=20)
def test_the_source_is_found(source: str) -> None:
    assert inspect.getsource(compile_program(source)) == source
