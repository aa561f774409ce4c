"""`tape.explain`: why a gradient is `None`, and at which line the chain ends."""

import inspect
import math
import sys
import threading

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import gtape as gt
from tests.errors.cases import lines_of

REASONS = {
    "connected",
    "integer",
    "not watched",
    "made before the tape",
    "rebound",
    "assigned",
    "left through NumPy",
    "stop_gradient",
    "no gradient",
    "other thread",
    "outside the tape",
    "not used",
}


def check(explanation, reason, places=None):
    """Compare with a reason, and with the marked line of the calling function.

    Args:
        explanation: What `explain` returned.
        reason: What it must say.
        places: The function with the mark, if it is another one.
    """
    assert explanation.reason == reason
    assert explanation.reason in REASONS
    code = sys._getframe(1).f_code if places is None else places
    lines = lines_of(code)
    if isinstance(lines, range):  # nothing is marked
        assert explanation.origin is None
    else:
        assert explanation.origin is not None
        assert [explanation.origin.line] == lines
        assert explanation.origin.file == __file__
        assert str(explanation.origin) in explanation.text
    assert str(explanation) == explanation.text
    assert explanation.text[-1] in ".)"
    assert "  " not in explanation.text


@pytest.fixture
def x():
    return gt.Variable(2.0, name="x")


@pytest.fixture
def w():
    return gt.Variable([1.0, 2.0, 3.0], name="w")


# --- connected ------------------------------------------------------------------------


def test_connected(x):
    with gt.GradientTape() as tape:
        y = x * x
    check(tape.explain(y, x), "connected")


def test_connected_after_the_gradient(x):
    with gt.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x).numpy() == 4.0
    check(tape.explain(y, x), "connected")


def test_connected_persistent(x):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x
    for _ in range(2):
        tape.gradient(y, x)
        check(tape.explain(y, x), "connected")


def test_connected_inside_the_block(x):
    with gt.GradientTape() as tape:
        y = x * x
        check(tape.explain(y, x), "connected")


def test_connected_in_nested_tapes(x):
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = x * x * x
        g = inner.gradient(y, x)
    check(inner.explain(y, x), "connected")
    check(outer.explain(y, x), "connected")
    check(outer.explain(g, x), "connected")


def test_connected_through_a_loop_and_functions(x):
    def step(y):
        return gt.sin(y) * 2.0

    with gt.GradientTape() as tape:
        y = x
        for _ in range(10):
            y = step(y)
    check(tape.explain(y, x), "connected")


def test_connected_through_several_results(w):
    with gt.GradientTape() as tape:
        parts = gt.unstack(w)
        values, _ = gt.top_k(w, 2)
    check(tape.explain(parts[2], w), "connected")
    check(tape.explain(values, w), "connected")


def test_connected_to_a_watched_constant():
    c = gt.constant(3.0)
    with gt.GradientTape() as tape:
        tape.watch(c)
        y = c * 2.0
    check(tape.explain(y, c), "connected")


def test_connected_to_itself(x):
    with gt.GradientTape() as tape:
        pass
    check(tape.explain(x, x), "connected")


def test_connected_by_one_of_two_ways(x):
    with gt.GradientTape() as tape:
        y = gt.stop_gradient(x) * x + gt.floor(x)
    check(tape.explain(y, x), "connected")


def test_connected_although_it_left_for_numpy(x):
    with gt.GradientTape() as tape:
        y = x * float(x)
    check(tape.explain(y, x), "connected")


def test_connected_after_an_assignment(x):
    with gt.GradientTape() as tape:
        y = x * x
        x.assign(5.0)
    check(tape.explain(y, x), "connected")


def test_connected_to_an_intermediate_value(x):
    with gt.GradientTape() as tape:
        y = x * x
        z = y * 3.0
    check(tape.explain(z, y), "connected")


