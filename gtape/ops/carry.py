"""`Carry`: what a loop or fold hands from one trip to the next, kept alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gtape import nest
from gtape.errors import ArgumentTypeError, DTypeError, ShapeError
from gtape.ops.common import Tensor, convert, renamed
from gtape.sizes import same_shape


class Carry:
    """Tensors in a nested structure that keep their dtypes and ranks.

    Args:
        name: The operation, as messages say it.
        label: Its argument that gives the values at the start.
        values: These, in any nested structure.
        fixed: Whether the sizes stay the same, too.
    """

    def __init__(self, name: str, label: str, values: Any, fixed: bool = False) -> None:
        self._name = name
        self._fixed = fixed
        self.structure = values
        self.labels = list(places(values, label))
        # Objects of one's own: what a function assigns to the items of its argument
        # must not reach the caller's tensor.
        self.tensors = [renamed(convert(leaf)) for leaf in nest.flatten(values)]

    def value(self) -> Any:
        """Return the tensors in their structure."""
        return nest.pack(self.structure, iter(self.tensors))

    def get(self) -> tuple[Tensor, ...]:
        """Return the tensors."""
        return tuple(self.tensors)

    def set(self, tensors: Sequence[Tensor]) -> None:
        """Replace the tensors."""
        self.tensors = list(tensors)

    def update(self, result: Any, who: str) -> None:
        """Take what a function has returned for the next trip.

        Args:
            result: Values in the structure of the carry.
            who: The function, as messages say it.

        Raises:
            ArgumentError: If it has another structure.
            DTypeError: If a dtype changes.
            ShapeError: If a rank changes, or a size that may not.
        """
        found = nest.flatten_like(self.structure, result, f"{self._name}: {who}")
        rows = zip(self.labels, self.tensors, found, strict=True)
        self.tensors = [self._fitted(*row, who) for row in rows]

    def _fitted(self, label: str, before: Tensor, value: Any, who: str) -> Tensor:
        after = as_result(value, before.dtype, f"{self._name}: {who}")
        if after.dtype != before.dtype:
            raise DTypeError(
                f"{self._name}: {label} is {before.dtype}, and {who} returned "
                f"{after.dtype} for it",
                "Cast one of them with gt.cast",
            )
        same = after.ndim == before.ndim
        if not same or (self._fixed and not same_shape(after.shape, before.shape)):
            raise ShapeError(
                f"{self._name}: {label} has shape {tuple(before.shape)}, and {who} "
                f"returned shape {tuple(after.shape)} for it",
                "Every trip must give what the next one takes",
            )
        return after


def as_result(value: Any, dtype: Any, what: str) -> Tensor:
    """Return what a function returned as a tensor; Python numbers take the dtype.

    Raises:
        ArgumentTypeError: If it is nothing that a tensor can hold.
    """
    if value is None or callable(value):
        raise ArgumentTypeError(f"{what} returned {value!r}", "Return tensors")
    return renamed(convert(value, dtype))


def places(structure: Any, label: str) -> Iterator[str]:
    """Give the leaves of a nested structure names, such as "loop_vars[0]['x']"."""
    if isinstance(structure, Mapping):
        for key, value in structure.items():
            yield from places(value, f"{label}[{key!r}]")
    elif isinstance(structure, tuple) and hasattr(structure, "_fields"):
        for field, value in zip(structure._fields, structure, strict=True):
            yield from places(value, f"{label}.{field}")
    elif isinstance(structure, (list, tuple)):
        for i, value in enumerate(structure):
            yield from places(value, f"{label}[{i}]")
    else:
        yield label
