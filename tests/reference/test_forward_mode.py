"""Forward mode and the checks of numbers, line by line.

Each test carries the code of its line. Defects of TensorFlow (X5 to X8) are not
copied: the test holds the right behavior.
"""

import numpy as np
import pytest

import gtape as gt
from tests.reference.content import near, values

# ---- 2.9 forward mode -----------------------------------------------------------


def test_g57_jvp_of_a_tensor():
    c = gt.constant(2.0)
    with gt.ForwardAccumulator(primals=c, tangents=gt.constant(10.0)) as acc:
        y = c * c
    assert acc.jvp(y).numpy() == 40.0


def test_g57_jvp_of_variables(x, z):
    with gt.ForwardAccumulator([x, z], [gt.constant(1.0), gt.constant(10.0)]) as acc:
        y = x * x * z
    assert acc.jvp(y).numpy() == 12.0 + 40.0


def test_g57_structure_and_unconnected(x, z):
    other = gt.constant([1.0, 2.0])
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        y = x * x
        u = z * other
    r = acc.jvp({"y": y, "rest": [u, x]})
    assert r["y"].numpy() == 4.0
    assert r["rest"][0] is None
    assert r["rest"][1].numpy() == 1.0
    zero = acc.jvp(u, unconnected_gradients="zero")
    assert zero.numpy().tolist() == [0.0, 0.0]


def test_g57_matching_structures(x, v):
    primals = {"x": x, "v": (v,)}
    tangents = {"x": gt.constant(1.0), "v": (gt.constant([1.0, 0.0, 2.0]),)}
    with gt.ForwardAccumulator(primals, tangents) as acc:
        y = gt.reduce_sum(v * v) * x
    assert acc.jvp(y).numpy() == 14.0 + 2.0 * (2.0 + 12.0)


def test_g57_after_the_block_nothing_is_followed(x):
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        y = x * x
    late = y * 3.0
    assert acc.jvp(y).numpy() == 4.0
    assert acc.jvp(late) is None


def test_g58_same_primal_twice(x):
    with pytest.raises(ValueError, match=r"(?i)primal|twice|multiple"):
        gt.ForwardAccumulator([x, x], [gt.constant(1.0), gt.constant(1.0)])


def test_g58_structures_differ(x, z):
    with pytest.raises(ValueError, match=r"(?i)structure|primals|tangents"):
        gt.ForwardAccumulator([x, z], [gt.constant(1.0)])


def test_g58_dtypes_differ(x):
    with pytest.raises((TypeError, ValueError), match="float64"):
        gt.ForwardAccumulator(x, gt.constant(1.0, dtype=gt.float64))


def test_g58_shapes_differ(x):
    with pytest.raises(ValueError, match=r"(?i)shape"):
        gt.ForwardAccumulator(x, gt.constant([1.0, 2.0]))


def test_g58_python_number_as_primal():
    with pytest.raises(TypeError, match="float"):
        gt.ForwardAccumulator(2.0, gt.constant(1.0))


def test_g59_forward_over_reverse(x):
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        with gt.GradientTape() as tape:
            y = x**3
        g = tape.gradient(y, x)
    near(g, 12.0)
    near(acc.jvp(g), 12.0)


def test_g59_hessian_vector_product(v):
    with gt.ForwardAccumulator(v, gt.constant([1.0, 0.0, 2.0])) as acc:
        with gt.GradientTape() as tape:
            y = gt.reduce_sum(v) * gt.reduce_sum(v**3)
        g = tape.gradient(y, v)
    a, t = v.numpy(), np.array([1.0, 0.0, 2.0])
    hessian = 3 * a[:, None] ** 2 + 3 * a[None, :] ** 2 + np.diag(6 * a * a.sum())
    near(acc.jvp(g), hessian @ t, tol=1e-5)


def test_g59_reverse_over_forward(x):
    with gt.GradientTape() as tape:
        with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
            y = x**3
        g = acc.jvp(y)
    near(g, 12.0)
    near(tape.gradient(g, x), 12.0)


