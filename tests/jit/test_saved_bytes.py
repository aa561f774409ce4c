"""A bound on what loops keep for gradients: some trips are kept, the rest run again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.jit.graph.interpret import interpret
from tests.jit import reference


@pytest.fixture(params=[None, 24, 64, 200])
def limit(request: pytest.FixtureRequest) -> Iterator[int | None]:
    gt.config.set_max_saved_bytes(request.param)
    yield request.param
    gt.config.set_max_saved_bytes(None)


def by_count(a: Any, n: Any) -> Any:
    x = a * 0.5
    k = 0
    while k < n:
        x = gt.sin(x) * a + 0.3
        k += 1
    return x * x


def by_data(a: Any, n: Any) -> Any:
    x, steps = a * 0.1, a * 0.0
    while x < 1.0 and steps < n:
        x = x * (1.0 + 0.1 * a) + 0.001
        steps = steps + 1.0
    return gt.exp(x) * a


def over_rows(a: Any, n: Any) -> Any:
    y, z = a * 0.5, a
    for x in gt.range(n):
        y, z = gt.tanh(z * a + 0.1 * gt.cast(x, "float64")), y * 0.9 + 0.1
    return y * y + z


def nested(a: Any, n: Any) -> Any:
    y = a
    for _ in gt.range(n):
        for j in range(10):
            y = gt.cos(y * a) + 0.01 * j
    return y * y


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("program", [by_count, by_data, over_rows, nested])
def test_gradients_are_the_same(limit: int | None, program: Any, n: int) -> None:
    args = (np.float64(1.1), np.array(n))
    function = gt.function(program)
    for take in (reference.gradients, reference.second):
        found, expected = take(function, args), take(program, args)
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_less_is_kept() -> None:
    """The stack of a long loop stays within the bound."""
    gt.config.set_max_saved_bytes(800)
    try:
        function = gt.function(lambda a, n: gt.grad(by_count)(a, n))
        a, n = gt.constant(1.1, "float64"), gt.constant(1000)
        graph = function.graph(a, n)
        assert "limit=800" in str(graph)
        expected = gt.grad(by_count)(a, n)
        np.testing.assert_allclose(function(a, n).numpy(), expected.numpy(), rtol=1e-9)
        [loop] = [node for node in graph.nodes if getattr(node, "limit", None)]
        stack = loop.outputs[loop.carried]
        shown = type(graph)(graph.inputs, graph.nodes, (stack,))
        [rows] = interpret(shown, [a.numpy(), n.numpy()])
        assert 50 <= len(rows) <= 100
    finally:
        gt.config.set_max_saved_bytes(None)


@pytest.mark.parametrize("bad", [0, -5, 1.5, True, "1"])
def test_bad_bounds_are_refused(bad: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="set_max_saved_bytes"):
        gt.config.set_max_saved_bytes(bad)
