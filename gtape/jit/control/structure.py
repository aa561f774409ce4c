"""`Structure`: what recorders see of a node that has graphs inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gtape.batching import NeedsValue
from gtape.dispatch import interpreter
from gtape.jit.graph.ir import Cond, For, Graph, Node, Op, Value, While
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Tracer
from gtape.lowering import Custom
from gtape.ops.linear import broadcast_to
from gtape.ops.math import conj
from gtape.ops.shaping import renamed_sizes
from gtape.primitive import Primitive, only_recorded
from gtape.sizes import is_size, same_shape, same_size


class Structure(Primitive):
    """A node with regions as an operation: how it is built, and its reverse rule.

    Args:
        name: "cond", "while" or "for".
        structure: (trace, atoms, attrs, origin) -> node.
        vjp: The reverse rule, which traces the backward node.
    """

    __slots__ = ("structure",)
    listed = False

    def __init__(
        self, name: str, structure: Callable[..., Any], vjp: Callable[..., Any]
    ) -> None:
        super().__init__(
            name,
            forward=only_recorded,
            spec=only_recorded,
            vjp=vjp,
            lowering=Custom(name),
            multiple=True,
            on_tensors=True,
        )
        self.structure = structure


def tracer() -> Tracer:
    """Return the current tracer.

    Raises:
        NeedsValue: In a batch, whose elements then run one by one.
    """
    found = interpreter()
    if isinstance(found, Tracer):
        return found
    raise NeedsValue


def is_float(atom: Any) -> bool:
    """Return whether gradients flow through a value."""
    return bool(atom.dtype.kind in "fcV")


def zeros(like: Any) -> Any:
    """Return zeros of the shape and dtype of a value, which take no memory."""
    value = getattr(like, "_value", like)
    zero = tracer().constant(value.dtype.type(0))
    return broadcast_to(zero, value.shape) if len(value.shape) else zero


def fitting(symbol: Symbol, like: Any) -> Any:
    """Return a cotangent in the shape that its value has."""
    value = getattr(like, "_value", like)
    before, after = symbol._value.shape, value.shape
    if same_shape(before, after):
        return symbol
    if len(before) == len(after) and all(
        same_size(a, b) or is_size(a) or is_size(b)
        for a, b in zip(before, after, strict=True)
    ):
        # The same size under another name: nobody can know it while tracing.
        return renamed_sizes(symbol, after)
    return broadcast_to(symbol, after)


def as_rule(c: Any) -> Any:
    """Return a cotangent as a rule returns it: tapes conjugate what rules give."""
    return conj(c) if c is not None and c.dtype.kind == "c" else c


def dependencies(graph: Graph) -> list[set[int]]:
    """Return for each output the inputs on which it depends differentiably."""
    place = {value: i for i, value in enumerate(graph.inputs)}
    found: dict[Value, set[int]] = {
        value: {i} for value, i in place.items() if is_float(value)
    }
    for node in graph.nodes:
        ins = [
            found.get(a, set()) if isinstance(a, Value) else set() for a in node.inputs
        ]
        for value, sources in zip(node.outputs, _through(node, ins), strict=True):
            if sources and is_float(value):
                found[value] = sources
    return [
        found.get(out, set()) if isinstance(out, Value) else set()
        for out in graph.outputs
    ]


def _through(node: Node, ins: Sequence[set[int]]) -> list[set[int]]:
    """Return for each output of a node what it depends on, given its inputs'."""
    if isinstance(node, Op):
        whole: set[int] = set()
        if node.primitive.vjp is not None:
            whole = whole.union(*ins)
        return [whole for _ in node.outputs]
    if isinstance(node, Cond):
        both = [dependencies(g) for g in node.regions]
        return [
            set().union(*[ins[i + 1] for i in a | b])
            for a, b in zip(*both, strict=True)
        ]
    assert isinstance(node, (For, While))
    first = 1 if isinstance(node, For) else 0  # the number of trips stands before
    values = list(ins[first:])
    inner = dependencies(node.body)
    carried = node.carried
    changed = True
    while changed:
        changed = False
        for j in range(carried):
            new = values[j].union(*[values[i - first] for i in inner[j] if i >= first])
            if new != values[j]:
                values[j], changed = new, True
    outs = [values[j] for j in range(carried)]
    for j in range(carried, len(inner)):
        outs.append(set().union(*[values[i - first] for i in inner[j] if i >= first]))
    return outs + [set()] * (len(node.outputs) - len(outs))
