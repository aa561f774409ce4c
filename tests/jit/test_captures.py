"""What a function reads of the world outside is looked at on every call."""

import types

import numpy as np
import pytest

import gtape as gt

ONE = gt.constant(1.0)


class Model:
    factor = 2.0

    def __init__(self):
        self.scale = 3.0
        self.inner = types.SimpleNamespace(rate=4.0, table={"a": 5.0})
        self.layers = [2.0, 3.0]

    def helper(self, x):
        return x * self.scale

    @property
    def doubled(self):
        return self.scale * 2.0

    @classmethod
    def of_class(cls, x):
        return x * cls.factor

    @staticmethod
    def static(x):
        return x * 7.0


def plain(x):
    return x + 1.0


def other(x):
    return x + 10.0


def with_default(x, k=2.0):
    return x * k


Config = None  # a class with settings, made for each test
current = plain
number = 1.0
tensor = gt.constant(1.0)
array = np.array([1.0, 2.0])
text = "plus"
module = types.ModuleType("a_module_of_settings")


@pytest.fixture(autouse=True)
def world(monkeypatch):
    """Give each test the same world."""
    names = globals()
    monkeypatch.setitem(
        names, "Config", type("Config", (), {"k": 1.0, "sizes": [1.0, 2.0]})
    )
    for name in ("current", "number", "tensor", "text"):
        monkeypatch.setitem(names, name, names[name])
    monkeypatch.setitem(names, "array", array.copy())
    module.k = 1.0
    module.inner = types.SimpleNamespace(k=2.0)
    monkeypatch.setattr(Model, "factor", 2.0)
    monkeypatch.setattr(with_default, "__defaults__", (2.0,))


def set_global(name, value):
    globals()[name] = value


model = Model()

