"""GradientTape and everything around it: G1 to G42, G49 to G54, G57 to G63.

Each test carries the code of its line. Defects of TensorFlow (X5 to X8) are not
copied: the test holds the right behavior.
"""

import collections
import gc
import inspect
import re
import threading
import tracemalloc

import numpy as np
import pytest

import gtape as gt

Pair = collections.namedtuple("Pair", ["left", "right"])


@pytest.fixture
def x():
    return gt.Variable(2.0)


@pytest.fixture
def z():
    return gt.Variable(3.0)


@pytest.fixture
def v():
    return gt.Variable([1.0, 2.0, 3.0])


@pytest.fixture
def m():
    return gt.Variable([[1.0, 2.0], [3.0, 4.0]])


def values(tree):
    """The tensors of a list or tuple as plain Python values, None kept."""
    return [None if t is None else dense(t).tolist() for t in tree]


def dense(tensor):
    assert tensor is not None
    return np.asarray(gt.convert_to_tensor(tensor))


def near(tensor, expected, tol=1e-6):
    np.testing.assert_allclose(dense(tensor), expected, rtol=tol, atol=tol)


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


# ---- 2.3 gradient ---------------------------------------------------------------


def test_g15_structure_of_the_sources(x, z):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x * z
    assert tape.gradient(y, x).numpy() == 12.0
    assert tape.gradient(y, []) == []
    r = tape.gradient(y, [x, z])
    assert type(r) is list
    assert values(r) == [12.0, 4.0]
    r = tape.gradient(y, (x, z))
    assert type(r) is tuple
    assert values(r) == [12.0, 4.0]
    r = tape.gradient(y, {"b": x, "a": z})
    assert type(r) is dict
    assert (r["b"].numpy(), r["a"].numpy()) == (12.0, 4.0)


def test_g15_named_tuple_and_nesting(x, z):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x * z
    r = tape.gradient(y, Pair(x, z))
    assert type(r) is Pair
    assert (r.left.numpy(), r.right.numpy()) == (12.0, 4.0)
    r = tape.gradient(y, [{"deep": (x, [z])}])
    assert (r[0]["deep"][0].numpy(), r[0]["deep"][1][0].numpy()) == (12.0, 4.0)


def test_g15_duplicates_get_the_full_gradient(x):
    with gt.GradientTape() as tape:
        y = x * x * x
    assert values(tape.gradient(y, [x, x])) == [12.0, 12.0]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda a, b: [a, b],
        lambda a, b: (a, [b]),
        lambda a, b: {"a": a, "b": b},
        lambda a, b: [a, gt.constant(7.0), b],
    ],
)
def test_g16_structured_target_is_summed(x, wrap):
    with gt.GradientTape() as tape:
        target = wrap(x * x, x * 3.0)
    assert tape.gradient(target, x).numpy() == 7.0


def test_g17_target_may_be_the_source(x):
    with gt.GradientTape() as tape:
        pass
    assert tape.gradient(x, x).numpy() == 1.0


def test_g17_target_variable_and_watched_tensor(x):
    c = gt.constant(5.0)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(c)
        y = x * c
    assert tape.gradient(c, c).numpy() == 1.0
    assert tape.gradient(y, y).numpy() == 1.0
    assert tape.gradient(x, c) is None


def test_g18_target_that_is_not_scalar(v):
    with gt.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (lambda y: None, "target"),
        (lambda y: [y, None], r"(?s)target.*\b1\b"),
        (lambda y: 3.0, "target"),
        (lambda y: [y, y, 3.0], r"(?s)target.*\b2\b"),
    ],
)
def test_g19_bad_target_names_the_position(x, target, message):
    with gt.GradientTape() as tape:
        y = x * x
    with pytest.raises(TypeError, match=message):
        tape.gradient(target(y), x)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (lambda x: None, "source"),
        (lambda x: [x, None], r"(?s)source.*\b1\b"),
        (lambda x: 3.0, "source"),
        (lambda x: [x, 3.0], r"(?s)source.*\b1\b"),
        (lambda x: np.ones(2), "source"),
    ],
)
def test_g19_bad_source_names_the_position(x, sources, message):
    with gt.GradientTape() as tape:
        y = x * x
    with pytest.raises(TypeError, match=message):
        tape.gradient(y, sources(x))


