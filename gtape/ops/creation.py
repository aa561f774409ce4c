"""New tensors: from Python and NumPy values, and filled with numbers."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.dispatch import apply
from gtape.dtypes import (
    DTypeLike,
    NumpyDType,
    as_dtype,
    as_numpy_dtype,
    default_float,
)
from gtape.errors import (
    ArgumentError,
    DTypeError,
    GtapeError,
    ShapeError,
    TensorMemoryError,
)
from gtape.lowering import Map
from gtape.ops.common import (
    Tensor,
    TensorLike,
    as_int,
    as_shape,
    numpy_dtype_of,
    renamed,
    vector_shape,
)
from gtape.ops.linear import broadcast_to, cast, identity
from gtape.ops.logic import equal
from gtape.ops.shaping import reshape
from gtape.primitive import Primitive
from gtape.sizes import is_size
from gtape.spec import TensorSpec

_MOST_AXES = 64  # NumPy's limit
_INT64 = np.dtype(np.int64)
_FEW = 16  # elements that a trace may hold one by one


# --- What the rest builds on ----------------------------------------------------------


@functools.cache
def _memory() -> int:
    """Return the bytes of memory there are, or a generous guess where nobody tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**46


def check_memory(name: str, shape: Sequence[int], dtype: NumpyDType) -> None:
    """Refuse a size that cannot be, before the system tries for long to provide it.

    Raises:
        TensorMemoryError: If a tensor of this shape takes more memory than there is.
        ShapeError: If there are more axes than NumPy has, or one is too long for it.
    """
    if len(shape) > _MOST_AXES:
        raise ShapeError(
            f"{name}: {len(shape)} axes are more than {_MOST_AXES}", "Use fewer axes"
        )
    if any(map(is_size, shape)):
        return  # NumPy will say, when the function runs
    if any(d >= 2**63 for d in shape):
        raise ShapeError(
            f"{name}: an axis of shape {tuple(shape)} has more than 2**63 - 1 elements",
            "Use smaller sizes",
        )
    size = math.prod(shape) * dtype.itemsize
    if size > _memory():
        raise TensorMemoryError(
            f"{name}: shape {tuple(shape)} of {as_dtype(dtype)} takes {size} bytes, "
            "more memory than there is",
            "Use smaller sizes or a narrower dtype",
        )


def made(array: Any) -> Tensor:
    """Return an array that nobody will change any more as a constant tensor."""
    return dispatch.interpreter().constant(array if array.ndim else array[()])


_positions = Primitive(
    "positions",
    forward=lambda *, size, dtype: np.arange(size, dtype=dtype),
    spec=lambda *, size, dtype: TensorSpec((size,), dtype),
    vjp=None,
    lowering=Map("i0"),
    why="it counts",
)


def positions(size: int, axis: int = 0, rank: int = 1) -> Tensor:
    """Return 0, 1, ... below a size, along one axis of a tensor of a rank."""
    shape = vector_shape(size, axis, rank)
    if is_size(size):
        return reshape(apply(_positions, size=size, dtype=_INT64), shape)
    return made(np.arange(size, dtype=_INT64).reshape(shape))


def given(name: str, value: Any, wanted: NumpyDType | None = None) -> Tensor:
    """Return a tensor-like value as a tensor of the wanted dtype.

    Raises:
        DTypeError: If it does not fit the dtype, or is a tensor of another one.
        GtapeError: If no tensor can be made of it; the message says for what.
    """
    try:
        out = dispatch.interpreter().convert(value, wanted, True)
    except GtapeError as error:
        raise error.reworded(f"{name}: {error.what}") from None
    except RecursionError:
        raise ArgumentError(
            f"{name}: the nested list is too deep", f"Nest at most {_MOST_AXES} lists"
        ) from None
    if wanted is not None and numpy_dtype_of(out) != wanted:
        raise DTypeError(
            f"{name}: dtype {as_dtype(wanted)} for a tensor of {as_dtype(out.dtype)}",
            f"Convert it with gt.cast(x, gt.{as_dtype(wanted)})",
        )
    return out


