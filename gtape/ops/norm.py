"""`norm`: of vectors, of matrices by their elements, of matrices by singular values."""

from __future__ import annotations

from gtape.ops import norms
from gtape.ops.common import Axis, Tensor, TensorLike, as_ints, convert, normalize_axis
from gtape.ops.shaping import expand_dims, transpose
from gtape.ops.spectral import matrix_norm


def norm(
    tensor: TensorLike,
    ord: float | str = "euclidean",
    axis: Axis = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the norm of vectors or matrices, a real number for each.

    The gradient of a Euclidean norm at zero is zero.

    Args:
        tensor: A floating-point or complex tensor.
        ord: For vectors "euclidean" or 2, 1, inf, or a positive p for
            sum(abs(x) ** p) ** (1 / p). For matrices "fro" or "euclidean", 1 for the
            greatest column sum, inf for the greatest row sum, 2 for the greatest
            singular value, "nuc" for their sum.
        axis: One axis for vectors, a pair (rows, columns) for matrices; by default all
            elements are one vector.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        ArgumentError: If there is no such norm.

    Example:
        >>> import gtape as gt
        >>> gt.norm([[3., 4.], [0., 5.]], axis=1).numpy()
        array([5., 5.], dtype=float32)
        >>> gt.norm([[3., 0.], [0., -7.]], ord=2, axis=(0, 1)).numpy()
        np.float32(7.0)
    """
    by_singular_values = ord in (2, "nuc") and axis is not None
    if by_singular_values and len(as_ints("norm", "axis", axis)) == 2:
        return _singular(tensor, ord, as_ints("norm", "axis", axis), keepdims)
    return norms.norm(tensor, ord, axis, keepdims)


def _singular(
    tensor: TensorLike, ord: float | str, axis: tuple[int, ...], keepdims: bool
) -> Tensor:
    x = convert(tensor)
    rows, columns = [normalize_axis("norm", a, x.ndim) for a in axis]
    rest = [i for i in range(x.ndim) if i not in (rows, columns)]
    out = matrix_norm(transpose(x, [*rest, rows, columns]), ord)
    return expand_dims(out, (rows, columns)) if keepdims else out
