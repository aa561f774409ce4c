"""Graph -> Graph without what nobody needs: nodes, outputs and operands of regions.

A carry of a loop is needed if its last value is, or if the test, an effect, a stack in
use or another needed carry depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from gtape.jit.graph.ir import Atom, Cond, For, Graph, Node, Value, While
from gtape.jit.graph.rewrite import (
    Instead,
    chosen,
    has_effect,
    in_regions,
    rebuilt,
    replaced,
    same_spec,
    sizes_read,
    sizes_shown,
    used_values,
    values_of,
)
from gtape.sizes import Unknown

Known: TypeAlias = "frozenset[Unknown]"


def prune(graph: Graph) -> Graph:
    """Return a graph without dead nodes, and regions without dead inputs and outputs.

    The inputs and outputs of the graph itself stay. Carries that no trip changes become
    invariants. Nodes with an effect stay.

    Args:
        graph: The graph.
    """
    return _live(_settled(graph), frozenset())


# --- Carries that do not change -------------------------------------------------------


def _settled(graph: Graph) -> Graph:
    """Make carries that no trip changes invariants, from the innermost loops out."""

    def step(node: Node) -> Instead | None:
        new = in_regions(node, _settled)
        if isinstance(new, (While, For)):
            return _settled_loop(new)
        return None if new is node else Instead([new], new.outputs)

    return replaced(graph, step)


def _settled_loop(node: While | For) -> Instead:
    first = 1 if isinstance(node, For) else 0  # the body of a For starts with i
    carries = range(node.carried)
    still = {c for c in carries if _is_still(node, c, first)}
    if not still:
        return Instead([node], node.outputs)
    moving = [c for c in carries if c not in still]

    def order(atoms: Sequence[Atom], first: int) -> tuple[Atom, ...]:
        # Operands stand as (*carry, *invariants), behind `first` of another kind.
        heads = [*range(first), *[first + c for c in moving]]
        tails = [first + c for c in sorted(still)]
        return chosen(atoms, [*heads, *tails, *range(first + node.carried, len(atoms))])

    stacked = range(node.carried, len(node.body.outputs))
    rest = range(node.carried, len(node.outputs))
    inputs = order(node.inputs, first)
    body = _with_ends(node.body, order(node.body.inputs, first), [*moving, *stacked])
    outputs = _values(node.outputs, [*moving, *rest])
    new: Node
    if isinstance(node, While):
        test = _with_ends(node.test, order(node.test.inputs, 0), [0])
        new = replace(
            node,
            inputs=inputs,
            outputs=outputs,
            test=test,
            body=body,
            carried=len(moving),
        )
    else:
        new = replace(
            node, inputs=inputs, outputs=outputs, body=body, carried=len(moving)
        )
    ends = [node.inputs[first + c] if c in still else node.outputs[c] for c in carries]
    return Instead([new], [*ends, *_values(node.outputs, rest)])


def _is_still(node: While | For, c: int, first: int) -> bool:
    """Return whether every trip gives a carry back as it is."""
    inner = node.body.inputs[first + c]
    # Where the sizes have other names inside or behind the loop, these must stay.
    return (
        node.body.outputs[c] is inner
        and same_spec(inner.spec, node.inputs[first + c].spec)
        and same_spec(node.outputs[c].spec, inner.spec)
    )


def _values(values: Sequence[Value], wanted: Iterable[int]) -> tuple[Value, ...]:
    return tuple([values[i] for i in wanted])


def _with_ends(graph: Graph, inputs: Sequence[Atom], outputs: Iterable[int]) -> Graph:
    """Return a region with its inputs in another order and some of its outputs."""
    values = tuple([v for v in inputs if isinstance(v, Value)])
    return Graph(values, graph.nodes, chosen(graph.outputs, outputs))


# --- What is alive --------------------------------------------------------------------


def _live(graph: Graph, known: Known) -> Graph:
    """Return a graph with the nodes that its outputs and effects need.

    Args:
        graph: The graph.
        known: The unknowns that the graph around it knows.
    """
    roots = values_of(graph.outputs)
    shown = known | sizes_shown(graph.inputs).keys()
    for node in graph.nodes:
        shown |= sizes_shown(node.outputs).keys()
    while True:
        needed = set(roots)
        nodes: list[Node] = []
        for node in reversed(graph.nodes):
            used = [i for i, value in enumerate(node.outputs) if value in needed]
            if used or has_effect(node):
                new = _reduced(node, used, shown)
                needed |= values_of(new.inputs)
                nodes.append(new)
        nodes.reverse()
        missing = _missing(graph, nodes, known)
        if not missing:
            return rebuilt(graph, nodes, graph.outputs)
        roots |= missing


def _missing(graph: Graph, nodes: Sequence[Node], known: Known) -> set[Value]:
    """Return dropped values whose axes tell sizes that nodes which stay read."""
    told = known | sizes_shown(graph.inputs).keys()
    tellers: dict[Unknown, Value] = {}
    for node in graph.nodes:
        for unknown, value in sizes_shown(node.outputs).items():
            tellers.setdefault(unknown, value)
    missing = set()
    for node in nodes:
        missing |= {tellers[u] for u in sizes_read(node) - told if u in tellers}
        told |= sizes_shown(node.outputs).keys()
    # What a node tells itself, or nodes in it, is not missing.
    return missing - {value for node in nodes for value in node.outputs}


def _reduced(node: Node, used: list[int], known: Known) -> Node:
    """Return a node with the outputs in use, and what they need of its inputs."""
    if isinstance(node, Cond):
        return _reduced_cond(node, used, known)
    if isinstance(node, While):
        return _reduced_while(node, used, known)
    if isinstance(node, For):
        return _reduced_for(node, used, known)
    return node


def _with_outputs(graph: Graph, wanted: Sequence[int], known: Known) -> Graph:
    """Return a region that computes some of its outputs only."""
    if len(wanted) == len(graph.outputs):
        return _live(graph, known)
    outputs = chosen(graph.outputs, wanted)
    return _live(Graph(graph.inputs, graph.nodes, outputs), known)


def _read_inputs(graph: Graph, known: Known) -> set[int]:
    """Return the places of the inputs that a region reads, or whose sizes it reads."""
    used = used_values(graph)
    read = {i for i, value in enumerate(graph.inputs) if value in used}
    told = known | sizes_shown([graph.inputs[i] for i in read]).keys()
    tellers = sizes_shown(graph.inputs)
    wanted = {u for node in graph.nodes for u in sizes_read(node)} - told
    more = {tellers[u] for u in wanted if u in tellers}
    return read | {i for i, value in enumerate(graph.inputs) if value in more}


def _narrowed(graph: Graph, wanted: Sequence[int]) -> Graph:
    """Return a region with some of its inputs; the others are not read."""
    if len(wanted) == len(graph.inputs):
        return graph
    return Graph(_values(graph.inputs, wanted), graph.nodes, graph.outputs)


def _reduced_cond(node: Cond, used: list[int], known: Known) -> Node:
    then, orelse = [_with_outputs(branch, used, known) for branch in node.regions]
    read = sorted(_read_inputs(then, known) | _read_inputs(orelse, known))
    if (
        then is node.then
        and orelse is node.orelse
        and len(read) == len(node.inputs) - 1
    ):
        return node
    return replace(
        node,
        inputs=(node.inputs[0], *chosen(node.inputs[1:], read)),
        outputs=_values(node.outputs, used),
        then=_narrowed(then, read),
        orelse=_narrowed(orelse, read),
    )


def _reduced_while(node: While, used: list[int], known: Known) -> Node:
    count = node.carried
    stacks = len(node.body.outputs) - count
    test = _live(node.test, known)
    read = _read_inputs(test, known)
    carries, kept, body = _needed(node, used, 0, read, known)
    read |= _read_inputs(body, known)
    fixed = [i for i in range(count, len(node.inputs)) if i in read]
    wanted = [*carries, *fixed]
    limit, ends = _ends(node, used, len(kept), count + stacks, 1)
    new = replace(
        node,
        inputs=chosen(node.inputs, wanted),
        outputs=_values(node.outputs, [*carries, *kept, *ends]),
        test=_narrowed(test, wanted),
        body=_narrowed(body, wanted),
        carried=len(carries),
        limit=limit,
    )
    return node if _same_loop(node, new) else new


def _reduced_for(node: For, used: list[int], known: Known) -> Node:
    count = node.carried
    stacks = len(node.body.outputs) - count
    carries, kept, body = _needed(node, used, 1, set(), known)
    read = _read_inputs(body, known)
    fixed = [i for i in range(1 + count, len(node.inputs)) if i in read]
    wanted = [0, *[1 + c for c in carries], *fixed]
    limit, ends = _ends(node, used, len(kept), count + stacks, 0)
    new = replace(
        node,
        inputs=chosen(node.inputs, wanted),
        outputs=_values(node.outputs, [*carries, *kept, *ends]),
        body=_narrowed(body, wanted),
        carried=len(carries),
        limit=limit,
    )
    return node if _same_loop(node, new) else new


def _needed(
    node: While | For, used: list[int], first: int, read: set[int], known: Known
) -> tuple[list[int], list[int], Graph]:
    """Return the needed carries and stacks of a loop, and the body that gives them.

    Args:
        node: The loop.
        used: The outputs that are read.
        first: The number of inputs of the body before the carry.
        read: The inputs that the test reads.
        known: The unknowns known outside.
    """
    count, total = node.carried, len(node.body.outputs)
    kept = [i for i in used if count <= i < total]
    carries = {i for i in used if i < count} | {i for i in read if i < count}
    while True:
        body = _with_outputs(node.body, [*sorted(carries), *kept], known)
        places = {i - first for i in _read_inputs(body, known)}
        more = {i for i in places if 0 <= i < count} - carries
        if not more:
            return sorted(carries), kept, body
        carries |= more


def _ends(
    node: While | For, used: list[int], kept: int, first: int, least: int
) -> tuple[int | None, list[int]]:
    """Return the limit of a loop, and which outputs behind the stacks stay.

    The number of trips always stays. The stride goes with the last stack, unless
    somebody reads it.

    Args:
        node: The loop.
        used: The outputs that are read.
        kept: The number of stacks that stay.
        first: The place of the first output behind the stacks.
        least: How many outputs stand there beside the stride.
    """
    limited = node.limit is not None and (kept > 0 or first + least in used)
    ends = range(first, first + least + limited)
    return (node.limit if limited else None), list(ends)


def _same_loop(node: While | For, new: While | For) -> bool:
    return (
        len(node.inputs) == len(new.inputs)
        and len(node.outputs) == len(new.outputs)
        and all(a is b for a, b in zip(node.regions, new.regions, strict=True))
    )
