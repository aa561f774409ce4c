"""Convolution and its two transposes, each primitive the others' reverse rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gtape.dispatch import apply
from gtape.errors import ShapeError
from gtape.lowering import Contract
from gtape.ops.common import Tensor, TensorLike, convert
from gtape.ops.shaping import reshape
from gtape.ops.windows import (
    Windows,
    as_images,
    as_windows,
    from_images,
    is_channels_first,
)
from gtape.primitive import Primitive, number
from gtape.spec import TensorSpec, as_shape

# --- Computation -------------------------------------------------------------------------
#
# x is [n, *sizes, channels], w is [*window, channels / groups, features], and the result y is
# [n, *counts, features]. Each computation is a matrix product with the columns of x: a row for
# each window and in it what lies under the window. The product has the groups in front.

_BLOCK = (
    1 << 20
)  # elements of columns at once: they stay in cache, and memory is bounded


def _wide(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Make a computation of two arrays run in float32 where they are shorter floats."""

    def widened(a: Any, b: Any, **attrs: Any) -> Any:
        if a.dtype.itemsize == 2 and a.dtype.kind in "fV":
            out = forward(a.astype(np.float32), b.astype(np.float32), **attrs)
            return out.astype(a.dtype)
        return forward(a, b, **attrs)

    return widened


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


@_wide
def _conv_forward(x: Any, w: Any, *, windows: Windows, groups: int) -> Any:
    counts = windows.counts("convolution", x.shape[1:-1])
    x = _padded(x, windows)
    out = np.empty((x.shape[0], *counts, w.shape[-1]), x.dtype)
    matrix = _matrix(w, groups)
    for b in _blocks(x.shape[0], int(np.prod((*counts, *w.shape[:-1]))) * groups):
        columns = _columns(x[b], windows, counts, groups)  # type: ignore[arg-type]
        np.matmul(columns, matrix, out=_rows(out[b], groups))
    return out


@_wide
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


