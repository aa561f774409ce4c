"""How the new values of variables are computed: with operations, or on bare arrays.

Both take the states and gradients of one update, and assign nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gtape.dtypes import NumpyDType
from gtape.ops.common import convert
from gtape.ops.linear import cast
from gtape.optim.arguments import wide
from gtape.optim.slots import Slot, Slots, State

if TYPE_CHECKING:
    from gtape.optim.optimizer import Optimizer

BLOCK = 1 << 16
"""Elements that in-place rules take at a time, so that they stay in the cache."""

Result: TypeAlias = "tuple[Any, list[tuple[Slot, Any]]]"
"""The new value of a variable, and the slots that are to be assigned."""


def scalar(value: Any, grad: Any) -> Any:
    """Return a number of a rule with the dtype of the gradient.

    Python numbers stay, since they adapt; what a schedule computes may be float64.
    """
    return value if type(value) in (float, int) else cast(value, grad.dtype)


def with_operations(
    optimizer: Optimizer, states: list[State], gradients: list[Any], step: Any
) -> list[Result]:
    """Compute with operations, for whoever records or traces them."""
    gradients = _fitted(cast, states, gradients)
    if optimizer.clip is not None:
        gradients = optimizer.clip(gradients)
    results = []
    for (variable, kept), g in zip(states, gradients, strict=True):
        old = [convert(slot) for slot in kept]
        slots = Slots(zip(optimizer.slots, old, strict=True))
        delta, slots = optimizer.update(g, slots, step)
        value = cast(convert(variable), g.dtype)
        if optimizer.weight_decay:
            shrink = optimizer.rate(step) * optimizer.weight_decay
            value = value - value * scalar(shrink, g)
        new = [cast(slots[name], g.dtype) for name in optimizer.slots]
        value = cast(value + delta, variable.dtype)
        results.append((value, list(zip(kept, new, strict=True))))
    return results


def on_bare_arrays(
    optimizer: Optimizer, states: list[State], gradients: list[Any], step: int
) -> list[Result]:
    """Compute the same on arrays; in-place rules change their slots right here."""
    gradients = _fitted(_cast, states, gradients)
    if optimizer.clip is not None:
        gradients = optimizer.clip(gradients)
    decay = optimizer.weight_decay
    shrink = optimizer.rate(step) * decay if decay else 0.0
    results: list[Result] = []
    for (variable, kept), g in zip(states, gradients, strict=True):
        before = variable._tensor._array
        value = _cast(before, g.dtype)
        if optimizer.has_in_place and g.ndim:  # on NumPy scalars operators are faster
            value = _in_place(optimizer, kept, value, g, step, shrink)
            results.append((_cast(value, before.dtype), []))
            continue
        old = [slot._tensor._array for slot in kept]
        slots = Slots(zip(optimizer.slots, old, strict=True))
        delta, slots = optimizer.update(g, slots, step)
        if shrink:
            value = value - value * shrink
        new = [_cast(slots[name], g.dtype) for name in optimizer.slots]
        value = _cast(value + delta, before.dtype)
        results.append((value, list(zip(kept, new, strict=True))))
    return results


def _in_place(
    optimizer: Optimizer,
    kept: tuple[Slot, ...],
    value: Any,
    grad: Any,
    step: int,
    shrink: float,
) -> Any:
    """Return the new value of a variable; change its slots."""
    # Tapes and users may hold the old value, so the new one is an array of its own.
    out = np.empty(value.shape, value.dtype)
    into, value, grad = out.reshape(-1), value.reshape(-1), grad.reshape(-1)
    slots = [slot.own().reshape(-1) for slot in kept]
    scratch = optimizer.scratch.get(value.dtype)
    if scratch is None:
        scratch = np.empty((2, BLOCK), value.dtype)
        optimizer.scratch[value.dtype] = scratch
    for start in range(0, value.size, BLOCK):
        part = slice(start, min(start + BLOCK, value.size))
        old, new = value[part], into[part]
        delta, spare = scratch[0, : new.size], scratch[1, : new.size]
        parts = [slot[part] for slot in slots]
        delta = optimizer.update_in_place(grad[part], parts, delta, spare, step)
        if shrink:
            np.multiply(old, shrink, out=spare)
            old = np.subtract(old, spare, out=spare)
        np.add(old, delta, out=new)
    return out


def constrained(states: list[State], values: list[Any]) -> list[Any]:
    """Return new values as the constraints of their variables will have them."""
    return [
        value
        if variable.constraint is None
        else variable._converted("constraint", variable.constraint(value))
        for (variable, _), value in zip(states, values, strict=True)
    ]


def _fitted(
    change: Callable[..., Any], states: list[State], gradients: list[Any]
) -> list[Any]:
    """Return the gradients in the dtypes in which the rule computes."""
    return [
        change(g, wide(variable._tensor._array.dtype))
        for (variable, _), g in zip(states, gradients, strict=True)
    ]


def _cast(array: Any, dtype: NumpyDType) -> Any:
    return array if array.dtype == dtype else array.astype(dtype)
