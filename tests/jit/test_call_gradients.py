"""Gradients around calls of functions: any order, any mode, as eagerly."""

import gc
import weakref

import numpy as np
import pytest

import gtape as gt

F64 = gt.float64
W = gt.Variable([[0.3, -0.2], [0.5, 0.7]], dtype=F64)
K = gt.constant([1.5, -0.5], F64)


def mlp(x):
    h = gt.tanh(x @ W + K)
    return gt.reduce_sum(h * h)


def branches(x):
    total = gt.reduce_sum(x)
    if total > 1.0:
        total = total * total
        return total * gt.reduce_sum(W)
    return gt.exp(total)


def loops(x):
    s = gt.reduce_sum(x) * 0.1 + 1.0
    while s < 5.0:
        s = s * 1.5 + gt.sin(s) * W[0, 0]
    for i in range(gt.constant(3)):
        s = s + gt.cast(i, F64) * s * x[0, 0]
    return s


def shapes(x):
    parts = gt.concat([x, x * 2.0], 0)
    return gt.reduce_max(gt.reshape(parts, [-1]) ** 2) + gt.reduce_logsumexp(parts @ W)


def several(x):
    return gt.reduce_sum(x * x) + gt.reduce_prod(gt.cumsum(x[0]) + 2.0)


FUNCTIONS = [mlp, branches, loops, shapes, several]
POINTS = [[[0.1, 0.2]], [[0.7, 0.9]]]


def first(f, x):
    with gt.GradientTape() as tape:
        tape.watch([x, K])
        y = f(x)
    return [y, *tape.gradient(y, [x, W, K], unconnected_gradients="zero")]


def second(f, x):
    with gt.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with gt.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return outer.gradient(g, [x, W], unconnected_gradients="zero")


def by_jacobian(f, x):
    with gt.GradientTape() as outer:
        outer.watch(x)
        with gt.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return [outer.jacobian(g, x, unconnected_gradients="zero")]


def forward_mode(f, x):
    return gt.jvp(f, (x,), (gt.ones_like(x) * 0.5,))


def forward_over_reverse(f, x):
    return gt.hvp(f, (x,), (gt.ones_like(x),))


def third(f, x):
    def along(t):
        return f(x + t * gt.ones_like(x))

    g = gt.grad(gt.grad(gt.grad(along)))
    return [g(gt.constant(0.0, F64))]


MODES = [first, second, by_jacobian, forward_mode, forward_over_reverse, third]


@pytest.mark.parametrize("mode", MODES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_same_as_eagerly(function, mode):
    traced = gt.function(function)
    for point in (*POINTS, POINTS[0]):
        x = gt.constant(point, F64)
        for a, b in zip(mode(function, x), mode(traced, x), strict=True):
            assert np.allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_gradient_inside_a_function(function):
    inside = gt.function(lambda x: first(function, x))
    around = gt.function(lambda x: gt.grad(gt.function(function))(x))
    for point in POINTS:
        x = gt.constant(point, F64)
        expected = first(function, x)
        for a, b in zip(expected, inside(x), strict=True):
            assert np.allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-12)
        assert np.allclose(around(x).numpy(), expected[1].numpy())
        with gt.GradientTape() as tape:
            tape.watch(x)
            g = inside(x)[1]
        assert np.allclose(tape.gradient(g, x).numpy(), second(function, x)[0].numpy())


def test_the_fifth_power():
    """Field case 91."""

    def f(x):
        r = 1.0
        for _ in range(5):
            r = r * x
        return r

    for g in (f, gt.function(f)):
        v = gt.Variable(1.2)
        with gt.GradientTape() as outer:
            with gt.GradientTape() as inner:
                y = g(v)
            d1 = inner.gradient(y, v)
        assert np.isclose(d1.numpy(), 10.368)
        assert np.isclose(outer.gradient(d1, v).numpy(), 34.56)

    @gt.function
    def inside(x):
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    v = gt.Variable(1.2)
    with gt.GradientTape() as tape:
        d1 = inside(v)
    assert np.isclose(d1.numpy(), 10.368)
    assert np.isclose(tape.gradient(d1, v).numpy(), 34.56)


