"""Normalizing and clipping: by moments, batches, layers and norms."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

from gtape.dtypes import as_dtype
from gtape.errors import ArgumentError, ArgumentTypeError, ShapeError
from gtape.ops.arithmetic import divide_no_nan, square
from gtape.ops.common import Axis, Tensor, TensorLike, convert, normalize_axes
from gtape.ops.extrema import maximum
from gtape.ops.linear import cast, where
from gtape.ops.logic import is_finite
from gtape.ops.math import abs as absolute
from gtape.ops.math import is_complex, rsqrt
from gtape.ops.norms import reduce_euclidean_norm
from gtape.ops.precision import as_inexact, widened
from gtape.ops.reduction import reduce_mean
from gtape.ops.shaping import reshape, squeeze
from gtape.ops.slicing import stack
from gtape.spec import broadcast_shapes

# --- Moments --------------------------------------------------------------------------


def moments(
    x: TensorLike, axes: Axis, shift: None = None, keepdims: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the mean and the variance of x over the given axes.

    The variance is the mean of abs(x - mean(x)) ** 2, over the number of elements.

    Args:
        x: A floating-point tensor.
        axes: The axes; `None` for all of them.
        shift: Not used; it keeps the place of TensorFlow's argument.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If x is integer or bool.
        ShapeError: If x has no such axis.

    Example:
        >>> import gtape as gt
        >>> mean, variance = gt.nn.moments([1., 2., 3., 4.], axes=[0])
        >>> mean.numpy(), variance.numpy()
        (np.float32(2.5), np.float32(1.25))
    """
    x = as_inexact("moments", x)
    places = normalize_axes("moments", axes, x.ndim)
    mean, variance = _moments(widened(x), places)
    if not keepdims and places:
        mean, variance = squeeze(mean, places), squeeze(variance, places)
    return cast(mean, x.dtype), cast(variance, as_dtype(x.dtype).real_dtype)


def _moments(x: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    mean = reduce_mean(x, axes, keepdims=True)
    away = x - mean
    squares = square(absolute(away) if is_complex(away) else away)
    return mean, reduce_mean(squares, axes, keepdims=True)


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: TensorLike,
) -> Tensor:
    """Return (x - mean) / sqrt(variance + variance_epsilon) * scale + offset.

    Sergey Ioffe, Christian Szegedy: Batch Normalization, 2015.

    Args:
        x: A floating-point tensor.
        mean: The mean; it broadcasts to x, as do the next three.
        variance: The variance.
        offset: Often called beta; `None` for 0.
        scale: Often called gamma; `None` for 1.
        variance_epsilon: A small number, so that nothing is divided by zero.

    Raises:
        ShapeError: If an argument does not broadcast to x.

    Example:
        >>> import gtape as gt
        >>> x = gt.constant([[1.], [3.]])
        >>> mean, variance = gt.nn.moments(x, axes=[0])
        >>> gt.nn.batch_normalization(x, mean, variance, 10., 2., 0.).numpy().ravel()
        array([ 8., 12.], dtype=float32)
    """
    name = "batch_normalization"
    x, mean, variance = (as_inexact(name, v) for v in (x, mean, variance))
    others = [mean, variance]
    others += [convert(v, x.dtype) for v in (offset, scale) if v is not None]
    for other in others:
        if broadcast_shapes(name, x.shape, other.shape) != tuple(x.shape):
            raise ShapeError(
                f"{name}: shape {tuple(other.shape)} does not broadcast to "
                f"{tuple(x.shape)}",
                "Give mean, variance, offset and scale the size of the last axis",
            )
    return _normalized(x, mean, variance, offset, scale, variance_epsilon)


def _normalized(
    x: Tensor, mean: Tensor, variance: Tensor, offset: Any, scale: Any, epsilon: Any
) -> Tensor:
    # The mean goes first: x * factor - mean * factor cancels where the mean is large.
    factor = rsqrt(variance + epsilon)
    out = (x - mean) * (factor if scale is None else factor * scale)
    return out if offset is None else out + offset


def layer_normalization(
    x: TensorLike,
    gamma: TensorLike | None = None,
    beta: TensorLike | None = None,
    axis: int | Sequence[int] = -1,
    epsilon: float = 1e-3,
) -> Tensor:
    """Return (x - mean) / sqrt(variance + epsilon) * gamma + beta, for each example.

    Mean and variance are those of x over the given axes.
    Jimmy Lei Ba, Jamie Ryan Kiros, Geoffrey Hinton: Layer Normalization, 2016.

    Args:
        x: A floating-point tensor.
        gamma: The scale, with the sizes of the axes; `None` for 1.
        beta: The offset, with the sizes of the axes; `None` for 0.
        axis: The axes that are normalized together.
        epsilon: A small number, so that nothing is divided by zero.

    Raises:
        ShapeError: If gamma or beta has another shape, or x no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.nn.layer_normalization([[1., 3.]], epsilon=0.).numpy()
        array([[-1.,  1.]], dtype=float32)
    """
    name = "layer_normalization"
    x = as_inexact(name, x)
    axes = normalize_axes(name, axis, x.ndim)
    values = widened(x)
    mean, variance = _moments(values, axes)
    scale = _along(name, "gamma", gamma, x, axes)
    offset = _along(name, "beta", beta, x, axes)
    return cast(_normalized(values, mean, variance, offset, scale, epsilon), x.dtype)


