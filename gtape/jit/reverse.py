"""The reverse pass of a graph, split: what runs forward, and what runs backward.

The pass is traced on the graph's own values. What it reads of them, inputs aside, are
the residuals: the forward graph returns them, the backward graph takes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gtape.jit.control.pull import pull
from gtape.jit.control.structure import is_float
from gtape.jit.graph.ir import Graph, Node, Op, Value
from gtape.jit.graph.rewrite import (
    has_effect,
    in_regions,
    sizes_read,
    sizes_shown,
    values_of,
)
from gtape.jit.passes import optimise
from gtape.jit.tracing.state import Guard, Services
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Trace
from gtape.lowering import Custom, Map, Reindex
from gtape.sizes import Unknown


class Reverse(NamedTuple):
    """A reverse pass.

    Args:
        guards: The decisions about sizes that it depends on.
        reached: The inputs that it gives cotangents of.
        forward: (*inputs) -> (*outputs, *residuals).
        backward: (*inputs, *cotangents, *residuals) -> cotangents.
        whole: (*inputs, *cotangents) -> cotangents; computes the residuals again.
    """

    guards: list[Guard]
    reached: list[int]
    forward: Graph
    backward: Graph
    whole: Graph


def reverse_of(
    graph: Graph,
    mask: Sequence[bool],
    wanted: Sequence[int],
    sizes: dict[Unknown, int],
    name: str,
    services: Services,
) -> Reverse:
    """Return the reverse pass of a graph.

    Args:
        graph: What is differentiated.
        mask: Whether there is a cotangent, for each output.
        wanted: The inputs of which cotangents are wanted.
        sizes: The lengths of the unknown sizes in this call.
        name: The function's name.
        services: What traces need.
    """
    owners = {u.owner for u in sizes if isinstance(u.owner, Trace)}
    kept = [(owner, owner.guards) for owner in owners]
    guards: list[Guard] = []
    for unknown, size in sizes.items():
        unknown.hint = size
    for owner in owners:
        owner.guards = guards
    try:
        inner, cotangents, found = _traced(graph, mask, wanted, name, services)
    finally:
        for owner, before in kept:
            owner.guards = before
    reached = [i for i, c in zip(wanted, found, strict=True) if c is not None]
    outs = tuple([c for c in found if c is not None])
    seeds = tuple([c for c in cotangents if c is not None])
    forward, backward = _split(graph, inner, seeds, outs)
    quiet = silent(graph)
    whole = Graph((*graph.inputs, *seeds), (*quiet.nodes, *inner), outs)
    return Reverse(guards, reached, forward, backward, whole)


def _traced(
    graph: Graph,
    mask: Sequence[bool],
    wanted: Sequence[int],
    name: str,
    services: Services,
) -> tuple[tuple[Node, ...], list[Value | None], list[Any]]:
    """Return the nodes of the pass, the cotangents that go in, and what comes out."""
    trace = Trace(f"the gradient of {name}", services)
    tracer = trace.root
    builder = tracer.builder
    computed = [v for node in graph.nodes for v in node.outputs]
    builder.defined.update(graph.inputs, computed)
    inputs = [Symbol(v, home=builder) for v in graph.inputs]
    given = {v: Symbol(v, home=builder) for v in computed}
    cotangents = [
        builder.add_input(out.spec) if there and is_float(out) else None
        for out, there in zip(graph.outputs, mask, strict=True)
    ]
    symbols = [None if c is None else Symbol(c, home=builder) for c in cotangents]
    with tracer.tracing():
        found = pull(graph, inputs, symbols, wanted, given)
    outs = [None if c is None else tracer.atom(c) for c in found]
    return tuple(builder.nodes), cotangents, outs


def _split(
    graph: Graph, nodes: Sequence[Node], seeds: Sequence[Value], outs: Sequence[Any]
) -> tuple[Graph, Graph]:
    """Return the forward and the backward graph."""
    early, late = _by_seed(nodes, seeds)
    first = (*graph.nodes, *early)
    computed = [v for node in first for v in node.outputs]
    inputs = (*graph.inputs, *seeds)
    # With all that might cross, the passes find out what is read.
    whole = optimise(Graph((*inputs, *computed), tuple(late), tuple(outs)))
    again = _cheap(first, whole, set(inputs))
    backward = Graph(whole.inputs, (*again, *whole.nodes), whole.outputs)
    residuals = _crossing(computed, backward, inputs)
    forward = Graph(graph.inputs, first, (*graph.outputs, *residuals))
    return forward, Graph((*inputs, *residuals), backward.nodes, backward.outputs)


def _by_seed(
    nodes: Sequence[Node], seeds: Iterable[Value]
) -> tuple[list[Node], list[Node]]:
    """Return what the forward graph computes of a pass, and the rest.

    What does not depend on a cotangent and takes time is computed forward, once for all
    passes. Cheap work is left to the backward graph: its operands are most often saved
    anyway, and its result would be one more thing to save.
    """
    fed = set(seeds)
    for node in nodes:
        # What may raise stays behind, too: nobody may take the gradient that needs it.
        if _may_raise(node) or not fed.isdisjoint(values_of(node.inputs)):
            fed.update(node.outputs)
    early: list[Node] = []
    needed: set[Value] = set()
    for node in reversed(nodes):
        if not fed.isdisjoint(node.outputs):
            continue
        if not is_cheap(node) or not needed.isdisjoint(node.outputs):
            early.append(node)
            needed |= values_of(node.inputs)
    chosen = {id(node) for node in early}
    return early[::-1], [node for node in nodes if id(node) not in chosen]


def _may_raise(node: Node) -> bool:
    """Return whether an operation may refuse its operands: an inverse, for example."""
    return isinstance(node, Op) and isinstance(node.primitive.lowering, Custom)


def is_cheap(node: Node) -> bool:
    """Return whether a node computes element by element, or only moves elements."""
    return isinstance(node, Op) and isinstance(node.primitive.lowering, (Map, Reindex))


def _cheap(first: Sequence[Node], late: Graph, there: set[Value]) -> list[Node]:
    """Return nodes that the backward graph runs again: views of what it has anyway."""
    makers = {
        v: node
        for node in first
        for v in node.outputs
        if isinstance(node, Op) and isinstance(node.primitive.lowering, Reindex)
    }
    read = set().union(*[values_of(n.inputs) for n in late.nodes])
    read |= values_of(late.outputs)
    there = there | {v for v in read if v not in makers}
    found: dict[int, Node] = {}

    def can_make(value: Value) -> bool:
        if value in there:
            return True
        node = makers.get(value)
        if node is None or not all(can_make(v) for v in values_of(node.inputs)):
            return False
        found[id(node)] = node
        return True

    for value in read:
        before = dict(found)
        if not can_make(value):
            found = before
    return [node for node in first if id(node) in found]


def _crossing(
    computed: Sequence[Value], backward: Graph, inputs: Sequence[Value]
) -> list[Value]:
    """Return the values of the forward graph that the backward graph needs."""
    own = {v for node in backward.nodes for v in node.outputs}
    read = values_of(backward.outputs)
    unknown: set[Unknown] = set()
    for node in backward.nodes:
        read |= values_of(node.inputs)
        unknown |= sizes_read(node)
    found = [v for v in computed if v in read and v not in own]
    # Sizes that no operand shows come with a value that has such an axis.
    shown = sizes_shown((*inputs, *found))
    others = sizes_shown(sorted(computed, key=lambda v: len(v.spec.shape)))
    for size in sorted(unknown - shown.keys(), key=lambda u: u.number):
        if size in others and others[size] not in found:
            found.append(others[size])
    return found


def silent(graph: Graph) -> Graph:
    """Return a graph without what runs only for its effect."""
    wanted = values_of(graph.outputs)
    nodes = []
    for node in reversed(graph.nodes):
        effect = isinstance(node, Op) and has_effect(node)
        if effect and wanted.isdisjoint(node.outputs):
            continue
        wanted |= values_of(node.inputs)
        nodes.append(in_regions(node, silent))
    return Graph(graph.inputs, tuple(nodes[::-1]), graph.outputs)
