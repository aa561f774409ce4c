"""Maximum, minimum and clipping, element by element with broadcasting."""

from __future__ import annotations

import numpy as np

from gtape.errors import said_by
from gtape.ops.common import Tensor, TensorLike, elementwise
from gtape.ops.linear import where
from gtape.primitive import real


@elementwise(
    np.maximum,
    "x if x >= y or isnan(x) else y",
    vjp=lambda g, _out, x, y: (
        lambda: where(x >= y, g, 0.0),
        lambda: where(x >= y, 0.0, g),
    ),
    operands=real,
)
def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the greater of x and y; NaN where either is NaN.

    The whole gradient of a tie goes to x.

    Example:
        >>> import gtape as gt
        >>> gt.maximum([1., 5.], 3.).numpy()
        array([3., 5.], dtype=float32)
    """


@elementwise(
    np.minimum,
    "x if x <= y or isnan(x) else y",
    vjp=lambda g, _out, x, y: (
        lambda: where(x <= y, g, 0.0),
        lambda: where(x <= y, 0.0, g),
    ),
    operands=real,
)
def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the less of x and y; NaN where either is NaN.

    The whole gradient of a tie goes to x.

    Example:
        >>> import gtape as gt
        >>> gt.minimum([1., 5.], 3.).numpy()
        array([1., 3.], dtype=float32)
    """


def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike
) -> Tensor:
    """Return t with values below the minimum or above the maximum replaced by these.

    The gradient is 1 at both bounds and 0 outside.

    Args:
        t: A tensor.
        clip_value_min: The least value, broadcast to t.
        clip_value_max: The greatest value, broadcast to t.

    Example:
        >>> import gtape as gt
        >>> gt.clip_by_value([-1., 0.5, 2.], 0., 1.).numpy()
        array([0. , 0.5, 1. ], dtype=float32)
    """
    with said_by("clip_by_value", "maximum", "minimum"):
        return minimum(maximum(t, clip_value_min), clip_value_max)
