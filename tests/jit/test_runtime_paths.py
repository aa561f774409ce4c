"""Errors of a running graph: what is not run, state, printing, and what paths leave."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.errors import GtapeError
from tests.jit.failures import FAILING
from tests.jit.raised import (
    FORMS,
    V,
    constants,
    each,
    line_run,
    line_said,
    raised,
)

# --- What is not run ------------------------------------------------------------------


def not_taken(v: Any, k: Any) -> Any:
    y = v[0]
    if k > 5:
        y = v[k + 7]
    return y


def not_taken_assertion(v: Any, k: Any) -> Any:
    if k > 5:
        assert False, "not reached"  # noqa: B011, PT015
    return v[k]


def not_taken_error(v: Any, k: Any) -> Any:
    if k > 5:
        raise ValueError(f"{k}")
    return v[k]


def no_trips(v: Any, k: Any) -> Any:
    total = v[0]
    for _ in gt.range(k - k):
        total = total + v[k + 7] + gt.cast(7 // (k - k), "float64")
    return total


def not_looked_at(v: Any, k: Any) -> Any:
    good = k < 3 or v[k + 7] > 0.0
    return v[0] if good else v[1]


def text_of_an_assertion_that_holds(v: Any, k: Any) -> Any:
    assert k < 3, f"the next is {v[k + 7]}"
    return v[0]


@pytest.mark.parametrize("form", FORMS)
@each(
    not_taken,
    not_taken_assertion,
    not_taken_error,
    no_trips,
    not_looked_at,
    text_of_an_assertion_that_holds,
)
def test_what_is_not_run_does_not_fail(program: Any, form: str) -> None:
    function = gt.function(program, **FORMS[form])
    expected = program(*constants(V, np.int64(2)))
    np.testing.assert_allclose(function(V, np.int64(2)), expected)


# --- State ----------------------------------------------------------------------------


class Counter:
    """Counts in a variable, in an attribute and in a list."""

    def __init__(self) -> None:
        self.count = gt.Variable(0)
        self.last: Any = None
        self.log: list[Any] = []

    def step(self, v: Any, k: Any) -> Any:
        self.count.assign_add(1)
        self.last = k
        self.log.append(k)
        y = v[3 - k]
        self.count.assign_add(1)
        return y


def test_a_call_that_fails_changes_nothing() -> None:
    counter = Counter()
    generator = gt.random.Generator.from_seed(7)

    @gt.function
    def program(v: Any, k: Any) -> Any:
        noise = generator.normal(())
        return counter.step(v, k) + gt.cast(noise, "float64") * 0.0

    def state() -> Any:
        rows = [int(k) for k in counter.log]
        return int(counter.count), counter.last, rows, generator.counter

    first = state()
    assert type(raised(lambda: program(V, np.int64(0)))).__name__ == "OutsideError"
    assert state() == first
    program(V, np.int64(1))
    second = state()
    assert second[0] == 2
    assert int(second[1]) == 1
    assert second[2] == [1]
    assert second[3] != first[3]
    for _ in range(2):
        raised(lambda: program(V, np.int64(0)))
        assert str(state()) == str(second)


def test_a_tape_goes_on_after_a_call_that_failed() -> None:
    function = gt.function(FAILING["item"])
    v = gt.constant(V)
    with gt.GradientTape() as tape:
        tape.watch(v)
        raised(lambda: function(v, np.int64(0)))
        y = function(v, np.int64(1)) * 2.0
    np.testing.assert_allclose(tape.gradient(y, v), [0.0, 0.0, 2.0])


# --- Printing, try --------------------------------------------------------------------


def test_what_is_printed_before_an_error_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def program(v: Any) -> Any:
        print("begin")
        for x in v:
            print("x is", x, flush=True)
            if x > 0.5:
                print(f"{x:.1f} is too large")
                raise ValueError(x)
            print("good")
        print("end")
        return v

    outputs = []
    for function in (program, gt.function(program)):
        raised(lambda: function(gt.constant(V)))  # noqa: B023
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 5


def finally_that_runs(v: Any) -> Any:
    y = v[0]
    try:
        if y > 5.0:
            raise ValueError("too large")
        y = y * 2.0
    finally:
        y = y + 1.0
    return y


def handler_of_what_is_known(v: Any) -> Any:
    try:
        y = {"a": v}["b"]
    except KeyError as error:
        y = v * float(len(error.args))
    return gt.reduce_sum(y)


def error_behind_a_try(v: Any) -> Any:
    try:
        y = v[0] * 2.0
    except ValueError:
        y = v[0]
    assert y > 0.1
    return y


@each(finally_that_runs, handler_of_what_is_known, error_behind_a_try)
def test_a_try_that_a_graph_can_hold(program: Callable[[Any], Any]) -> None:
    expected = program(gt.constant(V))
    np.testing.assert_allclose(gt.function(program)(V), expected)


def test_an_error_passes_a_finally() -> None:
    def program(v: Any) -> Any:
        try:
            if v[0] > 0.0:
                raise ValueError("now")  # here
        finally:
            v = v * 2.0
        return v

    eager = raised(lambda: program(gt.constant(V)))
    found = raised(lambda: gt.function(program)(V))
    assert type(found) is ValueError
    lines, first = inspect.getsourcelines(program)
    line = first + next(i for i, text in enumerate(lines) if "# here" in text)
    assert line_said(found) == [line]
    assert line in [f.lineno for f in traceback.extract_tb(eager.__traceback__)]


# --- What is missing on some paths ----------------------------------------------------


class Box:
    """An object with attributes."""

    value: Any


def attribute_set_in_one_branch(k: Any) -> Any:
    box = Box()
    if k > 0:
        box.value = k
    return box.value * 2


def attribute_deleted_in_one_branch(k: Any) -> Any:
    box = Box()
    box.value = k
    if k < 1:
        del box.value
    return getattr(box, "value") * 2  # noqa: B009


def entry_set_in_one_branch(k: Any) -> Any:
    box = {}
    if k > 0:
        box["value"] = k
    return box["value"] * 2


def entry_deleted_in_one_branch(k: Any) -> Any:
    box = {"value": k}
    if k < 1:
        del box["value"]
    return box.pop("value") * 2


@each(
    attribute_set_in_one_branch,
    attribute_deleted_in_one_branch,
    entry_set_in_one_branch,
    entry_deleted_in_one_branch,
)
def test_places_that_one_path_leaves_empty(program: Callable[[Any], Any]) -> None:
    function = gt.function(program)
    assert int(function(np.int64(2))) == 4
    eager = raised(lambda: program(gt.constant(0)))
    found = raised(lambda: function(np.int64(0)))
    assert isinstance(found, type(eager))
    assert type(eager).__name__ in ("AttributeError", "KeyError")
    if isinstance(found, GtapeError):
        assert found.what == str(eager)
    else:
        assert found.args == eager.args
    assert line_said(found) == [line_run(eager, __file__)]


def default_of_an_attribute(k: Any) -> Any:
    box = Box()
    if k > 0:
        box.value = k
    return getattr(box, "value", 7) + 1


def whether_there_is_an_attribute(k: Any) -> Any:
    box = Box()
    if k > 0:
        setattr(box, "value", k)  # noqa: B010
    return 1 if hasattr(box, "value") else 2


def default_of_an_entry(k: Any) -> Any:
    box = {}
    if k > 0:
        box["value"] = k
    box.setdefault("value", k + 5)
    return box.get("value", 7) + box.pop("value", 8)


def whether_there_is_an_entry(k: Any) -> Any:
    box = {}
    if k > 0:
        box["value"] = k
    return 1 if "value" in box else 2


@each(
    default_of_an_attribute,
    whether_there_is_an_attribute,
    default_of_an_entry,
    whether_there_is_an_entry,
)
def test_defaults_of_places_that_one_path_leaves_empty(program: Any) -> None:
    function = gt.function(program)
    for k in (0, 2):
        assert int(function(np.int64(k))) == int(program(gt.constant(k)))
