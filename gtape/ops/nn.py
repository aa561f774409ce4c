"""The namespace `gt.nn`: what neural networks are made of."""

from __future__ import annotations

from gtape.errors import ShapeError, said_by
from gtape.ops import cross_entropy
from gtape.ops.activations import elu as elu
from gtape.ops.activations import gelu as gelu
from gtape.ops.activations import hard_sigmoid as hard_sigmoid
from gtape.ops.activations import leaky_relu as leaky_relu
from gtape.ops.activations import mish as mish
from gtape.ops.activations import relu as relu
from gtape.ops.activations import relu6 as relu6
from gtape.ops.activations import selu as selu
from gtape.ops.activations import silu as silu
from gtape.ops.common import Tensor, TensorLike, convert, one_of
from gtape.ops.convolution import conv1d as conv1d
from gtape.ops.convolution import conv2d as conv2d
from gtape.ops.convolution import conv2d_transpose as conv2d_transpose
from gtape.ops.convolution import depthwise_conv2d as depthwise_conv2d
from gtape.ops.cross_entropy import l2_loss as l2_loss
from gtape.ops.cross_entropy import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
)
from gtape.ops.cross_entropy import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
)
from gtape.ops.dropout import dropout as dropout
from gtape.ops.gathering import gather, integers
from gtape.ops.normalizing import batch_normalization as batch_normalization
from gtape.ops.normalizing import clip_by_global_norm as clip_by_global_norm
from gtape.ops.normalizing import clip_by_norm as clip_by_norm
from gtape.ops.normalizing import global_norm as global_norm
from gtape.ops.normalizing import l2_normalize as l2_normalize
from gtape.ops.normalizing import layer_normalization as layer_normalization
from gtape.ops.normalizing import moments as moments
from gtape.ops.pooling import avg_pool as avg_pool
from gtape.ops.pooling import avg_pool1d as avg_pool1d
from gtape.ops.pooling import avg_pool2d as avg_pool2d
from gtape.ops.pooling import max_pool as max_pool
from gtape.ops.pooling import max_pool1d as max_pool1d
from gtape.ops.pooling import max_pool2d as max_pool2d
from gtape.ops.shaping import reshape
from gtape.ops.softmax import log_softmax as log_softmax
from gtape.ops.softmax import softmax as softmax
from gtape.ops.sorting import in_top_k as in_top_k
from gtape.ops.sorting import top_k as top_k
from gtape.ops.special import log_sigmoid as log_sigmoid
from gtape.ops.special import sigmoid as sigmoid
from gtape.ops.special import softplus as softplus
from gtape.ops.special import softsign as softsign
from gtape.ops.trig import tanh as tanh

swish = silu
sparse_softmax_cross_entropy_with_logits = (
    cross_entropy.sparse_softmax_cross_entropy_with_logits
)


def bias_add(
    value: TensorLike, bias: TensorLike, data_format: str | None = None
) -> Tensor:
    """Return value with a number added to each channel.

    Args:
        value: A tensor of rank 2 or more.
        bias: A vector with an element for each channel.
        data_format: Where the channels are: "N...C" (also "NHWC" and its like) for the
            last axis, "NC..." (also "NCHW") for the second.

    Raises:
        ShapeError: If bias is not a vector of that size.
        ArgumentError: If data_format is unknown.

    Example:
        >>> import gtape as gt
        >>> gt.nn.bias_add([[1., 2.], [3., 4.]], [10., 20.]).numpy()
        array([[11., 22.],
               [13., 24.]], dtype=float32)
    """
    x, b = convert(value), convert(bias)
    known = ("N...C", "NWC", "NHWC", "NDHWC", "NC...", "NCW", "NCHW", "NCDHW")
    layout = "N...C" if data_format is None else data_format
    axis = 1 if one_of("bias_add", "data_format", layout, known)[1] == "C" else -1
    if x.ndim < 2 or b.ndim != 1 or b.shape[0] != x.shape[axis]:
        raise ShapeError(
            f"bias_add: a bias of shape {tuple(b.shape)} for a value of shape "
            f"{tuple(x.shape)}",
            "The bias is a vector with an element for each channel",
        )
    return x + (b if axis == -1 else reshape(b, (-1, *[1] * (x.ndim - 2))))


def embedding_lookup(
    params: TensorLike, ids: TensorLike, max_norm: TensorLike | None = None
) -> Tensor:
    """Return the rows of a table with the given numbers.

    Args:
        params: The table, of shape [rows, ...].
        ids: Integers of any shape.
        max_norm: The norm that each row found is scaled down to where it is greater.

    Raises:
        IndexRangeError: If an id is out of range.
        DTypeError: If the ids are not integers.

    Example:
        >>> import gtape as gt
        >>> gt.nn.embedding_lookup([[1., 2.], [3., 4.]], [1, 0, 1]).numpy()
        array([[3., 4.],
               [1., 2.],
               [3., 4.]], dtype=float32)
    """
    params, ids = convert(params), integers("embedding_lookup", ids)
    if params.ndim == 0:
        raise ShapeError("embedding_lookup: params is a scalar", "Give a table of rows")
    with said_by("embedding_lookup", "gather"):
        out = gather(params, ids)
    if max_norm is None:
        return out
    return clip_by_norm(out, max_norm, range(ids.ndim, out.ndim))
