"""`f.explain()`: why each trace was made, in plain words."""

import types

import numpy as np
import pytest

import gtape as gt

ONE = gt.constant(1.0)
factor = 2.0
v, w = gt.Variable(1.0), gt.Variable(2.0)


def reasons(function, *calls):
    """Return what is told of each trace but the first, without its signature."""
    f = gt.function(function)
    for args in calls:
        f(*args) if isinstance(args, tuple) else f(args)
    lines = f.explain().splitlines()
    return [line.split("traced again: ", 1)[1] for line in lines if "again" in line]


def identity(x):
    return 1.0


REASONS = {
    "dtype": ((ONE, gt.constant(1)), "argument 'x' had dtype float32, has int32."),
    "rank": ((gt.ones([2]), ONE), "argument 'x' had rank 1, has 0."),
    "size": ((gt.ones([2]), gt.ones([3])), "argument 'x' had size 2 on axis 0, has 3."),
    "kind": ((ONE, 2.0), "argument 'x' was a tensor, is a Python float."),
    "number": ((1, 1.0), "argument 'x' was a Python int, is a Python float."),
    "value": (("a", "b"), "argument 'x' was 'a', is 'b'."),
    "bool": ((True, False), "argument 'x' was True, is False."),
    "object": (
        (types.SimpleNamespace(), types.SimpleNamespace()),
        "argument 'x' was another object of type SimpleNamespace.",
    ),
    "structure": (([ONE], [ONE, ONE]), "the arguments have another structure."),
    "entry": (
        ([ONE, 1.0], [ONE, 1]),
        "argument 'x[1]' was a Python float, is a Python int.",
    ),
    "field": (
        ({"k": ONE}, {"k": 1}),
        "argument \"x['k']\" was a tensor, is a Python int.",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_reasons(name):
    calls, expected = REASONS[name]
    assert reasons(identity, *[(c,) for c in calls]) == [expected]


def test_broadcasting_sizes():
    found = reasons(identity, gt.ones([3]), gt.ones([4]), gt.ones([1]))
    assert found[1] == "argument 'x' has size 1 on axis 0, which broadcasts."


def test_decisions_about_sizes():
    def f(x):
        return x * 2.0 if x.shape[0] < 10 else x

    found = reasons(f, *[gt.ones([n]) for n in (3, 4, 20)])
    assert found[1].startswith("it was decided whether n < 10 (at ")

    def g(x):
        return len([0] * x.shape[0])

    found = reasons(g, *[gt.ones([n]) for n in (3, 4, 5)])
    assert found[1].startswith("it was decided that the size n is 4 (at ")
    found = reasons(
        lambda x, y: x,
        *[(gt.ones([n]), gt.ones([m])) for n, m in ((2, 2), (3, 3), (4, 5))],
    )
    assert found[1] == "sizes that were equal differ."


def test_aliases():
    found = reasons(lambda a, b: a + b, (v, w), (v, v))
    assert found == [
        "argument 'b' is another variable than those before, or no longer."
    ]


def test_captures():
    o = types.SimpleNamespace(rate=1.0, table={"a": 1})
    table = o.table
    scale = 1.0

    @gt.function
    def f(x):
        return x * o.rate * scale * o.table["a"] * factor * len(o.table)

    f(ONE)
    o.rate = 2.0
    f(ONE)
    scale = 3.0
    f(ONE)
    table["a"] = 5
    f(ONE)
    globals()["factor"] = 3.0
    f(ONE)
    del o.rate
    with pytest.raises(AttributeError):
        f(ONE)
    text = f.explain()
    assert f.trace_count == 5
    for part in (
        "2. (x: float32[]): traced again: attribute 'rate' of a SimpleNamespace was "
        "1.0, is 2.0.",
        "the free variable 'scale' was 1.0, is 3.0.",
        "entry 'a' of a dict was 1, is 5.",
        "the global 'factor' was 2.0, is 3.0.",
    ):
        assert part in text


def test_a_captured_variable_becomes_an_argument():
    assert reasons(lambda a: a * v, w, v) == [
        "a variable that the function captures is now an argument."
    ]


def test_the_name_of_a_variable_is_asked_for():
    assert reasons(lambda a: (a * 1.0, a.name), v, w) == [
        "the function asks which variable an argument is."
    ]


def test_pinned_numbers_and_sizes():
    @gt.function
    def f(x, i):
        return [x, x * 2.0][i] + len([0] * x.shape[0])

    for n, i in ((2, 0), (3, 0), (3, 1)):
        f(gt.ones([n]), i)
    text = f.explain()
    assert "argument 'i' is part of the signature by its value 0: Python needs" in text
    assert "argument 'i' is part of the signature by its value 1: Python needs" in text
    assert "the size n was needed as a number, here 3 (line " in text


def test_its_form():
    f = gt.function(lambda x: x)
    assert f.explain().endswith(
        "has not been traced: it is traced when it is first called."
    )
    f(ONE)
    assert f.explain().splitlines() == [
        "<lambda> has been traced once:",
        "1. (x: float32[]): the first call.",
    ]
    f(np.float64(1.0))
    assert f.explain().splitlines()[0] == "<lambda> has been traced 2 times:"


# --- Gradients that are None ----------------------------------------------------------


def explained(function, x, y):
    with gt.GradientTape() as tape:
        tape.watch([t for t in (x, y) if not isinstance(t, gt.Variable)])
        z = gt.function(function)(x, y)
    assert tape.gradient(z, y) is None
    return tape.explain(z, y)


NONE = {
    "not used": (lambda x, y: x * 2.0, "not used"),
    "only its shape": (lambda x, y: x * y.shape.rank, "not used"),
    "stopped": (lambda x, y: x * gt.stop_gradient(y), "no gradient"),
    "no derivative": (lambda x, y: x * gt.floor(y), "no gradient"),
    "an integer": (lambda x, y: gt.argmax([x, y]), "integer"),
}


@pytest.mark.parametrize("name", NONE)
@pytest.mark.parametrize("kind", [gt.constant, gt.Variable])
def test_a_missing_gradient_is_explained(name, kind):
    function, reason = NONE[name]
    found = explained(function, kind(2.0), kind(3.0))
    assert found.reason == reason
    assert "does not depend" in found.text or "gradient" in found.text


def test_an_assignment_is_explained():
    x, u = gt.Variable(2.0), gt.Variable(0.0)

    @gt.function
    def f(x):
        u.assign(x * 2.0)

    with gt.GradientTape() as tape:
        f(x)
        y = u * 3.0
    assert tape.gradient(y, x) is None
    found = tape.explain(y, x)
    assert found.reason == "assigned"
    assert u.name in found.text
