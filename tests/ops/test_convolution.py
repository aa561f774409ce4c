"""Convolution: known values, memory blocks, transposes, higher orders and refusals."""

import numpy as np
import pytest
import scipy.signal

import gtape as gt
from gtape.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from gtape.ops import convolving
from gtape.testing import check_grads

conv1d, conv2d = gt.nn.conv1d, gt.nn.conv2d


def some(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def test_it_is_a_correlation():
    x, w = some(7, 6), some(3, 2)
    found = conv2d(x[None, :, :, None], w[:, :, None, None], 1, "VALID")
    wanted = scipy.signal.correlate2d(x, w, mode="valid")
    np.testing.assert_allclose(found[0, :, :, 0].numpy(), wanted)


def test_same_padding_puts_the_odd_zero_last():
    x = gt.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1])
    w = gt.reshape([1.0, 10.0], [2, 1, 1])
    found = conv1d(x, w, 1, "SAME")
    np.testing.assert_array_equal(found.numpy().ravel(), [21, 32, 43, 4])
    found = conv1d(x, gt.ones([3, 1, 1]), 2, "same")  # one zero, after the end
    np.testing.assert_array_equal(found.numpy().ravel(), [6, 7])


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "int32"]
)
def test_dtype_stays(dtype):
    x, w = gt.cast(some(1, 4, 4, 2), dtype), gt.cast(some(3, 3, 2, 2), dtype)
    assert conv2d(x, w, 1, "SAME").dtype == dtype


def test_dtypes_promote():
    x, w = gt.constant(some(1, 3, 1)), gt.ones([2, 1, 1])
    assert conv1d(x, w, 1, "SAME").dtype == gt.float64


def test_batch_axes():
    x, w = some(2, 3, 4, 5, 2), some(3, 3, 2, 4)
    found = conv2d(x, w, 1, "SAME")
    assert found.shape == (2, 3, 4, 5, 4)
    np.testing.assert_allclose(found[1].numpy(), conv2d(x[1], w, 1, "SAME").numpy())


def test_layouts_of_strides_and_padding():
    x, w = some(1, 5, 6, 2), some(2, 3, 2, 3)
    wanted = conv2d(x, w, (2, 1), [(1, 0), (0, 2)], dilations=(1, 2)).numpy()
    found = conv2d(
        x, w, [1, 2, 1, 1], [(0, 0), (1, 0), (0, 2), (0, 0)], "NHWC", [1, 1, 2, 1]
    )
    np.testing.assert_array_equal(found.numpy(), wanted)
    found = conv2d(
        np.moveaxis(x, -1, 1),
        w,
        [1, 1, 2, 1],
        [(0, 0), (0, 0), (1, 0), (0, 2)],
        "NCHW",
        [1, 1, 1, 2],
    )
    np.testing.assert_array_equal(np.moveaxis(found.numpy(), 1, -1), wanted)


@pytest.mark.parametrize("strides", [1, 2])
def test_small_blocks_give_the_same(monkeypatch, strides):
    x, w = gt.constant(some(5, 6, 4, 2)), gt.constant(some(3, 3, 2, 3))

    def results():
        with gt.GradientTape() as tape:
            tape.watch([x, w])
            y = conv2d(x, w, strides, "SAME")
        return [y, *tape.gradient(y, [x, w], gt.sin(y))]

    wanted = results()
    monkeypatch.setattr(convolving, "_BLOCK", 300)
    for a, b in zip(results(), wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)


def test_transpose_is_the_transpose():
    x, w, g = some(2, 5, 6, 2), some(3, 2, 2, 4), some(2, 3, 3, 4)
    y = conv2d(x, w, 2, "SAME").numpy()
    back = gt.nn.conv2d_transpose(g, w, x.shape, 2).numpy()
    np.testing.assert_allclose(np.sum(y * g), np.sum(x * back))


def test_transpose_with_channels_first():
    w, g = some(3, 2, 2, 4), some(2, 3, 3, 4)
    wanted = gt.nn.conv2d_transpose(g, w, [2, 5, 6, 2], 2)
    found = gt.nn.conv2d_transpose(
        np.moveaxis(g, -1, 1), w, gt.constant([2, 2, 5, 6]), 2, data_format="NCHW"
    )
    np.testing.assert_allclose(np.moveaxis(found.numpy(), 1, -1), wanted.numpy())


def test_padding_beyond_the_window():
    # The transpose of such a convolution is none with positive padding.
    x, w = some(1, 3, 1), some(2, 1, 1)
    check_grads(lambda x, w: conv1d(x, w, 1, [(3, 4)]), x, w)


