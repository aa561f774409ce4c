"""How often a function is traced: tables of calls, and the count after each."""

import enum
import math
import warnings
from typing import NamedTuple

import numpy as np
import pytest

import gtape as gt


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Point(NamedTuple):
    x: object
    y: object


class Thing:
    def __init__(self, value):
        self.value = value

    def method(self, x):
        return x * self.value


def first(x):
    return x


def second(x):
    return x + 1


def counts(calls, **options):
    """Return the number of traces after each call of a function of all arguments."""

    @gt.function(**options)
    def f(*args, **kwargs):
        return gt.constant(1.0)

    out = []
    for args in calls:
        f(*args) if isinstance(args, tuple) else f(args)
        out.append(f.trace_count)
    assert f.experimental_get_tracing_count() == f.trace_count
    return out


def t(*shape, dtype="float32"):
    return gt.zeros(shape, dtype)


thing, other = Thing(1.0), Thing(1.0)
v, w = gt.Variable(1.0), gt.Variable(2.0)
wide = gt.Variable([1.0, 2.0])
frozen = gt.Variable(1.0, trainable=False)

TABLE = {
    "numbers are weak scalars": ([1, 2, 1, 3], [1, 1, 1, 1]),
    "equal numbers of other types": ([1, 1.0, True, 1], [1, 2, 3, 3]),
    "floats": ([1.0, 2.0, -0.0, float("nan")], [1, 1, 1, 1]),
    "dtypes of tensors": ([t(), t(), t(dtype="int32"), t()], [1, 1, 2, 2]),
    "sizes become open": ([t(2), t(3), t(4), t(5), t(2)], [1, 2, 2, 2, 2]),
    "sizes from one on": ([t(1), t(2), t(3), t(4), t(1)], [1, 2, 2, 2, 2]),
    "one broadcasts": ([t(5), t(6), t(1), t(7), t(1)], [1, 2, 3, 3, 3]),
    "nothing is in an empty one": ([t(5), t(6), t(0), t(7), t(0)], [1, 2, 3, 3, 3]),
    "one axis at a time": (
        [t(2, 3), t(4, 3), t(5, 3), t(5, 4), t(6, 7)],
        [1, 2, 2, 3, 3],
    ),
    "ranks": ([t(2), t(2, 2), t(2)], [1, 2, 2]),
    "arrays are tensors": (
        [np.zeros(2, "f"), t(2), np.zeros(3, "f"), np.float32(1), np.float32(2)],
        [1, 1, 2, 3, 3],
    ),
    "lists of numbers": ([[1.0, 2.0], [3.0, 4.0], [1.0]], [1, 1, 2]),
    "lists of tensors": ([[t(), t()], [t(), t()], [t()]], [1, 1, 2]),
    "a list is no tuple": ([[1.0], ((1.0,),), [2.0]], [1, 2, 2]),
    "dicts by their keys": (
        [{"a": 1.0, "b": 2.0}, {"b": 1.0, "a": 3.0}, {"a": 1.0}],
        [1, 1, 2],
    ),
    "named tuples": (
        [(Point(1.0, 2.0),), (Point(3.0, 4.0),), (Point(1.0, t()),)],
        [1, 1, 2],
    ),
    "none and strings": ([None, None, "a", "b", "a", b"a"], [1, 1, 2, 3, 3, 4]),
    "bools": ([True, False, True], [1, 2, 2]),
    "enums": ([Color.RED, Color.RED, Color.BLUE], [1, 1, 2]),
    "dtypes as values": (
        [gt.float32, gt.float32, gt.int32, np.dtype("f")],
        [1, 1, 2, 3],
    ),
    "complex numbers by value": ([1j, 1j, 2j], [1, 1, 2]),
    "numbers beyond 64 bits": ([2**70, 2**70, 2**71, 1], [1, 1, 2, 3]),
    "ranges and slices": (
        [range(3), range(3), range(4), slice(1, 2), slice(1, 2)],
        [1, 1, 2, 3, 3],
    ),
    "sets of plain values": ([{1, 2}, {2, 1}, {1}, frozenset({1})], [1, 1, 2, 3]),
    "functions": ([first, first, second, np.sin, np.sin], [1, 1, 2, 3, 3]),
    "methods by object and function": (
        [(thing.method,), (thing.method,), (other.method,), (thing.method,)],
        [1, 1, 2, 2],
    ),
    "objects by identity": ([thing, thing, other, thing], [1, 1, 2, 2]),
    "variables by spec": ([v, w, v, wide, frozen], [1, 1, 1, 2, 3]),
    "a variable is no tensor": ([v, t(), v], [1, 2, 2]),
    "aliases of variables": ([(v, w), (v, v), (w, v), (w, w)], [1, 2, 2, 2]),
}


@pytest.mark.parametrize("name", TABLE)
def test_counts(name):
    calls, expected = TABLE[name]
    assert counts(calls) == expected


