"""Running sums, products and extrema along an axis, and a linear recurrence.

No rule divides by its input: the gradient of a running product is a first-order linear
recurrence, which is a scan as well and closed under its own gradient.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.errors import ShapeError
from gtape.lowering import Custom
from gtape.ops.common import (
    Tensor,
    TensorLike,
    convert,
    normalize_axis,
    require_flag,
    same_spec,
)
from gtape.ops.creation import positions
from gtape.ops.indices import index_add
from gtape.ops.linear import where
from gtape.ops.logic import not_equal
from gtape.ops.precision import wide
from gtape.ops.slicing import block, embed
from gtape.primitive import OperandRule, Primitive, VjpRule, number, real
from gtape.spec import TensorSpec

# --- What all scans share -------------------------------------------------------------


def shifted(x: Tensor, axis: int, by: int, fill: float = 0) -> Tensor:
    """Return out[i] = x[i - by] along an axis, the fill where there is no such element.

    Args:
        x: A tensor.
        axis: The axis, counted from the front.
        by: 1 or -1.
        fill: The value of the element that comes in.
    """
    size = x.shape[axis]
    if size == 0:
        return x
    kept = block(x, axis, max(-by, 0), size - 1)
    starts = [max(by, 0) if i == axis else 0 for i in range(x.ndim)]
    return embed(kept, x.shape, starts, (1,) * x.ndim, fill)


def ahead_of(reverse: bool) -> int:
    """The step from an element to the next one of the scan."""
    return -1 if reverse else 1


# --- The declaration of a scan --------------------------------------------------------


def scan(
    name: str, ufunc: np.ufunc, vjp: VjpRule, operands: OperandRule = number
) -> Primitive:
    """Return the primitive out[i] = ufunc(out[i - 1], x[i]) along an attribute axis."""

    def forward(x: Any, *, axis: int, reverse: bool) -> Any:
        flip = (slice(None),) * axis + (slice(None, None, -1 if reverse else None),)
        values = wide(x)[flip]
        out = ufunc.accumulate(values, axis=axis, dtype=values.dtype)
        return out[flip].astype(x.dtype, copy=False)

    return Primitive(
        name,
        forward=forward,
        spec=same_spec,
        vjp=vjp,
        lowering=Custom(name),
        operands=operands,
    )


def run_scan(
    primitive: Primitive, x: Tensor, axis: int, exclusive: Any, reverse: Any, fill: Any
) -> Tensor:
    """Return a scan of x; an exclusive one starts with the fill."""
    name = primitive.name
    place = normalize_axis(name, axis, x.ndim)
    back = require_flag(name, "reverse", reverse)
    out = apply(primitive, x, axis=place, reverse=back)
    if require_flag(name, "exclusive", exclusive):
        out = shifted(out, place, ahead_of(back), fill)
    return out


# --- Sum ------------------------------------------------------------------------------


def _cumsum_vjp(
    g: Any, _out: Any, _x: Any, *, axis: int, reverse: bool
) -> tuple[Any, ...]:
    return (apply(_cumsum, g, axis=axis, reverse=not reverse),)


_cumsum = scan("cumsum", np.add, vjp=_cumsum_vjp)


def cumsum(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    """Return the running sum along an axis: out[i] = x[0] + ... + x[i].

    Args:
        x: A tensor of numbers.
        axis: The axis to run along.
        exclusive: Whether x[i] itself is left out of out[i], so that out[0] is 0.
        reverse: Whether the sum runs from the end.

    Raises:
        ShapeError: If x has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.cumsum([1, 2, 3]).numpy(), gt.cumsum([1, 2, 3], exclusive=True).numpy()
        (array([1, 3, 6], dtype=int32), array([0, 1, 3], dtype=int32))
    """
    return run_scan(_cumsum, convert(x), axis, exclusive, reverse, 0)


# --- Linear recurrence ----------------------------------------------------------------

_NARROW = 24
"""Below this many columns a loop over Python numbers is faster than one over rows."""


def _recurrence_spec(
    a: TensorSpec, b: TensorSpec, *, axis: int, reverse: bool
) -> TensorSpec:
    if tuple(a.shape) != tuple(b.shape):
        raise ShapeError(
            f"linear_recurrence: factors of shape {tuple(a.shape)} for terms of shape "
            f"{tuple(b.shape)}",
            "Give both one shape",
        )
    return b


def _recurrence_forward(a: Any, b: Any, *, axis: int, reverse: bool) -> Any:
    if a.shape != b.shape:
        raise ValueError("the shapes differ")
    flip = slice(None, None, -1 if reverse else None)
    factors = np.moveaxis(wide(a), axis, 0)[flip]
    terms = np.moveaxis(wide(b), axis, 0)[flip]
    out = np.empty(terms.shape, terms.dtype)
    steps, width = len(terms), math.prod(terms.shape[1:])
    if steps and width < _NARROW:
        columns = [
            _column(p, q)
            for p, q in zip(
                factors.reshape(steps, width).T.tolist(),
                terms.reshape(steps, width).T.tolist(),
                strict=True,
            )
        ]
        out[...] = np.array(columns, dtype=out.dtype).T.reshape(out.shape)
    else:
        for i in range(steps):
            out[i] = terms[i] + factors[i] * out[i - 1] if i else terms[0]
    return np.moveaxis(out[flip], 0, axis).astype(b.dtype, copy=False)


def _column(factors: list[Any], terms: list[Any]) -> list[Any]:
    value = terms[0]
    out = [value]
    for i in range(1, len(terms)):
        value = terms[i] + factors[i] * value
        out.append(value)
    return out


def _recurrence_vjp(
    g: Any, out: Any, a: Any, _b: Any, *, axis: int, reverse: bool
) -> tuple[Any, ...]:
    ahead = ahead_of(reverse)
    terms = linear_recurrence(shifted(a, axis, -ahead), g, axis, not reverse)
    return lambda: terms * shifted(out, axis, ahead), terms


_linear_recurrence = Primitive(
    "linear_recurrence",
    forward=_recurrence_forward,
    spec=_recurrence_spec,
    vjp=_recurrence_vjp,
    lowering=Custom("linear_recurrence"),
    operands=number,
)


def linear_recurrence(a: Tensor, b: Tensor, axis: int, reverse: bool = False) -> Tensor:
    """Return out[i] = b[i] + a[i] * out[i - 1] along an axis; out[0] = b[0].

    Args:
        a: The factors; the first one is not read.
        b: The terms, of the same shape.
        axis: The axis, counted from the front.
        reverse: Whether it runs from the end, with out[i + 1] for out[i - 1].
    """
    return apply(_linear_recurrence, a, b, axis=axis, reverse=reverse)


# --- Product --------------------------------------------------------------------------


def _cumprod_vjp(
    g: Any, out: Any, x: Any, *, axis: int, reverse: bool
) -> tuple[Any, ...]:
    # d out[i] / d x[j] = (product before j) * (product of those after j, up to i). The
    # second factor times g[i], summed over i, obeys h[j] = g[j] + x[j + 1] * h[j + 1].
    ahead = ahead_of(reverse)
    before = shifted(out, axis, ahead, 1)
    return (before * linear_recurrence(shifted(x, axis, -ahead), g, axis, not reverse),)


_cumprod = scan("cumprod", np.multiply, vjp=_cumprod_vjp)


def cumprod(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    """Return the running product along an axis: out[i] = x[0] * ... * x[i].

    The gradient is right where elements are zero, too.

    Args:
        x: A tensor of numbers.
        axis: The axis to run along.
        exclusive: Whether x[i] itself is left out of out[i], so that out[0] is 1.
        reverse: Whether the product runs from the end.

    Raises:
        ShapeError: If x has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.cumprod([2, 3, 4]).numpy(), gt.cumprod([2, 3, 4], reverse=True).numpy()
        (array([ 2,  6, 24], dtype=int32), array([24, 12,  4], dtype=int32))
    """
    return run_scan(_cumprod, convert(x), axis, exclusive, reverse, 1)


# --- Extrema --------------------------------------------------------------------------


def _extremum_vjp(
    g: Any, out: Any, _x: Any, *, axis: int, reverse: bool
) -> tuple[Any, ...]:
    # Where the result changes a new element took over; it stays until the next does.
    size, rank = _x.shape[axis], len(_x.shape)
    here = positions(size, axis, rank)
    starts = not_equal(out, shifted(out, axis, ahead_of(reverse)))
    if reverse:
        leader = apply(_cummin, where(starts, here, size - 1), axis=axis, reverse=True)
    else:
        leader = apply(_cummax, where(starts, here, 0), axis=axis, reverse=False)
    indices = [
        leader if i == axis else positions(d, i, rank) for i, d in enumerate(_x.shape)
    ]
    return (index_add(g, indices, range(rank), _x.shape),)


_cummax = scan("cummax", np.maximum, vjp=_extremum_vjp, operands=real)
_cummin = scan("cummin", np.minimum, vjp=_extremum_vjp, operands=real)


def cummax(x: TensorLike, axis: int = 0, reverse: bool = False) -> Tensor:
    """Return the running maximum along an axis: out[i] = max(x[0], ..., x[i]).

    The gradient goes to the element that is the maximum, to the first one of equals.

    Args:
        x: A tensor of real numbers.
        axis: The axis to run along.
        reverse: Whether it runs from the end.

    Raises:
        ShapeError: If x has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.cummax([1, 3, 2, 4]).numpy()
        array([1, 3, 3, 4], dtype=int32)
    """
    return run_scan(_cummax, convert(x), axis, False, reverse, 0)


def cummin(x: TensorLike, axis: int = 0, reverse: bool = False) -> Tensor:
    """Return the running minimum along an axis: out[i] = min(x[0], ..., x[i]).

    The gradient goes to the element that is the minimum, to the first one of equals.

    Args:
        x: A tensor of real numbers.
        axis: The axis to run along.
        reverse: Whether it runs from the end.

    Raises:
        ShapeError: If x has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.cummin([3, 1, 2]).numpy()
        array([3, 1, 1], dtype=int32)
    """
    return run_scan(_cummin, convert(x), axis, False, reverse, 0)
