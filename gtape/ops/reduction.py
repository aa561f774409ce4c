"""Mean, product, extrema, spread, norms and counts over axes; the sum stands in `linear`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import DTypeLike, Kind, NumpyDType, as_dtype, concrete
from gtape.errors import ArgumentError, ArgumentTypeError, DivisionError, DTypeError
from gtape.errors import ShapeError
from gtape.lowering import Fold
from gtape.ops.arithmetic import divide_no_nan, multiply_no_nan, square
from gtape.ops.arithmetic import pow as power
from gtape.ops.common import Axis, Tensor, TensorLike, as_ints, convert
from gtape.ops.common import normalize_axes, normalize_axis
from gtape.ops.linear import broadcast_to, cast, reduce_sum, stop_gradient, where
from gtape.ops.logic import equal, is_finite, logical_and, not_equal
from gtape.ops.math import abs as absolute
from gtape.ops.math import conj, is_complex
from gtape.ops.scanning import convert_inexact, cumprod, exp_difference, require_flag
from gtape.ops.scanning import wide, widened
from gtape.ops.shaping import expand_dims, reshape, transpose
from gtape.primitive import Primitive, VjpRule, boolean, floating, inexact, number, real
from gtape.spec import TensorSpec


def _reduced(primitive: Primitive, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Return a reduction of x over the axes, which stay with size 1 where wanted."""
    axes = normalize_axes(primitive.name, axis, x.ndim)
    out = apply(primitive, x, axes=axes)
    return _kept(primitive.name, out, axes, keepdims)


