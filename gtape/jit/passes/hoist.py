"""Graph -> Graph with what is the same in each trip computed before the loop.

A loop may make no trip, so only what cannot raise goes out, unless one is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple

from gtape.jit.graph.attrs import has_size, same_dims, unknowns_in
from gtape.jit.graph.interpret import runs_user_code
from gtape.jit.graph.ir import Atom, For, Graph, Literal, Node, Op, Value, While
from gtape.jit.graph.rewrite import (
    Instead,
    Table,
    has_effect,
    in_regions,
    replaced,
    sizes_shown,
    swapped,
    used_values,
)
from gtape.lowering import Contract, Fold, Map, Reindex
from gtape.sizes import Unknown
from gtape.spec import TensorSpec

_GROWTH = 16  # times the bytes of its inputs that a result may have
_SMALL = 1024  # bytes of a result that may go out whatever its inputs have
_RAISING = frozenset(["floordiv", "mod", "pow", "left_shift", "right_shift"])
"""Elementwise operations that refuse some integers."""
_SAFE = frozenset(
    [
        *("cumsum", "cumprod", "cummax", "cummin", "sort", "argsort"),
        *("softmax", "log_softmax", "random_uniform", "random_normal"),
    ]
)
"""Operations of the hand-written kind that take any numbers."""


def hoist(graph: Graph) -> Graph:
    """Return a graph whose loops compute nothing again that never changes.

    Args:
        graph: The graph.
    """
    return _hoisted(graph, set())


def _hoisted(graph: Graph, around: set[Unknown]) -> Graph:
    """Hoist in a graph; `around` are the unknowns that the graph around it knows."""
    known = around | sizes_shown(graph.inputs).keys()

    def step(node: Node) -> Instead | None:
        new = in_regions(node, lambda region: _hoisted(region, known))
        instead = None
        if isinstance(new, (While, For)):
            instead = _out_of(new, known)
        if instead is None and new is not node:
            instead = Instead([new], new.outputs)
        known.update(sizes_shown(node.outputs))
        return instead

    return replaced(graph, step)


class _Moved(NamedTuple):
    """What goes out of a region."""

    nodes: list[Node]  # as they stand outside
    rest: list[Node]  # what stays inside
    pairs: list[tuple[Value, Value]]  # values that are still read, inside and outside


def _out_of(node: While | For, known: set[Unknown]) -> Instead | None:
    """Return the loop and, before it, what has gone out of it."""
    first = node.carried + isinstance(node, For)
    runs = isinstance(node, For) and _runs(node)
    moved = [
        _moved(region, node.inputs[first:], first, known, runs)
        for region in node.regions
    ]
    if not any(m.nodes for m in moved):
        return None
    regions = []
    for region, own in zip(node.regions, moved, strict=True):
        # Every region takes what has gone out of any, in the same order.
        added = [
            inner if m is own else Value(inner.spec)
            for m in moved
            for inner, _ in m.pairs
        ]
        inputs = (*region.inputs, *added)
        regions.append(Graph(inputs, tuple(own.rest), region.outputs))
    operands = (*node.inputs, *[outer for m in moved for _, outer in m.pairs])
    loop: Node
    if isinstance(node, While):
        loop = replace(node, inputs=operands, test=regions[0], body=regions[1])
    else:
        loop = replace(node, inputs=operands, body=regions[0])
    return Instead([*[n for m in moved for n in m.nodes], loop], loop.outputs)


def _runs(node: For) -> bool:
    """Return whether a loop makes a trip for certain, and shows nothing before."""
    trips = node.inputs[0]
    known = isinstance(trips, Literal) and int(trips.array) > 0
    return known and not any(map(has_effect, node.body.nodes))


def _moved(
    region: Graph,
    invariants: Sequence[Atom],
    first: int,
    known: set[Unknown],
    runs: bool,
) -> _Moved:
    """Return what goes out of a region.

    Args:
        region: The region.
        invariants: The operands that are the same in each trip.
        first: The place of the first of them among the inputs of the region.
        known: The unknowns known outside.
        runs: Whether the loop makes a trip for certain.
    """
    outside: Table = dict(zip(region.inputs[first:], invariants, strict=True))
    nodes: list[Node] = []
    rest: list[Node] = []
    gone: dict[Value, Value] = {}
    for node in region.nodes:
        fixed = all(isinstance(a, Literal) or a in outside for a in node.inputs)
        if not (isinstance(node, Op) and fixed and _may_go(node, known, runs)):
            rest.append(node)
            continue
        outputs = tuple([Value(v.spec) for v in node.outputs])
        inputs = swapped(node.inputs, outside)
        nodes.append(replace(node, inputs=inputs, outputs=outputs))
        gone.update(zip(node.outputs, outputs, strict=True))
        outside.update(zip(node.outputs, outputs, strict=True))
    used = used_values(Graph(region.inputs, tuple(rest), region.outputs))
    pairs = [(inner, outer) for inner, outer in gone.items() if inner in used]
    return _Moved(nodes, rest, pairs)


# --- What may go out ------------------------------------------------------------------


def _may_go(node: Op, known: set[Unknown], runs: bool) -> bool:
    if has_effect(node) or runs_user_code(node.primitive):
        return False
    shapes = [tuple(value.spec.shape) for value in node.outputs]
    if not unknowns_in((*node.attrs.values(), *shapes)) <= known:
        return False
    if not _is_modest(node):
        return False
    return runs or _cannot_raise(node)


def _is_modest(node: Op) -> bool:
    """Return whether the results are not much larger than what they are made of."""
    shapes = [tuple(atom.spec.shape) for atom in node.inputs]
    if all(
        any(same_dims(tuple(value.spec.shape), shape) for shape in shapes)
        for value in node.outputs
    ):
        return True
    if has_size([tuple(value.spec.shape) for value in node.outputs]):
        return False
    made = sum([_bytes(value.spec) for value in node.outputs])
    given = sum([_bytes(a.spec) for a in node.inputs if not has_size(tuple(a.shape))])
    return made <= max(_SMALL, _GROWTH * given)


def _bytes(spec: TensorSpec) -> int:
    elements: int = prod([d or 0 for d in tuple(spec.shape)])
    return elements * spec.dtype.size


def _cannot_raise(node: Op) -> bool:
    """Return whether an operation takes any numbers, and its shapes fit for certain."""
    shapes = [tuple(atom.spec.shape) for atom in node.inputs]
    kind = type(node.primitive.lowering)
    if has_size([*shapes, node.attrs]):
        # Shapes that are not known fit for certain only where they are all the same.
        large = [shape for shape in shapes if shape]
        alike = all(same_dims(shape, large[0]) for shape in large)
        return kind is Map and alike and _takes_any(node)
    if kind is Map:
        return _takes_any(node)
    if kind is Fold:  # the greatest of no elements does not exist
        return all(d for shape in shapes for d in shape)
    return kind in (Reindex, Contract) or node.primitive.name in _SAFE


def _takes_any(node: Op) -> bool:
    integers = all(atom.dtype.kind in "biu" for atom in node.inputs)
    return not (integers and node.primitive.name in _RAISING)
