"""What a function changes outside of itself, it changes on every call."""

import random
import types
from collections import deque
from time import time

import numpy as np
import pytest

import gtape as gt

ONE, TWO = gt.constant(1.0), gt.constant(2.0)
total = 0
last = None


def both(make, calls=3):
    """Return what a function made of nothing leaves behind, eagerly and traced."""
    found = []
    for wrap in (lambda f: f, gt.function):
        function, look = make()
        f = wrap(function)
        for i in range(calls):
            f(gt.constant(float(i)))
        found.append(look())
    return found


def listed(value):
    """Return values with Python numbers in place of tensors, and types as names."""
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *[listed(v) for v in value]]
    if isinstance(value, dict):
        return {k: listed(v) for k, v in value.items()}
    if hasattr(value, "numpy"):
        return ("tensor", value.dtype, value.numpy().tolist())
    return value


def append_a_constant():
    log = []

    def f(x):
        log.append(1)
        return x * 2.0

    return f, lambda: log


def append_a_tensor():
    log = ["start"]

    def f(x):
        log.append(x * 2.0)
        log.extend([x, 7])

    return f, lambda: log


def replace_in_a_list():
    log = [0, 1, 2]

    def f(x):
        log[1] = x + 1.0
        del log[0]
        log.insert(0, "new")

    return f, lambda: log


def count_in_an_attribute():
    o = types.SimpleNamespace(n=0, seen=None)

    def f(x):
        o.n += 1
        o.seen = x * 3.0

    return f, lambda: vars(o)


def running_sum_in_an_attribute():
    o = types.SimpleNamespace(state=gt.constant(1.0))

    def f(x):
        o.state = o.state * 2.0 + x
        return o.state

    return f, lambda: vars(o)


def entries_of_a_dict():
    d = {"calls": 0, "gone": 1}

    def f(x):
        d["calls"] += 1
        d["last"] = x
        d["pair"] = (x, [x * 2.0, "text"])
        d.pop("gone", None)

    return f, lambda: d


def nonlocal_number():
    n, t = 0, None

    def f(x):
        nonlocal n, t
        n += 2
        t = x * 5.0

    return f, lambda: [n, t]


def globals_of_a_module():
    global total, last
    total, last = 0, None

    def f(x):
        global total, last
        total += 1
        last = x * 4.0

    return f, lambda: [total, last]


def a_new_global():
    names = globals()
    names.pop("brand_new", None)

    def f(x):
        global brand_new
        brand_new = x + 0.5

    return f, lambda: names["brand_new"]


def entries_of_nested_containers():
    o = types.SimpleNamespace(history={"loss": [], "steps": {"n": 0}})

    def f(x):
        o.history["loss"].append(x)
        o.history["steps"]["n"] += 1

    return f, lambda: vars(o)


def one_branch_writes():
    o = types.SimpleNamespace(big=gt.constant(0.0), n=gt.constant(0))

    def f(x):
        if x > 0.5:
            o.big = x
        else:
            o.n = o.n + 1

    return f, lambda: vars(o)


def a_loop_writes():
    o = types.SimpleNamespace(total=gt.constant(0.0))

    def f(x):
        for _ in range(gt.constant(3)):
            o.total = o.total + x

    return f, lambda: vars(o)


def objects_of_ones_own():
    class Row:
        def __init__(self, x):
            self.value = x
            self.kind = "row"

    rows = []

    def f(x):
        rows.append(Row(x * 2.0))

    return f, lambda: [(r.kind, r.value) for r in rows]


MAKERS = [
    append_a_constant,
    append_a_tensor,
    replace_in_a_list,
    count_in_an_attribute,
    running_sum_in_an_attribute,
    entries_of_a_dict,
    nonlocal_number,
    globals_of_a_module,
    a_new_global,
    entries_of_nested_containers,
    one_branch_writes,
    a_loop_writes,
    objects_of_ones_own,
]


@pytest.mark.parametrize("make", MAKERS)
def test_the_same_effects_as_python(make):
    eager, traced = both(make)
    assert listed(traced) == listed(eager)


def test_a_constant_effect_needs_one_trace():
    """Field case 81."""
    log = []

    @gt.function
    def f(x):
        log.append(1)
        return x * 2.0

    for _ in range(5):
        f(ONE)
    assert len(log) == 5
    assert f.trace_count == 1


def test_printing_happens_when_the_function_runs(capsys):
    @gt.function
    def f(x):
        print("first")
        y = x * 2.0
        print("x is", x, "and", f"y is {y:.1f}")
        if y > 3.0:
            print("large")
        return y

    for value in (1.0, 2.0):
        f(gt.constant(value))
    out = capsys.readouterr().out.splitlines()
    eager = []
    for value in (1.0, 2.0):
        x = gt.constant(value)
        eager += ["first", f"x is {x!s} and y is {x * 2.0:.1f}"]
        eager += ["large"] if value > 1.5 else []
    assert out == eager
    assert f.trace_count == 1


