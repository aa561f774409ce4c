"""Softmax and its logarithm: large logits, masked logits, axes and refusals."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentTypeError, DTypeError, ShapeError
from gtape.ops.softmax import log_softmax, softmax

INF = np.inf
both = pytest.mark.parametrize("f", [softmax, log_softmax], ids=["softmax", "log"])


def gradient(f, at, dtype=np.float64):
    x = gt.Variable(np.asarray(at, dtype))
    with gt.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x).numpy()


def test_known_gradients():
    found = gradient(lambda x: softmax(x)[0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found, [0.0819251, -0.0220330, -0.0598920], rtol=1e-5)
    found = gradient(lambda x: log_softmax(x)[0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found, [0.9099694, -0.2447285, -0.6652409], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_large_logits(dtype):
    x = gt.cast(gt.Variable([1e4, 1e4, -1e4]), dtype)
    found = softmax(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.numpy().astype(float), [0.5, 0.5, 0.0])
    found = log_softmax(x)
    assert found.dtype == dtype
    wanted = [-np.log(2), -np.log(2), -2e4]
    np.testing.assert_allclose(found.numpy().astype(float), wanted, rtol=1e-2)


def test_log_softmax_where_the_softmax_rounds_to_one():
    found = log_softmax(np.array([40.0, 0.0])).numpy()
    np.testing.assert_allclose(found, [-np.exp(-40.0), -40.0], rtol=1e-12, atol=1e-17)


def test_masked_logits_have_no_share_and_clean_gradients():
    at = [1.0, -INF, 2.0]
    np.testing.assert_array_equal(softmax(np.array(at)).numpy()[1], 0.0)
    np.testing.assert_array_equal(log_softmax(np.array(at)).numpy()[1], -INF)
    for f in (softmax, log_softmax):
        found = gradient(lambda x, f=f: f(x)[2], at)
        alone = gradient(lambda x, f=f: f(x)[1], [1.0, 2.0])
        np.testing.assert_allclose(found, [alone[0], 0.0, alone[1]], rtol=1e-12)


@both
def test_a_constant_added_to_the_logits_changes_nothing(f):
    x = np.array([[0.5, -1.0, 2.0], [3.0, 0.0, 1.0]])
    np.testing.assert_allclose(f(x + 8.0).numpy(), f(x).numpy(), rtol=1e-12)
    rows = np.sum(gradient(lambda t: f(t)[:, 0], x), axis=1)
    np.testing.assert_allclose(rows, 0.0, atol=1e-15)


@both
def test_axes(f):
    x = np.arange(6.0).reshape(1, 2, 3)
    for axis in range(-3, 3):
        wanted = np.moveaxis(f(np.moveaxis(x, axis, -1)).numpy(), -1, axis)
        np.testing.assert_allclose(f(x, axis=axis).numpy(), wanted, rtol=1e-14)
    np.testing.assert_array_equal(f(x, axis=None).numpy(), f(x).numpy())


@both
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_empty(f, shape):
    assert f(np.zeros(shape)).shape == shape
    assert gradient(f, np.zeros(shape)).shape == shape


@both
def test_python_integers_become_floats(f):
    assert f([1, 2]).dtype == gt.float32


@both
@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((1.0,), ShapeError, "softmax: axis -1 of a tensor of rank 0"),
        ((np.ones(3), 1), ShapeError, "softmax: axis 1 of a tensor of rank 1.*-1 to 0"),
        ((np.ones(3), 0.5), ArgumentTypeError, "softmax: axis .*0.5"),
        ((np.ones((3, 3)), (0, 1)), ArgumentTypeError, r"softmax: axis .*\(0, 1\)"),
        ((np.ones(3), "x"), ArgumentTypeError, "softmax: axis .*'x'"),
        ((np.arange(3),), DTypeError, "softmax .*int64.* Cast"),
        (([True, False],), DTypeError, "softmax.*bool"),
        (([1j, 2.0],), DTypeError, "softmax .*complex128"),
        (("abc",), ArgumentTypeError, "'abc'"),
        ((None,), ArgumentTypeError, "None"),
        (([[1.0, 2.0], [3.0]],), ValueError, "(?i)ragged|lengths|shape"),
    ],
)
def test_bad_arguments(f, arguments, error, text):
    with pytest.raises(error, match=text):
        f(*arguments)
