"""`for`: Python's own where everything is known, a traced loop where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from gtape.errors import GtapeError
from gtape.jit.control.loops import close_for, close_while
from gtape.jit.control.structure import tracer
from gtape.jit.hooks.attempts import packed
from gtape.jit.hooks.branches import Get, Set, Thunk, if_stmt, truth
from gtape.jit.hooks.loops import (
    FLAG,
    UNROLLED,
    Loop,
    appended_rows,
    check_shapes,
    constant_flag,
    finish,
    settle,
    speculated,
)
from gtape.jit.hooks.reads import note_parts
from gtape.jit.hooks.sequences import Traced, as_traced
from gtape.jit.tracing.number import TracedNumber, as_number
from gtape.jit.tracing.packing import whole
from gtape.jit.tracing.region import Diverged
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import is_tracing
from gtape.ops import logic
from gtape.ops.shaping import renamed_sizes
from gtape.sizes import is_size


class Statement(NamedTuple):
    """The parts of a `for` statement: what one trip does, and its state."""

    assign: Callable[[Any], None]
    body: Thunk
    test: Thunk | None
    get: Get
    set: Set
    names: Sequence[str]

    def trip(self, item: Any) -> None:
        """Do a trip."""
        self.assign(item)
        self.body()

    def goes_on(self) -> Any:
        """Return whether a jump has not ended the loop, a bool or a bool symbol."""
        return True if self.test is None else truth(self.test())

    def trip_if(self, condition: Any, item: Callable[[], Any]) -> None:
        """Do a trip under a condition."""
        if_stmt(
            condition,
            lambda: self.trip(item()),
            lambda: None,
            self.get,
            self.set,
            self.names,
        )


def for_stmt(
    iterable: Any,
    assign: Callable[[Any], None],
    body: Thunk,
    test: Thunk | None,
    get: Get,
    set: Set,
    names: Sequence[str],
) -> None:
    """Run a loop, or trace it where its items or their number are known only later."""
    loop = Statement(assign, body, test, get, set, names)
    items = as_traced(iterable) if is_tracing() else None
    if items is None:
        note_parts(iterable)
        _run(iter(whole(iterable)), loop)
    elif items.is_static:
        _run_static(items, loop)
    elif is_size(items.length) and items.length.hint() is not None:
        if not speculated(lambda token: trace_for(items, loop, token)):
            # The length becomes part of the trace.
            _run((items.at(i) for i in range(int(items.length))), loop)
    else:
        trace_for(items, loop, None)


def _run(items: Iterator[Any], loop: Statement) -> None:
    """Run a loop in Python; once its test is traced, the rest is under conditions."""
    known = loop.goes_on()
    while known is not False:
        try:
            item = next(items)
        except StopIteration:
            return
        if known is True:
            loop.trip(item)
        else:
            loop.trip_if(known, lambda item=item: item)  # type: ignore[misc]
        known = loop.goes_on()


def _run_static(items: Traced, loop: Statement) -> None:
    """Run a loop of a known length: unrolled if it is short, else traced if it can."""
    length = items.length
    peeled = 0
    while length - peeled > UNROLLED and peeled <= 2:
        rest = items.after(peeled)
        if speculated(partial(trace_for, rest, loop)):
            return
        # What a name holds may have its lasting kind only after a trip or two.
        loop.trip(items.at(peeled))
        peeled += 1
        known = loop.goes_on()
        if known is False:
            return
        if known is not True:
            break
    _run(items.iterate(peeled), loop)


def trace_for(items: Traced, loop: Statement, token: Loop | None) -> None:
    """Trace a loop over a sequence whose items are made from their position.

    Args:
        items: The sequence.
        loop: The statement.
        token: What numbers of the loop depend on if it can be unrolled instead.
    """
    count = as_number(items.length)
    pinnable = token is None and bool(count.sources)
    try:
        _trace(items, count, loop, token, pinnable)
    except GtapeError:
        if pinnable:  # with a number of trips that is known the loop can be unrolled
            count.pin("the number of trips")
        raise


def _trace(
    items: Traced,
    count: TracedNumber,
    loop: Statement,
    token: Loop | None,
    unrollable: bool,
) -> None:
    here = tracer()
    sources = items.sources if token is None else frozenset((token,))

    def run(own: Sequence[Symbol]) -> list[Symbol]:
        try:
            loop.trip(items.at(TracedNumber(int, own[0], sources)))
        except Diverged:
            return [] if loop.test is None else [own[0], constant_flag(False)]
        if loop.test is None:
            return []
        after = own[0] + 1
        more = loop.goes_on()
        inside = logic.less(after, count.symbol)
        if type(more) is bool:
            return [after, inside if more else constant_flag(False)]
        return [after, logic.logical_and(inside, more)]

    extra = [] if loop.test is None else [FLAG]
    state = (loop.get, loop.set, loop.names)
    slots, attempt = settle(here, *state, run, extra, True, token)
    check_shapes(slots, unrollable or token is not None)
    side = attempt.side
    with side.tracing():
        new = [*attempt.new_own, *packed(slots, attempt)]
        stacked = appended_rows(slots)
    entry = packed(slots)
    ran = items.is_static and items.length > 0
    if loop.test is None:
        inner = attempt.inner
        finals, stacks = close_for(
            count.symbol, side, entry, inner, new, stacked, bounded=True
        )
        if is_size(items.length):  # under their own name they go with what was run over
            stacks = [renamed_sizes(s, (items.length, *s.shape[1:])) for s in stacks]
        finish(here, attempt, slots, finals, stacks, loop.set, ran)
        return
    zero = as_number(0).symbol
    known, begins = loop.goes_on(), logic.less(zero, count.symbol)
    begins = begins if known is True else logic.logical_and(begins, known)
    carry = [zero, begins, *entry]
    inner = [*attempt.own, *attempt.inner]
    asked = here.child()
    inputs = [asked.builder.add_input(x._value.spec) for x in inner]
    finals, stacks, _ = close_while(
        asked, Symbol(inputs[1]), side, carry, inner, new, stacked
    )
    finish(here, attempt, slots, finals[2:], stacks, loop.set, ran)
