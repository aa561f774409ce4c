"""Derivatives as functions: against closed forms, each other and differences."""

import numpy as np
import pytest

import gtape as gt
from gtape import errors


def smooth(x):
    return gt.reduce_sum(gt.sin(x) * gt.exp(x) + x[0] * x[1] ** 3)


X = np.array([0.3, -1.2, 0.7])
V = np.array([1.0, -0.5, 2.0])


def test_grad_and_value_and_grad_agree():
    value, gradient = gt.value_and_grad(smooth)(X)
    np.testing.assert_array_equal(gt.grad(smooth)(X).numpy(), gradient.numpy())
    assert float(value) == float(smooth(gt.constant(X)))


def test_grad_by_several_arguments_and_structures():
    f = lambda p, q: gt.reduce_sum(p["a"] * q) + p["b"] ** 2  # noqa: E731
    p = {"a": gt.constant([1.0, 2.0]), "b": gt.constant(3.0)}
    gp, gq = gt.grad(f, (0, 1))(p, [4.0, 5.0])
    assert gp["a"].numpy().tolist() == [4.0, 5.0]
    assert float(gp["b"]) == 6.0
    assert gq.numpy().tolist() == [1.0, 2.0]


def test_grad_with_aux():
    f = lambda x: (x * x, {"twice": 2.0 * x})  # noqa: E731
    gradient, aux = gt.grad(f, has_aux=True)(3.0)
    assert (float(gradient), float(aux["twice"])) == (6.0, 6.0)


def test_grad_of_an_unused_argument_is_zero():
    assert gt.grad(lambda x, y: x * 2.0, 1)(gt.constant(1.0), 5.0).numpy() == 0.0


def test_grad_needs_a_scalar():
    with pytest.raises(errors.GradientError, match=r"shape \(3,\)"):
        gt.grad(lambda x: x * 2.0)(X)
    with pytest.raises(errors.ArgumentTypeError, match="not a tensor"):
        gt.grad(lambda x: 2.0)(X)


@pytest.mark.parametrize("bad", [3, -4])
def test_argnums_out_of_range(bad):
    with pytest.raises(errors.ArgumentError, match=str(bad)):
        gt.grad(lambda x: x, bad)(1.0)


def test_higher_orders():
    f = lambda x: x**5.0  # noqa: E731
    expected = [5 * 16, 20 * 8, 60 * 4, 120 * 2, 120]
    for want in expected:
        f = gt.grad(f)
        assert np.isclose(float(f(gt.constant(2.0, gt.float64))), want)


def test_vjp_pulls_back_more_than_once():
    y, pull = gt.vjp(lambda a, b: {"p": a * b, "s": a + b}, 2.0, 3.0)
    assert float(y["p"]) == 6.0
    assert [float(g) for g in pull({"p": 1.0, "s": 0.0})] == [3.0, 2.0]
    assert [float(g) for g in pull({"p": 0.0, "s": 10.0})] == [10.0, 10.0]


def test_jvp_equals_the_inner_product_with_the_gradient():
    y, t = gt.jvp(smooth, (X,), (V,))
    np.testing.assert_allclose(float(t), gt.grad(smooth)(X).numpy() @ V, rtol=1e-12)
    assert float(y) == float(smooth(gt.constant(X)))


def test_jvp_of_a_constant_is_zero():
    _, t = gt.jvp(lambda x: gt.constant([1.0, 2.0]), (1.0,), (1.0,))
    assert t.numpy().tolist() == [0.0, 0.0]


OPERATIONS = {
    "broadcast": lambda x: x[:, None] * x[None, :],
    "matmul": lambda x: gt.reshape(x, [3, 1]) @ gt.reshape(x, [1, 3]),
    "concat": lambda x: gt.concat([x, x * x], 0)[1:5],
    "gather": lambda x: gt.gather(x, [0, 2, 2]) * x,
    "softmax": lambda x: gt.nn.softmax(x) * x,
    "where": lambda x: gt.where(x > 0.0, x * x, gt.exp(x)),
    "cumprod": lambda x: gt.cumprod(x),
    "logsumexp": lambda x: gt.reduce_logsumexp(x * 2.0),
    "solve": lambda x: gt.linalg.solve(
        gt.eye(3, dtype=gt.float64) * 3.0 + x[:, None] * x[None, :], x[:, None]
    ),
    "several results": lambda x: gt.linalg.slogdet(
        gt.eye(3, dtype=gt.float64) * 3.0 + x[:, None] * x[None, :]
    )[1],
    "item assignment": lambda x: with_item(x),
    "sort": lambda x: gt.sort(x) * x,
}


def with_item(x):
    y = x * 1.0
    y[1] = x[0] * x[2]
    return y * y