def test_connected_through_an_item(x):
    with gt.GradientTape() as tape:
        t = gt.zeros([3])
        t[1] = x
        y = gt.reduce_sum(t)
    check(tape.explain(y, x), "connected")


# --- integer --------------------------------------------------------------------------


def test_integer_variable():
    n = gt.Variable(3, name="n")
    with gt.GradientTape() as tape:
        y = n * n  # <- here
        y = y + 1
    found = tape.explain(y, n)
    check(found, "integer")
    assert n.name in found.text
    assert "int32" in found.text


def test_integer_constant_beside_a_float(x):
    n = gt.constant(3)
    with gt.GradientTape() as tape:
        y = x * n  # <- here
    check(tape.explain(y, n), "integer")


def test_integer_source_that_is_not_used(x):
    n = gt.Variable(3)
    with gt.GradientTape() as tape:
        y = x * x
    check(tape.explain(y, n), "integer")


def test_bool_source():
    b = gt.constant([True, False])
    with gt.GradientTape() as tape:
        y = gt.where(b, 1.0, 2.0)  # <- here
    check(tape.explain(y, b), "integer")


def test_cast_to_integer(x):
    with gt.GradientTape() as tape:
        z = x * x
        n = gt.cast(z, gt.int32)  # <- here
        y = gt.cast(n, gt.float32) * 2.0
    assert tape.gradient(y, x) is None
    check(tape.explain(y, x), "integer")


def test_cast_to_integer_in_a_function(x):
    def whole(v):
        return gt.cast(v, gt.int64)  # <- here

    with gt.GradientTape() as tape:
        y = gt.cast(whole(x * 3.0), gt.float32) + 1.0
    check(tape.explain(y, x), "integer", whole)


def test_positions_among_several_results(w):
    with gt.GradientTape(persistent=True) as tape:
        _, places = gt.top_k(w, 2)  # <- here
        y = gt.gather(gt.constant([1.0, 2.0, 3.0]), places)
    assert tape.gradient(y, w) is None
    check(tape.explain(y, w), "no gradient")


def test_integer_target(x):
    with gt.GradientTape() as tape:
        n = gt.cast(x, gt.int32)  # <- here
    check(tape.explain(n, x), "integer")


# --- no gradient ----------------------------------------------------------------------


def test_argmax(w):
    with gt.GradientTape() as tape:
        k = gt.argmax(w * 2.0)  # <- here
        y = gt.cast(k, gt.float32) * 3.0
    found = tape.explain(y, w)
    check(found, "no gradient")
    assert "argmax" in found.text


def test_gather_by_a_computed_index(w):
    table = gt.Variable([1.0, 2.0, 3.0])
    with gt.GradientTape() as tape:
        y = gt.gather(table, gt.argmax(w)) * 2.0  # <- here
    check(tape.explain(y, w), "no gradient")


@pytest.mark.parametrize("function", [gt.round, gt.floor, gt.ceil, gt.trunc])
def test_rounding(function, x):
    with gt.GradientTape() as tape:
        z = x * x
        r = function(z)  # <- here
        y = r + 1.0
    assert tape.gradient(y, x) is None
    check(tape.explain(y, x), "no gradient")


