"""Runs the nodes of a graph again through the current interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gtape import dispatch
from gtape.dispatch import apply
from gtape.jit.graph.ir import Atom, Cond, For, Graph, Literal, Node, Op, Value, While
from gtape.jit.graph.resize import Sizes
from gtape.jit.graph.rewrite import has_effect, in_regions, used_values
from gtape.primitive import Primitive


def replay(
    graph: Graph,
    inputs: Sequence[Any],
    structures: Mapping[type, Primitive],
    given: Mapping[Value, Any] | None = None,
    effects: bool = False,
) -> list[Any]:
    """Run a graph on operands of the current interpreter, and return its outputs.

    Args:
        graph: What to run.
        inputs: An operand for each input.
        structures: The primitive that stands for each kind of node with regions.
        given: Results that need not be computed again. Recorders are told of the
            operation all the same.
        effects: Whether to run operations for their effect, too; else they run only
            where somebody reads their result.
    """
    known: dict[Any, Any] = dict(zip(graph.inputs, inputs, strict=True))
    sizes = Sizes()
    for value, x in known.items():
        sizes.meet(value.spec.shape, x.shape)
    given = given or {}
    read = None if effects else used_values(graph)
    constant = dispatch.interpreter().constant

    def operand(atom: Atom) -> Any:
        if isinstance(atom, Literal):
            return constant(atom.array)
        return known[atom]

    for node in graph.nodes:
        primitive, attrs = call_of(node, structures)
        if node.regions and not effects:
            attrs = {k: _silent(v) for k, v in attrs.items()}
        if read is not None and primitive.effect and read.isdisjoint(node.outputs):
            continue
        attrs = sizes.changed(attrs)
        operands = [operand(a) for a in node.inputs]
        if node.outputs and all(v in given for v in node.outputs):
            results = tuple([given[v] for v in node.outputs])
            out = results if primitive.multiple else results[0]
            dispatch.record(primitive, operands, out, attrs)
        else:
            out = apply(primitive, *operands, **attrs)
            results = out if primitive.multiple else (out,)
        for value, x in zip(node.outputs, results, strict=True):
            known[value] = x
            sizes.meet(value.spec.shape, x.shape)
    return [operand(out) for out in graph.outputs]


def call_of(
    node: Node, structures: Mapping[type, Primitive]
) -> tuple[Primitive, dict[str, Any]]:
    """Return a node as the use of a primitive with attributes."""
    if isinstance(node, Op):
        return node.primitive, node.attrs
    primitive = structures[type(node)]
    if isinstance(node, Cond):
        return primitive, {"then": node.then, "orelse": node.orelse}
    if isinstance(node, While):
        attrs = {"test": node.test, "body": node.body, "carried": node.carried}
        return primitive, {**attrs, "limit": node.limit}
    assert isinstance(node, For)
    attrs = {"body": node.body, "carried": node.carried, "limit": node.limit}
    return primitive, {**attrs, "reverse": node.reverse}


def _silent(value: Any) -> Any:
    """Return a graph without what it does for effect only; anything else as it is."""
    if not isinstance(value, Graph):
        return value
    if not any(map(has_effect, value.nodes)):
        return value
    read = used_values(value)
    nodes = [
        node if isinstance(node, Op) else in_regions(node, _silent)
        for node in value.nodes
        if not isinstance(node, Op)
        or not node.primitive.effect
        or not read.isdisjoint(node.outputs)
    ]
    return Graph(value.inputs, tuple(nodes), value.outputs)
