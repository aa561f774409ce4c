"""Pad with a constant or with mirror images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.errors import ArgumentError, ShapeError
from gtape.ops.common import Tensor, TensorLike, as_ints, fixed, numpy_dtype_of, one_of
from gtape.ops.creation import check_memory, given
from gtape.ops.known import known_array
from gtape.ops.linear import broadcast_to, stop_gradient, where
from gtape.ops.slicing import block, concat, embed


def check_counts(name: str, argument: str, counts: Sequence[int]) -> None:
    """Refuse a negative entry.

    Raises:
        ArgumentError: If there is one.
    """
    if any(c < 0 for c in counts):
        raise ArgumentError(
            f"{name}: {argument} {tuple(counts)} has a negative entry", "Give 0 or more"
        )


def pad(
    tensor: TensorLike,
    paddings: Sequence[Sequence[int]],
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
) -> Tensor:
    """Return a tensor with elements added before and behind it on each axis.

    Args:
        tensor: A tensor.
        paddings: For each axis how many before and how many behind.
        mode: "CONSTANT" adds a constant, "REFLECT" mirrors at the first and last
            element, "SYMMETRIC" at the edges, so that these elements come twice.
        constant_values: The constant, a scalar; no gradient flows to it.

    Raises:
        ShapeError: If paddings is not a pair for each axis, or a mirror image is longer
            than the tensor.
        ArgumentError: If an entry is negative, or the mode unknown.
        DTypeError: If the constant does not fit the dtype of the tensor.

    Example:
        >>> import gtape as gt
        >>> gt.pad([1, 2, 3], [[2, 1]], mode="REFLECT").numpy()
        array([3, 2, 1, 2, 3, 2], dtype=int32)
    """
    x = given("pad", tensor)
    word = one_of("pad", "mode", mode, ("CONSTANT", "REFLECT", "SYMMETRIC"))
    pairs = _pairs(paddings, x)
    shape = tuple(a + d + b for (a, b), d in zip(pairs, x.shape, strict=True))
    check_memory("pad", shape, numpy_dtype_of(x))
    if word == "CONSTANT":
        starts, steps = [a for a, _ in pairs], (1,) * x.ndim
        fill = _fill(x, constant_values)
        if not hasattr(fill, "shape"):
            return embed(x, shape, starts, steps, fill)
        inside = embed(broadcast_to(np.True_, x.shape), shape, starts, steps)
        return where(inside, embed(x, shape, starts, steps), stop_gradient(fill))
    for axis, pair in enumerate(pairs):
        x = _mirrored(x, axis, *pair, edge=0 if word == "SYMMETRIC" else 1)
    return x


def _fill(x: Tensor, constant: Any) -> Any:
    """Return the constant as a Python number that fits the dtype of x.

    One that is known only at run time stays a tensor.
    """
    if type(constant) is int and constant == 0:
        return 0  # fits bool, too
    value = given("pad", constant, numpy_dtype_of(x))
    if value.ndim:
        raise ShapeError(
            f"pad: constant_values has shape {tuple(value.shape)}, not a scalar's",
            "Give a single number",
        )
    array = known_array(value)
    return value if array is None else array.item()


def _pairs(paddings: Any, x: Tensor) -> list[tuple[int, int]]:
    rows = fixed(paddings).tolist() if isinstance(paddings, np.ndarray) else paddings
    if isinstance(rows, (str, bytes)) or not hasattr(rows, "__iter__"):
        raise ShapeError(
            f"pad: paddings {paddings!r} is not a list of pairs",
            "Give [before, behind] for each axis",
        )
    pairs = [as_ints("pad", "paddings", row) for row in rows]
    if len(pairs) != x.ndim or any(len(pair) != 2 for pair in pairs):
        raise ShapeError(
            f"pad: paddings {pairs} for a tensor of shape {tuple(x.shape)}",
            "Give [before, behind] for each axis",
        )
    for pair in pairs:
        check_counts("pad", "paddings", pair)
    return [(before, behind) for before, behind in pairs]


def _mirrored(x: Tensor, axis: int, before: int, behind: int, edge: int) -> Tensor:
    """Return x with mirror images along an axis; without the first `edge` elements."""
    size = x.shape[axis]
    count, most = max(before, behind), max(size - edge, 0)
    if count > most:
        raise ShapeError(
            f"pad: {count} mirrored elements on axis {axis} of size {size}",
            f"Pad by at most {most} on each side",
        )
    pieces = [x]
    if before:
        pieces.insert(0, block(x, axis, before - 1 + edge, before, -1))
    if behind:
        pieces.append(block(x, axis, size - 1 - edge, behind, -1))
    return concat(pieces, axis) if len(pieces) > 1 else x
