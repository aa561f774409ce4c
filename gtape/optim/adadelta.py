"""Adadelta: steps in proportion to the steps before."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.ops.math import sqrt
from gtape.optim.arguments import in_range
from gtape.optim.optimizer import Optimizer
from gtape.optim.rates import Rate
from gtape.optim.slots import Slots
from gtape.optim.steps import scalar


class Adadelta(Optimizer):
    """Adadelta, by Zeiler, "ADADELTA: an adaptive learning rate method", 2012.

    In Python notation, with v = u = 0 at the start; the flavors do not differ:

        v = rho * v + (1 - rho) * g * g
        d = -sqrt(u + epsilon) / sqrt(v + epsilon) * g
        u = rho * u + (1 - rho) * d * d
        w += rate * d

    The paper has a rate of 1. The default of 0.001 is that of Keras, with which
    variables hardly move: by 8e-6 in five steps from gradients near 1.

    Args:
        learning_rate: The rate, a schedule of the step, or a variable.
        rho: The decay of the running means.
        epsilon: What starts the first step, and keeps the division from zero.
        weight_decay: Subtracts `rate * weight_decay * w` beside the rule.
        clipnorm: The largest norm of each gradient.
        clipvalue: The largest absolute value of an element.
        global_clipnorm: The largest norm of all gradients together.
        flavor: "keras", "torch" or "optax"; they give the same numbers.
        name: A label; the class's name by default.

    Example:
        >>> import gtape as gt
        >>> v = gt.Variable(1.0)
        >>> opt = gt.optim.Adadelta(learning_rate=1.0, rho=0.75, epsilon=0.01)
        >>> step = opt.minimize(lambda: v * v, [v])
        >>> round(float(v), 3)
        0.801
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        rho: float = 0.95,
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
        self.rho = in_range(self, "rho", rho, "[0, 1)")
        self.epsilon = in_range(self, "epsilon", epsilon, "(0, inf)")
        self.slots = ("v", "u")

    def update(self, grad: Any, slots: Slots, step: Any) -> tuple[Any, Slots]:
        """Return the change of the variable, and the new slots."""
        rate = scalar(self.rate(step), grad)
        v = self.rho * slots.v + (1 - self.rho) * (grad * grad)
        d = -sqrt(slots.u + self.epsilon) / sqrt(v + self.epsilon) * grad
        u = self.rho * slots.u + (1 - self.rho) * (d * d)
        return rate * d, Slots(v=v, u=u)

    def update_in_place(
        self, grad: Any, slots: list[Any], delta: Any, spare: Any, step: int
    ) -> Any:
        """Do what `update` does on flat arrays."""
        v, u = slots
        np.multiply(grad, grad, out=spare)
        np.multiply(spare, 1 - self.rho, out=spare)
        np.multiply(v, self.rho, out=v)
        np.add(v, spare, out=v)
        np.add(v, self.epsilon, out=spare)
        np.sqrt(spare, out=spare)
        np.add(u, self.epsilon, out=delta)
        np.sqrt(delta, out=delta)
        np.negative(delta, out=delta)
        np.divide(delta, spare, out=delta)
        np.multiply(delta, grad, out=delta)
        np.multiply(delta, delta, out=spare)
        np.multiply(spare, 1 - self.rho, out=spare)
        np.multiply(u, self.rho, out=u)
        np.add(u, spare, out=u)
        return np.multiply(delta, self.rate(step), out=delta)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such an optimizer."""
        own = {"rho": self.rho, "epsilon": self.epsilon}
        return {**super().get_config(), **own}
