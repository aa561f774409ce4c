"""Cross-entropies of logits, stable for logits of every size, and the L2 loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import Kind, NumpyDType, as_dtype, concrete
from gtape.errors import DTypeError, IndexRangeError, ShapeError, said_by
from gtape.lowering import Custom, Map
from gtape.ops.arithmetic import multiply_no_nan, square
from gtape.ops.common import Tensor, TensorLike, convert
from gtape.ops.linear import reduce_sum
from gtape.ops.precision import convert_inexact, through_float32, wide
from gtape.ops.ranges import one_hot
from gtape.ops.shaping import expand_dims
from gtape.ops.softmax import log_softmax
from gtape.ops.special import sigmoid
from gtape.primitive import Primitive, floating
from gtape.spec import TensorSpec, broadcast_shapes

# --- Labels as integers ---------------------------------------------------------------
#
# The primitive gives the loss and, since its reverse rule needs it, the slope of the
# loss by the logits: their softmax, less 1 at the label.

_SPARSE = "sparse_softmax_cross_entropy_with_logits"
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _check_labels(logits: Sequence[Any], labels: Sequence[Any]) -> None:
    """Require that labels of a shape fit logits of a shape."""
    if not logits:
        raise ShapeError(
            f"{_SPARSE}: logits are a scalar", "Give them an axis of classes"
        )
    pairs = zip(logits[:-1], labels, strict=False)
    if len(labels) != len(logits) - 1 or any(
        a != b and None not in (a, b) for a, b in pairs
    ):
        raise ShapeError(
            f"{_SPARSE}: labels of shape {tuple(labels)} for logits of shape "
            f"{tuple(logits)}",
            "Labels are integers and have the shape of the logits without the last "
            "axis. For probabilities use softmax_cross_entropy_with_logits",
        )


def _check_range(labels: Any, classes: int) -> None:
    # Read as unsigned integers, labels below zero are too large as well.
    found = labels.view(_UNSIGNED[labels.dtype.itemsize])
    if np.maximum.reduce(found, axis=None, initial=0) >= classes and labels.size:
        bad = (labels < 0) | (labels >= classes)
        value = int(np.asarray(labels)[bad].flat[0])
        raise IndexRangeError(
            f"{_SPARSE}: label {value} is out of range for {classes} classes",
            f"Labels run from 0 to {classes - 1}" if classes else "There is no class",
        )


def _sparse_forward(logits: Any, labels: Any) -> tuple[Any, Any]:
    if not logits.shape or logits.shape[:-1] != labels.shape:
        _check_labels(logits.shape, labels.shape)
    classes = logits.shape[-1]
    _check_range(labels, classes)
    x = wide(logits)
    x = x.reshape(labels.size, classes)
    greatest = np.maximum.reduce(x, axis=1, keepdims=True, initial=-np.inf)
    slope = np.subtract(x, greatest, order="C")  # so that `flat` is a view of it
    # One index into all elements is several times as fast as a pair of indices.
    at = np.arange(0, slope.size, classes or 1)
    at += labels.reshape(-1).astype(at.dtype, copy=False)
    flat = slope.reshape(-1)
    picked = flat[at]
    np.exp(slope, out=slope)
    total = np.add.reduce(slope, axis=1, keepdims=True)
    slope /= total
    flat[at] -= 1
    loss = np.log(total[:, 0]) - picked
    if loss.dtype != logits.dtype:
        loss, slope = loss.astype(logits.dtype), slope.astype(logits.dtype)
    return loss.reshape(labels.shape)[()], slope.reshape(logits.shape)


def _sparse_spec(logits: TensorSpec, labels: TensorSpec) -> tuple[TensorSpec, ...]:
    _check_labels(logits.shape, labels.shape)
    return labels.with_dtype(logits.dtype), logits


def _sparse_vjp(g: Any, out: Any, _logits: Any, labels: Any) -> tuple[Any, ...]:
    by_loss, by_slope = g
    slope = out[1]

    def by_logits() -> Any:
        found = None
        if by_loss is not None:
            found = multiply_no_nan(slope, expand_dims(by_loss, -1))
        if by_slope is not None:
            p = slope + one_hot(labels, slope.shape[-1], dtype=slope.dtype)
            mean = reduce_sum(by_slope * p, -1, keepdims=True)
            curved = p * (by_slope - mean)
            found = curved if found is None else found + curved
        return found

    return by_logits, None


def _labeled(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Floating-point logits, then integer labels."""
    labels = concrete(kinds[1])
    if labels.kind not in "iu":
        raise DTypeError(
            f"{_SPARSE}: labels are integers, got {as_dtype(labels)}",
            "Cast them; for probabilities use softmax_cross_entropy_with_logits",
        )
    return (*floating(_SPARSE, kinds[:1]), labels)