@pytest.mark.parametrize("reduce", [True, False])
def test_reduce_retracing_is_always_on(reduce):
    assert counts([t(2), t(3), t(4)], reduce_retracing=reduce) == [1, 2, 2]


def test_positional_keyword_and_default_are_the_same_call():
    @gt.function
    def f(a, b=2.0, *, c=3.0):
        return a + b + c

    x = gt.constant(1.0)
    results = [f(x), f(a=x), f(x, 2.0), f(x, b=2.0), f(b=2.0, a=x), f(x, c=3.0)]
    assert [float(r) for r in results] == [6.0] * 6
    assert f.trace_count == 1


def test_other_keyword_names_are_another_call():
    @gt.function
    def f(**options):
        return sum(options.values())

    assert float(f(a=gt.constant(1.0))) == 1.0
    assert float(f(b=gt.constant(2.0))) == 2.0
    assert float(f(a=gt.constant(3.0))) == 3.0
    assert f.trace_count == 2


@pytest.mark.parametrize("value", [1, 1.0, True])
def test_equal_numbers_keep_their_types(value):
    """X1: 1, 1.0 and True do not share a trace."""

    @gt.function
    def f(x):
        return x

    for x in (1, 1.0, True):
        f(x)
    expected = {int: gt.int32, float: gt.float32, bool: gt.bool}[type(value)]
    assert f(value).dtype == expected
    assert f(value).numpy() == value


def test_a_learning_rate_that_changes_every_call():
    """Field case 77."""

    @gt.function
    def f(x, a):
        return x * a + a

    x = gt.Variable(2.0)
    for k in range(100):
        a = 0.01 * k
        with gt.GradientTape() as tape:
            y = f(x, a)
        assert np.isclose(y.numpy(), 3 * a)
        assert np.isclose(tape.gradient(y, x).numpy(), a)
    assert f.trace_count == 1


def test_lengths_from_one_to_fifty():
    """Field case 85."""

    @gt.function
    def f(x):
        s = 0.0
        for i in range(len(x)):
            s = s + x[i]
        return s

    for k in range(200):
        n = 1 + k % 50
        y = f(gt.constant(np.arange(1.0, n + 1)))
        assert np.isclose(y.numpy(), n * (n + 1) / 2)
    assert f.trace_count == 2


def test_a_number_that_python_needs_is_part_of_the_signature():
    @gt.function
    def f(x, i):
        return [x, x * 2.0, x * 3.0][i]

    x = gt.constant(1.0)
    assert [float(f(x, i)) for i in (0, 1, 2, 0, 1)] == [1.0, 2.0, 3.0, 1.0, 2.0]
    assert f.trace_count == 3
    assert "argument 'i' is part of the signature by its value 0" in f.explain()


def test_minus_zero_as_a_constant_is_not_zero():
    @gt.function
    def f(x, a):
        return x * math.copysign(1.0, a)

    x = gt.constant(1.0)
    signs = [bool(np.signbit(f(x, a).numpy())) for a in (0.0, -0.0, 0.0, -0.0)]
    assert signs == [False, True, False, True]
    assert f.trace_count == 2


def test_guards_on_sizes():
    @gt.function
    def f(x):
        return x * 2.0 if x.shape[0] > 10 else x * 3.0

    for n in (4, 5, 6, 20, 30, 7, 40):
        factor = 2.0 if n > 10 else 3.0
        assert np.allclose(f(gt.ones([n])).numpy(), factor)
    assert f.trace_count == 3


def test_sizes_that_were_equal_and_differ_once():
    @gt.function
    def f(x, y):
        return gt.reduce_sum(x) + gt.reduce_sum(y)

    for n, m in ((2, 2), (3, 3), (4, 4), (4, 5), (6, 7), (8, 8)):
        assert float(f(gt.ones([n]), gt.ones([m]))) == n + m
    assert f.trace_count == 3


def test_a_warning_names_the_cause_once():
    @gt.function
    def chatty(x, name):
        return x

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(20):
            chatty(gt.constant(1.0), f"name {i}")
    found = [w for w in caught if w.category is gt.errors.RetraceWarning]
    assert len(found) == 1
    text = str(found[0].message)
    assert "chatty" in text
    assert "'name'" in text
    assert "'name 6'" in text
    assert "'name 7'" in text


def test_recursion_on_a_python_number():
    """F11."""

    @gt.function
    def factorial(n, x):
        return x if n <= 1 else n * factorial(n - 1, x)

    assert float(factorial(5, gt.constant(1.0))) == 120.0
    assert float(factorial(4, gt.constant(1.0))) == 24.0
    assert factorial.trace_count == 2


def test_traces_are_bounded():
    @gt.function
    def f(x, name):
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(300):
            f(1.0, str(i))
    assert len(f._traces) == 256
    assert sum(len(family) for family in f._families.values()) == 256
    f(1.0, "299")
    assert f.trace_count == 300
    f(1.0, "0")
    assert f.trace_count == 301
