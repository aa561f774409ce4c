"""Text -> graph: reads what the printer writes."""

from __future__ import annotations

from typing import Any

from gtape.jit.graph.ir import Graph


def parse_graph(text: str, constants: dict[str, Any] | None = None) -> Graph:
    """Return the graph that a text says.

    Args:
        text: What `print_graph` gives.
        constants: The large arrays, by the names that the text has for them.

    Raises:
        ArgumentError: If the text is not that of a graph, naming the line.
    """
    return Graph.parse(text, constants)
