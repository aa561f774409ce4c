"""Random numbers: seeds, generators, distributions, gradients and arguments."""

import copy
import pickle
import threading

import numpy as np
import pytest
import scipy.special
import scipy.stats

import gtape as gt
from gtape import philox
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    GradientError,
    RangeError,
    ShapeError,
    TensorMemoryError,
)
from gtape.ops import random

DRAWS = [
    lambda g: g.uniform([3]),
    lambda g: g.uniform([3], 0, 100, dtype="int32"),
    lambda g: g.randint([3], 0, 100),
    lambda g: g.normal([3], 1.0, 2.0),
    lambda g: g.truncated_normal([3]),
    lambda g: g.bernoulli([30], 0.5),
    lambda g: g.categorical([[0.0, 1.0]], 30),
    lambda g: g.gamma([3], [0.5, 2.0], 3.0),
    lambda g: g.permutation(30),
    lambda g: g.shuffle(gt.range(30)),
]


def equal(a, b):
    return a.dtype == b.dtype and np.array_equal(a.numpy(), b.numpy())


# --- Seeds ----------------------------------------------------------------------------


@pytest.mark.parametrize("draw", DRAWS)
def test_a_seed_gives_the_same_numbers_again(draw):
    random.set_seed(7)
    first, second = draw(random), draw(random)
    assert not equal(first, second)
    random.set_seed(7)
    assert equal(draw(random), first)
    assert equal(draw(random), second)


@pytest.mark.parametrize("draw", DRAWS)
def test_generators_give_what_the_global_one_gives(draw):
    random.set_seed(7)
    assert equal(draw(random.Generator.from_seed(7)), draw(random))


def test_stateless_draws_are_those_of_a_generator():
    g = random.Generator.from_seed(7)
    logits = gt.constant([[0.0, 1.0]])
    pairs = [
        (g.uniform([3], -1.0, 1.0), random.stateless_uniform([3], [7, 0], -1.0, 1.0)),
        (g.randint([3], 0, 9), random.stateless_randint([3], [7, 1], 0, 9)),
        (g.normal([3], 2.0), random.stateless_normal([3], [7, 2], 2.0)),
        (g.truncated_normal([3]), random.stateless_truncated_normal([3], [7, 3])),
        (g.bernoulli([30], 0.3), random.stateless_bernoulli([30], [7, 4], 0.3)),
        (g.categorical(logits, 9), random.stateless_categorical(logits, 9, [7, 5])),
        (g.gamma([3], 2.0), random.stateless_gamma([3], [7, 6], 2.0)),
        (g.permutation(9), random.stateless_permutation(9, [7, 7])),
        (g.shuffle([4, 5, 6]), random.stateless_shuffle([4, 5, 6], [7, 8])),
    ]
    for stateful, stateless in pairs:
        assert equal(stateful, stateless)
    assert g.counter == len(pairs)


def test_one_number_is_a_pair_with_zero_and_may_be_a_tensor():
    wanted = random.stateless_normal([3], [7, 0])
    for seed in (7, np.int64(7), np.array([7, 0]), gt.constant(7), gt.constant([7, 0])):
        assert equal(random.stateless_normal([3], seed), wanted)
    for seed in (-1, 2**64 - 1, gt.constant(-1, dtype="int64"), [gt.constant(-1), 0]):
        assert equal(
            random.stateless_normal([3], seed), random.stateless_normal([3], [-1, 0])
        )


def test_numbers_without_a_seed_differ():
    a, b = (random.Generator.from_non_deterministic_state() for _ in range(2))
    assert a.seed != b.seed
    assert not equal(a.normal([3]), b.normal([3]))


def test_seed_arguments_begin_sequences_of_their_own():
    random.set_seed(1)
    first, second = random.normal([3], seed=5), random.normal([3], seed=5)
    other = random.normal([3], seed=6)
    assert not equal(first, second)
    assert not equal(first, other)
    assert random.get_global_generator().counter == 0
    random.set_seed(1)
    random.normal([3])
    assert equal(random.normal([3], seed=6), other)
    assert equal(random.normal([3], seed=5), first)
    random.set_seed(2)
    assert not equal(random.normal([3], seed=5), first)


def test_known_numbers_stay():
    x = random.stateless_uniform([2], [1, 2], dtype="float64").numpy()
    np.testing.assert_array_equal(x, philox.uniform01(1, 2, (2,), "float64"))


# --- Generators -----------------------------------------------------------------------


