"""Activation functions: kinks, masks, tails and arguments."""

import numpy as np
import pytest
import scipy.special

import gtape as gt
from gtape.errors import ArgumentTypeError, DTypeError
from gtape.ops import activations as act

SELU_SCALE = 1.0507009873554805


def gradients(f, *points, dtype=np.float64):
    sources = [gt.Variable(np.asarray(p, dtype)) for p in points]
    with gt.GradientTape() as tape:
        y = f(*sources)
    return [g.numpy() for g in tape.gradient(y, sources)]


def tanh_gelu(x):
    return act.gelu(x, approximate=True)


# --- Kinks ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "at", "expected"),
    [
        (act.relu, [-1.0, -0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]),
        (act.relu6, [-1.0, 0.0, 3.0, 6.0, 7.0], [0.0, 0.0, 1.0, 0.0, 0.0]),
        (act.leaky_relu, [-1.0, 0.0, 1.0], [0.2, 0.2, 1.0]),
        (act.elu, [0.0, 1.0], [1.0, 1.0]),
        (act.selu, [0.0, 1.0], [SELU_SCALE, SELU_SCALE]),
        (act.hard_sigmoid, [-4.0, -3.0, 0.0, 3.0, 4.0], [0.0, 0.0, 1 / 6, 0.0, 0.0]),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_kink(f, at, expected):
    np.testing.assert_array_equal(gradients(f, at)[0], expected)


def test_slopes_below_zero_scale_with_alpha():
    np.testing.assert_allclose(
        gradients(lambda x: act.elu(x, alpha=0.5), [-1.0, 0.0]),
        [[0.5 * np.exp(-1.0), 0.5]],
    )
    np.testing.assert_allclose(
        gradients(lambda x: act.leaky_relu(x, alpha=0), [-1.0, 2.0]), [[0.0, 1.0]]
    )


def test_known_slopes():
    np.testing.assert_allclose(gradients(act.gelu, 1.0), [1.0833155], rtol=1e-7)
    np.testing.assert_allclose(gradients(tanh_gelu, 1.0), [1.0829641], rtol=1e-7)
    np.testing.assert_allclose(gradients(act.silu, 1.0), [0.9276705], rtol=1e-7)


# --- Masks ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("g", [np.inf, -np.inf, np.nan, -2.5])
def test_relu_lets_nothing_through_where_it_is_zero(dtype, g):
    x = gt.Variable([-1.0, 0.0, 2.0], dtype=dtype)
    with gt.GradientTape() as tape:
        y = act.relu(x)
    seed = gt.cast(gt.Variable([g, g, g]), dtype)
    found = tape.gradient(y, x, output_gradients=seed)
    assert found.dtype == dtype
    found = found.numpy().astype(np.float64)
    np.testing.assert_array_equal(found, [0.0, 0.0, g])
    assert not np.signbit(found[:2]).any()


def test_a_root_after_relu_has_clean_gradients():
    [g] = gradients(lambda x: gt.sqrt(act.relu(x)), [-1.0, 4.0])
    np.testing.assert_array_equal(g, [0.0, 0.25])


def test_relu_passes_nan_on():
    found = act.relu(np.array([np.nan, -1.0])).numpy()
    np.testing.assert_array_equal(found, [np.nan, 0.0])


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float16", "float32"])
def test_relu_and_relu6_keep_the_dtype(dtype):
    x = np.array([0, 3, 8], dtype)
    assert act.relu(x).dtype == dtype
    np.testing.assert_array_equal(act.relu6(x).numpy(), np.array([0, 3, 6], dtype))


def test_rank_zero():
    assert gradients(act.relu, 2.0, dtype=np.float32) == [1.0]
    assert gradients(act.relu, -2.0, dtype=np.float32) == [0.0]


# --- Tails ----------------------------------------------------------------------------


@pytest.mark.parametrize("f", [act.gelu, tanh_gelu, act.silu, act.mish])
def test_far_out_a_smooth_activation_is_x_or_zero(f):
    x = np.array([-1e4, 1e4], np.float32)
    np.testing.assert_array_equal(f(x).numpy(), [0.0, 1e4])
    np.testing.assert_array_equal(gradients(f, x, dtype=np.float32)[0], [0.0, 1.0])


def test_gelu_in_the_left_tail():
    x = np.array([-12.0, -8.0])
    np.testing.assert_allclose(
        act.gelu(x).numpy(), x * scipy.special.ndtr(x), rtol=1e-12
    )
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    [g] = gradients(act.gelu, x)
    np.testing.assert_allclose(g, scipy.special.ndtr(x) + x * density, rtol=1e-11)


@pytest.mark.parametrize("f", [act.elu, act.selu], ids=["elu", "selu"])
def test_gradient_below_zero_does_not_cancel(f):
    scale = 1.0 if f is act.elu else SELU_SCALE * 1.6732632423543772
    [g] = gradients(f, -40.0, dtype=np.float32)
    np.testing.assert_allclose(g, scale * np.exp(-40.0), rtol=1e-6)


@pytest.mark.parametrize("f", [act.elu, act.selu], ids=["elu", "selu"])
def test_large_operands_do_not_overflow(f):
    x = gt.Variable(np.array([800.0, -800.0]))
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = f(x)
        g = inner.gradient(y, x)
    np.testing.assert_array_equal(outer.gradient(g, x).numpy(), [0.0, 0.0])


# --- Arguments ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "by_hand"),
    [
        (act.leaky_relu, lambda x, a: np.sum(np.where(x > 0, 0, x))),
        (act.elu, lambda x, a: np.sum(np.where(x > 0, 0, np.expm1(x)))),
        (
            act.silu,
            lambda x, a: np.sum(
                x**2 * scipy.special.expit(a * x) * scipy.special.expit(-a * x)
            ),
        ),
    ],
    ids=["leaky_relu", "elu", "silu"],
)
def test_a_parameter_can_be_learned(f, by_hand):
    x, a = np.array([-2.0, 0.5, 3.0]), 0.3
    dx, da = gradients(f, x, a)
    np.testing.assert_allclose(da, by_hand(x, a), rtol=1e-12)
    np.testing.assert_allclose(dx, gradients(lambda t: f(t, a), x)[0], rtol=1e-12)


