"""Every program of the corpus, eagerly: its derivatives against central differences."""

from __future__ import annotations

import inspect
import sys
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

from tests.jit import reference
from tests.jit.programs import PROGRAMS, Program

CASES = [
    pytest.param(program, trips, id=f"{program.name}-{trips}")
    for program in PROGRAMS
    for trips in program.trips
]


def agree(found: list[float], slopes: list[reference.Slope], tolerance: float) -> None:
    for number, slope in zip(found, slopes, strict=True):
        scale = max(1.0, abs(slope.value))
        # A large estimate says that the inputs lie at a kink, not that it is right.
        assert slope.error <= 10 * tolerance * scale
        assert number == pytest.approx(slope.value, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize(("program", "trips"), CASES)
def test_the_first_derivative(program: Program, trips: int) -> None:
    args = program.inputs(trips)
    found = reference.along(args, reference.gradients(program.function, args))
    slopes = reference.differences(program.function, args)
    agree(found, slopes, program.tolerance)


@pytest.mark.parametrize(("program", "trips"), CASES)
def test_the_second_derivative(program: Program, trips: int) -> None:
    if program.orders < 2:
        pytest.skip("the program has one derivative")
    args = program.inputs(trips)
    found = reference.along(args, reference.second(program.function, args))
    slopes = reference.differences(program.function, args, order=2)
    agree(found, slopes, 5 * program.tolerance)


def test_names_are_unique() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(names) == len(set(names))
    assert len(names) >= 150


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_result_depends_on_the_inputs(program: Program) -> None:
    """Each differentiated argument matters in some case."""
    slopes: list[list[float]] = []
    for trips in program.trips:
        args = program.inputs(trips)
        gradients = reference.gradients(program.function, args)
        slopes.append([float(np.sum(np.abs(g))) for g in gradients])
    assert all(any(s != 0 for s in column) for column in zip(*slopes, strict=True))


def lines_of(code: CodeType) -> set[int]:
    """Return the lines with instructions of a function and of those inside it."""
    lines = {number for _, _, number in code.co_lines() if number is not None}
    lines -= {code.co_firstlineno}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            lines |= lines_of(constant)
    return lines


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_line_of_a_program_runs(program: Program) -> None:
    code = inspect.unwrap(program.function).__code__
    seen: set[int] = set()

    def local(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            seen.add(frame.f_lineno)
        return local

    def trace(frame: FrameType, _event: str, _arg: Any) -> Any:
        return local if frame.f_code.co_filename == code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for trips in program.trips:
            passed, _ = reference.tensors(program.inputs(trips))
            program.function(*passed)
    finally:
        sys.settrace(before)
    source, start = inspect.getsourcelines(code)
    missing = {
        number: source[number - start].strip() for number in lines_of(code) - seen
    }
    # An error that is never raised is what those programs are about.
    left = {n: text for n, text in missing.items() if not text.startswith("raise ")}
    assert not left