def test_a_generator_is_its_state():
    g = random.Generator.from_seed(-1)
    g.normal([2])
    assert g.state == (g.seed, g.counter) == (2**64 - 1, 1)
    copies = [random.Generator.from_state(g.state), copy.deepcopy(g), copy.copy(g)]
    copies.append(pickle.loads(pickle.dumps(g)))
    wanted = g.normal([2])
    for other in copies:
        assert equal(other.normal([2]), wanted)
    g.reset(3)
    assert repr(g) == "<gt.random.Generator: seed=3, counter=0>"


def test_children_are_new_and_repeatable():
    g, h = random.Generator.from_seed(7), random.Generator.from_seed(7)
    first, second = g.split(2), g.split(2)
    seeds = [child.seed for child in (*first, *second)]
    assert len(set(seeds)) == 4
    assert seeds == [child.seed for child in (*h.split(2), *h.split(2))]
    assert g.split(0) == []


def test_made_seeds_are_columns():
    seeds = random.Generator.from_seed(7).make_seeds(3)
    assert seeds.dtype == gt.int64
    assert seeds.shape == (2, 3)
    draws = [random.stateless_normal([2], seeds[:, i]).numpy() for i in range(3)]
    assert len({d.tobytes() for d in draws}) == 3


def test_threads_share_a_generator_without_repeating():
    g, found = random.Generator.from_seed(7), []

    def work():
        found.extend(g.randint([], 0, 2**62, "int64").numpy() for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 200
    assert g.counter == 200


# --- Distributions --------------------------------------------------------------------

MANY = 20_000


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda: random.uniform([MANY], -1.0, 3.0), scipy.stats.uniform(-1, 4)),
        (lambda: random.normal([MANY], 2.0, 3.0), scipy.stats.norm(2, 3)),
        (
            lambda: random.truncated_normal([MANY], 1.0, 0.5),
            scipy.stats.truncnorm(-2, 2, 1, 0.5),
        ),
        (lambda: random.gamma([MANY], 2.5, 4.0), scipy.stats.gamma(2.5, 0, 0.25)),
        (lambda: random.gamma([MANY], 0.3), scipy.stats.gamma(0.3)),
    ],
)
def test_distribution(draw, law):
    random.set_seed(1)
    assert scipy.stats.kstest(draw().numpy(), law.cdf).pvalue > 0.01


def test_frequencies():
    random.set_seed(1)
    dice = random.randint([MANY], 1, 7).numpy()
    assert scipy.stats.chisquare(np.bincount(dice, minlength=7)[1:]).pvalue > 0.01
    assert abs(random.bernoulli([MANY], 0.3).numpy().mean() - 0.3) < 0.02
    classes = random.categorical(gt.log([[0.2, 0.5, 0.3]]), MANY).numpy()[0]
    share = np.bincount(classes) / MANY
    np.testing.assert_allclose(share, [0.2, 0.5, 0.3], atol=0.02)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floating_dtypes(dtype):
    for draw in (
        random.uniform([2, 3], 1, 2, dtype),
        random.normal([2, 3], 1, 2, dtype),
        random.truncated_normal([2, 3], 1, 2, dtype),
        random.gamma([2, 3], 1, 2, dtype),
    ):
        assert (draw.dtype, draw.shape) == (gt.as_dtype(dtype), (2, 3))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_integers_reach_both_ends_of_the_dtype(dtype):
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    assert random.randint([2], high, high + 1, dtype).numpy().tolist() == [high] * 2
    assert random.randint([2], low, low + 1, dtype).numpy().tolist() == [low] * 2
    assert random.randint([2], low, high + 1, dtype).dtype == dtype


def test_the_default_float_counts():
    gt.set_default_float("float64")
    try:
        assert random.normal([2]).dtype == gt.float64
    finally:
        gt.set_default_float("float32")


def test_shapes():
    for shape, wanted in (
        ((), ()),
        (3, (3,)),
        ([0, 2], (0, 2)),
        (gt.constant([2, 3]), (2, 3)),
    ):
        assert random.normal(shape).shape == wanted
    assert random.gamma([5], [[1.0], [2.0]], [1.0, 2.0, 3.0]).shape == (5, 2, 3)
    assert random.stateless_gamma([5, 2], 1, [1.0, 2.0]).shape == (5, 2)
    assert random.categorical([0.0, 1.0], 4).shape == (4,)
    assert random.categorical(gt.zeros([2, 3, 4]), 5, "int32").shape == (2, 3, 5)
    assert random.categorical([[0, 1]], 0).shape == (1, 0)


