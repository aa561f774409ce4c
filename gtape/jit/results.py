"""What a function gives back: which parts are outputs of its graph, and which are not.

While tracing, `Packer` plans a value; after each run the plan is filled in.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gtape import dispatch
from gtape.conversion import from_python
from gtape.eager import EagerTensor
from gtape.errors import TracingError
from gtape.jit.hooks.comprehensions import Generator
from gtape.jit.hooks.lists import TracedList
from gtape.jit.hooks.sequences import Traced
from gtape.jit.tracing.kinds import Clash, Maybe, Undefined
from gtape.jit.tracing.number import TracedNumber
from gtape.jit.tracing.packing import read
from gtape.jit.tracing.symbol import Symbol
from gtape.sizes import is_size
from gtape.variable import Variable

_TRACED = (Symbol, TracedNumber, Traced, Generator, Maybe, Clash, Undefined)


class Result(NamedTuple):
    """An output of the graph, a tensor."""

    place: int


class NumberResult(NamedTuple):
    """An output of the graph that was a Python number."""

    place: int


class Given(NamedTuple):
    """Something that comes in with the arguments of each call.

    Args:
        find: Returns it, given the call.
    """

    find: Callable[[Any], Any]


class Made(NamedTuple):
    """An object that each call makes anew.

    Args:
        kind: Its class.
        attributes: Plans of its attributes.
    """

    kind: type
    attributes: dict[str, Any]


class Packer:
    """Collects the outputs of a graph, and plans how values are made of them again."""

    def __init__(self) -> None:
        self.symbols: list[Any] = []
        self._open: set[int] = set()  # objects that are being planned: they may cycle

    def planned(self, value: Any, name: str = "the function") -> Any:
        """Return a value with places of outputs for what is traced in it.

        Raises:
            TracingError: If it is nothing that a function can return.
        """
        if isinstance(value, TracedNumber):
            return NumberResult(self._add(value.symbol).place)
        if isinstance(value, (Symbol, EagerTensor, Variable, np.ndarray)):
            return self._add(dispatch.interpreter().convert(value))
        if is_size(value):
            return self.planned(value.owner.tensor(value))
        if value is None or isinstance(value, (str, bytes)):
            return value
        if isinstance(value, (bool, int, float, complex, np.generic)):
            return EagerTensor(from_python(value, None))
        if isinstance(value, (Maybe, Clash, Undefined)):
            return self.planned(read(value), name)
        if isinstance(value, TracedList) and not value.is_static:
            return self._add(dispatch.interpreter().convert(value))
        if isinstance(value, Traced):
            return self.planned([*value], name)
        if isinstance(value, Generator):
            return self.planned(value.listed(), name)
        if isinstance(value, (Mapping, list, tuple, set)):
            return mapped(value, lambda v: self.planned(v, name))
        raise TracingError(
            f"{name} returned {value!r} of type {type(value).__name__}",
            "Return tensors, numbers, None, or lists, tuples and dicts of these",
        )

    def written(self, value: Any, given: Mapping[int, Any], made: Any) -> Any:
        """Return the plan of what a call writes: Python values stay as they are.

        Args:
            value: What is written.
            given: Plans of what came in with the arguments, by id.
            made: The objects that the trace has made, by id.

        """
        found = given.get(id(value))
        if found is not None:
            return found
        if isinstance(value, _TRACED) or is_size(value):
            return self.planned(value)
        if type(value) in (list, tuple, dict, set):
            return mapped(value, lambda v: self.written(v, given, made))
        if id(value) not in made or id(value) in self._open:
            return value
        self._open.add(id(value))
        attributes = {
            k: self.written(v, given, made)
            for k, v in getattr(value, "__dict__", {}).items()
        }
        self._open.discard(id(value))
        plan = Made(type(value), attributes)
        # One that holds nothing traced is the same object in all calls, so that a
        # model made by the first call stays what it is.
        return value if is_static(plan) else plan

    def _add(self, symbol: Any) -> Result:
        self.symbols.append(symbol)
        return Result(len(self.symbols) - 1)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a container of the same type with its entries changed."""
    if isinstance(value, Mapping):
        changed = {k: change(v) for k, v in value.items()}
        return changed if type(value) is dict else refilled(value, changed)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[change(v) for v in value])
    kind = next(k for k in (list, tuple, set) if isinstance(value, k))
    return kind([change(v) for v in value])


def refilled(mapping: Any, entries: Mapping[Any, Any]) -> Any:
    """Return a copy of a mapping of any class with other entries."""
    try:
        out = copy.copy(mapping)
        for key, value in entries.items():
            out[key] = value
    except TypeError:  # it cannot be written to
        return type(mapping)(entries)
    return out


def filled(plan: Any, outs: Sequence[Any]) -> Any:
    """Return a planned result, made of the outputs of a run."""
    kind = type(plan)
    if kind is Result:
        return outs[plan.place]
    if kind is NumberResult:
        array = outs[plan.place]._array
        number = int(array) if array.dtype.kind == "i" else float(array)
        return EagerTensor(from_python(number, None))
    if kind is EagerTensor:
        return EagerTensor(plan._array)
    if isinstance(plan, (Mapping, list, tuple, set)):
        return mapped(plan, lambda v: filled(v, outs))
    return plan


def raw(plan: Any, outs: Sequence[Any], call: Any) -> Any:
    """The same for what a call writes: Python numbers stay such.

    Args:
        plan: What `Packer.written` has returned.
        outs: The outputs of a run.
        call: The arguments.
    """
    kind = type(plan)
    if kind is NumberResult:
        return outs[plan.place]._array.item()
    if kind is Result:
        return outs[plan.place]
    if kind is Given:
        return plan.find(call)
    if kind is Made:
        out = plan.kind.__new__(plan.kind)
        vars(out).update({k: raw(v, outs, call) for k, v in plan.attributes.items()})
        return out
    if kind in (list, tuple, dict, set):
        return mapped(plan, lambda v: raw(v, outs, call))
    return plan


def is_static(plan: Any) -> bool:
    """Return whether what a call writes is the same in all calls."""
    if type(plan) in (Result, NumberResult, Given):
        return False
    if type(plan) is Made:
        return all(map(is_static, plan.attributes.values()))
    if type(plan) is dict:
        return all(map(is_static, plan.values()))
    if type(plan) in (list, tuple, set):
        return all(map(is_static, plan))
    return True
