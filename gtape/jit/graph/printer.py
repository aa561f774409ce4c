"""Graph -> text: the form that the tests of passes compare, and that `parse` reads."""

from __future__ import annotations

import os
from typing import Any

from gtape.jit.graph.text import Writer

# This file knows the nodes by what they have, not by their classes, so that `Graph` can
# be printed with its help.


def print_graph(graph: Any, show_lines: bool = False) -> str:
    """Return a graph as text.

    Values are numbered in order, anew in each region; a region stands under the node
    that holds it. Below stand the large arrays, and the bounds that are known of sizes.

    Args:
        graph: The graph.
        show_lines: Whether each node says the user's line that it comes from.
    """
    printer = _Printer(show_lines)
    printer.graph(graph, 0, "")
    writer = printer.writer
    for name, array in writer.constants.items():
        printer.lines.append(f"{name}: {array.dtype.name}{writer.shape(array.shape)}")
    for unknown, name in writer.unknowns.items():
        if unknown.least > 0:
            printer.lines.append(f"{name} >= {unknown.least}")
    return "\n".join(printer.lines)


def constants_of(graph: Any) -> dict[str, Any]:
    """Return the large arrays of a graph, by the names that its text gives them."""
    printer = _Printer(False)
    printer.graph(graph, 0, "")
    return printer.writer.constants


class _Printer:
    """Writes the lines of a graph and its regions."""

    def __init__(self, show_lines: bool) -> None:
        self.show_lines = show_lines
        self.lines: list[str] = []
        self.writer = Writer()

    def graph(self, graph: Any, depth: int, label: str) -> None:
        names: dict[int, str] = {}
        inputs = self._defined(graph.inputs, names)
        self._line(depth, f"graph({inputs}):", label)
        for node in graph.nodes:
            self._node(node, depth + 1, names)
        outputs = self._atoms(graph.outputs, names)
        self._line(depth + 1, f"return {outputs}".rstrip(), "")

    def _node(self, node: Any, depth: int, names: dict[int, str]) -> None:
        self.writer.graphs = []
        inputs = self._atoms(node.inputs, names)
        word, attrs, labels = self._kind(node)
        said = self.writer.attrs(attrs) if attrs else ""
        inner = [*self.writer.graphs, *node.regions]
        outputs = self._defined(node.outputs, names)
        text = " ".join(part for part in (word, inputs, said) if part)
        text = f"{outputs} = {text}" if outputs else text
        file, line, _ = node.origin
        place = f"{os.path.basename(file)}:{line}" if self.show_lines else ""
        self._line(depth, text, place)
        labels = labels or ["rule"] * len(inner)
        for region, label in zip(inner, labels, strict=True):
            self.graph(region, depth + 1, label)

    @staticmethod
    def _kind(node: Any) -> tuple[str, dict[str, Any], list[str]]:
        """Return what a node is, its attributes, and what its regions are."""
        if hasattr(node, "primitive"):
            return node.primitive.name, node.attrs, []
        if hasattr(node, "then"):
            return "cond", {}, ["then", "else"]
        attrs: dict[str, Any] = {"carried": node.carried}
        if getattr(node, "reverse", False):
            attrs["reverse"] = True
        if node.limit is not None:
            attrs["limit"] = node.limit
        if hasattr(node, "test"):
            return "while", attrs, ["test", "body"]
        return "for", attrs, ["body"]

    def _defined(self, values: Any, names: dict[int, str]) -> str:
        for value in values:
            names[id(value)] = f"%{len(names)}"
        specs = [f"{names[id(v)]}: {self.writer.spec(v.spec)}" for v in values]
        return ", ".join(specs)

    def _atoms(self, atoms: Any, names: dict[int, str]) -> str:
        return ", ".join(
            [
                self.writer.literal(a.array)
                if hasattr(a, "array")
                else names.get(id(a), "%?")  # a fault of the graph, shown as one
                for a in atoms
            ]
        )

    def _line(self, depth: int, text: str, comment: str) -> None:
        end = f"  # {comment}" if comment else ""
        self.lines.append(f"{'  ' * depth}{text}{end}")