# --- From values ----------------------------------------------------------------------


def constant(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Return a tensor made of Python numbers, nested lists or NumPy values.

    Python floats become the default float, ints int32 (int64 where they need it), bools
    bool, complex numbers complex128; NumPy values keep their dtype, and are copied.

    Args:
        value: A number, nested list, NumPy array or scalar, or what has `__array__`. A
            tensor or variable is taken as it is, and a list of tensors is stacked;
            gradients flow.
        dtype: The dtype of the result. Python and NumPy values are converted if they
            lose no fraction and no imaginary part; a tensor must have it already.
        shape: The sizes of the result: a single element fills it, several are reshaped.
        name: A label for the reader; it has no effect.

    Raises:
        DTypeError: If the value does not fit the dtype, or a list mixes bools with
            floats.
        RangeError: If an integer is out of the range of the dtype.
        ArgumentError: If nested lists are ragged.
        ArgumentTypeError: If no tensor can be made of the value.
        ShapeError: If the shape asks for another number of elements.

    Example:
        >>> import gtape as gt
        >>> gt.constant([1, 2, 3, 4], shape=(2, 2))
        <gt.Tensor: shape=(2, 2), dtype=int32, numpy=
        array([[1, 2],
               [3, 4]], dtype=int32)>
    """
    out = given("constant", value, None if dtype is None else as_numpy_dtype(dtype))
    if shape is None:
        return renamed(out) if out is value else out
    target = as_shape("constant", shape)
    check_memory("constant", target, numpy_dtype_of(out))
    size = math.prod(out.shape)
    if size == math.prod(target):
        return reshape(out, target)
    if size != 1:
        raise ShapeError(
            f"constant: {size} elements for shape {target}",
            f"Give one element, or {math.prod(target)}",
        )
    return broadcast_to(reshape(out, ()), target)


def convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Return anything tensor-like as a tensor; a tensor is returned as it is.

    Args:
        value: A tensor, variable, NumPy value, Python number or nested list.
        dtype: The dtype of the result, as for `constant`.
        dtype_hint: A dtype that is taken if the value fits it, and otherwise ignored.
        name: A label for the reader; it has no effect.

    Raises:
        DTypeError: If the value does not fit the dtype, or is a tensor of another one.
        ArgumentError: If nested lists are ragged.
        ArgumentTypeError: If no tensor can be made of the value.

    Example:
        >>> import gtape as gt
        >>> gt.convert_to_tensor(1, dtype_hint=gt.float64)
        <gt.Tensor: shape=(), dtype=float64, numpy=1.0>
    """
    if dtype is None and dtype_hint is not None:
        try:
            return given("convert_to_tensor", value, as_numpy_dtype(dtype_hint))
        except DTypeError:
            as_numpy_dtype(dtype_hint)  # what is no dtype at all is still refused
    wanted = None if dtype is None else as_numpy_dtype(dtype)
    return given("convert_to_tensor", value, wanted)


# --- Filled ---------------------------------------------------------------------------


def zeros(shape: Sequence[int] | int, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor of zeros.

    Args:
        shape: The sizes of the axes.
        dtype: The dtype; the default float if none is given.

    Raises:
        ArgumentError: If a size is negative or not an integer.
        TensorMemoryError: If the tensor would not fit into memory.

    Example:
        >>> import gtape as gt
        >>> gt.zeros([2, 3], gt.int32).numpy()
        array([[0, 0, 0],
               [0, 0, 0]], dtype=int32)
    """
    return _full("zeros", shape, 0, dtype)


def ones(shape: Sequence[int] | int, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor of ones.

    Args:
        shape: The sizes of the axes.
        dtype: The dtype; the default float if none is given.

    Raises:
        ArgumentError: If a size is negative or not an integer.
        TensorMemoryError: If the tensor would not fit into memory.

    Example:
        >>> import gtape as gt
        >>> gt.ones([3]).numpy()
        array([1., 1., 1.], dtype=float32)
    """
    return _full("ones", shape, 1, dtype)


def _full(name: str, shape: Any, value: int, dtype: DTypeLike | None) -> Tensor:
    target = as_numpy_dtype(default_float() if dtype is None else dtype)
    sizes = as_shape(name, shape)
    check_memory(name, sizes, target)
    many = any(map(is_size, sizes)) or math.prod(sizes) > _FEW
    if many and not dispatch.interpreter().on_arrays:
        return broadcast_to(made(target.type(value)), sizes)  # takes no memory
    # np.zeros gets memory that is zero already, without touching it.
    array = np.full(sizes, value, target) if value else np.zeros(sizes, target)
    return made(array)


def zeros_like(input: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor of zeros of the shape of the input.

    Args:
        input: A tensor.
        dtype: The dtype; that of the input if none is given.

    Example:
        >>> import gtape as gt
        >>> gt.zeros_like([1., 2.])
        <gt.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """
    x = given("zeros_like", input)
    return _full("zeros_like", x.shape, 0, x.dtype if dtype is None else dtype)


def ones_like(input: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor of ones of the shape of the input.

    Args:
        input: A tensor.
        dtype: The dtype; that of the input if none is given.

    Example:
        >>> import gtape as gt
        >>> gt.ones_like([True, False], dtype=gt.int32).numpy()
        array([1, 1], dtype=int32)
    """
    x = given("ones_like", input)
    return _full("ones_like", x.shape, 1, x.dtype if dtype is None else dtype)


def fill(dims: Sequence[int] | int, value: TensorLike) -> Tensor:
    """Return a tensor whose elements are all one value; its gradient is the sum.

    Args:
        dims: The sizes of the axes.
        value: A scalar, whose dtype the result has.

    Raises:
        ShapeError: If the value is not a scalar.

    Example:
        >>> import gtape as gt
        >>> gt.fill([2, 2], 7).numpy()
        array([[7, 7],
               [7, 7]], dtype=int32)
    """
    x = given("fill", value)
    if x.ndim:
        raise ShapeError(
            f"fill: the value has shape {tuple(x.shape)}, not that of a scalar",
            "Use gt.broadcast_to for other shapes",
        )
    sizes = as_shape("fill", dims)
    check_memory("fill", sizes, numpy_dtype_of(x))
    return broadcast_to(x, sizes) if sizes else identity(x)


def eye(
    num_rows: int,
    num_columns: int | None = None,
    batch_shape: Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return a matrix with ones on the diagonal and zeros elsewhere.

    Args:
        num_rows: The number of rows.
        num_columns: The number of columns; that of the rows if none is given.
        batch_shape: Sizes of axes in front, along which the matrix is repeated.
        dtype: The dtype; the default float if none is given.

    Raises:
        ArgumentError: If a size is negative.

    Example:
        >>> import gtape as gt
        >>> gt.eye(2, 3).numpy()
        array([[1., 0., 0.],
               [0., 1., 0.]], dtype=float32)
    """
    target = as_numpy_dtype(default_float() if dtype is None else dtype)
    columns = num_rows if num_columns is None else num_columns
    matrix = as_shape(
        "eye", (as_int("eye", "num_rows", num_rows), as_int("eye", "columns", columns))
    )
    shape = (*as_shape("eye", batch_shape or ()), *matrix)
    check_memory("eye", shape, target)
    if any(map(is_size, shape)):
        here = equal(positions(matrix[0], 0, 2), positions(matrix[1], 1, 2))
        return broadcast_to(cast(here, target), shape)
    return made(np.broadcast_to(np.eye(*matrix, dtype=target), shape))
