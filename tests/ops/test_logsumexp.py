"""Logarithms of sums of exponentials: large, infinite and masked elements."""

import numpy as np
import pytest
from scipy.special import logsumexp

import gtape as gt
from gtape.errors import DTypeError

INF = np.inf


def gradient(f, at, dtype=np.float64):
    x = gt.Variable(np.asarray(at, dtype))
    with gt.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x).numpy()


@pytest.mark.parametrize(
    ("at", "value", "wanted"),
    [
        ([-INF, -INF], -INF, [0, 0]),
        ([-INF, 1.0], 1.0, [0, 1]),
        ([INF, 1.0], INF, [1, 0]),
        ([INF, INF], INF, [0.5, 0.5]),
        ([np.nan, 1.0], np.nan, [np.nan, np.nan]),
        ([1000.0, 1000.0], 1000 + np.log(2), [0.5, 0.5]),
    ],
)
def test_infinities(at, value, wanted):
    np.testing.assert_allclose(gt.reduce_logsumexp(np.array(at)), value, rtol=1e-15)
    np.testing.assert_allclose(gradient(gt.reduce_logsumexp, at), wanted, rtol=1e-15)


def test_shares_do_not_suffer_from_large_logits():
    x = np.array([12345.678, 12345.0, 12344.0], np.float32)
    wanted = np.exp(x.astype(float) - logsumexp(x.astype(float)))
    found = gradient(gt.reduce_logsumexp, x, np.float32)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_second_derivatives_at_infinities_are_clean():
    x = gt.Variable(np.array([-INF, 1.0, 2.0]))
    found = gt.hessian(gt.reduce_logsumexp)(x).numpy()
    p = 1 / (1 + np.e)
    block = p * (1 - p) * np.array([[1, -1], [-1, 1]])
    np.testing.assert_allclose(found[1:, 1:], block, rtol=1e-12)
    np.testing.assert_array_equal(found[0], 0)


def test_a_row_left_out_by_a_mask_has_a_clean_gradient():
    def f(x):
        rows = gt.reduce_logsumexp(x, 1)
        return gt.reduce_sum(gt.where([True, False], rows, 0.0))

    found = gradient(f, [[1.0, 1.0], [np.nan, 1.0]])
    np.testing.assert_array_equal(found, [[0.5, 0.5], [0, 0]])


def test_running():
    x = np.array([-INF, -INF, 700.0, 1.0, 900.0, INF])
    found = gt.cumulative_logsumexp(x).numpy()
    np.testing.assert_allclose(found, np.logaddexp.accumulate(x), rtol=1e-15)
    g = gradient(gt.cumulative_logsumexp, x[:5])
    assert np.isfinite(g).all()
    np.testing.assert_allclose(g, [0, 0, 2, 0, 1], atol=1e-80)
    assert np.isfinite(gradient(gt.cumulative_logsumexp, x)).all()


def test_running_exclusive():
    found = gt.cumulative_logsumexp([1.0, 2.0], exclusive=True).numpy()
    np.testing.assert_array_equal(found, [-INF, 1])
    g = gradient(lambda x: gt.cumulative_logsumexp(x, exclusive=True)[1:], [1, 2, 3])
    p = 1 / (1 + np.e)
    np.testing.assert_allclose(g, [1 + p, 1 - p, 0], rtol=1e-12)


def test_running_over_a_wide_range_keeps_small_shares():
    x = np.array([0.0, 800.0, 0.0, -800.0])
    found = gradient(lambda x: gt.cumulative_logsumexp(x)[0] * 1e3, x)
    np.testing.assert_array_equal(found, [1e3, 0, 0, 0])


def test_python_integers_become_floats():
    assert gt.reduce_logsumexp([1, 2]).dtype == gt.float32
    for f in (gt.reduce_logsumexp, gt.cumulative_logsumexp):
        with pytest.raises(DTypeError, match="needs a floating-point dtype, got int64"):
            f(np.array([1, 2]))
        with pytest.raises(DTypeError, match="is not defined for complex128"):
            f([1j])
