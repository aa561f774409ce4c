"""What an optimizer remembers for a variable: `Slots` in a rule, `Slot`s outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from gtape.eager import EagerTensor
from gtape.errors import AttributeMissingError, ShapeError
from gtape.variable import Variable


class Slots(Mapping[str, Any]):
    """The state of a rule for one variable: values by name, also as attributes.

    Args:
        values: A mapping from names to values, or pairs of these.
        **named: More of them.

    Example:
        >>> import gtape as gt
        >>> slots = gt.optim.Slots(m=1.0, v=2.0)
        >>> slots.m, slots["v"], list(slots)
        (1.0, 2.0, ['m', 'v'])
    """

    __slots__ = ("_values",)

    def __init__(
        self,
        values: Mapping[str, Any] | Iterable[tuple[str, Any]] = (),
        /,
        **named: Any,
    ) -> None:
        self._values = dict(values, **named)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copy and pickle look for protocols that way
            raise AttributeError(name)
        if name in self._values:
            return self._values[name]
        raise AttributeMissingError(
            f"there is no slot {name!r}, only {list(self._values)}",
            "Name it in the optimizer's `slots`",
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Slots({', '.join(f'{k}={v!r}' for k, v in self._values.items())})"


class Slot(Variable):
    """A variable for one slot, whose array its optimizer may change in place.

    Whoever reads or assigns the slot shares its array with it; the optimizer then makes
    itself a new one before it goes on.

    Args:
        array: The value at the start.
        name: A label.
    """

    __slots__ = ("_own",)

    def __init__(self, array: Any, name: str) -> None:
        super().__init__(array, trainable=False, name=name)
        self._own: Any = None

    def own(self) -> Any:
        """Return the array, for changes in place: nobody else holds it."""
        array = self._tensor._array
        if array is not self._own:
            array = np.array(array, order="C")
            self.adopt(array)
        return array

    def adopt(self, array: Any) -> None:
        """Take an array that nobody else holds, for changes in place, as the value."""
        self._own = array
        self._tensor = EagerTensor(array, self._key)

    def owns(self, array: Any) -> bool:
        """Return whether the array is the value, and nobody else holds it."""
        return self._own is array and self._tensor._array is array

    def __gtape_tensor__(self) -> Any:
        """Return the value for an operation, which may keep it."""
        self._own = None
        return super().__gtape_tensor__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Slot:
        return Slot(np.array(self._tensor._array)[()], self._name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Slot, (np.array(self._tensor._array)[()], self._name)


class State(NamedTuple):
    """A variable and its slots, in the order in which the optimizer names them."""

    variable: Variable
    slots: tuple[Slot, ...]

    def check(self, name: str) -> None:
        """Require that the slots have the shape of the variable.

        Raises:
            ShapeError: If the variable has another shape than at its first update.
        """
        shape = self.variable._tensor._array.shape
        for slot in self.slots:
            if slot._tensor._array.shape != shape:
                raise ShapeError(
                    f"{name}: {self.variable.name} has shape {shape}, and its slot "
                    f"{slot.name} has shape {slot._tensor._array.shape}",
                    "Make a new optimizer when the shape of a variable changes",
                )
