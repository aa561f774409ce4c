"""Passes: Graph -> Graph with the same results, sooner."""

from __future__ import annotations

from collections.abc import Callable

from gtape.errors import GraphError
from gtape.jit.graph.ir import Graph
from gtape.jit.graph.verify import verify
from gtape.jit.passes.cse import cse
from gtape.jit.passes.fold import fold
from gtape.jit.passes.hoist import hoist
from gtape.jit.passes.prune import prune
from gtape.jit.passes.simplify import simplify

Pass = Callable[[Graph], Graph]

ORDER: tuple[Pass, ...] = (prune, simplify, fold, cse, hoist, prune)
"""First less work for the others, last what they have left behind."""

_ROUNDS = 3


def optimise(graph: Graph, check: bool = False) -> Graph:
    """Return a graph that gives the same results with less work.

    The passes run until none finds anything, three times at most.

    Args:
        graph: The graph.
        check: Whether the invariants are verified after each pass.

    Raises:
        GraphError: If a pass has broken an invariant, naming the pass.
    """
    for _ in range(_ROUNDS):
        before = graph
        for run in ORDER:
            graph = run(graph)
            if check:
                _verify(graph, run.__name__)
        if graph is before:
            break
    return graph


def _verify(graph: Graph, name: str) -> None:
    try:
        verify(graph)
    except GraphError as error:
        raise error.reworded(f"after {name}: {error.what}") from None
