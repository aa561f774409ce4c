"""`Pack`: small variables that are updated as one flat array.

An update of a small array costs the calls of NumPy, not the arithmetic. Every rule goes
element by element, so that one call for all gives the same numbers.
"""

from __future__ import annotations

from operator import is_
from typing import Any

import numpy as np

from gtape.dtypes import NumpyDType
from gtape.optim.slots import Slot, State

SMALL = 1 << 12
"""Variables of at most so many elements are packed."""


class Pack:
    """Small variables whose slots are parts of flat arrays, one for each slot's name.

    Args:
        states: The variables and their slots, whose rule computes in one dtype.
    """

    __slots__ = ("_parts", "_states", "_value", "_values", "_views", "slots")

    def __init__(self, states: list[State]) -> None:
        self._states = states
        self._parts: list[tuple[slice, tuple[int, ...]]] = []
        start = 0
        for variable, _ in states:
            array = variable._tensor._array
            self._parts.append((slice(start, start + array.size), array.shape))
            start += array.size
        columns = list(zip(*[state.slots for state in states], strict=True))
        self.slots = [
            np.concatenate([slot._tensor._array for slot in column], axis=None)
            for column in columns
        ]
        self._views: list[tuple[Slot, Any]] = []
        for column, flat in zip(columns, self.slots, strict=True):
            for slot, view in zip(column, self._split(flat), strict=True):
                slot.adopt(view)
                self._views.append((slot, view))
        self._value: Any = None
        self._values: list[Any] = []

    def fits(self, states: list[State]) -> bool:
        """Return whether it is of these variables, and has their slots to itself."""
        return (
            len(states) == len(self._states)
            and all(map(is_, states, self._states))
            and all(slot.owns(view) for slot, view in self._views)
            and (bool(self.slots) or self._has_their_shapes())  # slots have them
        )

    def _has_their_shapes(self) -> bool:
        """Return whether no variable of unknown sizes has taken another shape."""
        return all(
            state.variable._tensor._array.shape == shape
            for state, (_, shape) in zip(self._states, self._parts, strict=True)
        )

    def value(self, dtype: NumpyDType) -> Any:
        """Return the values of the variables in a dtype, as one flat array."""
        arrays = [state.variable._tensor._array for state in self._states]
        if len(self._values) == len(arrays) and all(map(is_, arrays, self._values)):
            return self._value  # nobody has assigned anything since
        return np.concatenate([a.astype(dtype, copy=False) for a in arrays], axis=None)

    def values(self, flat: Any) -> list[Any]:
        """Return the parts of new values in one flat array, which stays as it is."""
        self._value, self._values = flat, self._split(flat)
        return self._values

    def _split(self, flat: Any) -> list[Any]:
        return [flat[part].reshape(shape) for part, shape in self._parts]