def test_certain_outcomes():
    assert random.bernoulli([2, 2], [0.0, 1.0]).numpy().tolist() == [[False, True]] * 2
    only = [[-np.inf, 0.0, -np.inf]]
    assert random.categorical(only, 3).numpy().tolist() == [[1, 1, 1]]
    assert random.normal([2], 3.0, 0.0).numpy().tolist() == [3.0, 3.0]
    assert np.isnan(random.gamma([2], [0.0, -1.0]).numpy()).all()


def test_gamma_numbers_have_logarithms():
    x = random.gamma([100], 1e-6, 1e6)
    assert np.isfinite(gt.log(x).numpy()).all()


def test_shuffled_rows_stay_together():
    x = gt.reshape(gt.range(20), [10, 2])
    y = random.shuffle(x).numpy()
    np.testing.assert_array_equal(y[:, 0] + 1, y[:, 1])
    np.testing.assert_array_equal(np.sort(y[:, 0]), np.arange(0, 20, 2))


# --- Gradients ------------------------------------------------------------------------


def test_gradients_by_mean_and_deviation():
    mean, stddev = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
    with gt.GradientTape() as tape:
        y = random.normal([4, 2], mean, stddev)
    by_mean, by_stddev = tape.gradient(y, [mean, stddev])
    assert by_mean.numpy().tolist() == [4.0, 4.0]
    z = (y.numpy() - mean.numpy()) / 3.0
    np.testing.assert_allclose(by_stddev.numpy(), z.sum(), rtol=1e-4)


def test_gradient_of_a_shuffle_finds_the_way_back():
    x = gt.Variable([1.0, 2.0, 3.0, 4.0])
    with gt.GradientTape() as tape:
        y = random.shuffle(x)
        loss = gt.reduce_sum(y * y * [1.0, 10.0, 100.0, 1000.0])
    found = tape.gradient(loss, x).numpy()
    order = [y.numpy().tolist().index(v) for v in (1.0, 2.0, 3.0, 4.0)]
    np.testing.assert_allclose(
        found, [2 * (i + 1) * 10.0 ** order[i] for i in range(4)]
    )


@pytest.mark.parametrize("alpha", [0.05, 0.7, 3.0, 40.0])
def test_gamma_gradient_holds_the_quantile(alpha):
    a = gt.Variable(alpha, dtype="float64")
    with gt.GradientTape(persistent=True) as tape:
        y = random.stateless_gamma([20], 3, a, dtype="float64")
    found = tape.jacobian(y, a).numpy()
    q, h = scipy.special.gammainc(alpha, y.numpy()), 1e-5 * alpha
    ends = [scipy.special.gammaincinv(alpha + s, q) for s in (h, -h)]
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * h), rtol=1e-5)


def test_gamma_gradient_by_rate_and_in_forward_mode():
    a, b = gt.constant(2.0), gt.Variable(4.0)
    with gt.GradientTape() as tape:
        y = random.stateless_gamma([5], 3, a, b)
    np.testing.assert_allclose(
        tape.gradient(y, b).numpy(), -y.numpy().sum() / 4, rtol=1e-5
    )

    def draw(alpha):
        return random.stateless_gamma([5], 3, alpha)

    tape = gt.GradientTape(persistent=True)
    with tape:
        tape.watch(a)
        y = draw(a)
    _, tangent = gt.jvp(draw, (a,), (gt.constant(1.0),))
    np.testing.assert_allclose(tangent.numpy(), tape.jacobian(y, a).numpy(), rtol=1e-5)


def test_second_derivative_of_gamma_is_refused_aloud():
    a = gt.Variable(2.0)
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = gt.reduce_sum(random.gamma([3], a) ** 2)
        g = inner.gradient(y, a)
    with pytest.raises(GradientError, match="no second derivative by alpha"):
        outer.gradient(g, a)


@pytest.mark.parametrize(
    "draw",
    [lambda x: random.bernoulli([2], x), lambda x: random.categorical([x, x], 3)],
)
def test_discrete_draws_have_no_gradient_and_say_why(draw):
    x = gt.Variable(0.5)
    with gt.GradientTape(persistent=True) as tape:
        y = gt.cast(draw(x), gt.float32)
    assert tape.gradient(y, x) is None
    assert "drawn" in str(tape.explain(y, x)) or "thrown" in str(tape.explain(y, x))


