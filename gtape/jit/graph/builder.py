"""`Builder`: appends nodes to a graph, and turns what regions use into operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from gtape.errors import TracingError
from gtape.jit.graph.ir import Atom, Graph, Literal, Node, Value
from gtape.spec import TensorSpec

Capture: TypeAlias = "tuple[Atom, int]"
"""An outer value that a region uses, and the key under which tapes follow it, or 0."""


class Builder:
    """A graph under construction.

    A region may use values of the graphs around it: the builder gives it an input of
    its own for each, and whoever closes the region makes the outer values operands.

    Args:
        parent: The builder of the graph around this one.
    """

    __slots__ = ("captures", "defined", "inputs", "nodes", "parent")

    def __init__(self, parent: Builder | None = None) -> None:
        self.parent = parent
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.defined: set[Value] = set()
        self.captures: dict[Capture, Value] = {}  # the inner value of each

    def add_input(self, spec: TensorSpec) -> Value:
        """Return a new input of the graph."""
        value = Value(spec)
        self.inputs.append(value)
        self.defined.add(value)
        return value

    def add(self, node: Node) -> None:
        """Append a node whose inputs have gone through `atom`."""
        self.nodes.append(node)
        self.defined.update(node.outputs)

    def knows(self, atom: Atom) -> bool:
        """Return whether a value is defined here or in a graph around."""
        if isinstance(atom, Literal):
            return True
        builder: Builder | None = self
        while builder is not None:
            if atom in builder.defined:
                return True
            builder = builder.parent
        return False

    def atom(self, atom: Atom, key: int = 0) -> Atom:
        """Return an atom as one of this graph: an outer value as an input of its own.

        Args:
            atom: A literal, or a value of this graph or one around it.
            key: The number under which recorders follow it, if they do.

        Raises:
            TracingError: If it belongs to a graph that is closed or is another's.
        """
        if isinstance(atom, Literal):
            if key <= 0 or self.parent is None:
                return atom  # no tape around asks for a gradient by it
        elif atom in self.defined:
            return atom
        capture = (atom, max(key, 0))
        inner = self.captures.get(capture)
        if inner is not None:
            return inner
        if self.parent is None or not self.parent.knows(atom):
            raise TracingError(
                f"a traced tensor of {atom.spec} is used outside the function, branch "
                "or loop that computed it",
                "Return it, or assign it to a local name that is defined before",
            )
        inner = Value(atom.spec)
        self.defined.add(inner)
        self.captures[capture] = inner
        return inner

    def close(self, outputs: Sequence[Atom], operands: Sequence[Capture] = ()) -> Graph:
        """Return the graph.

        Args:
            outputs: Atoms, of this graph or of those around it.
            operands: The outer values that stand behind its own inputs, in order; at
                least those that it uses.
        """
        results = tuple([self.atom(out) for out in outputs])
        tail = [self.captures.get(o) or Value(o[0].spec) for o in operands]
        return Graph((*self.inputs, *tail), tuple(self.nodes), results)


def close_regions(
    builders: Sequence[Builder], outputs: Sequence[Sequence[Atom]]
) -> tuple[list[Graph], list[Capture]]:
    """Close regions that take the same operands.

    Returns:
        The graphs, and the outer values that stand behind their last inputs.
    """
    for builder, results in zip(builders, outputs, strict=True):
        for out in results:
            builder.atom(out)
    union: dict[Capture, None] = {}
    for builder in builders:
        union.update(dict.fromkeys(builder.captures))
    operands = list(union)
    pairs = zip(builders, outputs, strict=True)
    return [b.close(results, operands) for b, results in pairs], operands
