"""`gt.debugging`: assertions about the values, shapes and dtypes of tensors.

Each returns if it holds, and otherwise raises a `CheckError`, an AssertionError.
"""

from __future__ import annotations

import numpy as np

from gtape.dtypes import as_dtype
from gtape.errors import ArgumentError
from gtape.ops import extrema, logic, math
from gtape.ops.checks import check_that, compare, compare_with_zero, operand, pair
from gtape.ops.common import Tensor, TensorLike, renamed
from gtape.ops.known import settled
from gtape.ops.numerics import check_numerics as check_numerics
from gtape.ops.numerics import disable_check_numerics as disable_check_numerics
from gtape.ops.numerics import enable_check_numerics as enable_check_numerics
from gtape.ops.shape_checks import assert_integer as assert_integer
from gtape.ops.shape_checks import assert_rank as assert_rank
from gtape.ops.shape_checks import assert_rank_at_least as assert_rank_at_least
from gtape.ops.shape_checks import assert_rank_in as assert_rank_in
from gtape.ops.shape_checks import assert_scalar as assert_scalar
from gtape.ops.shape_checks import assert_shapes as assert_shapes
from gtape.ops.shape_checks import assert_type as assert_type

# --- Two tensors ----------------------------------------------------------------------


def assert_equal(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
) -> None:
    """Require x == y, element by element.

    Args:
        x: A tensor.
        y: A tensor; the two broadcast.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements, with the first of them.
        ShapeError: If the shapes do not broadcast.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_equal([1, 2], [1, 3], message="sizes")
        Traceback (most recent call last):
        ...
        gtape.errors.CheckError: sizes: assert_equal: x == y fails for 1 of 2 ...
    """
    compare("assert_equal", "==", logic.equal, x, y, message, summarize)


def assert_none_equal(
    x: TensorLike,
    y: TensorLike,
    summarize: int | None = None,
    message: str | None = None,
) -> None:
    """Require x != y, element by element.

    Args:
        x: A tensor.
        y: A tensor; the two broadcast.
        summarize: How many elements the error shows; 3 by default, -1 for all.
        message: What the error begins with.

    Raises:
        CheckError: If it does not hold for all elements, with the first of them.
        ShapeError: If the shapes do not broadcast.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_none_equal([1, 2], [2, 1])
    """
    compare("assert_none_equal", "!=", logic.not_equal, x, y, message, summarize)


def assert_less(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
) -> None:
    """Require x < y, element by element.

    Args:
        x: A tensor.
        y: A tensor; the two broadcast.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements, with the first of them.
        ShapeError: If the shapes do not broadcast.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_less([1, 2], 3)
    """
    compare("assert_less", "<", logic.less, x, y, message, summarize)


def assert_less_equal(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
) -> None:
    """Require x <= y, element by element.

    Args:
        x: A tensor.
        y: A tensor; the two broadcast.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements, with the first of them.
        ShapeError: If the shapes do not broadcast.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_less_equal([1, 2], 2)
    """
    compare("assert_less_equal", "<=", logic.less_equal, x, y, message, summarize)


def assert_greater(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
) -> None:
    """Require x > y, element by element.

    Args:
        x: A tensor.
        y: A tensor; the two broadcast.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements, with the first of them.
        ShapeError: If the shapes do not broadcast.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_greater([1, 2], 0)
    """
    compare("assert_greater", ">", logic.greater, x, y, message, summarize)


def assert_greater_equal(
    x: TensorLike,
    y: TensorLike,
    message: str | None = None,
    summarize: int | None = None,
) -> None:
    """Require x >= y, element by element.

    Args:
        x: A tensor.
        y: A tensor; the two broadcast.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements, with the first of them.
        ShapeError: If the shapes do not broadcast.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_greater_equal([1, 2], 1)
    """
    compare("assert_greater_equal", ">=", logic.greater_equal, x, y, message, summarize)


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: float | None = None,
    atol: float | None = None,
    message: str | None = None,
    summarize: int | None = None,
) -> None:
    """Require abs(x - y) <= atol + rtol * abs(y), element by element.

    Equal infinities are near each other; NaN is near nothing.

    Args:
        x: A tensor of numbers.
        y: A tensor; the two broadcast.
        rtol: The relative tolerance; ten times the dtype's epsilon by default, and 0
            for integers.
        atol: The absolute tolerance; the same by default.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements.
        ArgumentError: If a tolerance is negative.
        ShapeError: If the shapes do not broadcast.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_near([1.0, 2.0], [1.0, 2.01], rtol=0.01)
    """
    x, y = pair("assert_near", x, y)
    gap = x - y if math.is_complex(x) or math.is_complex(y) else _distance(x, y)
    default = 10 * as_dtype(gap.dtype).real_dtype.eps
    tolerances = []
    for argument, value in (("rtol", rtol), ("atol", atol)):
        number = default if value is None else settled(value)
        if not isinstance(number, (int, float, np.number)) or not number >= 0:
            raise ArgumentError(
                f"assert_near: {argument} {value!r} is not a tolerance",
                "Use a number of 0 or more",
            )
        tolerances.append(float(number))
    bound = math.abs(y) * tolerances[0] + tolerances[1]
    holds = logic.logical_or(logic.equal(x, y), logic.less_equal(math.abs(gap), bound))
    check_that(holds, (x, y), "assert_near: x near y", message, summarize)


def _distance(x: Tensor, y: Tensor) -> Tensor:
    """Return the distance of real numbers; unsigned integers do not wrap."""
    return extrema.maximum(x, y) - extrema.minimum(x, y)


# --- One tensor -----------------------------------------------------------------------


def assert_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None
) -> None:
    """Require x > 0, element by element.

    Args:
        x: A tensor of real numbers.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_positive([1, 2])
    """
    compare_with_zero("assert_positive", ">", logic.greater, x, message, summarize)


def assert_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None
) -> None:
    """Require x < 0, element by element.

    Args:
        x: A tensor of real numbers.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_negative([-1, -2])
    """
    compare_with_zero("assert_negative", "<", logic.less, x, message, summarize)


def assert_non_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None
) -> None:
    """Require x >= 0, element by element.

    Args:
        x: A tensor of real numbers.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_non_negative([0, 1])
    """
    compare_with_zero(
        "assert_non_negative", ">=", logic.greater_equal, x, message, summarize
    )


def assert_non_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None
) -> None:
    """Require x <= 0, element by element.

    Args:
        x: A tensor of real numbers.
        message: What the error begins with.
        summarize: How many elements the error shows; 3 by default, -1 for all.

    Raises:
        CheckError: If it does not hold for all elements.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_non_positive([0, -1])
    """
    compare_with_zero(
        "assert_non_positive", "<=", logic.less_equal, x, message, summarize
    )


def assert_all_finite(x: TensorLike, message: str | None = None) -> Tensor:
    """Return x if it holds neither NaN nor an infinity.

    Args:
        x: A tensor of numbers.
        message: What the error begins with.

    Raises:
        CheckError: If it holds one.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_all_finite([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
    """
    x = operand("assert_all_finite", "x", x)
    check_that(logic.is_finite(x), (x,), "assert_all_finite", message, None)
    return renamed(x)
