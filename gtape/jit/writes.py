"""What a call writes outside of the graph: attributes, entries, lists, globals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gtape.eager import EagerTensor
from gtape.jit.arguments import Arguments
from gtape.jit.hooks.guards import Capture
from gtape.jit.results import Given, Packer, is_static, raw
from gtape.jit.signature import Bound
from gtape.jit.tracing.containers import holds_clash
from gtape.jit.tracing.region import (
    EntryLocation,
    FreeLocation,
    ListLocation,
    Location,
)
from gtape.jit.tracing.state import SymbolLocation
from gtape.jit.tracing.tracer import Trace

Write = Callable[[Bound, Any], None]
Undo = Callable[[], None]


class Effect(NamedTuple):
    """Something outside of the graph that a call writes.

    Args:
        write: Writes it, given the call and the value.
        plan: What is written.
        keep: Returns what restores it to what it is now, given the call.
    """

    write: Write
    plan: Any
    keep: Callable[[Bound], Undo]

    def run(self, bound: Bound, outs: Sequence[Any]) -> None:
        """Write it, after a run of the graph."""
        self.write(bound, raw(self.plan, outs, bound))


class Writes:
    """All that the calls of a trace write, in the order of the program.

    Args:
        trace: The trace, at its end.
        packer: Takes the outputs that are written.
        arguments: What the function was called with.
    """

    def __init__(self, trace: Trace, packer: Packer, arguments: Arguments) -> None:
        self._packer = packer
        self._given = arguments.given()
        self._made = trace.root.region.made
        self._outer = trace.outer
        self._places = arguments.places
        self.effects: list[Effect] = []
        self.into_arguments = False
        for key, (location, before) in trace.root.region.log.items():
            own = isinstance(location, FreeLocation) and (
                ("cell", id(location.owner), location.name) not in trace.captures
            )  # a local name of the function that was traced
            if key[0] != "cell" and not own:
                self._add(location, before)
        for key, capture in trace.captures.items():
            if key[0] == "global" and capture.write is not None:
                self._rebind(capture)

    def _plan(self, value: Any) -> Any:
        return self._packer.written(value, self._given, self._made)

    def _add(self, location: Location, before: Any) -> None:
        now = location.read()
        owner = getattr(location, "owner", None)
        given = self._given.get(id(owner))
        if given is None and id(owner) not in self._outer and holds_clash(now):
            return  # a list or dict of the function's own that nobody reads any more
        if isinstance(location, SymbolLocation):
            place = self._places.get(id(owner))
            if place is not None:
                plan = self._packer.planned(now)
                effect = Effect(_into_tensor(place), plan, _keep_tensor(place))
                self.effects.append(effect)
                self.into_arguments = True
            return
        self.into_arguments |= given is not None
        find = _fixed(owner) if given is None else given.find
        if isinstance(location, ListLocation):
            extended = len(now) >= len(before) and all(
                x is y for x, y in zip(before, now, strict=False)
            )
            plan = self._plan(now[len(before) :] if extended else list(now))
            write = _extending(find) if extended else _replacing(find)
            self.effects.append(Effect(write, plan, _keep(find, ListLocation)))
            return

        def moved(owner: Any) -> Location:
            if isinstance(location, EntryLocation):
                return EntryLocation(owner, location.entry)
            return location

        write = _writing(find, moved)
        self.effects.append(Effect(write, self._plan(now), _keep(find, moved)))

    def _rebind(self, capture: Capture) -> None:
        now, write = capture.read(), capture.write
        if now is capture.value or write is None:
            return

        def keep(_: Bound) -> Undo:
            before = capture.read()
            return lambda: write(before)

        def rebind(_: Bound, value: Any) -> None:
            write(value)

        self.effects.append(Effect(rebind, self._plan(now), keep))
        capture.restore()

    def kept(self, bound: Bound) -> list[Undo]:
        """Return what restores all that a call writes to what it is now."""
        return [effect.keep(bound) for effect in self.effects][::-1]

    def apply_static(self, bound: Bound) -> list[Undo]:
        """Write what is the same in all calls, and return what restores it.

        What is written is made once, for a trace that runs once: the next trace goes by
        its identity.
        """
        undo = self.kept(bound)
        for i, effect in enumerate(self.effects):
            if is_static(effect.plan):
                value = raw(effect.plan, (), bound)
                effect.write(bound, value)
                self.effects[i] = effect._replace(plan=Given(_fixed(value)))
        return undo


def _fixed(owner: Any) -> Callable[[Bound], Any]:
    return lambda _: owner


def _keep(
    find: Callable[[Bound], Any], place: Callable[[Any], Location]
) -> Callable[[Bound], Undo]:
    def keep(bound: Bound) -> Undo:
        location = place(find(bound))
        before = location.read()
        return lambda: location.write(before)

    return keep


def _equal(a: Any, b: Any) -> bool:
    return np.array(a).tobytes() == np.array(b).tobytes()


def _into_tensor(place: int) -> Write:
    def write(bound: Bound, value: Any) -> None:
        target = bound.leaves[place].value
        # Where the path taken has assigned nothing, the tensor stays what it was.
        if isinstance(target, EagerTensor) and not _equal(target._array, value._array):
            target._array, target._key = value._array, value._key

    return write


def _keep_tensor(place: int) -> Callable[[Bound], Undo]:
    def keep(bound: Bound) -> Undo:
        target = bound.leaves[place].value
        if not isinstance(target, EagerTensor):
            return lambda: None
        before = EagerTensor(target._array, target._key)
        return lambda: _into_tensor(place)(bound, before)

    return keep


def _extending(find: Callable[[Bound], Any]) -> Write:
    return lambda bound, value: find(bound).extend(value)


def _replacing(find: Callable[[Bound], Any]) -> Write:
    def write(bound: Bound, value: Any) -> None:
        find(bound)[:] = value

    return write


def _writing(find: Callable[[Bound], Any], place: Callable[[Any], Location]) -> Write:
    return lambda bound, value: place(find(bound)).write(value)
