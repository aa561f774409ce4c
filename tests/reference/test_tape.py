"""GradientTape: what it records, how it nests: G1 to G14, G36 to G42.

Each test carries the code of its line. Defects of TensorFlow (X5 to X8) are not
copied: the test holds the right behavior.
"""

import collections
import gc
import inspect
import threading
import tracemalloc

import numpy as np
import pytest

import gtape as gt
from tests.reference.content import near, values

Pair = collections.namedtuple("Pair", ["left", "right"])


# ---- 2.1 constructor and life cycle ---------------------------------------------


def test_g1_constructor_arguments():
    parameters = inspect.signature(gt.GradientTape).parameters
    assert list(parameters) == ["persistent", "watch_accessed_variables"]
    assert parameters["persistent"].default is False
    assert parameters["watch_accessed_variables"].default is True


def test_g1_nothing_else():
    with pytest.raises(TypeError, match="persist"):
        gt.GradientTape(persist=True)


def test_g2_exception_leaves_the_recorded_part_usable(x):
    tape = gt.GradientTape(persistent=True)

    def fail():
        with tape:
            y.append(x * x)
            raise KeyError("stop")

    y = []
    with pytest.raises(KeyError, match="stop"):
        fail()
    after = y[0] * 10.0
    assert tape.gradient(y[0], x).numpy() == 4.0
    assert tape.gradient(after, x) is None


def test_g2_exception_pops_the_tape(x):
    def fail():
        with gt.GradientTape():
            raise KeyError("stop")

    with gt.GradientTape() as outer:
        with pytest.raises(KeyError):
            fail()
        y = x * x
    assert outer.gradient(y, x).numpy() == 4.0


def test_g3_entering_an_active_tape():
    tape = gt.GradientTape()
    with tape, pytest.raises(ValueError, match=r"(?i)still recording|already"):
        tape.__enter__()


def test_g4_entering_again_continues(x, z):
    tape = gt.GradientTape(persistent=True)
    with tape:
        y = x * x
    with tape:
        w = y * z
    assert values(tape.gradient(w, [x, z])) == [12.0, 4.0]


def test_g4_between_the_blocks_nothing_is_recorded(x, z):
    tape = gt.GradientTape(persistent=True)
    with tape:
        y = x * x
    u = y * 10.0
    with tape:
        w = u * z
    assert values(tape.gradient(w, [x, z])) == [None, 40.0]


@pytest.mark.parametrize("first", ["gradient", "jacobian", "batch_jacobian"])
def test_g5_released_after_the_first_question(m, first):
    with gt.GradientTape() as tape:
        y = m * m
    getattr(tape, first)(y, m)
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(y, m)
    watched = tape.watched_variables()
    assert len(watched) == 1
    assert watched[0] is m


def test_g6_gradient_inside_the_block(x):
    with gt.GradientTape() as tape:
        y = x * x
        g = tape.gradient(y, x)
        after = x * 5.0
    assert g.numpy() == 4.0
    assert after.numpy() == 10.0
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(after, x)


@pytest.mark.filterwarnings("ignore")
def test_g6_persistent_tape_records_its_own_gradient(x):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x * x
        g = tape.gradient(y, x)
    assert g.numpy() == 12.0
    assert tape.gradient(g, x).numpy() == 12.0


class Memory:
    """Bytes of arrays alive, counted from where the block starts."""

    def __enter__(self):
        gc.collect()
        tracemalloc.start()
        return self

    def used(self):
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    def __exit__(self, *exc):
        tracemalloc.stop()


def long_chain(tape, source):
    with tape:
        y = source * 1e-3
        for _ in range(10):
            y = gt.exp(-y)
        return gt.reduce_sum(y)


def test_g7_gradient_frees_the_intermediates():
    source = gt.Variable(np.ones(100_000))
    with Memory() as memory:
        tape = gt.GradientTape()
        y = long_chain(tape, source)
        assert memory.used() > 5 * 800_000
        g = tape.gradient(y, source)
        assert memory.used() < 3 * 800_000
    assert g.shape == (100_000,)


def test_g7_del_frees_the_intermediates():
    source = gt.Variable(np.ones(100_000))
    with Memory() as memory:
        tape = gt.GradientTape(persistent=True)
        y = long_chain(tape, source)
        tape.gradient(y, source)
        assert memory.used() > 5 * 800_000
        del tape
        assert memory.used() < 3 * 800_000