@pytest.mark.parametrize("name", OPERATIONS)
def test_forward_mode_is_the_transpose_of_reverse_mode(name):
    f = OPERATIONS[name]
    _, tangent = gt.jvp(f, (X,), (V,))
    jacobian = gt.jacobian(f)(X).numpy()
    np.testing.assert_allclose(tangent.numpy(), jacobian @ V, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", OPERATIONS)
def test_second_order_in_all_four_ways(name):
    f = lambda x: gt.reduce_sum(gt.sin(OPERATIONS[name](x)))  # noqa: E731
    hessian = gt.hessian(f)(X).numpy()
    h = 1e-5
    numeric = [
        (gt.grad(f)(X + h * e).numpy() - gt.grad(f)(X - h * e).numpy()) / (2 * h)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(hessian, numeric, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-11)
    # forward over reverse, reverse over forward, forward over forward
    [product] = gt.hvp(f, (X,), (V,))
    np.testing.assert_allclose(product.numpy(), hessian @ V, rtol=1e-8, atol=1e-10)
    slope = gt.grad(lambda x: gt.jvp(f, (x,), (V,))[1])(X)
    np.testing.assert_allclose(slope.numpy(), hessian @ V, rtol=1e-8, atol=1e-10)
    _, twice = gt.jvp(lambda x: gt.jvp(f, (x,), (V,))[1], (X,), (V,))
    np.testing.assert_allclose(float(twice), V @ hessian @ V, rtol=1e-8, atol=1e-10)


def test_forward_mode_makes_one_pass():
    calls = []

    def f(x):
        calls.append(1)
        return gt.tile(x, [1000])

    _, t = gt.jvp(f, ([1.0, 2.0],), ([1.0, 0.0],))
    assert len(calls) == 1
    assert t.shape == (2000,)


def test_forward_accumulators_nest_with_tapes():
    x = gt.Variable(2.0, dtype=gt.float64)
    with gt.ForwardAccumulator(x, gt.constant(1.0, gt.float64)) as acc:
        with gt.GradientTape() as tape:
            y = x**4.0
        g = tape.gradient(y, x)
    assert np.isclose(float(acc.jvp(g)), 48.0)


def test_custom_gradient_is_followed_in_forward_mode_and_twice():
    @gt.custom_gradient
    def cube(x):
        square = x * x
        return square * x, lambda upstream: upstream * 3.0 * square

    x = gt.constant(2.0, gt.float64)
    assert np.isclose(float(gt.jvp(cube, (x,), (1.0,))[1]), 12.0)
    assert np.isclose(float(gt.grad(gt.grad(cube))(x)), 12.0)


def test_recompute_grad_gives_the_same_to_second_order():
    w = gt.Variable([[0.5, -1.0], [2.0, 0.3]], dtype=gt.float64)

    def block(x):
        return gt.tanh(x @ w)

    x = gt.constant([[0.2, -0.4]], gt.float64)
    for f in (block, gt.recompute_grad(block)):
        with gt.GradientTape() as outer:
            with gt.GradientTape() as inner:
                inner.watch(x)
                y = gt.reduce_sum(f(x))
            gx, gw = inner.gradient(y, [x, w])
            s = gt.reduce_sum(gx * gx) + gt.reduce_sum(gw**3.0)
        second = outer.gradient(s, w).numpy()
        first = (gx.numpy(), gw.numpy())
        if f is block:
            want = (*first, second)
        else:
            for a, b in zip((*first, second), want, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)


# --- vectorized_map ------------------------------------------------------------------

W = np.linspace(-1.0, 1.0, 9).reshape(3, 3)
ROWS = np.linspace(-0.9, 1.3, 12).reshape(4, 3)

ROW_FUNCTIONS = {
    "elementwise": lambda r: gt.exp(r) * 2.0 + W[0],
    "ranks": lambda r: r[:, None] * gt.constant(W) + r[0],
    "fold": lambda r: gt.reduce_max(r) + gt.reduce_sum(r * r, axis=0),
    "matmul": lambda r: gt.reshape(r, [1, 3]) @ gt.constant(W),
    "matmul on the right": lambda r: gt.constant(W) @ gt.reshape(r, [3, 1]),
    "rearranged": lambda r: gt.transpose(gt.reshape(gt.concat([r, r], 0), [2, 3])),
    "indexed": lambda r: r[::-1] * r[[2, 0, 0]] + r[1],
    "constant": lambda r: gt.constant([1.0, 2.0]),
    "element by element": lambda r: gt.sort(r) + gt.cumsum(r),
    "python branch": lambda r: r * 2.0 if r[0] > 0.0 else r * 3.0,
    "structure": lambda r: {"a": r[0], "b": [r * 2.0]},
    "gradient inside": lambda r: gt.grad(lambda q: gt.reduce_sum(q**3.0 * r))(r),
    "several results": lambda r: gt.linalg.slogdet(r[:, None] * r[None, :] + np.eye(3)),
}


@pytest.mark.parametrize("name", ROW_FUNCTIONS)
def test_vectorized_map_equals_a_loop(name):
    f = ROW_FUNCTIONS[name]
    got = gt.nest.flatten(gt.vectorized_map(f, ROWS))
    rows = [gt.nest.flatten(f(gt.constant(r))) for r in ROWS]
    for g, column in zip(got, zip(*rows, strict=True), strict=True):
        np.testing.assert_allclose(g.numpy(), [c.numpy() for c in column], rtol=1e-12)


@pytest.mark.parametrize("name", ["matmul", "indexed", "gradient inside", "fold"])
def test_gradients_through_vectorized_map(name):
    f = ROW_FUNCTIONS[name]
    total = lambda x: gt.reduce_sum(gt.sin(gt.vectorized_map(f, x)))  # noqa: E731
    loop = lambda x: gt.reduce_sum(  # noqa: E731
        gt.sin(gt.stack([f(x[i]) for i in range(4)]))
    )
    np.testing.assert_allclose(
        gt.grad(total)(ROWS).numpy(), gt.grad(loop)(ROWS).numpy(), rtol=1e-10
    )


def test_vectorized_map_of_structures():
    out = gt.vectorized_map(
        lambda p: p[0] * p[1], (gt.constant([1.0, 2.0]), [3.0, 4.0])
    )
    assert out.numpy().tolist() == [3.0, 8.0]


def test_vectorized_map_runs_the_function_once():
    calls = []

    def f(r):
        calls.append(1)
        return r * 2.0

    gt.vectorized_map(f, np.ones((50, 2)))
    assert len(calls) == 1


def test_vectorized_map_refuses():
    with pytest.raises(errors.ShapeError, match="first size"):
        gt.vectorized_map(lambda p: p[0], (gt.zeros([2]), gt.zeros([3])))
    with pytest.raises(errors.ShapeError, match="first size"):
        gt.vectorized_map(lambda x: x, gt.constant(1.0))


@pytest.mark.parametrize("size", [0, 1, 3, 40])
def test_jacobian_of_few_and_many_elements(size):
    x = np.linspace(0.1, 1.0, max(size, 1))[:size]
    f = lambda v: gt.exp(v) * gt.reduce_sum(v * v)  # noqa: E731
    e, s = np.exp(x), np.sum(x * x)
    want = np.diag(e * s) + e[:, None] * 2 * x[None, :]
    np.testing.assert_allclose(gt.jacobian(f)(x).numpy(), want, rtol=1e-12)


def test_jacobian_through_a_custom_rule_that_wants_values():
    @gt.custom_gradient
    def f(x):
        def rule(upstream):
            return upstream * (2.0 if float(gt.reduce_sum(upstream)) > 0 else 0.0)

        return x * 2.0, rule

    np.testing.assert_allclose(gt.jacobian(f)(np.ones(9)).numpy(), 2 * np.eye(9))


def test_jacobian_is_differentiable():
    def f(x):
        return gt.reduce_sum(gt.jacobian(lambda v: v**3.0)(x) ** 2.0)

    x = np.linspace(0.5, 1.5, 6)
    np.testing.assert_allclose(gt.grad(f)(x).numpy(), 36 * x**3, rtol=1e-10)


def test_recompute_grad_draws_the_same_random_numbers_again():
    x = gt.Variable(np.ones(1000))
    f = gt.recompute_grad(lambda v: gt.reduce_sum(gt.nn.dropout(v, 0.5) * v))
    with gt.GradientTape() as tape:
        y = f(x)
    assert float(gt.reduce_sum(tape.gradient(y, x))) == 2 * float(y)


def test_recompute_grad_within_recompute_grad_draws_the_same():
    inner = gt.recompute_grad(lambda v: gt.nn.dropout(v, 0.5) * v)
    outer = gt.recompute_grad(lambda v: gt.reduce_sum(inner(v) + gt.nn.dropout(v, 0.2)))
    x = gt.Variable(np.ones(500))
    with gt.GradientTape() as tape:
        y = outer(x)
    g = tape.gradient(y, x).numpy()
    # Both parts are polynomials of the masks: d/dx at 1 of (a x^2 + b x) is 2 a + b.
    kept = np.isin(np.round(g, 6), np.round([0.0, 1.25, 4.0, 5.25], 6))
    assert kept.all()
    first = np.floor(g / 4.0) * 2.0
    assert np.isclose(float(y), np.sum(first + (g - 2 * first)))


def test_random_numbers_differ_between_elements_of_a_batch():
    out = gt.vectorized_map(lambda r: r * 0.0 + gt.random.normal([2]), np.zeros((5, 2)))
    assert len(np.unique(out.numpy())) == 10
