"""Pooling: ties, padding, overlap, NaN, narrow dtypes and refusals."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from gtape.testing import check_grads

max_pool, avg_pool = gt.nn.max_pool, gt.nn.avg_pool


def line(*values):
    return gt.reshape(gt.constant([float(v) for v in values]), [1, -1, 1])


def gradient(f, x):
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x).numpy().ravel().tolist()


def test_the_first_of_equals_takes_the_gradient():
    x = gt.fill([1, 2, 2, 1], 2.0)
    assert gradient(lambda x: gt.nn.max_pool2d(x, 2, 2, "VALID"), x) == [1, 0, 0, 0]
    found = gradient(lambda x: max_pool(x, 3, 1, "SAME"), line(2, 2, 2))
    assert found == [2, 1, 0]
    found = gradient(lambda x: max_pool(x, 2, 2, "VALID"), line(-np.inf, -np.inf))
    assert found == [1, 0]


def test_the_first_of_equals_is_never_padding():
    x = gt.fill([1, 2, 1], -np.inf)
    assert gradient(lambda x: max_pool(x, 3, 3, "SAME"), x) == [1, 0]


def test_overlapping_windows_add_up():
    found = gradient(lambda x: max_pool(x, 2, 1, "VALID"), line(1, 3, 2))
    assert found == [0, 2, 0]


def test_average_does_not_count_padding():
    found = avg_pool(line(2, 4, 6), 3, 1, "SAME")
    assert found.numpy().ravel().tolist() == [3, 4, 5]
    found = gradient(lambda x: avg_pool(x, 3, 1, "SAME"), line(2, 4, 6))
    np.testing.assert_allclose(found, [5 / 6, 4 / 3, 5 / 6])


def test_negative_numbers_with_padding():
    found = max_pool(line(-5, -7, -6), 3, 2, "SAME")
    assert found.numpy().ravel().tolist() == [-5, -6]


def test_nan_wins():
    x = line(1, np.nan, 3, 4)
    found = max_pool(x, 2, 2, "VALID").numpy().ravel()
    np.testing.assert_array_equal(found, [np.nan, 4])


def test_integers():
    x = np.arange(-8, 8, dtype=np.int8).reshape(1, 4, 4, 1)
    found = max_pool(x, 2, 2, "VALID")
    assert found.dtype == gt.int8
    assert found.numpy().ravel().tolist() == [-3, -1, 5, 7]


def test_narrow_sums_do_not_overflow():
    x = gt.fill([1, 4, 1], gt.constant(60000.0, gt.float16))
    assert avg_pool(x, 4, 4, "VALID").numpy().item() == 60000


def test_layouts():
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    for pool in (gt.nn.max_pool2d, gt.nn.avg_pool2d):
        wanted = pool(x, [1, 2, 3, 1], [1, 1, 2, 1], "SAME").numpy()
        swapped = np.moveaxis(x, -1, 1)
        found = pool(swapped, [1, 1, 2, 3], [1, 1, 1, 2], "SAME", "NCHW").numpy()
        np.testing.assert_array_equal(np.moveaxis(found, 1, -1), wanted)
        found = pool(x[None], (2, 3), (1, 2), "SAME").numpy()
        np.testing.assert_array_equal(found[0], wanted)


def test_forward_mode():
    x = np.random.default_rng(0).permutation(24).reshape(1, 4, 3, 2) / 4
    for pool in (max_pool, avg_pool):
        check_grads(lambda x, p=pool: p(x, 2, 1, "SAME"), x, modes=("forward",))


X = gt.ones([1, 4, 4, 2])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: max_pool(gt.ones([3]), 2, 2, "SAME"), ShapeError, "(3,)"),
        (lambda: gt.nn.max_pool2d(gt.ones([4, 4]), 2, 2, "SAME"), ShapeError, "(4, 4)"),
        (lambda: max_pool(X, 5, 1, "VALID"), ShapeError, "spans 5"),
        (lambda: max_pool(X, 0, 1, "SAME"), ArgumentError, "ksize 0"),
        (lambda: max_pool(X, [2, 1, 1, 1], 1, "SAME"), ArgumentError, "batch"),
        (lambda: max_pool(X, 2, 0, "SAME"), ArgumentError, "strides 0"),
        (lambda: max_pool(X, 2, 2, "FULL"), ArgumentError, "FULL"),
        (
            lambda: max_pool(X, 2, 2, [(2, 0), (0, 0)]),
            ArgumentError,
            "window of size 2",
        ),
        (lambda: max_pool(X, 2.0, 2, "SAME"), ArgumentTypeError, "2.0"),
        (lambda: avg_pool(X, 2, 2, "SAME", "NWC"), ArgumentError, "NWC"),
        (lambda: avg_pool(gt.cast(X, gt.int32), 2, 2, "SAME"), DTypeError, "int32"),
        (
            lambda: max_pool(gt.cast(X, gt.complex64), 2, 2, "SAME"),
            DTypeError,
            "complex64",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
    assert "_pool" in str(caught.value)