def test_g7_nothing_is_kept_when_nothing_is_watched():
    source = gt.constant(np.ones(100_000))
    with Memory() as memory:
        tape = gt.GradientTape()
        y = long_chain(tape, source)
        assert memory.used() < 3 * 800_000
    assert tape.gradient(y, source) is None


def test_g8_unused_tape():
    assert gt.GradientTape().watched_variables() == ()
    with gt.GradientTape() as tape:
        pass
    assert tape.watched_variables() == ()


# ---- 2.2 watch ------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [
        lambda a, b: [a, b],
        lambda a, b: (a, b),
        lambda a, b: {"a": a, "b": [b]},
        Pair,
        lambda a, b: [Pair(a, {"deep": (b,)})],
    ],
)
def test_g9_watch_nested_structures(wrap):
    a, b = gt.constant(2.0), gt.constant(3.0)
    with gt.GradientTape() as tape:
        tape.watch(wrap(a, b))
        y = a * a * b
    assert values(tape.gradient(y, [a, b])) == [12.0, 4.0]


def test_g9_watch_a_variable_that_is_not_trainable():
    k = gt.Variable(2.0, trainable=False)
    with gt.GradientTape() as tape:
        tape.watch(k)
        y = k * k
    assert tape.gradient(y, k).numpy() == 4.0
    assert len(tape.watched_variables()) == 1
    assert tape.watched_variables()[0] is k


@pytest.mark.parametrize(("bad", "word"), [(3.0, "float"), (np.ones(2), "ndarray")])
def test_g10_watch_refuses_numbers_and_arrays(bad, word):
    with gt.GradientTape() as tape, pytest.raises(ValueError, match=word):
        tape.watch(bad)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", [3, True])
def test_g11_integer_and_bool_have_no_gradient(value):
    c = gt.constant(value)
    with gt.GradientTape() as tape:
        tape.watch(c)
        y = gt.cast(c, gt.float32) * 2.0
    assert tape.gradient(y, c) is None


def test_g11_watching_an_integer_warns():
    with gt.GradientTape() as tape, pytest.warns(Warning, match=r"(?i)float"):
        tape.watch(gt.constant(3))


def test_g12_only_what_follows_watch_counts():
    c = gt.constant(2.0)
    with gt.GradientTape() as tape:
        y = c * c
        tape.watch(c)
        w = c * 3.0
        s = y + w
    assert tape.gradient(s, c).numpy() == 3.0


def test_g12_watch_after_the_block_has_no_effect():
    c = gt.constant(2.0)
    with gt.GradientTape() as tape:
        y = c * c
    tape.watch(c)
    assert tape.gradient(y, c) is None


def test_g12_watch_before_the_first_with():
    tape = gt.GradientTape()
    with pytest.raises(gt.errors.TapeError, match=r"(?i)watch"):
        tape.watch(gt.constant(2.0))


def test_g12_tape_error_is_a_runtime_error():
    assert issubclass(gt.errors.TapeError, RuntimeError)


def test_g13_reading_watches():
    a = gt.Variable(2.0)
    b = gt.Variable(3.0)
    i = gt.Variable(4)
    k = gt.Variable(5.0, trainable=False)
    with gt.GradientTape() as tape:
        y = a * gt.cast(i, gt.float32) * k
    watched = tape.watched_variables()
    assert [any(w is u for w in watched) for u in (a, b, i, k)] == [
        True,
        False,
        True,
        False,
    ]
    assert values(tape.gradient(y, [a, b, i, k])) == [20.0, None, None, None]


def test_g13_creating_is_not_reading():
    with gt.GradientTape() as tape:
        gt.Variable(4.0)
    assert tape.watched_variables() == ()


@pytest.mark.parametrize("source", [0, 1])
def test_g14_equal_values_are_different_sources(source):
    c = gt.constant(2.0)
    with gt.GradientTape() as tape:
        tape.watch(c)
        d = gt.identity(c)
        y = d * d
    assert tape.gradient(y, (c, d)[source]).numpy() == 4.0


def test_g14_sibling_of_equal_value_is_not_connected():
    c = gt.constant(2.0)
    with gt.GradientTape() as tape:
        tape.watch(c)
        d = gt.identity(c)
        e = gt.identity(c)
        y = d * d
    assert tape.gradient(y, e) is None


# ---- 2.5 watched_variables, reset, stop_recording -------------------------------


def test_g36_order_of_construction(x, z):
    with gt.GradientTape() as tape:
        z * x
    watched = tape.watched_variables()
    assert isinstance(watched, tuple)
    assert len(watched) == 2
    assert watched[0] is x
    assert watched[1] is z


