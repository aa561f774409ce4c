"""Compiled random draws: bit for bit the numbers of the eager operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gtape as gt
from gtape import nest
from gtape.config import settings
from gtape.errors import ArgumentError
from gtape.jit.backend.executable import Executable

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SIZES = (0, 1, 2, 3, 5, 17, 1000, 2047, 2048, 2049, 5000)
SHAPES = ((), (1,), (3,), (2, 3), (0, 4), (4, 1, 5), (2, 0, 3), (3, 7, 100))
KEYS = [
    gt.constant(np.array(key, np.uint64))
    for key in [
        *([0, 0], [1, 0], [7, 1], [12345678901234567890, 2**32 - 1]),
        *([2**32, 2**32], [2**64 - 1, 2**63], [3, 2**64 - 2], [2**64 - 1, 2**64 - 1]),
    ]
]
KEY_SPEC = gt.TensorSpec([2], "uint64")
STANDARD = {
    "uniform": gt.random.stateless_uniform,
    "normal": gt.random.stateless_normal,
    "truncated_normal": gt.random.stateless_truncated_normal,
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = settings.num_threads
    settings.num_threads = 1
    yield
    settings.num_threads = before


@pytest.fixture(autouse=True)
def left(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Note what machine code has left to the interpreter; the test must know it."""
    found: list[str] = []
    run = Executable.run

    def watched(self: Executable, arrays: Any) -> Any:
        outs = run(self, arrays)
        if outs is None:
            found.append("a call")
        return outs

    monkeypatch.setattr(Executable, "run", watched)
    yield found
    assert found == []


