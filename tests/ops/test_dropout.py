"""Dropout: what is kept, gradients and arguments."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from gtape.ops import random
from gtape.ops.dropout import dropout


def test_kept_elements_grow_and_their_share_is_right():
    random.set_seed(1)
    y = dropout(gt.ones([10_000]), 0.2).numpy()
    assert set(y.tolist()) == {0.0, 1.25}
    assert abs(np.mean(y == 0) - 0.2) < 0.02


def test_rate_zero_is_the_identity():
    x = gt.constant([1.0, np.nan])
    np.testing.assert_array_equal(dropout(x, 0.0).numpy(), x.numpy())


def test_gradient_takes_the_same_way():
    x = gt.Variable([np.inf, 2.0, 3.0, np.nan] * 10)
    with gt.GradientTape() as tape:
        y = dropout(x, 0.5)
    found = tape.gradient(y, x).numpy()
    np.testing.assert_array_equal(found, np.where(y.numpy() == 0, 0.0, 2.0))


def test_each_call_drops_others_and_a_seed_repeats_them():
    x = gt.ones([100])
    random.set_seed(1)
    first, second = dropout(x, 0.5, seed=3).numpy(), dropout(x, 0.5, seed=3).numpy()
    assert not np.array_equal(first, second)
    random.set_seed(1)
    np.testing.assert_array_equal(dropout(x, 0.5, seed=3).numpy(), first)


def test_noise_shape_drops_together():
    y = dropout(gt.ones([50, 3]), 0.5, noise_shape=[None, 1]).numpy()
    assert {len(set(row.tolist())) for row in y} == {1}
    assert set(y[:, 0].tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("rate", [0.25, np.float32(0.25), gt.constant(0.25)])
def test_dtype_is_kept(dtype, rate):
    x = gt.ones([20], dtype)
    assert dropout(x, rate).dtype == x.dtype


def test_rate_may_be_a_tensor_with_a_gradient():
    rate = gt.Variable(0.5, dtype="float64")
    with gt.GradientTape() as tape:
        y = dropout(gt.ones([10], "float64"), rate)
    kept = np.count_nonzero(y.numpy())
    np.testing.assert_allclose(tape.gradient(y, rate).numpy(), 4.0 * kept)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: dropout([1.0], 1.0), ArgumentError, r"rate 1.0 is not in \[0, 1\)"),
        (lambda: dropout([1.0], -0.1), ArgumentError, "rate -0.1"),
        (lambda: dropout([1.0], np.nan), ArgumentError, "rate nan"),
        (lambda: dropout([1.0], "a"), ArgumentTypeError, "'a' is not a number"),
        (lambda: dropout([1.0], [0.5]), ShapeError, r"the rate has shape \(1,\)"),
        (lambda: dropout([1, 2], 0.5), DTypeError, "dropout needs .*int32"),
        (lambda: dropout([1.0, 2.0], 0.5, [3]), ShapeError, "noise_shape"),
        (lambda: dropout([1.0], 0.5, [2]), ShapeError, "does not broadcast to x"),
        (lambda: dropout([1.0], 0.5, ["a"]), ArgumentError, "noise_shape"),
    ],
)
def test_bad_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()
