"""Convolution of signals and images, and its transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gtape.dispatch import apply
from gtape.errors import ShapeError
from gtape.ops.common import Tensor, TensorLike, as_shape, convert
from gtape.ops.convolving import (
    check_channels,
    check_counts,
    convolution,
    input_cotangent,
)
from gtape.ops.shaping import reshape
from gtape.ops.windows import (
    as_images,
    as_windows,
    from_images,
    is_channels_first,
)


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
    groups = check_channels(name, x.shape, w.shape)
    sizes = x.shape[1:-1]
    win = as_windows(name, sizes, w.shape[:-2], strides, padding, dilations, first)
    win.counts(name, sizes)
    out = apply(convolution, x, w, windows=win, groups=groups)
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

    out[n, i, f] is the sum over k, c of input[n, i * stride + k, c] * filters[k, c, f].

    Args:
        input: Signals of shape [..., width, channels].
        filters: Filters of shape [window, channels / groups, features]; with fewer
            channels than the input has, channels and features fall into groups.
        stride: The distance between windows.
        padding: "SAME" for width / stride results, "VALID" for windows inside the
            signal only, or how many zeros to add: a pair (before, after) in a list.
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
        filters: Filters of shape [height, width, channels / groups, features]; with
            fewer channels than the input has, channels and features fall into groups.
        strides: The distance between windows: one int, two, or four with 1 for the
            batch and the channels.
        padding: "SAME" for size / stride results, "VALID" for windows inside the image
            only, or how many zeros to add: a pair (before, after) for each axis, or for
            height and width.
        data_format: "NHWC", or "NCHW" for channels before the height.
        dilations: The distance between the elements under a window, as strides; 1 by
            default.

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
        filter: Filters of shape [height, width, channels, multiplier]. Feature
            c * multiplier + m of the result is channel c under its filter m.
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
        output_shape: The shape of the result; conv2d would take it to that of `input`.
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
            f"{name}: input {tuple(x.shape)}, filters {tuple(w.shape)} and "
            f"output_shape {shape}",
            "Give each four axes",
        )
    out = (shape[0], *shape[2:], shape[1]) if first else shape
    if (x.shape[-1], out[0], out[-1]) != (w.shape[-1], x.shape[0], w.shape[-2]):
        raise ShapeError(
            f"{name}: input {tuple(x.shape)}, filters {tuple(w.shape)} and "
            f"output_shape {shape} do not fit",
            "The filters are [height, width, channels of the output, channels of the "
            "input], and the batch sizes are equal",
        )
    sizes = out[1:-1]
    win = as_windows(name, sizes, w.shape[:-2], strides, padding, dilations, first)
    check_counts(name, win, sizes, x.shape[1:-1])
    result = input_cotangent(x, w, win, 1, sizes)
    return from_images(result, batch, first)
