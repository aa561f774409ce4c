"""Concrete functions: one trace, to look at and to call."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentTypeError

ONE = gt.constant(1.0)
w = gt.Variable([1.0, 2.0], name="weights")
k = gt.constant([3.0, 4.0])


@gt.function
def f(x, n, flag=True):
    y = x * w + k
    return {"y": y * n if flag else y, "none": None, "n": n}


def test_its_parts():
    c = f.concrete(gt.TensorSpec([None, 2], gt.float32), 3)
    assert c.name == "f"
    assert c.outputs == [
        gt.TensorSpec([None, 2], gt.float32),
        gt.TensorSpec([], gt.int64),
    ]
    assert c.variables == (w,)
    assert c.trainable_variables == (w,)
    assert [x is y for x, y in zip(c.captured_inputs, [w, k], strict=True)] == [
        True
    ] * 2
    args, kwargs = c.structured_input_signature
    assert args[0] == gt.TensorSpec([None, 2], gt.float32)
    assert args[1:] == (3, True)
    assert kwargs == {}
    out = c.structured_outputs
    assert out["none"] is None
    assert out["y"] == gt.TensorSpec([None, 2], gt.float32)
    text = str(c)
    assert "f(x: float32[" in text
    assert w.name in text
    assert "returns float32" in text
    assert str(c.graph).startswith("graph(%0: float32[")
    assert len(c.inputs) == 4


def test_specs_and_values_find_the_same_trace():
    @gt.function
    def g(x):
        return x + 1.0

    a = g.get_concrete_function(gt.TensorSpec([], gt.float32))
    b = g.get_concrete_function(ONE)
    assert a.graph is b.graph
    g(ONE)
    g.concrete(gt.TensorSpec([None], gt.float32))
    g.concrete(gt.TensorSpec([None], gt.float32))
    assert g.trace_count == 2
    g(gt.ones([5]))
    g(gt.ones([1]))
    assert g.trace_count == 2


def test_it_can_be_called():
    c = f.concrete(gt.TensorSpec([None, 2], gt.float32), 3)
    for n in (1, 4):
        out = c(gt.ones([n, 2]))
        assert out["y"].numpy().tolist() == [[12.0, 18.0]] * n
    assert c(np.ones((1, 2), "f"))["y"].shape == (1, 2)
    assert int(c(gt.ones([1, 2]), 3)["n"]) == 3


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((gt.ones([2], gt.float32),), {}),
        ((gt.ones([2, 3]),), {}),
        ((gt.ones([2, 2], gt.float64),), {}),
        ((gt.ones([2, 2]), 3.0), {}),
        ((gt.ones([2, 2]), 3, False), {}),
        ((gt.ones([2, 2]), 3, True, 1), {}),
        ((), {}),
        ((gt.ones([2, 2]),), {"other": 1}),
    ],
)
def test_arguments_that_do_not_fit(args, kwargs):
    c = f.concrete(gt.TensorSpec([None, 2], gt.float32), 3)
    count = f.trace_count
    with pytest.raises(ArgumentTypeError):
        c(*args, **kwargs)
    assert f.trace_count == count


def test_a_number_that_is_part_of_the_trace():
    @gt.function
    def g(x, i):
        return [x, x * 2.0][i]

    c = g.concrete(gt.TensorSpec([], gt.float32), 1)
    assert float(c(ONE)) == 2.0
    assert float(c(ONE, 1)) == 2.0
    with pytest.raises(ArgumentTypeError, match="do not fit"):
        c(ONE, 0)


def test_gradients_through_it():
    c = f.concrete(gt.TensorSpec([2], gt.float32), 2)
    x = gt.Variable([1.0, 1.0])
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(c(x * 1.0)["y"])
    dx, dw = tape.gradient(y, [x, w])
    assert dx.numpy().tolist() == [2.0, 4.0]
    assert dw.numpy().tolist() == [2.0, 2.0]


def test_from_an_input_signature():
    g = gt.function(
        lambda x: x * 2.0, input_signature=[gt.TensorSpec([None], gt.float32)]
    )
    c = g.concrete()
    assert c([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]
    assert g([1.0]).numpy().tolist() == [2.0]
    assert g.trace_count == 1


def test_variables_made_on_the_way():
    class Layer:
        v = None

        @gt.function
        def call(self, x):
            if self.v is None:
                self.v = gt.Variable(3.0)
            return x * self.v

    layer = Layer()
    c = layer.call.concrete(ONE)
    assert c.variables == (layer.v,)
    assert float(c(ONE)) == 3.0
    assert float(layer.call(ONE)) == 3.0
    assert layer.call.trace_count == 2


def test_the_graph_is_text():
    g = gt.function(lambda x: x * x + 1.0)
    text = str(g.graph(gt.constant(2.0)))
    assert text.splitlines() == [
        "graph(%0: float32[]):",
        "  %1: float32[] = multiply %0, %0",
        "  %2: float32[] = add %1, float32(1.0)",
        "  return %2",
    ]


def test_pretty_printed_signatures():
    g = gt.function(lambda x, n: x * n)
    g(ONE, 1)
    g(ONE, 1.0)
    g(gt.ones([2]), 1.0)
    lines = g.pretty_printed_concrete_signatures().splitlines()
    assert [line.removeprefix("<lambda>") for line in lines] == [
        "(x: float32[], n: int)",
        "(x: float32[], n: float)",
        "(x: float32[2], n: float)",
    ]
