"""Control flow as functions: effects, structures, where code runs, wrong calls."""

import collections

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError

Pair = collections.namedtuple("Pair", "left right")
X = np.array([0.6, -0.4, 1.3])


def test_closed_forms():
    n, f = gt.while_loop(lambda n, f: n < 10, lambda n, f: (n + 1, f * n), (1, 1))
    assert (int(n), int(f)) == (10, 362880)
    assert gt.fori_loop(0, 5, lambda i, x: x * 2.0, 1.0).numpy() == 32.0
    rows = gt.constant([1.0, 2.0, 3.0])
    assert gt.scan(lambda a, e: a + e, rows, reverse=True).numpy().tolist() == [6, 5, 3]
    assert gt.foldr(lambda a, e: a - e, rows).numpy() == 0.0
    assert gt.foldl(lambda a, e: a - e, rows).numpy() == -4.0
    assert gt.map_fn(lambda e: e * e, [1, 2, 3]).numpy().tolist() == [1, 4, 9]


def test_structures_come_back_as_they_were_given():
    def f(x):
        a = gt.while_loop(lambda i, p: i < 2, lambda i, p: (i + 1, p), [0, Pair(x, x)])
        b = gt.fori_loop(0, 2, lambda i, c: {"k": c["k"] + x}, {"k": x})
        return a, b

    for g in (f, gt.function(f)):
        a, b = g(gt.constant(1.0))
        assert type(a) is list
        assert type(a[1]) is Pair
        assert b["k"].numpy() == 3.0


def test_python_numbers_become_tensors_with_a_dtype():
    def f():
        return gt.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, 1.0))

    for g in (f, gt.function(f)):
        i, x = g()
        assert (i.dtype, x.dtype) == (gt.int32, gt.float32)
        assert (i.numpy(), x.numpy()) == (3, 8.0)


def test_variables_are_assigned_in_order():
    def make():
        v = gt.Variable(1.0)

        def f(x):
            def body(i, y):
                v.assign(v * 2.0 + y)
                return i + 1, y + v

            out = gt.while_loop(lambda i, y: i < 3, body, (0, x))[1]
            gt.cond(out > 0.0, lambda: v.assign_add(1.0), lambda: v.assign_sub(1.0))

            def each(e):
                v.assign_add(e)
                return v * e

            rows = gt.map_fn(each, gt.stack([x, out]))
            total = gt.scan(lambda a, e: a + e * v, rows, initializer=0.0)
            return out, rows, total, v.read_value()

        return f

    eager, traced = make(), gt.function(make())
    for x in (0.5, -3.0):
        for a, b in zip(eager(gt.constant(x)), traced(gt.constant(x)), strict=True):
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-6)


def test_only_the_taken_branch_has_effects():
    v = gt.Variable(0.0)

    def one():
        v.assign_add(1.0)
        return 1.0

    def ten():
        v.assign_add(10.0)
        return 10.0

    f = gt.function(lambda x: gt.cond(x > 0.0, one, ten))
    assert f(gt.constant(1.0)).numpy() == 1.0
    assert f(gt.constant(-1.0)).numpy() == 10.0
    assert v.numpy() == 11.0


def test_item_assignment_in_a_body_leaves_the_callers_tensor_alone():
    start = gt.constant([1.0, 2.0])

    def body(i, x):
        x[i] = -x[i]
        return i + 1, x

    for run in (lambda f: f(), lambda f: gt.function(f)()):
        out = run(lambda: gt.while_loop(lambda i, x: i < 2, body, (0, start)))
        assert out[1].numpy().tolist() == [-1.0, -2.0]
        assert start.numpy().tolist() == [1.0, 2.0]


def test_known_conditions_leave_no_branch():
    x = gt.constant(2.0)
    f = gt.function(lambda x: gt.cond(True, lambda: x * x, lambda: 1 / 0))
    assert f(x).numpy() == 4.0
    assert "cond" not in str(f.graph(x))


def test_in_a_batch():
    rows = gt.constant([1.0, -2.0, 3.0])
    f = lambda x: gt.cond(x > 0.0, lambda: x * x, lambda: -x)  # noqa: E731
    assert gt.vectorized_map(f, rows).numpy().tolist() == [1.0, 2.0, 9.0]
    traced = gt.function(lambda r: gt.vectorized_map(f, r))
    assert traced(rows).numpy().tolist() == [1.0, 2.0, 9.0]