def test_g37_reset_forgets(x, z):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x
        tape.reset()
        w = y * z
    assert values(tape.gradient(w, [x, z])) == [None, 4.0]
    assert len(tape.watched_variables()) == 1
    assert tape.watched_variables()[0] is z


def test_g37_reset_forgets_watches():
    c = gt.constant(2.0)
    with gt.GradientTape() as tape:
        tape.watch(c)
        tape.reset()
        y = c * c
    assert tape.gradient(y, c) is None


def test_g37_reset_outside_the_block():
    with gt.GradientTape() as tape:
        pass
    with pytest.raises(ValueError, match=r"(?i)not recording"):
        tape.reset()


def test_g38_stop_recording(x):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x
        with tape.stop_recording():
            u = y * 10.0
        w = y * u
    assert tape.gradient(u, x) is None
    assert tape.gradient(w, x).numpy() == 160.0  # u is the constant 40


def test_g38_never_entered():
    tape = gt.GradientTape()
    with pytest.raises(RuntimeError, match=r"(?i)record"):
        tape.stop_recording().__enter__()


def test_g38_finished():
    with gt.GradientTape() as tape:
        pass
    with pytest.raises(ValueError, match=r"(?i)not recording"):
        tape.stop_recording().__enter__()


def test_g38_gradient_inside_stop_recording(x):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x * x
        with tape.stop_recording():
            g = tape.gradient(y, x)
        w = y * g
    assert g.numpy() == 12.0
    assert tape.gradient(g, x) is None
    assert tape.gradient(w, x).numpy() == 144.0


def test_g38_recording_resumes_after_an_exception(x):
    def fail(tape):
        with tape.stop_recording():
            raise KeyError("stop")

    with gt.GradientTape() as tape:
        with pytest.raises(KeyError):
            fail(tape)
        y = x * x
    assert tape.gradient(y, x).numpy() == 4.0


# ---- 2.6 nesting, higher order, threads -----------------------------------------


def test_g39_second_order(x):
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = x * x * x
        g = inner.gradient(y, x)
    assert g.numpy() == 12.0
    assert outer.gradient(g, x).numpy() == 12.0


def test_g39_third_order(x):
    with gt.GradientTape() as third:
        with gt.GradientTape() as second:
            with gt.GradientTape() as first:
                y = x**4
            g1 = first.gradient(y, x)
        g2 = second.gradient(g1, x)
    g3 = third.gradient(g2, x)
    near(g1, 32.0)
    near(g2, 48.0)
    near(g3, 48.0)


def test_g40_inner_gradient_after_the_outer_block(x):
    with gt.GradientTape() as outer, gt.GradientTape() as inner:
        y = x * x * x
    g = inner.gradient(y, x)
    assert g.numpy() == 12.0
    assert outer.gradient(g, x) is None


def in_thread(function):
    """The result of the function, run in another thread; its exception is raised."""
    box = []

    def target():
        try:
            box.append((function(), None))
        except BaseException as error:
            box.append((None, error))

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    result, error = box[0]
    if error is not None:
        raise error
    return result


def test_g41_other_thread_is_not_recorded(x):
    with gt.GradientTape() as tape:
        y = x * x
        w = in_thread(lambda: x * 5.0)
        s = y + w
    assert s.numpy() == 14.0
    assert tape.gradient(s, x).numpy() == 4.0


def test_g41_gradient_from_another_thread(x):
    with gt.GradientTape() as tape:
        y = x * x
    assert in_thread(lambda: tape.gradient(y, x)).numpy() == 4.0


def test_g41_tapes_of_many_threads_do_not_mix():
    def work(factor):
        u = gt.Variable(2.0)
        out = []
        for _ in range(50):
            with gt.GradientTape() as tape:
                y = u * u * factor
            out.append(float(tape.gradient(y, u)))
        return out

    results = {}
    threads = [
        threading.Thread(target=lambda k=k: results.update({k: work(float(k))}))
        for k in range(1, 5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: [4.0 * k] * 50 for k in range(1, 5)}


def test_g42_many_tapes_record_at_once(x):
    c = gt.constant(3.0)
    with gt.GradientTape() as one, gt.GradientTape() as two:
        two.watch(c)
        y = x * x * c
    assert values(one.gradient(y, [x, c])) == [12.0, None]
    assert values(two.gradient(y, [x, c])) == [12.0, 4.0]
