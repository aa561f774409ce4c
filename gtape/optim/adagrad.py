"""Adagrad: the gradient divided by the root of the sum of all its squares so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.ops.linear import where
from gtape.ops.math import sqrt
from gtape.optim.arguments import in_range
from gtape.optim.optimizer import Optimizer
from gtape.optim.rates import Rate
from gtape.optim.slots import Slots
from gtape.optim.steps import scalar


class Adagrad(Optimizer):
    """Adagrad, by Duchi, Hazan, Singer, "Adaptive subgradient methods", 2011.

    In Python notation, with `total = initial_accumulator_value` at the start:

        total += g * g
        w -= rate * g / sqrt(total + epsilon)      # keras, optax
        w -= rate * g / (sqrt(total) + epsilon)    # torch

    In optax an element whose total is zero does not move.

    Args:
        learning_rate: The rate, a schedule of the step, or a variable.
        initial_accumulator_value: The total at the start.
        epsilon: What keeps the division from zero.
        weight_decay: Subtracts `rate * weight_decay * w` beside the rule.
        clipnorm: The largest norm of each gradient.
        clipvalue: The largest absolute value of an element.
        global_clipnorm: The largest norm of all gradients together.
        flavor: "keras", "torch" or "optax".
        name: A label; the class's name by default.

    Example:
        >>> import gtape as gt
        >>> v = gt.Variable(1.0)
        >>> opt = gt.optim.Adagrad(0.1, initial_accumulator_value=12.0)
        >>> step = opt.minimize(lambda: v * v, [v])
        >>> round(float(v), 4)
        0.95
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        *,
        flavor: str = "keras",
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            weight_decay,
            clipnorm,
            clipvalue,
            global_clipnorm,
            flavor=flavor,
            name=name,
        )
        self.initial_accumulator_value = in_range(
            self, "initial_accumulator_value", initial_accumulator_value, "[0, inf)"
        )
        self.epsilon = in_range(self, "epsilon", epsilon, "[0, inf)")
        self.slots = ("total",)

    def initial(self, slot: str) -> float:
        """Return the value of a slot at the start."""
        return self.initial_accumulator_value

    def update(self, grad: Any, slots: Slots, step: Any) -> tuple[Any, Slots]:
        """Return the change of the variable, and the new slots."""
        rate = scalar(self.rate(step), grad)
        total = slots.total + grad * grad
        if self.flavor == "torch":
            size = sqrt(total) + self.epsilon
        else:
            size = sqrt(total + self.epsilon)
        delta = -rate * grad / size
        if self.flavor == "optax":
            delta = where(total > 0, delta, 0.0)
        return delta, Slots(total=total)

    def update_in_place(
        self, grad: Any, slots: list[Any], delta: Any, spare: Any, step: int
    ) -> Any:
        """Do what `update` does on flat arrays."""
        [total] = slots
        np.multiply(grad, grad, out=delta)
        np.add(total, delta, out=total)
        if self.flavor == "torch":
            np.sqrt(total, out=spare)
            np.add(spare, self.epsilon, out=spare)
        else:
            np.add(total, self.epsilon, out=spare)
            np.sqrt(spare, out=spare)
        np.multiply(grad, -self.rate(step), out=delta)
        np.divide(delta, spare, out=delta)
        if self.flavor == "optax":
            np.copyto(delta, 0, where=~(total > 0))
        return delta

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such an optimizer."""
        own = {
            "initial_accumulator_value": self.initial_accumulator_value,
            "epsilon": self.epsilon,
        }
        return {**super().get_config(), **own}
