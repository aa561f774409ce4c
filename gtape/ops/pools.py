"""The maximum and the mean of each window: primitives, with their reverse rules.

x is [n, *sizes, channels]; what belongs to windows is [n, *counts, channels].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import NumpyDType, as_dtype
from gtape.lowering import Custom
from gtape.ops.precision import through_float32
from gtape.ops.windows import Windows
from gtape.primitive import Primitive, floating, indexed, real
from gtape.spec import TensorSpec


def _pooled_spec(x: TensorSpec, *, windows: Windows) -> TensorSpec:
    counts = windows.counts("pool", x.shape[1:-1])
    return x.with_shape((x.shape[0], *counts, x.shape[-1]))


def _spread_shape(g: Any, sizes: Sequence[int]) -> tuple[Any, ...]:
    return (g.shape[0], *sizes, g.shape[-1])


# --- Means of windows ---------------------------------------------------------------


def _numbers(windows: Windows, sizes: Sequence[int], dtype: NumpyDType) -> Any:
    """Return how many elements each window holds, without padding: [*counts, 1]."""
    out: Any = np.ones(1, dtype)
    counts = windows.counts("pool", sizes)
    for n, m, k, s, (low, _) in reversed(
        list(zip(sizes, counts, *windows[:3], strict=True))
    ):
        start = np.arange(m or 0) * s - low
        held = np.minimum(start + k, n) - np.maximum(start, 0)
        out = held.astype(dtype).reshape(-1, *[1] * out.ndim) * out
    return out


@through_float32
def _mean_forward(x: Any, *, windows: Windows) -> Any:
    sizes = x.shape[1:-1]
    counts = windows.counts("pool", sizes)
    out = np.zeros((x.shape[0], *counts, x.shape[-1]), x.dtype)
    for place in windows.places(sizes, counts):
        if place is not None:
            out[place[0]] += x[place[1]]
    out /= _numbers(windows, sizes, x.dtype)
    return out


@through_float32
def _mean_spread_forward(g: Any, *, windows: Windows, sizes: tuple[int, ...]) -> Any:
    g = g / _numbers(windows, sizes, g.dtype)
    out = np.zeros(_spread_shape(g, sizes), g.dtype)
    for place in windows.places(sizes, g.shape[1:-1]):
        if place is not None:
            out[place[1]] += g[place[0]]
    return out


mean_windows: Primitive = Primitive(
    "avg_pool",
    forward=_mean_forward,
    spec=_pooled_spec,
    vjp=lambda g, _out, _x, *, windows: (
        apply(_avg_spread, g, windows=windows, sizes=tuple(_x.shape[1:-1])),
    ),
    lowering=Custom("avg_pool"),
    operands=floating,
)

_avg_spread: Primitive = Primitive(
    "avg_pool_spread",
    forward=_mean_spread_forward,
    spec=lambda g, *, windows, sizes: g.with_shape(_spread_shape(g, sizes)),
    vjp=lambda h, _out, _g, *, windows, sizes: (
        apply(mean_windows, h, windows=windows),
    ),
    lowering=Custom("avg_pool_spread"),
    operands=floating,
)


# --- Maxima of windows --------------------------------------------------------------
#
# The place of the maximum is a tensor of its own, without a gradient: the number of the
# first greatest element, row by row in the window. Between the elements there and the
# windows lie two linear operations, each the other's transpose.


def _lowest(dtype: NumpyDType) -> Any:
    return as_dtype(dtype).min if dtype.kind in "iu" else -np.inf


def _max_forward(x: Any, *, windows: Windows) -> Any:
    sizes = x.shape[1:-1]
    counts = windows.counts("pool", sizes)
    out = np.full((x.shape[0], *counts, x.shape[-1]), _lowest(x.dtype), x.dtype)
    for place in windows.places(sizes, counts):
        if place is not None:
            np.maximum(out[place[0]], x[place[1]], out=out[place[0]])
    return out


def _place_forward(x: Any, out: Any, *, windows: Windows) -> Any:
    # The place is the number of elements before it, which are all less than the maximum
    # (so a NaN, which is not, has a place too).
    found = np.zeros(out.shape, np.int32)
    before = np.ones(out.shape, np.bool_)
    places = list(windows.places(x.shape[1:-1], out.shape[1:-1]))
    for place in places[:-1]:
        if place is not None:
            before[place[0]] &= x[place[1]] < out[place[0]]
        found += before
    return found


def _pick_forward(h: Any, found: Any, *, windows: Windows) -> Any:
    out = np.zeros(found.shape, h.dtype)
    for k, place in enumerate(windows.places(h.shape[1:-1], found.shape[1:-1])):
        if place is not None:
            np.copyto(out[place[0]], h[place[1]], where=found[place[0]] == k)
    return out


@through_float32
def _unpick_forward(
    g: Any, found: Any, *, windows: Windows, sizes: tuple[int, ...]
) -> Any:
    out = np.zeros(_spread_shape(g, sizes), g.dtype)
    zero = g.dtype.type(0)
    apart = all(s >= k for k, s in zip(windows.size, windows.strides, strict=True))
    for k, place in enumerate(windows.places(sizes, g.shape[1:-1])):
        if place is not None:
            part = np.where(found[place[0]] == k, g[place[0]], zero)
            if apart:  # no two windows share an element
                out[place[1]] = part
            else:
                out[place[1]] += part
    return out


def _max_vjp(g: Any, out: Any, x: Any, *, windows: Windows) -> tuple[Any, ...]:
    found = apply(_max_place, x, out, windows=windows)
    sizes = tuple(x.shape[1:-1])
    return (apply(_max_spread, g, found, windows=windows, sizes=sizes),)


max_windows: Primitive = Primitive(
    "max_pool",
    forward=_max_forward,
    spec=_pooled_spec,
    vjp=_max_vjp,
    lowering=Custom("max_pool"),
    operands=real,
)

_max_place = Primitive(
    "max_pool_place",
    forward=_place_forward,
    spec=lambda x, out, *, windows: out.with_dtype("int32"),
    vjp=None,
    lowering=Custom("max_pool_place"),
    operands=real,
    why="the place of a maximum is an integer",
)

_max_pick: Primitive = Primitive(
    "max_pool_pick",
    forward=_pick_forward,
    spec=lambda h, found, *, windows: found.with_dtype(h.dtype),
    vjp=lambda g, _out, _h, found, *, windows: (
        apply(_max_spread, g, found, windows=windows, sizes=tuple(_h.shape[1:-1])),
        None,
    ),
    lowering=Custom("max_pool_pick"),
    operands=indexed,
)

_max_spread: Primitive = Primitive(
    "max_pool_spread",
    forward=_unpick_forward,
    spec=lambda g, found, *, windows, sizes: g.with_shape(_spread_shape(g, sizes)),
    vjp=lambda h, _out, _g, found, *, windows, sizes: (
        apply(_max_pick, h, found, windows=windows),
        None,
    ),
    lowering=Custom("max_pool_spread"),
    operands=indexed,
)
