"""Two names of one tensor: assigning to its items shows in both, on every path."""

# Some branches could be shorter; they are there to be traced.
# ruff: noqa: SIM108

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.errors import TracingError
from tests.jit import reference

Function = Callable[..., Any]


def start(x: Any) -> Any:
    return x * gt.ones(3, "float64")


def kept_name(x: Any, n: int) -> Any:
    w = start(x)
    u = w
    for _ in range(n):
        w[0] = w[1] * x + 0.3
    return gt.reduce_sum(u * u * w)


def rebound_on_late_trips(x: Any, n: int) -> Any:
    w = start(x)
    u = w
    for i in range(n):
        w[0] = w[0] * x + 1.0
        if i > 3:
            w = w * 0.5
    return gt.reduce_sum(u * w)


def rebound_by_the_data(x: Any, n: int) -> Any:
    w = start(x)
    u = w
    i = gt.constant(0)
    while i < n:
        w[0] = w[1] * x
        if x * w[0] > 4.0:
            w = w * 0.5
        i = i + 1
    return gt.reduce_sum(u * u * w)


def written_behind_the_loop(x: Any, n: int) -> Any:
    w = start(x)
    u = w
    for _ in range(n):
        if x > 1.5:
            w = w * 2.0
    w[0] = 5.0 * x
    return gt.reduce_sum(u * u * w)


def written_before_it_is_rebound(x: Any, n: int) -> Any:
    w = start(x)
    u = w
    i = gt.constant(0)
    while i < n:
        v = w
        w = w * 1.1
        v[0] = x
        i = i + 1
    return gt.reduce_sum(u * u * w)


def second_name_in_a_branch(x: Any, n: int) -> Any:
    w = start(x)
    u = w * 1.0
    if x > 1.0:
        u = w
    u[0] = x * x
    if x < 2.0:
        w[1] = 3.0 * x + n
    return gt.reduce_sum(u * u * w)


def second_name_in_nested_branches(x: Any, n: int) -> Any:
    u = start(x)
    w = u * 2.0
    if x > 1.0:
        if n > 2:
            w = u
        else:
            w = w + 1.0
    w[0] = 5.0 * x * x
    u[1] = x
    return gt.reduce_sum(u * u * w)


def one_new_tensor_for_two_names(x: Any, n: int) -> Any:
    u, w = start(x), start(x * x)
    if x > 1.0:
        u = w = start(x + n)
    u[2] = x * 3.0
    w[0] = u[2] * x
    return gt.reduce_sum(u * w * w)


def assigned_in_a_branch(x: Any, n: int) -> Any:
    w = start(x)
    u = w
    if x > 1.0:
        w[0] = x * n
        w = w * 2.0
    else:
        u[1] = x
    return gt.reduce_sum(u * u * w)


PROGRAMS: list[Function] = [
    kept_name,
    rebound_on_late_trips,
    rebound_by_the_data,
    written_behind_the_loop,
    written_before_it_is_rebound,
    second_name_in_a_branch,
    second_name_in_nested_branches,
    one_new_tensor_for_two_names,
    assigned_in_a_branch,
]


@pytest.mark.parametrize("x", [0.9, 1.1, 1.7, 2.3])
@pytest.mark.parametrize("n", [0, 1, 3, 12])
@pytest.mark.parametrize("program", PROGRAMS)
def test_both_names_see_it(program: Function, n: int, x: float) -> None:
    args = (np.float64(x), n)
    function = gt.function(program)
    for take in (reference.gradients, reference.second):
        for found, expected in zip(
            take(function, args), take(program, args), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-9)
    value = reference.value(program, args)
    np.testing.assert_allclose(reference.value(function, args), value, rtol=1e-12)


def test_what_depends_on_the_trips_is_refused() -> None:
    @gt.function
    def maybe_a_second_name(x: Any, n: Any) -> Any:
        u = start(x)
        w = u * 2.0
        i = 0
        while i < n:
            w = u
            i += 1
        w[0] = x
        return gt.reduce_sum(u * w)

    with pytest.raises(TracingError, match=r"another name stands for.*gt\.identity"):
        maybe_a_second_name(gt.constant(1.1, "float64"), gt.constant(3))


def test_the_callers_tensor_changes_as_eagerly() -> None:
    def program(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = x * 2.0
        x[0] = 7.0
        return gt.reduce_sum(x)

    for n in (0, 2):
        a, b = gt.constant([1.0, 2.0]), gt.constant([1.0, 2.0])
        count = gt.constant(n)
        assert float(program(a, n)) == float(gt.function(program)(b, count))
        np.testing.assert_array_equal(a.numpy(), b.numpy())
