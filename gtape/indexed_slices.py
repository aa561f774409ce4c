"""`IndexedSlices`: some slices of a large tensor, the rest of which is zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gtape.dtypes import DType, as_dtype
from gtape.errors import ShapeError, said_by
from gtape.ops.common import TensorLike, convert, numpy_dtype_of
from gtape.ops.gathering import integers
from gtape.ops.indices import INDEXING, index_add
from gtape.ops.searching import unique
from gtape.spec import TensorShape, as_shape
from gtape.tensor import Operators


class IndexedSlices(Operators):
    """Slices of a tensor, and where they belong along its first axis.

    It stands for zeros with values[i] added at indices[i]: wherever a tensor is wanted
    it is made one, and slices with the same index add up. `Variable.scatter_add` and
    its relatives take it as it is.

    Args:
        values: The slices: a tensor of shape indices.shape + shape[1:].
        indices: An integer tensor: where along the first axis they belong.
        dense_shape: The shape of the whole tensor; needed to make it one.

    Raises:
        ShapeError: If the shapes do not fit.
        DTypeError: If the indices are not integers.

    Example:
        >>> import gtape as gt
        >>> s = gt.IndexedSlices([[1., 2.], [3., 4.]], [0, 2], dense_shape=[3, 2])
        >>> gt.convert_to_tensor(s).numpy()
        array([[1., 2.],
               [0., 0.],
               [3., 4.]], dtype=float32)
    """

    __slots__ = ("_dense_shape", "_indices", "_values")

    def __init__(
        self,
        values: TensorLike,
        indices: TensorLike,
        dense_shape: Sequence[int] | None = None,
    ) -> None:
        self._values = convert(values)
        self._indices = integers("IndexedSlices", indices)
        self._dense_shape = (
            None
            if dense_shape is None
            else TensorShape(as_shape("IndexedSlices", dense_shape))
        )
        block = tuple(self._indices.shape)
        shape = tuple(self._values.shape)
        rest = shape[len(block) :]
        if shape[: len(block)] != block:
            raise ShapeError(
                f"IndexedSlices: values of shape {shape} for indices of shape {block}",
                "Give one slice for each index",
            )
        if self._dense_shape is not None and tuple(self._dense_shape)[1:] != rest:
            raise ShapeError(
                f"IndexedSlices: slices of shape {rest} for the dense shape "
                f"{self._dense_shape}",
                "The dense shape is the number of rows, then the shape of a slice",
            )

    @property
    def values(self) -> Any:
        """The slices."""
        return self._values

    @property
    def indices(self) -> Any:
        """Where along the first axis the slices belong."""
        return self._indices

    @property
    def dense_shape(self) -> TensorShape | None:
        """The shape of the whole tensor, if it is known."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return as_dtype(numpy_dtype_of(self._values))

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole tensor, with `None` for a first size not known."""
        if self._dense_shape is not None:
            return self._dense_shape
        return TensorShape((None, *self._values.shape[self._indices.ndim :]))

    @property
    def ndim(self) -> int:
        """The number of axes of the whole tensor."""
        return len(self.shape)

    def merged(self) -> IndexedSlices:
        """Return equal slices with each index once, those of duplicates added up.

        The indices come in the order in which they first occur.

        Raises:
            ShapeError: If the indices are not a vector.
        """
        rows, places = unique(self._indices)
        shape = (rows.shape[0], *self._values.shape[1:])
        values = index_add(self._values, [places], [0], shape)
        return IndexedSlices(values, rows, self._dense_shape)

    def __gtape_tensor__(self) -> Any:
        """Return the whole tensor."""
        if self._dense_shape is None:
            raise ShapeError(
                f"IndexedSlices: the size of the whole is not known, only that of its "
                f"slices, {tuple(self.shape)}",
                "Give a dense_shape",
            )
        with said_by("IndexedSlices", *INDEXING):
            return index_add(
                self._values, [self._indices], [0], self._dense_shape, wrap=False
            )

    def __repr__(self) -> str:
        shape = self._dense_shape
        rest = "" if shape is None else f", dense_shape={shape}"
        return (
            f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{rest})"
        )
