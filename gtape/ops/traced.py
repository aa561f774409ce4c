"""What only traced code runs: sizes, Python numbers, masks, calls of the host."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gtape.conversion import out_of_range
from gtape.dispatch import apply
from gtape.dtypes import NumpyDType
from gtape.errors import (
    ArgumentError,
    DivisionError,
    DTypeError,
    GtapeError,
    RangeError,
)
from gtape.lowering import Custom, Map
from gtape.ops.common import Tensor
from gtape.ops.linear import cast, where
from gtape.ops.logic import equal, is_nan, logical_and
from gtape.primitive import Primitive
from gtape.spec import TensorSpec, broadcast_shapes

# --- Sizes ----------------------------------------------------------------------------

_size = Primitive(
    "size",
    forward=lambda *, size, dtype: dtype.type(size),
    spec=lambda *, size, dtype: TensorSpec((), dtype),
    vjp=None,
    lowering=Map("size"),
)


def size_tensor(size: Any, dtype: NumpyDType) -> Tensor:
    """Return a size that is known at run time as an integer scalar."""
    return apply(_size, size=size, dtype=dtype)


# --- Python's numbers -----------------------------------------------------------------
# A Python number of a trace is an int64 or float64 scalar. Its arithmetic is Python's:
# where that would leave 64 bits or raise, so does this, instead of giving another
# number.

_BITS = 64
_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1


def _as_python(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def forward(*xs: Any) -> Any:
        try:
            out = function(*[x.item() for x in xs])
        except GtapeError:
            raise
        except ZeroDivisionError:
            numbers = " and ".join([str(x) for x in xs])
            raise DivisionError(
                f"{name}: division by zero, of the Python numbers {numbers}",
                "Check the divisor first",
            ) from None
        except OverflowError:
            raise _too_large(name, xs) from None
        except ValueError as error:
            numbers = " and ".join([str(x) for x in xs])
            raise ArgumentError(
                f"{name}: {error}, of the Python numbers {numbers}",
                "Check them first",
            ) from None
        if isinstance(out, complex):
            raise DTypeError(
                f"{name}: a complex result of the Python numbers {xs[0]} and {xs[1]}",
                "Make one of them a complex tensor",
            )
        if isinstance(out, bool):
            return np.bool_(out)
        if isinstance(out, float):
            return np.float64(out)
        if not _INT_MIN <= out <= _INT_MAX:
            raise _too_large(name, xs)
        return np.int64(out)

    return forward


def _too_large(name: str, xs: Any) -> RangeError:
    numbers = " and ".join([str(x) for x in xs])
    return RangeError(
        f"{name}: the result of the Python numbers {numbers} is too large for 64 bits",
        "Use floats, or a loop whose number of trips is a Python int of 8 or less",
    )


def _shifted(x: int, count: int) -> int:
    if x and count > _BITS:  # Python would make a number of count digits first
        raise OverflowError
    return x << count


def _trips(start: Any, limit: Any, delta: Any) -> Any:
    """Return how many numbers a range has."""
    if delta == 0 or (limit - start) * delta < 0:
        raise ArgumentError(
            f"range: no steps of {delta} lead from {start} to {limit}",
            "Give a delta of the sign of limit - start",
        )
    if isinstance(start, int):
        return -((start - limit) // delta)
    return math.ceil((limit - start) / delta)


def _python(name: str, function: Callable[..., Any], dtype: str | None) -> Primitive:
    def spec(*xs: TensorSpec) -> TensorSpec:
        return xs[0] if dtype is None else TensorSpec((), dtype)

    return Primitive(
        f"python_{name}",
        forward=_as_python(name, function),
        spec=spec,
        vjp=None,
        lowering=Custom(f"python_{name}"),
        why="a Python number is a constant for tapes",
    )


PYTHON = {
    "add": _python("add", operator.add, None),
    "subtract": _python("subtract", operator.sub, None),
    "multiply": _python("multiply", operator.mul, None),
    "divide": _python("divide", operator.truediv, "float64"),
    "floordiv": _python("floordiv", operator.floordiv, None),
    "mod": _python("mod", operator.mod, None),
    "pow": _python("pow", operator.pow, None),
    "negative": _python("negative", operator.neg, None),
    "abs": _python("abs", abs, None),
    "bitwise_and": _python("bitwise_and", operator.and_, None),
    "bitwise_or": _python("bitwise_or", operator.or_, None),
    "bitwise_xor": _python("bitwise_xor", operator.xor, None),
    "left_shift": _python("left_shift", _shifted, None),
    "right_shift": _python("right_shift", operator.rshift, None),
    "truncate": _python("truncate", int, "int64"),
    "round_to": _python("round_to", round, None),
    "round": _python("round", round, "int64"),
    "equal": _python("equal", operator.eq, "bool"),
    "not_equal": _python("not_equal", operator.ne, "bool"),
    "less": _python("less", operator.lt, "bool"),
    "less_equal": _python("less_equal", operator.le, "bool"),
    "greater": _python("greater", operator.gt, "bool"),
    "greater_equal": _python("greater_equal", operator.ge, "bool"),
    "trips": _python("trips", _trips, "int64"),
}
"""The operations of Python's numbers, by the name of the tensors' operation."""


def _fitting(x: Any, *, dtype: NumpyDType) -> Any:
    out = dtype.type(x)
    if out != x:
        raise out_of_range(x.item(), dtype)
    return out


_fit = Primitive(
    "python_fit",
    forward=_fitting,
    spec=lambda x, *, dtype: TensorSpec((), dtype),
    vjp=None,
    lowering=Custom("python_fit"),
    why="a Python number is a constant for tapes",
)


def fitted(x: Tensor, dtype: NumpyDType) -> Tensor:
    """Return a Python number as a scalar of a dtype, for ints only if that has it."""
    if x.dtype.kind == "i" and dtype.kind in "iu" and x.dtype.dtype != dtype:
        return apply(_fit, x, dtype=dtype)
    return cast(x, dtype)


# --- Masks ----------------------------------------------------------------------------

_mask_nan = Primitive(
    "mask_nan",
    forward=lambda c, g: np.where(np.isnan(c) & (g == 0), c.dtype.type(0), c)[()],
    spec=lambda c, g: c.with_shape(broadcast_shapes("mask_nan", c.shape, g.shape)),
    vjp=lambda g, _out, c, other: (
        lambda: where(logical_and(is_nan(c), equal(other, 0)), 0.0, g),
        None,
    ),
    lowering=Map("0 if c != c and g == 0 else c"),
)


def mask_nan(c: Tensor, g: Tensor) -> Tensor:
    """Return c, but zero where g is zero and c is NaN. g broadcasts to c."""
    return apply(_mask_nan, c, g)


# --- Variables read in loops ----------------------------------------------------------

REREAD = Primitive(
    "reread",
    forward=lambda value, source: value,
    spec=lambda value, source: value,
    vjp=lambda g, _out, _value, _source: (None, g),
    lowering=Map("value"),
)


def reread(value: Tensor, source: Tensor) -> Tensor:
    """Return the value that a variable has by now, with the gradient of its source.

    An assignment is not differentiated: whenever a variable is read, the gradient is by
    the variable, not by what was assigned to it.
    """
    return apply(REREAD, value, source)


# --- Calls of the host ----------------------------------------------------------------


def _host_forward(*arrays: Any, call: Callable[..., None]) -> Any:
    call(*arrays)
    return np.True_


_host = Primitive(
    "host",
    forward=_host_forward,
    spec=lambda *xs, call: TensorSpec((), "bool"),
    vjp=None,
    lowering=Custom("host"),
    effect=True,
    why="it is a call of Python",
)


def call_host(function: Callable[..., None], *tensors: Tensor) -> None:
    """Call a Python function with arrays each time the program comes by.

    Args:
        function: It gets an array for each tensor, and returns nothing.
        *tensors: What it wants to see.
    """
    apply(_host, *tensors, call=function)


# --- Random states --------------------------------------------------------------------

_next_state = Primitive(
    "next_state",
    forward=lambda key: key + np.array([0, 1], np.uint64),
    spec=lambda key: key,
    vjp=None,
    lowering=Map("key + i0"),
)


def next_state(key: Tensor) -> Tensor:
    """Return the seed and counter of a generator after one more draw."""
    return apply(_next_state, key)
