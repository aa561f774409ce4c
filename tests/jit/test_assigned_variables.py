"""Variables that a function assigns to: order, values, and gradients as eagerly."""

import numpy as np
import pytest

import gtape as gt

F64 = gt.float64


def assign_and_read(v, x):
    v.assign(x * 2.0)
    return v * v * x


def read_assign_read(v, x):
    before = v * x
    v.assign_add(before)
    return v * v + before


def in_a_branch(v, x):
    if x > 1.0:
        v.assign_add(x * x)
    else:
        v.assign(v * 1.5)
    return v * v + x


def in_a_for_loop(v, x):
    for _ in range(gt.constant(3)):
        v.assign(v * x)
    return v * x


def in_a_while_loop_with_a_branch(v, x):
    s = x * 0.0
    while s < 10.0:
        v.assign_add(x)
        s = s + v * x
        if s > 4.0:
            v.assign(s * 2.0)
    return s * v


def in_an_unrolled_loop(v, x):
    s = v * 1.0
    for _ in range(3):
        v.assign(s * x)
        s = s + v
    return s


def under_a_tape_inside(v, x):
    a = v * x
    v.assign(a)
    with gt.GradientTape() as tape:
        y = v * v * a
    return tape.gradient(y, v) * x


def items(v, x):
    v.assign(x + v)
    return v * 3.0 + gt.stop_gradient(v)


FUNCTIONS = [
    assign_and_read,
    read_assign_read,
    in_a_branch,
    in_a_for_loop,
    in_a_while_loop_with_a_branch,
    in_an_unrolled_loop,
    under_a_tape_inside,
    items,
]


def numbers(values):
    return [0.0 if v is None else float(v) for v in values]


def outcome(f, captured, start, point):
    """Return value, gradients, second gradients, and what is in the variable."""
    v, x = gt.Variable(start, dtype=F64), gt.Variable(point, dtype=F64)
    call = (lambda: f(v, x)) if not captured else gt.function(lambda x: f(v, x))
    with gt.GradientTape(persistent=True) as tape:
        y = call() if not captured else call(x)
        first = tape.gradient(y, [v, x])
    second = [
        numbers(tape.gradient(g, [v, x])) if g is not None else [0.0, 0.0]
        for g in first
    ]
    return [float(y), *numbers(first), *second[0], *second[1], float(v)]


@pytest.mark.parametrize("point", [0.5, 2.0])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_assignment_breaks_the_link(function, point):
    expected = outcome(function, False, 3.0, point)
    traced = gt.function(function)
    for _ in range(2):
        assert np.allclose(outcome(traced, False, 3.0, point), expected)
    assert np.allclose(outcome(function, True, 3.0, point), expected)
    assert traced.trace_count == 1


def test_program_order():
    """F6."""
    v = gt.Variable(0.0)

    @gt.function
    def f():
        a = v.read_value()
        v.assign_add(1.0)
        b = v.read_value()
        v.assign(v * 10.0)
        return a, b, v.read_value()

    assert [float(r) for r in f()] == [0.0, 1.0, 10.0]
    assert [float(r) for r in f()] == [10.0, 11.0, 110.0]


def test_a_variable_that_is_assigned_only_is_not_watched():
    v, x = gt.Variable(1.0), gt.Variable(2.0)

    @gt.function
    def f(x):
        v.assign(x * 3.0)
        return x * 1.0

    for call in (f.python_function, f):
        with gt.GradientTape() as tape:
            call(x)
        assert [w is x for w in tape.watched_variables()] == [True]


def test_two_views_of_one_variable():
    v = gt.Variable([1.0, 2.0, 3.0])

    @gt.function
    def f(x):
        old = v[0]
        v[0].assign(x)
        v.scatter_add(gt.IndexedSlices([10.0], [2]))
        return old + v[0] + v[2]

    assert float(f(5.0)) == 1.0 + 5.0 + 13.0
    assert v.numpy().tolist() == [5.0, 2.0, 13.0]
    assert float(f(6.0)) == 5.0 + 6.0 + 23.0
    assert f.trace_count == 1


