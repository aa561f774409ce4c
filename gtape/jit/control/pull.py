"""Cotangents pulled back through a graph that is run again: what all rules stand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gtape import dispatch
from gtape.backprop import backprop
from gtape.dispatch import next_key
from gtape.jit.control.structure import fitting, is_float
from gtape.jit.graph.ir import Graph, Value
from gtape.jit.graph.replay import replay
from gtape.ops.linear import identity
from gtape.record import Record

STRUCTURES: dict[type, Any] = {}
"""The primitive of each kind of node with regions; filled where these are declared."""


def pull(
    graph: Graph,
    inputs: Sequence[Any],
    cotangents: Sequence[Any],
    wanted: Sequence[int],
    given: Mapping[Value, Any] | None = None,
) -> list[Any]:
    """Return the cotangents of chosen inputs, `None` for those nothing reaches.

    Args:
        graph: What is run again, in the current trace.
        inputs: Its operands.
        cotangents: One for each output, or `None`.
        wanted: Which inputs.
        given: Results that need not be computed again.
    """
    own = [identity(x) if is_float(x) else x for x in inputs]
    record = Record(False)
    for i in wanted:
        own[i]._key = next_key()
        record.known.add(own[i]._key)
    interpreter = dispatch.interpreter()
    given = {v: s for v, s in (given or {}).items() if v not in graph.inputs}
    for symbol in given.values():
        symbol._key = next_key()
    with dispatch.running(interpreter, (record,)):
        outs = replay(graph, own, STRUCTURES, given)
    sums: dict[int, Any] = {}
    for out, c in zip(outs, cotangents, strict=True):
        if c is not None and out._key in record.known and is_float(out):
            before, c = sums.get(out._key), fitting(c, out)
            sums[out._key] = c if before is None else before + c
    sources = {own[i]._key for i in wanted}
    backprop(record, sums, sources, interpreter.wrap)
    return [sums.get(own[i]._key) for i in wanted]
