"""Threads that trace and call functions at the same time."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gtape as gt

COUNT = 16


def together(work, count=COUNT):
    """Return what a function gives in many threads that start at the same time."""
    start = threading.Barrier(count)

    def run(i):
        start.wait()
        return work(i)

    with ThreadPoolExecutor(count) as pool:
        return [f.result(60) for f in [pool.submit(run, i) for i in range(count)]]


def collatz(n):
    steps = gt.constant(0)
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps = steps + 1
    return steps


def python_collatz(n):
    steps = 0
    while n != 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    return steps


def test_one_function_for_the_first_time_in_many_threads():
    f = gt.function(collatz)
    found = together(lambda i: int(f(gt.constant(i + 3))))
    assert found == [python_collatz(i + 3) for i in range(COUNT)]
    assert f.trace_count == 1


def test_a_function_of_its_own_in_each_thread():
    def work(i):
        f = gt.function(
            lambda x: gt.reduce_sum(x * float(i)) + collatz(gt.constant(i + 1))
        )
        return [float(f(gt.ones([n]))) for n in (2, 3, 4)]

    found = together(work)
    for i in range(COUNT):
        steps = python_collatz(i + 1)
        assert found[i] == [n * i + steps for n in (2, 3, 4)]


def test_many_signatures_in_many_threads():
    @gt.function
    def f(x, name):
        return gt.reduce_sum(x) * len(name)

    def work(i):
        out = []
        for n in range(2, 6):
            out.append(float(f(gt.ones([n]), "x" * (1 + i % 2))))
        return out

    for i, found in enumerate(together(work)):
        assert found == [n * (1 + i % 2) for n in range(2, 6)]
    assert f.trace_count <= 2 * 2


def test_a_tape_in_each_thread():
    w = gt.Variable(np.linspace(0.1, 1.0, 20))

    @gt.function
    def f(x):
        return gt.reduce_sum(gt.sin(w) * x)

    def work(i):
        out = []
        for k in range(10):
            with gt.GradientTape() as tape:
                y = f(float(i + k))
            out.append(tape.gradient(y, w).numpy())
        return out

    for i, found in enumerate(together(work)):
        for k, g in enumerate(found):
            assert np.allclose(g, np.cos(np.linspace(0.1, 1.0, 20)) * (i + k))


def test_a_long_trace_does_not_hold_up_the_others():
    tracing, go_on = threading.Event(), threading.Event()

    @gt.do_not_convert
    def wait():
        tracing.set()
        assert go_on.wait(30)

    @gt.function
    def slow(x):
        wait()
        return x * 2.0

    quick = gt.function(lambda x: x * 3.0)
    found = []
    thread = threading.Thread(
        target=lambda: found.append(float(slow(gt.constant(1.0))))
    )
    thread.start()
    try:
        assert tracing.wait(30)
        assert float(quick(gt.constant(1.0))) == 3.0
        with gt.GradientTape() as tape:
            v = gt.Variable(2.0)
            y = v * v
        assert float(tape.gradient(y, v)) == 4.0
    finally:
        go_on.set()
        thread.join(30)
    assert found == [2.0]


def test_globals_that_others_change_during_a_trace_stay():
    """A trace restores what it has written itself, nothing else."""
    tracing, go_on = threading.Event(), threading.Event()
    names = globals()
    names["shared"] = 1.0

    @gt.do_not_convert
    def wait():
        tracing.set()
        assert go_on.wait(30)

    @gt.function
    def slow(x):
        y = x * shared  # noqa: F821 (set above)
        wait()
        return y

    thread = threading.Thread(target=lambda: slow(gt.constant(1.0)))
    thread.start()
    try:
        assert tracing.wait(30)
        names["shared"] = 5.0
    finally:
        go_on.set()
        thread.join(30)
    assert names["shared"] == 5.0
    assert float(slow(gt.constant(1.0))) == 5.0


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_in_a_trace_leaves_nothing_broken(error):
    fail = [True]

    @gt.do_not_convert
    def maybe():
        if fail[0]:
            raise error("in the middle")

    @gt.function
    def f(x):
        for _ in range(gt.constant(3)):
            if x > 0.0:
                maybe()
                x = x * 2.0
        return x

    for _ in range(2):
        with pytest.raises(error):
            f(gt.constant(1.0))
    assert float(gt.constant(1.0) + 1.0) == 2.0
    fail[0] = False
    assert float(f(gt.constant(1.0))) == 8.0
    assert f.trace_count == 1


def test_an_exception_in_one_thread_leaves_the_others_alone():
    @gt.function
    def f(x, k):
        if k == "bad":
            raise ValueError("bad")
        time.sleep(0.001)
        return x * 2.0

    def work(i):
        try:
            return float(f(gt.constant(float(i)), "bad" if i % 2 else "good"))
        except ValueError as error:
            return str(error)

    assert together(work) == ["bad" if i % 2 else 2.0 * i for i in range(COUNT)]
