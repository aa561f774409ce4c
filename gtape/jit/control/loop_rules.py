"""The reverse rules of `for` and `while`: a loop over the trips the other way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gtape.errors import GradientError
from gtape.jit.control.loops import for_loop, for_structure, while_structure
from gtape.jit.control.pull import STRUCTURES, pull
from gtape.jit.control.structure import (
    Structure,
    as_rule,
    dependencies,
    fitting,
    tracer,
    zeros,
)
from gtape.jit.graph.ir import For, Graph, Value, While
from gtape.jit.graph.replay import replay
from gtape.ops.extrema import minimum
from gtape.ops.indexing import getitem


class Loop:
    """A loop whose cotangents are wanted.

    Args:
        g: The cotangents of its outputs, `None` where there is none.
        operands: The carry at the start, then the invariants.
        body: What a trip does.
        carried: How many values are carried.
        counted: Whether the body takes the number of the trip.
        thinned: Whether the stacks hold some of the trips only.
    """

    def __init__(
        self,
        g: Sequence[Any],
        operands: Sequence[Any],
        body: Graph,
        carried: int,
        counted: bool,
        thinned: bool,
    ) -> None:
        self.g = g
        self.operands = operands
        self.body = body
        self.carried = carried
        self.first = 1 if counted else 0
        self.count = len(body.outputs)
        deps = dependencies(body)
        self.active = self._active(deps)
        self.flowing = [
            j for j in range(carried, self.count) if g[j] is not None and deps[j]
        ]
        if thinned:
            # What flows into the rows of a carried value flows on to that value.
            self.rows = {body.outputs[j]: g[j] for j in self.flowing}
            self.flowing = []
        reached: set[int] = set().union(
            *[deps[j] for j in (*self.active, *self.flowing)]
        )
        behind = self.first + carried
        self.invariants = [i - self.first for i in sorted(reached) if i >= behind]

    @property
    def carry(self) -> tuple[Value, ...]:
        """The carried values, as the body takes them."""
        return self.body.inputs[self.first : self.first + self.carried]

    def _active(self, deps: Sequence[set[int]]) -> list[int]:
        """Return the carried values through which cotangents flow."""
        first, carried, g = self.first, self.carried, self.g
        active = {j for j in range(carried) if g[j] is not None and deps[j]}
        active |= {
            i - first
            for j in range(carried, len(deps))
            if g[j] is not None
            for i in deps[j]
            if first <= i < first + carried
        }
        while True:
            more = {
                i - first
                for j in active
                for i in deps[j]
                if first <= i < first + carried
            }
            if more <= active:
                return sorted(active)
            active |= more

    def starts(self) -> list[Any]:
        """Return the cotangents behind the last trip, and zeros for the invariants."""
        out = []
        for j in self.active:
            x, c = self.operands[j], self.g[j]
            out.append(zeros(x) if c is None else fitting(c, x))
        return out + [zeros(self.operands[i]) for i in self.invariants]

    def inputs(self, i: Any, carry: Sequence[Any]) -> list[Any]:
        """Return what the body takes in a trip."""
        number = [i] if self.first else []
        return [*number, *carry, *self.operands[self.carried :]]

    def sweep(
        self,
        trips: Any,
        base: Any,
        saved: Mapping[Any, Any],
        cotangents: Sequence[Any],
        reverse: bool,
    ) -> list[Any]:
        """Pull cotangents back through trips whose values have been kept.

        Args:
            trips: How many trips.
            base: The number of the first one; `None` for 0.
            saved: The stack of each value that was kept.
            cotangents: As `starts`, behind the last of the trips.
            reverse: Whether the loop ran from its end.
        """
        wanted = [self.first + i for i in (*self.active, *self.invariants)]
        shapes = [self.carry[j] for j in self.active]
        split = len(self.active)

        def trip(k: Any, carry: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            i = k if base is None else base + k
            now = {v: getitem(s, k) for v, s in saved.items() if isinstance(v, Value)}
            self._check_saved(now)
            seeds: list[Any] = [None] * self.count
            for j, c in zip(self.active, carry, strict=False):
                seeds[j] = c
            for j in self.flowing:
                seeds[j] = getitem(self.g[j], i)
            inputs = self.inputs(i, [now[v] for v in self.carry])
            found = pull(self.body, inputs, seeds, wanted, now)
            new = [
                zeros(like) if c is None else fitting(c, like)
                for c, like in zip(found, shapes, strict=False)
            ]
            for total, c in zip(carry[split:], found[split:], strict=True):
                new.append(total if c is None else total + fitting(c, total))
            return new, []

        return for_loop(trips, trip, cotangents, reverse=not reverse)[0]

    def segments(self, trips: Any, stride: Any, saved: Mapping[Any, Any]) -> list[Any]:
        """Pull cotangents back where only every stride-th trip was kept.

        What is between two of them is run again when the sweep comes to it, so memory
        holds the trips that were kept and one segment.
        """
        count = (trips + stride - 1) // stride

        def segment(s: Any, carry: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            base = s * stride
            length = minimum(stride, trips - base)
            now = {v: getitem(x, s) for v, x in saved.items() if isinstance(v, Value)}
            self._check_saved(now)

            def forward(
                k: Any, values: Sequence[Any]
            ) -> tuple[Sequence[Any], Sequence[Any]]:
                found = replay(self.body, self.inputs(base + k, values), STRUCTURES)
                return found[: self.carried], found[self.carried :]

            begin = [now[v] for v in self.carry]
            _, stacks = for_loop(length, forward, begin)
            again = dict(zip(self.body.outputs[self.carried :], stacks, strict=True))
            found = self.sweep(length, base, again, carry, False)
            for place, j in enumerate(self.active):
                rows = self.rows.get(self.carry[j])
                if rows is not None:
                    found[place] = found[place] + getitem(rows, s)
            return found, []

        return for_loop(count, segment, self.starts(), reverse=True)[0]

    def _check_saved(self, saved: Mapping[Value, Any]) -> None:
        """Require the values of the carry, which the body is run again on.

        Raises:
            GradientError: If one changes its shape, so that it was not kept.
        """
        for value in self.carry:
            if value not in saved:
                raise GradientError(
                    f"the gradient of a loop needs a value of {value.spec} that "
                    "changes its shape with every trip",
                    "Make a tensor of the final shape before, and assign to its items",
                )

    def pulled(
        self, trips: Any, stacks: Sequence[Any], stride: Any, reverse: bool
    ) -> list[Any]:
        """Return the cotangent of each operand, `None` where nothing flows."""
        tracer()
        out: list[Any] = [None] * len(self.operands)
        if not self.active and not self.invariants:
            return out
        saved = dict(zip(self.body.outputs[self.carried :], stacks, strict=True))
        if stride is None:
            found = self.sweep(trips, None, saved, self.starts(), reverse)
        else:
            found = self.segments(trips, stride, saved)
        for i, c in zip((*self.active, *self.invariants), found, strict=True):
            out[i] = as_rule(c)
        return out


def _for_vjp(
    g: Sequence[Any],
    out: Sequence[Any],
    trips: Any,
    *operands: Any,
    body: Graph,
    carried: int,
    reverse: bool,
    limit: int | None,
) -> list[Any]:
    stride = None if limit is None else out[-1]
    stacks = out[carried : len(body.outputs)]
    loop = Loop(g, operands, body, carried, True, stride is not None)
    return [None, *loop.pulled(trips, stacks, stride, reverse)]


def _while_vjp(
    g: Sequence[Any],
    out: Sequence[Any],
    *operands: Any,
    test: Graph,
    body: Graph,
    carried: int,
    limit: int | None,
) -> list[Any]:
    count = len(body.outputs)
    stride = None if limit is None else out[-1]
    loop = Loop(g, operands, body, carried, False, stride is not None)
    return loop.pulled(out[count], out[carried:count], stride, False)


FOR = Structure("for", for_structure, _for_vjp)
WHILE = Structure("while", while_structure, _while_vjp)
STRUCTURES[For] = FOR
STRUCTURES[While] = WHILE