@_wide
def _input_forward(
    g: Any, w: Any, *, windows: Windows, groups: int, sizes: tuple[int, ...]
) -> Any:
    mirrored = _mirrored(windows, w, groups)
    if mirrored is not None:
        flipped = w[(slice(None, None, -1),) * len(sizes)]
        parts = flipped.reshape(*w.shape[:-1], groups, w.shape[-1] // groups)
        parts = np.swapaxes(parts, -3, -1)  # [..., features / groups, groups, channels]
        flipped = parts.reshape(*windows.size, parts.shape[-3], -1)
        return _conv_forward(g, flipped, windows=mirrored, groups=groups)
    counts = g.shape[1:-1]
    channels = w.shape[-2]
    matrix = _matrix(w, groups).transpose(0, 2, 1)
    out = np.zeros((g.shape[0], *sizes, groups, channels), g.dtype)
    places = list(windows.places(sizes, counts))
    for b in _blocks(g.shape[0], int(np.prod((*counts, *w.shape[:-1]))) * groups):
        columns = np.matmul(_rows(g[b], groups), matrix)
        columns = columns.reshape(groups, -1, *counts, len(places), channels)
        columns = np.moveaxis(columns, 0, -2)  # [n, *counts, places, groups, channels]
        block = out[b]
        for k, place in enumerate(places):
            if place is not None:
                block[place[1]] += columns[..., k, :, :][place[0]]
    return out.reshape(*out.shape[:-2], groups * channels)


def _mirrored(win: Windows, w: Any, groups: int) -> Windows | None:
    """Return the windows of the convolution that is the transpose, where it is one and quick."""
    if win.strides != (1,) * len(win.strides) or w.shape[-1] > 4 * w.shape[-2] * groups:
        return None
    pairs = []
    for k, (low, high), d in zip(win.size, win.padding, win.dilations, strict=True):
        reach = (k - 1) * d
        if low > reach or high > reach:
            return None
        pairs.append((reach - low, reach - high))
    return win._replace(padding=tuple(pairs))


# --- Primitives --------------------------------------------------------------------------


def _conv_spec(
    x: TensorSpec, w: TensorSpec, *, windows: Windows, groups: int
) -> TensorSpec:
    _check_channels("convolution", x.shape, w.shape)
    counts = windows.counts("convolution", x.shape[1:-1])
    return x.with_shape((x.shape[0], *counts, w.shape[-1]))


def _filter_spec(
    x: TensorSpec, g: TensorSpec, *, windows: Windows, groups: int
) -> TensorSpec:
    _check_counts("convolution_filter", windows, x.shape[1:-1], g.shape[1:-1])
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
    _check_counts("convolution_input", windows, sizes, g.shape[1:-1])
    channels = None if w.shape[-2] is None else w.shape[-2] * groups
    return g.with_shape((g.shape[0], *sizes, channels))


def _check_counts(name: str, win: Windows, sizes: Any, counts: Any) -> None:
    expected = win.counts(name, sizes)
    if None not in (*expected, *counts) and expected != tuple(counts):
        raise ShapeError(
            f"{name}: axes of sizes {tuple(sizes)} have {expected} windows, "
            f"not {tuple(counts)}",
            "Make the two fit",
        )


_conv = Primitive(
    "convolution",
    forward=_conv_forward,
    spec=_conv_spec,
    vjp=lambda g, _out, x, w, *, windows, groups: (
        lambda: _convolution_input(g, w, windows, groups, x.shape[1:-1]),
        lambda: apply(_conv_filter, x, g, windows=windows, groups=groups),
    ),
    lowering=Contract("convolution"),
    operands=number,
)

_conv_filter = Primitive(
    "convolution_filter",
    forward=_filter_forward,
    spec=_filter_spec,
    vjp=lambda v, _out, x, g, *, windows, groups: (
        lambda: _convolution_input(g, v, windows, groups, x.shape[1:-1]),
        lambda: apply(_conv, x, v, windows=windows, groups=groups),
    ),
    lowering=Contract("convolution"),
    operands=number,
)

_conv_input = Primitive(
    "convolution_input",
    forward=_input_forward,
    spec=_input_spec,
    vjp=lambda h, _out, g, w, *, windows, groups, sizes: (
        lambda: apply(_conv, h, w, windows=windows, groups=groups),
        lambda: apply(_conv_filter, h, g, windows=windows, groups=groups),
    ),
    lowering=Contract("convolution"),
    operands=number,
)


def _convolution_input(
    g: Tensor, w: Tensor, win: Windows, groups: int, sizes: Sequence[int]
) -> Tensor:
    return apply(_conv_input, g, w, windows=win, groups=groups, sizes=tuple(sizes))


# --- Public functions --------------------------------------------------------------------


def _check_channels(name: str, x: Sequence[Any], w: Sequence[Any]) -> int:
    """Return the number of groups of an input and filters, if they fit."""
    if len(w) != len(x):
        raise ShapeError(
            f"{name}: filters of shape {tuple(w)} for an input of shape {tuple(x)}",
            f"Give the filters {len(x) - 2} window sizes, the input channels and the output "
            "channels",
        )
    if x[-1] is None or w[-2] is None or w[-1] is None:
        return 1
    if 0 in (*w[:-1], x[-1]) or x[-1] % w[-2] or w[-1] % (x[-1] // w[-2]):
        raise ShapeError(
            f"{name}: filters of shape {tuple(w)} for an input of {x[-1]} channels",
            "The last but one size of the filters is the number of input channels, or, with "
            "groups, a divisor of it; the number of groups divides the last size",
        )
    return int(x[-1]) // int(w[-2])


def _convolve(
    name: str,
    x: TensorLike,
    filters: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    rank: int,
) -> Tensor:
    first = is_channels_first(name, data_format, rank)
    x, batch = as_images(name, x, rank, first)
    w = convert(filters)
    groups = _check_channels(name, x.shape, w.shape)
    sizes = x.shape[1:-1]
    win = as_windows(name, sizes, w.shape[:-2], strides, padding, dilations, first)
    win.counts(name, sizes)
    out = apply(_conv, x, w, windows=win, groups=groups)
    return from_images(out, batch, first)


def conv1d(
    input: TensorLike,
    filters: TensorLike,
    stride: int | Sequence[int],
    padding: str | Sequence[Any],
    data_format: str = "NWC",
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Return the convolution of signals with filters (the filters are not mirrored).

    out[n, i, f] is the sum over k and c of input[n, i * stride + k, c] * filters[k, c, f].

    Args:
        input: Signals of shape [..., width, channels].
        filters: Filters of shape [window, channels / groups, features]; with less channels than
            the input has, the channels and the features fall into groups.
        stride: The distance between windows.
        padding: "SAME" for width / stride results, "VALID" for windows inside the signal only,
            or zeros to add: a pair (before, after) in a list.
        data_format: "NWC", or "NCW" for channels before the width.
        dilations: The distance between the elements under a window; 1 by default.

    Raises:
        ShapeError: If the shapes do not fit.
        ArgumentError: If stride, padding, data_format or dilations are unknown.

    Example:
        >>> import gtape as gt
        >>> x = gt.reshape([1., 2., 3., 4.], [1, 4, 1])
        >>> w = gt.reshape([1., 10.], [2, 1, 1])
        >>> gt.nn.conv1d(x, w, 1, "VALID").numpy().ravel()
        array([21., 32., 43.], dtype=float32)
    """
    return _convolve(
        "conv1d", input, filters, stride, padding, data_format, dilations, 1
    )


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Any],
    data_format: str = "NHWC",
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Return the convolution of images with filters (the filters are not mirrored).

    Args:
        input: Images of shape [..., height, width, channels].
        filters: Filters of shape [height, width, channels / groups, features]; with less
            channels than the input has, the channels and the features fall into groups.
        strides: The distance between windows: one int, two, or four with 1 for the batch and
            the channels.
        padding: "SAME" for size / stride results, "VALID" for windows inside the image only, or
            zeros to add: a pair (before, after) for each axis, or for height and width.
        data_format: "NHWC", or "NCHW" for channels before the height.
        dilations: The distance between the elements under a window, as strides; 1 by default.

    Raises:
        ShapeError: If the shapes do not fit.
        ArgumentError: If strides, padding, data_format or dilations are unknown.

    Example:
        >>> import gtape as gt
        >>> out = gt.nn.conv2d(gt.ones([1, 3, 3, 1]), gt.ones([3, 3, 1, 1]), 1, "SAME")
        >>> out[0, :, :, 0].numpy()
        array([[4., 6., 4.],
               [6., 9., 6.],
               [4., 6., 4.]], dtype=float32)
    """
    return _convolve(
        "conv2d", input, filters, strides, padding, data_format, dilations, 2
    )


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: int | Sequence[int],
    padding: str | Sequence[Any],
    data_format: str = "NHWC",
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Return the convolution of each channel of images with filters of its own.

    Args:
        input: Images of shape [..., height, width, channels].
        filter: Filters of shape [height, width, channels, multiplier]. Feature c * multiplier +
            m of the result is channel c under its filter m.
        strides: As for `conv2d`.
        padding: As for `conv2d`.
        data_format: "NHWC", or "NCHW" for channels before the height.
        dilations: As for `conv2d`.

    Raises:
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> out = gt.nn.depthwise_conv2d(
        ...     gt.ones([1, 2, 2, 2]), gt.constant([[[[1.], [10.]]]]), 1, "VALID")
        >>> out[0, 0, 0].numpy()
        array([ 1., 10.], dtype=float32)
    """
    name = "depthwise_conv2d"
    x, w = convert(input), convert(filter)
    channel = -3 if is_channels_first(name, data_format, 2) else -1
    if w.ndim != 4 or x.ndim < 4 or w.shape[2] != x.shape[channel]:
        raise ShapeError(
            f"{name}: filters of shape {tuple(w.shape)} for an input of shape "
            f"{tuple(x.shape)}",
            "Give the filters [height, width, channels, multiplier]",
        )
    height, width, channels, multiplier = w.shape
    w = reshape(w, (height, width, 1, channels * multiplier))
    return _convolve(name, x, w, strides, padding, data_format, dilations, 2)


def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Any] = "SAME",
    data_format: str = "NHWC",
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Return the transpose of `conv2d`: what its reverse rule does to a cotangent.

    Args:
        input: Images of shape [batch, height, width, features], as conv2d gives them.
        filters: Filters of shape [height, width, channels, features]: conv2d's own.
        output_shape: The shape of the result, which conv2d would take to that of `input`.
        strides: As for `conv2d`.
        padding: As for `conv2d`.
        data_format: "NHWC", or "NCHW" for channels before the height.
        dilations: As for `conv2d`.

    Raises:
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> out = gt.nn.conv2d_transpose(
        ...     gt.ones([1, 1, 2, 1]), gt.ones([1, 3, 1, 1]), [1, 1, 5, 1], 2, "VALID")
        >>> out.numpy().ravel()
        array([1., 1., 2., 1., 1.], dtype=float32)
    """
    name = "conv2d_transpose"
    first = is_channels_first(name, data_format, 2)
    x, batch = as_images(name, input, 2, first)
    w = convert(filters)
    shape = as_shape(name, output_shape)
    if w.ndim != 4 or len(shape) != 4 or len(batch) != 1:
        raise ShapeError(
            f"{name}: input {tuple(x.shape)}, filters {tuple(w.shape)} and output_shape "
            f"{shape}",
            "Give each four axes",
        )
    out = (shape[0], *shape[2:], shape[1]) if first else shape
    if (x.shape[-1], out[0], out[-1]) != (w.shape[-1], x.shape[0], w.shape[-2]):
        raise ShapeError(
            f"{name}: input {tuple(x.shape)}, filters {tuple(w.shape)} and output_shape "
            f"{shape} do not fit",
            "The filters are [height, width, channels of the output, channels of the input], "
            "and the batch sizes are equal",
        )
    sizes = out[1:-1]
    win = as_windows(name, sizes, w.shape[:-2], strides, padding, dilations, first)
    _check_counts(name, win, sizes, x.shape[1:-1])
    result = _convolution_input(x, w, win, 1, sizes)
    return from_images(result, batch, first)
