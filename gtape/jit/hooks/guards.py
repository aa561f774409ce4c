"""`Capture`: a place of the world outside, and what stood there during a trace."""

from __future__ import annotations

import itertools
import math
import operator
import types
from collections.abc import Callable
from typing import Any

from gtape.jit.tracing.region import MISSING

PLAIN = (bool, int, float, complex, str, bytes, type(None))

MOST_GUARDED = 1000
"""Of lists and dicts up to this size all entries are looked at on every call."""

Read = Callable[[], Any]


class Capture:
    """A place outside of the function, and what stood there while it was traced.

    Args:
        key: What tells the place from others.
        place: How `explain` says it.
        read: Returns what stands there now.
        value: What stood there.
        write: Puts something there, if the function can.
    """

    __slots__ = ("key", "place", "read", "value", "write")

    def __init__(
        self,
        key: Any,
        place: str,
        read: Read,
        value: Any,
        write: Callable[[Any], None] | None = None,
    ) -> None:
        self.key = key
        self.write = write
        self.place = place
        self.read = read
        self.value = value

    def holds(self) -> bool:
        """Return whether what stands there is still the same."""
        now = self.read()
        return now is self.value or is_same(now, self.value)

    def is_other_number(self) -> bool:
        """Return whether a number stands here, and now another of its type."""
        now = self.read()
        kind = type(now)
        return kind in (int, float) and kind is type(self.value) and not self.holds()

    def restore(self) -> None:
        """Put back what stood there, if the function itself has changed it."""
        if self.write is not None and self.read() is not self.value:
            self.write(self.value)

    def said(self) -> str:
        """Return the change in words."""
        now = self.read()
        if now is MISSING:
            return f"{self.place} is gone"
        if self.value is MISSING:
            return f"{self.place} is there now"
        return changed(self.place, self.value, now)


class Written(Capture):
    """A place that the function writes, and reads anew on every call."""

    __slots__ = ()

    def holds(self) -> bool:
        """Return True: a trace does not depend on what stands there."""
        return True


class Contents(Capture):
    """What a list, dict or set from outside holds.

    Args:
        owner: The container.
        key: What tells it from others.
        most: Of larger ones only the length counts.
    """

    __slots__ = ("_most", "_own", "owner")

    def __init__(self, owner: Any, key: Any, most: float = math.inf) -> None:
        self.owner = owner
        self._most = most
        self._own: frozenset[Any] = frozenset()
        name = f"the contents of a {type(owner).__name__}"
        super().__init__(key, name, self._now, self._now())

    def leave_out(self, keys: frozenset[Any]) -> None:
        """Leave out the entries of a dict that the trace writes itself."""
        self._own = keys
        self.value = self._now()

    def _now(self) -> Any:
        owner = self.owner
        if self._own:
            owner = {k: v for k, v in owner.items() if k not in self._own}
        if len(owner) > self._most:
            return len(owner)
        if isinstance(owner, dict):
            return tuple(owner), tuple(owner.values())
        return frozenset(owner) if isinstance(owner, (set, frozenset)) else tuple(owner)

    def said(self) -> str:
        """Return the change in words: the first entry that is another one."""
        before, now = self.value, self._now()
        kind = type(self.owner).__name__
        keys: Any = itertools.count()
        if isinstance(self.owner, dict) and isinstance(now, tuple):
            keys = now[0]
            if not is_same(keys, before[0]):
                return f"the keys of a {kind} were {before[0]}, are {keys}"
            before, now = before[1], now[1]
        if not isinstance(now, tuple) or not isinstance(before, tuple):
            return f"{self.place} have changed"
        if len(before) != len(now):
            return f"the length of a {kind} was {len(before)}, is {len(now)}"
        for key, a, b in zip(keys, before, now, strict=False):
            if a is not b and not is_same(a, b):
                return changed(f"entry {key!r} of a {kind}", a, b)
        return f"{self.place} have changed"


def changed(place: str, before: Any, now: Any) -> str:
    """Return in words that what stands at a place is something else."""
    if type(before) in PLAIN and type(now) in PLAIN:
        return f"{place} was {before!r}, is {now!r}"
    return f"{place} is another object"


def is_same(a: Any, b: Any) -> bool:
    """Return whether two values are the same to a trace.

    Plain values are compared with their types and signs, tuples entry by entry, methods
    by object and function, all else by identity.
    """
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is float or kind is complex:
        return str(a) == str(b)  # minus zero differs from zero, NaN equals itself
    if kind in PLAIN or kind is frozenset:
        return bool(a == b)
    if kind is tuple:
        if len(a) != len(b):
            return False
        if all(map(operator.is_, a, b)):  # without a frame for each entry
            return True
        return all(x is y or is_same(x, y) for x, y in zip(a, b, strict=True))
    if kind is types.MethodType:
        return a.__self__ is b.__self__ and a.__func__ is b.__func__
    if kind is types.BuiltinMethodType:
        return a.__self__ is b.__self__ and a.__name__ == b.__name__
    return False
