"""What tracers need of the modules further down, in one object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.dtypes import as_numpy_dtype, concrete, promote
from gtape.errors import ArgumentTypeError
from gtape.jit.control.custom_rule import custom_rule
from gtape.jit.control.loops import for_loop
from gtape.jit.graph.interpret import interpret
from gtape.jit.graph.ir import Atom, Graph, Literal, Node, Op, Value
from gtape.jit.hooks.calls import call
from gtape.jit.hooks.facade import HOOKS
from gtape.jit.hooks.functional import ControlServices
from gtape.jit.hooks.functions import TENSORS, is_traced
from gtape.jit.hooks.host import HostServices
from gtape.jit.hooks.sequences import traced_int
from gtape.jit.tracing.number import (
    FLOAT64,
    TracedNumber,
    as_float,
    as_number,
    together,
)
from gtape.jit.tracing.state import Cell
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Tracer
from gtape.ops import linear
from gtape.ops.common import convert
from gtape.ops.traced import PYTHON


class TracingServices(ControlServices, HostServices):
    """The services of a trace.

    Args:
        autograph: Whether the functions that are called are converted.
        changing: The places of the numbers outside that are inputs of the graph.
    """

    def __init__(self, autograph: bool, changing: frozenset[Any] = frozenset()) -> None:
        self._autograph = autograph
        self.changing = changing

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function of the user's, converted."""
        if self._autograph:
            return call(HOOKS, function, *args, **kwargs)
        return function(*args, **kwargs)

    def count(self, start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
        """Return a range of traced numbers as a tensor; `None` if none is traced."""
        named = (start, limit, delta)
        if not any(is_traced(n) for n in named):
            return None
        kinds = [_kind(n) for n in named]
        target = concrete(promote(promote(kinds[0], kinds[1]), kinds[2]))
        target = target if dtype is None else as_numpy_dtype(dtype)
        first: Any
        step: Any
        if any(_is_float(k) for k in kinds):
            first, end, step = [_as_float(n) for n in named]
            count = _trips(first, end, step)
        else:
            first, end, step = [traced_int("range", n) for n in named]
            first, end, step = as_number(first), as_number(end), as_number(step)
            count = _trips(first, end, step)

        def row(i: Symbol, carry: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            number = first + TracedNumber(int, i, None) * step
            return [], [linear.cast(number.symbol, target)]

        _, [rows] = for_loop(count.symbol, row, [])
        return rows

    def custom_rule(
        self, here: Tracer, tensors: Any, outputs: Any, rule: Any
    ) -> tuple[Any, ...]:
        """Return outputs whose gradients are by a rule."""
        return custom_rule(here, tensors, outputs, rule)

    def evaluate(self, here: Tracer, symbol: Symbol) -> Any:
        """Return what a symbol is in this call; random states move on for real."""
        cells = [
            cell
            for cell in here.trace.cells.values()
            if cell.current is not cell.entry and hasattr(cell.owner, "counter")
        ]
        array, *states = evaluated(here, [symbol, *[c.current for c in cells]])
        for cell, state in zip(cells, states, strict=True):
            _move_on(cell, state)
        return np.array(array)[()]


def _move_on(cell: Cell, state: Any) -> None:
    seed, counter = state.tolist()
    cell.owner.reset(seed, counter)
    cell.current = cell.entry


def evaluated(here: Tracer, symbols: Sequence[Symbol]) -> list[Any]:
    """Return what symbols are in the call that is traced."""
    root = here.trace.root.builder
    nodes: list[Node] = []
    tracers = []
    tracer: Tracer | None = here
    while tracer is not None:
        tracers.append(tracer)
        tracer = tracer.around
    renamed: dict[Atom, Atom] = {}
    for tracer in reversed(tracers):
        for (outer, _), inner in tracer.builder.captures.items():
            renamed[inner] = renamed.get(outer, outer)
        nodes += [_renamed(node, renamed) for node in tracer.builder.nodes]
    outputs = tuple([_one(s._value, renamed) for s in symbols])
    graph = _needed(Graph(tuple(root.inputs), tuple(nodes), outputs))
    return list(interpret(graph, [_array(here, v) for v in graph.inputs]))


def _one(atom: Any, renamed: dict[Atom, Atom]) -> Any:
    return atom if isinstance(atom, Literal) else renamed.get(atom, atom)


def _renamed(node: Node, renamed: dict[Atom, Atom]) -> Any:
    if not renamed:
        return node
    inputs = tuple([_one(a, renamed) for a in node.inputs])
    return type(node)(**{**_fields(node), "inputs": inputs})


def _fields(node: Node) -> dict[str, Any]:
    return {name: getattr(node, name) for name in node.__dataclass_fields__}


def _needed(graph: Graph) -> Graph:
    """Return the graph with what its outputs depend on, and nothing else."""
    wanted = {out for out in graph.outputs if isinstance(out, Value)}
    nodes = []
    for node in reversed(graph.nodes):
        effect = isinstance(node, Op) and node.primitive.effect
        if effect or wanted.isdisjoint(node.outputs):
            continue
        wanted.update(a for a in node.inputs if isinstance(a, Value))
        nodes.append(node)
    return Graph(graph.inputs, tuple(reversed(nodes)), graph.outputs)


def _array(here: Tracer, value: Value) -> Any:
    """Return what an input of the graph is in this call."""
    found = here.trace.values.get(value)
    if found is not None:
        return found
    for slot in here.trace.slots:
        if slot.value is value:
            owner = slot.owner
            if slot.kind == "variable":
                return owner._tensor._array
            if slot.kind == "number":
                return value.dtype.type(owner.read())
            if slot.kind == "state":
                return np.array([owner.seed, owner.counter], np.uint64)
            return owner._array if slot.kind == "tensor" else np.asarray(owner)
    raise ArgumentTypeError(
        "a variable begins with a value that depends on an argument without one",
        "Call the function with tensors before asking for its concrete function",
    )


def _kind(number: Any) -> Any:
    if isinstance(number, TracedNumber):
        return number.kind
    if isinstance(number, TENSORS):
        return as_numpy_dtype(number.dtype)
    return float if isinstance(number, float) else int


def _is_float(kind: Any) -> bool:
    return kind is float or getattr(kind, "kind", "i") in "fV"


def _as_float(number: Any) -> TracedNumber:
    if isinstance(number, TENSORS):
        return TracedNumber(float, linear.cast(convert(number), FLOAT64), None)
    return as_float(as_number(number))


def _trips(*numbers: TracedNumber) -> TracedNumber:
    """Return how many numbers a range has, given start, limit and delta."""
    symbol = dispatch.apply(PYTHON["trips"], *[n.symbol for n in numbers])
    return TracedNumber(int, symbol, together(*numbers))
