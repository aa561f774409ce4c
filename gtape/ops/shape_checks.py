"""The assertions of `gt.debugging` about shapes and dtypes: they read no value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gtape.dtypes import DTypeLike, as_dtype
from gtape.errors import ArgumentError
from gtape.ops.checks import failure, operand
from gtape.ops.common import TensorLike, as_int, as_ints

_ANY_AXES = ("*", "...", ...)


def assert_rank(x: TensorLike, rank: int, message: str | None = None) -> None:
    """Require a number of axes.

    Args:
        x: A tensor.
        rank: The number of axes.
        message: What the error begins with.

    Raises:
        CheckError: If there are more or fewer.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_rank([[1.0, 2.0]], 2)
    """
    x, wanted = operand("assert_rank", "x", x), as_int("assert_rank", "rank", rank)
    if x.ndim != wanted:
        raise failure(
            message,
            f"assert_rank: rank {wanted} is wanted, not {x.ndim} of shape "
            f"{tuple(x.shape)}",
        )


def assert_rank_at_least(x: TensorLike, rank: int, message: str | None = None) -> None:
    """Require a number of axes, or more.

    Args:
        x: A tensor.
        rank: The least number of axes.
        message: What the error begins with.

    Raises:
        CheckError: If there are fewer.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_rank_at_least([[1.0, 2.0]], 1)
    """
    name = "assert_rank_at_least"
    x, wanted = operand(name, "x", x), as_int(name, "rank", rank)
    if x.ndim < wanted:
        raise failure(
            message,
            f"{name}: rank {wanted} or more is wanted, not {x.ndim} of shape "
            f"{tuple(x.shape)}",
        )


def assert_rank_in(
    x: TensorLike, ranks: Sequence[int], message: str | None = None
) -> None:
    """Require one of several numbers of axes.

    Args:
        x: A tensor.
        ranks: The numbers of axes that are right.
        message: What the error begins with.

    Raises:
        CheckError: If there is another number of axes.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_rank_in([[1.0, 2.0]], [1, 2])
    """
    name = "assert_rank_in"
    x, wanted = operand(name, "x", x), as_ints(name, "ranks", ranks)
    if x.ndim not in wanted:
        raise failure(
            message,
            f"{name}: one of the ranks {list(wanted)} is wanted, not {x.ndim} of shape "
            f"{tuple(x.shape)}",
        )


def assert_scalar(tensor: TensorLike, message: str | None = None) -> None:
    """Require a tensor without axes.

    Args:
        tensor: A tensor.
        message: What the error begins with.

    Raises:
        CheckError: If there are axes.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_scalar(3.0)
    """
    x = operand("assert_scalar", "tensor", tensor)
    if x.ndim:
        raise failure(
            message,
            f"assert_scalar: a scalar is wanted, not a shape of {tuple(x.shape)}",
        )


def assert_type(
    tensor: TensorLike, dtype: DTypeLike, message: str | None = None
) -> None:
    """Require a dtype.

    Args:
        tensor: A tensor.
        dtype: The dtype.
        message: What the error begins with.

    Raises:
        CheckError: If it is another.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_type(gt.constant(3.0), gt.float32)
    """
    x, wanted = operand("assert_type", "tensor", tensor), as_dtype(dtype)
    if as_dtype(x.dtype) != wanted:
        raise failure(
            message, f"assert_type: {wanted} is wanted, not {as_dtype(x.dtype)}"
        )


def assert_integer(x: TensorLike, message: str | None = None) -> None:
    """Require an integer dtype.

    Args:
        x: A tensor.
        message: What the error begins with.

    Raises:
        CheckError: If it is another dtype.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.assert_integer([1, 2])
    """
    x = operand("assert_integer", "x", x)
    if not as_dtype(x.dtype).is_integer:
        raise failure(
            message,
            f"assert_integer: an integer dtype is wanted, not {as_dtype(x.dtype)}",
        )


def assert_shapes(
    shapes: Sequence[tuple[TensorLike, Any]], message: str | None = None
) -> None:
    """Require shapes, in which letters stand for sizes that agree among the tensors.

    Args:
        shapes: Pairs of a tensor and its shape: a sequence of sizes, symbols such as
            "N", and `None` for any size. "*" or `...` at the beginning or end of a
            shape stands for any axes there. A string is a shape of one-letter symbols.
        message: What the error begins with.

    Raises:
        CheckError: If a rank or size is another, or a symbol has two sizes.
        ArgumentError: If a shape cannot be read.

    Example:
        >>> import gtape as gt
        >>> x, y = gt.zeros([5, 3]), gt.zeros([5, 2])
        >>> gt.debugging.assert_shapes([(x, ("N", "D")), (y, ("N", 2))])
        >>> gt.debugging.assert_shapes([(x, "ND"), (y, "ND")])
        Traceback (most recent call last):
        ...
        gtape.errors.CheckError: assert_shapes: axis 1 of tensor 1 has size 2, but D ...
    """
    if not isinstance(shapes, (list, tuple)):
        raise ArgumentError(
            f"assert_shapes: {shapes!r} is not a list of pairs",
            "Give [(x, (2, 'N')), ...]",
        )
    known: dict[str, tuple[int, str]] = {}
    for number, pair in enumerate(shapes):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ArgumentError(
                f"assert_shapes: entry {number} is not a pair of tensor and shape",
                "Give [(x, (2, 'N')), ...]",
            )
        x = operand("assert_shapes", f"tensor {number}", pair[0])
        actual = tuple(x.shape)
        for axis, wanted in _matched(number, pair[1], actual, message):
            _check_size(number, axis, actual[axis], wanted, known, message)


def _matched(
    number: int, shape: Any, actual: tuple[Any, ...], message: str | None
) -> list[tuple[int, Any]]:
    """Return the axes that a shape speaks of, each with the size it wants."""
    if isinstance(shape, (int, type(None))):
        shape = (shape,)
    try:
        wanted = list(shape)
    except TypeError:
        raise ArgumentError(
            f"assert_shapes: {shape!r} of tensor {number} is not a shape",
            "Give a sequence of sizes and symbols",
        ) from None
    # Compared one by one: a symbolic size need not have a truth.
    is_free = [isinstance(d, (str, type(...))) and d in _ANY_AXES for d in wanted]
    if any(is_free[1:-1]) or sum(is_free) > 1:
        raise ArgumentError(
            f"assert_shapes: shape {shape!r} of tensor {number} has '*' inside",
            "It stands for the first axes or the last ones",
        )
    sizes = [d for d, free in zip(wanted, is_free, strict=True) if not free]
    free = any(is_free)
    if len(actual) < len(sizes) or (len(actual) > len(sizes) and not free):
        raise failure(
            message,
            f"assert_shapes: tensor {number} has rank {len(actual)}, shape {actual}, "
            f"but {shape!r} wants {len(sizes)}{' or more' if free else ''}",
        )
    start = len(actual) - len(sizes) if free and is_free[0] else 0
    return [(start + i, size) for i, size in enumerate(sizes)]


def _check_size(
    number: int,
    axis: int,
    size: Any,
    wanted: Any,
    known: dict[str, tuple[int, str]],
    message: str | None,
) -> None:
    """Require one size, and note what it says of a symbol."""
    if wanted is None or size is None:
        return
    here = f"axis {axis} of tensor {number}"
    if not isinstance(wanted, str):
        if size != as_int("assert_shapes", "a size", wanted):
            raise failure(
                message, f"assert_shapes: {here} has size {size}, not {wanted}"
            )
        return
    before, place = known.setdefault(wanted, (size, here))
    if before != size:
        raise failure(
            message,
            f"assert_shapes: {here} has size {size}, but {wanted} is {before} by "
            f"{place}",
        )