def test_g20_unconnected_is_none(x, z):
    with gt.GradientTape() as tape:
        y = x * x
    assert values(tape.gradient(y, [x, z])) == [4.0, None]


def test_g20_zero_has_shape_and_dtype_of_the_source(x):
    u = gt.Variable(np.ones((2, 3)))
    i = gt.Variable([1, 2])
    with gt.GradientTape() as tape:
        y = x * x
    gu, gi = tape.gradient(y, [u, i], unconnected_gradients="zero")
    assert gu.dtype == gt.float64
    assert gu.numpy().tolist() == [[0.0] * 3] * 2
    assert gi.dtype == gt.int32
    assert gi.numpy().tolist() == [0, 0]


def test_g20_the_enumeration_works_too(x, z):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x
    zero, none = gt.UnconnectedGradients.ZERO, gt.UnconnectedGradients.NONE
    assert tape.gradient(y, z, unconnected_gradients=zero).numpy() == 0.0
    assert tape.gradient(y, z, unconnected_gradients=none) is None


def test_g20_unknown_value(x):
    with gt.GradientTape() as tape:
        y = x * x
    with pytest.raises(ValueError, match="bad"):
        tape.gradient(y, x, unconnected_gradients="bad")


def test_g20_error_raises_a_gradient_error(x, z):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x
    assert issubclass(gt.errors.GradientError, ValueError)
    with pytest.raises(gt.errors.GradientError, match=re.escape(z.name)):
        tape.gradient(y, [x, z], unconnected_gradients="error")
    assert values(tape.gradient(y, [x], unconnected_gradients="error")) == [4.0]


@pytest.mark.parametrize(
    "seed",
    [
        lambda: gt.constant([1.0, 0.0, 10.0]),
        lambda: np.array([1.0, 0.0, 10.0], np.float32),
        lambda: [1.0, 0.0, 10.0],
    ],
)
def test_g21_output_gradients(v, seed):
    with gt.GradientTape() as tape:
        y = v * v
    g = tape.gradient(y, v, output_gradients=seed())
    assert g.dtype == gt.float32
    assert g.numpy().tolist() == [2.0, 0.0, 60.0]


@pytest.mark.parametrize("seed", [10.0, np.float32(10.0)])
def test_g21_scalar_broadcasts(v, seed):
    with gt.GradientTape() as tape:
        y = v * v
    g = tape.gradient(y, v, output_gradients=seed)
    assert g.numpy().tolist() == [20.0, 40.0, 60.0]


def test_g21_structure_of_the_target(v):
    with gt.GradientTape() as tape:
        target = {"a": v * v, "b": gt.reduce_sum(v) * 3.0}
    seeds = {"b": gt.constant(1.0), "a": gt.constant([1.0, 0.0, 10.0])}
    g = tape.gradient(target, v, output_gradients=seeds)
    assert g.numpy().tolist() == [5.0, 3.0, 63.0]


def test_g21_wrong_shape(v):
    with gt.GradientTape() as tape:
        y = v * v
    with pytest.raises(ValueError, match=r"(?s)2.*3|3.*2"):
        tape.gradient(y, v, output_gradients=gt.constant([1.0, 2.0]))


def test_g21_wrong_structure(v):
    with gt.GradientTape() as tape:
        target = [v * v, v * 2.0]
    seeds = [gt.constant([1.0, 1.0, 1.0])]
    with pytest.raises(ValueError, match="output_gradients"):
        tape.gradient(target, v, output_gradients=seeds)


