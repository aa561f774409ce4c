"""Gradients by a rule of the user's, in a graph: the rule is traced, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gtape import dispatch
from gtape.dispatch import apply
from gtape.jit.control.cond import note_reads
from gtape.jit.control.pull import STRUCTURES
from gtape.jit.control.structure import as_rule, zeros
from gtape.jit.graph.builder import close_regions
from gtape.jit.graph.ir import Graph
from gtape.jit.graph.replay import replay
from gtape.jit.tracing.region import Diverged
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Tracer
from gtape.lowering import Custom
from gtape.primitive import Primitive

Rule = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Sequence[Any]]


def _forward(
    *xs: Any, tensors: int, outputs: int, rule: Graph, reached: Any
) -> tuple[Any, ...]:
    return xs[tensors : tensors + outputs]


def _vjp(
    g: Sequence[Any],
    out: Sequence[Any],
    *xs: Any,
    tensors: int,
    outputs: int,
    rule: Graph,
    reached: tuple[int, ...],
) -> list[Any]:
    upstream = [zeros(o) if c is None else c for c, o in zip(g, out, strict=True)]
    operands = [*upstream, *xs[tensors + outputs :]]
    found = replay(rule, operands, STRUCTURES, effects=True)
    pulled: list[Any] = [None] * len(xs)
    for i, c in zip(reached, found, strict=True):
        pulled[i] = as_rule(c)
    return pulled


class _CustomRule(Primitive):
    """Not in the registry: it holds a graph."""

    __slots__ = ()
    listed = False


CUSTOM_RULE = _CustomRule(
    "custom_rule",
    forward=_forward,
    spec=_forward,
    vjp=_vjp,
    lowering=Custom("copy"),
    multiple=True,
    on_tensors=True,
)
"""Copies its inputs from `tensors` on; the gradients of those before are by a rule."""


def custom_rule(
    here: Tracer, tensors: Sequence[Symbol], outputs: Sequence[Any], rule: Rule
) -> tuple[Any, ...]:
    """Return outputs whose gradients by tensors are what a rule says.

    Args:
        here: The tracer of the region.
        tensors: What the rule gives gradients of.
        outputs: What was computed of them.
        rule: (upstream gradients, outputs, tensors) -> gradients, `None` for none.
    """
    side = here.child()
    values = [here.convert(o) for o in outputs]
    upstream = [
        Symbol(side.builder.add_input(v._value.spec), home=side.builder) for v in values
    ]
    with side.tracing():
        try:
            found = list(rule(upstream, values, tensors))
        except Diverged:
            found = [None] * len(tensors)
    reached = tuple([i for i, c in enumerate(found) if c is not None])
    atoms = [side.atom(c) for c in found if c is not None]
    [graph], captures = close_regions([side.builder], [atoms])
    side.region.restore()
    note_reads([side])
    operands = [Symbol(value, key) for value, key in captures]
    with dispatch.running(here, dispatch.recorders()):
        out: tuple[Any, ...] = apply(
            CUSTOM_RULE,
            *tensors,
            *values,
            *operands,
            tensors=len(tensors),
            outputs=len(values),
            rule=graph,
            reached=reached,
        )
    return out
