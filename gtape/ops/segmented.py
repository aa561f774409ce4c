"""What the segment functions are made of: slices combined into the rows of a result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import as_dtype
from gtape.errors import (
    ArgumentError,
    DTypeError,
    IndexRangeError,
    ShapeError,
)
from gtape.lowering import Custom, Scatter
from gtape.ops.arithmetic import divide, divide_no_nan, multiply_no_nan
from gtape.ops.common import (
    Tensor,
    TensorLike,
    as_count,
    convert,
    numpy_dtype_of,
    vector_shape,
)
from gtape.ops.extrema import maximum
from gtape.ops.indices import OutsideError, index, index_add, on_outside
from gtape.ops.known import known_array, open_size
from gtape.ops.linear import broadcast_to, cast, where
from gtape.ops.logic import equal, logical_not
from gtape.ops.math import sqrt
from gtape.ops.precision import wide, widened
from gtape.ops.reduction import truncated_quotient
from gtape.ops.scanning import linear_recurrence, shifted
from gtape.ops.shaping import reshape
from gtape.ops.slicing import block
from gtape.primitive import OperandRule, Primitive, VjpRule, indexed, number, real
from gtape.spec import TensorSpec

Combine = Callable[[Tensor, Tensor, int], Tensor]
"""From data, the row of each of its slices and the number of rows to the result."""

# --- Arguments ------------------------------------------------------------------------


def converted(name: str, data: TensorLike, ids: TensorLike) -> tuple[Tensor, Tensor]:
    """Return data and the integers that say where its slices belong."""
    data, ids = convert(data), convert(ids)
    if ids.dtype.kind not in "iu":
        raise DTypeError(
            f"{name}: segment ids must be integers, got {as_dtype(ids.dtype)}",
            "Cast them to int32 or int64",
        )
    number(name, (numpy_dtype_of(data),))
    return data, ids


def _count(
    ids: Any, *, name: str, ascending: bool, least: int, most: int | None
) -> int:
    """Return how many rows there are, from an array of ids."""
    if ascending and ids.size and (ids[0] < 0 or np.any(ids[1:] < ids[:-1])):
        raise ArgumentError(
            f"{name}: segment ids {ids.tolist()[:8]} are not sorted from 0 on",
            f"Sort the data by them, or use gt.unsorted_{name} with num_segments",
        )
    if ids.size and ids.min() < 0:
        raise ArgumentError(
            f"{name}: {ids.min()} is negative", "Count integers from 0 on"
        )
    count = max(int(ids.max()) + 1 if ids.size else 0, least)
    return count if most is None else min(count, most)


_rows = Primitive(
    "segment_rows",
    forward=lambda ids, **attrs: np.arange(_count(ids, **attrs)),
    spec=lambda ids, **attrs: TensorSpec((open_size(),), "int64"),
    vjp=None,
    lowering=Custom("segment_rows"),
    why="it counts",
)


def number_of_rows(
    name: str, ids: Tensor, ascending: bool, least: int = 0, most: int | None = None
) -> int:
    """Return how many rows there must be for ids, which depends on their values.

    Args:
        name: The operation, for messages.
        ids: Integers.
        ascending: Whether they must ascend from 0 on.
        least: The least number.
        most: The greatest.

    Raises:
        ArgumentError: If an id is negative, or they do not ascend where they should.
    """
    array = known_array(ids)
    if array is not None:
        return _count(array, name=name, ascending=ascending, least=least, most=most)
    # A vector whose length is the number of rows: so a trace has a size for it.
    rows = apply(_rows, ids, name=name, ascending=ascending, least=least, most=most)
    return rows.shape[0]  # type: ignore[no-any-return]


def sorted_arguments(
    name: str, data: TensorLike, ids: TensorLike
) -> tuple[Tensor, Tensor, int]:
    """Return the data, the row of each slice, and their number, from sorted ids."""
    data, ids = converted(name, data, ids)
    if ids.ndim != 1 or data.ndim < 1 or data.shape[0] != ids.shape[0]:
        raise ShapeError(
            f"{name}: segment ids of shape {tuple(ids.shape)} for data of shape "
            f"{tuple(data.shape)}",
            "Give one id for each slice of the data along its first axis",
        )
    return data, ids, number_of_rows(name, ids, ascending=True)


def on_unsorted(
    name: str,
    data: TensorLike,
    ids: TensorLike,
    num_segments: TensorLike,
    combine: Combine,
) -> Tensor:
    """Return combine(data, rows, count) without row 0, into which negative ids fall."""
    data, ids = converted(name, data, ids)
    count = as_count(name, "num_segments", num_segments)
    rank = ids.ndim
    if tuple(data.shape[:rank]) != tuple(ids.shape):
        raise ShapeError(
            f"{name}: segment ids of shape {tuple(ids.shape)} for data of shape "
            f"{tuple(data.shape)}",
            "The shape of the data must start with that of the ids",
        )
    rows = maximum(cast(reshape(ids, [math.prod(ids.shape)]), "int64"), -1) + 1
    slices = reshape(data, [*rows.shape, *data.shape[rank:]])

    def said(error: OutsideError) -> IndexRangeError:
        return IndexRangeError(
            f"{name}: segment id {error.value - 1} is not below num_segments "
            f"{error.size - 1}",
            "Use ids from 0 on; negative ones leave their slice out",
            error.origin,
        )

    with on_outside(said):
        out = combine(slices, rows, count + 1)
    return block(out, 0, 1, count)


# --- Primitives: a base, data that are combined into its rows, and the rows -----------


def _segmented(
    name: str, ufunc: np.ufunc, vjp: VjpRule, rule: OperandRule, combine: str
) -> Primitive:
    def forward(base: Any, data: Any, rows: Any) -> Any:
        out = np.array(wide(base))
        ufunc.at(out, rows, wide(data))
        return out.astype(base.dtype, copy=False)

    def operands(name: str, kinds: Any) -> Any:
        return (*rule(name, kinds[:2]), indexed(name, kinds[1:])[1])

    return Primitive(
        name,
        forward=forward,
        spec=_segmented_spec,
        vjp=vjp,
        lowering=Scatter(combine),
        operands=operands,
    )


def _segmented_spec(base: TensorSpec, data: TensorSpec, rows: TensorSpec) -> TensorSpec:
    if rows.rank != 1 or tuple(data.shape) != (*rows.shape, *base.shape[1:]):
        raise ShapeError(
            f"data of shape {tuple(data.shape)} in rows {tuple(rows.shape)} of "
            f"a result of shape {tuple(base.shape)}",
            "Give one row for each slice of the data",
        )
    return base


def _extremum_vjp(g: Any, out: Any, base: Any, data: Any, rows: Any) -> tuple[Any, ...]:
    hit, hit_base = equal(data, index(out, (rows,), (0,))), equal(base, out)
    ties = index_add(cast(hit, "float32"), (rows,), (0,), out.shape)
    share = divide_no_nan(g, cast(ties + cast(hit_base, "float32"), g.dtype))
    return (
        lambda: where(hit_base, share, 0.0),
        lambda: where(hit, index(share, (rows,), (0,)), 0.0),
        None,
    )


_segment_max = _segmented(
    "segment_max", np.maximum, _extremum_vjp, real, "maximum(acc, x)"
)
_segment_min = _segmented(
    "segment_min", np.minimum, _extremum_vjp, real, "minimum(acc, x)"
)


def _prod_vjp(g: Any, _out: Any, base: Any, data: Any, rows: Any) -> tuple[Any, ...]:
    def start() -> Any:
        one = broadcast_to(numpy_dtype_of(base).type(1), base.shape)
        return g * apply(_segment_prod, one, data, rows)

    def values() -> Any:
        upstream = index(g * base, (rows,), (0,))
        return multiply_no_nan(_products_of_others(data, rows), upstream)

    return start, values, None


def _products_of_others(data: Any, rows: Any) -> Any:
    """Return for each slice the product of the others in its row; rows are sorted."""

    def product(by: int) -> Any:
        same = equal(rows, shifted(rows, 0, by, -1))
        same = reshape(same, vector_shape(data.shape[0], 0, data.ndim))
        start = broadcast_to(cast(logical_not(same), data.dtype), data.shape)
        factors = where(same, shifted(data, 0, by), 0.0)
        return linear_recurrence(factors, start, 0, reverse=by < 0)

    return product(1) * product(-1)


_segment_prod = _segmented("segment_prod", np.multiply, _prod_vjp, number, "acc * x")

_segment_order = Primitive(
    "segment_order",
    forward=lambda rows: np.argsort(rows, kind="stable"),
    spec=lambda rows: rows.with_dtype("int64"),
    vjp=None,
    lowering=Custom("argsort"),
    why="an order is a list of integers, which has no gradient",
)

# --- Combinations ---------------------------------------------------------------------


def total(data: Tensor, rows: Tensor, count: int) -> Tensor:
    """Return the sum of each row; one without slices is 0."""
    return index_add(data, (rows,), (0,), (count, *data.shape[1:]), wrap=False)


def _counts(data: Tensor, rows: Tensor, count: int) -> Tensor:
    """Return the number of slices in each row, in a shape that broadcasts with them."""
    found = total(cast(rows >= 0, "int64"), rows, count)
    return reshape(found, vector_shape(count, 0, data.ndim))


def integer_mean(data: Tensor, rows: Tensor, count: int) -> Tensor:
    """Return the mean of each row of integers, rounded towards zero; of no slices 0."""
    sums = total(cast(data, "int64"), rows, count)
    n = maximum(_counts(data, rows, count), 1)
    return cast(truncated_quotient(sums, n), data.dtype)


def mean(data: Tensor, rows: Tensor, count: int) -> Tensor:
    """Return the mean of each row, float64 for integers; one without slices is 0."""
    sums = total(widened(data), rows, count)
    n = maximum(_counts(data, rows, count), 1)
    if data.dtype.kind in "iu":
        return divide(sums, n)
    return cast(sums / cast(n, sums.dtype), data.dtype)


def over_root(data: Tensor, rows: Tensor, count: int) -> Tensor:
    """Return the sum of each row divided by the square root of its number of slices."""
    sums = total(widened(data), rows, count)
    n = maximum(_counts(data, rows, count), 1)
    if data.dtype.kind in "iu":
        return divide(sums, sqrt(cast(n, "float64")))
    root = sqrt(cast(n, as_dtype(sums.dtype).real_dtype))
    return cast(sums / root, data.dtype)


def greatest(name: str, empty: float | None) -> Combine:
    """Return the combination to the greatest slice; of none `empty`, or lowest."""
    return _extremum(name, _segment_max, -math.inf, "min", empty)


def least(name: str, empty: float | None) -> Combine:
    """Return the combination to the least slice; of none `empty`, or highest."""
    return _extremum(name, _segment_min, math.inf, "max", empty)


def _extremum(
    name: str, primitive: Primitive, end: float, limit: str, empty: float | None
) -> Combine:
    def combine(data: Tensor, rows: Tensor, count: int) -> Tensor:
        dtype = numpy_dtype_of(data)
        real(name, (dtype,))
        last = getattr(as_dtype(dtype), limit)
        start = dtype.type(end if as_dtype(dtype).is_floating else last)
        base = broadcast_to(start, (count, *data.shape[1:]))
        missing = equal(_counts(data, rows, count), 0)
        out = apply(primitive, base, data, rows)
        return where(missing, dtype.type(last if empty is None else empty), out)

    return combine


def product(data: Tensor, rows: Tensor, count: int) -> Tensor:
    """Return the product of each row, from sorted rows; one without slices is 1."""
    one = broadcast_to(numpy_dtype_of(data).type(1), (count, *data.shape[1:]))
    return apply(_segment_prod, one, data, rows)


def sorted_product(data: Tensor, rows: Tensor, count: int) -> Tensor:
    """Return the product of each row; one without slices is 1."""
    _counts(data, rows, count)  # refuses rows out of range
    order = apply(_segment_order, rows)
    return product(index(data, (order,), (0,)), index(rows, (order,), (0,)), count)