# --- Arguments ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: random.normal("ab"), ArgumentError, "random.normal: 'ab'"),
        (lambda: random.normal([-1]), ArgumentError, "negative size -1"),
        (lambda: random.normal([2**50]), TensorMemoryError, "random.normal"),
        (lambda: random.normal([2], dtype="int32"), DTypeError, "int32 is not a float"),
        (lambda: random.normal([2], [1.0, 2.0, 3.0]), ShapeError, "normal: mean"),
        (lambda: random.normal([1], [1.0, 2.0]), ShapeError, r"\(2,\) does not broad"),
        (lambda: random.normal([2], "x"), ArgumentTypeError, "mean: 'x'"),
        (lambda: random.normal([2], 1j), DTypeError, "mean: 1j"),
        (
            lambda: random.normal([2], gt.constant(1.0, dtype="float64")),
            DTypeError,
            "mean: dtype float32 for a tensor of float64",
        ),
        (lambda: random.normal([2], seed="x"), ArgumentTypeError, "seed must be an"),
        (lambda: random.normal([2], seed=True), ArgumentTypeError, "got True"),
        (lambda: random.normal([2], seed=2**64), ArgumentError, "more than 64 bits"),
        (lambda: random.set_seed(None), ArgumentTypeError, "set_seed: seed must"),
        (lambda: random.set_seed(1.5), ArgumentTypeError, "got 1.5"),
        (lambda: random.uniform([2], dtype="int32"), ArgumentError, "need a maxval"),
        (lambda: random.uniform([2], dtype="bool"), DTypeError, "bool is not"),
        (lambda: random.randint([2], 3, 3), ArgumentError, "minval 3 is not below"),
        (lambda: random.randint([2], [0, 5], 5), ArgumentError, "5 is not below maxv"),
        (lambda: random.randint([2], 0, 300, "int8"), RangeError, "maxval: 300"),
        (lambda: random.randint([2], 0.5, 3), DTypeError, "minval: 0.5"),
        (lambda: random.randint([2], 0, 3, "float32"), DTypeError, "not an integer"),
        (lambda: random.bernoulli([2], 1.5), ArgumentError, "1.5 is not a probability"),
        (lambda: random.bernoulli([2], np.nan), ArgumentError, "nan"),
        (lambda: random.bernoulli([2], [0.1] * 3), ShapeError, "bernoulli: p"),
        (lambda: random.categorical(1.0, 2), ShapeError, "are a scalar"),
        (lambda: random.categorical([[np.nan]], 2), ArgumentError, "not finite"),
        (lambda: random.categorical(gt.zeros([2, 0]), 2), ArgumentError, "not finite"),
        (lambda: random.categorical([[0.0]], -1), ArgumentError, "negative size -1"),
        (lambda: random.categorical([[0.0]], 1.0), ArgumentTypeError, "num_samples"),
        (
            lambda: random.categorical(gt.constant([[1]]), 2),
            DTypeError,
            "categorical needs .* got int32",
        ),
        (lambda: random.gamma([2], [1.0] * 2, [1.0] * 3), ShapeError, "random.gamma"),
        (lambda: random.stateless_gamma([1], 1, [1.0] * 2), ShapeError, "alpha"),
        (lambda: random.permutation(-1), ArgumentError, "permutation"),
        (lambda: random.permutation(2.5), ArgumentTypeError, "got 2.5"),
        (lambda: random.shuffle(1.0), ShapeError, "a scalar has no rows"),
        (lambda: random.stateless_normal([2], [1, 2, 3]), ShapeError, "3 numbers"),
        (lambda: random.stateless_normal([2], None), ArgumentTypeError, "got None"),
        (lambda: random.stateless_normal([2], 1.5), ArgumentTypeError, "got 1.5"),
        (
            lambda: random.stateless_normal([2], gt.constant(1.5)),
            ArgumentTypeError,
            "the seed is of float32",
        ),
        (
            lambda: random.stateless_normal([2], gt.constant([1, 2, 3])),
            ShapeError,
            r"the seed has shape \(3,\)",
        ),
        (lambda: random.Generator("a"), ArgumentTypeError, "Generator: seed"),
        (lambda: random.Generator(1, -1), ArgumentError, "counter -1"),
        (lambda: random.Generator.from_state(3), ArgumentError, "3 is not a pair"),
        (lambda: random.Generator(1).split(-1), ArgumentError, "split"),
    ],
)
def test_bad_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()
