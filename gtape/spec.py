"""`TensorShape` and `TensorSpec`: the shape and dtype of a tensor, the type of the IR.

A dimension is an int, or `None` where it is not known before the program runs.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from gtape.dtypes import DType, DTypeLike, as_dtype
from gtape.errors import ArgumentError, ArgumentTypeError, ShapeError
from gtape.sizes import is_size, same_size

Dim: TypeAlias = "int | None"


class TensorShape(tuple[Any, ...]):
    """The sizes of a tensor's axes: a tuple that also compares with lists.

    Args:
        dims: The sizes; `None` for a size that is not known.

    Example:
        >>> import gtape as gt
        >>> s = gt.zeros([2, 3]).shape
        >>> s == [2, 3], s.rank, s.num_elements(), str(s), s
        (True, 2, 6, '(2, 3)', TensorShape([2, 3]))
    """

    __slots__ = ()

    def __new__(cls, dims: Iterable[Dim] = ()) -> TensorShape:
        """Return the shape of the given sizes."""
        if not hasattr(dims, "__iter__"):
            raise ArgumentTypeError(
                f"TensorShape: {dims!r} is not a sequence of sizes",
                "Give a list; None stands for one size, not for the rank",
            )
        return tuple.__new__(cls, dims)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return len(self)

    def as_list(self) -> list[Dim]:
        """Return the sizes as a list."""
        return list(self)

    def num_elements(self) -> int | None:
        """Return the number of elements, or `None` where a size is unknown."""
        return size_of(self)

    def is_fully_defined(self) -> bool:
        """Return whether every size is known."""
        return None not in tuple(self)

    def is_compatible_with(self, other: Sequence[Dim]) -> bool:
        """Return whether the two shapes can be the same."""
        return len(self) == len(other) and all(
            a is None or b is None or a == b for a, b in zip(self, other, strict=True)
        )

    def __eq__(self, other: object) -> bool:
        # Lengths first: comparing sizes that are not known yet decides something.
        if isinstance(other, (tuple, list)) and len(self) != len(other):
            return False
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __getitem__(self, item: Any) -> Any:
        out = tuple.__getitem__(self, item)
        return TensorShape(out) if isinstance(item, slice) else out

    def __add__(self, other: Any) -> TensorShape:
        return TensorShape(tuple(self) + tuple(other))

    def __str__(self) -> str:
        return tuple.__repr__(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"


class TensorSpec:
    """The shape and dtype of a tensor.

    Args:
        shape: The sizes; `None` for a size that is not known.
        dtype: The dtype of the elements; float32 by default.
        name: A label for messages.

    Example:
        >>> import gtape as gt
        >>> gt.TensorSpec([None, 3], gt.float32)
        TensorSpec(shape=(None, 3), dtype=gt.float32)
    """

    __slots__ = ("dtype", "name", "shape")

    def __init__(
        self,
        shape: Iterable[Dim],
        dtype: DTypeLike = "float32",
        name: str | None = None,
    ) -> None:
        self.shape = as_dims("TensorSpec", shape)
        self.dtype: DType = as_dtype(dtype)
        self.name = name

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int | None:
        """The number of elements, or `None` where a size is unknown."""
        return size_of(self.shape)

    def with_shape(self, shape: Iterable[Dim]) -> TensorSpec:
        """Return the spec with another shape."""
        return TensorSpec(TensorShape(shape), self.dtype)

    def with_dtype(self, dtype: DTypeLike) -> TensorSpec:
        """Return the spec with another dtype."""
        return TensorSpec(self.shape, dtype)

    def without_axes(self, axes: Iterable[int]) -> TensorSpec:
        """Return the spec without the given (non-negative) axes."""
        gone = frozenset(axes)
        return self.with_shape(d for i, d in enumerate(self.shape) if i not in gone)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return self.shape == other.shape and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        name = f", name={self.name!r}" if self.name else ""
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}{name})"

    def __str__(self) -> str:
        sizes = ",".join("?" if d is None else str(d) for d in self.shape)
        return f"{self.dtype}[{sizes}]"


def size_of(shape: Iterable[Dim]) -> int | None:
    """Return the number of elements of a shape, or `None` where a size is unknown."""
    total = 1
    for dim in shape:
        if dim is None:
            return None
        total *= dim
    return total


def broadcast_shapes(name: str, *shapes: Sequence[Dim]) -> tuple[Dim, ...]:
    """Return the shape that the given shapes broadcast to.

    Args:
        name: The operation, for the message.
        *shapes: The shapes of the operands; an unknown size meets 1 or itself.

    Raises:
        ShapeError: If two sizes differ and neither is 1.
    """
    rank = max((len(s) for s in shapes), default=0)
    out: list[Dim] = []
    for i in range(-rank, 0):
        dim: Dim = 1
        for shape in shapes:
            here = shape[i] if len(shape) >= -i else 1
            if here is not None and dim is not None and same_size(here, dim):
                continue
            if dim == 1:
                dim = here
            elif here is None:
                continue
            elif dim is None:
                dim = here if here != 1 else None
            elif here not in (1, dim):
                listed = " and ".join(str(tuple(s)) for s in shapes)
                raise ShapeError(
                    f"{name}: shapes {listed} do not broadcast ({dim} against {here})",
                    "Make the sizes equal or 1, counted from the last axis",
                )
        out.append(dim)
    return tuple(out)


def as_dims(name: str, shape: Any) -> TensorShape:
    """Return a shape that may hold `None`.

    Raises:
        ArgumentError: If a size is neither `None` nor an integer of zero or more.
    """
    if isinstance(shape, TensorShape):
        return shape
    if not hasattr(shape, "__iter__") or isinstance(shape, (str, bytes)):
        return TensorShape(as_shape(name, shape))
    dims = list(shape)
    known = iter(as_shape(name, [dim for dim in dims if dim is not None]))
    return TensorShape([None if dim is None else next(known) for dim in dims])


def as_shape(name: str, shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of non-negative ints.

    Args:
        name: The operation, for the message.
        shape: An int or a sequence of ints (NumPy integers and integer tensors too).

    Raises:
        ArgumentError: If a size is not an integer, or negative.
    """
    if isinstance(shape, (str, bytes)) or shape is None:
        raise ArgumentError(f"{name}: {shape!r} is not a shape", "Give a list of sizes")
    try:
        dims = [shape] if not hasattr(shape, "__len__") else list(shape)
    except TypeError:
        dims = [shape]
    out = []
    for dim in dims:
        if is_size(dim):
            out.append(dim)
            continue
        try:
            size = operator.index(dim) if dim is not True and dim is not False else None
        except TypeError:
            size = None
        if size is None:
            raise ArgumentError(
                f"{name}: shape {shape!r} holds {dim!r}, which is not an integer",
                "Give a list of sizes",
            ) from None
        if size < 0:
            raise ArgumentError(
                f"{name}: shape {tuple(dims)} holds the negative size {size}",
                "Sizes are zero or more",
            )
        out.append(size)
    return tuple(out)
