"""Random numbers in `gt.function`: those of the eager function, call after call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.errors import TracingError

X = np.arange(6.0).reshape(2, 3)


def calls(f: Any, *args: Any, count: int = 4, seed: int = 7) -> list[Any]:
    """Return what several calls give after `set_seed`, and the generator's state."""
    gt.random.set_seed(seed)
    found = [np.asarray(f(*args)).tolist() for _ in range(count)]
    return [*found, gt.random.get_global_generator().state]


# --- Programs -------------------------------------------------------------------------


def two_draws(x: Any) -> Any:
    return gt.random.normal([3], dtype=gt.float64) - gt.random.uniform([3], 2.0, 3.0)


def in_a_for(x: Any) -> Any:
    for _ in range(4):
        x = x + gt.random.normal(x.shape, dtype=gt.float64)
    return x


def in_a_for_over_a_tensor(x: Any) -> Any:
    total = gt.constant(0.0, gt.float64)
    for row in x:
        total += gt.reduce_sum(gt.nn.dropout(row, 0.5))
    return total


def in_a_while(x: Any) -> Any:
    while gt.reduce_sum(x) < 40.0:
        x = x + gt.random.uniform(x.shape, dtype=gt.float64)
    return x


def in_a_branch(x: Any) -> Any:
    if gt.random.uniform([]) > 0.5:
        return gt.random.normal([2]) + gt.random.normal([2])
    return gt.random.uniform([2])


def in_a_branch_of_a_loop(x: Any) -> Any:
    for i in gt.range(4):
        if i % 2 == 0:
            x = x + gt.random.normal([], dtype=gt.float64)
        else:
            x = x * gt.nn.dropout(x, 0.5, seed=4)
    return x


def in_a_loop_with_a_break(x: Any) -> Any:
    steps = 0
    for _ in range(20):
        steps += 1
        if gt.random.uniform([]) > 0.8:
            break
    return steps + gt.random.uniform([])


def in_a_comprehension(x: Any) -> Any:
    return gt.stack([gt.random.normal([2]) * i for i in range(3)])


def in_a_function(x: Any) -> Any:
    def noisy(v: Any) -> Any:
        return v + gt.random.normal([], dtype=gt.float64)

    return noisy(noisy(x))


def in_a_batch(x: Any) -> Any:
    return gt.vectorized_map(
        lambda row: row + gt.random.normal([3], dtype=gt.float64), x
    )


PROGRAMS = [
    two_draws,
    in_a_for,
    in_a_for_over_a_tensor,
    in_a_while,
    in_a_branch,
    in_a_branch_of_a_loop,
    in_a_loop_with_a_break,
    in_a_comprehension,
    in_a_function,
    in_a_batch,
]