def test_g59_x7_forward_over_forward(x):
    for primal in (x, gt.constant(2.0)):
        with gt.ForwardAccumulator(primal, gt.constant(1.0)) as outer:
            with gt.ForwardAccumulator(primal, gt.constant(1.0)) as inner:
                y = primal * primal * primal
            g = inner.jvp(y)
        near(g, 12.0)
        near(outer.jvp(g), 12.0)


def test_g59_through_a_while_loop(x):
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        y = x
        while y < 100.0:
            y = y * y
    assert acc.jvp(y).numpy() == 1024.0


def test_g60_custom_gradient_is_respected(x):
    @gt.custom_gradient
    def f(a):
        return a * a, lambda upstream: upstream * 100.0

    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        y = f(x)
    assert y.numpy() == 4.0
    assert acc.jvp(y).numpy() == 100.0  # TensorFlow: 4, the derivative of the body


def test_g61_assigning_loses_the_tangent(x, z):
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        z.assign(x * x)
        y = z * 2.0
    assert y.numpy() == 8.0
    assert acc.jvp(y) is None


def quadratic(u):
    return gt.reduce_sum(u * u * u)


def test_g62_grad():
    g = gt.grad(quadratic)(gt.constant([1.0, 2.0]))
    near(g, [3.0, 12.0])


def test_g62_value_and_grad():
    y, g = gt.value_and_grad(quadratic)(gt.constant([1.0, 2.0]))
    near(y, 9.0)
    near(g, [3.0, 12.0])


def test_g62_vjp():
    y, pull = gt.vjp(lambda u: u * u, gt.constant([1.0, 2.0]))
    near(y, [1.0, 4.0])
    [g] = pull(gt.constant([10.0, 100.0]))
    near(g, [20.0, 400.0])


def test_g62_jvp():
    primal, tangent = gt.constant([1.0, 2.0]), gt.constant([10.0, 100.0])
    y, t = gt.jvp(lambda u: u * u, (primal,), (tangent,))
    near(y, [1.0, 4.0])
    near(t, [20.0, 400.0])


def test_g62_hvp():
    primal, tangent = gt.constant([1.0, 2.0]), gt.constant([10.0, 100.0])
    near(gt.hvp(quadratic, (primal,), (tangent,))[0], [60.0, 1200.0])


def test_g62_jacobian_and_hessian():
    u = gt.constant([1.0, 2.0])
    near(gt.jacobian(lambda a: a * a)(u), np.diag([2.0, 4.0]))
    near(gt.hessian(quadratic)(u), np.diag([6.0, 12.0]))


def test_g62_transforms_nest():
    third = gt.grad(gt.grad(gt.grad(lambda u: u**4)))
    near(third(gt.constant(2.0)), 48.0)


# ---- 2.10 checks ----------------------------------------------------------------


def test_g63_check_grads_accepts_right_gradients():
    gt.testing.check_grads(lambda a, b: gt.sin(a) * b, 0.3, 1.7, order=2)


def test_g63_check_grads_finds_wrong_gradients():
    @gt.custom_gradient
    def f(a):
        return a * a, lambda upstream: upstream * a * 2.1

    with pytest.raises(AssertionError):
        gt.testing.check_grads(f, 1.5, order=1)


@pytest.mark.parametrize(("value", "word"), [(np.inf, "(?i)inf"), (np.nan, "(?i)nan")])
def test_g63_check_numerics(value, word):
    t = gt.constant([1.0, value])
    with pytest.raises((ValueError, ArithmeticError), match=word) as caught:
        gt.debugging.check_numerics(t, "after the division")
    assert "after the division" in str(caught.value)


def test_g63_check_numerics_returns_good_tensors(v):
    t = gt.debugging.check_numerics(v * 2.0, "never seen")
    assert t.numpy().tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("f", [gt.maximum, gt.minimum])
def test_x19_ties_give_all_to_the_first_argument(f):
    a, b = gt.Variable(2.0), gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y = f(a, b)
    assert values(tape.gradient(y, [a, b])) == [1.0, 0.0]