def test_floor_division(x):
    with gt.GradientTape() as tape:
        y = (x // 2.0) * 3.0  # <- here
    check(tape.explain(y, x), "no gradient")


def test_comparison(x):
    with gt.GradientTape() as tape:
        positive = x > 0.0  # <- here
        y = gt.where(positive, 1.0, -1.0)
    check(tape.explain(y, x), "no gradient")


def test_a_chain_ends_at_the_first_block(x):
    with gt.GradientTape() as tape:
        y = gt.floor(x)  # <- here
        y = gt.stop_gradient(y)
        y = gt.round(y)
    check(tape.explain(y, x), "no gradient")


def test_no_gradient_in_a_loop(x):
    with gt.GradientTape() as tape:
        y = x
        for _ in range(3):
            y = gt.round(y * 1.5)  # <- here
    check(tape.explain(y, x), "no gradient")


def test_a_rule_of_ones_own_that_returns_none(x):
    @gt.custom_gradient
    def opaque(v):
        return v * 2.0, lambda upstream: None

    with gt.GradientTape() as tape:
        y = opaque(x) + 1.0  # <- here
    assert tape.gradient(y, x) is None
    found = tape.explain(y, x)
    check(found, "no gradient")
    assert "custom_gradient" in found.text


def test_a_way_around_the_block(x):
    with gt.GradientTape() as tape:
        r = gt.round(x)
        y = r * r + x * 0.5
    check(tape.explain(y, x), "connected")


# --- stop_gradient --------------------------------------------------------------------


def test_stop_gradient(x):
    with gt.GradientTape() as tape:
        z = x * x
        s = gt.stop_gradient(z)  # <- here
        y = s * 2.0
    check(tape.explain(y, x), "stop_gradient")


def test_stop_gradient_after_the_gradient(x):
    with gt.GradientTape() as tape:
        y = gt.stop_gradient(x * x) * 2.0  # <- here
    assert tape.gradient(y, x) is None
    check(tape.explain(y, x), "stop_gradient")


def test_stop_gradient_in_a_function(x):
    def target_network(v):
        v = v * 2.0
        return gt.stop_gradient(v)  # <- here

    with gt.GradientTape() as tape:
        y = target_network(x) ** 2.0
    check(tape.explain(y, x), "stop_gradient", target_network)


def test_stop_gradient_on_both_ways(x):
    with gt.GradientTape() as tape:
        s = gt.stop_gradient(x)  # <- here
        y = s * 2.0 + s
    check(tape.explain(y, x), "stop_gradient")


def test_stop_gradient_names_the_one_on_the_way(x):
    with gt.GradientTape() as tape:
        gt.stop_gradient(x * 5.0)
        s = gt.stop_gradient(x)  # <- here
        y = s * 2.0
    check(tape.explain(y, x), "stop_gradient")


# --- assigned -------------------------------------------------------------------------


def test_assigned(x):
    v = gt.Variable(0.0, name="v")
    with gt.GradientTape() as tape:
        v.assign(x * 2.0)  # <- here
        y = v * v
    found = tape.explain(y, x)
    check(found, "assigned")
    assert v.name in found.text


def test_assign_add(x):
    total = gt.Variable(0.0, name="total")
    with gt.GradientTape() as tape:
        total.assign_add(x * x)  # <- here
        y = total * 1.0
    check(tape.explain(y, x), "assigned")


def test_assigned_in_a_loop(x):
    total = gt.Variable(0.0)
    with gt.GradientTape() as tape:
        for _ in range(3):
            total.assign_add(x * x)  # <- here
        y = total * 1.0
    assert tape.gradient(y, x) is None
    check(tape.explain(y, x), "assigned")


def test_assigned_item(x, w):
    with gt.GradientTape() as tape:
        w[0] = x  # <- here
        y = gt.reduce_sum(w)
    check(tape.explain(y, x), "assigned")


def test_assigned_slice(x, w):
    with gt.GradientTape() as tape:
        w[:2].assign(x)  # <- here
        y = gt.reduce_sum(w)
    check(tape.explain(y, x), "assigned")


def test_assigned_to_the_target(x):
    v = gt.Variable(0.0)
    with gt.GradientTape() as tape:
        v.assign(x * 2.0)  # <- here
    check(tape.explain(v, x), "assigned")


def test_assigned_twice_over(x):
    u, v = gt.Variable(0.0), gt.Variable(0.0)
    with gt.GradientTape() as tape:
        u.assign(x * 2.0)  # <- here
        v.assign(u * 3.0)
        y = v + 1.0
    check(tape.explain(y, x), "assigned")


def test_assigned_only_after_the_target(x):
    v = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        y = v * v
        v.assign(x * 2.0)
    check(tape.explain(y, x), "not used")


def test_assigned_and_overwritten(x):
    v = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        v.assign(x * 2.0)
        v.assign(7.0)
        y = v * v
    check(tape.explain(y, x), "not used")


def test_assigned_to_a_variable_that_is_not_trainable(x):
    v = gt.Variable(0.0, trainable=False)
    with gt.GradientTape() as tape:
        v.assign(x * 2.0)  # <- here
        y = v * 3.0
    check(tape.explain(y, x), "assigned")


# --- rebound --------------------------------------------------------------------------


def test_rebound_before_the_tape(x):
    s = x
    s = s + 1.0
    with gt.GradientTape() as tape:
        y = s * s  # <- here
        y = y * 1.0
    found = tape.explain(y, s)
    check(found, "rebound")
    assert "assign_add" in found.text


def test_rebound_by_a_training_loop(x):
    step = x
    for i in range(2):
        with gt.GradientTape() as tape:
            y = step * step  # <- here
        g = tape.gradient(y, step)
        assert (g is None) == (i == 1)
        if g is not None:
            step = step - 0.1 * g
    check(tape.explain(y, step), "rebound")


def test_rebound_while_another_tape_recorded():
    s = gt.Variable(1.0)
    with gt.GradientTape():
        t = s + 1.0
    with gt.GradientTape() as tape:
        y = t * t  # <- here
    check(tape.explain(y, t), "not watched")
    check(tape.explain(y, s), "made before the tape")


def test_rebound_while_a_tape_of_another_thread_records():
    ready, done = threading.Event(), threading.Event()

    def record():
        with gt.GradientTape():
            ready.set()
            done.wait(10.0)

    worker = threading.Thread(target=record)
    worker.start()
    ready.wait(10.0)
    s = gt.Variable(1.0) + 1.0
    with gt.GradientTape() as tape:
        y = s * s  # <- here
    done.set()
    worker.join()
    check(tape.explain(y, s), "rebound")


# --- left through NumPy ---------------------------------------------------------------


def test_numpy(x):
    with gt.GradientTape() as tape:
        a = (x * x).numpy()  # <- here
        y = gt.constant(np.sin(a)) * 2.0
    check(tape.explain(y, x), "left through NumPy")


@pytest.mark.parametrize(
    "leave", [float, math.sqrt, np.asarray, np.array, lambda v: v.numpy(), complex]
)
def test_ways_to_numpy(leave, x):
    def pass_on(v):
        return leave(v)  # <- here

    with gt.GradientTape() as tape:
        a = pass_on(x * x)
        y = gt.Variable(1.0) * gt.constant(a)
    places = leave if inspect.isfunction(leave) else pass_on
    found = tape.explain(y, x)
    assert found.reason == "left through NumPy"
    assert found.origin.line in lines_of(places)


def test_numpy_number_beside_a_tensor(x):
    w = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        y = w * float(x * x)  # <- here
    check(tape.explain(y, x), "left through NumPy")
    assert tape.explain(y, w).reason == "connected"


def test_numpy_to_the_target_itself(x):
    with gt.GradientTape() as tape:
        y = gt.constant(x.numpy())  # <- here
    check(tape.explain(y, x), "left through NumPy")


def test_numpy_in_a_function(x):
    def loss(v):
        return np.log(np.asarray(v))  # <- here

    with gt.GradientTape() as tape:
        y = gt.convert_to_tensor(loss(x)) * 2.0
    check(tape.explain(y, x), "left through NumPy", loss)


def test_numpy_function_without_an_equivalent(w):
    with gt.GradientTape() as tape:
        y = gt.constant(np.median(w * 1.0)) * 2.0  # <- here
    check(tape.explain(y, w), "left through NumPy")


def test_numpy_function_with_an_equivalent(w):
    with gt.GradientTape() as tape:
        y = np.sum(np.sin(w))
    check(tape.explain(y, w), "connected")


def test_printing_a_value_is_not_the_reason(x):
    w = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        z = x * x
        float(z)
        y = w * w
    check(tape.explain(y, x), "not used")


def test_printing_later_is_not_the_reason(x):
    w = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        y = w * 2.0
        float(x)
    check(tape.explain(y, x), "not used")


def test_numpy_names_the_line_before_the_constant(x):
    w = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        float(x)
        a = float(x)  # <- here
        y = w * a
        float(x)
    check(tape.explain(y, x), "left through NumPy")


# --- not watched ----------------------------------------------------------------------


def test_constant():
    c = gt.constant(3.0)
    with gt.GradientTape() as tape:
        y = c * c  # <- here
        y = y + 1.0
    check(tape.explain(y, c), "not watched")


def test_constant_beside_a_variable(x):
    c = gt.constant(3.0)
    with gt.GradientTape() as tape:
        z = x + 1.0
        y = c * z  # <- here
    found = tape.explain(y, c)
    check(found, "not watched")
    assert "tape.watch" in found.text


def test_trainable_false():
    v = gt.Variable(3.0, trainable=False, name="frozen")
    with gt.GradientTape() as tape:
        y = v * v  # <- here
    found = tape.explain(y, v)
    check(found, "not watched")
    assert v.name in found.text
    assert "trainable=False" in found.text


def test_trainable_false_in_a_function():
    v = gt.Variable(3.0, trainable=False)

    def layer(inputs):
        return inputs * v  # <- here

    with gt.GradientTape() as tape:
        y = layer(gt.constant(2.0)) + layer(gt.constant(1.0))
    check(tape.explain(y, v), "not watched", layer)


def test_watch_accessed_variables_false(x):
    with gt.GradientTape(watch_accessed_variables=False) as tape:
        y = x * x  # <- here
    found = tape.explain(y, x)
    check(found, "not watched")
    assert "watch_accessed_variables=False" in found.text


def test_watch_accessed_variables_false_and_one_watched(x, w):
    with gt.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = w * x  # <- here
    check(tape.explain(y, x), "not watched")
    assert tape.explain(y, w).reason == "connected"


def test_watched_too_late():
    c = gt.constant(3.0)
    with gt.GradientTape() as tape:
        y = c * c  # <- here
        tape.watch(c)
    assert tape.gradient(y, c) is None
    check(tape.explain(y, c), "not watched")


def test_only_the_inner_tape_watches():
    c = gt.constant(3.0)
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            inner.watch(c)
            y = c * c  # <- here
        g = inner.gradient(y, c)
    check(outer.explain(y, c), "not watched")
    assert outer.explain(g, c).reason == "not watched"
    assert inner.explain(y, c).reason == "connected"


def test_frozen_and_not_used(x):
    v = gt.Variable(3.0, trainable=False)
    with gt.GradientTape() as tape:
        y = x * x
    check(tape.explain(y, v), "not used")


# --- made before the tape -------------------------------------------------------------


def test_made_before(x):
    z = x * x
    with gt.GradientTape() as tape:
        y = z * 2.0  # <- here
        y = y + 1.0
    check(tape.explain(y, x), "made before the tape")


def test_made_before_and_read_inside_too(x):
    z = x * x
    w = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        x * 3.0
        y = w * z  # <- here
    check(tape.explain(y, x), "made before the tape")


def test_made_before_and_used_in_a_function(x):
    features = gt.sin(x)

    def loss(w):
        return w * features  # <- here

    with gt.GradientTape() as tape:
        y = loss(gt.Variable(1.0))
    check(tape.explain(y, x), "made before the tape", loss)


def test_made_before_an_entry_that_follows_another(x):
    tape = gt.GradientTape(persistent=True)
    with tape:
        x * x
    u = x * 3.0
    with tape:
        y = u * 2.0  # <- here
    check(tape.explain(y, x), "made before the tape")


def test_made_in_stop_recording(x):
    with gt.GradientTape() as tape:
        with tape.stop_recording():
            z = x * x
        y = z * 2.0  # <- here
    found = tape.explain(y, x)
    check(found, "made before the tape")
    assert "did not record" in found.text


def test_gradient_taken_after_the_outer_block(x):
    with gt.GradientTape() as outer, gt.GradientTape() as inner:
        y = x * x * x
    g = inner.gradient(y, x)
    assert outer.gradient(g, x) is None
    check(outer.explain(g, x), "outside the tape")


# --- outside the tape -----------------------------------------------------------------


def test_target_after_the_block(x):
    with gt.GradientTape() as tape:
        y = x * x
    z = y * 2.0
    check(tape.explain(z, x), "outside the tape")


def test_target_before_the_block(x):
    y = x * x
    with gt.GradientTape() as tape:
        x * 3.0
    check(tape.explain(y, x), "outside the tape")


def test_target_in_stop_recording(x):
    with gt.GradientTape() as tape:
        x * 3.0
        with tape.stop_recording():
            y = x * x
    check(tape.explain(y, x), "outside the tape")


def test_target_of_another_tape(x):
    with gt.GradientTape():
        y = x * x
    with gt.GradientTape() as tape:
        x * 3.0
    check(tape.explain(y, x), "outside the tape")


def test_target_after_a_reset(x):
    with gt.GradientTape() as tape:
        y = x * x
        tape.reset()
        x * 3.0
    check(tape.explain(y, x), "outside the tape")


def test_target_before_a_used_tape_was_entered_again(x):
    tape = gt.GradientTape()
    with tape:
        y = x * x
    tape.gradient(y, x)
    with tape:
        x * 3.0
    check(tape.explain(y, x), "outside the tape")


# --- other thread ---------------------------------------------------------------------


def in_thread(function):
    """The result of a function that another thread runs."""
    found = []
    worker = threading.Thread(target=lambda: found.append(function()))
    worker.start()
    worker.join()
    return found[0]


def test_other_thread(x):
    with gt.GradientTape() as tape:
        z = in_thread(lambda: x * x)
        y = z * 2.0  # <- here
    check(tape.explain(y, x), "other thread")


def test_other_thread_made_the_target(x):
    with gt.GradientTape() as tape:
        y = in_thread(lambda: x * x)
    check(tape.explain(y, x), "other thread")


def test_other_thread_beside_a_variable_of_this_one(x, w):
    with gt.GradientTape() as tape:
        scale = in_thread(lambda: gt.exp(x))
        y = w * scale  # <- here
    assert tape.gradient(y, x) is None
    check(tape.explain(y, x), "other thread")


def test_a_tape_of_the_thread_that_entered_it(x):
    tape = gt.GradientTape()

    def work():
        with tape:
            return x * x

    y = in_thread(work)
    check(tape.explain(y, x), "connected")
    assert tape.gradient(y, x).numpy() == 4.0


def test_made_before_in_the_thread_that_entered(x):
    tape = gt.GradientTape()

    def work():
        with gt.GradientTape():
            pass
        z = x * x
        with tape:
            return z * 2.0  # <- here

    y = in_thread(work)
    check(tape.explain(y, x), "made before the tape", work)


# --- not used -------------------------------------------------------------------------


def test_not_used(x, w):
    with gt.GradientTape() as tape:
        x * x
        y = w * 2.0
    found = tape.explain(y, x)
    check(found, "not used")
    assert x.name in found.text


def test_not_used_nor_read(x, w):
    with gt.GradientTape() as tape:
        y = w * 2.0
    check(tape.explain(y, x), "not used")


def test_constant_target(x):
    with gt.GradientTape() as tape:
        x * x
        y = gt.constant(2.0)
    check(tape.explain(y, x), "not used")


def test_target_of_constants(x):
    with gt.GradientTape() as tape:
        x * x
        y = gt.constant(2.0) * gt.constant(3.0)
    check(tape.explain(y, x), "not used")


def test_two_variables(x, w):
    with gt.GradientTape() as tape:
        x * w
    check(tape.explain(x, w), "not used")


def test_unused_constant(x):
    c = gt.constant(1.0)
    with gt.GradientTape() as tape:
        y = x * x
    check(tape.explain(y, c), "not used")


def test_target_that_came_first(x):
    with gt.GradientTape() as tape:
        y = x * x
        z = y * 2.0
    check(tape.explain(y, z), "not used")


def test_branch_not_taken(x):
    w = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        y = x * x if x > 0.0 else w * x
    check(tape.explain(y, w), "not used")


# --- Any program ----------------------------------------------------------------------

UNARY = {
    "sin": gt.sin,
    "floor": gt.floor,
    "stop": gt.stop_gradient,
    "cast": lambda v: gt.cast(v, gt.int32),
    "sort": gt.sort,
    "top_k": lambda v: gt.top_k(v, 3).indices,
    "unstack": lambda v: gt.unstack(v)[1] * gt.ones([3]),
    "numpy": lambda v: gt.constant(v.numpy()),
    "float": lambda v: gt.constant([float(v[0])] * 3),
    "sign": gt.sign,
    "own": gt.custom_gradient(lambda v: (v * 2.0, lambda g: None)),
    "item": lambda v: (v + 1)[::-1],
}
BINARY = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "where": lambda a, b: gt.where(a > b, a, b),
    "gather": lambda a, b: gt.gather(a, gt.cast(b, gt.int32) % 3),
    "divide": lambda a, b: a // (gt.abs(b) + 1),
}
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(sorted(UNARY)), st.integers(0, 99)),
        st.tuples(
            st.sampled_from(sorted(BINARY)), st.integers(0, 99), st.integers(0, 99)
        ),
        st.tuples(st.just("assign"), st.integers(0, 99), st.integers(0, 99)),
    ),
    max_size=7,
)


