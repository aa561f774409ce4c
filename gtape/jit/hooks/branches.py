"""Branches: both are traced where the condition is known only at run time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

from gtape import dispatch
from gtape.eager import EagerTensor
from gtape.errors import (
    ArgumentError,
    GtapeError,
    IndexRangeError,
    ShapeError,
    TracingError,
)
from gtape.jit.control.cond import close
from gtape.jit.control.structure import tracer
from gtape.jit.graph.ir import Literal
from gtape.jit.hooks.guards import PLAIN
from gtape.jit.hooks.reads import note_reads
from gtape.jit.hooks.users import by_method, users_method
from gtape.jit.tracing.aliases import Flag, Path, Sameness, alias, as_symbol, tensors
from gtape.jit.tracing.containers import link
from gtape.jit.tracing.kinds import Clash, Clashing, Undefined, join, kind_of
from gtape.jit.tracing.number import TracedNumber, Truth
from gtape.jit.tracing.packing import named, pack, read, unpack
from gtape.jit.tracing.region import (
    MISSING,
    PLACES,
    Diverged,
    ListLocation,
    Location,
    label_in,
    put,
)
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Tracer, is_tracing
from gtape.ops import logic
from gtape.ops.shaping import reshape
from gtape.ops.traced import call_host
from gtape.variable import Variable

Thunk = Callable[[], Any]
Get = Callable[[], "tuple[Any, ...]"]
Set = Callable[["tuple[Any, ...]"], None]


def truth(value: Any) -> Any:
    """Return the truth of a value: a bool, or a bool symbol if it is known later.

    Raises:
        ArgumentError: If it is a tensor of more than one element.
    """
    if type(value) is bool or not is_tracing():
        return bool(value)
    if isinstance(value, TracedNumber):
        value = value != 0
    elif isinstance(value, (EagerTensor, Variable)):
        value = dispatch.interpreter().convert(value)
    if not isinstance(value, Symbol):
        for name in ("__bool__", "__len__"):
            if type(value) not in PLAIN and users_method(value, name):
                return truth(by_method(value, name))
        note_reads(value)
        return bool(value)
    if isinstance(value._value, Literal):
        return bool(value)
    if value.ndim:
        if any(d != 1 for d in value.shape):
            raise ArgumentError(
                f"the truth of a tensor of shape {tuple(value.shape)} is ambiguous",
                "Use gt.reduce_any or gt.reduce_all",
            )
        value = reshape(value, ())
    if value.dtype.kind == "b":
        return value
    return logic.not_equal(value, 0)


def if_stmt(
    test: Any,
    then: Thunk,
    orelse: Thunk,
    get: Get,
    set: Set,
    names: Sequence[str],
) -> None:
    """Run a branch, or trace both."""
    known = truth(test)
    if type(known) is bool:
        then() if known else orelse()
        return
    traced_if(known, then, orelse, get, set, names)


def choose(test: Any, then: Thunk, orelse: Thunk, guarded: bool = True) -> Any:
    """Return what one of two thunks returns; a conditional expression.

    Args:
        test: The condition.
        then: What gives the value if it holds.
        orelse: What gives it if not.
        guarded: Whether the condition may guard against errors of shapes and indices.
    """
    known = truth(test)
    if type(known) is bool:
        return then() if known else orelse()
    box: list[Any] = [Undefined("the value of the expression")]

    def put(thunk: Thunk) -> Thunk:
        def run() -> None:
            box[0] = thunk()

        return run

    def set(values: tuple[Any, ...]) -> None:
        box[:] = values

    traced_if(known, put(then), put(orelse), lambda: (box[0],), set, ("",), guarded)
    return read(box[0])


def label_of(name: str) -> str:
    """Return a name of the state as messages say it."""
    if not name:
        return "the expression"
    if name.startswith("gt__value"):
        return "the result of the function"
    return name if " " in name else repr(name)


def leave(location: Location, value: Any) -> None:
    """Write what paths have left at a location where they met.

    Raises:
        TracingError: If they have left a list with what nobody can use.
    """
    if isinstance(value, Clash) and isinstance(location, ListLocation):
        raise TracingError(
            value.what,
            "Change the list in the same way on all paths, or make a tensor before and "
            "assign to its items",
        )
    put(location, value, isinstance(value, Undefined))


def _raising(error: GtapeError) -> Callable[[], None]:
    error.__traceback__ = None
    error.placed = True

    def host() -> None:
        raise error

    return host


class Side:
    """One branch after it was traced: what names and locations hold at its end."""

    def __init__(
        self, around: Tracer, run: Thunk, get: Get, set: Set, guarded: bool
    ) -> None:
        self.tracer = around.child()
        self.diverged = False
        entry = get()
        try:
            with self.tracer.tracing():
                try:
                    run()
                except Diverged:
                    self.diverged = True
                except (ShapeError, IndexRangeError) as error:
                    # The condition may guard against it: an error on this path only.
                    if not guarded:
                        raise
                    call_host(_raising(error))
                    self.diverged = True
                self.names = get()
                self.sameness = Sameness(self._held(), self.tracer.builder)
        finally:
            self.written = self.tracer.region.undo()
            set(entry)

    def _held(self) -> dict[Any, Any]:
        """Return what names and the locations that were written hold."""
        held: dict[Any, Any] = dict(enumerate(self.names))
        for key, (location, _) in self.tracer.region.log.items():
            if isinstance(location, PLACES):
                held[key] = location.read()
        return held


def traced_if(
    predicate: Symbol,
    then: Thunk,
    orelse: Thunk,
    get: Get,
    set: Set,
    names: Sequence[str],
    guarded: bool = True,
) -> None:
    """Trace both branches, and give names and locations what they hold afterwards."""
    here = tracer()
    entry = get()
    a = Side(here, then, get, set, guarded)
    b = Side(here, orelse, get, set, guarded)
    places: dict[Any, Location] = {
        key: location for side in (a, b) for key, (location, _) in side.written.items()
    }
    sides = []
    for side in (a, b):
        ends = list(side.names)
        for key, location in places.items():
            found = side.written.get(key)
            ends.append(location.read() if found is None else found[1])
        sides.append(ends)
    labels = [label_of(name) for name in names]
    labels += [label_in((then, orelse), location) for location in places.values()]
    # Names behind those of the state are of no use any more; they stay as they were.
    live, dead = len(names), len(entry)
    sides = [[*ends[:live], *ends[dead:]] for ends in sides]
    keys = [*range(live), *places]
    values = merged(predicate, (a, b), keys, sides, labels)
    set((*values[:live], *entry[live:]))
    for location, value in zip(places.values(), values[live:], strict=True):
        here.region.touch(location)
        leave(location, value)
    if a.diverged and b.diverged:
        raise Diverged


def merged(
    predicate: Symbol,
    sides: tuple[Side, Side],
    keys: Sequence[Any],
    ends: Sequence[Sequence[Any]],
    labels: Sequence[str],
) -> list[Any]:
    """Return values after two branches met; those that are the same stay objects."""
    kinds = _kinds(predicate, sides, ends, labels)
    changed = [i for i, kind in enumerate(kinds) if kind is not None]
    questions = _questions(sides, keys, ends, changed)
    packed = []
    for n, (side, values) in enumerate(zip(sides, ends, strict=True)):
        with side.tracer.tracing():
            row: list[Symbol] = []
            for value, kind in zip(values, kinds, strict=True):
                if kind is not None:
                    end = side.tracer.region.content(value)
                    row += pack(MISSING if side.diverged else end, kind)
            row += [as_symbol(answers[n]) for _, answers in questions]
        packed.append(row)
    outs = iter(close(predicate, [side.tracer for side in sides], packed))
    result: list[Any] = []
    pairs = list(zip(*ends, strict=True))
    seen: dict[tuple[int, ...], Any] = {}  # lists and dicts, by what they were
    going = [not side.diverged for side in sides]
    for pair, kind, label in zip(pairs, kinds, labels, strict=True):
        if kind is None:
            result.append(pair[0])
            continue
        value = named(unpack(kind, outs), label.strip("'"))
        if isinstance(value, (list, dict)):
            before = tuple([id(x) for x in itertools.compress(pair, going)])
            value = seen.setdefault(before, value)
        result.append(value)
    rows = [
        (value, pair)
        for value, pair, kind in zip(result, pairs, kinds, strict=True)
        if kind is not None
    ]
    link(
        tracer().region,
        rows,
        [None if s.diverged else s.tracer.region.is_own for s in sides],
    )
    places = {(key,): i for i, key in enumerate(keys)}
    held = {p: x for i in changed for p, x in tensors(result[i], (keys[i],))}
    for (path, other), answers in questions:
        flag = next(outs)
        always = answers[0] is True and answers[1] is True
        x, y = held.get(path), held.get(other) if type(other) is tuple else other
        if always and path in places and other in places:
            assert x is not None
            result[places[other]] = held[other] = x
        elif x is not None and y is not None:
            alias(x, y, flag)
    return result


def _kinds(
    predicate: Symbol,
    sides: tuple[Side, Side],
    ends: Sequence[Sequence[Any]],
    labels: Sequence[str],
) -> list[Any]:
    """Return what the values are together; `None` for those that have not changed."""
    kinds: list[Any] = []
    for x, y, label in zip(*ends, labels, strict=True):
        if x is y:
            kinds.append(None)
        elif sides[0].diverged or sides[1].diverged:
            kinds.append(kind_of(y if sides[0].diverged else x))
        else:
            kind = join(kind_of(x), kind_of(y), label)
            if isinstance(kind, Clashing) and isinstance(predicate, Truth):
                bool(predicate)  # with numbers that are known there is one path only
            kinds.append(kind)
    return kinds


def _questions(
    sides: tuple[Side, Side],
    keys: Sequence[Any],
    ends: Sequence[Sequence[Any]],
    changed: Collection[int],
) -> list[tuple[tuple[Path, Any], tuple[Flag, Flag]]]:
    """Return which results may be the same tensor as what, with each side's answer.

    A result is given by where it stands; so is what it may be the same as, if that is a
    result, too.

    Args:
        sides: The branches.
        keys: The keys of names and locations.
        ends: What they hold at the end of each branch.
        changed: The places of those that have changed.
    """
    found: list[tuple[tuple[Path, Any], tuple[Flag, Flag]]] = []
    tables = [side.sameness for side in sides]
    known: dict[Path, None] = {}
    for i in changed:
        values = [dict(tensors(end[i], (keys[i],))) for end in ends]
        for path in dict.fromkeys((*values[0], *values[1])):
            known[path] = None
            answers = [
                t.to_outside(path, v.get(path))
                for t, v in zip(tables, values, strict=True)
            ]
            for key, x in {k: x for a in answers for k, (x, _) in a.items()}.items():
                a, b = [answer.get(key, (x, False))[1] for answer in answers]
                found.append(((path, x), (a, b)))
    for pair in {pair: None for t in tables for pair in t.to_each_other}:
        if pair[0] in known and pair[1] in known:
            a, b = [t.to_each_other.get(pair, False) for t in tables]
            found.append((pair, (a, b)))
    return found
