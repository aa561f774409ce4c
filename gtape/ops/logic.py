"""Comparisons, logic, bits and tests of numbers; none has a gradient."""

from __future__ import annotations

import numpy as np

from gtape.dtypes import Kind, NumpyDType
from gtape.ops.common import Tensor, TensorLike, elementwise
from gtape.primitive import boolean, integer, number, real, same

_NO_GRADIENT = "a comparison or logical result has no gradient"


@elementwise(np.equal, "x == y", None, same, dtype="bool", why=_NO_GRADIENT)
def equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x == y.

    Example:
        >>> import gtape as gt
        >>> gt.equal([1, 2], 2).numpy()
        array([False,  True])
    """


@elementwise(np.not_equal, "x != y", None, same, dtype="bool", why=_NO_GRADIENT)
def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x != y.

    Example:
        >>> import gtape as gt
        >>> gt.not_equal([1, 2], 2).numpy()
        array([ True, False])
    """


@elementwise(np.less, "x < y", None, real, dtype="bool", why=_NO_GRADIENT)
def less(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x < y.

    Example:
        >>> import gtape as gt
        >>> gt.less([1, 2], 2).numpy()
        array([ True, False])
    """


@elementwise(np.less_equal, "x <= y", None, real, dtype="bool", why=_NO_GRADIENT)
def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x <= y.

    Example:
        >>> import gtape as gt
        >>> gt.less_equal([1, 3], 2).numpy()
        array([ True, False])
    """


@elementwise(np.greater, "x > y", None, real, dtype="bool", why=_NO_GRADIENT)
def greater(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x > y.

    Example:
        >>> import gtape as gt
        >>> gt.greater([1, 3], 2).numpy()
        array([False,  True])
    """


@elementwise(np.greater_equal, "x >= y", None, real, dtype="bool", why=_NO_GRADIENT)
def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x >= y.

    Example:
        >>> import gtape as gt
        >>> gt.greater_equal([1, 2], 2).numpy()
        array([False,  True])
    """


@elementwise(np.logical_and, "x and y", None, boolean, dtype="bool", why=_NO_GRADIENT)
def logical_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether both x and y are true.

    Example:
        >>> import gtape as gt
        >>> gt.logical_and([True, False], True).numpy()
        array([ True, False])
    """


@elementwise(np.logical_or, "x or y", None, boolean, dtype="bool", why=_NO_GRADIENT)
def logical_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether x or y is true.

    Example:
        >>> import gtape as gt
        >>> gt.logical_or([True, False], False).numpy()
        array([ True, False])
    """


@elementwise(
    np.logical_xor, "logical_xor(x, y)", None, boolean, dtype="bool", why=_NO_GRADIENT
)
def logical_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Return whether exactly one of x and y is true.

    Example:
        >>> import gtape as gt
        >>> gt.logical_xor([True, False], True).numpy()
        array([False,  True])
    """


@elementwise(np.logical_not, "not x", None, boolean, dtype="bool", why=_NO_GRADIENT)
def logical_not(x: TensorLike) -> Tensor:
    """Return whether x is false.

    Example:
        >>> import gtape as gt
        >>> gt.logical_not([True, False]).numpy()
        array([False,  True])
    """


# --- Bits: integers bit by bit; on bools the same as the logical operations -----------


@elementwise(np.bitwise_and, "x & y", None, integer)
def bitwise_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x & y, bit by bit.

    Example:
        >>> import gtape as gt
        >>> gt.bitwise_and(6, 3).numpy()
        np.int32(2)
    """


@elementwise(np.bitwise_or, "x | y", None, integer)
def bitwise_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x | y, bit by bit.

    Example:
        >>> import gtape as gt
        >>> gt.bitwise_or(6, 3).numpy()
        np.int32(7)
    """


@elementwise(np.bitwise_xor, "x ^ y", None, integer)
def bitwise_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x ^ y, bit by bit.

    Example:
        >>> import gtape as gt
        >>> gt.bitwise_xor(6, 3).numpy()
        np.int32(5)
    """


@elementwise(np.invert, "~x", None, integer)
def invert(x: TensorLike) -> Tensor:
    """Return x with every bit turned; on bools the same as `logical_not`.

    Example:
        >>> import gtape as gt
        >>> gt.invert(6).numpy()
        np.int32(-7)
    """


def _whole(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one integer dtype."""
    return integer(name, number(name, kinds))


@elementwise(np.left_shift, "x << y", None, _whole)
def left_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x shifted left by y bits.

    Example:
        >>> import gtape as gt
        >>> gt.left_shift(3, 2).numpy()
        np.int32(12)
    """


@elementwise(np.right_shift, "x >> y", None, _whole)
def right_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """Return x shifted right by y bits, keeping the sign.

    Example:
        >>> import gtape as gt
        >>> gt.right_shift(12, 2).numpy()
        np.int32(3)
    """


# --- Kinds of numbers -----------------------------------------------------------------


@elementwise(np.isnan, "isnan(x)", None, number, dtype="bool", why=_NO_GRADIENT)
def is_nan(x: TensorLike) -> Tensor:
    """Return whether x is NaN.

    Example:
        >>> import gtape as gt
        >>> gt.is_nan([1., float("nan")]).numpy()
        array([False,  True])
    """


@elementwise(np.isinf, "isinf(x)", None, number, dtype="bool", why=_NO_GRADIENT)
def is_inf(x: TensorLike) -> Tensor:
    """Return whether x is plus or minus infinity.

    Example:
        >>> import gtape as gt
        >>> gt.is_inf([1., float("inf")]).numpy()
        array([False,  True])
    """


@elementwise(np.isfinite, "isfinite(x)", None, number, dtype="bool", why=_NO_GRADIENT)
def is_finite(x: TensorLike) -> Tensor:
    """Return whether x is neither infinite nor NaN.

    Example:
        >>> import gtape as gt
        >>> gt.is_finite([1., float("inf")]).numpy()
        array([ True, False])
    """
