"""What a variable has for reading and assigning some of its slices or elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gtape.errors import (
    ArgumentTypeError,
    DTypeError,
    IndexRangeError,
    ShapeError,
    said_by,
)
from gtape.indexed_slices import IndexedSlices
from gtape.ops.common import TensorLike, as_int, convert, numpy_dtype_of
from gtape.ops.creation import positions
from gtape.ops.gathering import gather, gather_nd
from gtape.ops.index_write import fitting, index_write
from gtape.ops.indices import INDEXING, index_add
from gtape.ops.linear import broadcast_to
from gtape.ops.scattering import (
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)


class ScatterMethods:
    """The scatter methods of a variable: each assigns, and returns the variable."""

    __slots__ = ()

    if TYPE_CHECKING:

        def assign(self, value: Any) -> Any:
            """Give the variable a value."""

    # --- Slices along the first axis --------------------------------------------------

    def scatter_add(self, sparse_delta: IndexedSlices) -> Any:
        """Add slices to those at the indices; duplicates add up.

        Args:
            sparse_delta: The slices and where they go; its dense shape is not used.

        Raises:
            ArgumentTypeError: If it is not IndexedSlices.
            ShapeError: If the slices have another shape than the variable's.
            IndexRangeError: If an index is negative or too large.

        Example:
            >>> import gtape as gt
            >>> v = gt.Variable([1., 2., 3.])
            >>> v.scatter_add(gt.IndexedSlices([10., 20.], [0, 0])).numpy()
            array([31.,  2.,  3.], dtype=float32)
        """
        x = convert(self)
        return self.assign(x + _summed("scatter_add", x, sparse_delta))

    def scatter_sub(self, sparse_delta: IndexedSlices) -> Any:
        """Subtract slices from those at the indices; duplicates add up."""
        x = convert(self)
        return self.assign(x - _summed("scatter_sub", x, sparse_delta))

    def scatter_update(self, sparse_delta: IndexedSlices) -> Any:
        """Replace the slices at the indices; of duplicates the last one stays."""
        return self.assign(_written("scatter_update", "put", self, sparse_delta))

    def scatter_max(self, sparse_delta: IndexedSlices) -> Any:
        """Raise the elements of the slices at the indices to those given."""
        return self.assign(_written("scatter_max", "max", self, sparse_delta))

    def scatter_min(self, sparse_delta: IndexedSlices) -> Any:
        """Lower the elements of the slices at the indices to those given."""
        return self.assign(_written("scatter_min", "min", self, sparse_delta))

    def scatter_mul(self, sparse_delta: IndexedSlices) -> Any:
        """Multiply the slices at the indices; duplicates all multiply."""
        return self.assign(_written("scatter_mul", "multiply", self, sparse_delta))

    def scatter_div(self, sparse_delta: IndexedSlices) -> Any:
        """Divide the slices at the indices, integers rounding down; duplicates too."""
        x = convert(self)
        dtype = numpy_dtype_of(x)
        ones = broadcast_to(dtype.type(1), x.shape)
        divisor = _written("scatter_div", "multiply", ones, sparse_delta)
        return self.assign(x // divisor if dtype.kind in "iu" else x / divisor)

    def batch_scatter_update(self, sparse_delta: IndexedSlices) -> Any:
        """Replace slices within each batch: v[b, indices[b, i]] = values[b, i].

        Args:
            sparse_delta: Its indices have the batch axes of the variable and one more.

        Raises:
            ArgumentTypeError: If it is not IndexedSlices.
            ShapeError: If the shapes do not fit.
            IndexRangeError: If an index is negative or too large.

        Example:
            >>> import gtape as gt
            >>> v = gt.Variable([[1., 2.], [3., 4.]])
            >>> update = gt.IndexedSlices([[10.], [20.]], [[1], [0]])
            >>> v.batch_scatter_update(update).numpy()
            array([[ 1., 10.],
                   [20.,  4.]], dtype=float32)
        """
        name, x = "batch_scatter_update", convert(self)
        slices = _slices(name, sparse_delta)
        rank = slices.indices.ndim
        batch = tuple(slices.indices.shape[:-1])
        if not rank or tuple(x.shape[: rank - 1]) != batch or rank > x.ndim:
            raise ShapeError(
                f"{name}: indices of shape {tuple(slices.indices.shape)} for a "
                f"variable of shape {tuple(x.shape)}",
                "All but the last axis of the indices are batch axes of the variable",
            )
        axes = tuple(range(rank))
        arrays = [positions(size, axis, rank) for axis, size in enumerate(batch)]
        updates = _updates(name, x, slices, rank)
        arrays.append(slices.indices)
        with said_by(name, *INDEXING):
            out = index_write("put", x, updates, arrays, axes, wrap=False)
        return self.assign(out)

    # --- Elements or slices at positions ----------------------------------------------

    def scatter_nd_add(self, indices: TensorLike, updates: TensorLike) -> Any:
        """Assign `gt.tensor_scatter_nd_add` of the variable."""
        return self.assign(tensor_scatter_nd_add(self, indices, updates))

    def scatter_nd_sub(self, indices: TensorLike, updates: TensorLike) -> Any:
        """Assign `gt.tensor_scatter_nd_sub` of the variable."""
        return self.assign(tensor_scatter_nd_sub(self, indices, updates))

    def scatter_nd_update(self, indices: TensorLike, updates: TensorLike) -> Any:
        """Assign `gt.tensor_scatter_nd_update` of the variable."""
        return self.assign(tensor_scatter_nd_update(self, indices, updates))

    def scatter_nd_max(self, indices: TensorLike, updates: TensorLike) -> Any:
        """Assign `gt.tensor_scatter_nd_max` of the variable."""
        return self.assign(tensor_scatter_nd_max(self, indices, updates))

    def scatter_nd_min(self, indices: TensorLike, updates: TensorLike) -> Any:
        """Assign `gt.tensor_scatter_nd_min` of the variable."""
        return self.assign(tensor_scatter_nd_min(self, indices, updates))

    # --- Reading, counting, loading ---------------------------------------------------

    def sparse_read(self, indices: TensorLike) -> Any:
        """Return `gt.gather` of the variable along its first axis."""
        with said_by("sparse_read", "gather"):
            return gather(self, indices)

    def gather_nd(self, indices: TensorLike) -> Any:
        """Return `gt.gather_nd` of the variable."""
        return gather_nd(self, indices)

    def count_up_to(self, limit: int) -> Any:
        """Add one to an integer scalar, and return the value it had.

        Args:
            limit: The value at which it counts no further.

        Raises:
            IndexRangeError: If the value has reached the limit.
            DTypeError: If the variable is not an integer.
            ShapeError: If it is not a scalar.

        Example:
            >>> import gtape as gt
            >>> v = gt.Variable(0)
            >>> int(v.count_up_to(2)), int(v.count_up_to(2)), int(v)
            (0, 1, 2)
        """
        x, most = convert(self), as_int("count_up_to", "limit", limit)
        if x.dtype.kind not in "iu":
            raise DTypeError(
                f"count_up_to: a variable of {x.dtype} does not count",
                "Use an integer variable",
            )
        if x.ndim:
            raise ShapeError(
                f"count_up_to: a variable of shape {tuple(x.shape)} is not a scalar",
                "Use a scalar variable",
            )
        if x >= most:
            raise IndexRangeError(
                f"count_up_to: the variable is {int(x)}, and the limit {most}",
                "Assign it a smaller value first",
            )
        self.assign(x + 1)
        return x

    def load(self, value: Any) -> Any:
        """Assign a value."""
        return self.assign(value)


def _slices(name: str, value: Any) -> IndexedSlices:
    if not isinstance(value, IndexedSlices):
        raise ArgumentTypeError(
            f"{name}: a {type(value).__name__} is not IndexedSlices",
            "Use gt.IndexedSlices(values, indices), or the scatter_nd methods",
        )
    return value


def _updates(name: str, x: Any, slices: IndexedSlices, taken: int) -> Any:
    """Return the values as a tensor of x's dtype, if x has such slices."""
    values = fitting(name, x, slices.values)
    needed = (*slices.indices.shape, *x.shape[taken:])
    if x.ndim < taken or tuple(values.shape) != needed:
        raise ShapeError(
            f"{name}: values of shape {tuple(values.shape)} at indices of shape "
            f"{tuple(slices.indices.shape)} for a variable of shape {tuple(x.shape)}",
            "Give a slice of the variable for each index",
        )
    return values


def _summed(name: str, x: Any, sparse_delta: Any) -> Any:
    slices = _slices(name, sparse_delta)
    updates = _updates(name, x, slices, 1)
    with said_by(name, *INDEXING):
        return index_add(updates, [slices.indices], [0], x.shape, wrap=False)


def _written(name: str, how: str, variable: Any, sparse_delta: Any) -> Any:
    x, slices = convert(variable), _slices(name, sparse_delta)
    updates = _updates(name, x, slices, 1)
    with said_by(name, *INDEXING):
        return index_write(how, x, updates, [slices.indices], [0], wrap=False)
