"""RMSProp: the gradient divided by the root of a running mean of its square."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.ops.math import sqrt
from gtape.optim.arguments import in_range
from gtape.optim.optimizer import Optimizer
from gtape.optim.rates import Rate
from gtape.optim.slots import Slots
from gtape.optim.steps import scalar


class RMSProp(Optimizer):
    """RMSProp, by Tieleman and Hinton, "Lecture 6.5: rmsprop", 2012.

    In Python notation, with v = b = mean = 0 at the start:

        v = rho * v + (1 - rho) * g * g
        s = g / sqrt(v + epsilon)            # keras, optax
        s = g / (sqrt(v) + epsilon)          # torch
        w -= rate * s                        # no momentum
        b = momentum * b + rate * s; w -= b  # momentum: keras, optax
        b = momentum * b + s; w -= rate * b  # momentum: torch

    Centered (Graves, "Generating sequences with recurrent neural networks", 2013), v is
    the running variance in place of the mean square. It is kept as such,

        v = rho * v + rho * (1 - rho) * (g - mean)**2
        mean += (1 - rho) * (g - mean)

    which equals the mean of squares less the square of the mean, but cannot become
    negative by rounding.

    Args:
        learning_rate: The rate, a schedule of the step, or a variable.
        rho: The decay of the running means.
        momentum: Between 0 and 1.
        epsilon: What keeps the division from zero.
        centered: Whether to divide by the standard deviation of the gradient.
        weight_decay: Subtracts `rate * weight_decay * w` beside the rule.
        clipnorm: The largest norm of each gradient.
        clipvalue: The largest absolute value of an element.
        global_clipnorm: The largest norm of all gradients together.
        flavor: "keras", "torch" or "optax".
        name: A label; the class's name by default.

    Example:
        >>> import gtape as gt
        >>> v = gt.Variable(1.0)
        >>> step = gt.optim.RMSProp(0.1, rho=0.75).minimize(lambda: v * v, [v])
        >>> round(float(v), 4)
        0.8
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
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
        self.momentum = in_range(self, "momentum", momentum, "[0, 1]")
        self.epsilon = in_range(self, "epsilon", epsilon, "[0, inf)")
        self.centered = bool(centered)
        self.slots = (
            "v",
            *(["mean"] if self.centered else []),
            *(["velocity"] if self.momentum else []),
        )

    def update(self, grad: Any, slots: Slots, step: Any) -> tuple[Any, Slots]:
        """Return the change of the variable, and the new slots."""
        rate = scalar(self.rate(step), grad)
        new = {}
        if self.centered:
            off = grad - slots.mean
            new["mean"] = slots.mean + (1 - self.rho) * off
            square = self.rho * (1 - self.rho) * (off * off)
        else:
            square = (1 - self.rho) * (grad * grad)
        v = new["v"] = self.rho * slots.v + square
        if self.flavor == "torch":
            size = sqrt(v) + self.epsilon
        else:
            size = sqrt(v + self.epsilon)
        if not self.momentum:
            return -rate * grad / size, Slots(new)
        if self.flavor == "torch":
            b = self.momentum * slots.velocity + grad / size
            delta = -rate * b
        else:
            b = self.momentum * slots.velocity + rate * grad / size
            delta = -b
        return delta, Slots(new, velocity=b)

    def update_in_place(
        self, grad: Any, slots: list[Any], delta: Any, spare: Any, step: int
    ) -> Any:
        """Do what `update` does on flat arrays."""
        rate, torch = self.rate(step), self.flavor == "torch"
        v = slots[0]
        if self.centered:
            mean = slots[1]
            np.subtract(grad, mean, out=delta)
            np.multiply(delta, 1 - self.rho, out=spare)
            np.add(mean, spare, out=mean)
            np.multiply(delta, delta, out=delta)
            np.multiply(delta, self.rho * (1 - self.rho), out=delta)
        else:
            np.multiply(grad, grad, out=delta)
            np.multiply(delta, 1 - self.rho, out=delta)
        np.multiply(v, self.rho, out=v)
        np.add(v, delta, out=v)
        if torch:
            np.sqrt(v, out=spare)
            np.add(spare, self.epsilon, out=spare)
        else:
            np.add(v, self.epsilon, out=spare)
            np.sqrt(spare, out=spare)
        if not self.momentum:
            np.multiply(grad, -rate, out=delta)
            return np.divide(delta, spare, out=delta)
        b = slots[-1]
        np.multiply(b, self.momentum, out=b)
        step_of = grad if torch else np.multiply(grad, rate, out=delta)
        np.divide(step_of, spare, out=delta)
        np.add(b, delta, out=b)
        return np.multiply(b, -rate if torch else -1, out=delta)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such an optimizer."""
        own = {
            "rho": self.rho,
            "momentum": self.momentum,
            "epsilon": self.epsilon,
            "centered": self.centered,
        }
        return {**super().get_config(), **own}


RMSprop = RMSProp