def test_map_without_items():
    empty = gt.zeros([0])
    signature = {"a": gt.TensorSpec([2], "float32"), "b": gt.TensorSpec([], "int32")}

    def f(x):
        return gt.map_fn(
            lambda e: {"a": gt.stack([e, e]), "b": gt.cast(e, "int32")}, x, signature
        )

    for g in (f, gt.function(f)):
        out = g(empty)
        assert tuple(out["a"].shape) == (0, 2)
        assert out["a"].dtype == gt.float32
        assert tuple(out["b"].shape) == (0,)
        assert out["b"].dtype == gt.int32
    with pytest.raises(ArgumentError, match="nobody knows what fn would return"):
        gt.map_fn(lambda e: e, empty)


def test_where_the_code_runs():
    seen = []

    @gt.function
    def f(x):
        seen.append((gt.executing_eagerly(), gt.inside_function()))
        with gt.init_scope():
            seen.append((gt.executing_eagerly(), gt.inside_function()))
        gt.vectorized_map(lambda e: seen.append(gt.inside_function()) or e, x)
        return x

    f(gt.constant([1.0]))
    assert seen[0] == (False, True)
    assert seen[1] == (True, False)
    assert seen[2] is True
    assert gt.executing_eagerly()
    assert not gt.inside_function()


def test_init_scope_runs_once_for_each_trace():
    v = gt.Variable(0.0)

    @gt.function
    def f(x):
        with gt.init_scope():
            v.assign_add(1.0)
            now = float(v)
        return x + now

    assert f(gt.constant(1.0)).numpy() == 2.0
    assert f(gt.constant(2.0)).numpy() == 3.0
    assert v.numpy() == 1.0


def test_init_scope_is_hidden_from_tapes():
    v = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        with gt.init_scope():
            y = v * v
        z = v * y
    assert tape.gradient(z, v).numpy() == 4.0


def test_traced_tensors_cannot_enter_init_scope():
    @gt.function
    def f(x):
        with gt.init_scope():
            return x + 1.0

    with pytest.raises(TypeError, match="used outside the function"):
        f(gt.constant(1.0))


def test_bounds_are_no_constants():
    def f(x, n):
        return gt.fori_loop(0, n, lambda i, c: c + i * x, x)

    def g(x, n):
        return gt.while_loop(lambda c: True, lambda c: c * x, [x], n)[0]

    x = gt.constant(X)
    for program in (f, g):
        traced = gt.function(program)
        for n in (0, 3, 20, 5):
            np.testing.assert_allclose(traced(x, n).numpy(), program(x, n).numpy())
        assert traced.trace_count == 1


def test_any_index_of_a_branch():
    def f(i, x):
        fns = [lambda: (x, x * 2.0), lambda: (x * 3.0, x), lambda: (x, x)]
        return gt.switch_case(i, fns)

    x, traced = gt.constant(X), gt.function(f)
    for i in (0, 1, 2, 7, -1):
        for index in (i, gt.constant(i)):
            for a, b in zip(f(index, x), traced(index, x), strict=True):
                np.testing.assert_array_equal(b.numpy(), a.numpy())
    assert traced.trace_count == 2


def test_random_draws_in_order():
    def f(x):
        a = gt.map_fn(lambda e: e * gt.random.normal([], dtype="float64"), x)
        return a, gt.scan(lambda a, e: a + gt.random.uniform([], dtype="float64"), x)

    x, found = gt.constant(X), []
    for run in (f, gt.function(f)):
        gt.random.set_seed(3)
        found.append([leaf.numpy() for _ in range(2) for leaf in run(x)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def test_exceptions_at_run_time():
    def f(x, most):
        def add(a, e):
            if e > most:
                raise ValueError("too much")
            return a + e

        return gt.scan(add, x)

    for run in (f, gt.function(f)):
        np.testing.assert_allclose(run(gt.constant(X), 5.0).numpy(), np.cumsum(X))
        with pytest.raises(ValueError, match="too much"):
            run(gt.constant(X), 1.0)


def test_a_list_is_no_result_of_a_fold():
    @gt.function
    def f(x):
        found = []
        gt.map_fn(lambda e: found.append(e) or e, x)
        return found

    with pytest.raises(gt.errors.TracingError, match="appends to a list"):
        f(gt.constant(X))
