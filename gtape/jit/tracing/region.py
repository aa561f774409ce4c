"""`Region`: what changes while one region is traced, so that it can be undone."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from gtape.errors import PACKAGE


class Missing:
    """Stands for an attribute or entry that is not there."""

    def __repr__(self) -> str:
        return "<missing>"


MISSING = Missing()


class Location(Protocol):
    """A place outside of local names that a program can write to."""

    @property
    def key(self) -> Any:
        """What tells it from others."""

    @property
    def label(self) -> str:
        """How messages say it."""

    def read(self) -> Any:
        """Return what stands there."""

    def write(self, value: Any) -> None:
        """Put something there."""


def put(location: Location, value: Any, is_mark: bool) -> None:
    """Write what paths have left at a location where they met.

    Args:
        location: The location.
        value: The value, or a mark that there is none.
        is_mark: Whether it is a mark; free variables hold such, other places do not.
    """
    missing = is_mark and not isinstance(location, FreeLocation)
    location.write(MISSING if missing else value)


class AttributeLocation:
    """An attribute of an object."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner = owner
        self.name = name

    @property
    def key(self) -> Any:
        """The object and the name."""
        return "attribute", id(self.owner), self.name

    @property
    def label(self) -> str:
        """How messages say it."""
        return f"{type(self.owner).__name__}.{self.name}"

    def read(self) -> Any:
        """Return the attribute."""
        return getattr(self.owner, self.name, MISSING)

    def write(self, value: Any) -> None:
        """Set or delete the attribute."""
        if value is not MISSING:
            setattr(self.owner, self.name, value)
        elif hasattr(self.owner, self.name):
            delattr(self.owner, self.name)


class EntryLocation:
    """An entry of a dict."""

    def __init__(self, owner: dict[Any, Any], entry: Any) -> None:
        self.owner = owner
        self.entry = entry

    @property
    def key(self) -> Any:
        """The dict and the key."""
        return "entry", id(self.owner), self.entry

    @property
    def label(self) -> str:
        """How messages say it."""
        return f"the entry {self.entry!r} of a dict"

    def read(self) -> Any:
        """Return the entry."""
        return self.owner.get(self.entry, MISSING)

    def write(self, value: Any) -> None:
        """Set or delete the entry."""
        if value is not MISSING:
            self.owner[self.entry] = value
        else:
            self.owner.pop(self.entry, None)


class ListLocation:
    """The contents of a list."""

    label = "a list"

    def __init__(self, owner: list[Any]) -> None:
        self.owner = owner

    @property
    def key(self) -> Any:
        """The list."""
        return "list", id(self.owner)

    def read(self) -> Any:
        """Return a copy of the contents."""
        return list(self.owner)

    def write(self, value: Any) -> None:
        """Change the contents."""
        self.owner[:] = value


def label_in(functions: Iterable[Any], location: Location) -> str:
    """Return how messages say a location: a list by the name that functions have."""
    if not isinstance(location, ListLocation):
        return location.label
    return _name_in(functions, location.owner, 4) or location.label


def _name_in(functions: Iterable[Any], owner: Any, depth: int) -> str:
    """Return the free variable of functions, or of those that they hold, for an object.

    Args:
        functions: Functions; other things among them are left aside.
        owner: The object.
        depth: How many functions deep to look.
    """
    for function in functions if depth else ():
        code = getattr(function, "__code__", None)
        if not isinstance(code, types.CodeType):
            continue
        held: list[Any] = []
        for name, cell in zip(
            code.co_freevars, function.__closure__ or (), strict=True
        ):
            try:
                value = cell.cell_contents
            except ValueError:  # it is empty
                continue
            if not code.co_filename.startswith(PACKAGE):
                if value is owner:
                    return repr(name)
                for attribute, found in getattr(value, "__dict__", {}).items():
                    if found is owner:
                        return f"{name}.{attribute}"
            held += value if isinstance(value, tuple) else (value,)
        if found := _name_in(held, owner, depth - 1):
            return found
    return ""


class FreeLocation:
    """A free variable that a function assigns to.

    Args:
        owner: Its cell.
        name: Its name.
    """

    def __init__(self, owner: Any, name: str) -> None:
        self.owner = owner
        self.name = name

    @property
    def key(self) -> Any:
        """The cell."""
        return "free", id(self.owner)

    @property
    def label(self) -> str:
        """How messages say it."""
        return repr(self.name)

    def read(self) -> Any:
        """Return what the cell holds."""
        try:
            return self.owner.cell_contents
        except ValueError:
            return MISSING

    def write(self, value: Any) -> None:
        """Give the cell another value, or empty it."""
        if value is not MISSING:
            self.owner.cell_contents = value
        elif self.read() is not MISSING:
            del self.owner.cell_contents