def test_arguments_that_are_containers_are_changed():
    @gt.function
    def f(items, table, x):
        items.append(x * 2.0)
        table["k"] = [x]
        table["inner"]["n"] = 1
        return x

    items, table = ["a"], {"inner": {}}
    inner = table["inner"]
    f(items, table, TWO)
    assert listed(items) == ["list", "a", ("tensor", gt.float32, 4.0)]
    assert table["inner"] is inner
    assert inner == {"n": 1}
    assert listed(table["k"]) == ["list", ("tensor", gt.float32, 2.0)]


def test_a_list_given_twice_is_one_list():
    def f(a, b, x):
        a.append(x)
        return len(b)

    traced = gt.function(f)
    for same in (False, True, False):
        first, second = [1.0], [1.0]
        args = (first, first if same else second, ONE)
        assert int(traced(*args)) == (2 if same else 1)
        assert len(first) == 2
        assert len(second) == 1


def test_items_of_an_argument_are_set():
    @gt.function
    def f(x, y):
        x[0] = 5.0
        return y * 1.0

    t = gt.constant([1.0, 2.0])
    view = t[0]
    other = gt.constant([3.0, 4.0])
    assert f(t, other).numpy().tolist() == [3.0, 4.0]
    assert t.numpy().tolist() == [5.0, 2.0]
    assert float(view) == 1.0
    u = gt.constant([1.0, 2.0])
    assert f(u, u).numpy().tolist() == [5.0, 2.0]
    assert f(gt.constant([1.0, 2.0]), gt.constant([8.0, 9.0])).numpy().tolist() == [
        8.0,
        9.0,
    ]


def test_an_array_that_is_an_argument_stays():
    """Field case 89, and items."""

    @gt.function
    def f(x):
        x += 1.0
        x[0] = 100.0
        return x

    array = np.array([10.0, 20.0])
    a = gt.constant(array)
    assert f(array).numpy().tolist() == [100.0, 21.0]
    assert f(a).numpy().tolist() == [100.0, 21.0]
    assert array.tolist() == [10.0, 20.0]
    assert a.numpy().tolist() == [10.0, 20.0]


def test_a_result_does_not_share_memory_with_an_array_given():
    f = gt.function(lambda x: (x, x[1:]))
    array = np.array([1.0, 2.0, 3.0])
    whole, rest = f(array)
    array[:] = 0.0
    assert whole.numpy().tolist() == [1.0, 2.0, 3.0]
    assert rest.numpy().tolist() == [2.0, 3.0]


def test_nothing_is_changed_when_the_call_raises():
    v = gt.Variable(1.0)
    o = types.SimpleNamespace(n=0)
    log = []

    @gt.function
    def f(x):
        v.assign_add(1.0)
        o.n += 1
        log.append(x)
        assert x > 0.0, "not positive"
        return v * x

    assert float(f(ONE)) == 2.0
    with pytest.raises(AssertionError, match="not positive"):
        f(gt.constant(-1.0))
    assert (float(v), o.n, len(log)) == (2.0, 1, 1)
    assert float(f(ONE)) == 3.0


def test_tracing_leaves_no_trace():
    o = types.SimpleNamespace(a=1.0, items=[1])
    state = {"k": 2.0}

    @gt.function
    def f(x):
        o.a = x
        o.b = x
        o.items.append(x)
        state["k"] = x
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        f(ONE)
    assert vars(o) == {"a": 1.0, "items": [1]}
    assert state == {"k": 2.0}


def test_random_modules_are_called_once_and_explain_says_so():
    @gt.function
    def f(x):
        return x * random.random() + np.random.rand()

    a = f(ONE)
    assert float(f(ONE)) == float(a)
    notes = f.explain()
    assert "random.random is called once per trace" in notes
    assert "numpy.random.rand is called once per trace" in notes


def test_what_is_done_once_only_is_told():
    queue, numbers = deque(), iter(range(10))

    @gt.function
    def f(x):
        queue.append(1)
        return x * next(numbers)

    for _ in range(3):
        f(ONE)
    told = f.explain()
    assert "append of a deque from outside is called once per trace" in told
    assert "next of a range_iterator from outside is called once per trace" in told


def test_a_generator_and_a_clock_are_called_once_and_explain_says_so():
    rng = np.random.default_rng(0)

    @gt.function
    def f(x):
        return x * rng.normal() + time() * 0.0

    f(ONE)
    assert "normal is called once per trace" in f.explain()
    assert "time.time is called once per trace" in f.explain()
