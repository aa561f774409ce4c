"""Diagonals, bands and triangles of matrices, in the last two axes."""

from __future__ import annotations

from typing import Any

from gtape.errors import ShapeError
from gtape.ops.common import (
    Tensor,
    TensorLike,
    as_int,
    check_rank,
    convert,
    numpy_dtype_of,
)
from gtape.ops.creation import check_memory, given, positions
from gtape.ops.linear import broadcast_to, reduce_sum, where
from gtape.ops.shaping import reshape
from gtape.ops.slicing import embed, strided_slice
from gtape.spec import broadcast_shapes

# A diagonal of a matrix in row-major order is every (columns + 1)-th element.


def _first(k: int, columns: int) -> int:
    """Return where diagonal k begins in the flattened matrix."""
    return k if k >= 0 else -k * columns


def _length(rows: int, columns: int, k: int) -> int:
    return max(min(rows + min(k, 0), columns - max(k, 0)), 0)


def _placed(diagonal: Tensor, rows: int, columns: int, k: int) -> Tensor:
    """Return matrices of zeros but for diagonal k."""
    batch = tuple(diagonal.shape[:-1])
    lead = len(batch)
    start = _first(k, columns) if diagonal.shape[-1] else 0
    flat = embed(
        diagonal,
        (*batch, rows * columns),
        (*[0] * lead, start),
        (*[1] * lead, columns + 1),
    )
    return reshape(flat, (*batch, rows, columns))


def diag(diagonal: TensorLike, k: int = 0) -> Tensor:
    """Return square matrices with the given diagonals and zeros elsewhere.

    Args:
        diagonal: Vectors of n elements in the last axis.
        k: Which diagonal: 0 the main one, positive above it, negative below. The
            matrices have n + abs(k) rows and columns.

    Raises:
        ShapeError: If a scalar is given.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.diag([1, 2]).numpy()
        array([[1, 0],
               [0, 2]], dtype=int32)
    """
    x = given("diag", diagonal)
    check_rank("diag", x, 1)
    offset = as_int("diag", "k", k)
    size = x.shape[-1] + abs(offset)
    check_memory("diag", (*x.shape[:-1], size, size), numpy_dtype_of(x))
    return _placed(x, size, size, offset)


def _matrix(name: str, input: Any, k: Any) -> tuple[Tensor, int]:
    """Return the matrices and a diagonal that they have."""
    x = given(name, input)
    check_rank(name, x, 2)
    rows, columns = x.shape[-2:]
    offset = as_int(name, "k", k)
    if not (-rows < offset < columns or offset == 0):
        raise ShapeError(
            f"{name}: there is no diagonal {offset} in matrices of shape "
            f"({rows}, {columns})",
            f"Use k from {min(1 - rows, 0)} to {max(columns - 1, 0)}",
        )
    return x, offset


def diag_part(input: TensorLike, k: int = 0) -> Tensor:
    """Return a diagonal of each matrix.

    Args:
        input: Matrices in the last two axes.
        k: Which diagonal: 0 the main one, positive above it, negative below.

    Raises:
        ShapeError: If the tensor has fewer than two axes, or there is no such diagonal.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.diag_part([[1, 2, 3], [4, 5, 6]], k=1).numpy()
        array([2, 6], dtype=int32)
    """
    x, offset = _matrix("diag_part", input, k)
    *batch, rows, columns = x.shape
    lead = [0] * len(batch)
    size = _length(rows, columns, offset)
    return strided_slice(
        reshape(x, (*batch, rows * columns)),
        (*lead, _first(offset, columns) if size else 0),
        (*batch, size),
        (*[1] * len(batch), columns + 1),
    )


