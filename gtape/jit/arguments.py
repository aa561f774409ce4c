"""What a function is called with while it is traced, in place of its arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from gtape.dispatch import next_key
from gtape.eager import EagerTensor
from gtape.errors import PACKAGE, TracingError
from gtape.jit.results import Given
from gtape.jit.signature import Bound, Leaf, as_array, containers, rebuilt
from gtape.jit.tracing.number import FLOAT64, INT64, Pin, TracedNumber
from gtape.jit.tracing.state import CONSTANT
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Trace, is_tracing
from gtape.spec import TensorSpec
from gtape.variable import Variable

_LABELS = (f"{PACKAGE}record.py", os.path.join(PACKAGE, "jit", "tracing", ""))
"""Here gtape asks for the name of a variable, but not for its identity."""


class StandIn(Variable):
    """Stands for a variable among the arguments, so that a trace serves others, too.

    Who asks for the identity of the variable has the function traced again with the
    variable itself.

    Args:
        variable: The variable.
        place: Which of the arguments it is.
    """

    __slots__ = ("_place",)

    def __init__(self, variable: Variable, place: int) -> None:
        self._key = next_key()
        self._tensor = variable._tensor
        self._trainable = variable._trainable
        self._shape = variable._shape
        self._name = variable._name
        self.constraint = variable.constraint
        self._place = place

    @property
    def name(self) -> str:
        """The name of the variable itself; slots of optimizers go by it, for example.

        Raises:
            Pin: While tracing.
        """
        # Tapes and regions only want a label for their messages.
        asks = sys._getframe(1).f_code.co_filename
        if is_tracing() and not asks.startswith(_LABELS):
            raise Pin(frozenset((self._place,)), self)
        return f"{self._name}:0"

    def __gtape_tensor__(self) -> Any:
        if not is_tracing():
            raise TracingError(
                f"the argument {self._name!r} of a traced function, a variable, is "
                "used outside of the function",
                "Use the variable itself",
            )
        return super().__gtape_tensor__()


class Choice(NamedTuple):
    """How a trace treats its arguments.

    Args:
        pins: The numbers that are constants, by place.
        held: The variables that are themselves, by place.
        merged: Whether what was given twice is one thing: it is changed in place.
    """

    pins: frozenset[int]
    held: frozenset[int]
    merged: bool


class Arguments:
    """What a function is called with while it is traced.

    Args:
        trace: The trace, which gets an input for each tensor and number.
        bound: The arguments of the call.
        shapes: The shapes to trace with.
        choice: How they are treated.
    """

    def __init__(
        self, trace: Trace, bound: Bound, shapes: Sequence[Any], choice: Choice
    ) -> None:
        self._trace = trace
        self._choice = choice
        self._seen: dict[int, Any] = {}
        self.inputs: list[int] = []  # the places of the graph's first inputs
        self.places: dict[int, int] = {}  # of tensors and variables, by id
        self.values = [
            self._value(i, leaf, shapes[i]) for i, leaf in enumerate(bound.leaves)
        ]
        self.containers: list[Any] = []
        args, kwargs = bound.structure
        values = iter(self.values)
        self.args = tuple([self._copy(a, values) for a in args])
        self.kwargs = {name: self._copy(a, values) for name, a in kwargs.items()}
        if choice.merged:
            self._merge(bound)

    def _copy(self, structure: Any, values: Iterator[Any]) -> Any:
        return rebuilt(structure, values, self.containers)

    def _value(self, place: int, leaf: Leaf, shape: tuple[Any, ...]) -> Any:
        """Return what stands for an entry of the arguments."""
        if leaf.kind in ("tensor", "spec"):
            spec = TensorSpec(shape, leaf.key[1])
        elif leaf.kind in ("int", "float") and place not in self._choice.pins:
            spec = TensorSpec((), INT64 if leaf.kind == "int" else FLOAT64)
        elif leaf.kind == "variable" and place not in self._choice.held:
            return self._stand_in(place, leaf.value)
        else:
            return leaf.value
        tensor = isinstance(leaf.value, EagerTensor)
        if self._choice.merged and tensor and id(leaf.value) in self._seen:
            return self._seen[id(leaf.value)]
        value = self._trace.root.builder.add_input(spec)
        self.inputs.append(place)
        if leaf.kind != "spec":
            self._trace.values[value] = as_array(leaf)
        symbol = Symbol(value, CONSTANT)
        if leaf.kind in ("int", "float"):
            kind = int if leaf.kind == "int" else float
            return TracedNumber(kind, symbol, frozenset((place,)))
        self.places[id(symbol)] = place
        if tensor:
            self._seen[id(leaf.value)] = symbol
        return symbol

    def _stand_in(self, place: int, variable: Variable) -> StandIn:
        """Return what stands for a variable; one that is given twice is one."""
        found: StandIn | None = self._seen.get(id(variable))
        if found is None:
            found = self._seen[id(variable)] = StandIn(variable, place)
            self.places[id(found)] = place
        return found

    def _merge(self, bound: Bound) -> None:
        """Let a list or dict that was given twice be one."""
        copies: dict[int, Any] = {}
        swaps: dict[int, Any] = {}
        for own, copy in zip(containers_of(bound), self.containers, strict=True):
            swaps[id(copy)] = copies.setdefault(id(own), copy)
        self.args = tuple([_swapped(a, swaps) for a in self.args])
        self.kwargs = {k: _swapped(a, swaps) for k, a in self.kwargs.items()}

    def given(self) -> dict[int, Given]:
        """Return how each call finds what came in with its arguments, by id."""
        found = {
            id(value): Given(_leaf_finder(self.places[id(value)]))
            for value in self.values
            if isinstance(value, StandIn)
        }
        for i in reversed(range(len(self.containers))):
            found[id(self.containers[i])] = Given(_container_finder(i))
        return found


def _swapped(value: Any, swaps: dict[int, Any]) -> Any:
    """Return a structure with some of its lists and dicts replaced."""
    value = swaps.get(id(value), value)
    if type(value) is list:
        value[:] = [_swapped(v, swaps) for v in value]
    elif type(value) is dict:
        value.update({k: _swapped(v, swaps) for k, v in value.items()})
    elif type(value) is tuple:
        return tuple([_swapped(v, swaps) for v in value])
    return value


def _leaf_finder(place: int) -> Callable[[Bound], Any]:
    return lambda bound: bound.leaves[place].value


def _container_finder(i: int) -> Callable[[Bound], Any]:
    return lambda bound: next(islice(containers_of(bound), i, None))


def containers_of(bound: Bound) -> Iterator[Any]:
    """Yield the lists and dicts in the arguments, in the order of their copies."""
    args, kwargs = bound.structure
    yield from containers(tuple(args))
    for value in kwargs.values():
        yield from containers(value)


def pattern_of(bound: Bound) -> tuple[int, ...]:
    """Return which tensors, lists and dicts among the arguments are the same object."""
    seen: dict[int, int] = {}
    things = [b.value for b in bound.leaves if isinstance(b.value, EagerTensor)]
    things += containers_of(bound)
    return tuple([seen.setdefault(id(thing), len(seen)) for thing in things])
