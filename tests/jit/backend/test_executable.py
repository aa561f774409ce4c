"""Compiled functions as a whole: calls, memory, threads, signals."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.jit.backend.cpu import host
from gtape.jit.gradient import Program


def program(function: Any, *args: Any) -> Program:
    found: Program = function.concrete(*args)._concrete.program
    return found


def compiled(f: Any, *args: Any) -> Any:
    """Return a compiled function; the interpreter must not be what runs it."""
    function = gt.function(f, jit_compile=True)
    function(*args)
    assert program(function, *args).why_not == ""
    assert program(function, *args)._executable is not None
    return function


def vector(n: int, dtype: str = "float64") -> Any:
    return gt.constant(np.linspace(-1.5, 2.0, n), dtype)


# --- What runs it ---------------------------------------------------------------------


def test_jit_compile_says_what_runs_a_function() -> None:
    x = vector(5)
    for option, setting, wanted in (
        (None, True, True),
        (None, False, False),
        (True, False, True),
        (False, True, False),
    ):
        gt.config.set_jit_compile(setting)
        try:
            f = gt.function(lambda x: gt.sin(x) * 2.0, jit_compile=option)
            f(x)
        finally:
            gt.config.set_jit_compile(True)
        assert (program(f, x)._executable is not None) is wanted


def test_what_is_not_compiled_is_interpreted() -> None:
    f = gt.function(lambda x: gt.linalg.svd(x, compute_uv=False), jit_compile=True)
    x = gt.constant([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_allclose(f(x).numpy(), np.linalg.svd(x.numpy())[1], rtol=1e-6)
    assert program(f, x).why_not == "svdvals is not compiled"


def test_complex_numbers_are_interpreted() -> None:
    f = gt.function(lambda z: z * z + 1.0)
    z = gt.constant([1.0 + 2.0j, -0.5j])
    np.testing.assert_allclose(f(z).numpy(), z.numpy() ** 2 + 1.0)


# --- Arguments and results ------------------------------------------------------------


def test_arrays_that_are_not_contiguous() -> None:
    base = np.arange(24.0).reshape(4, 6)
    f = compiled(lambda x: x * 2.0 + 1.0, gt.constant(base.T[::2]))
    for array in (base.T[::2], base[:3, ::-1].copy(order="F"), base[::2].T[:3, :]):
        wanted = gt.function(lambda x: x * 2.0 + 1.0, jit_compile=False)
        x = gt.convert_to_tensor(array)
        np.testing.assert_array_equal(f(x).numpy(), wanted(x).numpy())


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 1000])
def test_any_size(n: int) -> None:
    def g(x: Any) -> Any:
        y = gt.exp(-x) * x
        table = gt.expand_dims(x, 1) * y
        return y, gt.reduce_sum(y), gt.reduce_sum(table, 0), gt.reduce_prod(table, 1)

    function = compiled(g, vector(4))
    x = vector(n)
    for a, b in zip(function(x), g(x), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-14)


def test_results_belong_to_the_caller() -> None:
    f = compiled(lambda x: x + 1.0, vector(100_000))
    x = vector(100_000)
    kept = [f(x + float(i)) for i in range(6)]
    views = [y.numpy()[::7] for y in kept]
    del kept
    for _ in range(6):
        f(x)
    for i, view in enumerate(views):
        np.testing.assert_array_equal(view, (x + float(i) + 1.0).numpy()[::7])


def test_a_result_that_is_an_argument_is_another_array() -> None:
    f = compiled(lambda x, y: (y, x), vector(5), vector(5))
    x, y = vector(5), vector(5) + 1.0
    a, b = f(x, y)
    np.testing.assert_array_equal(a.numpy(), y.numpy())
    np.testing.assert_array_equal(b.numpy(), x.numpy())


def test_what_a_loop_keeps_has_a_size_that_depends_on_data() -> None:
    def f(x: Any) -> Any:
        while gt.reduce_sum(x) < 50.0:
            x = x * 1.5 + 0.1
        return x * x

    x = gt.constant([0.5, 1.0, 0.25], gt.float64)
    function = gt.function(f)
    with gt.GradientTape() as tape:  # the trips are saved between two programs
        tape.watch(x)
        y = function(x)
    with gt.GradientTape() as other:
        other.watch(x)
        wanted = f(x)
    np.testing.assert_allclose(y.numpy(), wanted.numpy(), rtol=1e-12)
    np.testing.assert_allclose(
        tape.gradient(y, x).numpy(), other.gradient(wanted, x).numpy(), rtol=1e-12
    )


# --- Failures -------------------------------------------------------------------------


def test_an_index_out_of_range_is_the_users_error() -> None:
    f = compiled(lambda x, i: x[i] * 2.0, vector(5), gt.constant(2))
    with pytest.raises(IndexError, match="7"):
        f(vector(5), gt.constant(7))
    assert float(f(vector(5), gt.constant(4))) == 4.0


def test_variables_stay_when_a_call_fails() -> None:
    v = gt.Variable([1.0, 2.0])

    @gt.function
    def f(i: Any) -> Any:
        v.assign(v * 2.0)
        return v[i]

    assert float(f(gt.constant(1))) == 4.0
    before = v.numpy().copy()
    with pytest.raises(IndexError):
        f(gt.constant(5))
    np.testing.assert_array_equal(v.numpy(), before)


def test_integers_divided_by_zero() -> None:
    f = compiled(lambda x, y: x // y, gt.constant([6, 7]), gt.constant([2, 3]))
    with pytest.raises(ZeroDivisionError):
        f(gt.constant([6, 7]), gt.constant([2, 0]))


def test_python_numbers_of_more_than_64_bits() -> None:
    def f(n: Any) -> Any:
        total = 1
        for _ in gt.range(n):
            total = total * 10
        return total

    function = compiled(f, gt.constant(3))
    assert int(function(gt.constant(18))) == 10**18
    with pytest.raises(gt.errors.RangeError, match="64 bits"):
        function(gt.constant(19))


# --- Stopping -------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="signals are sent in another way")
def test_a_long_loop_can_be_stopped() -> None:
    def f(x: Any) -> Any:
        count = gt.constant(0, gt.int64)
        while x > 0.0 and count < 10**10:  # some minutes
            x = x + 1e-9 * gt.sin(x)
            count += 1
        return x

    function = gt.function(f)
    assert float(function(gt.constant(-1.0))) == -1.0
    # A process that was started in the background may ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            function(gt.constant(1.0))
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 20.0
    assert float(function(gt.constant(-2.0))) == -2.0


# --- Threads --------------------------------------------------------------------------


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    def f(x: Any, y: Any) -> Any:
        z = gt.exp(gt.sin(x)) * gt.tanh(y) + gt.log(x * x + 1.0)
        table = gt.expand_dims(x[:300], 1) * gt.exp(-gt.abs(y[:1000]))
        return z, gt.reduce_sum(z), table, gt.reduce_sum(table, 0)

    x, y = vector(300_001), vector(300_001) * 0.5
    function = compiled(f, x, y)
    found = []
    for threads in (1, 2, 5):
        gt.config.set_num_threads(threads)
        try:
            found.append([out.numpy() for out in function(x, y)])
        finally:
            gt.config.set_num_threads(None)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_many_threads_call_at_once() -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in gt.range(20):
            y = gt.sin(y) + x
        return gt.reduce_sum(y), y

    function = gt.function(f)
    wanted = {n: f(vector(n))[1].numpy() for n in range(3, 11)}
    errors: list[BaseException] = []

    def work(n: int) -> None:
        try:
            for _ in range(20):
                np.testing.assert_allclose(function(vector(n))[1].numpy(), wanted[n])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


# --- Folds ----------------------------------------------------------------------------


def test_sums_are_as_accurate_as_pairwise_ones() -> None:
    x = np.full(2_000_000, 0.1, np.float32)
    f = compiled(lambda x: gt.reduce_sum(x), gt.constant(x))
    exact = float(np.sum(x, dtype=np.float64))
    error = abs(float(f(gt.constant(x))) - exact)
    assert error <= abs(float(np.sum(x)) - exact) + np.spacing(np.float32(exact))
    table = x.reshape(20_000, 100)
    g = compiled(lambda x: gt.reduce_sum(x, 0), gt.constant(table))
    exact_columns = table.sum(0, dtype=np.float64)
    np.testing.assert_allclose(g(gt.constant(table)).numpy(), exact_columns, rtol=2e-7)


def test_sums_of_float64_lose_little() -> None:
    x = np.tile([1e16, 1.0, -1e16], 100_000)
    f = compiled(lambda x: gt.reduce_sum(x), gt.constant(np.sort(x)))
    y = gt.constant(np.random.default_rng(0).permutation(x[: 3 * 1000]))
    assert abs(float(f(y)) - 1000.0) <= abs(float(np.sum(y.numpy())) - 1000.0) + 2e4


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_folds_of_what_is_no_number(bad: float) -> None:
    x = np.linspace(-1.0, 1.0, 5000)
    x[1234] = bad

    def f(x: Any) -> Any:
        return [
            gt.reduce_sum(x),
            gt.reduce_max(x),
            gt.reduce_min(x),
            gt.reduce_mean(x),
            gt.reduce_prod(x[1230:1240]),
        ]

    for a, b in zip(
        compiled(f, gt.constant(x))(gt.constant(x)), f(gt.constant(x)), strict=True
    ):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)


# --- Python on the way ----------------------------------------------------------------


def test_a_branch_that_calls_python_is_left_to_the_interpreter() -> None:
    def g(x: Any) -> Any:
        for i in gt.range(4):
            if x > 20.0:
                raise ValueError(f"{x} after trip {i}")
            x = x * 2.0
        return x

    function = compiled(g, gt.constant(1.0))
    assert float(function(gt.constant(1.0))) == 16.0
    with pytest.raises(ValueError, match=r"24\.0 after trip 3"):
        function(gt.constant(3.0))


def test_printing_in_a_branch(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        if x > 2.0:
            print("large:", x)
        return x + 1.0

    function = compiled(f, gt.constant(1.0))
    assert capsys.readouterr().out == ""
    assert float(function(gt.constant(5.0))) == 6.0
    assert capsys.readouterr().out.count("large:") == 1


def test_halves_on_a_processor_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    x = gt.constant([1.0, 2.0], gt.float16)
    f = gt.function(lambda x: x * 2.0)
    monkeypatch.setattr(host(), "has_halves", False)
    assert f(x).numpy().tolist() == [2.0, 4.0]
    assert "float16" in program(f, x).why_not