def test_open_sizes():
    @gt.function
    def f(x):
        y = gt.reduce_sum(x * x, 0) * x.shape[0]
        return gt.reduce_mean(y)

    for n in (2, 3, 4, 7, 2):
        x = gt.Variable(np.arange(2.0 * n).reshape(n, 2))
        with gt.GradientTape() as tape:
            y = f(x * 1.0)
        assert np.allclose(tape.gradient(y, x).numpy(), x.numpy() * n)
    assert f.trace_count == 2


def test_the_values_of_a_filter_are_as_many_as_they_are():
    f = gt.function(lambda x: gt.reduce_sum(gt.boolean_mask(x, x > 0.0)))
    for values in ([1.0, -2.0, 3.0], [-1.0, -2.0, -3.0]):
        x = gt.Variable(values)
        with gt.GradientTape() as tape:
            y = f(x)
        assert tape.gradient(y, x).numpy().tolist() == [float(v > 0) for v in values]


def test_several_results():
    @gt.function
    def f(x, y):
        return x * 2.0, [y * 3.0], {"p": x * y, "n": gt.constant(1)}

    x, y = gt.Variable(2.0), gt.Variable(5.0)
    for _ in range(3):
        with gt.GradientTape(persistent=True) as tape:
            a, [b], rest = f(x, y)
        assert [None if g is None else float(g) for g in tape.gradient(a, [x, y])] == [
            2.0,
            None,
        ]
        assert [None if g is None else float(g) for g in tape.gradient(b, [x, y])] == [
            None,
            3.0,
        ]
        assert [float(g) for g in tape.gradient([a, rest["p"]], [x, y])] == [7.0, 2.0]
        assert tape.gradient(rest["n"], x) is None


def test_complex_numbers():
    def f(z):
        return gt.abs(z * z + gt.exp(z))

    z = gt.constant(0.3 + 0.4j)
    found = []
    for g in (f, gt.function(f)):
        with gt.GradientTape() as tape:
            tape.watch(z)
            y = g(z)
        found.append(tape.gradient(y, z).numpy())
    assert np.allclose(*found)


def test_a_persistent_tape_and_later_tapes():
    f = gt.function(lambda x: x**3)
    x = gt.Variable(2.0)
    with gt.GradientTape(persistent=True) as tape:
        y = f(x)
        g = tape.gradient(y, x)
    assert [float(tape.gradient(t, x)) for t in (y, g)] == [12.0, 12.0]
    c = gt.constant(2.0)
    with gt.GradientTape() as early:
        early.watch(c)
        y = f(c)
    with gt.GradientTape() as late:
        late.watch(c)
        g = early.gradient(y, c)
    assert float(late.gradient(g, c)) == 12.0


def test_output_gradients_and_custom_rules():
    @gt.custom_gradient
    def clipped(x):
        return x * 3.0, lambda g: gt.clip_by_value(g, -1.0, 1.0)

    f = gt.function(lambda x: clipped(x) * 10.0)
    x = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = f(x)
    g = tape.gradient(y, x, output_gradients=gt.constant([0.01, 5.0]))
    assert np.allclose(g.numpy(), [0.1, 1.0])


def test_batches_of_cotangents_run_at_once():
    """The jacobian of a function without control flow is one batched reverse pass."""
    calls = []
    f = gt.function(lambda x: gt.tanh(x @ W))
    x = gt.constant(np.linspace(0, 1, 8).reshape(4, 2))
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    [(_, concrete)] = f._traces
    [[passes]] = concrete.program._reverses.values()
    run = passes.backward.run
    passes.backward.run = lambda arrays: calls.append(1) or run(arrays)
    j = tape.jacobian(y, x)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.tanh(x @ W)
    assert np.allclose(j.numpy(), tape.jacobian(y, x).numpy())
    assert calls == []


# --- Forward and backward -------------------------------------------------------------


def test_the_function_runs_once():
    """Effects, draws and heavy work of the forward pass are not done again."""
    log = []
    gt.random.set_seed(5)

    @gt.function
    def f(x):
        print_count = gt.reduce_sum(x) * 0.0
        log.append(1)
        return gt.reduce_sum(x * gt.random.normal([2])) + print_count

    x = gt.Variable([1.0, 1.0])
    with gt.GradientTape() as tape:
        y = f(x)
    g = tape.gradient(y, x)
    assert float(gt.reduce_sum(g)) == pytest.approx(float(y), rel=1e-6)
    assert log == [1]
    gt.random.set_seed(5)
    same = gt.random.normal([2])
    assert np.allclose(g.numpy(), same.numpy())
    after = f(x)
    with gt.GradientTape():
        gt.random.set_seed(5)
        f(x)
        again = f(x)
    assert float(after) == float(again)


