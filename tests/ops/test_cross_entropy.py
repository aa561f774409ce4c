"""Cross-entropies: known values, extreme logits, masked examples and refusals."""

import numpy as np
import pytest
import scipy.special

import gtape as gt
from gtape.errors import (
    ArgumentTypeError,
    DTypeError,
    IndexRangeError,
    ShapeError,
)
from gtape.testing import check_grads

sparse = gt.nn.sparse_softmax_cross_entropy_with_logits
dense = gt.nn.softmax_cross_entropy_with_logits
sigmoid = gt.nn.sigmoid_cross_entropy_with_logits
INF = np.inf


def gradients(f, *points):
    xs = [gt.constant(p) for p in points]
    with gt.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [g.numpy() for g in tape.gradient(y, xs)]


def test_known_gradients():
    by_labels, by_logits = gradients(dense, [0.0, 0.0, 1.0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(by_labels, [2.4076059, 1.4076059, 0.4076059], rtol=1e-6)
    slope = [0.0900306, 0.2447285, -0.3347591]
    np.testing.assert_allclose(by_logits, slope, rtol=1e-6)
    (found,) = gradients(lambda x: sparse(2, x), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found, slope, rtol=1e-6)
    np.testing.assert_allclose(sparse(2, [1.0, 2.0, 3.0]).numpy(), 0.4076059, rtol=1e-6)


def test_gradient_of_labels_that_do_not_sum_to_one():
    _, found = gradients(dense, [1.0, 1.0], [0.0, 0.0])
    np.testing.assert_allclose(found, [0, 0], atol=1e-7)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_large_logits(dtype):
    logits = gt.cast([[1e4, 0.0], [-1e4, 1e4]], dtype)
    for found in (sparse([0, 1], logits), dense([[1.0, 0.0], [0.0, 1.0]], logits)):
        assert found.numpy().astype(float).tolist() == [0, 0]
    found = sparse([1, 0], logits)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.numpy().astype(float), [1e4, 2e4], rtol=1e-2)


def test_small_losses_keep_their_digits():
    found = sparse([0], gt.constant([[40.0, 0.0]])).numpy()
    assert found[0] == 0  # log(1 + e**-40) is lost beside 1
    found = sigmoid([1.0], [40.0]).numpy()
    np.testing.assert_allclose(found, [np.exp(-40)], rtol=1e-5)


def test_a_class_that_is_ruled_out():
    logits = [0.0, -INF, 0.0]
    assert sparse(0, logits).numpy() == np.float32(np.log(2))
    assert dense([0.5, 0.0, 0.5], logits).numpy() == np.float32(np.log(2))
    _, found = gradients(dense, [0.5, 0.0, 0.5], logits)
    np.testing.assert_allclose(found, [0, 0, 0], atol=1e-7)
    assert sparse(1, logits).numpy() == INF


def test_an_example_that_counts_nothing():
    logits, weights = [[INF, 0.0], [0.0, 0.0]], [0.0, 1.0]

    def loss(x):
        return gt.reduce_sum(gt.multiply_no_nan(sparse([0, 0], x), weights))

    (found,) = gradients(loss, logits)
    np.testing.assert_allclose(found, [[0, 0], [-0.5, 0.5]])


def test_sigmoid_at_zero():
    by_labels, by_logits = gradients(sigmoid, [0.0, 1.0], [0.0, 0.0])
    np.testing.assert_array_equal(by_logits, [0.5, -0.5])
    np.testing.assert_array_equal(by_labels, [0, 0])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_labels_of_every_width(dtype):
    logits = np.random.default_rng(0).normal(size=(3, 300))
    labels = np.array([0, 100, 127], dtype)
    wanted = -scipy.special.log_softmax(logits, -1)[[0, 1, 2], [0, 100, 127]]
    np.testing.assert_allclose(sparse(labels, logits).numpy(), wanted)


def test_slope_is_differentiable_by_itself():
    # The second result of the primitive, which a gradient of a gradient passes through.
    labels = np.array([2, 0])
    logits = np.random.default_rng(0).normal(size=(2, 3))

    def slope(x):
        return gt.grad(lambda x: gt.reduce_sum(sparse(labels, x)))(x)

    check_grads(slope, logits, order=2)
    check_grads(lambda x: sparse(labels, x), logits, modes=("forward",))


def test_logits_of_any_layout():
    rng = np.random.default_rng(3)
    x, labels = rng.normal(size=(4, 5, 6)), rng.integers(0, 6, (4, 5))
    wanted = [sparse(labels, x).numpy(), *gradients(lambda x: sparse(labels, x), x)]
    for order in ([0, 2, 1], [2, 1, 0], [1, 0, 2]):
        strided = np.transpose(x, order).copy().transpose(np.argsort(order))
        found = [
            sparse(labels, strided).numpy(),
            *gradients(lambda x: sparse(labels, x), strided),
        ]
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)
    flat = np.asfortranarray(x[0])
    np.testing.assert_allclose(sparse(labels[0], flat).numpy(), wanted[0][0])
    (slope,) = gradients(lambda x: sparse(labels[0], x), flat)
    np.testing.assert_allclose(slope, wanted[1][0])


def test_no_examples():
    assert sparse(np.zeros(0, np.int32), np.zeros((0, 3))).shape == (0,)
    assert sparse(np.zeros(0, np.int32), np.zeros((0, 0))).shape == (0,)


LOGITS = gt.zeros([2, 3])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: sparse([0, 3], LOGITS),
            IndexRangeError,
            "label 3 is out of range for 3",
        ),
        (lambda: sparse([-1, 0], LOGITS), IndexRangeError, "label -1 is out of range"),
        (lambda: sparse(9, LOGITS[0]), IndexRangeError, "label 9"),
        (lambda: sparse([0], gt.zeros([1, 0])), IndexRangeError, "no class"),
        (lambda: sparse([[0], [1]], LOGITS), ShapeError, "labels of shape (2, 1)"),
        (lambda: sparse([0, 1, 2], LOGITS), ShapeError, "labels of shape (3,)"),
        (lambda: sparse(0, LOGITS), ShapeError, "labels of shape ()"),
        (lambda: sparse(0, 1.0), ShapeError, "scalar"),
        (lambda: sparse([0.0, 1.0], LOGITS), DTypeError, "float32"),
        (lambda: sparse([True, False], LOGITS), DTypeError, "bool"),
        (lambda: sparse([0, 1], gt.cast(LOGITS, gt.int32)), DTypeError, "int32"),
        (lambda: dense([1.0], LOGITS), ShapeError, "labels of shape (1,)"),
        (lambda: dense(LOGITS, LOGITS, axis=2), ShapeError, "axis 2"),
        (lambda: sigmoid([1.0], LOGITS), ShapeError, "labels of shape (1,)"),
        (lambda: sigmoid("yes", LOGITS), ArgumentTypeError, "yes"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