def compiled(f: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return a function as machine code; `args` are such as it will be given."""
    function = gt.function(f, jit_compile=True, **options)
    function(*args)
    program = function.concrete(*args)._concrete.program
    assert program.why_not == ""
    assert program._executable is not None
    return function


def assert_same(found: Any, wanted: Any) -> None:
    a, b = nest.flatten(found), nest.flatten(wanted)
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        x, y = x.numpy(), y.numpy()
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        assert x.tobytes() == y.tobytes()


# --- Without parameters ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", sorted(STANDARD))
def test_any_size(name: str, dtype: str) -> None:
    def f(key: Any, x: Any) -> Any:
        return STANDARD[name](x.shape, key, dtype=dtype)

    signature = [KEY_SPEC, gt.TensorSpec([None], "float32")]
    function = compiled(f, KEYS[0], gt.zeros([3]), input_signature=signature)
    for key in KEYS:
        for size in SIZES:
            x = gt.zeros([size])
            assert_same(function(key, x), f(key, x))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", sorted(STANDARD))
def test_shapes(name: str, dtype: str) -> None:
    def f(key: Any) -> Any:
        return [STANDARD[name](shape, key, dtype=dtype) for shape in SHAPES]

    function = compiled(f, KEYS[0])
    for key in KEYS:
        assert_same(function(key), f(key))


@pytest.mark.parametrize("dtype", FLOATS)
def test_located(dtype: str) -> None:
    def f(key: Any, mean: Any) -> Any:
        return (
            gt.random.stateless_uniform([4, 9], key, mean, 10.0, dtype=dtype),
            gt.random.stateless_normal([4, 9], key, mean, dtype=dtype),
        )

    mean = gt.cast(gt.reshape(gt.range(4), [4, 1]), dtype)
    function = compiled(f, KEYS[0], mean)
    for x, y in zip(function(KEYS[1], mean), f(KEYS[1], mean), strict=True):
        # Around the draw there may be fused products and sums.
        a, b = x.numpy().astype(np.float64), y.numpy().astype(np.float64)
        eps = float(ml_dtypes.finfo(x.numpy().dtype).eps)
        np.testing.assert_allclose(a, b, rtol=4 * eps, atol=4 * eps)


# --- Bools ----------------------------------------------------------------------------


def test_bernoulli_of_any_size() -> None:
    def f(key: Any, x: Any) -> Any:
        return (
            gt.random.stateless_bernoulli(x.shape, key, 0.3),
            gt.random.stateless_bernoulli(x.shape, key, x),
        )

    signature = [KEY_SPEC, gt.TensorSpec([None], "float32")]
    function = compiled(f, KEYS[0], gt.zeros([3]), input_signature=signature)
    for key in KEYS:
        for size in SIZES:
            x = gt.linspace(-0.1, 1.1, size) if size else gt.zeros([0])
            assert_same(function(key, x), f(key, x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_of_probabilities(dtype: str) -> None:
    def f(key: Any, p: Any, row: Any, one: Any) -> Any:
        return [
            *(gt.random.stateless_bernoulli(shape, key, one) for shape in SHAPES),
            gt.random.stateless_bernoulli([3, 5], key, p),
            gt.random.stateless_bernoulli([4, 3, 5], key, p),
            gt.random.stateless_bernoulli([3, 5], key, row),
            gt.random.stateless_bernoulli([3, 5], key, gt.reshape(one, [1, 1])),
        ]

    numbers = np.linspace(0, 1, 15).reshape(3, 5)
    numbers[0, :3] = np.nan, -1.0, 2.0
    args = [gt.cast(gt.constant(a), dtype) for a in (numbers, numbers[:, 4:], 0.4)]
    function = compiled(f, KEYS[0], *args)
    for key in KEYS:
        assert_same(function(key, *args), f(key, *args))


# --- Integers -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_between_numbers(dtype: str) -> None:
    info = np.iinfo(dtype)
    least, most = int(info.min), int(info.max)
    ranges = [(0, 10), (3, 4), (least, least + 1), (most, most + 1), (5, most)]
    ranges += [(least, most), (least, most + 1), (least + 1, most + 1)]
    ranges += [(0, min(2**k + j, most)) for k in (31, 32, 33) for j in (-1, 0, 1)]

    def f(key: Any) -> Any:
        return [
            gt.random.stateless_randint([37], key, low, high, dtype=dtype)
            for low, high in ranges
        ]

    function = compiled(f, KEYS[0])
    for key in KEYS:
        assert_same(function(key), f(key))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_shapes_and_sizes(dtype: str) -> None:
    def f(key: Any, x: Any) -> Any:
        more = [gt.random.stateless_randint(s, key, 3, 99, dtype=dtype) for s in SHAPES]
        return gt.random.stateless_randint(x.shape, key, 0, 100, dtype=dtype), more

    signature = [KEY_SPEC, gt.TensorSpec([None], "float32")]
    function = compiled(f, KEYS[0], gt.zeros([3]), input_signature=signature)
    for size in SIZES:
        args = KEYS[size % len(KEYS)], gt.zeros([size])
        assert_same(function(*args), f(*args))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_between_tensors(dtype: str) -> None:
    info = np.iinfo(dtype)
    least, most = int(info.min), int(info.max)

    def f(key: Any, low: Any, high: Any) -> Any:
        draw = gt.random.stateless_randint
        return [
            draw([4, 3], key, low, high, dtype=dtype),
            draw([5, 4, 3], key, low, high, dtype=dtype),
            draw([3], key, low, most, dtype=dtype),
            draw([3], key, low, most + 1, dtype=dtype),
            draw([], key, low[1], low[1] + 2, dtype=dtype),
            draw([4, 1], key, low[0], high, dtype=dtype),
            draw([2, 4, 900], key, least, high, dtype=dtype),
        ]

    low = gt.constant(np.array([least, least + 5, least // 3], dtype))
    high = gt.constant(np.array([[most], [most // 2], [100], [most - 1]], dtype))
    function = compiled(f, KEYS[0], low, high)
    for key in KEYS:
        assert_same(function(key, low, high), f(key, low, high))


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "uint64"])
def test_wrong_bounds(dtype: str, left: list[str]) -> None:
    def f(key: Any, low: Any, high: Any) -> Any:
        return gt.random.stateless_randint([2, 3], key, low, high, dtype=dtype)

    def nothing(key: Any, low: Any, high: Any) -> Any:
        return gt.random.stateless_randint([0, 3], key, low, high, dtype=dtype)

    top = int(np.iinfo(dtype).max)
    low = gt.constant(np.array([0, 1, 5], dtype))
    good = gt.constant(np.array([[top], [7]], dtype))
    bad = gt.constant(np.array([[top], [5]], dtype))
    function = compiled(f, KEYS[0], low, good)
    assert_same(function(KEYS[0], low, good), f(KEYS[0], low, good))
    with pytest.raises(ArgumentError, match="minval 5 is not below maxval 5"):
        function(KEYS[0], low, bad)
    left.remove("a call")
    assert_same(function(KEYS[1], low, good), f(KEYS[1], low, good))
    # Bounds are wrong also where no number is drawn between them.
    function = compiled(nothing, KEYS[0], low, good[1])
    assert_same(function(KEYS[0], low, good[1]), nothing(KEYS[0], low, good[1]))
    with pytest.raises(ArgumentError, match="minval 5 is not below maxval 5"):
        function(KEYS[0], low, bad[1])
    left.remove("a call")


# --- Classes, orders and gamma numbers ------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_categorical(dtype: str) -> None:
    def f(key: Any, x: Any) -> Any:
        draw = gt.random.stateless_categorical
        return [
            *(draw(x, count, key) for count in (0, 1, 5, 1000)),
            draw(x, 7, key, dtype="uint8"),
            draw(x[0], 3, key, dtype="int32"),
            draw(gt.reshape(x, [2, 3, -1]), 4, key),
            draw(x[:, 1:2], 3, key),
            draw(x[:0], 3, key),
        ]

    numbers = np.random.default_rng(1).normal(size=(6, 17)) * 4
    numbers[1, ::2] = -np.inf
    numbers[2] -= 1e3
    x = gt.cast(gt.constant(numbers), dtype)
    function = compiled(f, KEYS[0], x)
    for key in KEYS:
        assert_same(function(key, x), f(key, x))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_categorical_of_wrong_scores(wrong: float, left: list[str]) -> None:
    def f(key: Any, x: Any) -> Any:
        return gt.random.stateless_categorical(x, 3, key)

    numbers = np.zeros((3, 4), np.float32)
    function = compiled(f, KEYS[0], gt.constant(numbers))
    numbers[1, 1:] = wrong
    if np.isfinite(numbers[1].max()):
        numbers[1, 0] = wrong
    with pytest.raises(ArgumentError, match="largest logit of a row is not finite"):
        function(KEYS[0], gt.constant(numbers))
    left.remove("a call")


def test_permutation() -> None:
    def f(key: Any, x: Any) -> Any:
        return (
            gt.random.stateless_permutation(x.shape[0], key),
            gt.random.stateless_shuffle(x, key),
        )

    signature = [KEY_SPEC, gt.TensorSpec([None], "int64")]
    x = gt.range(3, dtype="int64")
    function = compiled(f, KEYS[0], x, input_signature=signature)
    for key in KEYS:
        for size in SIZES:
            x = gt.range(size, dtype="int64")
            assert_same(function(key, x), f(key, x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_gamma(dtype: str) -> None:
    def f(key: Any, alpha: Any) -> Any:
        draw = gt.random.stateless_gamma
        return [
            *(draw(shape, key, alpha[0], dtype=dtype) for shape in SHAPES),
            draw(alpha.shape, key, alpha, dtype=dtype),
            draw([300, *alpha.shape], key, alpha, dtype=dtype),
        ]

    numbers = [0.7, 1e-6, 0.01, 0.5, 1.0, 1.5, 30.0, 1e4, 0.0, -1.0, np.inf, np.nan]
    alpha = gt.cast(gt.constant(np.array(numbers)), dtype)
    function = compiled(f, KEYS[0], alpha)
    for key in KEYS:
        assert_same(function(key, alpha), f(key, alpha))


# --- Programs that draw ---------------------------------------------------------------


def seeded(f: Callable[..., Any], *args: Any) -> list[Any]:
    """Return what several calls give after `set_seed`."""
    gt.random.set_seed(7)
    return [f(*args) for _ in range(4)]


@pytest.mark.parametrize("dtype", FLOATS)
def test_dropout(dtype: str) -> None:
    def f(x: Any) -> Any:
        x = gt.nn.dropout(x, 0.5)
        return gt.nn.dropout(x, 0.25, noise_shape=[None, 1]), x

    x = gt.cast(gt.reshape(gt.range(1, 601), [20, 30]), dtype)
    function = compiled(f, x)
    assert_same(seeded(function, x), seeded(f, x))


def test_each_trip_draws() -> None:
    def f(x: Any) -> Any:
        total = gt.zeros([5], "int64")
        for _ in gt.range(x):
            drawn = gt.random.randint([5], 0, 1000, dtype="int64")
            total = total * 3 + drawn + gt.random.permutation(5)
        return total, gt.random.normal([3]), gt.random.uniform([])

    x = gt.constant(6)
    function = compiled(f, x)
    assert_same(seeded(function, x), seeded(f, x))


def test_draws_over_threads() -> None:
    count = 700_001

    def f(key: Any, x: Any) -> Any:
        return [
            *(draw([count], key) for draw in STANDARD.values()),
            *(draw(x.shape, key, dtype="float64") for draw in STANDARD.values()),
            gt.random.stateless_normal([count], key),
            gt.random.stateless_bernoulli([count], key, 0.2),
            gt.random.stateless_randint([count], key, 0, x + 1, dtype="int32"),
            gt.random.stateless_randint(x.shape, key, 0, 2**40, dtype="int64"),
            gt.random.stateless_gamma(x.shape, key, 0.7),
        ]

    x = gt.range(count, dtype="int32")
    signature = [KEY_SPEC, gt.TensorSpec([None], "int32")]
    wanted = f(KEYS[3], x)
    function = compiled(f, KEYS[3], x, input_signature=signature)
    for threads in (1, 3):
        settings.num_threads = threads
        assert_same(function(KEYS[3], x), wanted)