def test_optimizer_steps_in_a_loop_with_slots_made_on_the_way():
    """F5, and G48 in small: one function trains."""
    rng = np.random.default_rng(0)
    x = gt.constant(rng.normal(size=(20, 3)))
    y = x @ gt.constant([[1.0], [2.0], [3.0]], F64)

    def train(wrap):
        w = gt.Variable(np.zeros((3, 1)))
        optimizer = gt.optim.Adam(0.1)

        @wrap
        def steps(n):
            loss = gt.constant(0.0, F64)
            for _ in range(n):
                with gt.GradientTape() as tape:
                    loss = gt.reduce_mean((x @ w - y) ** 2)
                optimizer.apply_gradients([(tape.gradient(loss, w), w)])
            return loss

        return [float(steps(n)) for n in (5, 5, 20)], w.numpy()

    eager, traced = train(lambda f: f), train(gt.function)
    assert np.allclose(eager[0], traced[0])
    assert np.allclose(eager[1], traced[1])


def unguarded(x):
    return x * gt.Variable(2.0, name="unguarded_variable")


def in_a_traced_branch(x):
    if x > 0.0:
        return x * gt.Variable(2.0)
    return x


@pytest.mark.parametrize("function", [unguarded, in_a_traced_branch])
def test_variables_made_on_every_call_are_refused(function):
    f = gt.function(function)
    for _ in range(2):
        with pytest.raises(ValueError, match="makes variables"):
            f(gt.constant(1.0))


def test_the_refusal_names_the_variables():
    with pytest.raises(ValueError, match="unguarded_variable"):
        gt.function(unguarded)(gt.constant(1.0))


def test_variables_made_by_the_first_call():
    """Field case 83."""
    state, calls = {}, []

    @gt.function
    def f(x):
        calls.append(1)
        if "w" not in state:
            state["w"] = gt.Variable(3.0)
            state["made"] = True
        state["w"].assign_add(x)
        return x * state["w"]

    x = gt.constant(2.0)
    assert [float(f(x)) for _ in range(3)] == [10.0, 14.0, 18.0]
    assert f.trace_count == 2
    assert len(calls) == 3
    assert state["made"] is True


def test_variables_that_begin_with_traced_values():
    class Layer:
        def __init__(self):
            self.w = None

        @gt.function
        def call(self, x):
            if self.w is None:
                self.w = gt.Variable(gt.random.normal([x.shape[-1], 2], seed=4))
                self.b = gt.Variable(x[0, 0] * 2.0)
                self.units = [gt.Variable(gt.zeros([1])) for _ in range(2)]
            self.units[0].assign_add([1.0])
            return x @ self.w + self.b

    layer = Layer()
    x = gt.constant([[1.0, 2.0, 3.0]])
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(layer.call(x))
    assert layer.w.shape == (3, 2)
    assert float(layer.b) == 2.0
    assert tape.gradient(y, layer.w).numpy().tolist() == [
        [1.0, 1.0],
        [2.0, 2.0],
        [3.0, 3.0],
    ]
    w = layer.w
    for _ in range(3):
        layer.call(x)
    assert layer.w is w
    assert layer.call.trace_count == 2
    assert layer.units[0].numpy().tolist() == [4.0]


def test_new_variables_in_a_later_trace_are_refused():
    made = {}

    @gt.function
    def f(x, name):
        if name not in made:
            made[name] = gt.Variable(1.0)
        return made[name] * x

    assert float(f(2.0, "a")) == 2.0
    with pytest.raises(ValueError, match="makes variables"):
        f(2.0, "b")
    assert list(made) == ["a"]
    assert float(f(2.0, "a")) == 2.0


def test_a_layer_made_by_the_first_call_stays():
    class Dense:
        def __init__(self, n):
            self.w = gt.Variable(gt.ones([n]))

        def __call__(self, x):
            return gt.reduce_sum(self.w * x)

    class Net(gt.Module):
        def __init__(self):
            self.layers = None

        @gt.function
        def call(self, x):
            if not self.layers:
                self.layers = [Dense(x.shape[0]) for _ in range(2)]
            return sum(layer(x) for layer in self.layers)

    net = Net()
    x = gt.constant([1.0, 2.0])
    assert [float(net.call(x)) for _ in range(3)] == [6.0] * 3
    layers = list(net.layers)
    net.layers[0].w.assign([0.0, 0.0])
    assert float(net.call(x)) == 3.0
    assert [a is b for a, b in zip(layers, net.layers, strict=True)] == [True, True]
    assert net.call.trace_count == 2
