"""What belongs to a trace as a whole: services, cells, inputs, decisions on sizes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from gtape.errors import PACKAGE, GtapeError, Origin, TracingError
from gtape.jit.graph.attrs import resolve
from gtape.jit.graph.ir import Value
from gtape.jit.tracing.number import INT64, TracedNumber
from gtape.jit.tracing.symbol import Symbol
from gtape.ops.traced import size_tensor
from gtape.primitive import Primitive
from gtape.sizes import Size, Unknown, is_size, size_of_unknown, value_of
from gtape.spec import TensorSpec


class Services(Protocol):
    """What tracers need of the modules further down."""

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function of the user's, converted."""

    def count(self, start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
        """Return a range of traced numbers as a tensor; `None` if none is traced."""

    def custom_rule(
        self, here: Any, tensors: Any, outputs: Any, rule: Any
    ) -> tuple[Any, ...]:
        """Return outputs whose gradients are by a rule."""

    def evaluate(self, here: Any, symbol: Symbol) -> Any:
        """Return what a symbol is in this call."""


CONSTANT = -2  # the key of what came from Python or NumPy


class Guard(NamedTuple):
    """A decision about sizes that a trace depends on."""

    relation: str  # "==", "<", or "number"
    left: Any
    right: Any
    holds: bool
    origin: Origin


class Slot(NamedTuple):
    """An input of a graph that is no argument of the function."""

    kind: str  # "variable", "state", "tensor" or "array"
    owner: Any
    value: Value


class Cell:
    """The value that a variable or random state has by now, in a trace.

    Args:
        owner: The variable or state.
        current: Its value as a symbol.
    """

    __slots__ = ("current", "entry", "owner")

    def __init__(self, owner: Any, current: Symbol) -> None:
        self.owner = owner
        self.current = self.entry = current

    @property
    def key(self) -> Any:
        """What tells it from other locations."""
        return "cell", id(self.owner)

    @property
    def label(self) -> str:
        """How messages say it."""
        return str(getattr(self.owner, "name", "a random state"))

    def read(self) -> Symbol:
        """Return the value."""
        return self.current

    def write(self, value: Any) -> None:
        """Give it another value, which is not linked to what it was made of."""
        self.current = Symbol(value._value, getattr(self.owner, "_key", CONSTANT))


class SymbolLocation:
    """A traced tensor that is assigned to item by item."""

    label = "a tensor"

    def __init__(self, owner: Symbol) -> None:
        self.owner = owner

    @property
    def key(self) -> Any:
        """What tells it from other locations."""
        return "symbol", id(self.owner)

    def read(self) -> Symbol:
        """Return a copy of the tensor."""
        return Symbol(self.owner._value, self.owner._key, self.owner._home)

    def write(self, value: Any) -> None:
        """Give the object another value."""
        self.owner._value, self.owner._key = value._value, value._key


class SizeOwner:
    """What decides on unknown sizes, by those of the call that is traced."""

    def __init__(self) -> None:
        self.guards: list[Guard] = []
        self.notes: list[str] = []
        self._names: dict[str, int] = {}

    def unknown(self, name: str, hint: int | None = None, least: int = 0) -> Size:
        """Return a new size that is known only at run time."""
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        full = name if count == 0 else f"{name}{count}"
        return size_of_unknown(Unknown(full, self, hint, least))

    def decide(self, relation: str, left: Any, right: Any) -> bool:
        """Return whether a relation of sizes holds in this call, and note it."""
        a, b = _hint(left), _hint(right)
        if a is None or b is None:
            if relation == "==":
                return False  # nobody relies on sizes being equal by chance
            raise TracingError(
                f"whether {left} {relation} {right} is known only when the function "
                "runs",
                "Keep sizes that depend on data out of shapes and conditions",
            )
        holds = a == b if relation == "==" else a < b
        self.guards.append(Guard(relation, left, right, holds, user_origin()))
        return holds

    def number(self, size: Size) -> int:
        """Return a size as the number that it is in this call, and note it."""
        value = size.hint()
        if value is None:
            raise TracingError(
                f"Python needs the number {size}, which is known only when the "
                "function runs",
                "Use gt functions of it, such as gt.range",
            )
        guard = Guard("number", size, value, True, user_origin())
        self.guards.append(guard)
        self.note(f"the size {size} was needed as a number, here {value}", guard.origin)
        return value

    def tensor(self, size: Size) -> TracedNumber:
        """Return a size as a traced Python int."""
        return TracedNumber(int, size_tensor(size, INT64), frozenset())

    def note(self, text: str, origin: Origin | None = None) -> None:
        """Add a sentence to what `explain` says of the trace."""
        place = origin or user_origin()
        line = f"{text} (line {place.line} of {place.file}, in {place.function})"
        if line not in self.notes:
            self.notes.append(line)


def _hint(size: Any) -> int | None:
    return size.hint() if is_size(size) else int(size)


def check_guard(guard: Guard, sizes: dict[Unknown, int]) -> bool:
    """Return whether a decision would be the same for other sizes."""
    left, right = value_of(guard.left, sizes), value_of(guard.right, sizes)
    if guard.relation == "<":
        return (left < right) is guard.holds
    return (left == right) is guard.holds


def user_origin() -> Origin:
    """Return the user's place in the source."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(PACKAGE):
        back = frame.f_back
        if back is None:
            break
        frame = back
    return Origin(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def in_numbers(
    primitive: Primitive,
    specs: Sequence[TensorSpec],
    attrs: dict[str, Any],
    error: GtapeError,
) -> GtapeError:
    """Return what is wrong, in the sizes that this call has, if they are known."""
    unknowns = {
        unknown
        for spec in specs
        for size in spec.shape
        if is_size(size)
        for unknown in size.unknowns()
    }
    sizes = {u: u.hint for u in unknowns if u.hint is not None}
    try:
        known = [s.with_shape([value_of(d, sizes) for d in s.shape]) for s in specs]
        primitive.spec(*known, **resolve(attrs, sizes))
    except GtapeError as better:
        return better
    except KeyError:  # a size that depends on data
        pass
    return error
