"""Pooling: the maximum or the mean of each window of signals and images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gtape.dispatch import apply
from gtape.errors import ArgumentError, ShapeError
from gtape.ops.common import Tensor, TensorLike, convert
from gtape.ops.pools import max_windows, mean_windows
from gtape.ops.windows import (
    FORMATS,
    Windows,
    as_images,
    as_windows,
    from_images,
    is_channels_first,
    per_axis,
)
from gtape.primitive import Primitive


def _prepared(
    name: str,
    input: TensorLike,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    rank: int | None,
) -> tuple[Tensor, Windows, tuple[int, ...], bool]:
    """Return the images, the windows, the batch axes and the layout."""
    x = convert(input)
    if rank is None:
        rank = x.ndim - 2
        if rank not in FORMATS:
            raise ShapeError(
                f"{name}: the input has shape {tuple(x.shape)}",
                "Give it the axes: batch, one to three spatial ones, channels",
            )
    first = is_channels_first(name, data_format, rank)
    x, batch = as_images(name, x, rank, first)
    window = per_axis(name, "ksize", ksize, rank, first)
    sizes = x.shape[1:-1]
    win = as_windows(name, sizes, window, strides, padding, None, first)
    for k, pair in zip(win.size, win.padding, strict=True):
        if any(p >= k for p in pair):
            raise ArgumentError(
                f"{name}: padding {pair} with a window of size {k}",
                "Pad by less than the window, so that each holds an element",
            )
    win.counts(name, sizes)
    return x, win, batch, first


def _pooled(primitive: Primitive, name: str, *arguments: Any) -> Tensor:
    x, win, batch, first = _prepared(name, *arguments)
    return from_images(apply(primitive, x, windows=win), batch, first)


def max_pool(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Any],
    data_format: str | None = None,
) -> Tensor:
    """Return the greatest element of each window, channel by channel.

    Of equal elements the first one takes the whole gradient.

    Args:
        input: Signals, images or volumes of shape [batch, *sizes, channels], with one
            to three sizes.
        ksize: The size of the windows: one int, one for each size, or one for each
            axis.
        strides: The distance between windows, as ksize.
        padding: "SAME" for size / stride results, "VALID" for windows inside the input
            only, or how many elements to add: pairs (before, after). Padding is
            never the greatest.
        data_format: "NHWC" and its like, or "NCHW" for channels before the sizes.

    Raises:
        ShapeError: If the input has another rank or is smaller than a window.
        ArgumentError: If ksize, strides, padding or data_format are unknown.

    Example:
        >>> import gtape as gt
        >>> x = gt.reshape([1., 2., 3., 4., 5., 6., 7., 8.], [1, 2, 4, 1])
        >>> gt.nn.max_pool(x, 2, 2, "VALID").numpy().ravel()
        array([6., 8.], dtype=float32)
    """
    return _pooled(
        max_windows, "max_pool", input, ksize, strides, padding, data_format, None
    )


def max_pool1d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Any],
    data_format: str = "NWC",
) -> Tensor:
    """Return the greatest element of each window of signals, channel by channel.

    Of equal elements the first one takes the whole gradient.

    Args:
        input: Signals of shape [..., width, channels].
        ksize: The size of the windows: one int, or three with 1 for the batch and the
            channels.
        strides: The distance between windows, as ksize.
        padding: "SAME" for size / stride results, "VALID" for windows inside the signal
            only, or how many elements to add: pairs (before, after). Padding is
            never the greatest.
        data_format: "NWC", or "NCW" for channels before the width.

    Raises:
        ShapeError: If the input has another rank or is smaller than a window.
        ArgumentError: If ksize, strides, padding or data_format are unknown.

    Example:
        >>> import gtape as gt
        >>> x = gt.reshape([1., 3., 2., 5.], [1, 4, 1])
        >>> gt.nn.max_pool1d(x, 2, 1, "VALID").numpy().ravel()
        array([3., 3., 5.], dtype=float32)
    """
    return _pooled(
        max_windows, "max_pool1d", input, ksize, strides, padding, data_format, 1
    )


def max_pool2d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Any],
    data_format: str = "NHWC",
) -> Tensor:
    """Return the greatest element of each window of images, channel by channel.

    Of equal elements the first one takes the whole gradient.

    Args:
        input: Images of shape [..., height, width, channels].
        ksize: The size of the windows: one int, two, or four with 1 for the batch and
            the channels.
        strides: The distance between windows, as ksize.
        padding: "SAME" for size / stride results, "VALID" for windows inside the image
            only, or how many elements to add: pairs (before, after). Padding is
            never the greatest.
        data_format: "NHWC", or "NCHW" for channels before the height.

    Raises:
        ShapeError: If the input has another rank or is smaller than a window.
        ArgumentError: If ksize, strides, padding or data_format are unknown.

    Example:
        >>> import gtape as gt
        >>> x = gt.reshape([1., 2., 3., 4., 5., 6., 7., 8.], [1, 2, 4, 1])
        >>> gt.nn.max_pool2d(x, 2, 2, "VALID").numpy().ravel()
        array([6., 8.], dtype=float32)
    """
    return _pooled(
        max_windows, "max_pool2d", input, ksize, strides, padding, data_format, 2
    )


def avg_pool(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Any],
    data_format: str | None = None,
) -> Tensor:
    """Return the mean of each window, channel by channel.

    Args:
        input: Signals, images or volumes of shape [batch, *sizes, channels], with one
            to three sizes.
        ksize: The size of the windows: one int, one for each size, or one for each
            axis.
        strides: The distance between windows, as ksize.
        padding: "SAME" for size / stride results, "VALID" for windows inside the input
            only, or how many elements to add: pairs (before, after). They are
            not counted in the mean.
        data_format: "NHWC" and its like, or "NCHW" for channels before the sizes.

    Raises:
        ShapeError: If the input has another rank or is smaller than a window.
        ArgumentError: If ksize, strides, padding or data_format are unknown.

    Example:
        >>> import gtape as gt
        >>> x = gt.reshape([1., 2., 3., 4., 5., 6., 7., 8.], [1, 2, 4, 1])
        >>> gt.nn.avg_pool(x, 2, 2, "VALID").numpy().ravel()
        array([3.5, 5.5], dtype=float32)
    """
    return _pooled(
        mean_windows, "avg_pool", input, ksize, strides, padding, data_format, None
    )


def avg_pool1d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Any],
    data_format: str = "NWC",
) -> Tensor:
    """Return the mean of each window of signals, channel by channel.

    Args:
        input: Signals of shape [..., width, channels].
        ksize: The size of the windows: one int, or three with 1 for the batch and the
            channels.
        strides: The distance between windows, as ksize.
        padding: "SAME" for size / stride results, "VALID" for windows inside the signal
            only, or how many elements to add: pairs (before, after). They are
            not counted in the mean.
        data_format: "NWC", or "NCW" for channels before the width.

    Raises:
        ShapeError: If the input has another rank or is smaller than a window.
        ArgumentError: If ksize, strides, padding or data_format are unknown.

    Example:
        >>> import gtape as gt
        >>> x = gt.reshape([1., 3., 2., 5.], [1, 4, 1])
        >>> gt.nn.avg_pool1d(x, 2, 1, "VALID").numpy().ravel()
        array([2. , 2.5, 3.5], dtype=float32)
    """
    return _pooled(
        mean_windows, "avg_pool1d", input, ksize, strides, padding, data_format, 1
    )


def avg_pool2d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str | Sequence[Any],
    data_format: str = "NHWC",
) -> Tensor:
    """Return the mean of each window of images, channel by channel.

    Args:
        input: Images of shape [..., height, width, channels].
        ksize: The size of the windows: one int, two, or four with 1 for the batch and
            the channels.
        strides: The distance between windows, as ksize.
        padding: "SAME" for size / stride results, "VALID" for windows inside the image
            only, or how many elements to add: pairs (before, after). They are
            not counted in the mean.
        data_format: "NHWC", or "NCHW" for channels before the height.

    Raises:
        ShapeError: If the input has another rank or is smaller than a window.
        ArgumentError: If ksize, strides, padding or data_format are unknown.

    Example:
        >>> import gtape as gt
        >>> x = gt.reshape([1., 2., 3., 4., 5., 6., 7., 8.], [1, 2, 4, 1])
        >>> gt.nn.avg_pool2d(x, 2, 2, "VALID").numpy().ravel()
        array([3.5, 5.5], dtype=float32)
    """
    return _pooled(
        mean_windows, "avg_pool2d", input, ksize, strides, padding, data_format, 2
    )
