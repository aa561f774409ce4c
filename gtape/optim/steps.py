"""How the new values of variables are computed: with operations, or on bare arrays.

Both take the states and gradients of one update, and assign nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gtape import dispatch
from gtape.dispatch import services
from gtape.dtypes import NumpyDType
from gtape.ops.common import convert
from gtape.ops.linear import cast
from gtape.optim.arguments import wide
from gtape.optim.packs import SMALL, Pack
from gtape.optim.slots import Slot, Slots, State

if TYPE_CHECKING:
    from gtape.optim.optimizer import Optimizer

BLOCK = 1 << 17
"""Elements that in-place rules take at a time, so that they stay in the cache."""

Result: TypeAlias = "tuple[Any, list[tuple[Slot, Any]]]"
"""The new value of a variable, and the slots that are to be assigned."""


def scalar(value: Any, grad: Any) -> Any:
    """Return a number of a rule with the dtype of the gradient.

    Python numbers stay, since they adapt; what a schedule computes may be float64.
    """
    return cast(value, grad.dtype) if hasattr(value, "dtype") else value


def with_operations(
    optimizer: Optimizer, states: list[State], gradients: list[Any], step: Any
) -> list[Result]:
    """Compute with operations, for whoever records or traces them."""
    gradients = _fitted(cast, states, gradients)
    gradients = optimizer.clip(gradients)
    results = []
    for (variable, kept), g in zip(states, gradients, strict=True):
        old = [convert(slot) for slot in kept]
        slots = Slots(zip(optimizer.slots, old, strict=True))
        delta, slots = dispatch.invoke(optimizer.update, g, slots, step)
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
    gradients = optimizer.clip(gradients)
    decay = optimizer.weight_decay
    shrink = optimizer.rate(step) * decay if decay else 0.0
    results: list[Any] = [None] * len(states)
    small: dict[NumpyDType, list[int]] = {}
    for place, (state, g) in enumerate(zip(states, gradients, strict=True)):
        if not (optimizer.has_in_place and g.ndim):  # scalars: operators are faster
            results[place] = _by_update(optimizer, state, g, step, shrink)
        elif g.size <= SMALL:
            small.setdefault(g.dtype, []).append(place)
        else:
            results[place] = _alone(optimizer, state, g, step, shrink)
    for places in small.values():
        members = [states[i] for i in places], [gradients[i] for i in places]
        found = _together(optimizer, *members, step, shrink)
        for place, result in zip(places, found, strict=True):
            results[place] = result
    return results


def _by_update(
    optimizer: Optimizer, state: State, grad: Any, step: int, shrink: float
) -> Result:
    """Return the result of the method `update`."""
    variable, kept = state
    before = variable._tensor._array
    value = _cast(before, grad.dtype)
    old = [slot._tensor._array for slot in kept]
    slots = Slots(zip(optimizer.slots, old, strict=True))
    delta, slots = optimizer.update(grad, slots, step)
    if shrink:
        value = value - value * shrink
    new = [_cast(slots[name], grad.dtype) for name in optimizer.slots]
    value = _cast(value + delta, before.dtype)
    return value, list(zip(kept, new, strict=True))


def _alone(
    optimizer: Optimizer, state: State, grad: Any, step: int, shrink: float
) -> Result:
    """Return the new value of a variable; change its slots."""
    before = state.variable._tensor._array
    value = _cast(before, grad.dtype).reshape(-1)
    slots = [slot.own().reshape(-1) for slot in state.slots]
    value = _in_place(optimizer, slots, value, grad.reshape(-1), step, shrink)
    return _cast(value.reshape(before.shape), before.dtype), []


def _together(
    optimizer: Optimizer,
    states: list[State],
    gradients: list[Any],
    step: int,
    shrink: float,
) -> list[Result]:
    """Return the new values of small variables of one dtype; change their slots."""
    if len(states) == 1:
        return [_alone(optimizer, states[0], gradients[0], step, shrink)]
    dtype = gradients[0].dtype
    pack = optimizer.packs.get(dtype)
    if pack is None or not pack.fits(states):
        pack = optimizer.packs[dtype] = Pack(states)
    grad = np.concatenate(gradients, axis=None)
    value = _in_place(optimizer, pack.slots, pack.value(dtype), grad, step, shrink)
    return [
        (_cast(new, state.variable._tensor._array.dtype), [])
        for state, new in zip(states, pack.values(value), strict=True)
    ]


def _in_place(
    optimizer: Optimizer,
    slots: list[Any],
    value: Any,
    grad: Any,
    step: int,
    shrink: float,
) -> Any:
    """Return the new value of a flat array; change its slots."""
    # Tapes and users may hold the old value, so the new one is an array of its own. It
    # holds the delta first: the fewer arrays, the more of them the cache keeps.
    out = np.empty_like(value)
    scratch = optimizer.scratch.get(value.dtype)
    if scratch is None:
        scratch = optimizer.scratch[value.dtype] = np.empty(BLOCK, value.dtype)
    for start in range(0, value.size, BLOCK):
        part = slice(start, start + BLOCK)
        old, new = value[part], out[part]
        spare = scratch[: new.size]
        parts = [slot[part] for slot in slots]
        delta = optimizer.update_in_place(grad[part], parts, new, spare, step)
        if shrink:
            np.multiply(old, shrink, out=spare)
            old = np.subtract(old, spare, out=spare)
        np.add(old, delta, out=new)
    return out


def saved(states: list[State]) -> list[tuple[Slot, Any]]:
    """Return the slots with copies of their arrays, if a constraint may yet fail."""
    if all(variable.constraint is None for variable, _ in states):
        return []
    return [(slot, slot._tensor._array.copy()) for _, kept in states for slot in kept]


def constrained(
    states: list[State],
    values: list[Any],
    before: Sequence[tuple[Slot, Any]] = (),
) -> list[Any]:
    """Return new values as the constraints of their variables will have them.

    Args:
        states: The variables and their slots.
        values: The new values.
        before: The slots and their arrays before the update, where it was in place;
            they get these back if a constraint fails.
    """
    traced = services()
    if traced is not None:
        for variable, _ in states:
            traced.depends(variable, "constraint")
    try:
        return [
            value
            if variable.constraint is None
            else variable._converted(
                "constraint", dispatch.invoke(variable.constraint, value)
            )
            for (variable, _), value in zip(states, values, strict=True)
        ]
    except BaseException:
        for slot, array in before:
            slot.adopt(array)
        raise


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
