"""Names that stand for one tensor on some paths: assigning to its items shows in both.

Where paths meet, a name gets a new object. Whether that is the same tensor as another
depends on the path: a flag in the graph. `Tracer.replace` changes both under the flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from gtape.jit.graph.builder import Builder
from gtape.jit.tracing.kinds import BOOL
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import current
from gtape.ops import logic

Flag: TypeAlias = "bool | Symbol"


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


class Sameness:
    """Which names stand for which tensors at the end of a region, still inside it.

    Args:
        values: What the names hold.
        builder: The region's.
    """

    def __init__(self, values: Sequence[Any], builder: Builder) -> None:
        self.to_outside: list[dict[int, tuple[Symbol, Flag]]] = []
        self.to_each_other: dict[tuple[int, int], Flag] = {}
        places = [i for i, v in enumerate(values) if _has_items(v)]
        for value in values:
            others = outside(value, builder) if _has_items(value) else []
            self.to_outside.append({id(x): (x, same_as(value, x)) for x in others})
        for n, i in enumerate(places):
            for j in places[n + 1 :]:
                x, y = values[i], values[j]
                if x is y or (x._aliases and y._aliases):
                    flag = same_as(x, y)
                    if flag is not False:
                        self.to_each_other[i, j] = flag


def _has_items(value: Any) -> bool:
    """Return whether a value is a tensor whose items may be assigned to."""
    return type(value) is Symbol and not (value.ndim == 0 and value.dtype.kind == "b")
