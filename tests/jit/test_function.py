"""`gt.function` as an object: what it can be made of, what goes in and comes out."""

import functools
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import gtape as gt
from gtape.errors import TracingError

ONE, TWO = gt.constant(1.0), gt.constant(2.0)


class Pair(NamedTuple):
    a: object
    b: object


@gt.function
def at_top_level(x):
    """Double it."""
    return x * 2.0


# --- What it can be made of -----------------------------------------------------------


def test_it_looks_like_the_function():
    assert at_top_level.__name__ == "at_top_level"
    assert at_top_level.__doc__ == "Double it."
    assert at_top_level.python_function(3.0) == 6.0
    assert at_top_level.__wrapped__ is at_top_level.python_function
    assert at_top_level.input_signature is None
    assert pickle.loads(pickle.dumps(at_top_level)) is at_top_level
    assert "at_top_level" in repr(at_top_level)


def test_with_and_without_parentheses():
    @gt.function()
    def f(x):
        return x + 1.0

    assert float(f(ONE)) == 2.0
    assert float(gt.function(lambda x: x + 1.0)(ONE)) == 2.0
    assert float(gt.function(func=lambda x: x + 1.0)(ONE)) == 2.0


@pytest.mark.parametrize("value", [3, "f", gt.constant(1.0), gt.Variable(1.0)])
def test_what_is_no_function(value):
    with pytest.raises(TypeError, match="function"):
        gt.function(value)


def test_all_kinds_of_parameters():
    def f(a, /, b, *rest, c, d=4.0, **more):
        total = a + 10.0 * b + 100.0 * c + 1000.0 * d
        for r in rest:
            total = total + r
        for name in sorted(more):
            total = total * more[name]
        return total

    g = gt.function(f)
    calls = [
        ((1.0, 2.0), {"c": 3.0}),
        ((1.0, 2.0, 5.0, 6.0), {"c": 3.0, "d": 1.0}),
        ((1.0,), {"b": 2.0, "c": 3.0, "z": 2.0, "y": 3.0}),
    ]
    for args, kwargs in calls:
        args = [gt.constant(a) for a in args]
        assert float(g(*args, **kwargs)) == float(f(*args, **kwargs))


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((ONE, ONE, ONE), {}), ((ONE,), {"a": ONE}), ((ONE, ONE), {"z": 1})],
)
def test_arguments_that_do_not_fit(args, kwargs):
    f = gt.function(lambda a, b: a + b)
    with pytest.raises(TypeError, match="argument"):
        f(*args, **kwargs)
    assert f.trace_count == 0
    assert float(f(ONE, ONE)) == 2.0


def test_callable_objects_and_builtins():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return x * self.k

    scale = Scale(3.0)
    f = gt.function(scale)
    assert float(f(ONE)) == 3.0
    scale.k = 4.0
    assert float(f(ONE)) == 4.0
    assert float(gt.function(gt.reduce_sum)(gt.constant([1.0, 2.0]))) == 3.0
    assert float(gt.function(functools.partial(scale))(ONE)) == 4.0


# --- What goes in ---------------------------------------------------------------------


def test_nested_arguments():
    def f(batch, options):
        x, (y, z) = batch["x"], batch["pair"]
        out = x * options.a + y
        if options.b is None:
            out = out + z
        return {"out": out, "same": batch["pair"], "b": options.b}

    batch = {"x": ONE, "pair": (TWO, 3.0)}
    for options in (Pair(2.0, None), Pair(2, "text")):
        eager, traced = f(batch, options), gt.function(f)(batch, options)
        assert float(eager["out"]) == float(traced["out"])
        assert type(traced["same"]) is tuple
        assert [float(s) for s in traced["same"]] == [2.0, 3.0]
        assert traced["b"] == options.b


def test_numbers_beyond_64_bits():
    f = gt.function(lambda x, n: x * float(n % 7))
    assert float(f(ONE, 2**70)) == float(2**70 % 7)
    assert float(f(ONE, 2**71)) == float(2**71 % 7)


def test_objects_whose_keys_have_no_hash():
    class Odd(dict):
        pass

    f = gt.function(lambda d: d["x"] * 2.0)
    assert float(f(Odd(x=ONE))) == 2.0


