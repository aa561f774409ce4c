"""Gradient descent, plain, with momentum and with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.optim.arguments import in_range
from gtape.optim.optimizer import Optimizer
from gtape.optim.rates import Rate
from gtape.optim.slots import Slots
from gtape.optim.steps import scalar


class SGD(Optimizer):
    """Gradient descent.

    In Python notation, with w for the variable, g for its gradient, v = 0 at the start:

    - no momentum: `w -= rate * g`
    - momentum, keras: `v = momentum * v - rate * g; w += v`
    - Nesterov, keras: then `w += momentum * v - rate * g` with the new v
    - momentum, torch and optax: `v = momentum * v + g; w -= rate * v`
    - Nesterov, torch and optax: then `w -= rate * (g + momentum * v)`

    While the rate is constant the flavors give the same numbers. After a change of the
    rate keras keeps the old one in v. Nesterov's form is that of Sutskever, Martens,
    Dahl, Hinton, "On the importance of initialization and momentum in deep learning",
    2013.

    Args:
        learning_rate: The rate, a schedule of the step, or a variable.
        momentum: Between 0 and 1.
        nesterov: Whether to use Nesterov's form of momentum.
        weight_decay: Subtracts `rate * weight_decay * w` beside the rule.
        clipnorm: The largest norm of each gradient.
        clipvalue: The largest absolute value of an element.
        global_clipnorm: The largest norm of all gradients together.
        flavor: "keras", "torch" or "optax".
        name: A label; the class's name by default.

    Example:
        >>> import gtape as gt
        >>> v = gt.Variable(1.0)
        >>> step = gt.optim.SGD(0.5).apply_gradients([(gt.constant(1.0), v)])
        >>> float(v), int(step)
        (0.5, 1)
    """

    def __init__(
        self,
        learning_rate: Rate = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
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
        self.momentum = in_range(self, "momentum", momentum, "[0, 1]")
        self.nesterov = bool(nesterov)
        if self.momentum:
            self.slots = ("velocity",)

    def update(self, grad: Any, slots: Slots, step: Any) -> tuple[Any, Slots]:
        """Return the change of the variable, and the new slots."""
        rate = scalar(self.rate(step), grad)
        if not self.momentum:
            return -rate * grad, slots
        if self.flavor == "keras":
            v = self.momentum * slots.velocity - rate * grad
            delta = self.momentum * v - rate * grad if self.nesterov else v
        else:
            v = self.momentum * slots.velocity + grad
            delta = -rate * (self.momentum * v + grad if self.nesterov else v)
        return delta, Slots(velocity=v)

    def update_in_place(
        self, grad: Any, slots: list[Any], delta: Any, spare: Any, step: int
    ) -> Any:
        """Do what `update` does on flat arrays."""
        rate = self.rate(step)
        if not self.momentum:
            return np.multiply(grad, -rate, out=delta)
        [v] = slots
        np.multiply(v, self.momentum, out=v)
        if self.flavor == "keras":
            np.multiply(grad, rate, out=spare)
            np.subtract(v, spare, out=v)
            if not self.nesterov:
                return v
            np.multiply(v, self.momentum, out=delta)
            return np.subtract(delta, spare, out=delta)
        np.add(v, grad, out=v)
        if not self.nesterov:
            return np.multiply(v, -rate, out=delta)
        np.multiply(v, self.momentum, out=delta)
        np.add(delta, grad, out=delta)
        return np.multiply(delta, -rate, out=delta)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such an optimizer."""
        own = {"momentum": self.momentum, "nesterov": self.nesterov}
        return {**super().get_config(), **own}
