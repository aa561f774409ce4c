"""New tensors that count: ranges, evenly spaced numbers, one-hot codes and grids."""

from __future__ import annotations

import builtins
import functools
import math
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.conversion import short
from gtape.dtypes import (
    DTypeLike,
    Kind,
    NumpyDType,
    as_dtype,
    as_numpy_dtype,
    concrete,
    default_float,
    promote,
)
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    RangeError,
    ShapeError,
)
from gtape.ops.common import (
    Tensor,
    TensorLike,
    as_count,
    convert,
    normalize_axis,
    numpy_dtype_of,
    one_of,
    vector_shape,
)
from gtape.ops.creation import check_memory, given, made, positions
from gtape.ops.extrema import maximum
from gtape.ops.known import integers_of, sizes_of
from gtape.ops.linear import broadcast_to, cast, where
from gtape.ops.precision import is_half
from gtape.ops.shaping import expand_dims, reshape
from gtape.primitive import quotient
from gtape.sizes import is_open, is_size
from gtape.spec import broadcast_shapes

# --- Counted --------------------------------------------------------------------------


def range(
    start: TensorLike,
    limit: TensorLike = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return start, start + delta, start + 2 * delta, ... up to but without the limit.

    Args:
        start: The first number; if it is given alone, it is the limit and 0 the start.
        limit: The end, which is left out.
        delta: The step; negative counts down.
        dtype: The dtype; by default what the three promote to: int32 for Python ints
            (int64 where they need it), the default float for Python floats.

    Raises:
        ArgumentError: If delta is zero or leads away from the limit, or a number is not
            finite.
        ArgumentTypeError: If one of them is not a real number.
        DTypeError: If a float is counted in an integer dtype.
        RangeError: If a number is out of the range of the dtype.

    Example:
        >>> import gtape as gt
        >>> gt.range(5).numpy()
        array([0, 1, 2, 3, 4], dtype=int32)
        >>> gt.range(3., 1., -0.5).numpy()
        array([3. , 2.5, 2. , 1.5], dtype=float32)
    """
    if limit is None:
        start, limit = 0, start
    steps = _steps(start, limit, delta, dtype)
    if steps is not None:
        return steps
    count_traced = getattr(dispatch.interpreter(), "count", None)
    if count_traced is not None:
        counted = count_traced(start, limit, delta, dtype)
        if counted is not None:
            return counted
    named = (("start", start), ("limit", limit), ("delta", delta))
    numbers, kinds = zip(*[_number(*pair) for pair in named], strict=True)
    first, end, step = numbers
    target = _counted_dtype(kinds, numbers, dtype)
    if step == 0 or (end - first) * step < 0:
        raise ArgumentError(
            f"range: no steps of {step} lead from {first} to {end}",
            "Give a delta of the sign of limit - start",
        )
    if target.kind in "iu":
        count = -((first - end) // step)
        check_memory("range", (count,), target)
        return made(_counted(first, step, count, target))
    count = _ceil((end - first) / step)
    check_memory("range", (count,), target)
    with np.errstate(over="ignore"):
        return made((first + step * np.arange(count, dtype=np.float64)).astype(target))


def _steps(start: Any, limit: Any, delta: Any, dtype: Any) -> Tensor | None:
    """Return a range of ints of which some are sizes; `None` if there is none."""
    given = (start, limit, delta)
    first, end, step = [integers_of(n) for n in given]
    if type(first) is int and first == 0 and type(step) is int and step == 1:
        end = sizes_of(end)
    numbers = (first, end, step)
    if not any(map(is_size, numbers)):
        return None
    if not all(type(n) is int or is_size(n) for n in numbers):
        return None
    if step == 0 or (end - first) * step < 0:
        raise ArgumentError(
            f"range: no steps of {step} lead from {first} to {end}",
            "Give a delta of the sign of limit - start",
        )
    kinds = tuple([numpy_dtype_of(n) if hasattr(n, "dtype") else int for n in given])
    way, width = (end - first, step) if step > 0 else (first - end, -step)
    counted = first + positions((way + width - 1) // width) * step
    return cast(counted, _counted_dtype(kinds, (0, 0), dtype))


def _ceil(x: float) -> int:
    return math.ceil(min(x, 2.0**62))  # what is more is refused as too much memory


def _number(argument: str, value: Any) -> tuple[Any, Kind]:
    """Return a scalar as a Python number, and its dtype, or Python type if weak."""
    kind: Kind
    if type(value) in (int, float):
        number, kind = value, type(value)
    else:
        tensor = given("range", value)
        if tensor.ndim:
            raise ShapeError(
                f"range: {argument} has shape {tuple(tensor.shape)}, not a scalar's",
                "Give a single number",
            )
        number, kind = np.asarray(tensor).item(), numpy_dtype_of(tensor)
    if isinstance(number, (bool, complex)):
        raise ArgumentTypeError(
            f"range: {argument} must be a real number, got {number!r}",
            "Give an int or a float",
        )
    if isinstance(number, float) and not math.isfinite(number):
        raise ArgumentError(f"range: {argument} is {number}", "Give a finite number")
    if not -(2.0**63) <= number < 2.0**64 and isinstance(number, int):
        raise RangeError(
            f"range: {argument} {short(number)} is out of the range of every dtype",
            "Use floats",
        )
    return number, kind


def _counted_dtype(
    kinds: tuple[Kind, ...], numbers: tuple[Any, ...], dtype: DTypeLike | None
) -> NumpyDType:
    natural = concrete(functools.reduce(promote, kinds))
    if dtype is None:
        if all(kind is int for kind in kinds) and max(map(abs, numbers[:2])) >= 2**31:
            return np.dtype(np.int64)
        return natural
    target = as_numpy_dtype(dtype)
    if target.kind in "bc" or (target.kind in "iu" and natural.kind not in "iu"):
        raise DTypeError(
            f"range: {as_dtype(target)} cannot hold what counts in {as_dtype(natural)}",
            "Use a floating-point dtype, or integers for start, limit and delta",
        )
    return target


def _counted(first: int, step: int, count: int, target: NumpyDType) -> Any:
    limits = np.iinfo(target)
    for number in (first, first + step * (count - 1)) if count else ():
        if not limits.min <= number <= limits.max:
            raise RangeError(
                f"range: {number} is out of the range of {as_dtype(target)}, "
                f"{limits.min} to {limits.max}",
                "Use a wider dtype",
            )
    # Modulo 2**64 every integer dtype counts right, whatever first and step are.
    position = np.arange(count, dtype=np.uint64)
    counted = position * np.uint64(step % 2**64) + np.uint64(first % 2**64)
    return counted.astype(target)


def linspace(start: TensorLike, stop: TensorLike, num: int, axis: int = 0) -> Tensor:
    """Return num evenly spaced numbers from start to stop, both included.

    Args:
        start: The first number, or a tensor of first numbers.
        stop: The last number, or a tensor of them; it broadcasts with start. Integers
            are spaced as float64.
        num: How many; of a single one it is start.
        axis: The place of the new axis in the result.

    Raises:
        ArgumentError: If num is negative.
        ShapeError: If start and stop do not broadcast, or the result has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.linspace(0., 1., 5).numpy()
        array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    count = as_count("linspace", "num", num)
    start, stop = _pair("linspace", start, stop)
    dtype = quotient("linspace", (numpy_dtype_of(start), numpy_dtype_of(stop)))[0]
    # In float16 the difference may overflow, and the steps would be coarse.
    wide = np.dtype(np.float32) if is_half(dtype) else dtype
    shape = broadcast_shapes("linspace", start.shape, stop.shape)
    place = normalize_axis("linspace", axis, len(shape) + 1)
    check_memory("linspace", (*shape, count), wide)  # type: ignore[arg-type]
    first, last = [
        expand_dims(cast(broadcast_to(x, shape), wide), place)  # type: ignore[arg-type]
        for x in (start, stop)
    ]
    position = positions(count, place, len(shape) + 1)
    steps = maximum(count - 1, 1) if is_open(count) else max(count - 1, 1)
    weight = cast(position / steps, wide)
    out = first + (last - first) * weight
    end = position == count - 1
    if is_open(count) or count > 1:
        out = where(end & (position > 0), last, out)  # exactly
    return cast(out, dtype)


def _pair(name: str, x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """Return two operands as tensors; Python numbers adapt to a tensor beside them."""
    python = (int, float, complex, list, tuple)
    weak = [isinstance(v, python) and not isinstance(v, np.generic) for v in (x, y)]
    if weak[0] and not weak[1]:
        y = given(name, y)
        return convert(x, y.dtype), y
    x = given(name, x)
    return x, convert(y, x.dtype) if weak[1] and not weak[0] else given(name, y)


# --- Spread over grids ----------------------------------------------------------------


def one_hot(
    indices: TensorLike,
    depth: int,
    on_value: TensorLike = None,
    off_value: TensorLike = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return codes that are on where the place on a new axis is the index, else off.

    Args:
        indices: Integers. One below 0, or depth or above, is off everywhere.
        depth: The size of the new axis.
        on_value: A scalar, 1 by default.
        off_value: A scalar, 0 by default.
        axis: The place of the new axis in the result; the last by default.
        dtype: The dtype; by default that of the values, or the default float.

    Raises:
        DTypeError: If the indices are not integers, or the values have another dtype.
        ArgumentError: If depth is negative.
        ShapeError: If a value is not a scalar, or the result has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.one_hot([0, 2], 3).numpy()
        array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    x = given("one_hot", indices)
    if x.dtype.kind not in "iu":
        raise DTypeError(
            f"one_hot: indices must be integers, got {as_dtype(x.dtype)}", "Cast them"
        )
    count = as_count("one_hot", "depth", depth)
    place = normalize_axis("one_hot", -1 if axis is None else axis, x.ndim + 1)
    on, off = _switch(on_value, off_value, dtype)
    check_memory("one_hot", (*x.shape, count), np.dtype(np.bool_))
    own = numpy_dtype_of(x)
    places = positions(count, place, x.ndim + 1)
    if own.itemsize >= 4 or (not is_size(count) and count - 1 <= np.iinfo(own).max):
        places = cast(places, own)
    return where(expand_dims(x, place) == places, on, off)


def _switch(on: Any, off: Any, dtype: DTypeLike | None) -> tuple[Any, Any]:
    if dtype is None and on is None and off is None:
        dtype = default_float()
    pair = (1 if on is None else on, 0 if off is None else off)
    for value in pair:
        if isinstance(value, (list, tuple)) or getattr(value, "ndim", None):
            raise ShapeError(
                f"one_hot: the value {value!r} is not a scalar", "Give single numbers"
            )
    if dtype is None:
        return pair
    wanted = as_numpy_dtype(dtype)
    if wanted.kind == "b":
        pair = (on is None or on, False if off is None else off)
    return given("one_hot", pair[0], wanted), given("one_hot", pair[1], wanted)


def meshgrid(*args: TensorLike, indexing: str = "xy") -> list[Tensor]:
    """Return the coordinates of a grid: each vector repeated along the others' axes.

    Args:
        *args: A vector, or a scalar, for each axis.
        indexing: "xy" exchanges the first two axes, so that the first vector runs along
            the columns; "ij" has the vectors along the axes in order.

    Raises:
        ShapeError: If one has more than one axis.

    Example:
        >>> import gtape as gt
        >>> x, y = gt.meshgrid([1, 2, 3], [4, 5])
        >>> x.numpy()
        array([[1, 2, 3],
               [1, 2, 3]], dtype=int32)
    """
    order = one_of("meshgrid", "indexing", indexing, ("xy", "ij"))
    vectors = [given("meshgrid", v) for v in args]
    for i, v in enumerate(vectors):
        if v.ndim > 1:
            raise ShapeError(
                f"meshgrid: argument {i} has shape {tuple(v.shape)}",
                "Give vectors or scalars",
            )
    count = len(vectors)
    axes = list(builtins.range(count))
    if order == "xy" and count > 1:
        axes[:2] = 1, 0
    sizes = [math.prod(v.shape) for v in vectors]
    shape = [sizes[axes.index(i)] for i in builtins.range(count)]
    grids = []
    for i, v in enumerate(vectors):
        grids.append(
            broadcast_to(reshape(v, vector_shape(sizes[i], axes[i], count)), shape)
        )
    return grids