def test_a_variable_argument_is_its_own():
    @gt.function
    def f(v, x):
        v.assign_add(x)
        return v * 10.0

    a, b = gt.Variable(1.0), gt.Variable(5.0)
    assert float(f(a, ONE)) == 20.0
    assert float(f(b, TWO)) == 70.0
    assert (float(a), float(b)) == (2.0, 7.0)
    assert f.trace_count == 1


def test_aliased_variable_arguments():
    @gt.function
    def f(a, b):
        a.assign_add(1.0)
        b.assign_add(10.0)
        return a + b

    a, b, c = gt.Variable(1.0), gt.Variable(2.0), gt.Variable(5.0)
    assert [float(r) for r in (f(a, b), f(a, a), f(b, a), f(c, c))] == [14, 26, 36, 32]
    assert [float(v) for v in (a, b, c)] == [23.0, 13.0, 16.0]
    assert f.trace_count == 2


def test_a_variable_both_captured_and_given():
    w = gt.Variable(3.0)

    @gt.function
    def f(v):
        v.assign_add(1.0)
        return v * w

    other = gt.Variable(10.0)
    with gt.GradientTape() as tape:
        y = f(other)
    assert float(y) == 33.0
    assert [float(g) for g in tape.gradient(y, [other, w])] == [3.0, 11.0]
    with gt.GradientTape() as tape:
        y = f(w)
    assert float(y) == 16.0
    assert float(tape.gradient(y, w)) == 8.0
    assert float(f(other)) == 48.0
    assert f.trace_count == 2


def test_the_name_of_a_variable_argument_is_its_own():
    f = gt.function(lambda v: (v * 1.0, v.name))
    a, b = gt.Variable(1.0, name="first"), gt.Variable(2.0, name="second")
    assert [f(v)[1] for v in (a, b, a)] == [a.name, b.name, a.name]
    assert f.trace_count == 2


def test_a_variable_argument_that_the_function_keeps():
    kept = {}

    @gt.function
    def f(v, x):
        kept["v"] = v
        return v * x

    for v in (gt.Variable(1.0), gt.Variable(2.0)):
        f(v, ONE)
        assert kept["v"] is v


def test_an_optimizer_step_on_variables_that_are_arguments():
    """Class 13: the first variable must not be kept."""
    optimizer = gt.optim.SGD(0.5, momentum=0.9)

    @gt.function
    def step(v):
        with gt.GradientTape() as tape:
            loss = v * v
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])

    def eagerly(v, m):
        m = 0.9 * m - 0.5 * 2 * v
        return v + m, m

    a, b = gt.Variable(1.0), gt.Variable(10.0)
    (x, m), (y, n) = (1.0, 0.0), (10.0, 0.0)
    for _ in range(3):
        step(a)
        step(b)
        (x, m), (y, n) = eagerly(x, m), eagerly(y, n)
    assert np.allclose([float(a), float(b)], [x, y])


# --- What comes out -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, gt.int32),
        (1.5, gt.float32),
        (True, gt.bool),
        (2j, gt.complex128),
        (np.float64(1.0), gt.float64),
        (np.arange(3, dtype=np.int16), gt.int16),
    ],
)
def test_numbers_and_arrays_become_tensors(value, dtype):
    out = gt.function(lambda x: value)(ONE)
    assert out.dtype == dtype
    assert np.array_equal(out.numpy(), value)


def test_structures_stay():
    v = gt.Variable(4.0)

    @gt.function
    def f(x):
        return {
            "a": [x, None],
            "b": (x * 2.0, "text"),
            "c": Pair(v, 1),
            "d": [],
            "e": (),
        }

    out = f(ONE)
    assert list(out) == ["a", "b", "c", "d", "e"]
    assert out["a"][1] is None
    assert out["b"][1] == "text"
    assert type(out["c"]) is Pair
    assert type(out["c"].a) is type(ONE)
    assert float(out["c"].a) == 4.0
    assert (out["d"], out["e"]) == ([], ())
    assert f(ONE)["d"] is not out["d"]


def test_no_result():
    assert gt.function(lambda x: None)(ONE) is None