def test_swish_is_silu():
    assert act.swish is act.silu


def test_numpy_numbers_as_parameters_do_not_widen():
    x = np.array([-1.0, 1.0], np.float16)
    assert act.leaky_relu(x, np.float64(0.1)).dtype == gt.float16
    assert act.elu(x, np.float32(0.1)).dtype == gt.float16


def test_python_integers_become_floats():
    assert act.gelu(1).dtype == gt.float32
    assert act.silu([1, 2], beta=2).dtype == gt.float32
    assert act.relu([1, 2]).dtype == gt.int32


@pytest.mark.parametrize(
    ("f", "arguments", "error", "text"),
    [
        (act.relu, (True,), DTypeError, "relu.*bool"),
        (act.relu, (1j,), DTypeError, "relu.*complex128"),
        (act.relu, ("1",), ArgumentTypeError, "'1'"),
        (act.gelu, (np.arange(3),), DTypeError, "gelu .*int64.* Cast"),
        (act.gelu, (1.0, "tanh"), ArgumentTypeError, "gelu: approximate .*'tanh'"),
        (act.gelu, (1.0, None), ArgumentTypeError, "gelu: approximate .*None"),
        (act.elu, (1.0, "1"), ArgumentTypeError, "elu: alpha .*'1'"),
        (act.elu, (np.arange(3),), DTypeError, "elu .*int64"),
        (act.leaky_relu, (1.0, None), ArgumentTypeError, "leaky_relu: alpha .*None"),
        (act.leaky_relu, (1.0, True), ArgumentTypeError, "leaky_relu: alpha .*True"),
        (act.silu, (1.0, "x"), ArgumentTypeError, "silu: beta .*'x'"),
        (act.mish, (np.arange(3),), DTypeError, "mish .*int64"),
        (act.hard_sigmoid, (np.arange(3),), DTypeError, "hard_sigmoid .*int64"),
    ],
)
def test_bad_arguments(f, arguments, error, text):
    with pytest.raises(error, match=text):
        f(*arguments)
