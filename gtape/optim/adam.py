"""Adam: a step for each element, by running means of the gradient and of its square."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.ops.extrema import maximum
from gtape.ops.math import sqrt
from gtape.optim.arguments import in_range
from gtape.optim.optimizer import Optimizer
from gtape.optim.rates import Rate
from gtape.optim.slots import Slots
from gtape.optim.steps import scalar


class Adam(Optimizer):
    """Adam, by Kingma and Ba, "Adam: a method for stochastic optimization", 2015.

    In Python notation, for update t = 1, 2, ..., with m = v = h = 0 at the start:

        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g * g
        c = sqrt(1 - beta_2**t)
        w -= rate * c / (1 - beta_1**t) * (m / (sqrt(v) + e))

    The flavors differ in the place of epsilon. keras has `e = epsilon`, the "epsilon
    hat" of the paper's section 2. torch and optax have `e = epsilon * c`, which is
    epsilon beside the corrected root, as in the paper's algorithm 1. With a large
    epsilon the difference is large.

    AMSGrad (Reddi, Kale, Kumar, "On the convergence of Adam and beyond", 2018) has h in
    place of v under the root: `h = maximum(h, v)` in keras and torch; in optax the
    maximum is over the corrected `v / (1 - beta_2**t)`.

    Args:
        learning_rate: The rate, a schedule of the step, or a variable.
        beta_1: The decay of the mean of gradients.
        beta_2: The decay of the mean of squares.
        epsilon: What keeps the division from zero.
        amsgrad: Whether the mean of squares may only grow.
        weight_decay: Subtracts `rate * weight_decay * w` beside the rule.
        clipnorm: The largest norm of each gradient.
        clipvalue: The largest absolute value of an element.
        global_clipnorm: The largest norm of all gradients together.
        flavor: "keras", "torch" or "optax".
        name: A label; the class's name by default.

    Example:
        >>> import gtape as gt
        >>> v = gt.Variable(1.0)
        >>> step = gt.optim.Adam(0.5).minimize(lambda: v * v, [v])
        >>> round(float(v), 4)
        0.5
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
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
        self.beta_1 = in_range(self, "beta_1", beta_1, "[0, 1)")
        self.beta_2 = in_range(self, "beta_2", beta_2, "[0, 1)")
        self.epsilon = in_range(self, "epsilon", epsilon, "[0, inf)")
        self.amsgrad = bool(amsgrad)
        self.slots = ("m", "v", "h") if self.amsgrad else ("m", "v")

    def _numbers(self, step: Any) -> tuple[Any, Any, Any]:
        """Return the factor of m / (sqrt(v) + e), that e, and 1 - beta_2**step."""
        c_1, c_2 = 1 - self.beta_1**step, 1 - self.beta_2**step
        # A power, since sqrt would make a strong float64 of a Python number.
        root = c_2**0.5
        epsilon = self.epsilon if self.flavor == "keras" else self.epsilon * root
        return self.rate(step) * root / c_1, epsilon, c_2

    def update(self, grad: Any, slots: Slots, step: Any) -> tuple[Any, Slots]:
        """Return the change of the variable, and the new slots."""
        rate, epsilon, c_2 = [scalar(n, grad) for n in self._numbers(step)]
        m = self.beta_1 * slots.m + (1 - self.beta_1) * grad
        v = self.beta_2 * slots.v + (1 - self.beta_2) * (grad * grad)
        if not self.amsgrad:
            return -rate * (m / (sqrt(v) + epsilon)), Slots(m=m, v=v)
        if self.flavor == "optax":
            h = maximum(slots.h, v / c_2)
            v_or_h = h * c_2
        else:
            h = v_or_h = maximum(slots.h, v)
        return -rate * (m / (sqrt(v_or_h) + epsilon)), Slots(m=m, v=v, h=h)

    def update_in_place(
        self, grad: Any, slots: list[Any], delta: Any, spare: Any, step: int
    ) -> Any:
        """Do what `update` does on flat arrays."""
        rate, epsilon, c_2 = self._numbers(step)
        m, v = slots[:2]
        np.multiply(m, self.beta_1, out=m)
        np.multiply(grad, 1 - self.beta_1, out=delta)
        np.add(m, delta, out=m)
        np.multiply(v, self.beta_2, out=v)
        np.multiply(grad, grad, out=delta)
        np.multiply(delta, 1 - self.beta_2, out=delta)
        np.add(v, delta, out=v)
        root = v
        if self.amsgrad:
            root = h = slots[2]
            if self.flavor == "optax":
                np.divide(v, c_2, out=spare)
                np.maximum(h, spare, out=h)
                root = np.multiply(h, c_2, out=spare)
            else:
                np.maximum(h, v, out=h)
        np.sqrt(root, out=delta)
        np.add(delta, epsilon, out=delta)
        np.divide(m, delta, out=delta)
        return np.multiply(delta, -rate, out=delta)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make such an optimizer."""
        own = {
            "beta_1": self.beta_1,
            "beta_2": self.beta_2,
            "epsilon": self.epsilon,
            "amsgrad": self.amsgrad,
        }
        return {**super().get_config(), **own}