DRAWS = {
    "uniform": lambda x: gt.random.uniform(x.shape, -1.0, 2.0),
    "integers": lambda x: gt.random.uniform([4], 0, 9, gt.int32),
    "randint": lambda x: gt.random.randint([4], 0, 9),
    "normal": lambda x: gt.random.normal(x.shape, 1.0, 2.0),
    "truncated_normal": lambda x: gt.random.truncated_normal([4]),
    "bernoulli": lambda x: gt.random.bernoulli([9], 0.4),
    "categorical": lambda x: gt.random.categorical(x, 4),
    "gamma": lambda x: gt.random.gamma([2], x + 1.0, dtype=gt.float64),
    "permutation": lambda x: gt.random.permutation(5),
    "shuffle": lambda x: gt.random.shuffle(gt.reshape(x, [-1])),
    "dropout": lambda x: gt.nn.dropout(x, 0.5),
    "dropout of a row": lambda x: gt.nn.dropout(x, 0.5, noise_shape=[None, 1]),
    "dropout of nothing": lambda x: gt.nn.dropout(x, 0.0) + gt.random.uniform([]),
    "make_seeds": lambda x: gt.random.get_global_generator().make_seeds(2),
    "with a seed": lambda x: gt.random.normal([3], seed=5),
    "with two seeds": lambda x: (
        gt.random.normal([3], seed=5)
        - gt.random.normal([3], seed=6) * gt.random.normal([3], seed=5)
    ),
    "dropout with a seed": lambda x: gt.nn.dropout(x, 0.5, seed=5),
    "a generator of its own": lambda x: (
        gt.random.Generator.from_seed(5).normal([3]) + gt.random.uniform([3])
    ),
    "stateless": lambda x: gt.random.stateless_normal([3], seed=[5, 6]),
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_draw_the_same_numbers(f: Any) -> None:
    x = gt.constant(X)
    traced = gt.function(f)
    assert calls(traced, x) == calls(f, x)
    assert calls(traced, x, seed=8) == calls(f, x, seed=8)
    assert traced.trace_count == 1


@pytest.mark.parametrize("name", DRAWS)
def test_draws_give_the_same_numbers(name: str) -> None:
    x, f = gt.constant(X), DRAWS[name]
    traced = gt.function(f)
    wanted = calls(f, x)
    assert calls(traced, x) == wanted
    assert calls(traced, x, seed=8) == calls(f, x, seed=8)
    assert calls(traced, x) == wanted
    assert traced.trace_count == 1


def test_unknown_sizes() -> None:
    def f(x: Any) -> Any:
        return x + gt.random.normal(x.shape, dtype=gt.float64)

    traced = gt.function(f)
    sizes = (2, 3, 5, 4)
    for g in (f, traced):
        gt.random.set_seed(3)
        found = [np.asarray(g(gt.zeros([n], gt.float64))).tolist() for n in sizes]
        if g is f:
            wanted = found
    assert found == wanted
    assert traced.trace_count == 2


# --- Seeds and generators -------------------------------------------------------------


def test_eager_and_traced_draws_take_turns() -> None:
    traced = gt.function(lambda: gt.random.uniform([]))
    gt.random.set_seed(1)
    wanted = [float(gt.random.uniform([])) for _ in range(4)]
    gt.random.set_seed(1)
    found = [
        float(f([]) if f is gt.random.uniform else f())
        for f in (traced, gt.random.uniform, traced, gt.random.uniform)
    ]
    assert found == wanted


def test_a_seed_argument_takes_turns_with_eager_draws() -> None:
    traced = gt.function(lambda: gt.random.uniform([], seed=3))
    gt.random.set_seed(1)
    wanted = [float(gt.random.uniform([], seed=3)) for _ in range(3)]
    gt.random.set_seed(1)
    found = [float(traced()), float(gt.random.uniform([], seed=3)), float(traced())]
    assert found == wanted


def test_a_seed_that_is_an_argument() -> None:
    def f(seed: Any) -> Any:
        return gt.random.uniform([], seed=seed)

    traced = gt.function(f)
    for seed in (3, 4, 3, 4):
        assert calls(traced, seed) == calls(f, seed)


def held(generator: Any) -> Any:
    return gt.function(lambda: generator.normal([3]))


def given(generator: Any) -> Any:
    f = gt.function(lambda g: g.normal([3]))
    return lambda: f(generator)


@pytest.mark.parametrize("make", [held, given])
def test_a_generator_of_ones_own(make: Any) -> None:
    mine, other = [gt.random.Generator.from_seed(4) for _ in range(2)]
    f = make(mine)
    for _ in range(3):
        assert f().numpy().tolist() == other.normal([3]).numpy().tolist()
    assert mine.state == other.state == (4, 3)
    mine.reset(9)
    other.reset(9)
    assert f().numpy().tolist() == other.normal([3]).numpy().tolist()


def test_a_generator_that_the_function_resets() -> None:
    generator = gt.random.Generator.from_seed(1)

    def f() -> Any:
        first = generator.uniform([])
        generator.reset(7)
        return gt.stack([first, generator.uniform([]), generator.uniform([])])

    found = []
    for g in (f, gt.function(f)):
        generator.reset(1)
        found.append([g().numpy().tolist() for _ in range(3)] + [generator.state])
    assert found[0] == found[1]


def test_stateless_functions_of_traced_seeds() -> None:
    def f(a: Any, b: Any) -> Any:
        return gt.random.stateless_normal([3], seed=[a, b])

    traced = gt.function(f)
    for a, b in ((1, 2), (3, -4), (2**40, 5)):
        assert np.array_equal(traced(a, b), f(a, b))
    assert traced.trace_count == 1
    pair = gt.constant([7, 8])
    one = gt.function(lambda s: gt.random.stateless_uniform([3], seed=s))
    assert np.array_equal(one(pair), gt.random.stateless_uniform([3], seed=[7, 8]))


def test_a_stateless_seed_that_counts_in_a_loop() -> None:
    def f(n: Any) -> Any:
        total = gt.constant(0.0, gt.float64)
        for i in range(n):
            total += gt.random.stateless_normal([], seed=i, dtype=gt.float64)
        return total

    traced = gt.function(f)
    for n in (3, 5, 8):
        assert float(traced(n)) == float(f(n))
    assert traced.trace_count == 1


REFUSED = {
    "set_seed": lambda: gt.random.set_seed(3),
    "split": lambda: gt.random.get_global_generator().split(2),
    "seed": lambda: gt.random.get_global_generator().seed,
    "counter": lambda: gt.random.get_global_generator().counter,
    "state": lambda: gt.random.get_global_generator().state,
    "entropy": gt.random.Generator.from_non_deterministic_state,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_the_numbers_of_a_state_is_refused(name: str) -> None:
    call = REFUSED[name]
    before = gt.random.get_global_generator().state
    with pytest.raises(TracingError, match="the state of a generator is known only"):
        gt.function(lambda: (call(), gt.random.uniform([]))[1])()
    assert gt.random.get_global_generator().state == before


def test_a_function_that_fails_draws_nothing() -> None:
    def f(x: Any) -> Any:
        y = gt.random.uniform([])
        assert x > 0.0, "negative"
        return y

    traced = gt.function(f)
    gt.random.set_seed(1)
    with pytest.raises(AssertionError):
        traced(gt.constant(-1.0))
    assert gt.random.get_global_generator().state == (1, 0)


# --- Gradients ------------------------------------------------------------------------


def noisy_loss(x: Any) -> Any:
    kept = gt.nn.dropout(x, 0.5)
    for _ in range(3):
        kept = kept * (1.0 + 0.1 * gt.random.normal([], dtype=gt.float64))
    return gt.reduce_sum(gt.sin(kept) * gt.random.uniform([2, 3], dtype=gt.float64))


GRADIENTS = {
    "inside": lambda f: gt.function(gt.grad(f)),
    "around": lambda f: gt.grad(gt.function(f)),
    "second order": lambda f: gt.grad(
        lambda x: gt.reduce_sum(gt.square(gt.grad(gt.function(f))(x)))
    ),
    "second order inside": lambda f: gt.function(
        gt.grad(lambda x: gt.reduce_sum(gt.square(gt.grad(f)(x))))
    ),
    "jacobian": lambda f: gt.jacobian(gt.grad(gt.function(f))),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_see_the_numbers_that_were_drawn(name: str) -> None:
    x, make = gt.constant(X + 0.5), GRADIENTS[name]
    plain = {
        "inside": gt.grad(noisy_loss),
        "around": gt.grad(noisy_loss),
        "jacobian": gt.jacobian(gt.grad(noisy_loss)),
    }.get(name, gt.grad(lambda x: gt.reduce_sum(gt.square(gt.grad(noisy_loss)(x)))))
    traced = make(noisy_loss)
    for seed in (1, 2):
        found, wanted = [calls(f, x, count=2, seed=seed) for f in (traced, plain)]
        assert found[-1] == wanted[-1]
        np.testing.assert_allclose(found[:-1], wanted[:-1], rtol=1e-10, atol=1e-12)


def test_gradients_by_the_parameters_of_a_distribution() -> None:
    def f(mean: Any, deviation: Any) -> Any:
        draws = gt.random.normal([5], mean, deviation, gt.float64)
        return gt.reduce_sum(draws * draws)

    args = gt.constant(0.5, gt.float64), gt.constant(2.0, gt.float64)
    gt.random.set_seed(1)
    wanted = gt.grad(f, (0, 1))(*args)
    for g in (gt.grad(gt.function(f), (0, 1)), gt.function(gt.grad(f, (0, 1)))):
        gt.random.set_seed(1)
        for a, b in zip(g(*args), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_variables_begin_with_random_values_once() -> None:
    made: list[Any] = []

    def f() -> Any:
        if not made:
            made.append(gt.Variable(gt.random.normal([3])))
        return made[0] + gt.random.normal([3])

    gt.random.set_seed(1)
    wanted = [f().numpy().tolist() for _ in range(3)]
    made.clear()
    gt.random.set_seed(1)
    traced = gt.function(f)
    assert [traced().numpy().tolist() for _ in range(3)] == wanted
