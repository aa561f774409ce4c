"""A rule of the user's as an operation: what all decorators with rules stand on."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

from gtape import dispatch, nest
from gtape.batching import NeedsValue
from gtape.eager import EagerTensor
from gtape.lowering import Custom
from gtape.ops.linear import stop_gradient
from gtape.ops.math import conj
from gtape.primitive import Primitive
from gtape.sizes import is_size
from gtape.tensor import Tensor
from gtape.variable import Variable
from gtape.vectorize import BatchInterpreter


def _run_rule(g: Any, out: Any, *inputs: Any, rule: Any) -> Any:
    # The tape conjugates what rules return, since those of operations are written as
    # for real numbers; a user's rule returns the gradient itself.
    return [None if c is None else conj(c) for c in rule(g, out, inputs)]


_custom = Primitive(
    "custom_gradient",
    forward=lambda *inputs, rule: inputs,
    spec=lambda *inputs, rule: inputs,
    vjp=_run_rule,
    lowering=Custom("call"),
    multiple=True,
    on_tensors=True,
)


def record_rule(tensors: Sequence[Any], outputs: list[Any], rule: Any) -> list[Any]:
    """Tell the tapes that tensors became outputs by a rule; return these as new."""
    interpreter = dispatch.interpreter()
    inputs = [interpreter.convert(t) for t in tensors]
    traced = getattr(interpreter, "custom_rule", None)
    if traced is not None:
        if not inputs:  # what the function computes is hidden behind its rule
            return [stop_gradient(o) for o in outputs]
        return list(traced(inputs, outputs, rule))
    fresh = tuple([EagerTensor(interpreter.convert(o)._array) for o in outputs])
    if inputs:
        dispatch.record(_custom, inputs, fresh, {"rule": rule})
    return list(fresh)


def is_input(leaf: Any) -> bool:
    """Return whether a rule gives a gradient by an argument."""
    return isinstance(leaf, (Tensor, Variable))


def _stands_for_tensor(leaf: Any) -> bool:
    if isinstance(leaf, (int, float, complex)):
        return not isinstance(leaf, bool)
    if hasattr(leaf, "dtype"):
        return not isinstance(leaf, Variable)
    return is_size(leaf) or hasattr(leaf, "pin")  # numbers of a trace


def split_arguments(args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the leaves of arguments with tensors of their own, and these alone.

    Raises:
        NeedsValue: In a batch: the user's rules are for one element.
    """
    if isinstance(dispatch.interpreter(), BatchInterpreter):
        raise NeedsValue
    leaves, tensors = [], []
    for leaf in nest.flatten(list(args)):
        if isinstance(leaf, Tensor):
            # A shell of its own: assigning to an item of the argument later changes
            # nothing.
            leaf = copy.copy(leaf)
        elif _stands_for_tensor(leaf):
            leaf = dispatch.interpreter().convert(leaf)
        leaves.append(leaf)
        if is_input(leaf):
            # The function may assign to items of its argument, too.
            tensors.append(copy.copy(leaf))
    return leaves, tensors


# --- What a function reads beside its arguments ---------------------------------------


class Reads:
    """A recorder that notes which variables and which followed tensors are read.

    Args:
        watching: The recorders whose tensors it notes; those of variables it notes all.
    """

    def __init__(self, watching: Sequence[Any] = ()) -> None:
        self.variables: dict[int, Variable] = {}  # the trainable ones
        self.values: dict[int, tuple[Variable, Any]] = {}
        self.tensors: dict[int, tuple[Any, Any]] = {}  # with the array it held
        self._watching = watching

    def record(self, primitive: Any, inputs: Any, out: Any, attrs: Any) -> None:
        """Note the operands."""
        if self._watching:
            self.see(inputs)

    def see(self, tensors: Sequence[Any]) -> None:
        """Note tensors that somebody follows."""
        for x in tensors:
            key = getattr(x, "_key", 0)
            if key > 0 and key not in self.values and self._followed(key):
                self.tensors.setdefault(key, (x, x._array))

    def read(self, variable: Variable) -> None:
        """Note the variable, and its value if it is the first time."""
        if variable.trainable:
            self.variables[variable._key] = variable
        self.values.setdefault(variable._key, (variable, variable._tensor))

    def left(self, key: int) -> None:
        """Nothing."""

    def assigned(self, variable: Any, value: Any) -> None:
        """Note a variable that has not been read: its value does not matter."""
        self.values.setdefault(variable._key, (variable, variable._tensor))

    def captured(self, given: Sequence[Any] = ()) -> list[Variable]:
        """Return the variables read that are no arguments, in order of creation.

        Those that are trainable, and those that somebody watches all the same.

        Args:
            given: The arguments.
        """
        found = dict(self.variables)
        for key, (variable, _) in self.values.items():
            if self._followed(key):
                found[key] = variable
        keys = {v._key for v in given if isinstance(v, Variable)}
        return [v for k, v in sorted(found.items()) if k not in keys]

    def _followed(self, key: int) -> bool:
        return any(_follows(recorder, key) for recorder in self._watching)

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Give the block the values that were read; afterwards, all is as before."""
        now = [(variable, variable._tensor) for variable, _ in self.values.values()]
        for variable, value in self.values.values():
            variable._tensor = value
        try:
            yield
        finally:
            for variable, value in now:
                variable._tensor = value


def _follows(recorder: Any, key: int) -> bool:
    """Return whether a tape or a forward accumulator follows a value."""
    followed: Any = getattr(recorder, "known", getattr(recorder, "by_key", ()))
    return key in followed