_sparse = Primitive(
    "sparse_softmax_cross_entropy",
    forward=_sparse_forward,
    spec=_sparse_spec,
    vjp=_sparse_vjp,
    lowering=Custom("sparse_softmax_cross_entropy"),
    operands=_labeled,
    multiple=True,
)


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike
) -> Tensor:
    """Return -log(softmax(logits)) at the labels: the loss of each example.

    Args:
        labels: Integers of any shape [...], each the class of an example.
        logits: A floating-point tensor of shape [..., classes].

    Raises:
        IndexRangeError: If a label is not from 0 to classes - 1.
        ShapeError: If the labels do not have the shape of the logits without the last
            axis.
        DTypeError: If the labels are not integers.

    Example:
        >>> import gtape as gt
        >>> gt.nn.sparse_softmax_cross_entropy_with_logits([1], [[0., 0.]]).numpy()
        array([0.6931472], dtype=float32)
    """
    return apply(_sparse, logits, labels)[0]


# --- Labels as probabilities ----------------------------------------------------------


def _same_shape(name: str, labels: Any, logits: Any) -> None:
    if tuple(labels.shape) != tuple(logits.shape):
        raise ShapeError(
            f"{name}: labels of shape {tuple(labels.shape)} for logits of shape "
            f"{tuple(logits.shape)}",
            "Give the two one shape",
        )


def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: int = -1
) -> Tensor:
    """Return -sum(labels * log(softmax(logits))) along an axis.

    A class of probability 0 counts nothing, even where its logit is -inf. The gradient
    by the logits is softmax(logits) * sum(labels) - labels, so it is right for labels
    that do not sum to 1, too.

    Args:
        labels: The probability of each class.
        logits: A floating-point tensor of the same shape.
        axis: The axis of the classes.

    Raises:
        ShapeError: If the shapes differ, or there is no such axis.

    Example:
        >>> import gtape as gt
        >>> gt.nn.softmax_cross_entropy_with_logits([[0., 1.]], [[0., 0.]]).numpy()
        array([0.6931472], dtype=float32)
    """
    labels, logits = convert(labels), convert_inexact(logits)
    _same_shape("softmax_cross_entropy_with_logits", labels, logits)
    with said_by("softmax_cross_entropy_with_logits", "log_softmax"):
        parts = multiply_no_nan(log_softmax(logits, axis), labels)
    return -reduce_sum(parts, axis)


def _sigmoid_forward(x: Any, y: Any) -> Any:
    return np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x)))


_sigmoid_cross_entropy = Primitive(
    "sigmoid_cross_entropy",
    forward=through_float32(_sigmoid_forward),
    spec=lambda x, y: x.with_shape(
        broadcast_shapes("sigmoid_cross_entropy", x.shape, y.shape)
    ),
    vjp=lambda g, _out, x, y: (lambda: g * (sigmoid(x) - y), lambda: -g * x),
    lowering=Map("maximum(x, 0) - x * y + log1p(exp(-abs(x)))"),
    operands=floating,
)


def sigmoid_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike) -> Tensor:
    """Return -labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits)).

    It is computed as max(x, 0) - x * labels + log(1 + exp(-abs(x))), which neither
    overflows nor cancels.

    Args:
        labels: Probabilities.
        logits: A floating-point tensor of the same shape.

    Raises:
        ShapeError: If the shapes differ.

    Example:
        >>> import gtape as gt
        >>> gt.nn.sigmoid_cross_entropy_with_logits([1., 0.], [0., -1000.]).numpy()
        array([0.6931472, 0.       ], dtype=float32)
    """
    x, y = convert_inexact(logits), convert(labels)
    _same_shape("sigmoid_cross_entropy_with_logits", y, x)
    return apply(_sigmoid_cross_entropy, x, y)


def l2_loss(t: TensorLike) -> Tensor:
    """Return half the sum of the squares of all elements.

    Args:
        t: A floating-point tensor.

    Example:
        >>> import gtape as gt
        >>> gt.nn.l2_loss([3., 4.]).numpy()
        np.float32(12.5)
    """
    return reduce_sum(square(convert_inexact(t))) / 2