def run(steps, values, variables):
    """Run a program: each step takes earlier values and adds one."""
    for name, *places in steps:
        inputs = [values[i % len(values)] for i in places]
        if name == "assign":
            variable = variables[places[0] % len(variables)]
            variable.assign(gt.cast(inputs[1], gt.float32))
            values.append(variable)
        elif name in UNARY:
            values.append(UNARY[name](accepted(inputs[0], name)))
        else:
            values.append(BINARY[name](*inputs))


def accepted(value, name):
    """Integers as they are, but floats where an operation wants them."""
    if name in ("sin", "own", "floor", "sign"):
        return gt.cast(value, gt.float32)
    return gt.convert_to_tensor(value)


@hypothesis.given(before=STEPS, inside=STEPS, after=STEPS, persistent=st.booleans())
def test_any_pair_of_values_can_be_explained(before, inside, after, persistent):
    variables = [
        gt.Variable([1.0, 2.0, 3.0]),
        gt.Variable([2.0, 1.0, 0.5]),
        gt.Variable([1.0, 1.5, 2.0], trainable=False),
    ]
    values = [*variables, gt.constant([1.0, 0.0, 2.0]), gt.constant([1, 2, 3])]
    run(before[:3], values, variables)
    with gt.GradientTape(persistent=True) as tape:
        run(inside, values, variables)
    run(after[:2], values, variables)
    for target in values:
        for source in values:
            if persistent:
                gradient = tape.gradient(target, source)
                found = tape.explain(target, source)
                assert (found.reason == "connected") == (gradient is not None)
            found = tape.explain(target, source)
            assert found.reason in REASONS
            assert found.text
            if found.origin is not None:
                assert found.origin.file == __file__
                assert str(found.origin) in found.text
