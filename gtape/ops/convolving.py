"""Convolution and its two transposes: primitives, each the others' reverse rule.

x is [n, *sizes, channels], w is [*window, channels / groups, features], the result is
[n, *counts, features]. Each computation is a matrix product with the columns of x: a
row for each window and in it what lies under the window. The groups stand in front.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gtape.dispatch import apply
from gtape.errors import ShapeError
from gtape.lowering import Contract
from gtape.ops.common import Tensor
from gtape.ops.precision import through_float32
from gtape.ops.windows import Windows
from gtape.primitive import Primitive, number
from gtape.spec import TensorSpec

# Elements of columns at once: they stay in cache, and memory is bounded.
_BLOCK = 1 << 20


def _blocks(batch: int, elements: int) -> Iterator[slice]:
    """Yield slices of the batch whose columns are of a size to work on at once."""
    step = max(_BLOCK // max(elements, 1), 1)
    for start in range(0, batch, step):
        yield slice(start, min(start + step, batch))


def _padded(x: Any, win: Windows) -> Any:
    if not any(map(any, win.padding)):
        return x
    pairs = ((0, 0), *win.padding, (0, 0))
    shape = tuple(
        [n + low + high for n, (low, high) in zip(x.shape, pairs, strict=True)]
    )
    out = np.zeros(shape, x.dtype)
    out[tuple([slice(p[0], p[0] + n) for n, p in zip(x.shape, pairs, strict=True)])] = x
    return out


def _columns(x: Any, win: Windows, counts: Sequence[int], groups: int) -> Any:
    """Return padded x as [groups, n * windows, places * channels / groups]."""
    steps, rank = x.strides, len(counts)
    batch, channels = x.shape[0], x.shape[-1] // groups
    view = as_strided(
        x,
        (groups, batch, *counts, *win.size, channels),
        (
            channels * steps[-1],
            steps[0],
            *[t * s for t, s in zip(steps[1:-1], win.strides, strict=True)],
            *[t * d for t, d in zip(steps[1:-1], win.dilations, strict=True)],
            steps[-1],
        ),
        writeable=False,
    )
    rows = int(np.prod(view.shape[1 : rank + 2]))
    return view.reshape(groups, rows, int(np.prod(view.shape[rank + 2 :])))


def _matrix(w: Any, groups: int) -> Any:
    """Return filters as [groups, places * channels / groups, features / groups]."""
    features = w.shape[-1] // groups
    inner = int(np.prod(w.shape[:-1]))
    return w.reshape(inner, groups, features).transpose(1, 0, 2)


def _rows(y: Any, groups: int) -> Any:
    """Return results as [groups, n * windows, features / groups]."""
    features = y.shape[-1] // groups
    rows = int(np.prod(y.shape[:-1]))
    return y.reshape(rows, groups, features).transpose(1, 0, 2)


@through_float32
def _conv_forward(x: Any, w: Any, *, windows: Windows, groups: int) -> Any:
    counts = windows.counts("convolution", x.shape[1:-1])
    x = _padded(x, windows)
    out = np.empty((x.shape[0], *counts, w.shape[-1]), x.dtype)
    matrix = _matrix(w, groups)
    for b in _blocks(x.shape[0], int(np.prod((*counts, *w.shape[:-1]))) * groups):
        columns = _columns(x[b], windows, counts, groups)  # type: ignore[arg-type]
        np.matmul(columns, matrix, out=_rows(out[b], groups))
    return out


@through_float32
def _filter_forward(x: Any, g: Any, *, windows: Windows, groups: int) -> Any:
    counts = g.shape[1:-1]
    x = _padded(x, windows)
    channels, features = x.shape[-1] // groups, g.shape[-1] // groups
    inner = int(np.prod(windows.size)) * channels
    out = np.zeros((groups, inner, features), x.dtype)
    for b in _blocks(x.shape[0], int(np.prod(counts)) * inner * groups):
        columns = _columns(x[b], windows, counts, groups)
        out += np.matmul(columns.transpose(0, 2, 1), _rows(g[b], groups))
    return out.transpose(1, 0, 2).reshape(*windows.size, channels, g.shape[-1])


@through_float32
def _input_forward(
    g: Any, w: Any, *, windows: Windows, groups: int, sizes: tuple[int, ...]
) -> Any:
    mirrored = _mirrored(windows, w, groups)
    if mirrored is not None:
        flipped = w[(slice(None, None, -1),) * len(sizes)]
        parts = flipped.reshape(*w.shape[:-1], groups, w.shape[-1] // groups)
        parts = np.swapaxes(parts, -3, -1)  # [..., features / groups, groups, channels]
        together = parts.shape[-2] * parts.shape[-1]
        flipped = parts.reshape(*windows.size, parts.shape[-3], together)
        return _conv_forward(g, flipped, windows=mirrored, groups=groups)
    counts = g.shape[1:-1]
    channels = w.shape[-2]
    matrix = _matrix(w, groups).transpose(0, 2, 1)
    out = np.zeros((g.shape[0], *sizes, groups, channels), g.dtype)
    places = list(windows.places(sizes, counts))
    for b in _blocks(g.shape[0], int(np.prod((*counts, *w.shape[:-1]))) * groups):
        columns = np.matmul(_rows(g[b], groups), matrix)
        rows = g[b].shape[0]
        columns = columns.reshape(groups, rows, *counts, len(places), channels)
        columns = np.moveaxis(columns, 0, -2)  # [n, *counts, places, groups, channels]
        block = out[b]
        for k, place in enumerate(places):
            if place is not None:
                block[place[1]] += columns[..., k, :, :][place[0]]
    return out.reshape(*out.shape[:-2], groups * channels)


def _mirrored(win: Windows, w: Any, groups: int) -> Windows | None:
    """Return the windows with which a convolution is the transpose, if it is quick."""
    if win.strides != (1,) * len(win.strides) or w.shape[-1] > 4 * w.shape[-2] * groups:
        return None
    pairs = []
    for k, (low, high), d in zip(win.size, win.padding, win.dilations, strict=True):
        reach = (k - 1) * d
        if low > reach or high > reach:
            return None
        pairs.append((reach - low, reach - high))
    return win._replace(padding=tuple(pairs))


# --- Primitives ---------------------------------------------------------------------


def _conv_spec(
    x: TensorSpec, w: TensorSpec, *, windows: Windows, groups: int
) -> TensorSpec:
    check_channels("convolution", x.shape, w.shape)
    counts = windows.counts("convolution", x.shape[1:-1])
    return x.with_shape((x.shape[0], *counts, w.shape[-1]))


def _filter_spec(
    x: TensorSpec, g: TensorSpec, *, windows: Windows, groups: int
) -> TensorSpec:
    check_counts("convolution_filter", windows, x.shape[1:-1], g.shape[1:-1])
    channels = None if x.shape[-1] is None else x.shape[-1] // groups
    return x.with_shape((*windows.size, channels, g.shape[-1]))


def _input_spec(
    g: TensorSpec,
    w: TensorSpec,
    *,
    windows: Windows,
    groups: int,
    sizes: tuple[int, ...],
) -> TensorSpec:
    check_counts("convolution_input", windows, sizes, g.shape[1:-1])
    channels = None if w.shape[-2] is None else w.shape[-2] * groups
    return g.with_shape((g.shape[0], *sizes, channels))


def check_channels(name: str, x: Sequence[Any], w: Sequence[Any]) -> int:
    """Return the number of groups of an input and filters, given their shapes.

    Raises:
        ShapeError: If they do not fit.
    """
    if len(w) != len(x):
        raise ShapeError(
            f"{name}: filters of shape {tuple(w)} for an input of shape {tuple(x)}",
            f"Give the filters {len(x) - 2} window sizes, the input channels and the "
            "output channels",
        )
    if x[-1] is None or w[-2] is None or w[-1] is None:
        return 1
    if 0 in (*w[:-1], x[-1]) or x[-1] % w[-2] or w[-1] % (x[-1] // w[-2]):
        raise ShapeError(
            f"{name}: filters of shape {tuple(w)} for an input of {x[-1]} channels",
            "The last but one size of the filters is the number of input channels or, "
            "with groups, a divisor of it; the number of groups divides the last size",
        )
    groups: int = x[-1] // w[-2]
    return groups


def check_counts(name: str, win: Windows, sizes: Any, counts: Any) -> None:
    """Require that axes of the given sizes have so many windows.

    Raises:
        ShapeError: If they do not.
    """
    expected = win.counts(name, sizes)
    if None not in (*expected, *counts) and expected != tuple(counts):
        raise ShapeError(
            f"{name}: axes of sizes {tuple(sizes)} have {expected} windows, "
            f"not {tuple(counts)}",
            "Make the two fit",
        )


convolution: Primitive = Primitive(
    "convolution",
    forward=_conv_forward,
    spec=_conv_spec,
    vjp=lambda g, _out, x, w, *, windows, groups: (
        lambda: input_cotangent(g, w, windows, groups, x.shape[1:-1]),
        lambda: apply(convolution_filter, x, g, windows=windows, groups=groups),
    ),
    lowering=Contract("convolution"),
    operands=number,
)

convolution_filter: Primitive = Primitive(
    "convolution_filter",
    forward=_filter_forward,
    spec=_filter_spec,
    vjp=lambda v, _out, x, g, *, windows, groups: (
        lambda: input_cotangent(g, v, windows, groups, x.shape[1:-1]),
        lambda: apply(convolution, x, v, windows=windows, groups=groups),
    ),
    lowering=Contract("convolution"),
    operands=number,
)

convolution_input: Primitive = Primitive(
    "convolution_input",
    forward=_input_forward,
    spec=_input_spec,
    vjp=lambda h, _out, g, w, *, windows, groups, sizes: (
        lambda: apply(convolution, h, w, windows=windows, groups=groups),
        lambda: apply(convolution_filter, h, g, windows=windows, groups=groups),
    ),
    lowering=Contract("convolution"),
    operands=number,
)


def input_cotangent(
    g: Tensor, w: Tensor, win: Windows, groups: int, sizes: Sequence[int]
) -> Tensor:
    """Return the cotangent of convolution's input: [n, *sizes, channels]."""
    return apply(
        convolution_input, g, w, windows=win, groups=groups, sizes=tuple(sizes)
    )
