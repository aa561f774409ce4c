"""Gradients by constants that a tape watches, through branches and loops."""

from typing import Any

import pytest

import gtape as gt

PROGRAMS: list[Any] = []


def program(function: Any) -> Any:
    PROGRAMS.append(function)
    return function


@program
def in_both_branches(x: Any) -> Any:
    c = gt.constant(3.0)
    with gt.GradientTape() as tape:
        tape.watch(c)
        y = c * 1.0
        if x > 0:
            y = c * x * c
    return tape.gradient(y, c)


@program
def before_the_branch(x: Any) -> Any:
    c = gt.constant(3.0)
    with gt.GradientTape() as tape:
        tape.watch(c)
        z = c * c
        y = z
        if x > 0:
            y = z * x
    return tape.gradient(y, c)


@program
def in_a_while(x: Any) -> Any:
    c = gt.constant(3.0)
    with gt.GradientTape() as tape:
        tape.watch(c)
        y = gt.constant(1.0)
        i = gt.constant(0)
        while i < 3:
            y = y * c * x
            i = i + 1
    return tape.gradient(y, c)


@program
def in_cond(x: Any) -> Any:
    c = gt.ones([2])
    with gt.GradientTape() as tape:
        tape.watch(c)
        y = gt.cond(x > 0, lambda: gt.reduce_sum(c * c * x), lambda: gt.reduce_sum(c))
    return tape.gradient(y, c)


@program
def to_second_order(x: Any) -> Any:
    c = gt.constant(3.0)
    with gt.GradientTape() as t2:
        t2.watch(c)
        with gt.GradientTape() as tape:
            tape.watch(c)
            y = c
            for i in gt.range(3):
                if x > i:
                    y = y * c * x
        d = tape.gradient(y, c)
    return d, t2.gradient(d, c)


@program
def in_a_branch_with_its_own_tape(x: Any) -> Any:
    c = gt.constant(3.0)
    y = 0.0 * x
    if x > 0:
        with gt.GradientTape() as tape:
            tape.watch(c)
            z = c * x
            if x > 1:
                z = c * c * x
        y = tape.gradient(z, c)
    return y


def plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    return None if value is None else value.numpy().tolist()


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.__name__ for p in PROGRAMS])
@pytest.mark.parametrize("value", [2.0, 0.5])
def test_watched_constants(program: Any, value: float) -> None:
    x = gt.constant(value)
    assert plain(gt.function(program)(x)) == plain(program(x))
