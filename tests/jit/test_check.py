"""`check=True`: plain Python runs beside the graph, and both must agree."""

import types

import numpy as np
import pytest

import gtape as gt
from gtape.errors import CheckError

ONE = gt.constant(1.0)


def checked(function):
    return gt.function(function, check=True)


def test_agreement_returns_the_graphs_result():
    v = gt.Variable(1.0)

    @checked
    def f(x, n):
        v.assign_add(x)
        out = {"a": v * n, "b": [x > 0.0, None, "text"], "n": n}
        for _ in range(n):
            x = x * 2.0
        return out, x

    out, x = f(ONE, 3)
    assert float(out["a"]) == 6.0
    assert float(x) == 8.0
    assert float(v) == 2.0
    f(ONE, 3)
    assert float(v) == 3.0
    assert f.trace_count == 1


def test_state_and_effects_happen_once(capsys):
    generator = gt.random.Generator.from_seed(3)
    log, o = [], types.SimpleNamespace(n=0)
    t = gt.constant([1.0, 2.0])

    @checked
    def f(x, items):
        print("hello")
        log.append(x)
        items.append(x)
        o.n += 1
        t_out = x * 1.0
        x[0] = 9.0
        return generator.normal([2]) + t_out

    items = []
    first = f(t, items)
    assert (len(log), len(items), o.n) == (1, 1, 1)
    assert t.numpy().tolist() == [9.0, 2.0]
    assert capsys.readouterr().out == "hello\n"
    same = gt.random.Generator.from_seed(3)
    assert np.allclose(first.numpy(), same.normal([2]).numpy() + np.array([1, 2]))


@gt.do_not_convert
def is_eager(x):
    return "numpy=" in repr(x)


DISAGREE = {
    "values": (lambda x: x * (2.0 if is_eager(x) else 3.0), "2.0"),
    "shapes": (lambda x: gt.ones([2] if is_eager(x) else [1]), "gave"),
    "dtypes": (lambda x: gt.cast(x, gt.float64 if is_eager(x) else gt.float32), "gave"),
    "none": (lambda x: None if is_eager(x) else x, "None"),
    "structure": (lambda x: [x, x] if is_eager(x) else [x], "2 values"),
    "one of several outputs": (
        lambda x: (x, x * 2.0, x if is_eager(x) else x + 1.0),
        "gave",
    ),
}


@pytest.mark.parametrize("name", DISAGREE)
def test_disagreement_is_an_error(name):
    function, message = DISAGREE[name]
    f = checked(function)
    with pytest.raises(CheckError, match=message) as caught:
        f(ONE)
    assert "plain Python" in str(caught.value)


def test_variables_are_compared():
    v = gt.Variable(1.0, name="checked_variable")

    @checked
    def f(x):
        v.assign(x * (2.0 if is_eager(x) else 3.0))
        return x

    with pytest.raises(CheckError, match="checked_variable"):
        f(ONE)


def test_exceptions_that_agree_pass():
    v = gt.Variable(1.0)

    @checked
    def f(x):
        v.assign_add(1.0)
        assert x > 0.0, "not positive"
        return x

    assert float(f(ONE)) == 1.0
    with pytest.raises(AssertionError, match="not positive"):
        f(gt.constant(-1.0))
    assert float(v) == 2.0


def test_exceptions_that_differ():
    @gt.do_not_convert
    def fail_eagerly(x):
        if is_eager(x):
            raise KeyError("only here")
        return x

    with pytest.raises(CheckError, match="KeyError"):
        checked(lambda x: fail_eagerly(x))(ONE)


def test_gradients_go_through_the_graph():
    v = gt.Variable(3.0)
    f = checked(lambda x: x * v * v)
    with gt.GradientTape() as tape:
        y = f(ONE)
    assert float(tape.gradient(y, v)) == 6.0


def test_variables_made_by_the_first_call():
    class Layer:
        v = None

        @gt.function(check=True)
        def call(self, x):
            if self.v is None:
                self.v = gt.Variable(3.0)
            return x * self.v

    layer = Layer()
    assert [float(layer.call(ONE)) for _ in range(3)] == [3.0] * 3


def test_equal_nans_and_rounding_agree():
    f = checked(lambda x: (gt.log(x), gt.reduce_sum(gt.exp(x) * 0.1), x / 0.0))
    out = f(gt.constant([-1.0, 2.0]))
    assert np.isnan(out[0].numpy()[0])
