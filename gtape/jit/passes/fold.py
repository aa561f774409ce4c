"""Graph -> Graph with what is known now computed: constants, branches, empty loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from gtape.dispatch import on_arrays
from gtape.jit.graph.attrs import has_size
from gtape.jit.graph.interpret import runs_user_code
from gtape.jit.graph.ir import (
    Atom,
    Cond,
    For,
    Graph,
    Literal,
    Node,
    Op,
    Value,
    While,
)
from gtape.jit.graph.rewrite import (
    Instead,
    Table,
    has_effect,
    in_regions,
    inlined,
    replaced,
    same_spec,
    with_table,
)
from gtape.spec import TensorSpec

LARGEST = 1 << 16  # bytes of a result that is computed now
_SPREAD = 16  # elements that a constant may be spread to


def fold(graph: Graph) -> Graph:
    """Return a graph in which what depends on constants only is a constant.

    A branch whose predicate is known stands in the place of its node, and loops that
    make no trip or one are gone. Constants that are operands go into the regions.

    Args:
        graph: The graph.
    """

    def step(node: Node) -> Instead | None:
        if isinstance(node, Op):
            return _computed(node)
        new = in_regions(_with_literals(node), fold)
        instead = None
        if isinstance(new, Cond):
            instead = _chosen(new)
        elif isinstance(new, For):
            instead = _few_trips(new)
        elif isinstance(new, While):
            instead = _no_trip(new)
        if instead is None and new is not node:
            instead = Instead([new], new.outputs)
        return instead

    return replaced(graph, step)


# --- Operations -----------------------------------------------------------------------


def _computed(node: Op) -> Instead | None:
    """Return the outputs of an operation on constants as constants."""
    arrays = [atom.array for atom in node.inputs if isinstance(atom, Literal)]
    if len(arrays) < len(node.inputs) or not _is_cheap(node, arrays):
        return None
    try:
        out = on_arrays(node.primitive.forward, *arrays, **node.attrs)
    except Exception:  # it must be raised when the program runs, if it comes so far
        return None
    results = out if node.primitive.multiple else (out,)
    literals = [Literal(_owned(array)) for array in results]
    pairs = zip(node.outputs, literals, strict=True)
    # The rule of a shape and the computation may disagree where the user's code runs.
    fits = all(same_spec(value.spec, literal.spec) for value, literal in pairs)
    return Instead([], literals) if fits else None


def _is_cheap(node: Op, arrays: Sequence[Any]) -> bool:
    if has_effect(node) or runs_user_code(node.primitive) or has_size(node.attrs):
        return False
    specs = [value.spec for value in node.outputs]
    if any(has_size(tuple(s.shape)) or None in tuple(s.shape) for s in specs):
        return False
    given = max([array.size for array in arrays], default=1)
    # A number that fills a tensor costs nothing where it is read; the tensor would.
    if any(_count(s) > max(given, _SPREAD) for s in specs):
        return False
    return sum([_count(s) * s.dtype.size for s in specs]) <= LARGEST


def _count(spec: TensorSpec) -> int:
    return prod(tuple(spec.shape))


def _owned(array: Any) -> Any:
    """Return an array that stands in memory in its own order, and is read-only."""
    if array.ndim == 0:
        return array[()]
    out = np.ascontiguousarray(array)
    out = out.copy() if out is array else out
    out.flags.writeable = False
    return out


# --- Constants as operands ------------------------------------------------------------


def _with_literals(node: Node) -> Node:
    """Return a node whose constant operands stand in its regions instead.

    Only operands that are the same in each trip can: those of branches, and the
    invariants of loops. In a branch the predicate is known, too.
    """
    first = 1
    if isinstance(node, (While, For)):
        first = node.carried + isinstance(node, For)
    places = [i for i in range(first, len(node.inputs)) if _is_known(node, i)]
    if not places:
        return node
    # The predicate of a branch is no input of its regions.
    behind = 1 if isinstance(node, Cond) else 0
    regions = []
    for region, predicate in zip(node.regions, (True, False), strict=False):
        table: Table = {}
        for i in places:
            atom = node.inputs[i]
            if not isinstance(atom, Literal):
                atom = Literal(np.bool_(predicate))
            table[region.inputs[i - behind]] = atom
        inputs = tuple([v for v in region.inputs if v not in table])
        rest = with_table(region, table)
        regions.append(Graph(inputs, rest.nodes, rest.outputs))
    kept = tuple([a for i, a in enumerate(node.inputs) if i not in places])
    if isinstance(node, Cond):
        return replace(node, inputs=kept, then=regions[0], orelse=regions[1])
    if isinstance(node, While):
        return replace(node, inputs=kept, test=regions[0], body=regions[1])
    if isinstance(node, For):
        return replace(node, inputs=kept, body=regions[0])
    return node


def _is_known(node: Node, i: int) -> bool:
    atom = node.inputs[i]
    if isinstance(atom, Literal):
        return True
    return isinstance(node, Cond) and atom is node.inputs[0]


# --- Control flow ---------------------------------------------------------------------


def _chosen(node: Cond) -> Instead | None:
    """Return the branch of a known predicate."""
    predicate = node.inputs[0]
    if not isinstance(predicate, Literal):
        return None
    branch = node.then if bool(predicate.array) else node.orelse
    # Where the result has a size with a name of its own, later nodes may want it.
    if not _same_specs(node.outputs, branch.outputs):
        return None
    return inlined(branch, node.inputs[1:])


def _few_trips(node: For) -> Instead | None:
    """Return what stands for a loop of no trip or one, if it stacks nothing."""
    trips = node.inputs[0]
    if not isinstance(trips, Literal) or int(trips.array) > 1:
        return None
    if len(node.outputs) > node.carried:
        return None
    start = node.inputs[1 : 1 + node.carried]
    if int(trips.array) < 1:
        return Instead([], start) if _same_specs(node.outputs, start) else None
    fits = _same_specs(node.body.inputs[1:], node.inputs[1:])
    if not fits or not _same_specs(node.outputs, node.body.outputs):
        return None
    return inlined(node.body, [Literal(np.int64(0)), *node.inputs[1:]])


def _no_trip(node: While) -> Instead | None:
    """Return what stands for a loop whose test fails at once, if it stacks nothing."""
    if len(node.outputs) != node.carried + 1 or node.limit is not None:
        return None
    start = node.inputs[: node.carried]
    table: Table = {
        value: atom
        for value, atom in zip(node.test.inputs, node.inputs, strict=True)
        if isinstance(atom, Literal)
    }
    if any(map(has_effect, node.test.nodes)):
        return None
    [first] = fold(with_table(node.test, table)).outputs
    if not isinstance(first, Literal) or bool(first.array):
        return None
    if not _same_specs(node.outputs[: node.carried], start):
        return None
    return Instead([], [*start, Literal(np.int64(0))])


def _same_specs(values: Sequence[Value], atoms: Sequence[Atom]) -> bool:
    pairs = zip(values, atoms, strict=True)
    return all(same_spec(value.spec, atom.spec) for value, atom in pairs)