def test_assertions_and_printing_run_once(capsys):
    @gt.function
    def f(x):
        print("once")
        if x > 0.0:
            print("positive")
        return x * x

    x = gt.Variable(2.0)
    with gt.GradientTape() as outer:
        with gt.GradientTape() as tape:
            y = f(x)
        g = tape.gradient(y, x)
    assert float(outer.gradient(g, x)) == 2.0
    assert capsys.readouterr().out == "once\npositive\n"


def split(f, *args):
    """Return the forward and the backward graph of the only trace."""
    with gt.GradientTape() as tape:
        y = f(*args)
    tape.gradient(y, [a for a in args if isinstance(a, gt.Variable)] or [W])
    [(_, concrete)] = f._traces
    [[passes]] = concrete.program._reverses.values()
    return concrete.program, passes


def names(graph):
    return [node.primitive.name for node in graph.nodes]


def test_heavy_work_is_not_done_again():
    f = gt.function(lambda x: gt.reduce_sum(gt.tanh(x @ W) @ W))
    _, passes = split(f, gt.ones([3, 2], F64))
    forward, backward = passes._forward.optimised, passes.backward.optimised
    assert names(forward).count("matmul") == 2
    # One product by the inner and two by the outer weights; none of the forward pass.
    assert names(backward).count("matmul") == 3
    assert "tanh" not in names(backward)


def test_gradients_of_arguments_that_nobody_watches_are_not_computed():
    f = gt.function(lambda x, v: gt.reduce_sum(x @ v))
    x = gt.ones([3, 2])
    v = gt.Variable([[1.0], [2.0]])
    _, passes = split(f, x, v)
    assert passes.reverse.reached == [1]
    assert names(passes.backward.optimised).count("matmul") == 1


def test_residuals_are_what_is_needed():
    f = gt.function(lambda x: gt.reduce_sum((x + 1.0) * 2.0 - gt.reshape(x, [4])))
    program, passes = split(f, gt.Variable([1.0, 2.0, 3.0, 4.0]))
    assert len(passes._forward.optimised.outputs) == len(program.graph.outputs)
    g = gt.function(lambda x: gt.reduce_sum(gt.exp(gt.exp(x) + 1.0)))
    program, passes = split(g, gt.Variable([1.0, 2.0]))
    assert len(passes._forward.optimised.outputs) == len(program.graph.outputs) + 2


def test_residuals_are_freed_with_the_tape():
    f = gt.function(lambda x: gt.reduce_sum(gt.exp(gt.exp(x))))
    x = gt.Variable(np.zeros(100_000))
    with gt.GradientTape() as tape:
        y = f(x)
    [entry] = [e for e in tape._record.entries if e[0].name == "<lambda>"]
    kept = [weakref.ref(array) for array in entry[-1]["saved"].residuals]
    del entry
    assert all(ref() is not None for ref in kept)
    tape.gradient(y, x)
    gc.collect()
    assert [ref() for ref in kept] == [None] * len(kept)


def test_the_first_pass_tells_what_the_next_ones_keep():
    """Of several results most often one is differentiated."""
    f = gt.function(lambda x: (gt.reduce_sum(x * 2.0), gt.exp(gt.exp(x) * x)))
    x = gt.Variable([0.1, 0.2])
    for i in range(3):
        with gt.GradientTape() as tape:
            y, _ = f(x)
        saved = tape._record.entries[-1][-1]["saved"]
        assert (len(saved.residuals) == 0) is (i > 0)
        assert tape.gradient(y, x).numpy().tolist() == [2.0, 2.0]
        with gt.GradientTape() as tape:
            z, p = f(x)
        both = tape.gradient([z, p], x).numpy()
        e = np.exp(x.numpy())
        expected = 2.0 + np.exp(e * x.numpy()) * (e * x.numpy() + e)
        assert np.allclose(both, expected)
        with gt.GradientTape() as tape:
            y, _ = f(x)
        tape.gradient(y, x)