def set_diag(input: TensorLike, diagonal: TensorLike, k: int = 0) -> Tensor:
    """Return matrices with a diagonal replaced.

    Args:
        input: Matrices in the last two axes.
        diagonal: The new diagonals in the last axis; they broadcast to the matrices.
        k: Which diagonal: 0 the main one, positive above it, negative below.

    Raises:
        ShapeError: If the diagonals do not fit the matrices.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.set_diag([[1, 2], [3, 4]], [8, 9]).numpy()
        array([[8, 2],
               [3, 9]], dtype=int32)
    """
    x, offset = _matrix("set_diag", input, k)
    new = convert(diagonal, x.dtype)
    *batch, rows, columns = x.shape
    wanted = (*batch, _length(rows, columns, offset))
    fits = new.ndim and broadcast_shapes("set_diag", new.shape, wanted) == wanted
    if not fits:
        raise ShapeError(
            f"set_diag: a diagonal of shape {tuple(new.shape)} for matrices of shape "
            f"{tuple(x.shape)}",
            f"Diagonal {offset} has shape {wanted}",
        )
    new = broadcast_to(new, (*new.shape[:-1], wanted[-1]))
    return where(
        _diagonal_of(rows, columns) == offset, _placed(new, rows, columns, offset), x
    )


def _diagonal_of(rows: int, columns: int) -> Tensor:
    """Return for each place of a matrix the diagonal on which it lies."""
    return positions(columns, 1, 2) - positions(rows, 0, 2)


# --- Bands and triangles --------------------------------------------------------------


def _masked(x: Tensor, lowest: int | None, highest: int | None) -> Tensor:
    """Return x where the diagonal, column - row, lies in a range, else zero."""
    rows, columns = x.shape[-2:]
    diagonal = _diagonal_of(rows, columns)
    if lowest is not None:
        x = where(diagonal >= lowest, x, False)  # a zero that adapts to every dtype
    if highest is not None:
        x = where(diagonal <= highest, x, False)
    return x


def band_part(input: TensorLike, num_lower: int, num_upper: int) -> Tensor:
    """Return matrices with zeros outside a band about the main diagonal.

    Args:
        input: Matrices in the last two axes.
        num_lower: How many diagonals stay below the main one; all of them if negative.
        num_upper: How many stay above it; all of them if negative.

    Raises:
        ShapeError: If the tensor has fewer than two axes.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.band_part([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 0, 1).numpy()
        array([[1, 2, 0],
               [0, 5, 6],
               [0, 0, 9]], dtype=int32)
    """
    x = given("band_part", input)
    check_rank("band_part", x, 2)
    below = as_int("band_part", "num_lower", num_lower)
    above = as_int("band_part", "num_upper", num_upper)
    return _masked(x, None if below < 0 else -below, None if above < 0 else above)


def triu(x: TensorLike, k: int = 0) -> Tensor:
    """Return matrices with zeros below diagonal k: the upper triangle.

    Args:
        x: Matrices in the last two axes.
        k: The lowest diagonal that stays: 0 the main one, positive above it.

    Raises:
        ShapeError: If the tensor has fewer than two axes.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.triu([[1, 2], [3, 4]]).numpy()
        array([[1, 2],
               [0, 4]], dtype=int32)
    """
    matrices = given("triu", x)
    check_rank("triu", matrices, 2)
    return _masked(matrices, as_int("triu", "k", k), None)


def tril(x: TensorLike, k: int = 0) -> Tensor:
    """Return matrices with zeros above diagonal k: the lower triangle.

    Args:
        x: Matrices in the last two axes.
        k: The highest diagonal that stays: 0 the main one, positive above it.

    Raises:
        ShapeError: If the tensor has fewer than two axes.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.tril([[1, 2], [3, 4]]).numpy()
        array([[1, 0],
               [3, 4]], dtype=int32)
    """
    matrices = given("tril", x)
    check_rank("tril", matrices, 2)
    return _masked(matrices, None, as_int("tril", "k", k))


def trace(x: TensorLike) -> Tensor:
    """Return the sum of the main diagonal of each matrix.

    Args:
        x: Matrices in the last two axes.

    Raises:
        ShapeError: If the tensor has fewer than two axes.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.trace([[1., 2.], [3., 4.]]).numpy()
        np.float32(5.0)
    """
    matrices = given("trace", x)
    check_rank("trace", matrices, 2)
    return reduce_sum(diag_part(matrices), axis=-1)