PLACES = (AttributeLocation, EntryLocation, ListLocation, FreeLocation)
"""Locations that hold values as names do."""

Links: TypeAlias = "tuple[Any, list[tuple[Any, Any]]]"


class Region:
    """What the code of one region has written, and what it has made.

    Args:
        builder: What its nodes go to.
        around: The region around it, `None` for the function itself.
    """

    def __init__(self, builder: Any, around: Region | None = None) -> None:
        self.builder = builder
        self.around = around
        self.log: dict[Any, tuple[Location, Any]] = {}  # with what stood there before
        self.made: dict[int, Any] = {}  # containers and objects that began to be here
        self.variables: dict[int, Any] = {}  # those that were read, by key
        self.looked_at: dict[int, Any] = {}  # lists that were read
        self.contents: dict[int, Any] = {}
        self.aliases: dict[int, tuple[Any, Any]] = {}
        self.tries = 0  # the tries with handlers that the code is in
        # What else a list or dict may be, and a mark for when it is changed.
        self.links: dict[int, Links] = {} if around is None else around.links

    def touch(self, location: Location) -> None:
        """Note that a location is about to be written."""
        if self.links:
            self._spoil(location)
        self._note(location)

    def is_own(self, container: Any) -> bool:
        """Return whether a container began to be here, and is none from outside."""
        return id(container) in self.made and id(container) not in self.links

    def link(self, a: Any, b: Any, mark: Any) -> None:
        """Note that two containers may be one: changing one marks the other."""
        if a is not b:
            self.links.setdefault(id(a), (a, []))[1].append((b, mark))
            self.links.setdefault(id(b), (b, []))[1].append((a, mark))

    def _spoil(self, location: Location) -> None:
        """Put marks into what may be the container that is about to be written."""
        waiting = [getattr(location, "owner", None)]
        seen = {id(waiting[0])}
        while waiting:
            for other, mark in self.links.get(id(waiting.pop()), (None, ()))[1]:
                if id(other) in seen:
                    continue
                seen.add(id(other))
                waiting.append(other)
                if type(other) is list:
                    self._note(ListLocation(other))
                    other[:] = [mark] * max(len(other), 1)
                    continue
                for key in {*other, getattr(location, "entry", None)}:
                    self._note(EntryLocation(other, key))
                    other[key] = mark

    def _note(self, location: Location) -> None:
        key = location.key
        if key in self.log:
            return
        owner = getattr(location, "owner", None)
        if id(owner) in self.made or getattr(owner, "_home", None) is self.builder:
            return  # it began to be here: nobody outside knows it
        self.log[key] = (location, location.read())

    def make(self, value: Any) -> None:
        """Note an object that did not exist before the region."""
        self.made[id(value)] = value

    def look_at(self, owner: Any) -> None:
        """Note a list that is read."""
        self.looked_at[id(owner)] = owner

    def was_read(self, owner: Any) -> bool:
        """Return whether a list has been read."""
        return id(owner) in self.looked_at

    def undo(self) -> dict[Any, tuple[Location, Any]]:
        """Restore what stood there, and return what the region put there instead."""
        ends = [
            (key, location, before, location.read())
            for key, (location, before) in self.log.items()
        ]
        # Tensors that were assigned to item by item, as they are now.
        self.contents = {
            id(location.owner): value  # type: ignore[attr-defined]
            for key, location, _, value in ends
            if key[0] == "symbol"
        }
        self.restore()
        return {
            key: (location, value if value is before else self.content(value))
            for key, location, before, value in ends
        }

    def content(self, value: Any) -> Any:
        """Return a value with the contents that its tensors had at the region's end."""
        if not self.contents:
            return value
        if type(value) in (list, tuple):
            return type(value)([self.content(v) for v in value])
        if type(value) is dict:
            return {k: self.content(v) for k, v in value.items()}
        return self.contents.get(id(value), value)

    def note_aliases(self, symbol: Any) -> None:
        """Note a tensor of which it will be said that others are the same."""
        self.aliases.setdefault(id(symbol), (symbol, symbol._aliases))

    def restore(self) -> None:
        """Restore what stood there before the region."""
        for symbol, before in self.aliases.values():
            symbol._aliases = before
        for location, before in reversed(self.log.values()):
            location.write(before)


class Diverged(BaseException):
    """The rest of a branch is never reached: it raises at run time."""
