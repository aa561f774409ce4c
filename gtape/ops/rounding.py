"""Rounding to integers, element by element; none has a gradient."""

from __future__ import annotations

import numpy as np

from gtape.ops.common import UFUNCS, Tensor, TensorLike, elementwise
from gtape.primitive import real

_FLAT = "the result is constant almost everywhere"


@elementwise(np.floor, "floor(x)", vjp=None, operands=real, why=_FLAT)
def floor(x: TensorLike) -> Tensor:
    """Return the greatest integer not above x, in x's dtype.

    Example:
        >>> import gtape as gt
        >>> gt.floor(-1.5).numpy()
        np.float32(-2.0)
    """


@elementwise(np.ceil, "ceil(x)", vjp=None, operands=real, why=_FLAT)
def ceil(x: TensorLike) -> Tensor:
    """Return the least integer not below x, in x's dtype.

    Example:
        >>> import gtape as gt
        >>> gt.ceil(1.5).numpy()
        np.float32(2.0)
    """


@elementwise(
    lambda x: x if x.dtype.kind in "iu" else np.rint(x),  # rint makes integers floats
    "round(x)",
    vjp=None,
    operands=real,
    why=_FLAT,
)
def round(x: TensorLike) -> Tensor:
    """Return the nearest integer in x's dtype; halves go to the even one.

    Example:
        >>> import gtape as gt
        >>> gt.round([0.5, 1.5, 2.5]).numpy()
        array([0., 2., 2.], dtype=float32)
    """


UFUNCS[np.rint] = round


@elementwise(np.trunc, "trunc(x)", vjp=None, operands=real, why=_FLAT)
def trunc(x: TensorLike) -> Tensor:
    """Return x rounded towards zero, in x's dtype.

    Example:
        >>> import gtape as gt
        >>> gt.trunc(-1.5).numpy()
        np.float32(-1.0)
    """