def test_third_order():
    x, w = gt.constant(some(1, 4, 1)), gt.constant(some(2, 1, 1))

    def second(x):
        def first(x):
            return gt.grad(lambda x: gt.reduce_sum(conv1d(x, w, 1, "SAME") ** 4))(x)

        return gt.grad(lambda x: gt.reduce_sum(first(x) ** 2))(x)

    check_grads(second, x, order=1)


def test_forward_mode():
    x, w = some(2, 4, 3, 2), some(2, 2, 2, 2)
    check_grads(lambda x, w: conv2d(x, w, 2, "SAME"), x, w, modes=("forward",))


X, W = gt.ones([1, 4, 4, 2]), gt.ones([3, 3, 2, 5])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: conv2d(X, gt.ones([3, 3, 3, 5]), 1, "SAME"), ShapeError, "2 channels"),
        (lambda: conv2d(X, gt.ones([3, 3, 1, 5]), 1, "SAME"), ShapeError, "groups"),
        (
            lambda: conv2d(X, gt.ones([3, 3, 0, 5]), 1, "SAME"),
            ShapeError,
            "(3, 3, 0, 5)",
        ),
        (lambda: conv2d(X, gt.ones([3, 2, 5]), 1, "SAME"), ShapeError, "(3, 2, 5)"),
        (lambda: conv2d(gt.ones([4, 4, 2]), W, 1, "SAME"), ShapeError, "N, H, W, C"),
        (lambda: conv2d(X, gt.ones([5, 1, 2, 1]), 1, "VALID"), ShapeError, "spans 5"),
        (
            lambda: conv2d(X, W, 1, "VALID", dilations=2),
            ShapeError,
            "spans 5 on an axis of size 4",
        ),
        (lambda: conv2d(X, W, 0, "SAME"), ArgumentError, "strides 0"),
        (lambda: conv2d(X, W, [1, 1, 1], "SAME"), ArgumentError, "3 entries"),
        (lambda: conv2d(X, W, [2, 1, 1, 1], "SAME"), ArgumentError, "batch"),
        (lambda: conv2d(X, W, 1.5, "SAME"), ArgumentTypeError, "1.5"),
        (lambda: conv2d(X, W, None, "SAME"), ArgumentTypeError, "None"),
        (lambda: conv2d(X, W, 1, "SOME"), ArgumentError, "SAME, VALID"),
        (lambda: conv2d(X, W, 1, None), ArgumentTypeError, "padding None"),
        (lambda: conv2d(X, W, 1, [(1, 1)]), ArgumentError, "2 pairs"),
        (lambda: conv2d(X, W, 1, [(1, 1), (1, -1)]), ArgumentError, "(1, -1)"),
        (lambda: conv2d(X, W, 1, [1, 1]), ArgumentError, "pairs"),
        (
            lambda: conv2d(X, W, 1, [(1, 1), (0, 0), (0, 0), (0, 0)]),
            ArgumentError,
            "does not fit",
        ),
        (lambda: conv2d(X, W, 1, "SAME", "CHWN"), ArgumentError, "NHWC, NCHW"),
        (lambda: conv2d(X, W, 1, "SAME", dilations=-1), ArgumentError, "dilations -1"),
        (lambda: conv2d(X > 0, W > 0, 1, "SAME"), DTypeError, "bool"),
        (lambda: conv2d("image", W, 1, "SAME"), ArgumentTypeError, "image"),
        (
            lambda: gt.nn.depthwise_conv2d(X, gt.ones([2, 2, 3, 1]), 1, "SAME"),
            ShapeError,
            "(2, 2, 3, 1)",
        ),
        (
            lambda: gt.nn.conv2d_transpose(X, W, [1, 4, 4, 2], 1),
            ShapeError,
            "do not fit",
        ),
        (
            lambda: gt.nn.conv2d_transpose(gt.ones([1, 4, 4, 5]), W, [1, 9, 4, 2], 1),
            ShapeError,
            "(9, 4) have (9, 4) windows, not (4, 4)",
        ),
        (
            lambda: gt.nn.conv2d_transpose(gt.ones([1, 4, 4, 5]), W, [4, 4], 1),
            ShapeError,
            "four axes",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
    assert "conv2d" in str(caught.value) or words in ("bool", "image")


@pytest.mark.parametrize(
    ("image", "kernel"),
    [((2, 5, 0, 3), (3, 1, 3, 16)), ((2, 5, 6, 3), (3, 3, 3, 0))],
)
def test_gradients_of_what_has_no_elements(image, kernel):
    x, w = gt.ones(image, gt.float64), gt.ones(kernel, gt.float64)
    with gt.GradientTape() as tape:
        tape.watch([x, w])
        y = gt.reduce_sum(gt.nn.conv2d(x, w, 1, "SAME"))
    by_x, by_w = tape.gradient(y, [x, w])
    assert not by_x.numpy().any()
    assert not by_w.numpy().any()
    assert by_x.shape == image
    assert by_w.shape == kernel
