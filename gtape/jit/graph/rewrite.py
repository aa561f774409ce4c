"""What passes share: substitution, walks, nodes rebuilt with other parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from gtape.jit.graph.attrs import same_dims, unknowns_in
from gtape.jit.graph.ir import Atom, Cond, For, Graph, Node, Op, Value, While
from gtape.sizes import Size, Unknown
from gtape.spec import TensorSpec

Table: TypeAlias = "dict[Value, Atom]"
"""What stands for a value from here on."""

# --- What is read ---------------------------------------------------------------------


def values_of(atoms: Iterable[Atom]) -> set[Value]:
    """Return the values among atoms."""
    return {atom for atom in atoms if isinstance(atom, Value)}


def used_values(graph: Graph) -> set[Value]:
    """Return the values that the nodes and outputs of a graph read."""
    used = values_of(graph.outputs)
    for node in graph.nodes:
        used |= values_of(node.inputs)
    return used


def has_effect(node: Node) -> bool:
    """Return whether a node does something beside computing: printing, checking."""
    if isinstance(node, Op):
        return bool(getattr(node.primitive, "effect", False))
    return any(any(map(has_effect, region.nodes)) for region in node.regions)


def same_spec(a: TensorSpec, b: TensorSpec) -> bool:
    """Return whether two specs are the same; sizes as expressions."""
    return a.dtype == b.dtype and same_dims(a.shape, b.shape)


def sizes_read(node: Node) -> set[Unknown]:
    """Return the unknowns that the attributes of a node, and inside it, depend on."""
    if isinstance(node, Op):
        return unknowns_in(node.attrs)
    inner = [inside for region in node.regions for inside in region.walk()]
    return set().union(*[unknowns_in(i.attrs) for i in inner if isinstance(i, Op)])


def sizes_shown(values: Iterable[Value]) -> dict[Unknown, Value]:
    """Return the unknowns that are axes of values, each with the first that has it."""
    found: dict[Unknown, Value] = {}
    for value in values:
        for dim in tuple(value.spec.shape):
            if type(dim) is Size and dim.unknown is not None:
                found.setdefault(dim.unknown, value)
    return found


# --- Rebuilding -----------------------------------------------------------------------


def swapped(atoms: Sequence[Atom], table: Table) -> tuple[Atom, ...]:
    """Return atoms with those of a table replaced."""
    return tuple([table.get(a, a) if isinstance(a, Value) else a for a in atoms])


def with_inputs(node: Node, inputs: tuple[Atom, ...]) -> Node:
    """Return a node with other inputs; the node itself if they are the same."""
    if all(a is b for a, b in zip(node.inputs, inputs, strict=True)):
        return node
    return replace(node, inputs=inputs)


def with_regions(node: Node, regions: Sequence[Graph]) -> Node:
    """Return a node with other regions; the node itself if they are the same."""
    if all(a is b for a, b in zip(node.regions, regions, strict=True)):
        return node
    if isinstance(node, Cond):
        return replace(node, then=regions[0], orelse=regions[1])
    if isinstance(node, While):
        return replace(node, test=regions[0], body=regions[1])
    if isinstance(node, For):
        return replace(node, body=regions[0])
    return node


def in_regions(node: Node, change: Callable[[Graph], Graph]) -> Node:
    """Return a node whose regions a pass has gone through."""
    regions = node.regions
    return with_regions(node, [change(r) for r in regions]) if regions else node


def same_parts(graph: Graph, nodes: Sequence[Node], outputs: Sequence[Atom]) -> bool:
    """Return whether a graph consists of just these nodes and outputs already."""
    return (
        len(nodes) == len(graph.nodes)
        and all(a is b for a, b in zip(nodes, graph.nodes, strict=True))
        and all(a is b for a, b in zip(outputs, graph.outputs, strict=True))
    )


def rebuilt(graph: Graph, nodes: Sequence[Node], outputs: Sequence[Atom]) -> Graph:
    """Return a graph with other nodes and outputs; itself if they are the same."""
    if same_parts(graph, nodes, outputs):
        return graph
    return Graph(graph.inputs, tuple(nodes), tuple(outputs))


def with_table(graph: Graph, table: Table) -> Graph:
    """Return a graph in which other atoms stand for some values."""
    nodes = [with_inputs(n, swapped(n.inputs, table)) for n in graph.nodes]
    return rebuilt(graph, nodes, swapped(graph.outputs, table))


class Instead(NamedTuple):
    """What takes the place of a node: other nodes, and an atom for each output."""

    nodes: Sequence[Node]
    outputs: Sequence[Atom]


def replaced(graph: Graph, step: Callable[[Node], Instead | None]) -> Graph:
    """Return a graph in which a step may have put something in the place of nodes.

    Args:
        graph: The graph; regions are the step's own business.
        step: Takes each node, with its inputs replaced already, in order of execution,
            and returns what stands in its place; `None` if it stays.
    """
    table: Table = {}
    nodes: list[Node] = []
    for old in graph.nodes:
        node = with_inputs(old, swapped(old.inputs, table))
        instead = step(node)
        if instead is None:
            nodes.append(node)
            continue
        nodes += instead.nodes
        for value, atom in zip(node.outputs, instead.outputs, strict=True):
            if value is not atom:
                table[value] = atom
    return rebuilt(graph, nodes, swapped(graph.outputs, table))


def inlined(graph: Graph, atoms: Sequence[Atom]) -> Instead:
    """Return the nodes of a region as nodes of the graph around it.

    Args:
        graph: The region; its values get fresh copies, for it may stand elsewhere too.
        atoms: What its inputs are.
    """
    table: Table = dict(zip(graph.inputs, atoms, strict=True))
    nodes: list[Node] = []
    for node in graph.nodes:
        inputs = swapped(node.inputs, table)
        outputs = tuple([Value(v.spec) for v in node.outputs])
        table.update(zip(node.outputs, outputs, strict=True))
        nodes.append(replace(node, inputs=inputs, outputs=outputs))
    return Instead(nodes, swapped(graph.outputs, table))


def chosen(items: Sequence[Atom], wanted: Iterable[int]) -> tuple[Atom, ...]:
    """Return the items at the given places."""
    return tuple([items[i] for i in wanted])
