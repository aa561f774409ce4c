"""`TracedList`: what a list is that a traced loop has appended to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gtape import dispatch
from gtape.errors import TracingError
from gtape.jit.hooks.sequences import Traced
from gtape.jit.tracing.kinds import Clashing, Kind, join, kind_of
from gtape.jit.tracing.number import TracedNumber
from gtape.jit.tracing.packing import leaves, pack, unpack
from gtape.ops.shaping import reshape
from gtape.ops.slicing import concat, stack


class TracedList(Traced):
    """A list whose entries lie in stacked tensors, one for each part of an entry.

    Args:
        kind: What an entry is.
        stacks: For each of its symbols, all of them along the first axis.
    """

    def __init__(self, kind: Kind, stacks: Sequence[Any]) -> None:
        super().__init__(stacks[0].shape[0])
        self._kind = kind
        self._stacks = list(stacks)

    def at(self, i: Any) -> Any:
        """Return an entry."""
        index = i.symbol if type(i) is TracedNumber else i
        return unpack(self._kind, iter([s[index] for s in self._stacks]))

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return TracedList(self._kind, [s[i] for s in self._stacks])
        return self.at(i)

    def __gtape_tensor__(self) -> Any:
        """Return the entries stacked, as a list of tensors becomes a tensor."""
        parts = list(self._stacks)
        if len(parts) == 1:
            return dispatch.interpreter().convert(unpack(self._kind, iter(parts)))
        values = unpack(self._kind, iter(parts))
        return stack(list(values), axis=1)

    def __gtape_rows__(self) -> Any:
        """Return the same, for operations that take a list of tensors."""
        return self.__gtape_tensor__()

    def _changed(self, *args: Any) -> Any:
        raise TracingError(
            "a list that a traced loop has appended to is changed again",
            "Append to a list of its own, or use gt.concat of both as tensors",
        )

    append = extend = insert = pop = remove = clear = reverse = sort = _changed
    __add__ = __radd__ = __mul__ = __rmul__ = __iadd__ = __imul__ = _changed
    __setitem__ = __delitem__ = _changed

    def __eq__(self, other: object) -> Any:
        return self._changed()

    __hash__ = None  # type: ignore[assignment]


def kind_of_rows(rows: Sequence[Any], label: str) -> Kind:
    """Return what the entries of a list are together.

    Raises:
        TracingError: If they are of different kinds, or nothing that can be stacked.
    """
    kind = kind_of(rows[0])
    for row in rows[1:]:
        kind = join(kind, kind_of(row), f"an entry of {label}")
    if isinstance(kind, Clashing):
        raise TracingError(kind.what, "Append entries of one kind and shape")
    found = leaves(kind)
    if not found:
        kind = join(kind, kind_of(_other(rows[0])), label)  # equal numbers in all trips
        found = leaves(kind)
    if not found or any(d is None for _, shape in found for d in shape):
        raise TracingError(
            f"the entries that a traced loop appends to {label} cannot be stacked",
            "Append tensors or numbers of one shape",
        )
    return kind


def _other(value: Any) -> Any:
    """Return a number of the same type that is another one."""
    return value + 1 if type(value) in (int, float) else value


def packed_rows(rows: Sequence[Any], kind: Kind) -> list[Any]:
    """Return what a trip gives to each stack: a row, or several as one."""
    columns = list(zip(*[pack(row, kind) for row in rows], strict=True))
    return [stack(list(c)) if len(rows) > 1 else c[0] for c in columns]


def whole_list(
    before: Sequence[Any], kind: Kind, stacks: Sequence[Any], each: int
) -> Any:
    """Return a list after a loop has appended to it.

    Args:
        before: Its entries before the loop.
        kind: What the new entries are.
        stacks: The stacks of the loop.
        each: How many entries a trip has appended.
    """
    if each > 1:
        stacks = [_flat(s, each) for s in stacks]
    if before:
        together = kind
        for entry in before:
            together = join(together, kind_of(entry), "an entry of a list")
        if type(together) is not type(kind) or len(leaves(together)) != len(
            leaves(kind)
        ):
            raise TracingError(
                "a list holds entries of another kind than a traced loop appends",
                "Append to a new list",
            )
        first = list(zip(*[pack(entry, kind) for entry in before], strict=True))
        stacks = [
            concat([stack(list(f)), s], 0) for f, s in zip(first, stacks, strict=True)
        ]
    return TracedList(kind, stacks)


def _flat(rows: Any, each: int) -> Any:
    """Return stacked blocks of entries as one stack of entries."""
    return reshape(rows, (rows.shape[0] * each, *rows.shape[2:]))
