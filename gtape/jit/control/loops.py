"""How `for` and `while` are built; their reverse rules stand in `loop_rules`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gtape.config import settings
from gtape.dispatch import apply
from gtape.errors import Origin
from gtape.jit.control.cond import note_reads
from gtape.jit.control.pull import STRUCTURES
from gtape.jit.control.structure import tracer
from gtape.jit.graph.attrs import unknowns_in
from gtape.jit.graph.builder import close_regions
from gtape.jit.graph.ir import Atom, For, Graph, Literal, Op, Value, While
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Trace, Tracer
from gtape.lowering import Contract, Custom
from gtape.spec import TensorSpec

COUNT = TensorSpec((), "int64")
Body = Callable[..., "tuple[Sequence[Any], Sequence[Any]]"]


def _outputs(
    trace: Trace, body: Graph, first: int, carried: int, rows: Any, limit: int | None
) -> list[Value]:
    """Return the results of a loop: the carry, then the stacks."""
    values = [Value(v.spec) for v in body.inputs[first : first + carried]]
    if limit is not None:
        rows = trace.unknown("kept")
    for out in body.outputs[carried:]:
        values.append(Value(TensorSpec((rows, *out.spec.shape), out.spec.dtype)))
    return values


def for_structure(
    trace: Trace, atoms: tuple[Atom, ...], attrs: dict[str, Any], origin: Origin
) -> For:
    """Return the node of a counted loop."""
    body, carried, limit = attrs["body"], attrs["carried"], attrs["limit"]
    trips = atoms[0]
    known = int(trips.array) if isinstance(trips, Literal) else None
    rows: Any = trace.unknown("trips") if known is None else known
    values = _outputs(trace, body, 1, carried, rows, limit)
    stride = [] if limit is None else [Value(COUNT)]
    return For(
        inputs=atoms,
        outputs=(*values, *stride),
        origin=origin,
        body=body,
        carried=carried,
        reverse=attrs["reverse"],
        limit=limit,
    )


def while_structure(
    trace: Trace, atoms: tuple[Atom, ...], attrs: dict[str, Any], origin: Origin
) -> While:
    """Return the node of a loop with a test."""
    body, carried, limit = attrs["body"], attrs["carried"], attrs["limit"]
    rows = trace.unknown("trips")
    values = _outputs(trace, body, 0, carried, rows, limit)
    stride = [] if limit is None else [Value(COUNT)]
    return While(
        inputs=atoms,
        outputs=(*values, Value(COUNT), *stride),
        origin=origin,
        test=attrs["test"],
        body=body,
        carried=carried,
        limit=limit,
    )


# --- Building -------------------------------------------------------------------------


def for_loop(
    trips: Symbol,
    body: Body,
    carry: Sequence[Symbol],
    reverse: bool = False,
) -> tuple[list[Any], list[Any]]:
    """Trace a loop with a known number of trips.

    Args:
        trips: An int64 scalar.
        body: (i, carry) -> (carry, what is stacked), in a region of its own; the carry
            keeps its shapes and dtypes.
        carry: The values at the start.
        reverse: Whether i runs from trips - 1 to 0.

    Returns:
        The carry at the end, and the stacks.
    """
    side = tracer().child()
    i = Symbol(side.builder.add_input(COUNT), home=side.builder)
    inner = [
        Symbol(side.builder.add_input(x._value.spec), home=side.builder) for x in carry
    ]
    with side.tracing():
        new, stacked = body(i, inner)
    return close_for(trips, side, carry, inner, new, stacked, reverse)


def close_for(
    trips: Symbol,
    side: Tracer,
    carry: Sequence[Symbol],
    inner: Sequence[Symbol],
    new: Sequence[Symbol],
    stacked: Sequence[Symbol],
    reverse: bool = False,
    bounded: bool = False,
) -> tuple[list[Any], list[Any]]:
    """Close the body of a counted loop that has been traced."""
    atoms = [side.atom(x) for x in (*new, *stacked)]
    atoms += _saves(side, inner)
    [graph], captures = close_regions([side.builder], [atoms])
    operands = [Symbol(value, key) for value, key in captures]
    note_reads([side])
    out = apply(
        STRUCTURES[For],
        trips,
        *carry,
        *operands,
        body=graph,
        carried=len(carry),
        reverse=reverse,
        limit=_limit(stacked) if bounded else None,
    )
    count = len(carry)
    return list(out[:count]), list(out[count : count + len(stacked)])


def close_while(
    test: Tracer,
    truth: Symbol,
    side: Tracer,
    carry: Sequence[Symbol],
    inner: Sequence[Symbol],
    new: Sequence[Symbol],
    stacked: Sequence[Symbol],
) -> tuple[list[Any], list[Any], Any]:
    """Close the test and the body of a loop that have been traced.

    Returns:
        The carry at the end, the stacks, and the number of trips.
    """
    atoms = [side.atom(x) for x in (*new, *stacked)]
    atoms += _saves(side, inner)
    regions = [test.builder, side.builder]
    graphs, captures = close_regions(regions, [[test.atom(truth)], atoms])
    operands = [Symbol(value, key) for value, key in captures]
    note_reads([test, side])
    out = apply(
        STRUCTURES[While],
        *carry,
        *operands,
        test=graphs[0],
        body=graphs[1],
        carried=len(carry),
        limit=_limit(stacked),
    )
    count = len(carry)
    return list(out[:count]), list(out[count : count + len(stacked)]), out[len(atoms)]


def _limit(stacked: Sequence[Symbol]) -> int | None:
    """Return the most bytes of what is kept for gradients; lists are kept whole."""
    return None if stacked else settings.max_saved_bytes


def _saves(side: Tracer, inner: Sequence[Symbol]) -> list[Atom]:
    """Return what a gradient will want of each trip: the carry, expensive results."""
    values: list[Atom] = [x._value for x in inner if _is_fixed(side, x._value)]
    for node in side.builder.nodes:
        if isinstance(node, Op) and not node.primitive.effect:
            costly = isinstance(node.primitive.lowering, (Contract, Custom))
            if costly and node.primitive.vjp is not None:
                values += [v for v in node.outputs if _is_fixed(side, v)]
    return values


def _is_fixed(side: Tracer, value: Atom) -> bool:
    """Return whether a value has the same shape in every trip, so that it stacks."""
    if not unknowns_in(tuple(value.shape)):
        return True
    outside = set()
    around = side.around
    while around is not None:
        for known in around.builder.defined:
            outside |= unknowns_in(tuple(known.shape))
        around = around.around
    return unknowns_in(tuple(value.shape)) <= outside