# name: (function, what changes, expected before, expected after)
TABLE = {
    "global number": (
        lambda x: x * number,
        lambda: set_global("number", 5.0),
        1.0,
        5.0,
    ),
    "global tensor": (
        lambda x: x * tensor,
        lambda: set_global("tensor", gt.constant(6.0)),
        1.0,
        6.0,
    ),
    "global function": (
        lambda x: current(x),
        lambda: set_global("current", other),
        2.0,
        11.0,
    ),
    "global string": (
        lambda x: x + 1.0 if text == "plus" else x - 1.0,
        lambda: set_global("text", "minus"),
        2.0,
        0.0,
    ),
    "global array rebound": (
        lambda x: x * array[1],
        lambda: set_global("array", np.array([7.0, 8.0])),
        2.0,
        8.0,
    ),
    "array changed in place": (
        lambda x: gt.reduce_sum(x * array),
        lambda: array.__setitem__(0, 10.0),
        3.0,
        12.0,
    ),
    "attribute of a class": (
        lambda x: x * Config.k,
        lambda: setattr(Config, "k", 10.0),
        1.0,
        10.0,
    ),
    "entry of a list of a class": (
        lambda x: x * Config.sizes[0],
        lambda: Config.sizes.__setitem__(0, 5.0),
        1.0,
        5.0,
    ),
    "attribute of a module": (
        lambda x: x * module.k,
        lambda: setattr(module, "k", 3.0),
        1.0,
        3.0,
    ),
    "nested attribute of a module": (
        lambda x: x * module.inner.k,
        lambda: setattr(module.inner, "k", 3.0),
        2.0,
        3.0,
    ),
    "default argument of a helper": (
        lambda x: with_default(x),
        lambda: setattr(with_default, "__defaults__", (9.0,)),
        2.0,
        9.0,
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_change_is_seen(name):
    function, change, before, after = TABLE[name]
    f = gt.function(function)
    assert float(f(ONE)) == before
    assert float(f(ONE)) == before
    assert f.trace_count == 1
    change()
    assert float(f(ONE)) == after
    assert float(f(ONE)) == after
    assert f.trace_count <= 2


MODEL_TABLE = {
    "attribute": (
        lambda m, x: x * m.scale,
        lambda m: setattr(m, "scale", 7.0),
        3.0,
        7.0,
    ),
    "attribute in a method": (
        lambda m, x: m.helper(x),
        lambda m: setattr(m, "scale", 7.0),
        3.0,
        7.0,
    ),
    "attribute behind a property": (
        lambda m, x: x * m.doubled,
        lambda m: setattr(m, "scale", 7.0),
        6.0,
        14.0,
    ),
    "nested attribute": (
        lambda m, x: x * m.inner.rate,
        lambda m: setattr(m.inner, "rate", 7.0),
        4.0,
        7.0,
    ),
    "nested object": (
        lambda m, x: x * m.inner.rate,
        lambda m: setattr(m, "inner", types.SimpleNamespace(rate=8.0)),
        4.0,
        8.0,
    ),
    "entry of a dict": (
        lambda m, x: x * m.inner.table["a"],
        lambda m: m.inner.table.update(a=6.0),
        5.0,
        6.0,
    ),
    "entry that comes to be": (
        lambda m, x: x * m.inner.table["b"] if "b" in m.inner.table else x,
        lambda m: m.inner.table.update(b=6.0),
        1.0,
        6.0,
    ),
    "attribute that shadows the class's": (
        lambda m, x: x * m.factor,
        lambda m: setattr(m, "factor", 9.0),
        2.0,
        9.0,
    ),
    "method of the object itself": (
        lambda m, x: m.helper(x),
        lambda m: setattr(m, "helper", lambda x: x * 100.0),
        3.0,
        100.0,
    ),
}


@pytest.mark.parametrize("name", MODEL_TABLE)
@pytest.mark.parametrize("passed", [True, False])
def test_a_change_of_an_object_is_seen(name, passed):
    function, change, before, after = MODEL_TABLE[name]
    m = Model()
    f = gt.function(function if passed else lambda x: function(m, x))
    args = (m, ONE) if passed else (ONE,)
    assert float(f(*args)) == before
    assert float(f(*args)) == before
    assert f.trace_count == 1
    change(m)
    assert float(f(*args)) == after
    assert float(f(*args)) == after
    assert f.trace_count == 2


def test_a_method_that_is_replaced_in_its_class():
    class Local:
        def step(self, x):
            return x * 2.0

    m = Local()
    f = gt.function(lambda x: m.step(x))
    assert float(f(ONE)) == 2.0
    Local.step = lambda self, x: x * 5.0
    assert float(f(ONE)) == 5.0


def test_class_methods_and_static_methods_do_not_retrace():
    m = Model()

    @gt.function
    def f(x):
        return m.of_class(x) + m.static(x) + Model.of_class(x) + m.doubled

    for _ in range(5):
        assert float(f(ONE)) == 2.0 + 7.0 + 2.0 + 6.0
    assert f.trace_count == 1
    Model.factor = 3.0
    assert float(f(ONE)) == 3.0 + 7.0 + 3.0 + 6.0


def test_free_variables_of_closures():
    scale = 2.0
    names = ["a"]

    @gt.function
    def f(x):
        def inner(y):
            return y * scale + len(names)

        return inner(x)

    assert float(f(ONE)) == 3.0
    scale = 4.0
    assert float(f(ONE)) == 5.0
    names = ["a", "b"]
    assert float(f(ONE)) == 6.0
    assert f.trace_count == 3


def test_closures_of_one_definition_are_told_apart():
    """Class 13: wrong object bound."""

    def make(k):
        return gt.function(lambda x: x * k)

    functions = [make(float(k)) for k in range(5)]
    assert [float(f(ONE)) for f in functions] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_lambdas_of_one_line():
    """Field case 87."""
    fs = [gt.function(lambda x: x * 2.0), gt.function(lambda x: x * 3.0)]
    assert [float(f(gt.constant(3.0))) for f in fs] == [6.0, 9.0]


def test_a_lambda_keeps_its_default():
    fs = [gt.function(lambda x, k=k: x * k) for k in (2.0, 3.0)]
    assert [float(f(ONE)) for f in fs] == [2.0, 3.0]
    assert float(fs[0](ONE, 5.0)) == 5.0


def test_a_captured_tensor_is_read_when_the_function_runs():
    t = gt.constant([1.0, 2.0])

    @gt.function
    def f(x):
        return x * t

    assert f(ONE).numpy().tolist() == [1.0, 2.0]
    t[0] = 7.0
    assert f(ONE).numpy().tolist() == [7.0, 2.0]
    assert f.trace_count == 1


def test_a_captured_variable_is_read_when_the_function_runs():
    v = gt.Variable(2.0)

    @gt.function
    def f(x):
        return x * v

    assert float(f(ONE)) == 2.0
    v.assign(5.0)
    assert float(f(ONE)) == 5.0
    assert f.trace_count == 1
    v = gt.Variable(6.0)
    assert float(f(ONE)) == 6.0
    assert f.trace_count == 2


def test_a_captured_variable_of_open_shape():
    v = gt.Variable([1.0, 2.0], shape=[None])

    @gt.function
    def f():
        return gt.reduce_sum(v) * v.shape[0] if v.shape[0] else 0.0

    @gt.function
    def total():
        return gt.reduce_sum(v * 2.0)

    assert float(total()) == 6.0
    v.assign([1.0, 2.0, 3.0])
    assert float(total()) == 12.0
    v.assign([1.0, 2.0])
    assert float(total()) == 6.0
