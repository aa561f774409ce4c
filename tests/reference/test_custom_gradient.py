"""`custom_gradient`, `stop_gradient`, `recompute_grad`, `grad_pass_through`.

Each test carries the code of its line. Defects of TensorFlow (X5 to X8) are not
copied: the test holds the right behavior.
"""

import numpy as np
import pytest

import gtape as gt
from tests.reference.content import near, values

# ---- 2.8 custom_gradient, stop_gradient, recompute_grad, grad_pass_through ------


@gt.custom_gradient
def times_with_own_rule(a, b):
    def grad(upstream):
        return upstream * 10.0, upstream * 20.0

    return a * b, grad


def test_g49_own_rule_is_used(x, z):
    with gt.GradientTape() as tape:
        y = times_with_own_rule(x, z) * 2.0
    assert y.numpy() == 12.0
    assert values(tape.gradient(y, [x, z])) == [20.0, 40.0]


def test_g49_works_without_a_tape(x, z):
    assert times_with_own_rule(x, z).numpy() == 6.0


def test_g49_none_is_allowed(x, z):
    @gt.custom_gradient
    def f(a, b):
        return a * b, lambda upstream: (upstream * 10.0, None)

    with gt.GradientTape() as tape:
        y = f(x, z)
    assert values(tape.gradient(y, [x, z])) == [10.0, None]


def test_g49_keyword_arguments_are_not_differentiated(x, z):
    @gt.custom_gradient
    def f(a, scale=1.0):
        return a * scale, lambda upstream: upstream * 10.0

    with gt.GradientTape() as tape:
        y = f(x, scale=z)
    assert y.numpy() == 6.0
    assert values(tape.gradient(y, [x, z])) == [10.0, None]


def test_g49_nested_inputs(x, z):
    @gt.custom_gradient
    def f(inputs):
        def grad(upstream):
            return upstream * 10.0, upstream * 20.0

        return inputs["a"] * inputs["b"], grad

    with gt.GradientTape() as tape:
        y = f({"a": x * 1.0, "b": z * 1.0})
    assert values(tape.gradient(y, [x, z])) == [10.0, 20.0]


def two_outputs(seen):
    @gt.custom_gradient
    def f(a):
        def grad(first, second):
            seen.append((float(first), float(second)))
            return first * 10.0 + second * 100.0

        return (a * a, a * 3.0), grad

    return f


def test_g49_several_outputs(x):
    seen = []
    with gt.GradientTape() as tape:
        first, second = two_outputs(seen)(x)
        y = first + second * 2.0
    assert y.numpy() == 16.0
    assert tape.gradient(y, x).numpy() == 210.0
    assert seen == [(1.0, 2.0)]


def test_g49_unused_output_has_zero_upstream(x):
    seen = []
    with gt.GradientTape() as tape:
        first, _ = two_outputs(seen)(x)
    assert tape.gradient(first, x).numpy() == 10.0
    assert seen == [(1.0, 0.0)]


def test_g50_wrong_number_of_gradients(x, z):
    @gt.custom_gradient
    def f(a, b):
        return a * b, lambda upstream: (upstream,)

    with gt.GradientTape() as tape:
        y = f(x, z)
    with pytest.raises(ValueError, match=r"(?s)2.*1"):
        tape.gradient(y, [x, z])


def test_g51_function_that_reads_variables(x, z):
    @gt.custom_gradient
    def f(a):
        def grad(upstream, variables=None):
            assert len(variables) == 1
            assert variables[0] is z
            return upstream * 10.0, [upstream * 100.0]

        return a * z, grad

    with gt.GradientTape() as tape:
        y = f(x) * 2.0
    assert y.numpy() == 12.0
    assert values(tape.gradient(y, [x, z])) == [20.0, 200.0]


def test_g51_without_the_keyword(x, z):
    @gt.custom_gradient
    def f(a):
        return a * z, lambda upstream: upstream * 10.0

    def use():
        with gt.GradientTape() as tape:
            y = f(x)
        return tape.gradient(y, x)

    with pytest.raises(TypeError, match="variables"):
        use()


def test_g52_second_order_differentiates_the_rule(x):
    @gt.custom_gradient
    def cube(a):
        return a * a * a, lambda upstream: upstream * a * a * 5.0

    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = cube(x)
        g = inner.gradient(y, x)
    assert g.numpy() == 20.0
    assert outer.gradient(g, x).numpy() == 20.0


@pytest.mark.parametrize("result", [lambda a: a * a, lambda a: None])
def test_g52_function_that_returns_no_pair(x, result):
    f = gt.custom_gradient(result)
    with pytest.raises(TypeError, match=r"(?i)grad"):
        f(x)


def test_x8_gradient_of_wrong_shape(x):
    @gt.custom_gradient
    def f(a):
        return a * a, lambda upstream: upstream * gt.ones(5)

    with gt.GradientTape() as tape:
        y = f(x)
    with pytest.raises(gt.errors.ShapeError, match=r"(?s)5"):
        tape.gradient(y, x)


def test_x8_shape_error_is_a_value_error():
    assert issubclass(gt.errors.ShapeError, ValueError)


def test_g53_stop_gradient(x):
    with gt.GradientTape() as tape:
        y = gt.stop_gradient(x * x) * x
    assert y.numpy() == 8.0
    assert tape.gradient(y, x).numpy() == 4.0


def test_g53_stop_gradient_alone_is_none(x):
    with gt.GradientTape() as outer, gt.GradientTape() as inner:
        y = gt.stop_gradient(x * x)
    assert inner.gradient(y, x) is None
    assert outer.gradient(y, x) is None


def test_g53_grad_pass_through(x):
    with gt.GradientTape() as tape:
        y = gt.grad_pass_through(gt.round)(x * 1.7)
    assert y.numpy() == 3.0
    near(tape.gradient(y, x), 1.7)


def counting_sin(calls):
    def f(a):
        calls.append(1)
        return gt.sin(a)

    return f


def test_g54_recompute_grad_calls_twice(x):
    calls = []
    with gt.GradientTape() as tape:
        y = gt.recompute_grad(counting_sin(calls))(x)
    assert len(calls) == 1
    near(tape.gradient(y, x), np.cos(2.0))
    assert len(calls) == 2


def test_g54_recompute_grad_of_captured_variables(x, z):
    with gt.GradientTape() as tape:
        y = gt.recompute_grad(lambda a: a * a * z)(x)
    assert values(tape.gradient(y, [x, z])) == [12.0, 4.0]


def test_g54_recompute_grad_second_order(x):
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = gt.recompute_grad(gt.sin)(x)
        g = inner.gradient(y, x)
    near(g, np.cos(2.0))
    near(outer.gradient(g, x), -np.sin(2.0))
