"""One tape per thread of control: threads, tasks of an event loop, generators."""

import asyncio
import contextvars
import gc
import threading
import tracemalloc

import numpy as np
import pytest

import gtape as gt
from gtape.dispatch import on_arrays


def test_tasks_of_an_event_loop_have_tapes_of_their_own():
    async def square(v, other):
        with gt.GradientTape(persistent=True) as tape:
            y = v * v
            await asyncio.sleep(0)  # the other task runs in between
            z = y * 3.0
            await asyncio.sleep(0)
        return tape.gradient(z, v), tape.gradient(z, other), len(tape._record.entries)

    async def both():
        a, b = gt.Variable(2.0), gt.Variable(5.0)
        return await asyncio.gather(square(a, b), square(b, a))

    (ga, none_a, count_a), (gb, none_b, count_b) = asyncio.run(both())
    assert (float(ga), float(gb)) == (12.0, 30.0)
    assert none_a is none_b is None
    assert count_a == count_b == 2


def test_many_threads_compute_gradients_at_once():
    w = gt.Variable(np.linspace(0.1, 1.0, 50))
    wanted = 3 * np.linspace(0.1, 1.0, 50) ** 2 * np.arange(16)[:, None]
    found = [None] * 16
    start = threading.Barrier(16)

    def work(k):
        start.wait()
        for _ in range(30):
            with gt.GradientTape() as tape:
                y = gt.reduce_sum(w * w * w * float(k))
            found[k] = tape.gradient(y, w).numpy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(np.stack(found), wanted, rtol=1e-12)


def test_one_variable_assigned_by_many_threads_keeps_a_whole_value():
    v = gt.Variable(np.zeros(1000))

    def work(k):
        for _ in range(50):
            v.assign(np.full(1000, float(k)))
            assert len(np.unique(v.numpy())) == 1

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(np.unique(v.numpy())) == 1


def test_a_context_of_ones_own_does_not_see_the_tape():
    x = gt.Variable(2.0)
    outside = contextvars.copy_context()
    with gt.GradientTape() as tape:
        y = x * x
        z = outside.run(lambda: x * 5.0)
    assert tape.gradient([y, z], x).numpy() == 4.0


def test_users_floating_point_settings_stay():
    with np.errstate(all="raise"):
        assert np.isinf(float(gt.constant(1.0) / 0.0))
        x = gt.Variable([0.0])
        with gt.GradientTape() as tape:
            y = gt.sqrt(x)
        assert np.isinf(tape.gradient(y, x).numpy()).all()
        with pytest.raises(FloatingPointError):
            np.float64(1.0) / np.float64(0.0)


def test_a_computation_in_a_finalizer_inside_a_computation():
    class Last:
        def __del__(self):
            seen.append(float(gt.exp(gt.constant(0.0)) / gt.constant(0.0)))

    seen = []
    x = gt.constant([1.0, 2.0])
    holder = [Last()]

    def forward(a):
        holder.clear()  # runs the finalizer while NumPy computes for gtape
        gc.collect()
        return a * 2.0

    assert on_arrays(forward, x.numpy()).tolist() == [2.0, 4.0]
    assert seen == [np.inf]


def test_the_backward_pass_frees_values_on_its_way():
    n, size = 40, 100_000
    x = gt.Variable(np.ones(size))
    tracemalloc.start()
    with gt.GradientTape() as tape:
        y = x
        for _ in range(n):
            y = gt.sin(y)
        y = gt.reduce_sum(y)
    recorded, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    g = tape.gradient(y, x)
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert recorded > 0.9 * n * size * 8
    assert peak < recorded + 8 * size * 8
    assert now < 8 * size * 8
    assert g.shape == (size,)


def test_values_that_no_rule_reads_are_not_kept():
    size = 100_000
    x = gt.Variable(np.ones(size))
    tracemalloc.start()
    with gt.GradientTape() as tape:
        y = x
        for _ in range(50):
            y = y + 1.0
        y = gt.reduce_sum(y)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 4 * size * 8
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), np.ones(size))


def test_a_long_chain_needs_no_recursion():
    x = gt.Variable(1.0)
    with gt.GradientTape() as tape:
        y = x
        for _ in range(20_000):
            y = y + x
    assert tape.gradient(y, x).numpy() == 20_001.0


def test_many_variables_get_names_quickly():
    variables = [gt.Variable(0.0, name="crowd") for _ in range(3000)]
    assert len({v.name for v in variables}) == 3000
