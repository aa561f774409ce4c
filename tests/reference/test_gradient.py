"""`GradientTape.gradient`, line by line.

Each test carries the code of its line. Defects of TensorFlow (X5 to X8) are not
copied: the test holds the right behavior.
"""

import collections
import re

import numpy as np
import pytest

import gtape as gt
from tests.reference.content import near, values

Pair = collections.namedtuple("Pair", ["left", "right"])


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
