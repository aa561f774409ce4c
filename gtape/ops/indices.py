"""Reading at integer arrays, and adding at them: `index` and its transpose `index_add`.

All take integer arrays that broadcast to one block, for adjacent axes of a tensor x. A
selection has the block in the place of these axes: x.shape[:first] + block +
x.shape[last + 1:].
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gtape.dispatch import apply
from gtape.errors import GtapeError, IndexRangeError, Origin, said_by
from gtape.lowering import Gather, Scatter
from gtape.ops.common import Tensor
from gtape.ops.precision import wide
from gtape.primitive import Primitive, indexed
from gtape.spec import broadcast_shapes

Indices = Sequence[Any]
Axes = tuple[int, ...]

INDEXING = (
    "index",
    "index_add",
    "index_put",
    "index_max",
    "index_min",
    "index_multiply",
)
"""How messages begin that the operation the user called says again, by `said_by`."""

# --- Out of range ---------------------------------------------------------------------


class OutsideError(IndexRangeError):
    """An index outside its axis, which the operation the user called says again."""

    def __init__(
        self,
        name: str,
        axis: int,
        operand: int,
        value: int,
        size: int,
        wrap: bool,
        at: Origin | None = None,
    ) -> None:
        self.operand, self.value, self.size, self.wrap = operand, value, size, wrap
        low = -size if wrap else 0
        hint = f"Use {low} to {size - 1}" if size else "The axis is empty"
        if -size <= value < 0:
            hint += ": negative ones count from the end in x[i] only"
        super().__init__(
            f"{name}: index {value} is out of range for axis {axis} of size {size}",
            hint,
            at,
        )

    def renamed(self, name: str, axes: Sequence[int], first: int = 0) -> OutsideError:
        """Return the error as an operation says it that knows the axes of the user.

        Args:
            name: The operation.
            axes: The axis that each of its index arrays is for.
            first: How many index arrays stand before these.
        """
        operand = self.operand - first
        return OutsideError(
            name,
            axes[operand],
            operand,
            self.value,
            self.size,
            self.wrap,
            self.origin,
        )


class on_outside(said_by):
    """Lets the operation that the user called say a block's error for an index outside.

    Args:
        say: Returns its error for that of the block, at the same place.
    """

    __slots__ = ("_say",)

    def __init__(self, say: Callable[[OutsideError], GtapeError]) -> None:
        super().__init__("")
        self._say = say

    def said(self, error: GtapeError) -> GtapeError:
        """Return an error of the block as the operation called says it."""
        return self._say(error) if isinstance(error, OutsideError) else error


def _refuse(indices: Indices, sizes: Sequence[int], axes: Axes, wrap: bool) -> None:
    """Raise the error for the first index that is out of range."""
    for operand, (i, size) in enumerate(zip(indices, sizes, strict=True)):
        bad = (i < (-size if wrap else 0)) | (i >= size)
        if bad.any():
            value = int(np.asarray(i)[bad].flat[0])
            raise OutsideError("index", axes[operand], operand, value, size, wrap)
    broadcast_shapes("index", *[i.shape for i in indices])


class Rows(NamedTuple):
    """A tensor with the indexed axes as one, and the places in it that are written."""

    places: Any  # of the block, a contiguous vector: NumPy then writes in its order
    before: tuple[int, ...]
    size: int
    after: tuple[int, ...]

    def key(self) -> tuple[Any, ...]:
        """Return what indexes the places in `of(x)`."""
        return (*[builtins.slice(None)] * len(self.before), self.places)

    def of(self, x: Any) -> Any:
        """Return x with the indexed axes as one."""
        return x.reshape(*self.before, self.size, *self.after)

    def elements(self) -> Any:
        """Return the place of each element of the selection in the flat tensor."""
        out = self.places
        if self.after:
            inner = math.prod(self.after)
            out = out[:, None] * inner + np.arange(inner)
        if self.before:
            step = self.size * math.prod(self.after)
            starts = np.arange(math.prod(self.before)) * step
            out = starts.reshape(-1, *[1] * out.ndim) + out
        return out.reshape(-1)


def rows_of(shape: Sequence[int], indices: Indices, axes: Axes, wrap: bool) -> Rows:
    """Return where a selection of a tensor of a shape lies in it."""
    sizes = tuple(shape[axes[0] : axes[-1] + 1])
    if 0 in broadcast_shapes("index", *[i.shape for i in indices]):
        indices = [np.zeros(0, np.intp) for _ in indices]  # there is none to be wrong
    places: Any = 0
    for i, size in zip(indices, sizes, strict=True):
        if i.size and (int(i.min()) < (-size if wrap else 0) or int(i.max()) >= size):
            _refuse(indices, sizes, axes, wrap)
        i = i.astype(np.intp, copy=False)
        if wrap:
            i = np.where(i < 0, i + size, i)
        places = places * size + i
    return Rows(
        np.ascontiguousarray(places).reshape(-1),
        tuple(shape[: axes[0]]),
        math.prod(sizes),
        tuple(shape[axes[-1] + 1 :]),
    )


def selection_of(shape: Sequence[Any], indices: Indices, axes: Axes) -> tuple[Any, ...]:
    """Return the shape of a selection."""
    block = broadcast_shapes("index", *[i.shape for i in indices])
    return (*shape[: axes[0]], *block, *shape[axes[-1] + 1 :])


# --- Reading, and its transpose -------------------------------------------------------


def _index_forward(x: Any, *indices: Any, axes: Axes, wrap: bool) -> Any:
    sizes = x.shape[axes[0] : axes[-1] + 1]
    if not wrap and any(i.size and i.min() < 0 for i in indices):
        _refuse(indices, sizes, axes, wrap)
    try:
        if len(indices) == 1:
            return x.take(indices[0], axes[0])
        return x[(*[builtins.slice(None)] * axes[0], *indices)]
    except IndexError:
        _refuse(indices, sizes, axes, wrap)
        raise


_index = Primitive(
    "index",
    forward=_index_forward,
    spec=lambda x, *indices, axes, wrap: x.with_shape(
        selection_of(x.shape, indices, axes)
    ),
    vjp=lambda g, _out, _x, *indices, axes, wrap: (
        index_add(g, indices, axes, _x.shape, wrap),
        *[None] * len(indices),
    ),
    lowering=Gather(),
    operands=indexed,
)


def index(
    x: Tensor, indices: Indices, axes: Sequence[int], wrap: bool = True
) -> Tensor:
    """Return x read at integer arrays on adjacent axes.

    Args:
        x: A tensor.
        indices: An integer array for each axis.
        axes: Adjacent axes, in order, counted from the front.
        wrap: Whether negative indices count from the end; otherwise they are out of
            range.

    Raises:
        IndexRangeError: If an index is out of range.
    """
    return apply(_index, x, *indices, axes=tuple(axes), wrap=wrap)


def combine_at(ufunc: Any, out: Any, value: Any, rows: Rows) -> Any:
    """Return a contiguous `out` with value combined into it, in place."""
    ufunc.at(out.reshape(-1), rows.elements(), np.ravel(value))
    return out


def _index_add_forward(
    g: Any, *indices: Any, axes: Axes, shape: Sequence[int], wrap: bool
) -> Any:
    rows = rows_of(shape, indices, axes, wrap)
    # Many small numbers may meet at one place, where 16 bits would lose them.
    values = wide(g)
    out = combine_at(np.add, np.zeros(shape, values.dtype), values, rows)
    return out.astype(g.dtype, copy=False)


_index_add = Primitive(
    "index_add",
    forward=_index_add_forward,
    spec=lambda g, *indices, axes, shape, wrap: g.with_shape(shape),
    vjp=lambda g, _out, _g, *indices, axes, shape, wrap: (
        index(g, indices, axes, wrap),
        *[None] * len(indices),
    ),
    lowering=Scatter("acc + x"),
    operands=indexed,
)


def index_add(
    g: Tensor,
    indices: Indices,
    axes: Sequence[int],
    shape: Sequence[int],
    wrap: bool = True,
) -> Tensor:
    """Return zeros of a shape with the selection g added: `index` transposed."""
    return apply(
        _index_add, g, *indices, axes=tuple(axes), shape=tuple(shape), wrap=wrap
    )