def _along(
    name: str, argument: str, value: Any, x: Tensor, axes: tuple[int, ...]
) -> Tensor | None:
    """Return a parameter with the sizes of the axes so that it broadcasts to x."""
    if value is None:
        return None
    value = convert(value)
    sizes = tuple(x.shape[i] for i in axes)
    if tuple(value.shape) != sizes:
        raise ShapeError(
            f"{name}: {argument} of shape {tuple(value.shape)} for axes {axes} of "
            f"shape {tuple(x.shape)}",
            f"Give it the shape {sizes}",
        )
    return reshape(value, [d if i in axes else 1 for i, d in enumerate(x.shape)])


# --- Norms ----------------------------------------------------------------------------


def l2_normalize(x: TensorLike, axis: Axis = None, epsilon: float = 1e-12) -> Tensor:
    """Return x / sqrt(max(sum(x ** 2), epsilon)) over the given axes.

    Args:
        x: A floating-point tensor.
        axis: The axes that are normalized together; all of them by default.
        epsilon: The least square of a norm that is divided by.

    Raises:
        ArgumentError: If epsilon is negative.
        ShapeError: If x has no such axis.
        DTypeError: If x is integer or bool.

    Example:
        >>> import gtape as gt
        >>> gt.nn.l2_normalize([3., 4.]).numpy()
        array([0.6, 0.8], dtype=float32)
    """
    x = as_inexact("l2_normalize", x)
    if not isinstance(epsilon, Real):
        raise ArgumentTypeError(f"l2_normalize: epsilon {epsilon!r}", "Give a number")
    if not float(epsilon) >= 0:
        raise ArgumentError(f"l2_normalize: epsilon {epsilon}", "Use 0 or more")
    values = widened(x)  # epsilon is 0 in float16
    axes = normalize_axes("l2_normalize", axis, x.ndim)
    norm = reduce_euclidean_norm(values, axes, keepdims=True)
    return cast(values / maximum(norm, float(epsilon) ** 0.5), x.dtype)


def _factor(name: str, norm: Tensor, clip_norm: Any) -> Tensor:
    """Return what to multiply by so that a norm is at most clip_norm."""
    if isinstance(clip_norm, Real) and not float(clip_norm) >= 0:
        raise ArgumentError(f"{name}: clip_norm {clip_norm}", "Use 0 or more")
    limit = convert(clip_norm, norm.dtype)
    return divide_no_nan(limit, maximum(norm, limit))


def clip_by_norm(t: TensorLike, clip_norm: TensorLike, axes: Axis = None) -> Tensor:
    """Return t, scaled down where needed to a norm of clip_norm.

    Args:
        t: A floating-point tensor.
        clip_norm: The greatest norm.
        axes: The axes that each norm is taken over; all of them by default.

    Raises:
        ArgumentError: If clip_norm is negative.
        ShapeError: If t has no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.clip_by_norm([3., 4.], 1.).numpy()
        array([0.6, 0.8], dtype=float32)
    """
    t = as_inexact("clip_by_norm", t)
    places = normalize_axes("clip_by_norm", axes, t.ndim)
    norm = reduce_euclidean_norm(t, places, keepdims=True)
    return t * _factor("clip_by_norm", norm, clip_norm)


def _tensors(name: str, t_list: Any) -> list[Any]:
    if isinstance(t_list, (str, bytes)) or not isinstance(t_list, Sequence):
        raise ArgumentTypeError(
            f"{name}: {type(t_list).__name__} is not a list of tensors",
            "Give a list, such as tape.gradient returns for a list of sources",
        )
    return [None if t is None else as_inexact(name, t) for t in t_list]


def global_norm(t_list: Sequence[TensorLike | None]) -> Tensor:
    """Return the norm of all tensors of a list as if they were one vector.

    Args:
        t_list: Floating-point tensors; `None` is passed over.

    Raises:
        ArgumentTypeError: If it is not a list.

    Example:
        >>> import gtape as gt
        >>> gt.nn.global_norm([[3.], None, [[4.]]]).numpy()
        np.float32(5.0)
    """
    return _global_norm(_tensors("global_norm", t_list))


def _global_norm(tensors: list[Any]) -> Tensor:
    norms = [reduce_euclidean_norm(t) for t in tensors if t is not None]
    if not norms:
        return convert(0.0)
    return norms[0] if len(norms) == 1 else reduce_euclidean_norm(stack(norms))


def clip_by_global_norm(
    t_list: Sequence[TensorLike | None],
    clip_norm: TensorLike,
    use_norm: TensorLike | None = None,
) -> tuple[list[Tensor | None], Tensor]:
    """Return tensors, scaled down together to a norm where needed, and their norm.

    Where the norm is infinite or NaN, all results are NaN: no part of such a step is of
    use.

    Args:
        t_list: Floating-point tensors; `None` stays `None`.
        clip_norm: The greatest norm.
        use_norm: The norm, where it is known already.

    Raises:
        ArgumentError: If clip_norm is negative.
        ArgumentTypeError: If t_list is not a list.

    Example:
        >>> import gtape as gt
        >>> clipped, norm = gt.nn.clip_by_global_norm([[3.], [4.]], 1.)
        >>> [t.numpy() for t in clipped], norm.numpy()
        ([array([0.6], dtype=float32), array([0.8], dtype=float32)], np.float32(5.0))
    """
    name = "clip_by_global_norm"
    tensors = _tensors(name, t_list)
    norm = _global_norm(tensors) if use_norm is None else convert(use_norm)
    factor = where(is_finite(norm), _factor(name, norm, clip_norm), float("nan"))
    return [None if t is None else t * cast(factor, t.dtype) for t in tensors], norm
