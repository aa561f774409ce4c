"""Normalizing and clipping: zero norms, extreme numbers, structures and refusals."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from gtape.ops.normalizing import clip_by_global_norm, clip_by_norm, global_norm
from gtape.testing import check_grads


def gradient(f, at):
    x = gt.constant(at)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x).numpy()


def test_l2_normalize_at_zero():
    np.testing.assert_allclose(gradient(gt.nn.l2_normalize, [0.0, 0.0]), [1e6, 1e6])
    half = gt.constant([0.0, 0.0], gt.float16)
    assert gt.nn.l2_normalize(half).numpy().tolist() == [0, 0]


def test_l2_normalize_does_not_overflow():
    found = gt.nn.l2_normalize([3e30, 4e30]).numpy()
    np.testing.assert_allclose(found, [0.6, 0.8], rtol=1e-6)


def test_clip_by_norm():
    found = gradient(lambda x: clip_by_norm(x, 1.0), [3.0, 4.0])
    np.testing.assert_allclose(found, [0.032, -0.024], rtol=1e-5)
    small = [0.1, 0.7]  # not scaled, so not rounded either
    assert (
        clip_by_norm(small, 1.0).numpy().tolist() == gt.constant(small).numpy().tolist()
    )
    assert gradient(lambda x: clip_by_norm(x, 1.0), [0.0, 0.0]).tolist() == [1, 1]
    assert clip_by_norm([0.0], 0.0).numpy().tolist() == [0]
    assert clip_by_norm([2.0], 0).numpy().tolist() == [0]


def test_clip_norm_has_a_gradient():
    check_grads(lambda x, c: clip_by_norm(x, c), np.array([3.0, 4.0]), 2.0)


def test_clip_by_global_norm():
    clipped, norm = clip_by_global_norm([[3.0], None, [[4.0]]], 2.5)
    assert norm.numpy() == 5
    assert clipped[1] is None
    assert [t.numpy().item() for t in clipped if t is not None] == [1.5, 2]
    clipped, norm = clip_by_global_norm([[3.0]], 1.0, use_norm=6.0)
    assert (clipped[0].numpy().item(), norm.numpy()) == (0.5, 6)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_global_norm_that_is_not_finite_spoils_all(bad):
    clipped, _ = clip_by_global_norm([[1.0], [bad]], 1.0)
    assert all(np.isnan(t.numpy()).all() for t in clipped)


def test_global_norm_keeps_dtypes_and_is_differentiable_at_zero():
    clipped, _ = clip_by_global_norm(
        [gt.ones([2], gt.float16), gt.ones([2], gt.float64)], 1.0
    )
    assert [t.dtype for t in clipped] == [gt.float16, gt.float64]
    assert gradient(lambda x: global_norm([x, 2 * x]), [0.0, 0.0]).tolist() == [0, 0]
    assert global_norm([]).numpy() == global_norm([None]).numpy() == 0
    assert global_norm([[3e30], [4e30]]).numpy() == np.float32(5e30)


def test_variance_of_equal_numbers():
    _, variance = gt.nn.moments([1e6] * 7, [0])
    assert variance.numpy() == 0

    def normalized(x):
        mean, variance = gt.nn.moments(x, [0])
        return gt.nn.batch_normalization(x, mean, variance, None, None, 1e-3)

    assert gradient(normalized, [2.0, 2.0, 2.0]).tolist() == [0, 0, 0]


def test_a_large_mean_does_not_cancel():
    x = gt.constant([1e6 - 1, 1e6, 1e6 + 1])
    found = gt.nn.layer_normalization(x, epsilon=0.0).numpy()
    np.testing.assert_allclose(found, np.array([-1, 0, 1]) * np.sqrt(1.5), rtol=1e-6)


def test_moments_of_half_precision_do_not_overflow():
    mean, variance = gt.nn.moments(gt.fill([64], gt.constant(3e4, gt.float16)), [0])
    assert (mean.numpy(), variance.numpy()) == (np.float16(3e4), 0)


def test_second_order_goes_through_the_mean():
    check_grads(lambda x: gt.nn.moments(x, [0])[1], np.array([1.0, 2.0, 4.0]), order=2)


X = gt.ones([2, 3])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: gt.nn.moments(X, [2]), ShapeError, "axis 2"),
        (lambda: gt.nn.moments([True], [0]), DTypeError, "bool"),
        (
            lambda: gt.nn.layer_normalization(X, [1.0]),
            ShapeError,
            "gamma of shape (1,)",
        ),
        (
            lambda: gt.nn.layer_normalization(X, None, gt.ones([2, 3])),
            ShapeError,
            "beta of shape (2, 3)",
        ),
        (
            lambda: gt.nn.batch_normalization(X, [1.0] * 4, 1.0, None, None, 0.1),
            ShapeError,
            "(4,)",
        ),
        (
            lambda: gt.nn.batch_normalization([1.0], X, 1.0, None, None, 0.1),
            ShapeError,
            "(2, 3) does not broadcast to (1,)",
        ),
        (lambda: gt.nn.l2_normalize(X, axis=[0, 0]), ShapeError, "twice"),
        (lambda: gt.nn.l2_normalize(gt.cast(X, gt.int32)), DTypeError, "int32"),
        (lambda: gt.nn.l2_normalize(X, epsilon="x"), ArgumentTypeError, "'x'"),
        (lambda: gt.nn.l2_normalize(X, epsilon=-1.0), ArgumentError, "epsilon -1.0"),
        (lambda: clip_by_norm(X, -1.0), ArgumentError, "clip_norm -1.0"),
        (lambda: clip_by_norm(X, float("nan")), ArgumentError, "nan"),
        (lambda: clip_by_norm(X, 1.0, axes=3), ShapeError, "axis 3"),
        (lambda: clip_by_global_norm(X, 1.0), ArgumentTypeError, "list"),
        (lambda: global_norm("gradients"), ArgumentTypeError, "str"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
