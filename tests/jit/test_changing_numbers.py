"""Python numbers outside that change from call to call are inputs of the graph."""

import types

import numpy as np
import pytest

import gtape as gt

ONE = gt.constant(1.0)


def counted(function, look, calls=8):
    """Return what a function gives and leaves, eagerly and traced, and its traces."""
    found = []
    for wrap in (lambda f: f, gt.function):
        o = types.SimpleNamespace(n=0, rate=1.0, table={"n": 0, "x": 2.0}, items=[])
        f = wrap(lambda x, o=o: function(o, x))
        results = [float(f(gt.constant(float(i)))) for i in range(calls)]
        found.append((results, look(o)))
    assert np.allclose(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]
    assert type(found[0][1]) is type(found[1][1])
    return f.trace_count


def count(o, x):
    o.n += 1
    return x * o.n


def count_in_a_dict(o, x):
    o.table["n"] += 2
    return x * o.table["n"] * o.table["x"]


def decay(o, x):
    o.rate *= 0.5
    return x * o.rate


def every_third(o, x):
    o.n += 1
    if o.n % 3 == 0:
        x = x * 100.0
    return x


def loop_over(o, x):
    o.n += 1
    for i in range(o.n):
        x = x + float(i)
    return x


@pytest.mark.parametrize(
    ("function", "look"),
    [
        (count, lambda o: o.n),
        (count_in_a_dict, lambda o: o.table["n"]),
        (decay, lambda o: o.rate),
        (every_third, lambda o: o.n),
        (loop_over, lambda o: o.n),
    ],
)
def test_two_traces_are_enough(function, look):
    assert counted(function, look) == 2


def test_nonlocal_and_global_counters():
    n = 0

    @gt.function
    def f(x):
        nonlocal n
        global calls
        n += 1
        calls += 2
        return x * n + calls

    globals()["calls"] = 0
    assert [float(f(ONE)) for _ in range(6)] == [3.0 * k for k in range(1, 7)]
    assert (n, globals()["calls"]) == (6, 12)
    assert type(n) is type(globals()["calls"]) is int
    assert f.trace_count == 2
    n = 0
    globals()["calls"] = 100
    assert float(f(ONE)) == 103.0
    assert "the free variable 'n' changes from call to call" in f.explain()


def test_a_counter_in_a_branch_and_in_a_helper():
    n = 0

    def bump():
        nonlocal n
        n += 1

    @gt.function
    def f(x):
        if x > 0.0:
            bump()
        else:
            bump()
            bump()
        return x * n

    assert [float(f(gt.constant(v))) for v in (1.0, -1.0, 1.0, 2.0)] == [1, -3, 4, 10]
    assert n == 5


def test_a_number_that_others_change():
    config = types.SimpleNamespace(rate=1.0, name="a", flag=True)
    f = gt.function(lambda x: x * config.rate if config.flag else x)
    for i in range(10):
        config.rate = 0.5 * i
        assert float(f(ONE)) == 0.5 * i
    assert f.trace_count == 2
    config.flag = False
    assert float(f(ONE)) == 1.0
    assert f.trace_count == 3


def test_another_type_is_another_trace():
    config = types.SimpleNamespace(k=1)
    f = gt.function(lambda x: x * config.k)
    for k in (1, 2, 3, 2.5, 3.5, True, 2**70, None):
        config.k = k
        if k is None:
            with pytest.raises(TypeError):
                f(ONE)
        else:
            assert float(f(ONE)) == float(k)
    del config.k
    with pytest.raises(AttributeError):
        f(ONE)
    config.k = 7
    assert float(f(ONE)) == 7.0


def test_a_number_that_python_needs_stays_a_constant():
    config = types.SimpleNamespace(i=0)
    f = gt.function(lambda x: [x, x * 2.0, x * 3.0][config.i])
    for i in (0, 1, 2, 0, 1, 2):
        config.i = i
        assert float(f(ONE)) == i + 1.0
    assert f.trace_count == 3


def test_gradients_and_methods():
    class Model:
        def __init__(self):
            self.w = gt.Variable(2.0)
            self.step = 0

        @gt.function
        def train(self, x):
            self.step += 1
            with gt.GradientTape() as tape:
                loss = self.w * self.w * x
            self.w.assign_sub(0.1 / self.step * tape.gradient(loss, self.w))
            return loss

    m = Model()
    w = 2.0
    for i in range(1, 6):
        assert float(m.train(ONE)) == pytest.approx(w * w, rel=1e-5)
        w -= 0.1 / i * 2.0 * w
        assert m.step == i
    assert float(m.w) == pytest.approx(w, rel=1e-5)
    assert m.train.trace_count == 2
