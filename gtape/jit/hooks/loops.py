"""`while`, and what all loops share: Python's own, or traced where that is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from gtape.errors import GtapeError, TracingError
from gtape.jit.control.loops import close_while
from gtape.jit.control.structure import tracer
from gtape.jit.graph.builder import Builder
from gtape.jit.hooks.attempts import (
    MOST_ATTEMPTS,
    Attempt,
    Slot,
    guess,
    link_slots,
    packed,
    settled,
    unpacked,
)
from gtape.jit.hooks.branches import Get, Set, Thunk, label_of, leave, truth
from gtape.jit.hooks.lists import kind_of_rows, packed_rows, whole_list
from gtape.jit.tracing.aliases import Path, alias, tensors
from gtape.jit.tracing.kinds import Maybe
from gtape.jit.tracing.number import Truth
from gtape.jit.tracing.packing import leaves
from gtape.jit.tracing.region import Diverged
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Tracer, is_tracing
from gtape.spec import TensorSpec

UNROLLED = 8
"""Loops that Python could run are unrolled up to so many trips."""

FLAG = TensorSpec((), "bool")
_OWN_REFERENCES = 3


class Loop:
    """Stands among the sources of numbers that a loop changes.

    Who needs such a number as a constant has the loop unrolled.
    """


# --- while ----------------------------------------------------------------------------


def while_stmt(
    test: Thunk, body: Thunk, get: Get, set: Set, names: Sequence[str]
) -> None:
    """Run a loop, or trace it once its condition is known only at run time."""
    trips = 0
    speculate = is_tracing()
    while True:
        known = truth(test())
        if known is False:
            return
        if known is not True:
            try:
                trace_while(known, test, body, get, set, names, None)
            except GtapeError:
                if isinstance(known, Truth) and known.sources:
                    bool(known)  # with numbers that are known Python can run it
                raise
            return
        if speculate and trips >= UNROLLED:
            flag = constant_flag(True)
            if speculated(partial(trace_while, flag, test, body, get, set, names)):
                return
            speculate = trips < 4 * UNROLLED
        body()
        trips += 1


def speculated(trace: Callable[[Loop], None]) -> bool:
    """Try to trace a loop that Python can run, too; return whether it worked."""
    here = tracer()
    loop = Loop()
    count, before = len(here.builder.nodes), dict(here.builder.captures)
    guards, notes = len(here.trace.guards), len(here.trace.notes)
    from_python = here.region.log.copy()
    try:
        trace(loop)
    except GtapeError as error:
        reason = error.what
    except BaseException as error:
        if loop not in getattr(error, "sources", ()):
            raise
        reason = "its body needs the number of the trip"
    else:
        return True
    _forget(here.builder, count, before)
    del here.trace.guards[guards:], here.trace.notes[notes:]
    here.region.log = from_python
    here.trace.note(f"a loop was unrolled: {reason}")
    return False


def _forget(builder: Builder, count: int, captures: dict[Any, Any]) -> None:
    """Remove the nodes of an attempt that failed."""
    for node in builder.nodes[count:]:
        builder.defined.difference_update(node.outputs)
    del builder.nodes[count:]
    builder.captures = captures


def trace_while(
    flag: Symbol,
    test: Thunk,
    body: Thunk,
    get: Get,
    set: Set,
    names: Sequence[str],
    loop: Loop | None,
) -> None:
    """Trace a loop whose first test has been made: flag says whether it begins."""
    here = tracer()

    def run(own: Sequence[Symbol]) -> list[Symbol]:
        try:
            body()
        except Diverged:
            return [constant_flag(False)]
        known = truth(test())
        return [constant_flag(known)] if type(known) is bool else [known]

    slots, attempt = settle(here, get, set, names, run, [FLAG], False, loop)
    unrollable = isinstance(flag, Truth) and bool(flag.sources)
    check_shapes(slots, unrollable or loop is not None)
    side = attempt.side
    with side.tracing():
        new = [*attempt.new_own, *packed(slots, attempt)]
        stacked = appended_rows(slots)
    carry = [flag, *packed(slots)]
    inner = [*attempt.own, *attempt.inner]
    asked = here.child()
    inputs = [asked.builder.add_input(x._value.spec) for x in inner]
    finals, stacks, _ = close_while(
        asked, Symbol(inputs[0]), side, carry, inner, new, stacked
    )
    finish(here, attempt, slots, finals[1:], stacks, set, False)


def constant_flag(value: bool) -> Symbol:
    """Return a bool as a symbol."""
    return tracer().constant(FLAG.dtype.dtype.type(value))


# --- Both -----------------------------------------------------------------------------


def settle(
    here: Tracer,
    get: Get,
    set: Set,
    names: Sequence[str],
    run: Callable[[Sequence[Symbol]], Sequence[Symbol]],
    extra: Sequence[TensorSpec],
    counter: bool,
    loop: Loop | None,
) -> tuple[list[Slot], Attempt]:
    """Trace the body until the guess of what is carried is right."""
    sources = None if loop is None else frozenset((loop,))
    entry = get()
    # Beside the name's cell, the tuple and the argument here: somebody else.
    aliased = [sys.getrefcount(entry[i]) > _OWN_REFERENCES for i in range(len(names))]
    slots = [
        Slot(label_of(name), value, guess(value, name, sources), None)
        for name, value in zip(names, entry, strict=True)
    ]
    for slot, flag in zip(slots, aliased, strict=True):
        slot.aliased = flag or bool(getattr(slot.entry, "_aliases", ()))
    is_own = here.region.is_own
    for _ in range(MOST_ATTEMPTS):
        attempt = Attempt(here, slots, get, set, run, extra, counter, is_own)
        is_own = attempt.side.region.is_own
        if settled(slots, attempt.fresh):
            return slots, attempt
    raise TracingError(
        "what the names of a loop hold changes with every trip",
        "Give them one dtype and rank before the loop",
    )


def check_shapes(slots: list[Slot], unrollable: bool) -> None:
    """Refuse changing shapes where the loop can be unrolled instead.

    A loop carries them under an unknown size, but nobody can stack what changes its
    shape, so its gradient would be refused.

    Raises:
        TracingError: If a name changes its shape.
    """
    for slot in slots if unrollable else ():
        for _, shape in [] if slot.kind is None else leaves(slot.kind):
            if None in shape:
                raise TracingError(
                    f"the shape of {slot.label} changes in a loop",
                    "Make a tensor of the final shape before, and assign to its items",
                )


def appended_rows(slots: list[Slot]) -> list[Symbol]:
    """Return what a trip appends to lists, all of it."""
    rows = []
    for slot in slots:
        if slot.appended is not None:
            slot.rows = kind_of_rows(slot.appended, slot.label)
            rows += packed_rows(slot.appended, slot.rows)
    return rows


def share(attempt: Attempt, slots: list[Slot], values: list[Any]) -> None:
    """Keep names together that stand for one tensor before and after every trip."""
    found: dict[Path, Symbol] = {}
    entries: dict[int, list[Path]] = {}
    for i, (slot, value) in enumerate(zip(slots, values, strict=True)):
        entry = dict(tensors(slot.entry))
        for path, x in tensors(value):
            found[i, *path] = x
            entries.setdefault(id(entry.get(path)), []).append((i, *path))
            if path in slot.stray:
                x._doubtful = True
    entries.pop(id(None), None)
    together = attempt.sameness.to_each_other
    before = {p for group in entries.values() for p in combinations(group, 2)}
    for pair in {**dict.fromkeys(before), **together}:
        if pair[0] not in found or pair[1] not in found:
            continue
        x, y = found[pair[0]], found[pair[1]]
        if x is y:
            continue
        if pair not in before or together.get(pair) is not True:  # by the trips
            x._doubtful = y._doubtful = True
        elif len(pair[1]) == 1:
            values[pair[1][0]] = found[pair[1]] = x
        else:
            alias(x, y, True)


def finish(
    here: Tracer,
    attempt: Attempt,
    slots: list[Slot],
    finals: Sequence[Symbol],
    stacks: Sequence[Symbol],
    set: Set,
    ran: bool,
) -> None:
    """Give names and locations what they hold after the loop."""
    values = unpacked(slots, finals)
    if ran:  # what each trip sets is there
        values = [
            v.value if isinstance(v, Maybe) and not isinstance(s.after, Maybe) else v
            for s, v in zip(slots, values, strict=True)
        ]
    found = list(stacks)
    lists: dict[int, Any] = {}
    for slot in slots:
        if slot.appended is not None:
            assert slot.location is not None
            count = len(leaves(slot.rows))
            mine, found = found[:count], found[count:]
            whole = whole_list(slot.entry, slot.rows, mine, len(slot.appended))
            lists[id(slot.location.owner)] = whole  # type: ignore[attr-defined]
    share(attempt, slots, values)
    starts = [slot.start for slot in slots]
    link_slots(here.region, slots, values, starts, attempt.side.region.is_own)
    names = []
    for slot, value in zip(slots, values, strict=True):
        if slot.location is None:
            names.append(lists.pop(id(slot.entry), value))
    set(tuple(names))
    for slot, value in zip(slots, values, strict=True):
        if slot.location is not None and slot.kind is not None:
            here.region.touch(slot.location)
            leave(slot.location, value)
    if lists:
        raise TracingError(
            "a list that is appended to in a loop is no local name",
            "Append to a local list, and put it where it belongs after the loop",
        )