def test_g21_float64_seed_never_changes_the_dtype_of_the_gradient(v):
    with gt.GradientTape() as tape:
        y = v * v
    try:
        g = tape.gradient(y, v, output_gradients=np.ones(3))
    except (TypeError, ValueError):  # as TensorFlow
        return
    assert g.dtype == gt.float32
    assert g.numpy().tolist() == [2.0, 4.0, 6.0]


def test_x5_output_gradients_as_lists_keep_their_place(v):
    with gt.GradientTape() as tape:
        target = [v * v, gt.reduce_sum(v) * 3.0]
    g = tape.gradient(target, v, output_gradients=[[1.0, 0.0, 10.0], 1.0])
    assert g.numpy().tolist() == [5.0, 3.0, 63.0]


def test_x6_none_in_output_gradients_means_ones(v):
    with gt.GradientTape() as tape:
        target = [v * v, v * 3.0]
    g = tape.gradient(target, v, output_gradients=[None, gt.constant([1.0, 0.0, 2.0])])
    assert g.numpy().tolist() == [5.0, 4.0, 12.0]


@pytest.mark.parametrize(
    "name", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
)
def test_g22_gradient_has_the_dtype_of_the_source(name):
    dtype = getattr(gt, name)
    u = gt.Variable(gt.cast(gt.constant(1.5), dtype))
    with gt.GradientTape() as tape:
        y = u * u
    g = tape.gradient(y, u)
    assert g.dtype == dtype
    assert complex(g.numpy()) == 3.0


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64"])
def test_g22_cast_in_between_is_cast_back(x, name):
    with gt.GradientTape() as tape:
        y = gt.cast(x * x, getattr(gt, name)) * 2.0
    g = tape.gradient(y, x)
    assert g.dtype == gt.float32
    assert g.numpy() == 8.0


def test_g22_trip_through_an_integer_cuts(x):
    with gt.GradientTape() as tape:
        y = gt.cast(gt.cast(x * x, gt.int32), gt.float32) * 2.0
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda u: u * u, 2 - 4j),
        (lambda u: gt.abs(u) ** 2, 2 + 4j),
        (lambda u: gt.real(u * u), 2 - 4j),
        (lambda u: gt.imag(u * u), 4 + 2j),
    ],
)
def test_g23_complex_gradients(f, expected):
    u = gt.Variable(1 + 2j)
    with gt.GradientTape() as tape:
        y = f(u)
    g = tape.gradient(y, u)
    assert g.dtype == gt.complex128
    near(g, expected)


def test_g24_gather_adds_duplicates(v):
    with gt.GradientTape() as tape:
        y = gt.gather(v, [0, 2, 0]) * gt.constant([1.0, 10.0, 100.0])
    near(tape.gradient(y, v), [101.0, 0.0, 10.0])


def test_g24_two_gathers_of_one_source(v):
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(gt.gather(v, [0, 1])) + gt.reduce_sum(gt.gather(v, [1]) * 5.0)
    near(tape.gradient(y, v), [1.0, 6.0, 0.0])


def test_g24_gather_and_dense_use():
    emb = gt.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(gt.gather(emb, [1, 1])) + gt.reduce_sum(emb * emb)
    near(tape.gradient(y, emb), [[2.0, 4.0], [8.0, 10.0], [10.0, 12.0]])


