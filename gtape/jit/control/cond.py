"""The whole of `cond`: how it is built, and its reverse rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gtape.dispatch import apply
from gtape.errors import Origin
from gtape.jit.control.pull import STRUCTURES, pull
from gtape.jit.control.structure import (
    Structure,
    as_rule,
    fitting,
    is_float,
    tracer,
    zeros,
)
from gtape.jit.graph.builder import close_regions
from gtape.jit.graph.ir import Atom, Cond, Graph, Value
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Trace, Tracer
from gtape.sizes import same_size
from gtape.spec import TensorSpec


def _structure(
    trace: Trace, atoms: tuple[Atom, ...], attrs: dict[str, Any], origin: Origin
) -> Cond:
    then, orelse = attrs["then"], attrs["orelse"]
    outputs = tuple(
        [
            Value(_merged(trace, a.spec, b.spec))
            for a, b in zip(then.outputs, orelse.outputs, strict=True)
        ]
    )
    return Cond(inputs=atoms, outputs=outputs, origin=origin, then=then, orelse=orelse)


def _merged(trace: Trace, a: TensorSpec, b: TensorSpec) -> TensorSpec:
    """Return the spec of a result; sizes that differ are known only at run time."""
    dims: list[Any] = [
        x if same_size(x, y) else trace.unknown("m")
        for x, y in zip(a.shape, b.shape, strict=True)
    ]
    return TensorSpec(dims, a.dtype)


def _vjp(
    g: Sequence[Any],
    out: Any,
    predicate: Any,
    *operands: Any,
    then: Graph,
    orelse: Graph,
) -> list[Any]:
    tracer()
    wanted = [i for i, x in enumerate(operands) if is_float(x)]

    def branch(graph: Graph) -> Callable[[], list[Any]]:
        return lambda: pull(graph, operands, g, wanted)

    found = cond(predicate, branch(then), branch(orelse), [operands[i] for i in wanted])
    pulled: list[Any] = [None] * (1 + len(operands))
    for i, c in zip(wanted, found, strict=True):
        pulled[1 + i] = as_rule(c)
    return pulled


COND = Structure("cond", _structure, _vjp)
STRUCTURES[Cond] = COND


def cond(
    predicate: Symbol,
    then: Callable[[], Sequence[Any]],
    orelse: Callable[[], Sequence[Any]],
    like: Sequence[Any] | None = None,
) -> list[Any]:
    """Trace both branches, and return the results of the one that will be taken.

    Args:
        predicate: A bool scalar.
        then: Returns symbols, in a region of its own; with `like` some may be `None`.
        orelse: The same.
        like: Values whose shape and dtype the results have; then a result that is
            `None` in one branch is zero there, and one that is so in both stays `None`.
    """
    here = tracer()
    sides: list[Tracer] = []
    results: list[list[Any]] = []
    for function in (then, orelse):
        side = here.child()
        with side.tracing():
            results.append(list(function()))
        sides.append(side)
    missing = [False] * len(results[0])
    if like is not None:
        both = zip(*results, strict=True)
        missing = [a is None and b is None for a, b in both]
        for side, outs in zip(sides, results, strict=True):
            with side.tracing():
                outs[:] = [
                    None if gone else zeros(x) if c is None else fitting(c, x)
                    for gone, c, x in zip(missing, outs, like, strict=True)
                ]
    kept = [[c for c in outs if c is not None] for outs in results]
    if not kept[0] and like is not None:
        return [None] * len(missing)
    found = iter(close(predicate, sides, kept))
    return [None if gone else next(found) for gone in missing]


def close(
    predicate: Symbol, sides: Sequence[Tracer], results: Sequence[Sequence[Symbol]]
) -> tuple[Any, ...]:
    """Close two branches that have been traced, and return the results as symbols."""
    atoms = [
        [side.atom(x) for x in outs] for side, outs in zip(sides, results, strict=True)
    ]
    graphs, captures = close_regions([side.builder for side in sides], atoms)
    operands = [Symbol(value, key) for value, key in captures]
    note_reads(sides)
    out: tuple[Any, ...] = apply(
        COND, predicate, *operands, then=graphs[0], orelse=graphs[1]
    )
    return out


def note_reads(sides: Sequence[Tracer]) -> None:
    """Tell the recorders around of the variables that regions have read."""
    for side in sides:
        for variable in side.region.variables.values():
            variable.__gtape_tensor__()
