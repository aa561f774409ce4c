"""Why each trace was made, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gtape.dtypes import as_dtype
from gtape.jit.concrete import Concrete
from gtape.jit.signature import Bound, Leaf
from gtape.sizes import is_size

_KINDS = {
    "int": "a Python int",
    "float": "a Python float",
    "value": "a Python value",
    "object": "an object",
    "spec": "a tensor",
    "tensor": "a tensor",
    "variable": "a variable",
}


def reason_for(traces: Sequence[Concrete], bound: Bound) -> str:
    """Return why a call needs a trace of its own, beside the last one."""
    if not traces:
        return "the first call"
    last = traces[-1]
    names = [leaf.name for leaf in bound.leaves]
    if [leaf.name for leaf in last.leaves] != names:
        return "traced again: the arguments have another structure"
    for mine, shape, leaf in zip(last.leaves, last.shapes, bound.leaves, strict=True):
        change = _change(mine, shape, leaf)
        if change is not None:
            return f"traced again: argument {leaf.name!r} {change}"
    broken = last.broken()
    if broken is not None:
        return f"traced again: {broken}"
    if not last.same_variables(bound):
        return "traced again: the function asks which variable an argument is"
    if last.captured_as_argument(bound):
        return "traced again: a variable that the function captures is now an argument"
    sizes = last.other_sizes(bound)
    if sizes is not None:
        return f"traced again: {sizes}"
    return "traced again: some of the arguments are now the same object, or no longer"


def _change(before: Leaf, shape: Sequence[Any], now: Leaf) -> str | None:
    """Return what is different in an argument, if something is."""
    if before.kind != now.kind and {before.kind, now.kind} != {"tensor", "spec"}:
        return f"was {_KINDS[before.kind]}, is {_KINDS[now.kind]}"
    if now.kind in ("tensor", "variable", "spec"):
        if before.key[1] != now.key[1]:
            return f"had dtype {as_dtype(before.key[1])}, has {as_dtype(now.key[1])}"
        if before.key[2] != now.key[2]:
            return f"had rank {before.key[2]}, has {now.key[2]}"
        if before.key != now.key:
            return "is another variable than those before, or no longer"
        for axis, (old, new) in enumerate(zip(shape, now.shape, strict=True)):
            if is_size(old):
                if new is not None and new < old.unknown.least:
                    return f"has size {new} on axis {axis}, which broadcasts"
            elif old != new:
                return f"had size {old} on axis {axis}, has {new}"
        return None
    if before.key != now.key:
        if now.kind == "object":
            return f"was another object of type {type(before.value).__name__}"
        return f"was {before.value!r}, is {now.value!r}"
    if (
        now.kind in ("int", "float")
        and before.value != now.value
        and (type(before.value) is type(now.value))
    ):
        return f"was {before.value!r}, is {now.value!r}, and Python needs the number"
    return None


def told(concrete: Concrete) -> str:
    """Return one trace in words."""
    lines = [f"({concrete.signature()}): {concrete.reason}."]
    lines += [f"   - {note}" for note in concrete.notes]
    return "\n".join(lines)


def described(name: str, stories: Sequence[tuple[int, str]], count: int) -> str:
    """Return all traces of a function in words.

    Args:
        name: The function's name.
        stories: The number of each trace, and what is told of it.
        count: How often it has been traced.
    """
    if not count:
        return f"{name} has not been traced: it is traced when it is first called."
    times = "once" if count == 1 else f"{count} times"
    lines = [f"{name} has been traced {times}:"]
    return "\n".join([*lines, *[f"{i}. {story}" for i, story in stories]])
