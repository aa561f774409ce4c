"""`Optimizer`: what all rules share: slots, learning rate, clipping, decay, assignment.

A rule is one pure method: `update(grad, slots, step)` gives the change of the variable
and the new slots. `apply_gradients` is the only method that assigns; where nobody
records or traces, it works on bare arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from gtape import dispatch, nest
from gtape.dispatch import on_arrays, services
from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.eager import EagerTensor
from gtape.errors import ArgumentError
from gtape.ops.common import convert, one_of
from gtape.ops.control import init_scope
from gtape.ops.linear import cast
from gtape.optim import clipping, steps
from gtape.optim.arguments import (
    as_number,
    check_config,
    gradient_for,
    in_range,
    pairs_of,
    variables_of,
    wide,
)
from gtape.optim.packs import Pack
from gtape.optim.rates import HasRate, Rate
from gtape.optim.slots import Slot, Slots, State
from gtape.tape import GradientTape
from gtape.variable import Variable


class Optimizer(HasRate, ABC):
    """The base of all optimizers.

    In a `gt.function` its attributes may change between calls as well: another number
    for the learning rate is simply read, another value of the rest makes a new trace.

    A new rule is a subclass with `slots`, the names of what it remembers for each
    variable, and `update`, written with operators and gtape functions.

    Args:
        learning_rate: A number; a function of the number of updates done, or of
            nothing; or a variable, which is read at every update.
        weight_decay: Decoupled decay: `rate * weight_decay * w` is subtracted beside
            the rule.
        clipnorm: The largest norm of each gradient.
        clipvalue: The largest absolute value of an element.
        global_clipnorm: The largest norm of all gradients together.
        flavor: Whose rule it is where they differ: "keras", "torch" or "optax".
        name: A label; the class's name by default.

    Raises:
        ArgumentError: If a number is out of range, or more than one limit is given.

    Example:
        >>> import gtape as gt
        >>> class SignDescent(gt.optim.Optimizer):
        ...     def update(self, grad, slots, step):
        ...         return -self.rate(step) * gt.sign(grad), slots
        >>> v = gt.Variable([1.0, 2.0])
        >>> step = SignDescent(0.5).apply_gradients([(gt.constant([7.0, -7.0]), v)])
        >>> v.numpy()
        array([0.5, 2.5], dtype=float32)
    """

    slots: tuple[str, ...] = ()

    has_in_place: ClassVar[bool] = False
    """Whether the class has an `update_in_place` that equals its `update`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if "update_in_place" in own or "update" in own:
            cls.has_in_place = "update_in_place" in own

    def __init__(
        self,
        learning_rate: Rate,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        *,
        flavor: str = "keras",
        name: str | None = None,
    ) -> None:
        self.name = type(self).__name__ if name is None else str(name)
        self.flavor = one_of(self.name, "flavor", flavor, ("keras", "torch", "optax"))
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        if weight_decay is not None:
            self.weight_decay = in_range(self, "weight_decay", weight_decay, "[0, inf)")
        self.clipnorm = _positive(self, "clipnorm", clipnorm)
        self.clipvalue = _positive(self, "clipvalue", clipvalue)
        self.global_clipnorm = _positive(self, "global_clipnorm", global_clipnorm)
        clipping.check(self.name, self._limits())
        self.scratch: dict[NumpyDType, Any] = {}
        self.packs: dict[NumpyDType, Pack] = {}
        self._iterations = Variable(
            np.int64(0), trainable=False, name=f"{self.name}/iterations"
        )
        self._states: dict[int, State] = {}  # by the key of the variable

    def _limits(self) -> dict[str, float | None]:
        return {
            "clipnorm": self.clipnorm,
            "clipvalue": self.clipvalue,
            "global_clipnorm": self.global_clipnorm,
        }

    def clip(self, gradients: list[Any]) -> list[Any]:
        """Return gradients within the limits, where there are any."""
        if self.clipnorm is not None:
            return clipping.by_norm(gradients, self.clipnorm)
        if self.clipvalue is not None:
            return clipping.by_value(gradients, self.clipvalue)
        if self.global_clipnorm is not None:
            return clipping.by_global_norm(gradients, self.global_clipnorm)
        return gradients

    # --- The rule ---------------------------------------------------------------------

    @abstractmethod
    def update(self, grad: Any, slots: Slots, step: Any) -> tuple[Any, Slots]:
        """Return the change of the variable, and the new slots. Nothing is assigned.

        Args:
            grad: The gradient, a tensor or array. Those of float16 and bfloat16
                variables come as float32, and so do their slots.
            slots: What the rule remembers of the variable, by name.
            step: The number of this update, from 1.
        """

    def update_in_place(
        self, grad: Any, slots: list[Any], delta: Any, spare: Any, step: int
    ) -> Any:
        """Do what `update` does on flat arrays: change the slots, and return the delta.

        Args:
            grad: The gradient, only to be read: others may hold it.
            slots: The slots in order.
            delta: Scratch for the result; a slot may be returned in its place.
            spare: More scratch.
            step: The number of this update, from 1.
        """
        raise NotImplementedError

    def initial(self, slot: str) -> float:
        """Return the value of a slot at the start: zero, or what a rule says."""
        return 0.0

    def initial_slots(self, value: Any) -> Slots:
        """Return the slots at the start for a variable or tensor, to use `update`.

        Example:
            >>> import gtape as gt
            >>> rule, w = gt.optim.Adam(0.5), gt.constant(1.0)
            >>> delta, slots = rule.update(2.0 * w, rule.initial_slots(w), step=1)
            >>> round(float(w + delta), 4)
            0.5
        """
        return Slots({name: convert(self._start(name, value)) for name in self.slots})

    def _start(self, slot: str, value: Any) -> Any:
        dtype = wide(as_numpy_dtype(value.dtype))
        return np.full(tuple(value.shape), self.initial(slot), dtype)[()]

    # --- State ------------------------------------------------------------------------

    @property
    def iterations(self) -> Variable:
        """The number of updates done: an int64 variable."""
        return self._iterations

    @property
    def variables(self) -> list[Variable]:
        """The state: `iterations`, then slots in the order of first use."""
        slots = [slot for state in self._states.values() for slot in state.slots]
        return [self._iterations, *slots]

    def build(self, variables: Iterable[Variable]) -> None:
        """Make the slots of variables now; otherwise their first update makes them."""
        for variable in variables_of("build", variables):
            self._state(variable)

    def _state(self, variable: Variable) -> State:
        """Return the slots of a variable: of the object, whatever its name."""
        found = self._states.get(variable._key)
        if found is None:
            label = f"{self.name}/{variable.name.removesuffix(':0')}"
            with init_scope():  # a trace finds them as if they had always been there
                slots = [
                    Slot(self._start(name, variable._tensor), f"{label}/{name}")
                    for name in self.slots
                ]
            found = self._states[variable._key] = State(variable, tuple(slots))
        found.check(self.name)
        return found

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such an optimizer, a schedule as it is."""
        rate = self._learning_rate
        return {
            "learning_rate": float(rate) if isinstance(rate, Variable) else rate,
            "weight_decay": self.weight_decay,
            **self._limits(),
            "flavor": self.flavor,
            "name": self.name,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return an optimizer made of what `get_config` returned, without state.

        Raises:
            ArgumentTypeError: If an argument is unknown.
        """
        check_config(f"{cls.__name__}.from_config", cls, config)
        return cls(**config)

    def __getstate__(self) -> dict[str, Any]:
        states = list(self._states.values())  # the keys of copied variables are new
        emptied: dict[str, Any] = {"scratch": {}, "packs": {}}
        return {**vars(self), "_states": states, **emptied}

    def __setstate__(self, contents: dict[str, Any]) -> None:
        vars(self).update(contents)
        self._states = {state.variable._key: state for state in contents["_states"]}

    def __repr__(self) -> str:
        done = int(self._iterations._tensor._array)
        return f"<gt.optim.{type(self).__name__} {self.name!r} iterations={done}>"

    # --- Applying ---------------------------------------------------------------------

    def apply_gradients(
        self, grads_and_variables: Iterable[tuple[Any, Variable]]
    ) -> Variable:
        """Change variables by their gradients.

        All new values are computed before any variable changes.

        Args:
            grads_and_variables: Pairs (gradient, variable). A gradient is a tensor or
                array of its variable's shape; those that are `None` are skipped with a
                warning.

        Returns:
            The variable `iterations`, increased by one.

        Raises:
            GradientError: If there is no gradient, or a variable stands there twice.
            ShapeError: If a gradient has another shape than its variable.
            DTypeError: If a variable is not of a real floating-point dtype.

        Example:
            >>> import gtape as gt
            >>> w, opt = gt.Variable(2.0), gt.optim.SGD(learning_rate=0.25)
            >>> with gt.GradientTape() as tape:
            ...     loss = w * w
            >>> step = opt.apply_gradients(zip(tape.gradient(loss, [w]), [w]))
            >>> float(w)
            1.0
        """
        pairs = pairs_of(grads_and_variables)
        gradients = [gradient_for(v, g) for g, v in pairs]
        states = [self._state(v) for _, v in pairs]
        interpreter, recorders = dispatch.state()
        try:
            if interpreter.on_arrays and not recorders:
                self._apply_on_arrays(states, gradients)
            else:
                self._apply(states, gradients, interpreter.on_arrays)
        finally:
            self._now = None
        return self._iterations

    def minimize(
        self, loss: Any, var_list: Any, tape: GradientTape | None = None
    ) -> Variable:
        """Take the gradients of a loss and apply them.

        Args:
            loss: A function of no arguments, or a tensor that `tape` has recorded.
            var_list: The variables, in any nested structure, or a function that returns
                them.
            tape: The tape of the loss, if that is a tensor.

        Returns:
            The variable `iterations`, increased by one.

        Raises:
            ArgumentError: If the loss is a tensor and there is no tape.

        Example:
            >>> import gtape as gt
            >>> w = gt.Variable(2.0)
            >>> step = gt.optim.SGD(learning_rate=0.25).minimize(lambda: w * w, [w])
            >>> float(w)
            1.0
        """
        if callable(loss):
            tape = GradientTape() if tape is None else tape
            with tape:
                if not callable(var_list):
                    tape.watch(var_list)
                loss = dispatch.invoke(loss)
        elif not isinstance(tape, GradientTape):
            raise ArgumentError(
                f"minimize: the loss is a tensor, and there is no tape but {tape!r}",
                "Give the tape that recorded it, or a function that computes the loss",
            )
        variables = nest.flatten(
            dispatch.invoke(var_list) if callable(var_list) else var_list
        )
        gradients = tape.gradient(loss, variables)
        return self.apply_gradients(zip(gradients, variables, strict=True))

    def _apply(self, states: list[State], gradients: list[Any], eager: bool) -> None:
        """Apply with operations, for whoever records or traces them."""
        traced = services()
        what = f"{self.name}: the learning rate"
        if traced is not None:
            iterations = convert(self._iterations)
            step = traced.as_python(self.name, iterations) + 1
            rate = traced.as_python(what, self._rate_after(step - 1))
        elif eager:
            step = int(self._iterations._tensor._array) + 1
            rate = as_number(what, self._rate_after(step - 1))
        else:
            # Not as an integer, which would meet the numbers of rules and schedules as
            # float32.
            step = cast(convert(self._iterations), np.float64) + 1
            rate = self._rate_after(step - 1)
        self._now = step, rate
        results = steps.with_operations(self, states, gradients, step)
        values = steps.constrained(states, [value for value, _ in results])
        for state, value, (_, slots) in zip(states, values, results, strict=True):
            state.variable.assign(value)
            for slot, new in slots:
                slot.assign(new)
        self._iterations.assign(cast(convert(step, np.int64), np.int64))

    def _apply_on_arrays(self, states: list[State], gradients: list[Any]) -> None:
        """Apply on bare arrays, which nobody sees."""
        done = int(self._iterations._tensor._array)
        step = done + 1
        rate = self._rate_after(done)
        self._now = step, as_number(f"{self.name}: the learning rate", rate)
        arrays = [gradient._array for gradient in gradients]
        saved = steps.saved(states)
        results = on_arrays(steps.on_bare_arrays, self, states, arrays, step)
        tensors = [EagerTensor(value) for value, _ in results]
        values = steps.constrained(states, tensors, saved)
        assign = dispatch.interpreter().assign
        for state, value, (_, slots) in zip(states, values, results, strict=True):
            assign(state.variable, value)
            for slot, new in slots:
                assign(slot, EagerTensor(new))
        assign(self._iterations, EagerTensor(np.int64(step)))


def _positive(owner: Any, argument: str, value: Any) -> float | None:
    return None if value is None else in_range(owner, argument, value, "(0, inf)")