@pytest.mark.parametrize("value", [object(), lambda: 1, open, {1: object()}])
def test_objects_are_refused(value):
    f = gt.function(lambda x: value)
    with pytest.raises(TracingError, match="returned") as caught:
        f(ONE)
    assert isinstance(caught.value, TypeError)


def test_results_are_not_shared_between_calls():
    f = gt.function(lambda x: (x, 1.0))
    _, first = f(ONE)
    first[()] = 7.0
    assert float(f(ONE)[1]) == 1.0


# --- Settings -------------------------------------------------------------------------


def test_run_functions_eagerly():
    seen = []

    @gt.function
    def f(x):
        seen.append(type(x).__name__)
        return x * 2.0

    gt.config.run_functions_eagerly(True)
    try:
        assert gt.config.functions_run_eagerly()
        assert float(f(ONE)) == 2.0
        assert f.trace_count == 0
        assert seen == ["EagerTensor"]
    finally:
        gt.config.run_functions_eagerly(False)
    assert float(f(ONE)) == 2.0
    assert f.trace_count == 1


def test_without_autograph():
    f = gt.function(lambda x: x * 2.0 if x > 0.0 else x, autograph=False)
    with pytest.raises(TracingError, match="truth"):
        f(ONE)
    g = gt.function(lambda x: gt.where(x > 0.0, x * 2.0, x), autograph=False)
    assert float(g(ONE)) == 2.0
    h = gt.function(lambda x, n: x * 2.0 if n > 3 else x, autograph=False)
    assert float(h(ONE, 5)) == 2.0
    assert float(h(ONE, 2)) == 1.0


def test_without_autograph_captures_are_looked_at_all_the_same():
    scale = 2.0
    f = gt.function(lambda x: x * scale, autograph=False)
    assert float(f(ONE)) == 2.0
    scale = 3.0
    assert float(f(ONE)) == 3.0


def test_a_spec_is_no_argument():
    f = gt.function(lambda x: x * 2.0)
    with pytest.raises(TracingError, match="has no value"):
        f(gt.TensorSpec([], gt.float32))


def test_without_the_passes():
    f = gt.function(lambda x: x * 1.0 + 0.0 * x, optimize=False)
    assert float(f(TWO)) == 2.0
    assert len(f.graph(TWO).nodes) == 3


# --- What leaves a trace by itself ----------------------------------------------------


class Box:
    kept = None


@gt.do_not_convert
def keep(box, x):
    box.kept = x


LEAKS = {
    "tensor": (lambda b, x, n, v: keep(b, x * 2.0), lambda t: t + 1.0),
    "tensor as a condition": (lambda b, x, n, v: keep(b, x > 2.0), bool),
    "number": (lambda b, x, n, v: keep(b, n), lambda n: n + 1),
    "variable": (lambda b, x, n, v: keep(b, v), lambda v: v * 2.0),
    "variable read": (lambda b, x, n, v: keep(b, v), float),
    "to NumPy": (lambda b, x, n, v: keep(b, x), np.asarray),
}


@pytest.mark.parametrize("name", LEAKS)
def test_what_has_leaked_is_refused(name):
    """F9."""
    leak, use = LEAKS[name]
    box = Box()
    gt.function(lambda x, n, v: leak(box, x, n, v))(ONE, 3, gt.Variable(1.0))
    with pytest.raises((TypeError, TracingError)) as caught:
        use(box.kept)
    assert isinstance(caught.value, gt.errors.GtapeError)
    assert "traced" in str(caught.value) or "traces" in str(caught.value)


def test_what_has_leaked_is_refused_in_another_function():
    box = Box()
    gt.function(lambda x: keep(box, x * 2.0))(ONE)
    with pytest.raises(TracingError, match="outside the function"):
        gt.function(lambda x: x + box.kept)(ONE)


def test_a_traced_tensor_has_no_value():
    """F10."""
    with pytest.raises(AttributeError, match="numpy"):
        gt.function(lambda x: x.numpy())(ONE)
    assert float(gt.function(lambda x: np.sin(x))(ONE)) == pytest.approx(np.sin(1.0))
    assert gt.function(lambda x: [gt.executing_eagerly(), x])(ONE)[0].numpy() == False  # noqa: E712
