"""The namespace `gt.nn`: its names, biases and embeddings."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError

NAMES = """
    relu relu6 leaky_relu elu selu gelu silu swish mish hard_sigmoid sigmoid log_sigmoid
    tanh softplus softsign softmax log_softmax
    conv1d conv2d depthwise_conv2d conv2d_transpose
    max_pool max_pool1d max_pool2d avg_pool avg_pool1d avg_pool2d
    bias_add batch_normalization layer_normalization embedding_lookup moments
    l2_normalize l2_loss softmax_cross_entropy_with_logits
    sparse_softmax_cross_entropy_with_logits sigmoid_cross_entropy_with_logits
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_namespace(name):
    assert getattr(gt.nn, name).__doc__


def test_repeated_ids_add_up():
    table = gt.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with gt.GradientTape() as tape:
        y = gt.nn.embedding_lookup(table, [[2, 0], [2, 2]])
    assert y.shape == (2, 2, 2)
    found = gt.convert_to_tensor(tape.gradient(y, table)).numpy()
    np.testing.assert_array_equal(found, [[1, 1], [0, 0], [3, 3]])


def test_rows_are_clipped():
    found = gt.nn.embedding_lookup([[3.0, 4.0], [0.3, 0.4]], [0, 1], max_norm=1.0)
    np.testing.assert_allclose(found.numpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


def test_swish_is_silu():
    assert gt.nn.swish is gt.nn.silu


TABLE = gt.ones([3, 2])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: gt.nn.embedding_lookup(TABLE, [3]), IndexRangeError, "index 3"),
        (lambda: gt.nn.embedding_lookup(TABLE, [-1]), IndexRangeError, "index -1"),
        (lambda: gt.nn.embedding_lookup(TABLE, [0.0]), DTypeError, "float32"),
        (lambda: gt.nn.embedding_lookup(1.0, [0]), ShapeError, "scalar"),
        (lambda: gt.nn.bias_add(TABLE, [1.0]), ShapeError, "bias of shape (1,)"),
        (lambda: gt.nn.bias_add(TABLE, TABLE), ShapeError, "bias of shape (3, 2)"),
        (lambda: gt.nn.bias_add([1.0], [1.0]), ShapeError, "value of shape (1,)"),
        (lambda: gt.nn.bias_add(TABLE, [1.0], "HWC"), ArgumentError, "HWC"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