def test_g24_watched_tensor_and_plain_indexing():
    emb = gt.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(emb)
        rows = gt.gather(emb, [2, 0])
        row = emb[1]
    near(tape.gradient(rows, emb), [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    near(tape.gradient(row, emb), [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])


def test_g25_primitive_without_gradient_gives_none(v):
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(gt.unique(v)[0])
    assert tape.gradient(y, v) is None


@pytest.mark.parametrize(
    "f",
    [
        gt.floor,
        gt.ceil,
        gt.round,
        gt.sign,
        lambda u: u // 2.0,
        gt.argmax,
        lambda u: u > 1.0,
        lambda u: gt.cast(u, gt.int32),
    ],
    ids=["floor", "ceil", "round", "sign", "floordiv", "argmax", "greater", "cast"],
)
def test_g26_none_gradients(v, f):
    with gt.GradientTape() as tape:
        y = gt.cast(f(v), gt.float32) * 2.0
    assert tape.gradient(y, v) is None


def test_g27_reading_records_the_value_of_that_time(x):
    with gt.GradientTape(persistent=True) as tape:
        y = x * x
        x.assign(5.0)
        w = x * x
        s = y + w
    x.assign(100.0)
    assert tape.gradient(y, x).numpy() == 4.0
    assert tape.gradient(w, x).numpy() == 10.0
    assert tape.gradient(s, x).numpy() == 14.0


def test_g28_assign_cuts_the_assigned_value(x):
    b = gt.Variable(7.0)
    with gt.GradientTape() as tape:
        r = x.assign(b * 3.0)
        y = r * r
    assert values(tape.gradient(y, [x, b])) == [42.0, None]


def test_g28_slice_assign_cuts_too(v):
    b = gt.Variable(7.0)
    with gt.GradientTape() as tape:
        v[1].assign(b * 2.0)
        y = gt.reduce_sum(v * v)
    assert values(tape.gradient(y, [v, b])) == [[2.0, 28.0, 6.0], None]


# ---- 2.4 jacobian and batch_jacobian --------------------------------------------


def test_g29_jacobian_vector(v):
    with gt.GradientTape() as tape:
        y = v * v
    near(tape.jacobian(y, v), np.diag([2.0, 4.0, 6.0]))


def test_g29_jacobian_scalar(x):
    with gt.GradientTape() as tape:
        y = x * x
    j = tape.jacobian(y, x)
    assert j.shape == ()
    assert j.numpy() == 4.0


def test_g29_jacobian_matrix(m):
    with gt.GradientTape() as tape:
        y = m @ m
    j = tape.jacobian(y, m)
    a, eye = m.numpy(), np.eye(2)
    expected = np.einsum("ik,lj->ijkl", eye, a) + np.einsum("ik,jl->ijkl", a, eye)
    assert j.shape == (2, 2, 2, 2)
    near(j, expected)


def test_g29_jacobian_of_a_sum_and_structured_sources(v, x):
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(v) * x
    j = tape.jacobian(y, {"v": v, "x": [x]})
    assert j["v"].shape == (3,)
    near(j["v"], [2.0, 2.0, 2.0])
    near(j["x"][0], 6.0)


def test_g29_jacobian_of_a_list_is_refused(v):
    with gt.GradientTape() as tape:
        y = v * v
    with pytest.raises(TypeError, match="target"):
        tape.jacobian([y, y], v)


def test_g30_unconnected_jacobian(v):
    u = gt.Variable([1.0, 2.0])
    with gt.GradientTape(persistent=True) as tape:
        y = v * v
    assert tape.jacobian(y, u) is None
    j = tape.jacobian(y, u, unconnected_gradients="zero")
    assert j.shape == (3, 2)
    assert not j.numpy().any()


def test_g31_without_pfor_on_a_persistent_tape(v):
    with gt.GradientTape(persistent=True) as tape:
        y = v * v
    j = tape.jacobian(y, v, parallel_iterations=2, experimental_use_pfor=False)
    near(j, np.diag([2.0, 4.0, 6.0]))


def test_g32_hessian(v):
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = gt.reduce_sum(v**3)
        g = inner.gradient(y, v)
    near(outer.jacobian(g, v), np.diag([6.0, 12.0, 18.0]))


def test_g33_jacobian_again_and_again(v):
    for _ in range(20):
        with gt.GradientTape() as tape:
            y = v * v
        near(tape.jacobian(y, v), np.diag([2.0, 4.0, 6.0]))


@pytest.mark.parametrize("pfor", [True, False])
def test_g34_batch_jacobian(m, pfor):
    with gt.GradientTape(persistent=True) as tape:
        y = m * m
    j = tape.batch_jacobian(y, m, experimental_use_pfor=pfor)
    near(j, [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]])


def test_g34_batch_jacobian_of_higher_rank():
    u = gt.Variable(np.arange(24.0).reshape(2, 3, 4))
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(u * u, axis=2)
    j = tape.batch_jacobian(y, u)
    assert j.shape == (2, 3, 3, 4)
    near(j, np.einsum("bik,ij->bijk", 2 * u.numpy(), np.eye(3)))


def test_g34_first_dimensions_must_agree(m):
    with gt.GradientTape() as tape:
        y = gt.concat([m, m[:1]], axis=0)
    with pytest.raises(ValueError, match=r"(?s)3.*2"):
        tape.batch_jacobian(y, m)


def test_g34_rank_one_is_refused(v):
    with gt.GradientTape() as tape:
        y = v * v
    with pytest.raises(ValueError, match=r"(?i)rank|dimension"):
        tape.batch_jacobian(y, v)


@pytest.mark.parametrize("option", ["none", "zero"])
def test_g34_unconnected_batch_jacobian_is_zero(m, option):
    u = gt.Variable(np.ones((2, 3), np.float32))
    with gt.GradientTape() as tape:
        y = m * m
    j = tape.batch_jacobian(y, u, unconnected_gradients=option)
    assert j.shape == (2, 2, 3)
    assert not j.numpy().any()


def test_g34_list_of_sources_is_refused(m):
    with gt.GradientTape() as tape:
        y = m * m
    with pytest.raises((TypeError, ValueError), match=r"(?i)source"):
        tape.batch_jacobian(y, [m])


def test_g35_jacobian_of_gather_is_dense(v):
    with gt.GradientTape() as tape:
        y = gt.gather(v, [2, 0, 2]) * 2.0
    expected = [[0.0, 0.0, 2.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    near(tape.jacobian(y, v), expected)


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


# ---- 2.8 custom_gradient, stop_gradient, recompute_grad, grad_pass_through ------


@gt.custom_gradient
def times_with_own_rule(a, b):
    def grad(upstream):
        return upstream * 10.0, upstream * 20.0

    return a * b, grad


def test_g49_own_rule_is_used(x, z):
    with gt.GradientTape() as tape:
        y = times_with_own_rule(x, z) * 2.0
    assert y.numpy() == 12.0
    assert values(tape.gradient(y, [x, z])) == [20.0, 40.0]


def test_g49_works_without_a_tape(x, z):
    assert times_with_own_rule(x, z).numpy() == 6.0


def test_g49_none_is_allowed(x, z):
    @gt.custom_gradient
    def f(a, b):
        return a * b, lambda upstream: (upstream * 10.0, None)

    with gt.GradientTape() as tape:
        y = f(x, z)
    assert values(tape.gradient(y, [x, z])) == [10.0, None]


def test_g49_keyword_arguments_are_not_differentiated(x, z):
    @gt.custom_gradient
    def f(a, scale=1.0):
        return a * scale, lambda upstream: upstream * 10.0

    with gt.GradientTape() as tape:
        y = f(x, scale=z)
    assert y.numpy() == 6.0
    assert values(tape.gradient(y, [x, z])) == [10.0, None]


def test_g49_nested_inputs(x, z):
    @gt.custom_gradient
    def f(inputs):
        def grad(upstream):
            return upstream * 10.0, upstream * 20.0

        return inputs["a"] * inputs["b"], grad

    with gt.GradientTape() as tape:
        y = f({"a": x * 1.0, "b": z * 1.0})
    assert values(tape.gradient(y, [x, z])) == [10.0, 20.0]


def two_outputs(seen):
    @gt.custom_gradient
    def f(a):
        def grad(first, second):
            seen.append((float(first), float(second)))
            return first * 10.0 + second * 100.0

        return (a * a, a * 3.0), grad

    return f


def test_g49_several_outputs(x):
    seen = []
    with gt.GradientTape() as tape:
        first, second = two_outputs(seen)(x)
        y = first + second * 2.0
    assert y.numpy() == 16.0
    assert tape.gradient(y, x).numpy() == 210.0
    assert seen == [(1.0, 2.0)]


def test_g49_unused_output_has_zero_upstream(x):
    seen = []
    with gt.GradientTape() as tape:
        first, _ = two_outputs(seen)(x)
    assert tape.gradient(first, x).numpy() == 10.0
    assert seen == [(1.0, 0.0)]


def test_g50_wrong_number_of_gradients(x, z):
    @gt.custom_gradient
    def f(a, b):
        return a * b, lambda upstream: (upstream,)

    with gt.GradientTape() as tape:
        y = f(x, z)
    with pytest.raises(ValueError, match=r"(?s)2.*1"):
        tape.gradient(y, [x, z])


def test_g51_function_that_reads_variables(x, z):
    @gt.custom_gradient
    def f(a):
        def grad(upstream, variables=None):
            assert len(variables) == 1
            assert variables[0] is z
            return upstream * 10.0, [upstream * 100.0]

        return a * z, grad

    with gt.GradientTape() as tape:
        y = f(x) * 2.0
    assert y.numpy() == 12.0
    assert values(tape.gradient(y, [x, z])) == [20.0, 200.0]


def test_g51_without_the_keyword(x, z):
    @gt.custom_gradient
    def f(a):
        return a * z, lambda upstream: upstream * 10.0

    def use():
        with gt.GradientTape() as tape:
            y = f(x)
        return tape.gradient(y, x)

    with pytest.raises(TypeError, match="variables"):
        use()


def test_g52_second_order_differentiates_the_rule(x):
    @gt.custom_gradient
    def cube(a):
        return a * a * a, lambda upstream: upstream * a * a * 5.0

    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = cube(x)
        g = inner.gradient(y, x)
    assert g.numpy() == 20.0
    assert outer.gradient(g, x).numpy() == 20.0


@pytest.mark.parametrize("result", [lambda a: a * a, lambda a: None])
def test_g52_function_that_returns_no_pair(x, result):
    f = gt.custom_gradient(result)
    with pytest.raises(TypeError, match=r"(?i)grad"):
        f(x)


def test_x8_gradient_of_wrong_shape(x):
    @gt.custom_gradient
    def f(a):
        return a * a, lambda upstream: upstream * gt.ones(5)

    with gt.GradientTape() as tape:
        y = f(x)
    with pytest.raises(gt.errors.ShapeError, match=r"(?s)5"):
        tape.gradient(y, x)


def test_x8_shape_error_is_a_value_error():
    assert issubclass(gt.errors.ShapeError, ValueError)


def test_g53_stop_gradient(x):
    with gt.GradientTape() as tape:
        y = gt.stop_gradient(x * x) * x
    assert y.numpy() == 8.0
    assert tape.gradient(y, x).numpy() == 4.0


def test_g53_stop_gradient_alone_is_none(x):
    with gt.GradientTape() as outer, gt.GradientTape() as inner:
        y = gt.stop_gradient(x * x)
    assert inner.gradient(y, x) is None
    assert outer.gradient(y, x) is None


def test_g53_grad_pass_through(x):
    with gt.GradientTape() as tape:
        y = gt.grad_pass_through(gt.round)(x * 1.7)
    assert y.numpy() == 3.0
    near(tape.gradient(y, x), 1.7)


def counting_sin(calls):
    def f(a):
        calls.append(1)
        return gt.sin(a)

    return f


def test_g54_recompute_grad_calls_twice(x):
    calls = []
    with gt.GradientTape() as tape:
        y = gt.recompute_grad(counting_sin(calls))(x)
    assert len(calls) == 1
    near(tape.gradient(y, x), np.cos(2.0))
    assert len(calls) == 2


def test_g54_recompute_grad_of_captured_variables(x, z):
    with gt.GradientTape() as tape:
        y = gt.recompute_grad(lambda a: a * a * z)(x)
    assert values(tape.gradient(y, [x, z])) == [12.0, 4.0]


def test_g54_recompute_grad_second_order(x):
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = gt.recompute_grad(gt.sin)(x)
        g = inner.gradient(y, x)
    near(g, np.cos(2.0))
    near(outer.gradient(g, x), -np.sin(2.0))


# ---- 2.9 forward mode -----------------------------------------------------------


def test_g57_jvp_of_a_tensor():
    c = gt.constant(2.0)
    with gt.ForwardAccumulator(primals=c, tangents=gt.constant(10.0)) as acc:
        y = c * c
    assert acc.jvp(y).numpy() == 40.0


def test_g57_jvp_of_variables(x, z):
    with gt.ForwardAccumulator([x, z], [gt.constant(1.0), gt.constant(10.0)]) as acc:
        y = x * x * z
    assert acc.jvp(y).numpy() == 12.0 + 40.0


def test_g57_structure_and_unconnected(x, z):
    other = gt.constant([1.0, 2.0])
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        y = x * x
        u = z * other
    r = acc.jvp({"y": y, "rest": [u, x]})
    assert r["y"].numpy() == 4.0
    assert r["rest"][0] is None
    assert r["rest"][1].numpy() == 1.0
    zero = acc.jvp(u, unconnected_gradients="zero")
    assert zero.numpy().tolist() == [0.0, 0.0]


def test_g57_matching_structures(x, v):
    primals = {"x": x, "v": (v,)}
    tangents = {"x": gt.constant(1.0), "v": (gt.constant([1.0, 0.0, 2.0]),)}
    with gt.ForwardAccumulator(primals, tangents) as acc:
        y = gt.reduce_sum(v * v) * x
    assert acc.jvp(y).numpy() == 14.0 + 2.0 * (2.0 + 12.0)


def test_g57_after_the_block_nothing_is_followed(x):
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        y = x * x
    late = y * 3.0
    assert acc.jvp(y).numpy() == 4.0
    assert acc.jvp(late) is None


def test_g58_same_primal_twice(x):
    with pytest.raises(ValueError, match=r"(?i)primal|twice|multiple"):
        gt.ForwardAccumulator([x, x], [gt.constant(1.0), gt.constant(1.0)])


def test_g58_structures_differ(x, z):
    with pytest.raises(ValueError, match=r"(?i)structure|primals|tangents"):
        gt.ForwardAccumulator([x, z], [gt.constant(1.0)])


def test_g58_dtypes_differ(x):
    with pytest.raises((TypeError, ValueError), match="float64"):
        gt.ForwardAccumulator(x, gt.constant(1.0, dtype=gt.float64))


def test_g58_shapes_differ(x):
    with pytest.raises(ValueError, match=r"(?i)shape"):
        gt.ForwardAccumulator(x, gt.constant([1.0, 2.0]))


def test_g58_python_number_as_primal():
    with pytest.raises(TypeError, match="float"):
        gt.ForwardAccumulator(2.0, gt.constant(1.0))


def test_g59_forward_over_reverse(x):
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        with gt.GradientTape() as tape:
            y = x**3
        g = tape.gradient(y, x)
    near(g, 12.0)
    near(acc.jvp(g), 12.0)


def test_g59_hessian_vector_product(v):
    with gt.ForwardAccumulator(v, gt.constant([1.0, 0.0, 2.0])) as acc:
        with gt.GradientTape() as tape:
            y = gt.reduce_sum(v) * gt.reduce_sum(v**3)
        g = tape.gradient(y, v)
    a, t = v.numpy(), np.array([1.0, 0.0, 2.0])
    hessian = 3 * a[:, None] ** 2 + 3 * a[None, :] ** 2 + np.diag(6 * a * a.sum())
    near(acc.jvp(g), hessian @ t, tol=1e-5)


def test_g59_reverse_over_forward(x):
    with gt.GradientTape() as tape:
        with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
            y = x**3
        g = acc.jvp(y)
    near(g, 12.0)
    near(tape.gradient(g, x), 12.0)


def test_g59_x7_forward_over_forward(x):
    for primal in (x, gt.constant(2.0)):
        with gt.ForwardAccumulator(primal, gt.constant(1.0)) as outer:
            with gt.ForwardAccumulator(primal, gt.constant(1.0)) as inner:
                y = primal * primal * primal
            g = inner.jvp(y)
        near(g, 12.0)
        near(outer.jvp(g), 12.0)


def test_g59_through_a_while_loop(x):
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        y = x
        while y < 100.0:
            y = y * y
    assert acc.jvp(y).numpy() == 1024.0


def test_g60_custom_gradient_is_respected(x):
    @gt.custom_gradient
    def f(a):
        return a * a, lambda upstream: upstream * 100.0

    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        y = f(x)
    assert y.numpy() == 4.0
    assert acc.jvp(y).numpy() == 100.0  # TensorFlow: 4, the derivative of the body


def test_g61_assigning_loses_the_tangent(x, z):
    with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        z.assign(x * x)
        y = z * 2.0
    assert y.numpy() == 8.0
    assert acc.jvp(y) is None


def quadratic(u):
    return gt.reduce_sum(u * u * u)


def test_g62_grad():
    g = gt.grad(quadratic)(gt.constant([1.0, 2.0]))
    near(g, [3.0, 12.0])


def test_g62_value_and_grad():
    y, g = gt.value_and_grad(quadratic)(gt.constant([1.0, 2.0]))
    near(y, 9.0)
    near(g, [3.0, 12.0])


def test_g62_vjp():
    y, pull = gt.vjp(lambda u: u * u, gt.constant([1.0, 2.0]))
    near(y, [1.0, 4.0])
    [g] = pull(gt.constant([10.0, 100.0]))
    near(g, [20.0, 400.0])


def test_g62_jvp():
    primal, tangent = gt.constant([1.0, 2.0]), gt.constant([10.0, 100.0])
    y, t = gt.jvp(lambda u: u * u, (primal,), (tangent,))
    near(y, [1.0, 4.0])
    near(t, [20.0, 400.0])


def test_g62_hvp():
    primal, tangent = gt.constant([1.0, 2.0]), gt.constant([10.0, 100.0])
    near(gt.hvp(quadratic, (primal,), (tangent,))[0], [60.0, 1200.0])


def test_g62_jacobian_and_hessian():
    u = gt.constant([1.0, 2.0])
    near(gt.jacobian(lambda a: a * a)(u), np.diag([2.0, 4.0]))
    near(gt.hessian(quadratic)(u), np.diag([6.0, 12.0]))


def test_g62_transforms_nest():
    third = gt.grad(gt.grad(gt.grad(lambda u: u**4)))
    near(third(gt.constant(2.0)), 48.0)


# ---- 2.10 checks ----------------------------------------------------------------


def test_g63_check_grads_accepts_right_gradients():
    gt.testing.check_grads(lambda a, b: gt.sin(a) * b, 0.3, 1.7, order=2)


def test_g63_check_grads_finds_wrong_gradients():
    @gt.custom_gradient
    def f(a):
        return a * a, lambda upstream: upstream * a * 2.1

    with pytest.raises(AssertionError):
        gt.testing.check_grads(f, 1.5, order=1)


@pytest.mark.parametrize(("value", "word"), [(np.inf, "(?i)inf"), (np.nan, "(?i)nan")])
def test_g63_check_numerics(value, word):
    t = gt.constant([1.0, value])
    with pytest.raises((ValueError, ArithmeticError), match=word) as caught:
        gt.debugging.check_numerics(t, "after the division")
    assert "after the division" in str(caught.value)


def test_g63_check_numerics_returns_good_tensors(v):
    t = gt.debugging.check_numerics(v * 2.0, "never seen")
    assert t.numpy().tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("f", [gt.maximum, gt.minimum])
def test_x19_ties_give_all_to_the_first_argument(f):
    a, b = gt.Variable(2.0), gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y = f(a, b)
    assert values(tape.gradient(y, [a, b])) == [1.0, 0.0]
