"""What the unknown sizes of a graph are called where it is run again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from gtape.jit.graph.attrs import changed_sizes, has_size
from gtape.jit.graph.ir import Graph, Literal, Node, Op, Value
from gtape.jit.graph.rewrite import in_regions
from gtape.sizes import Integer, Unknown, is_size, size_of_unknown
from gtape.spec import TensorSpec


class Sizes:
    """The sizes that stand for unknowns of a graph that is run again."""

    __slots__ = ("_table",)

    def __init__(self) -> None:
        self._table: dict[Unknown, Integer] = {}

    def meet(self, before: Sequence[Any], now: Sequence[Any]) -> None:
        """Note what an operand's sizes are that were unknown before."""
        for old, new in zip(before, now, strict=True):
            if not is_size(old) or old.unknown is None:
                continue
            if is_size(new) and new.unknown is old.unknown:
                continue
            self._table[old.unknown] = new

    def changed(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return attributes in terms of the sizes there are now."""
        if not self._table:
            return attrs
        attrs = changed_sizes(attrs, self._of)
        return {
            k: self._graph(v) if isinstance(v, Graph) else v for k, v in attrs.items()
        }

    def _of(self, unknown: Unknown) -> Integer:
        found = self._table.get(unknown)
        return size_of_unknown(unknown) if found is None else found

    def _graph(self, graph: Graph) -> Graph:
        if not self._concern(graph):
            return graph
        values: dict[Value, Value] = {}

        def new(value: Value) -> Value:
            if value not in values:
                values[value] = Value(self._spec(value.spec))
            return values[value]

        def atom(a: Any) -> Any:
            return a if isinstance(a, Literal) else new(a)

        inputs = tuple([new(v) for v in graph.inputs])
        nodes: list[Node] = []
        for node in graph.nodes:
            fields: dict[str, Any] = {
                "inputs": tuple([atom(a) for a in node.inputs]),
                "outputs": tuple([new(v) for v in node.outputs]),
            }
            if isinstance(node, Op):
                fields["attrs"] = self.changed(node.attrs)
            node = in_regions(dataclasses.replace(node, **fields), self._graph)
            nodes.append(node)
        return Graph(inputs, tuple(nodes), tuple([atom(out) for out in graph.outputs]))

    def _spec(self, spec: TensorSpec) -> TensorSpec:
        if not has_size(tuple(spec.shape)):
            return spec
        shape = changed_sizes({"shape": tuple(spec.shape)}, self._of)["shape"]
        return TensorSpec(shape, spec.dtype)

    def _concern(self, graph: Graph) -> bool:
        """Return whether a graph holds an unknown that is called otherwise now."""
        for value in graph.inputs:
            if has_size(tuple(value.spec.shape)):
                return True
        return any(
            has_size(node.attrs) if isinstance(node, Op) else True
            for node in graph.walk()
        )
