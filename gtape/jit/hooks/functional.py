"""What control flow as functions, such as `gt.scan`, is in a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gtape.eager import EagerTensor
from gtape.errors import ArgumentTypeError, TracingError
from gtape.jit.control.loops import close_for
from gtape.jit.control.structure import tracer
from gtape.jit.hooks.attempts import packed
from gtape.jit.hooks.branches import choose
from gtape.jit.hooks.fors import for_stmt
from gtape.jit.hooks.loops import finish, settle, while_stmt
from gtape.jit.hooks.sequences import ranged, traced_int
from gtape.jit.tracing.number import TracedNumber, as_number
from gtape.jit.tracing.region import Diverged
from gtape.jit.tracing.symbol import Symbol
from gtape.ops.carry import Carry
from gtape.ops.common import as_int
from gtape.ops.shaping import renamed_sizes
from gtape.sizes import is_size
from gtape.variable import Variable

Thunk = Callable[[], Any]


class ControlServices:
    """The control flow that operations ask a trace for."""

    @staticmethod
    def branch(predicate: Any, then: Thunk, orelse: Thunk) -> Any:
        """Return what one of two functions returns; both are traced if need be."""
        return choose(predicate, then, orelse, guarded=False)

    @staticmethod
    def while_loop(test: Thunk, trip: Thunk, carry: Carry) -> None:
        """Run or trace trips as long as a test holds."""
        while_stmt(test, trip, carry.get, carry.set, carry.labels)

    @staticmethod
    def for_loop(
        bounds: Sequence[Any],
        assign: Callable[[Any], None],
        trip: Thunk,
        test: Thunk | None,
        carry: Carry,
    ) -> None:
        """Run or trace a trip for each integer between bounds, while a test holds."""
        items = ranged(*bounds)
        for_stmt(items, assign, trip, test, carry.get, carry.set, carry.labels)

    @staticmethod
    def integer(name: str, argument: str, value: Any) -> Any:
        """Return an argument, an integer scalar, as an int or as a traced int.

        Raises:
            ArgumentTypeError: If it is something else.
        """
        what = f"{name}: {argument}"
        if isinstance(value, TracedNumber):
            if value.kind is float:
                raise ArgumentTypeError(f"{what}: a float is no integer", "Use int(x)")
            return value
        if isinstance(value, (Symbol, EagerTensor, Variable)):
            return traced_int(what, value)
        return as_int(name, argument, value)

    @staticmethod
    def stacked(
        length: Any,
        trip: Callable[[Any], Sequence[Symbol]],
        carry: Carry | None,
        reverse: bool,
    ) -> list[Symbol]:
        """Trace a trip for each number below a length, and return its results stacked.

        Args:
            length: An int or a size.
            trip: A number -> the symbols that are stacked.
            carry: What the trips change, beside variables.
            reverse: Whether the last number comes first.
        """
        here = tracer()
        rows: list[Symbol] = []

        def run(own: Sequence[Symbol]) -> list[Symbol]:
            try:
                rows[:] = trip(own[0])
            except Diverged:
                raise TracingError(
                    "the function of a fold raises an exception whatever its arguments",
                    "Raise it under a condition",
                ) from None
            return []

        get = carry.get if carry is not None else tuple
        set = carry.set if carry is not None else _nothing
        names = carry.labels if carry is not None else ()
        slots, attempt = settle(here, get, set, names, run, [], True, None)
        if any(slot.appended is not None for slot in slots):
            raise TracingError(
                "the function of a fold appends to a list",
                "Return the values: they are stacked",
            )
        with attempt.side.tracing():
            new = packed(slots, attempt)
        entry = packed(slots)
        count = as_number(length).symbol
        outs, stacks = close_for(
            count, attempt.side, entry, attempt.inner, new, rows, reverse
        )
        finish(here, attempt, slots, outs, [], set, False)
        if is_size(length):
            # A loop gives its trips a size of their own, which is this one.
            return [renamed_sizes(s, (length, *s.shape[1:])) for s in stacks]
        return stacks


def _nothing(values: tuple[Any, ...]) -> None:
    """The names of a loop that has none."""
