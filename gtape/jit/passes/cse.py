"""Graph -> Graph with one value for one expression."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from gtape.jit.graph.attrs import key_of
from gtape.jit.graph.ir import Atom, Cond, For, Graph, Literal, Node, Op, Value, While
from gtape.jit.graph.rewrite import (
    Instead,
    Table,
    has_effect,
    in_regions,
    replaced,
    same_spec,
    with_table,
)

_BY_VALUE = 4096  # bytes of a literal that is compared element by element
_COMMUTATIVE = frozenset(
    [
        *("add", "multiply", "equal", "not_equal", "squared_difference"),
        *("logical_and", "logical_or", "logical_xor"),
        *("bitwise_and", "bitwise_or", "bitwise_xor"),
    ]
)
"""Operations that give the same bits for swapped operands."""


def cse(graph: Graph) -> Graph:
    """Return a graph that computes no expression twice, nor takes an operand twice.

    Two operations are the same expression if primitive, inputs and attributes are. What
    has an effect is left alone, and regions are compared with nothing.

    Args:
        graph: The graph.
    """
    found: dict[Hashable, Node] = {}

    def step(node: Node) -> Instead | None:
        if not isinstance(node, Op):
            new = in_regions(_with_distinct_operands(node), cse)
            return None if new is node else Instead([new], new.outputs)
        if has_effect(node):
            return None
        first = found.setdefault(_expression(node), node)
        pairs = zip(first.outputs, node.outputs, strict=True)
        # Sizes that only the data tell have a name at each node that finds them.
        if first is node or not all(same_spec(a.spec, b.spec) for a, b in pairs):
            return None
        return Instead([], first.outputs)

    return replaced(graph, step)


def _expression(node: Op) -> Hashable:
    inputs: Hashable = tuple(map(_key, node.inputs))
    if node.primitive.name in _COMMUTATIVE:
        inputs = frozenset(map(_key, node.inputs))
    return node.primitive, inputs, key_of(node.attrs)


def _key(atom: Atom) -> Hashable:
    if isinstance(atom, Value):
        return atom
    array = atom.array
    if array.nbytes > _BY_VALUE:
        return id(array)  # the graph keeps it alive
    return array.dtype, array.shape, array.tobytes()


def _with_distinct_operands(node: Node) -> Node:
    """Return a node with regions that takes each operand once."""
    if isinstance(node, Cond):
        first, behind = 1, 1
    elif isinstance(node, (While, For)):
        first, behind = node.carried + isinstance(node, For), 0
    else:
        return node
    places: dict[Value, int] = {}  # where each operand stands first
    twice: dict[int, int] = {}
    for i, atom in enumerate(node.inputs[first:], first):
        if isinstance(atom, Literal):
            continue  # folding puts it into the regions
        if places.setdefault(atom, i) != i:
            twice[i] = places[atom]
    if not twice:
        return node
    regions = [_merged(region, twice, behind) for region in node.regions]
    inputs = tuple([a for i, a in enumerate(node.inputs) if i not in twice])
    if isinstance(node, Cond):
        return replace(node, inputs=inputs, then=regions[0], orelse=regions[1])
    if isinstance(node, While):
        return replace(node, inputs=inputs, test=regions[0], body=regions[1])
    return replace(node, inputs=inputs, body=regions[0])


def _merged(region: Graph, twice: dict[int, int], behind: int) -> Graph:
    """Return a region that reads the first of two inputs in the place of the second."""
    values: Sequence[Value] = region.inputs
    table: Table = {values[i - behind]: values[j - behind] for i, j in twice.items()}
    rest = with_table(region, table)
    inputs = tuple([v for v in values if v not in table])
    return Graph(inputs, rest.nodes, rest.outputs)
