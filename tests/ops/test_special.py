"""Logistic, error and gamma functions: tails, poles, infinities and refusals."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.special

import gtape as gt
from gtape.errors import ArgumentTypeError, DTypeError, ShapeError
from gtape.ops import special

INF, NAN = np.inf, np.nan


def gradients(f, *points, dtype=np.float64):
    sources = [gt.Variable(np.asarray(p, dtype)) for p in points]
    with gt.GradientTape() as tape:
        y = f(*sources)
    return [g.numpy() for g in tape.gradient(y, sources)]


def derivatives(f, at, order):
    """Return f and its derivatives at a point, up to an order, by nested tapes."""
    x = gt.Variable(np.asarray(at, np.float64))

    def derivative(k):
        if k == 0:
            return f(x)
        with gt.GradientTape() as tape:
            y = derivative(k - 1)
        return tape.gradient(y, x)

    return [derivative(k).numpy() for k in range(order + 1)]


# --- Logistic functions ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("at", [-40.0, 40.0])
def test_gradient_of_sigmoid_in_both_tails(at, dtype):
    [g] = gradients(special.sigmoid, at, dtype=dtype)
    np.testing.assert_allclose(g, np.exp(-40.0), rtol=1e-6)


def test_higher_derivatives_of_sigmoid_in_the_tail():
    # Far to the right sigmoid(x) is 1 - exp(-x), so the signs alternate.
    found = derivatives(special.sigmoid, 50.0, 4)
    signs = np.array([1, -1, 1, -1])
    np.testing.assert_allclose(found[1:], signs * np.exp(-50.0), rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "values", "slopes"),
    [
        (special.sigmoid, (0.0, 1.0), (0.0, 0.0)),
        (special.log_sigmoid, (-INF, 0.0), (1.0, 0.0)),
        (special.softplus, (0.0, INF), (0.0, 1.0)),
    ],
    ids=["sigmoid", "log_sigmoid", "softplus"],
)
def test_infinite_operands(f, values, slopes):
    ends = np.array([-INF, INF])
    np.testing.assert_array_equal(f(ends).numpy(), values)
    np.testing.assert_array_equal(gradients(f, ends)[0], slopes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softplus_and_log_sigmoid_far_out(dtype):
    x = np.array([-100.0, -30.0, 30.0, 100.0], dtype)
    wide = x.astype(np.float64)
    for f, reference in [
        (special.softplus, np.logaddexp(wide, 0)),
        (special.log_sigmoid, -np.logaddexp(-wide, 0)),
    ]:
        found = f(x).numpy()
        assert found.dtype == dtype
        # exp(-100) is subnormal in float32.
        np.testing.assert_allclose(found, reference, rtol=3e-7, atol=1e-44)
    [g] = gradients(special.softplus, x, dtype=dtype)
    np.testing.assert_allclose(g, scipy.special.expit(wide), rtol=1e-6, atol=1e-43)
    [g] = gradients(special.log_sigmoid, x, dtype=dtype)
    np.testing.assert_allclose(g, scipy.special.expit(-wide), rtol=1e-6, atol=1e-43)


def test_sigmoid_of_float16_does_not_overflow():
    at = np.array([-15.0, 15.0], np.float16)
    found = special.sigmoid(at).numpy()
    assert found.dtype == np.float16
    wanted = scipy.special.expit(at.astype(np.float64))
    np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=6e-8)


def test_gradient_of_softsign_does_not_cancel():
    [g] = gradients(special.softsign, [-1e6, 1e6], dtype=np.float32)
    np.testing.assert_allclose(g, 1e-12, rtol=1e-5)


# --- Logarithms of sums and products --------------------------------------------------


def test_logaddexp_of_infinities():
    x, y = [-INF, -INF, -INF, INF, INF], [-INF, 2.0, INF, INF, 2.0]
    found = special.logaddexp(np.array(x), np.array(y)).numpy()
    np.testing.assert_array_equal(found, [-INF, 2.0, INF, INF, INF])
    dx, dy = gradients(special.logaddexp, x, y)
    np.testing.assert_array_equal(dx, [0.5, 0.0, 0.0, 0.5, 1.0])
    np.testing.assert_array_equal(dy, [0.5, 1.0, 1.0, 0.5, 0.0])


def test_second_derivative_of_logaddexp_of_equals():
    def f(x):
        return special.logaddexp(x, 3.0)

    np.testing.assert_allclose(derivatives(f, 3.0, 2)[1:], [0.5, 0.25])


def test_a_running_sum_of_exponentials_may_start_at_minus_infinity():
    x = gt.Variable(np.array([1.0, 2.0, 3.0]))
    with gt.GradientTape() as tape:
        total = gt.Variable(np.array(-INF), trainable=False) * 1.0
        for i in range(3):
            total = special.logaddexp(total, x[i])
    wanted = scipy.special.softmax(x.numpy())
    np.testing.assert_allclose(tape.gradient(total, x).numpy(), wanted)


@pytest.mark.parametrize(
    ("f", "zero"), [(special.xlogy, 0.0), (special.xlog1py, -1.0)], ids=["xlogy", "1p"]
)
def test_zero_times_a_logarithm(f, zero):
    y = [zero, zero - 1, 5.0, INF, NAN]
    found = f(np.zeros(5), np.array(y)).numpy()
    np.testing.assert_array_equal(found, np.zeros(5))
    dx, dy = gradients(f, np.zeros(5), y)
    # x * log(y) is smooth in x where the logarithm is finite, at x = 0 too.
    np.testing.assert_allclose(dx, [0.0, 0.0, np.log(5.0 - zero), 0.0, 0.0])
    np.testing.assert_array_equal(dy, np.zeros(5))


def test_xlogy_of_a_zero_logarithm():
    assert special.xlogy(2.0, 0.0).numpy() == -INF
    dx, dy = gradients(special.xlogy, 2.0, 0.0)
    assert (dx, dy) == (-INF, INF)


def test_entropy_has_clean_gradients():
    p = gt.Variable(np.array([0.0, 0.5, 0.5]))
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(special.xlogy(p, p))
    wanted = [0.0, np.log(0.5) + 1, np.log(0.5) + 1]
    np.testing.assert_allclose(tape.gradient(y, p).numpy(), wanted)


# --- Error functions ------------------------------------------------------------------


def test_ends_of_erfinv():
    at = np.array([-1.0, 1.0])
    np.testing.assert_array_equal(special.erfinv(at).numpy(), [-INF, INF])
    np.testing.assert_array_equal(gradients(special.erfinv, at)[0], [INF, INF])
    assert np.isnan(special.erfinv(1.5).numpy())


def test_erfinv_inverts():
    x = np.linspace(-2.0, 2.0, 9)
    found = special.erfinv(special.erf(x)).numpy()
    np.testing.assert_allclose(found, x, rtol=1e-12, atol=1e-15)


def test_erfc_in_the_tail():
    found = special.erfc(np.float32(9.0)).numpy()
    np.testing.assert_allclose(found, scipy.special.erfc(9.0), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["erf", "erfc", "erfinv", "lgamma", "digamma"])
def test_narrow_dtypes(name, dtype):
    x = gt.cast(gt.Variable([0.25, 0.5]), dtype)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = getattr(special, name)(x)
    assert y.dtype == dtype
    assert tape.gradient(y, x).dtype == dtype
    scalar = getattr(special, name)(x[0])
    assert scalar.dtype == dtype
    assert scalar.numpy() == y.numpy()[0]


# --- Gamma functions ------------------------------------------------------------------


@pytest.mark.parametrize("at", [0.5, 3.7, -0.3, -2.6])
def test_lgamma_has_derivatives_of_any_order(at):
    found = derivatives(special.lgamma, at, 5)
    wanted = [scipy.special.gammaln(at)]
    wanted += [scipy.special.polygamma(k, at) for k in range(5)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_lgamma_at_its_poles():
    at = np.array([0.0, -1.0, -2.0, INF])
    np.testing.assert_array_equal(special.lgamma(at).numpy(), [INF] * 4)


def test_polygamma_of_small_orders():
    order, x = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.5, 1.0, 4.0])
    found = special.polygamma(order, x).numpy()
    wanted = scipy.special.polygamma(order.astype(int), x)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert special.polygamma(1, np.ones(2, np.float32)).dtype == gt.float32


def test_polygamma_of_a_large_order_in_float32():
    # 40! is beyond float32, and what it multiplies far below 1.
    found = special.polygamma(40, np.float32(30.0)).numpy()
    wanted = scipy.special.polygamma(40, 30.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_polygamma_of_no_order():
    found = special.polygamma(np.array([-1.0, 0.5, NAN]), 2.0).numpy()
    assert np.isnan(found).all()


def test_polygamma_has_no_gradient_by_the_order():
    a, x = gt.Variable(1.0), gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y = special.polygamma(a, x)
    da, dx = tape.gradient(y, [a, x])
    assert da is None
    np.testing.assert_allclose(dx.numpy(), scipy.special.polygamma(2, 2.0), rtol=1e-6)


# --- Arguments ------------------------------------------------------------------------


def test_scipy_is_imported_by_the_first_call_only():
    code = (
        "import sys; from gtape.ops.special import erf\n"
        "print('scipy' in sys.modules)\n"
        "erf(0.5); print('scipy.special' in sys.modules)"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert child.stdout.split() == ["False", "True"], child.stderr


def test_numpy_logaddexp_is_recorded():
    found = gradients(np.logaddexp, 1.0, 2.0)
    assert found == gradients(special.logaddexp, 1.0, 2.0)


def test_python_integers_become_floats():
    assert special.sigmoid(0).numpy() == 0.5
    assert special.lgamma([1, 2]).dtype == gt.float32


@pytest.mark.parametrize(
    ("f", "arguments", "error", "text"),
    [
        (special.sigmoid, (np.arange(3),), DTypeError, "sigmoid .*int64.* Cast"),
        (special.erf, (1j,), DTypeError, "erf .*complex128.*gt.real"),
        (special.softplus, (True,), DTypeError, "softplus.*bool"),
        (special.lgamma, ("2",), ArgumentTypeError, "'2'"),
        (special.softsign, (None,), ArgumentTypeError, "None"),
        (special.xlogy, (np.ones(2), np.ones(3)), ShapeError, r"xlogy.*\(2,\).*\(3,\)"),
        (
            special.polygamma,
            (np.ones(2), np.ones(3)),
            ShapeError,
            r"polygamma.*\(2,\).*\(3,\)",
        ),
        (special.polygamma, (np.arange(3), 1), DTypeError, "polygamma .*int64"),
        (special.logaddexp, (1j, 1.0), DTypeError, "logaddexp .*complex128"),
    ],
)
def test_bad_operands(f, arguments, error, text):
    with pytest.raises(error, match=text):
        f(*arguments)
