"""Trigonometric and hyperbolic functions where a table of records cannot reach."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentTypeError, DTypeError, ShapeError
from gtape.ops import trig


def gradients(f, *points, dtype=np.float64):
    sources = [gt.Variable(np.asarray(p, dtype)) for p in points]
    with gt.GradientTape() as tape:
        y = f(*sources)
    return [g.numpy() for g in tape.gradient(y, sources)]


@pytest.mark.parametrize(
    ("f", "at", "expected"),
    [
        (trig.asin, [-1.0, 1.0], [np.inf, np.inf]),
        (trig.acos, [-1.0, 1.0], [-np.inf, -np.inf]),
        (trig.acosh, [1.0], [np.inf]),
        (trig.atanh, [-1.0, 1.0], [np.inf, np.inf]),
        (trig.atan, [-np.inf, np.inf], [0.0, 0.0]),
        (trig.asinh, [-np.inf, np.inf], [0.0, 0.0]),
        (trig.tanh, [-np.inf, np.inf], [0.0, 0.0]),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_gradient_at_the_ends(f, at, expected):
    [g] = gradients(f, at)
    np.testing.assert_array_equal(g, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("at", [-20.0, 20.0])
def test_gradient_of_tanh_keeps_its_relative_accuracy(at, dtype):
    [g] = gradients(trig.tanh, at, dtype=dtype)
    np.testing.assert_allclose(g, 4 * np.exp(-40.0), rtol=1e-6)


def test_gradient_of_tanh_far_out_is_zero_and_not_nan():
    [g] = gradients(trig.tanh, [-1e3, -90.0, 90.0, 1e3], dtype=np.float32)
    np.testing.assert_array_equal(g, np.zeros(4))


def test_higher_derivatives_of_tanh():
    x = gt.Variable(np.array([0.7, -1.1]))
    with gt.GradientTape() as third:
        with gt.GradientTape() as second:
            with gt.GradientTape() as first:
                y = trig.tanh(x)
            d1 = first.gradient(y, x)
        d2 = second.gradient(d1, x)
    d3 = third.gradient(d2, x).numpy()
    t = np.tanh(x.numpy())
    np.testing.assert_allclose(d2.numpy(), -2 * t * (1 - t * t), rtol=1e-12)
    np.testing.assert_allclose(d3, -2 * (1 - t * t) * (1 - 3 * t * t), rtol=1e-12)


def test_gradients_near_an_end_do_not_cancel():
    at = np.nextafter(1.0, 0.0)  # 1 - 2**-53
    slope = 1 / np.sqrt(2.0**-53 * (2 - 2.0**-53))
    np.testing.assert_allclose(gradients(trig.asin, at), [slope], rtol=1e-15)
    np.testing.assert_allclose(gradients(trig.acos, at), [-slope], rtol=1e-15)
    np.testing.assert_allclose(gradients(trig.atanh, at), [slope**2], rtol=1e-15)


@pytest.mark.parametrize("f", [trig.asinh, trig.acosh], ids=["asinh", "acosh"])
def test_gradient_where_the_square_overflows(f):
    [g] = gradients(f, 1e30, dtype=np.float32)
    np.testing.assert_allclose(g, 1e-30, rtol=1e-6)


@pytest.mark.parametrize("side", [0.0, -0.0])
@pytest.mark.parametrize("at", [2.0, -2.0])
@pytest.mark.parametrize("name", ["asin", "acos", "acosh", "atanh"])
def test_gradient_on_a_branch_cut(name, at, side):
    # There the sign of the zero imaginary part tells the side.
    function = getattr(np, name.replace("a", "arc", 1))
    step = 1e-6
    ends = [function(complex(at + d, side)) for d in (step, -step)]
    slope = (ends[0] - ends[1]) / (2 * step)
    [g] = gradients(getattr(trig, name), complex(at, side), dtype=np.complex128)
    np.testing.assert_allclose(g, np.conj(slope), rtol=1e-8, atol=1e-10)


def test_atan2_signs_of_zero_tell_the_quadrant():
    y, x = np.array([0.0, -0.0, 0.0, -0.0]), np.array([1.0, 1.0, -1.0, -1.0])
    found = trig.atan2(y, x).numpy()
    np.testing.assert_array_equal(found, np.arctan2(y, x))
    np.testing.assert_array_equal(np.signbit(found), [False, True, False, True])


def test_gradient_of_atan2_at_the_origin_is_zero():
    assert gradients(trig.atan2, 0.0, 0.0) == [0.0, 0.0]


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_gradient_of_atan2_where_squares_leave_the_range(scale):
    dy, dx = gradients(trig.atan2, 3 * scale, 4 * scale, dtype=np.float32)
    np.testing.assert_allclose(dy, 4 / (25 * scale), rtol=1e-6)
    np.testing.assert_allclose(dx, -3 / (25 * scale), rtol=1e-6)


def test_atan2_broadcasts():
    dy, dx = gradients(trig.atan2, [[1.0], [2.0]], [1.0, 2.0, 3.0])
    assert dy.shape == (2, 1)
    assert dx.shape == (3,)


@pytest.mark.parametrize(
    ("function", "name"),
    [(np.sin, "sin"), (np.arccosh, "acosh"), (np.tanh, "tanh")],
)
def test_numpy_functions_are_recorded(function, name):
    at = 1.5
    [found] = gradients(function, at)
    [wanted] = gradients(getattr(trig, name), at)
    assert found == wanted


def test_numpy_arctan2_is_recorded():
    assert gradients(np.arctan2, 1.0, 2.0) == gradients(trig.atan2, 1.0, 2.0)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
def test_dtypes_are_kept(dtype):
    x = gt.Variable(np.array([0.25, 0.5], dtype))
    with gt.GradientTape() as tape:
        y = trig.tanh(trig.asin(trig.sin(x)))
    assert y.dtype == dtype
    assert tape.gradient(y, x).dtype == dtype


def test_python_integers_become_floats():
    assert trig.cos(0).dtype == gt.float32
    assert trig.atan2([1, 2], 3).dtype == gt.float32


@pytest.mark.parametrize(
    ("f", "arguments", "error", "text"),
    [
        (trig.sin, (np.arange(3),), DTypeError, "sin .*int64.* Cast"),
        (trig.tanh, (True,), DTypeError, "tanh .*bool"),
        (trig.sin, ("0.5",), ArgumentTypeError, "'0.5'"),
        (trig.cos, (None,), ArgumentTypeError, "None"),
        (trig.atan2, (np.ones(2), np.ones(3)), ShapeError, r"atan2.*\(2,\).*\(3,\)"),
        (trig.atan2, (1j, 1.0), DTypeError, "atan2 .*complex128.*gt.real"),
        (trig.atan2, (np.arange(3), 1), DTypeError, "atan2 .*int64"),
    ],
)
def test_bad_operands(f, arguments, error, text):
    with pytest.raises(error, match=text):
        f(*arguments)
