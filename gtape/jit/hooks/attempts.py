"""One try at tracing the body of a loop, with a guess of what is carried.

Which names a body changes, and into what, is known only when it has been traced. So it
is traced with a guess; if what comes out differs, the guess becomes what both are
together, and the body is traced again, until nothing changes any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gtape.errors import TracingError
from gtape.jit.tracing.aliases import Flag, Path, Sameness, alias, as_symbol, tensors
from gtape.jit.tracing.containers import link
from gtape.jit.tracing.kinds import (
    BOOL,
    Array,
    Clashing,
    Kind,
    Number,
    Sequences,
    Static,
    join,
    kind_of,
    same_kind,
)
from gtape.jit.tracing.packing import inputs_for, named, pack, unpack
from gtape.jit.tracing.region import (
    PLACES,
    ListLocation,
    Location,
    Region,
    label_in,
)
from gtape.jit.tracing.state import Cell
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Tracer
from gtape.ops.traced import reread
from gtape.spec import TensorSpec

MOST_ATTEMPTS = 12


class Slot:
    """A name or location that the body may change.

    Args:
        label: How messages say it.
        entry: What it holds before the loop.
        kind: What it is carried as; `None` while nobody is known to change it.
        location: Where it stands, if it is no name.
    """

    __slots__ = (
        "after",
        "aliased",
        "appended",
        "entry",
        "kind",
        "label",
        "location",
        "rows",
        "same",
        "stray",
        "start",
    )

    def __init__(
        self, label: str, entry: Any, kind: Kind | None, location: Location | None
    ) -> None:
        self.label = label
        self.entry = entry
        self.kind = kind
        self.location = location
        self.start: Any = None
        self.after: Any = None
        self.aliased = False  # whether others may hold what it holds before the loop
        self.appended: list[Any] | None = None  # what a trip appends to a list
        # For tensors in it, by where they stand after a trip:
        self.same: dict[Path, Flag] = {}  # whether that is what stood there at entry
        self.stray: set[Path] = set()  # those that others may stand for, too
        self.rows: Any = None  # the kind of that

    def flagged(self) -> list[Path]:
        """Return where tensors stand of which it is carried whether they are new."""
        if self.kind is None or not (self.aliased or self.kind_is_container):
            return []
        return [path for path, _ in _carried(self.kind, self.entry)]

    @property
    def kind_is_container(self) -> bool:
        """Whether others may know its tensors by the containers they stand in."""
        return self.location is not None or isinstance(self.kind, Sequences)


def _carried(kind: Any, entry: Any, path: Path = ()) -> Iterator[tuple[Path, Symbol]]:
    """Yield the tensors that stand where a kind says there are some, and where."""
    if isinstance(kind, Array):
        yield from tensors(entry, path) if type(entry) is Symbol else ()
    elif isinstance(kind, Sequences) and type(entry) is type(kind.sample):
        keys = list(entry) if type(entry) is dict else range(len(kind.kinds))
        for key, part in zip(keys, kind.kinds, strict=True):
            yield from _carried(part, entry[key], (*path, key))


def at(value: Any, path: Path) -> Any:
    """Return what stands somewhere in lists and dicts."""
    for key in path:
        value = value[key]
    return value


def guess(value: Any, name: str, sources: frozenset[Any] | None) -> Kind | None:
    """Return what a name that the body sets is likely carried as."""
    kind = kind_of(value)
    if isinstance(kind, Number):
        return Number(kind.kind, sources)
    if isinstance(kind, Static):
        if type(kind.value) in (int, float):
            return Number(type(kind.value), sources)
        if type(kind.value) is bool and name.startswith("gt__"):
            return join(Static(True), Static(False))
        return None
    if isinstance(value, (list, dict)):
        return None  # it may be the object itself that changes
    return None if isinstance(kind, Clashing) else kind


class AliasedError(TracingError):
    """A name is changed in place, and others stand for the same tensor."""


class Attempt:
    """A body that has been traced once.

    Args:
        here: The tracer of the region around the loop.
        slots: The names, then locations.
        get: Returns what the names hold.
        set: Gives the names values.
        run: (tracer, flag or counter symbols) -> symbols; traces the body.
        extra: The specs of the carried values that belong to the loop itself.
        counter: Whether the first of them counts the trips.
        is_own: Whether a container began to be in the attempt before.
    """

    def __init__(
        self,
        here: Tracer,
        slots: list[Slot],
        get: Callable[[], tuple[Any, ...]],
        set: Callable[[tuple[Any, ...]], None],
        run: Callable[[Sequence[Symbol]], Sequence[Symbol]],
        extra: Sequence[TensorSpec],
        counter: bool,
        is_own: Callable[[Any], bool],
    ) -> None:
        self.side = here.child()
        self._run = run
        builder = self.side.builder
        first = [TensorSpec((), "int64")] if counter else []
        self.own = [
            Symbol(builder.add_input(s), home=builder) for s in (*first, *extra)
        ]
        self.inner: list[Symbol] = []
        names = [slot for slot in slots if slot.location is None]
        entry = get()
        try:
            self._begin(here, slots, is_own)
            set(tuple([slot.start for slot in names]))
            with self.side.tracing():
                self.new_own = list(run(self.own))
            for slot, value in zip(names, get(), strict=True):
                slot.after = value
            with self.side.tracing():
                self._compare(slots)
        finally:
            written = self.side.region.undo()
            set(entry)
        self.fresh = self._end(slots, written)
        self._check_aliases(slots)

    def _begin(
        self, here: Tracer, slots: list[Slot], is_own: Callable[[Any], bool]
    ) -> None:
        """Give every slot what it holds when a trip begins."""
        builder = self.side.builder

        def make(dtype: Any, shape: tuple[Any, ...]) -> Symbol:
            spec = TensorSpec(shape, dtype)
            value = builder.add_input(spec)
            # The body may assign to items of what it gets: it gets another object.
            self.inner.append(Symbol(value, home=builder))
            return Symbol(value, home=builder)

        before = [slot.start for slot in slots]
        for slot in slots:
            slot.start = slot.entry
            if slot.kind is not None:
                slot.start = inputs_for(slot.kind, here.trace, make)
                for path in slot.flagged():
                    flag = make(BOOL, ())
                    with self.side.tracing():
                        alias(at(slot.start, path), at(slot.entry, path), flag)
        starts = [slot.start for slot in slots]
        link_slots(self.side.region, slots, starts, before, is_own)
        for slot in slots:
            if slot.kind is not None and slot.location is not None:
                self.side.region.touch(slot.location)
                start = slot.start
                if isinstance(slot.location, Cell):
                    with self.side.tracing():
                        start = reread(start, slot.entry)
                slot.location.write(start)

    def _end(self, slots: list[Slot], written: dict[Any, Any]) -> list[Slot]:
        """Note what the slots hold at the end of a trip, and return new locations."""
        known: dict[Any, Slot] = {}
        for slot in slots:
            slot.appended = None
            if slot.location is not None:
                known[slot.location.key] = slot
                slot.after = slot.start
        fresh: list[Slot] = []
        for key, (location, value) in written.items():
            if key not in known:
                label = label_in((self._run,), location)
                new = Slot(label, location.read(), None, location)
                new.start = new.entry
                fresh.append(new)
                known[key] = new
            known[key].after = value
            if isinstance(location, ListLocation):
                self._note_appended(known[key], location)
        return fresh

    def _check_aliases(self, slots: list[Slot]) -> None:
        """Refuse item assignments that would show under another name, too.

        Raises:
            AliasedError: If there are any.
        """
        inputs = set(self.side.builder.inputs)
        shared = {path for pair in self.sameness.to_each_other for path in pair}
        for i, slot in enumerate(slots):
            for path, x in tensors(slot.start) if slot.kind is not None else ():
                if x._value in inputs:
                    continue  # nothing was assigned to its items
                if path in slot.stray or (i, *path) in shared:
                    raise AliasedError(
                        f"items of {slot.label} are assigned in a loop that gives the "
                        "tensor a second name",
                        "Make a copy for the name, with gt.identity(x)",
                    )

    def _compare(self, slots: Sequence[Slot]) -> None:
        """Note which names and places stand for which tensors at the end of a trip."""
        ends = {}
        for i, slot in enumerate(slots):
            if slot.location is None:
                ends[i] = slot.after
            elif isinstance(slot.location, PLACES):
                ends[i] = slot.location.read()
        self.sameness = Sameness(ends, self.side.builder)
        for i, end in ends.items():
            slot = slots[i]
            entry, start = dict(tensors(slot.entry)), dict(tensors(slot.start))
            slot.same, slot.stray = {}, set()
            for path, x in tensors(end):
                others = dict(self.sameness.to_outside((i, *path), None))
                slot.same[path] = others.pop(id(entry.get(path)), (None, False))[1]
                if others and x is not start.get(path):
                    slot.stray.add(path)

    def _note_appended(self, slot: Slot, location: ListLocation) -> None:
        before, after = slot.entry, slot.after
        if len(after) <= len(before):
            return
        if any(x is not y for x, y in zip(before, after, strict=False)):
            return
        if self.side.region.was_read(location.owner):
            raise TracingError(
                "a list is read in the loop that appends to it",
                "Keep what is read in a name of its own, or assign to items of a "
                "tensor made before the loop",
            )
        slot.appended = after[len(before) :]
        slot.after = slot.start


def link_slots(
    region: Region,
    slots: Sequence[Slot],
    values: Sequence[Any],
    before: Sequence[Any],
    is_own: Callable[[Any], bool],
) -> None:
    """Note which lists and dicts may be others, after any number of trips.

    Args:
        region: Where the values are.
        slots: What is carried.
        values: What the slots hold in the region.
        before: What they held when the trip began that has given `slot.after`.
        is_own: Whether a container began to be in that trip.
    """
    now = {id(b): v for b, v in zip(before, values, strict=True) if b is not None}
    rows = [
        (value, (slot.entry, now.get(id(slot.after), slot.after)))
        for slot, value in zip(slots, values, strict=True)
        if slot.kind is not None
    ]
    link(region, rows, [lambda _: False, is_own])


def settled(slots: list[Slot], fresh: list[Slot]) -> bool:
    """Adjust the guess to what came out; return whether it was right.

    Raises:
        TracingError: If a list changes in a way that a loop cannot carry.
    """
    right = True
    for slot in (*slots, *fresh):
        if slot.after is slot.start:
            continue
        before = kind_of(slot.entry) if slot.kind is None else slot.kind
        kind = join(before, kind_of(slot.after), slot.label)
        if isinstance(kind, Clashing) and isinstance(slot.location, ListLocation):
            raise TracingError(
                kind.what,
                "Append to the list in every trip and change no more of it, or make a "
                "tensor before the loop and assign to its items",
            )
        if slot.kind is None or not same_kind(kind, slot.kind):
            slot.kind, right = kind, False
    slots += fresh
    return right and not any(slot.kind is not None for slot in fresh)


def packed(slots: list[Slot], attempt: Attempt | None = None) -> list[Symbol]:
    """Return the symbols of the carried slots.

    Args:
        slots: The slots.
        attempt: The trip behind which they are wanted; `None` for before the loop.
    """
    out: list[Symbol] = []
    for slot in slots:
        if slot.kind is not None:
            value = slot.entry
            if attempt is not None:
                value = attempt.side.region.content(slot.after)
            out += pack(value, slot.kind)
            for path in slot.flagged():
                same = True if attempt is None else slot.same.get(path, False)
                out.append(as_symbol(same))
    return out


def unpacked(slots: list[Slot], symbols: Sequence[Symbol]) -> list[Any]:
    """Return what the slots hold after the loop."""
    found = iter(symbols)
    values = []
    for slot in slots:
        value = slot.entry
        if slot.kind is not None:
            value = named(unpack(slot.kind, found), slot.label.strip("'"))
            for path in slot.flagged():
                alias(at(value, path), at(slot.entry, path), next(found))
        values.append(value)
    return values
