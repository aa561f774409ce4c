"""Errors of a running graph: the class, the words and the line are those of Python."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape import errors
from gtape.errors import GtapeError
from tests.jit.failures import FAILING, Failing
from tests.jit.raised import (
    FORMS,
    V,
    cause,
    constants,
    each,
    line_run,
    line_said,
    places,
    raised,
    words,
)

GOOD = np.array([1, 2, 1])
BAD = np.array([1, 2, 0])
PLACES = tuple(places(lambda v, _: v))

# --- The same error -------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING)
def test_a_graph_fails_as_python_does(failing: Failing, place: str, form: str) -> None:
    program = places(failing)[place]
    function = gt.function(program, **FORMS[form])
    expected = program(*constants(V, GOOD))
    np.testing.assert_allclose(function(V, GOOD), expected)

    eager = raised(lambda: program(*constants(V, BAD)))
    file = inspect.getsourcefile(failing)
    assert file is not None
    for _ in range(2):  # the second run says no more than the first
        found = raised(lambda: function(V, BAD))
        assert type(found) is type(eager)
        assert words(found) == words(eager)
        assert line_said(found) == [line_run(eager, file)]
        if not isinstance(found, GtapeError):
            assert cause(found) == cause(eager)
    np.testing.assert_allclose(function(V, GOOD), expected)
    assert function.trace_count == 1


@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING)
def test_a_function_that_is_differentiated_fails_alike(failing: Failing) -> None:
    function = gt.function(places(failing)["loop"])

    def run(ks: Any) -> Any:
        v = gt.constant(V)
        with gt.GradientTape() as tape:
            tape.watch(v)
            y = function(v, ks)
        return tape.gradient(y, v)

    run(GOOD)
    found = raised(lambda: run(BAD))
    eager = raised(lambda: places(failing)["loop"](*constants(V, BAD)))
    assert type(found) is type(eager)
    assert words(found) == words(eager)


# Python's numbers say it in gtape's words: 64 bits and no more are part of them.
NUMBERS: dict[str, Callable[[Any], Any]] = {
    "floordiv": lambda k: 7 // k,
    "mod": lambda k: 7 % k,
    "divide": lambda k: 7 / k,
    "divide a float": lambda k: 7.5 / float(k),
    "power": lambda k: float(k) ** -1,
    "divmod": lambda k: divmod(7, k)[0],
}


@pytest.mark.parametrize("compute", NUMBERS.values(), ids=NUMBERS)
def test_division_of_python_numbers(compute: Callable[[Any], Any]) -> None:
    def of_a_tensor(v: Any, k: Any) -> Any:
        y = compute(int(k))
        return v[0] * y

    def of_an_argument(v: Any, k: int) -> Any:
        return v[0] * compute(k)

    line = inspect.getsourcelines(compute)[1]
    for program, zero in ((of_a_tensor, gt.constant(0)), (of_an_argument, 0)):
        function = gt.function(program)
        for one in (gt.constant(2), 2):
            if type(one) is type(zero):
                expected = program(gt.constant(V), one)
                np.testing.assert_allclose(function(V, one), expected)
        assert type(raised(lambda: program(gt.constant(V), zero))) is ZeroDivisionError  # noqa: B023
        found = raised(lambda: function(V, zero))  # noqa: B023
        assert type(found) is errors.DivisionError
        assert re.search(r"division by zero, of the Python numbers", str(found))
        assert line_said(found) == [line]


def test_sizes_that_may_change_do_not_fit() -> None:
    def program(v: Any, w: Any) -> Any:
        total = gt.zeros((), "float64")
        for x in v:
            if x > 0.0:
                total = total + gt.reduce_sum(v * w)
        return total

    function = gt.function(program)
    for n in (3, 4, 5):
        both = np.ones(n), np.ones(n)
        np.testing.assert_allclose(function(*both), program(*constants(*both)))
    assert function.trace_count <= 2
    wrong = np.ones(6), np.ones(7)
    eager = raised(lambda: program(*constants(*wrong)))
    found = raised(lambda: function(*wrong))
    assert type(found) is type(eager) is errors.ShapeError
    assert words(found) == words(eager)
    assert line_said(found) == [line_run(eager, __file__)]
    assert re.search(r"\(6,\).*\(7,\)", str(found))


# --- Other ways to run ----------------------------------------------------------------


def by_cond(v: Any, ks: Any) -> Any:
    return gt.cond(ks[2] < 5, lambda: v[3 - ks[2]], lambda: v[0])


def by_while_loop(v: Any, ks: Any) -> Any:
    def body(i: Any, total: Any) -> Any:
        return i + 1, total + v[3 - ks[i]]

    start = gt.constant(0), gt.zeros((), "float64")
    return gt.while_loop(lambda i, _: i < 3, body, start)[1]


def by_map_fn(v: Any, ks: Any) -> Any:
    return gt.map_fn(lambda k: v[3 - k], ks, fn_output_signature="float64")[2]


def by_vectorized_map(v: Any, ks: Any) -> Any:
    return gt.vectorized_map(lambda k: v[3 - k], ks)[2]


def by_a_comprehension(v: Any, ks: Any) -> Any:
    return sum([v[3 - k] for k in ks])


def by_a_lambda(v: Any, ks: Any) -> Any:
    return (lambda k: v[3 - k])(ks[2])


def by_a_conditional_expression(v: Any, ks: Any) -> Any:
    return v[3 - ks[2]] if v[0] > 0.0 else v[1]


def by_a_gradient(v: Any, ks: Any) -> Any:
    return gt.grad(lambda w: w[3 - ks[2]] ** 2)(v)[0]


def by_recomputation(v: Any, ks: Any) -> Any:
    inner = gt.recompute_grad(lambda w: w[3 - ks[2]] ** 2)
    return gt.grad(inner)(v)[0]


@each(
    by_cond,
    by_while_loop,
    by_map_fn,
    by_vectorized_map,
    by_a_comprehension,
    by_a_lambda,
    by_a_conditional_expression,
    by_a_gradient,
    by_recomputation,
)
def test_an_index_outside_in_other_constructs(program: Callable[..., Any]) -> None:
    function = gt.function(program)
    expected = program(*constants(V, GOOD))
    np.testing.assert_allclose(function(V, GOOD), expected)
    eager = raised(lambda: program(*constants(V, BAD)))
    found = raised(lambda: function(V, BAD))
    assert type(found) is type(eager)
    assert words(found) == words(eager)
    assert line_said(found) == [line_run(eager, __file__)]


def test_a_function_under_gt_function_is_called_by_another() -> None:
    @gt.function
    def inner(v: Any, k: Any) -> Any:
        return v[3 - k]  # here

    @gt.function
    def outer(v: Any, k: Any) -> Any:
        return inner(v, k) * 2.0

    lines, first = inspect.getsourcelines(
        test_a_function_under_gt_function_is_called_by_another
    )
    line = first + next(i for i, text in enumerate(lines) if "# here" in text)
    for function in (inner, outer):
        assert line_said(raised(lambda: function(V, np.int64(0)))) == [line]  # noqa: B023


def test_a_checked_function_fails_alike() -> None:
    for failing in (FAILING["gather"], FAILING["error_with_several_arguments"]):
        function = gt.function(failing, check=True)
        eager = raised(lambda: failing(*constants(V, np.int64(0))))  # noqa: B023
        found = raised(lambda: function(V, np.int64(0)))  # noqa: B023
        assert type(found) is type(eager)
        assert words(found) == words(eager)