def _kept(name: str, out: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    return expand_dims(out, axes) if require_flag(name, "keepdims", keepdims) else out


def _count(x: Any, axes: Sequence[int]) -> Any:
    return math.prod([x.shape[i] for i in axes])


def _without_axes(x: TensorSpec, *, axes: tuple[int, ...]) -> TensorSpec:
    return x.without_axes(axes)


# --- Mean --------------------------------------------------------------------------------


def _mean_forward(x: Any, *, axes: tuple[int, ...]) -> Any:
    values = wide(x)
    out = np.add.reduce(values, axis=axes, dtype=values.dtype) / _count(x, axes)
    return out if values is x else out.astype(x.dtype)


_reduce_mean = Primitive(
    "reduce_mean",
    forward=_mean_forward,
    spec=_without_axes,
    vjp=lambda g, _out, _x, *, axes: (
        broadcast_to(expand_dims(g / _count(_x, axes), axes), _x.shape),
    ),
    lowering=Fold(identity=("0",), combine=("acc + x",), finish="acc / n"),
    operands=inexact,
)


def reduce_mean(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the mean of x over the given axes.

    Args:
        x: A tensor of numbers. A mean of integers stays an integer, rounded towards zero.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool.
        DivisionError: If it is a mean of no integers. That of no floats is NaN.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_mean([1., 2., 6.]).numpy(), gt.reduce_mean([1, 2]).numpy()
        (np.float32(3.0), np.int32(1))
    """
    x = convert(x)
    if x.dtype.kind not in "iu":
        return _reduced(_reduce_mean, x, axis, keepdims)
    axes = normalize_axes("reduce_mean", axis, x.ndim)
    total = reduce_sum(cast(x, "int64" if x.dtype.kind == "i" else "uint64"), axes)
    n = _count(x, axes)
    if n == 0 and total.shape.num_elements() != 0:
        raise DivisionError(
            f"reduce_mean: a mean of no integers, shape {tuple(x.shape)} over axes {axes}",
            "Cast to a float for NaN, or leave the empty tensor out",
        )
    mean = truncated_quotient(total, max(n, 1))
    return _kept("reduce_mean", cast(mean, x.dtype), axes, keepdims)


def truncated_quotient(x: Tensor, y: TensorLike) -> Tensor:
    """Return the quotient of integers rounded towards zero, for positive y."""
    if x.dtype.kind == "u":
        return x // y
    return where(x < 0, -(-x // y), x // y)


# --- Product -----------------------------------------------------------------------------


def _prod_forward(x: Any, *, axes: tuple[int, ...]) -> Any:
    values = wide(x)
    out = np.multiply.reduce(values, axis=axes, dtype=values.dtype)
    return out if values is x else out.astype(x.dtype)


def _prod_vjp(g: Any, _out: Any, x: Any, *, axes: tuple[int, ...]) -> tuple[Any, ...]:
    return (multiply_no_nan(_products_of_others(x, axes), expand_dims(g, axes)),)


def _products_of_others(x: Any, axes: tuple[int, ...]) -> Any:
    """Return for each element the product of those it is multiplied with, without division."""
    rest = [i for i in range(x.ndim) if i not in axes]
    order = [*rest, *axes]
    moved = transpose(x, order)
    flat = reshape(moved, [*[x.shape[i] for i in rest], _count(x, axes)])
    before = cumprod(flat, axis=-1, exclusive=True)
    after = cumprod(flat, axis=-1, exclusive=True, reverse=True)
    back = sorted(range(x.ndim), key=order.__getitem__)
    return transpose(reshape(before * after, moved.shape), back)


_reduce_prod = Primitive(
    "reduce_prod",
    forward=_prod_forward,
    spec=_without_axes,
    vjp=_prod_vjp,
    lowering=Fold(identity=("1",), combine=("acc * x",)),
    operands=number,
)


def reduce_prod(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the product of x over the given axes.

    The gradient is right where elements are zero, too.

    Args:
        x: A tensor of numbers.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_prod([[1., 2.], [3., 4.]], axis=1).numpy()
        array([ 2., 12.], dtype=float32)
    """
    return _reduced(_reduce_prod, convert(x), axis, keepdims)


# --- Extrema -----------------------------------------------------------------------------


def _extremum_vjp(
    g: Any, out: Any, x: Any, *, axes: tuple[int, ...]
) -> tuple[Any, ...]:
    hit = equal(x, expand_dims(out, axes))
    ties = reduce_sum(cast(hit, "float32"), axes)
    share = expand_dims(g / cast(ties, g.dtype), axes)
    return (where(hit, share, 0.0),)


def _extremum(name: str, ufunc: np.ufunc, start: str, combine: str) -> Primitive:
    def forward(x: Any, *, axes: tuple[int, ...]) -> Any:
        if x.size:
            return ufunc.reduce(x, axis=axes)
        return ufunc.reduce(x, axis=axes, initial=_end(x.dtype, start))

    return Primitive(
        name,
        forward=forward,
        spec=_without_axes,
        vjp=_extremum_vjp,
        lowering=Fold(identity=(start,), combine=(combine,)),
        operands=real,
    )


def _end(dtype: NumpyDType, which: str) -> Any:
    """Return the end of the range of a dtype, infinite for floats."""
    if dtype.kind in "fV":
        return dtype.type(-math.inf if which == "lowest" else math.inf)
    limits = as_dtype(dtype)
    return dtype.type(limits.min if which == "lowest" else limits.max)


_reduce_max = _extremum("reduce_max", np.maximum, "lowest", "maximum(acc, x)")
_reduce_min = _extremum("reduce_min", np.minimum, "highest", "minimum(acc, x)")


def reduce_max(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the greatest element of x over the given axes; NaN where there is a NaN.

    Equal greatest elements share the gradient evenly.

    Args:
        x: A tensor of real numbers. The maximum of nothing is -inf, or the least integer.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool or complex.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_max([[1., 5.], [3., 4.]], axis=1).numpy()
        array([5., 4.], dtype=float32)
    """
    return _reduced(_reduce_max, convert(x), axis, keepdims)


def reduce_min(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the least element of x over the given axes; NaN where there is a NaN.

    Equal least elements share the gradient evenly.

    Args:
        x: A tensor of real numbers. The minimum of nothing is inf, or the greatest integer.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool or complex.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_min([[1., 5.], [3., 4.]], axis=1).numpy()
        array([1., 3.], dtype=float32)
    """
    return _reduced(_reduce_min, convert(x), axis, keepdims)


# --- Logic -------------------------------------------------------------------------------


def _logical(name: str, ufunc: np.ufunc, start: str, combine: str) -> Primitive:
    return Primitive(
        name,
        forward=lambda x, *, axes: ufunc.reduce(x, axis=axes),
        spec=_without_axes,
        vjp=None,
        lowering=Fold(identity=(start,), combine=(combine,)),
        operands=boolean,
        why="a logical result has no gradient",
    )


_reduce_any = _logical("reduce_any", np.logical_or, "False", "acc or x")
_reduce_all = _logical("reduce_all", np.logical_and, "True", "acc and x")


def reduce_any(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return whether any element of x is true, over the given axes; of none: False.

    Args:
        x: A bool tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is not bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_any([[True, False], [False, False]], axis=1).numpy()
        array([ True, False])
    """
    return _reduced(_reduce_any, convert(x), axis, keepdims)


def reduce_all(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return whether all elements of x are true, over the given axes; of none: True.

    Args:
        x: A bool tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is not bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_all([[True, False], [True, True]], axis=1).numpy()
        array([False,  True])
    """
    return _reduced(_reduce_all, convert(x), axis, keepdims)


def count_nonzero(
    x: TensorLike, axis: Axis = None, keepdims: bool = False, dtype: DTypeLike = "int64"
) -> Tensor:
    """Return the number of elements that are not zero, or not False, over the given axes.

    Args:
        x: A tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.
        dtype: The dtype of the counts.

    Example:
        >>> import gtape as gt
        >>> gt.count_nonzero([[0., 1.], [2., 3.]], axis=1).numpy()
        array([1, 2])
    """
    x = convert(x)
    nonzero = x if x.dtype.kind == "b" else not_equal(x, 0)
    axes = normalize_axes("count_nonzero", axis, x.ndim)
    out = cast(reduce_sum(cast(nonzero, "int64"), axes), dtype)
    return _kept("count_nonzero", out, axes, keepdims)


# --- Logarithm of a sum of exponentials --------------------------------------------------


def _logsumexp_forward(x: Any, *, axes: tuple[int, ...]) -> Any:
    values = wide(x)
    top = np.maximum.reduce(values, axis=axes, keepdims=True, initial=-math.inf)
    top = np.where(np.isfinite(top), top, 0).astype(values.dtype)
    total = np.add.reduce(np.exp(values - top), axis=axes, dtype=values.dtype)
    return (np.log(total) + top.reshape(total.shape)).astype(x.dtype, copy=False)


def _logsumexp_vjp(
    g: Any, out: Any, x: Any, *, axes: tuple[int, ...]
) -> tuple[Any, ...]:
    # The shares do not change when the logarithm is rounded: they are divided by their sum. So
    # they do not depend on it, and several infinities share evenly.
    parts = exp_difference(x, expand_dims(stop_gradient(out), axes))
    shares = divide_no_nan(parts, expand_dims(reduce_sum(parts, axes), axes))
    return (multiply_no_nan(shares, expand_dims(g, axes)),)


_reduce_logsumexp = Primitive(
    "reduce_logsumexp",
    forward=_logsumexp_forward,
    spec=_without_axes,
    vjp=_logsumexp_vjp,
    lowering=Fold(
        # The greatest element so far, and the sum of e**(x - greatest).
        identity=("lowest", "0"),
        combine=(
            "maximum(acc0, x)",
            "acc1 if x == -inf else (acc1 + exp(x - acc0) if x < acc0 else "
            "(acc1 + 1 if x == acc0 else acc1 * exp(acc0 - x) + 1))",
        ),
        finish="acc0 + log(acc1)",
    ),
    operands=floating,
)


def reduce_logsumexp(
    x: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return log(sum(exp(x))) over the given axes, without overflow.

    Where all elements are -inf the result is -inf, with gradient 0.

    Args:
        x: A floating-point tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is not floating-point.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_logsumexp([1000., 1000.]).numpy().round(2)
        np.float32(1000.69)
    """
    return _reduced(_reduce_logsumexp, convert_inexact(x), axis, keepdims)


# --- Spread ------------------------------------------------------------------------------


def _deviations(name: str, x: TensorLike, axis: Axis) -> tuple[Any, Any, Any]:
    """Return x, its differences from the mean in a wide dtype, and the axes."""
    x = convert_inexact(x)
    if x.dtype.kind in "iub":
        raise DTypeError(
            f"{name} needs a floating-point dtype, got {as_dtype(x.dtype)}",
            "Cast first: gt.cast(x, gt.float32)",
        )
    axes = normalize_axes(name, axis, x.ndim)
    values = widened(x)
    return x, values - reduce_mean(values, axes, keepdims=True), axes


def reduce_variance(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the mean of abs(x - mean(x)) ** 2 over the given axes.

    Args:
        x: A floating-point or complex tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is integer or bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_variance([1., 2., 3., 4.]).numpy()
        np.float32(1.25)
    """
    x, away, axes = _deviations("reduce_variance", x, axis)
    squares = square(absolute(away) if is_complex(away) else away)
    out = cast(reduce_mean(squares, axes), as_dtype(x.dtype).real_dtype)
    return _kept("reduce_variance", out, axes, keepdims)


def reduce_std(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the square root of the variance of x over the given axes.

    The gradient is 0 where all elements are equal.

    Args:
        x: A floating-point or complex tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is integer or bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_std([1., 3.]).numpy()
        np.float32(1.0)
    """
    x, away, axes = _deviations("reduce_std", x, axis)
    spread = apply(_reduce_euclidean_norm, away, axes=axes)
    out = spread / math.sqrt(_count(x, axes))
    out = cast(out, as_dtype(x.dtype).real_dtype)
    return _kept("reduce_std", out, axes, keepdims)


# --- Norms -------------------------------------------------------------------------------


def _norm_forward(x: Any, *, axes: tuple[int, ...]) -> Any:
    values = np.abs(x) if x.dtype.kind == "c" else x
    target = values.dtype
    # Squares of all 16- and 32-bit floats fit into float64.
    values = values.astype(np.float64, copy=False)
    out = np.sqrt(np.add.reduce(np.square(values), axis=axes))
    if target == np.float64 and np.any((out < 1e-140) | (out > 1e150)):
        top = np.maximum.reduce(np.abs(values), axis=axes, keepdims=True, initial=0)
        top = np.where(np.isfinite(top) & (top > 0), top, 1)
        total = np.add.reduce(np.square(values / top), axis=axes)
        out = np.sqrt(total) * top.reshape(total.shape)
    return out.astype(target, copy=False)


def _norm_vjp(g: Any, out: Any, x: Any, *, axes: tuple[int, ...]) -> tuple[Any, ...]:
    direction = divide_no_nan(conj(x), expand_dims(out, axes))
    return (multiply_no_nan(direction, expand_dims(g, axes)),)


_reduce_euclidean_norm = Primitive(
    "reduce_euclidean_norm",
    forward=_norm_forward,
    spec=lambda x, *, axes: x.without_axes(axes).with_dtype(x.dtype.real_dtype),
    vjp=_norm_vjp,
    lowering=Fold(
        # The greatest magnitude so far, and the sum of (abs(x) / greatest) ** 2.
        identity=("0", "0"),
        combine=(
            "maximum(acc0, abs(x))",
            "acc1 if x == 0 else (acc1 * (acc0 / abs(x)) ** 2 + 1 if abs(x) > acc0 "
            "else (acc1 + 1 if abs(x) == acc0 else acc1 + (abs(x) / acc0) ** 2))",
        ),
        finish="acc0 * sqrt(acc1)",
    ),
    operands=inexact,
)


def reduce_euclidean_norm(
    x: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return sqrt(sum(abs(x) ** 2)) over the given axes, without overflow or underflow.

    The gradient is 0 where all elements are 0.

    Args:
        x: A tensor of numbers. A norm of integers stays an integer, rounded down.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_euclidean_norm([3., 4.]).numpy()
        np.float32(5.0)
    """
    x = convert(x)
    if x.dtype.kind not in "iu":
        return _reduced(_reduce_euclidean_norm, x, axis, keepdims)
    out = _reduced(_reduce_euclidean_norm, cast(x, "float64"), axis, keepdims)
    return cast(out, x.dtype)


def norm(
    tensor: TensorLike,
    ord: float | str = "euclidean",
    axis: Axis = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the norm of vectors or matrices, a real number for each.

    Args:
        tensor: A floating-point or complex tensor.
        ord: For vectors "euclidean" or 2, 1, inf, or a positive p for
            sum(abs(x) ** p) ** (1 / p). For matrices "fro" or "euclidean", 1 for the greatest
            column sum, inf for the greatest row sum.
        axis: One axis for vectors, a pair (rows, columns) for matrices; by default all elements
            are one vector.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        ArgumentError: If there is no such norm.

    Example:
        >>> import gtape as gt
        >>> gt.norm([[3., 4.], [0., 5.]], axis=1).numpy(), gt.norm([3., -4.], ord=1).numpy()
        (array([5., 5.], dtype=float32), np.float32(7.0))
    """
    x = convert_inexact(tensor)
    pair = axis is not None and len(as_ints("norm", "axis", axis)) == 2
    which = _norm_order(ord, pair)
    if which == 2:
        norm_of = reduce_euclidean_norm if x.dtype.kind in "fc" else _refused
        return norm_of(x, axis, keepdims)
    if pair:
        return _matrix_norm(x, which, axis, keepdims)
    if axis is not None and len(as_ints("norm", "axis", axis)) != 1:
        raise ArgumentError(
            f"norm: axis {axis!r} is neither one axis nor a pair",
            "Give an int for vectors, two for matrices, or None for all elements",
        )
    if which == 1:
        return reduce_sum(absolute(x), axis, keepdims)
    if which == math.inf:
        return reduce_max(absolute(x), axis, keepdims)
    return _p_norm(x, which, axis, keepdims)


def _refused(x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    raise DTypeError(
        f"norm needs a floating-point dtype, got {as_dtype(x.dtype)}",
        "Cast first: gt.cast(x, gt.float32)",
    )


def _norm_order(ord: Any, matrices: bool) -> float:
    """Return the order of a norm as a number, 2 for the one of squares.

    Raises:
        ArgumentError: If there is no such norm.
    """
    if isinstance(ord, str) and ord in ("euclidean", "fro"):
        return 2
    order = math.nan
    if isinstance(ord, (int, float, np.integer, np.floating)) and ord is not True:
        order = float(ord)
    if matrices and order == 2:
        raise ArgumentError(
            "norm: ord 2 of matrices is their greatest singular value",
            "Use gt.reduce_max(gt.linalg.svd(x, compute_uv=False), -1), or ord='fro' for "
            "the root of the sum of squares",
        )
    if not order > 0 or (matrices and order not in (1, math.inf)):
        kind, known = (
            ("matrices", "'fro', 'euclidean', 1 or inf")
            if matrices
            else ("vectors", "'euclidean', 1, 2, inf or another positive number")
        )
        raise ArgumentError(
            f"norm: ord {ord!r} is no norm of {kind}", f"Use {known}"
        )
    return order


def _matrix_norm(x: Tensor, order: float, axis: Any, keepdims: bool) -> Tensor:
    rows, columns = (
        normalize_axis("norm", a, x.ndim) for a in as_ints("norm", "axis", axis)
    )
    axes = normalize_axes("norm", (rows, columns), x.ndim)
    summed, other = (rows, columns) if order == 1 else (columns, rows)
    sums = reduce_sum(absolute(x), summed, keepdims=True)
    out = reduce_max(sums, other, keepdims=True)
    if require_flag("norm", "keepdims", keepdims):
        return out
    return reshape(out, [d for i, d in enumerate(x.shape) if i not in axes])


def _p_norm(x: Tensor, p: float, axis: Axis, keepdims: bool) -> Tensor:
    axes = normalize_axes("norm", axis, x.ndim)
    sizes = absolute(x)
    top = stop_gradient(reduce_max(sizes, axes, keepdims=True))
    usable = logical_and(is_finite(top), top > 0)
    top = where(usable, top, 1.0)
    total = reduce_sum(power(sizes / top, p), axes, keepdims=True)
    # At zero the root is steep: its gradient stays out.
    zero = equal(total, 0)
    root = power(where(zero, 1.0, total), 1 / p)
    out = where(zero, 0.0, root * top)
    if require_flag("norm", "keepdims", keepdims):
        return out
    return reshape(out, [d for i, d in enumerate(x.shape) if i not in axes])


# --- Places of extrema -------------------------------------------------------------------


def _ordered(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    d = concrete(kinds[0])
    if d.kind == "c":
        raise DTypeError(
            f"{name}: {as_dtype(d)} numbers have no order", "Take gt.abs first"
        )
    return (d,)


def _argument(
    name: str, function: Callable[..., Any], start: str, beats: str
) -> Primitive:
    def forward(x: Any, *, axes: tuple[int, ...], dtype: NumpyDType) -> Any:
        return function(x, axis=axes[0]).astype(dtype)

    taken = f"(x {beats} acc0 or isnan(x)) and not isnan(acc0)"
    return Primitive(
        name,
        forward=forward,
        spec=lambda x, *, axes, dtype: x.without_axes(axes).with_dtype(dtype),
        vjp=None,
        lowering=Fold(
            identity=(start, "0"),
            combine=(f"x if {taken} else acc0", f"j if {taken} else acc1"),
            finish="acc1",
        ),
        operands=_ordered,
        why="the place of an extremum is an integer, which has no gradient",
    )


_argmax = _argument("argmax", np.argmax, "lowest", ">")
_argmin = _argument("argmin", np.argmin, "highest", "<")


def _place(
    primitive: Primitive, x: TensorLike, axis: int | None, dtype: DTypeLike
) -> Tensor:
    name = primitive.name
    x = convert(x)
    place = normalize_axis(name, 0 if axis is None else axis, x.ndim)
    target = as_dtype(dtype)
    if not target.is_integer:
        raise DTypeError(
            f"{name}: output_type {target} is not an integer dtype",
            "Use int64 or int32",
        )
    if x.shape[place] == 0:
        raise ShapeError(
            f"{name}: axis {place} of shape {tuple(x.shape)} is empty",
            "Give at least one element to choose from",
        )
    return apply(primitive, x, axes=(place,), dtype=target.dtype)


def argmax(
    x: TensorLike, axis: int | None = None, output_type: DTypeLike = "int64"
) -> Tensor:
    """Return the place of the greatest element along an axis, the first one of equals.

    A NaN counts as the greatest. There is no gradient.

    Args:
        x: A tensor of real numbers or bools.
        axis: The axis; the first one by default.
        output_type: The integer dtype of the result.

    Raises:
        ShapeError: If x has no such axis, or it is empty.

    Example:
        >>> import gtape as gt
        >>> gt.argmax([[1., 5.], [3., 4.]], axis=1).numpy()
        array([1, 1])
    """
    return _place(_argmax, x, axis, output_type)


def argmin(
    x: TensorLike, axis: int | None = None, output_type: DTypeLike = "int64"
) -> Tensor:
    """Return the place of the least element along an axis, the first one of equals.

    A NaN counts as the least. There is no gradient.

    Args:
        x: A tensor of real numbers or bools.
        axis: The axis; the first one by default.
        output_type: The integer dtype of the result.

    Raises:
        ShapeError: If x has no such axis, or it is empty.

    Example:
        >>> import gtape as gt
        >>> gt.argmin([[1., 5.], [3., 4.]], axis=1).numpy()
        array([0, 0])
    """
    return _place(_argmin, x, axis, output_type)
