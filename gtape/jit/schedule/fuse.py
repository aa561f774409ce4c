"""Graph -> Plan: which values are stored, and which loops compute what.

Every step runs at a level: behind all that it needs whole. Values that are computed
element by element are put into the kernel over their shape at their level, so that one
pass over memory gives many results; the rest of them is computed where it is read.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from gtape.jit.graph.attrs import unknowns_in
from gtape.jit.graph.ir import Cond, For, Graph, Node, Op, Value, While
from gtape.jit.graph.rewrite import sizes_read
from gtape.jit.schedule.nodes import (
    EXPENSIVE,
    factor_of,
    is_inline,
    is_product,
    is_reshape,
    may_fail,
    words_of,
)
from gtape.jit.schedule.plan import (
    Branch,
    Dims,
    Kernel,
    LibraryCall,
    Loop,
    Plan,
    Register,
    Step,
)
from gtape.lowering import Fold, Map
from gtape.sizes import Unknown, same_shape

_LARGEST = 24
"""Words in an expression that is computed again for each reader."""


def plan_of(graph: Graph) -> Plan:
    """Return the plan of a graph."""
    return _Planner(graph).plan()


class _Planner:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._makers: dict[Value, Node] = {}
        self._readers: dict[Value, list[Node]] = defaultdict(list)
        for node in graph.nodes:
            self._makers.update(dict.fromkeys(node.outputs, node))
            for atom in self._inputs(node):
                if isinstance(atom, Value):
                    self._readers[atom].append(node)
        self._outputs = {a for a in graph.outputs if isinstance(a, Value)}
        self._stored: set[Value] = set()
        self._level: dict[Value, int] = {}  # where a value is there, element by element
        self._whole: dict[Value, int] = {}  # and where all of it is
        # Where an unknown size is known; those of the inputs are from the start.
        self._lengths: dict[Unknown, int] = {}
        for value in graph.inputs:
            self._lengths |= dict.fromkeys(unknowns_in({"s": tuple(value.shape)}), 0)
        self._effects = 0

    def _inputs(self, node: Node) -> list[Any]:
        """Return what a node reads; of a matrix product what BLAS takes."""
        if not is_product(node):
            return list(node.inputs)
        return [factor_of(atom, self._makers)[0] for atom in node.inputs]

    # --- Which values are stored ------------------------------------------------------

    def _inline(self, value: Value) -> bool:
        """Whether a value is no number, and computed element by element."""
        node = self._makers.get(value)
        return node is not None and value.ndim > 0 and is_inline(node)

    def _reach(self) -> dict[Value, set[Any]]:
        """Return for each inline value what reads it in the end, through others.

        Two readers that are in one kernel for sure count once.
        """
        behind: dict[Value, int] = {}  # the barriers before a value
        for node in self._graph.nodes:
            before = [behind.get(a, 0) for a in node.inputs if isinstance(a, Value)]
            level = max(before, default=0) + (not is_inline(node))
            behind.update(dict.fromkeys(node.outputs, level))
        found: dict[Value, set[Any]] = defaultdict(set)
        for node in reversed(self._graph.nodes):
            for value in node.outputs:
                if not self._inline(value):
                    continue
                kernel = (tuple(map(str, value.shape)), behind[value])
                here = found[value]
                if value in self._outputs:
                    here.add(kernel)
                for reader in self._readers[value]:
                    if not is_inline(reader):
                        here.add(kernel)
                        continue
                    [out] = reader.outputs
                    if self._same_index(reader, value):
                        here |= found[out]
                        if out.ndim == 0:
                            here.add(("number", out))
                    else:
                        here |= {(*key, "elsewhere") for key in found[out]} or {
                            ("number", out)
                        }
        return found

    def _same_index(self, reader: Node, value: Value) -> bool:
        """Return whether a reader reads each element once, at the same place."""
        assert isinstance(reader, Op)
        if is_reshape(reader):
            return True
        [out] = reader.outputs
        whole = isinstance(reader.primitive.lowering, Map)
        return whole and same_shape(tuple(out.shape), tuple(value.shape))

    def _decide(self) -> None:
        """Choose the values that are stored."""
        reach = self._reach()
        size: dict[Value, int] = {}
        heavy: dict[Value, bool] = {}
        for node in self._graph.nodes:
            if not is_inline(node):
                continue
            assert isinstance(node, Op)
            [value] = node.outputs
            if value.ndim == 0:
                continue
            words = ["view"]
            if isinstance(node.primitive.lowering, Map):
                words = words_of(node.primitive.lowering.tree)
            parts = [
                a
                for a in node.inputs
                if isinstance(a, Value) and self._inline(a) and a not in self._stored
            ]
            size[value] = len(words) + sum([size[p] for p in parts])
            heavy[value] = not EXPENSIVE.isdisjoint(words) or any(
                heavy[p] for p in parts
            )
            if self._is_stored(value, reach[value], size[value], heavy[value]):
                self._stored.add(value)

    def _is_stored(self, value: Value, reach: set[Any], size: int, heavy: bool) -> bool:
        if value in self._outputs:
            return True
        if any(self._wants_memory(reader) for reader in self._readers[value]):
            return True
        elsewhere = any(key[-1] == "elsewhere" or key[0] == "number" for key in reach)
        if elsewhere and may_fail(self._makers[value]):
            return True  # all its elements are looked at, whoever reads which
        if len(reach) <= 1 and not elsewhere:
            return False
        if elsewhere and heavy and any(map(self._repeats(value), self._readers[value])):
            return True
        if len(reach) <= 1:
            return size > 4 * _LARGEST
        return heavy or size > _LARGEST

    def _repeats(self, value: Value) -> Any:
        """Return whether a reader reads an element more than once."""

        def repeats(reader: Node) -> bool:
            return is_inline(reader) and not self._same_index(reader, value)

        return repeats

    @staticmethod
    def _wants_memory(reader: Node) -> bool:
        """Return whether a node wants its operands as a whole."""
        if is_inline(reader):
            return False
        return not (
            isinstance(reader, Op) and isinstance(reader.primitive.lowering, Fold)
        )

    # --- Levels -----------------------------------------------------------------------

    def _level_of(self, node: Node) -> int:
        """Return the level that a node runs at."""
        level = 0
        for atom in self._inputs(node):
            if isinstance(atom, Value):
                known = self._level if self._joins(node, atom) else self._whole
                level = max(level, known.get(atom, 0))
        shapes = {"shapes": tuple([tuple(v.shape) for v in node.outputs])}
        for unknown in sizes_read(node) | unknowns_in(shapes):
            level = max(level, self._lengths.get(unknown, 0))
        return level

    def _note_lengths(self, node: Node, level: int) -> None:
        """Note the sizes that a node gives beside its results."""
        for value in node.outputs:
            for unknown in unknowns_in({"shape": tuple(value.shape)}):
                if unknown not in self._lengths:
                    self._lengths[unknown] = level

    def _note(self, node: Op, value: Value, level: int) -> None:
        """Note the levels of what is computed element by element."""
        self._level[value] = level
        whole = [self._whole.get(a, 0) for a in node.inputs if isinstance(a, Value)]
        self._whole[value] = max([level, *whole])
        if value in self._stored:  # the kernel that stores it has to be through
            self._whole[value] = level + 1

    def _joins(self, node: Node, value: Value) -> bool:
        """Return whether a node may stand in the kernel that an operand stands in."""
        if isinstance(node, Op) and isinstance(node.primitive.lowering, Fold):
            return True
        if not is_inline(node) or node.outputs[0].ndim == 0 or is_reshape(node):
            return False
        return self._same_index(node, value)

    # --- Steps ------------------------------------------------------------------------

    def plan(self) -> Plan:
        """Return the plan."""
        self._decide()
        kernels: dict[Any, list[Kernel]] = {}
        steps: dict[int, list[Step]] = defaultdict(list)
        numbers: dict[int, list[Step]] = defaultdict(list)
        for node in self._graph.nodes:
            level = self._level_of(node)
            if is_inline(node):
                assert isinstance(node, Op)
                [value] = node.outputs
                self._note(node, value, level)
                if value.ndim == 0:
                    numbers[level].append(Register(node))
                elif value in self._stored:
                    shape = tuple(value.shape)
                    kernel = self._kernel(kernels, steps, shape, (), level)
                    kernel.stores.append(value)
                continue
            if getattr(getattr(node, "primitive", None), "effect", False):
                level = self._effects = max(level, self._effects + 1)
            self._note_lengths(node, level + 1)
            for known in (self._level, self._whole):
                known.update(dict.fromkeys(node.outputs, level + 1))
            if isinstance(node, Op) and isinstance(node.primitive.lowering, Fold):
                shape, axes = tuple(node.inputs[0].shape), node.attrs["axes"]
                kernel = self._kernel(kernels, steps, shape, tuple(axes), level)
                kernel.folds.append(node)
            else:
                steps[level].append(_step(node))
        levels = sorted({*steps, *numbers})
        ordered = [s for level in levels for s in (*numbers[level], *steps[level])]
        return Plan(
            self._graph, tuple(ordered), frozenset(self._stored), dict(self._makers)
        )

    @staticmethod
    def _kernel(
        kernels: dict[Any, list[Kernel]],
        steps: dict[int, list[Step]],
        shape: Dims,
        axes: tuple[int, ...],
        level: int,
    ) -> Kernel:
        """Return the kernel over a space at a level, with folds over the axes."""
        found = kernels.setdefault((len(shape), level), [])
        for kernel in found:
            if not same_shape(kernel.space, shape):
                continue
            if not axes or not kernel.axes or kernel.axes == axes:
                kernel.axes = kernel.axes or axes
                return kernel
        kernel = Kernel(shape, axes)
        found.append(kernel)
        steps[level].append(kernel)
        return kernel


def _step(node: Node) -> Step:
    if isinstance(node, Cond):
        return Branch(node, plan_of(node.then), plan_of(node.orelse))
    if isinstance(node, While):
        return Loop(node, plan_of(node.test), plan_of(node.body))
    if isinstance(node, For):
        return Loop(node, None, plan_of(node.body))
    assert isinstance(node, Op)
    return LibraryCall(node)
