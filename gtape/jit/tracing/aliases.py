"""Names that stand for one tensor on some paths: assigning to its items shows in both.

Where paths meet, a name gets a new object. Whether that is the same tensor as another
depends on the path: a flag in the graph. `Tracer.replace` changes both under the flag.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from gtape.jit.graph.builder import Builder
from gtape.jit.tracing.kinds import BOOL
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import current
from gtape.ops import logic

Flag: TypeAlias = "bool | Symbol"
Path: TypeAlias = "tuple[Any, ...]"
"""The key of a name or location, and where in its lists and dicts a tensor stands."""
Origins: TypeAlias = "dict[int, tuple[Symbol, Flag]]"
"""Tensors from outside by id, each with whether it is the one in question."""


def alias(a: Symbol, b: Symbol, flag: Flag) -> None:
    """Note that two objects are the same tensor where a flag holds."""
    if flag is False or a is b:
        return
    here = current()
    symbol = as_symbol(flag)
    for x, y in ((a, b), (b, a)):
        here.region.note_aliases(x)
        x._aliases = (*x._aliases, (y, symbol))


def as_symbol(flag: Flag) -> Symbol:
    """Return a flag as a bool symbol."""
    if isinstance(flag, Symbol):
        return flag
    return current().constant(BOOL.type(flag))


def both(a: Flag, b: Flag) -> Flag:
    """Return whether two flags hold."""
    if a is False or b is False:
        return False
    if a is True or b is True:
        return b if a is True else a
    out: Symbol = logic.logical_and(a, b)
    return out


def either(a: Flag, b: Flag) -> Flag:
    """Return whether one of two flags holds."""
    if a is True or b is True:
        return True
    if a is False or b is False:
        return b if a is False else a
    out: Symbol = logic.logical_or(a, b)
    return out


def same_as(a: Any, b: Symbol) -> Flag:
    """Return whether a value is the same tensor as another on the path taken."""
    seen: set[int] = set()

    def found(x: Any) -> Flag:
        if x is b:
            return True
        seen.add(id(x))
        out: Flag = False
        for other, flag in getattr(x, "_aliases", ()):
            if id(other) not in seen:
                out = either(out, both(flag, found(other)))
        return out

    return found(a)


def outside(value: Symbol, builder: Builder) -> list[Symbol]:
    """Return the objects made outside of a region that a value may be the same as."""
    found: list[Symbol] = []
    seen: dict[int, Symbol] = {id(value): value}
    waiting = [value]
    while waiting:
        x = waiting.pop()
        if x._home is not builder:
            found.append(x)
            continue
        for other, _ in x._aliases:
            if id(other) not in seen:
                seen[id(other)] = other
                waiting.append(other)
    return found


def tensors(value: Any, path: Path = ()) -> Iterator[tuple[Path, Symbol]]:
    """Yield tensors in a value whose items may be assigned to, and their places."""
    if type(value) is Symbol:
        if value.ndim or value.dtype.kind != "b":
            yield path, value
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from tensors(part, (*path, i))
    elif type(value) is dict:
        for key, part in value.items():
            yield from tensors(part, (*path, key))


class Sameness:
    """Which tensors at the end of a region are the same, asked still inside it.

    Args:
        values: What names and locations hold, by any key.
        builder: The region's.
    """

    def __init__(self, values: Mapping[Any, Any], builder: Builder) -> None:
        self._builder = builder
        self.to_each_other: dict[tuple[Path, Path], Flag] = {}
        self._to_outside: dict[Path, Origins] = {}
        found = {p: x for key, v in values.items() for p, x in tensors(v, (key,))}
        for path, x in found.items():
            self._to_outside[path] = self._origins(x)
        groups: dict[int, list[Path]] = {}
        for path, x in found.items():
            groups.setdefault(id(x), []).append(path)
        for group in groups.values():
            self._note(itertools.combinations(group, 2), found)
        aliased = [p for p, x in found.items() if x._aliases]
        self._note(itertools.combinations(aliased, 2), found)

    def _origins(self, x: Symbol) -> Origins:
        return {id(o): (o, same_as(x, o)) for o in outside(x, self._builder)}

    def _note(
        self, pairs: Iterable[tuple[Path, Path]], found: Mapping[Path, Symbol]
    ) -> None:
        for a, b in pairs:
            flag = same_as(found[a], found[b])
            if flag is not False:
                self.to_each_other[a, b] = flag

    def to_outside(self, path: Path, value: Any) -> Origins:
        """Return the tensors from outside that one may be, and whether it is.

        Args:
            path: Where it stands.
            value: What stands there, if the region has not written to it.
        """
        if path in self._to_outside:
            return self._to_outside[path]
        return {id(value): (value, True)} if type(value) is Symbol else {}
