"""Random numbers: known answers, layout, distributions, ranges and gamma gradients."""

import zlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.special
import scipy.stats

from gtape import philox

Array = np.ndarray[Any, Any]
FLOATS = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16]
SEED, COUNTER = 0x0123456789ABCDEF, 7
MANY = 200_000
MASK = 2**32 - 1
# Shared by all distributions: (seed, counter, shape) -> array.
DRAWS: dict[str, Callable[..., Array]] = {
    "bits": philox.random_bits,
    "longs": philox.random_longs,
    "bernoulli": lambda *state: philox.bernoulli(*state, 0.3),
    "randint": lambda *state: philox.randint(*state, -5, 2**40, np.int64),
    "gamma_small": lambda *state: philox.gamma(*state, 0.2, np.float64),
    "gamma_large": lambda *state: philox.gamma(*state, 3.5, np.float32),
} | {
    f"{draw.__name__}_{np.dtype(dtype).name}": (
        lambda *state, draw=draw, dtype=dtype: draw(*state, dtype)
    )
    for draw in (philox.uniform01, philox.normal, philox.truncated_normal)
    for dtype in FLOATS
}
each_draw = pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
each_float = pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)


def p_value(sample: Array, distribution: Any) -> float:
    """The Kolmogorov-Smirnov probability of a sample that is at least this bad."""
    return float(scipy.stats.kstest(sample.ravel(), distribution.cdf).pvalue)


def p_counts(sample: Array, p: Array) -> float:
    """The chi-square probability of such counts of 0, 1, ... or of worse ones."""
    counts = np.bincount(sample, minlength=p.size)
    assert (counts[p < 1e-12] == 0).all()
    used = p >= 1e-12
    return float(scipy.stats.chisquare(counts[used], p[used] * sample.size).pvalue)


def reference_block(key: int, counter: list[int]) -> list[int]:
    """One block in the arithmetic of Python."""
    k0, k1 = key & MASK, key >> 32
    c0, c1, c2, c3 = counter
    for _ in range(10):
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & MASK, p0 >> 32 ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return [c0, c1, c2, c3]


# Counter, key and answer: the vectors that the authors of Philox publish.
KNOWN = [
    "0000000000000000000000000000000000000000000000006627e8d5e169c58dbc57ac4c9b00dbd8",
    "ffffffffffffffffffffffffffffffffffffffffffffffff408f276d41c83b0ea20bc7c66d5451fd",
    "243f6a8885a308d313198a2e03707344a4093822299f31d0d16cfe0994fdcceb5001e42024126ea1",
]


@pytest.mark.parametrize("text", KNOWN)
def test_known_answers(text: str) -> None:
    numbers = [int(text[i : i + 8], 16) for i in range(0, 80, 8)]
    c0, c1, c2, c3, k0, k1, *answer = numbers
    index = np.array([c0 | (c1 & 0xFFFF) << 32] * 3, np.uint64)
    words = philox.philox4x32(k0 | k1 << 32, c2 | c3 << 32, index, c1 >> 16)
    assert words.dtype == np.uint32
    assert words.tolist() == [answer] * 3
    assert reference_block(k0 | k1 << 32, [c0, c1, c2, c3]) == answer


def test_state_layout() -> None:
    key, offset = 0xFEDCBA9876543210, 0xAABBCCDD_00112233
    words = philox.random_bits(key, offset, (8,))
    blocks = [reference_block(key, [b, 0, 0x00112233, 0xAABBCCDD]) for b in (0, 1)]
    assert words.tolist() == [*blocks[0], *blocks[1]]
    index = np.array([2**40 + 3], np.uint64)
    block = reference_block(key, [3, 5 << 16 | 2**8, 0x00112233, 0xAABBCCDD])
    assert philox.philox4x32(key, offset, index, 5).tolist() == [block]
    longs = philox.random_longs(key, offset, (4,))
    np.testing.assert_array_equal(longs, words[::2] + (words[1::2].astype("u8") << 32))


# Checksums of 10 000 numbers. A change of one changes what every user's seed means.
FROZEN = """
    c2fa7c9a 2cb43a12 4742c26b 29000a13 ffacfbed 7ddd3cff 4bfec691 7f36aadb bdf832fa
    2ca7736c 771f0d6e 1e1287af 1082eda6 1a292eca 673a8f03 abc8f1f2 ffdf8bd5 8907cffc
"""


def test_frozen_numbers() -> None:
    numbers = (draw(SEED, COUNTER, (10_000,)).tobytes() for draw in DRAWS.values())
    assert [f"{zlib.crc32(part):08x}" for part in numbers] == FROZEN.split()


@each_draw
def test_shape_does_not_matter(draw: Callable[..., Array]) -> None:
    whole = draw(SEED, COUNTER, (70_000,))  # more than two chunks of any layout
    for shape in ((5,), (3, 7), (2, 1, 4), (32_769,), (65_537,), (), (0,), (3, 0, 2)):
        part = draw(SEED, COUNTER, shape)
        assert isinstance(part, np.ndarray)
        assert (part.shape, part.dtype) == (shape, whole.dtype)
        np.testing.assert_array_equal(part.ravel(), whole[: part.size])


@each_draw
def test_seed_and_counter_matter(draw: Callable[..., Array]) -> None:
    base = draw(SEED, COUNTER, (512,))
    for state in ((SEED + 1, COUNTER), (SEED + 2**32, COUNTER), (SEED, COUNTER + 1)):
        assert (draw(*state, (512,)) != base).any()
    arrays = np.array(SEED, np.uint64), np.array(COUNTER, np.uint64)
    np.testing.assert_array_equal(draw(*arrays, (512,)), base)
    np.testing.assert_array_equal(draw(SEED - 2**64, COUNTER + 2**64, (512,)), base)


def words_of(value: int) -> Callable[..., Array]:
    """A stand-in of philox4x32 that has the same word everywhere."""
    return lambda _seed, _counter, index, _: np.full((index.size, 4), value, np.uint32)


@each_float
@pytest.mark.parametrize("word", [0, MASK, 0x80000000, 0x7FFFFFFF])
def test_extreme_words(monkeypatch: pytest.MonkeyPatch, dtype: Any, word: int) -> None:
    monkeypatch.setattr(philox, "philox4x32", words_of(word))
    u = philox.uniform01(0, 0, (4,), dtype)
    assert ((u >= 0) & (u < 1)).all()
    assert (np.abs(philox.normal(0, 0, (4,), dtype).astype("f8")) <= 9.6).all()
    inner = np.abs(philox.truncated_normal(0, 0, (4,), dtype).astype("f8"))
    assert (inner <= 2).all()
    assert (inner > 1.99).all() or word not in (0, MASK)
    samples = philox.gamma(0, 0, (4,), [1e-3, 0.5, 1.0, 30.0], dtype).astype("f8")
    assert ((samples > 0) & (samples < np.inf)).all()
    np.testing.assert_array_equal(philox.bernoulli(0, 0, (2,), [0.0, 1.0]), [0, 1])
    choice = philox.categorical(0, 0, [-np.inf, 0.0, 0.1, -np.inf], 2)
    assert ((choice == 1) | (choice == 2)).all()


@each_float
def test_uniform01(dtype: Any) -> None:
    u = philox.uniform01(SEED, COUNTER, (MANY,), dtype)
    assert u.dtype == dtype
    bits = {np.float64: 53, np.float32: 24, np.float16: 11}.get(dtype, 8)
    steps = u.astype(np.float64) * 2.0**bits
    np.testing.assert_array_equal(steps, np.floor(steps))
    assert 0 <= steps.min() <= steps.max() < 2**bits
    if bits > 11:
        assert p_value(u, scipy.stats.uniform) > 1e-3
    else:
        assert p_counts(steps.astype(int), np.full(2**bits, 2.0**-bits)) > 1e-3


@each_float
def test_normal(dtype: Any) -> None:
    sample = philox.normal(SEED, COUNTER, (MANY,), dtype)
    assert sample.dtype == dtype
    x = sample.astype(np.float64)
    for power, moment in enumerate([0, 1, 0, 3], 1):
        spread = np.std(x**power) / MANY**0.5
        assert abs(np.mean(x**power) - moment) < 4 * spread + 0.002 * moment
    assert abs((x[0::2] * x[1::2]).mean()) < 6 / MANY**0.5  # within the pairs
    assert p_value(x, scipy.stats.norm) > 1e-3 or sample.dtype.itemsize == 2
    if sample.dtype.itemsize == 2:
        wide = philox.normal(SEED, COUNTER, (MANY,), np.float32)
        np.testing.assert_array_equal(sample, wide.astype(dtype))


@each_float
def test_truncated_normal(dtype: Any) -> None:
    sample = philox.truncated_normal(SEED, COUNTER, (MANY,), dtype)
    assert sample.dtype == dtype
    x = sample.astype(np.float64)
    assert np.abs(x).max() <= 2
    expected = scipy.stats.truncnorm(-2, 2)
    assert abs(x.mean()) < 4 / MANY**0.5
    assert abs(x.var() - expected.var()) < 5 / MANY**0.5
    assert p_value(x, expected) > 1e-3 or sample.dtype.itemsize == 2


def test_truncated_normal_inverts_the_cdf() -> None:
    x = philox.truncated_normal(SEED, COUNTER, (10_000,), np.float64)
    y = philox.random_longs(SEED, COUNTER, (10_000,)) >> 12
    half = (y + 0.5) * 2.0**-52 - 0.5
    exact = scipy.special.ndtri(0.5 + half * scipy.special.erf(2**0.5))
    np.testing.assert_allclose(x, exact, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elementary_functions(dtype: Any) -> None:
    """They hold to two units in the last place against extended precision."""
    ulps = 2 * float(np.finfo(dtype).eps)
    x = np.exp(np.linspace(-20, 20, 100_001)).astype(dtype)
    exact = np.log(x.astype(np.longdouble))
    assert (np.abs(philox._log(x) - exact) <= ulps * np.abs(exact)).all()
    bits = philox.random_longs(SEED, COUNTER, (100_000,))
    bits[:4] = np.arange(4, dtype=np.uint64) << 62
    bits = bits if dtype == np.float64 else (bits >> 32).astype(np.uint32)
    turns = bits.astype(np.longdouble) / 2.0 ** (8 * bits.itemsize)
    cos, sin = philox._cos_sin_turn(bits)
    np.testing.assert_allclose(cos, np.cos(turns * 2 * np.pi), rtol=0, atol=ulps)
    np.testing.assert_allclose(sin, np.sin(turns * 2 * np.pi), rtol=0, atol=ulps)
    np.testing.assert_array_equal(cos[:4], [1, 0, -1, 0])
    np.testing.assert_array_equal(sin[:4], [0, 1, 0, -1])
    wide = np.linspace(-708, 700, 100_001)
    np.testing.assert_allclose(philox._exp(wide), np.exp(wide), rtol=5e-16, atol=0)
    tiny = np.array([-745.0, -746.0, -np.inf, 0.0])
    np.testing.assert_array_equal(philox._exp(tiny), [5e-324, 0, 0, 1])


@pytest.mark.parametrize("name", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_randint_extremes(name: str) -> None:
    info = np.iinfo(name)

    def draw(low: int, high: int) -> Array:
        return philox.randint(SEED, COUNTER, (MANY,), low, high, name)

    whole = draw(info.min, info.max + 1)
    assert whole.dtype == name
    unit = (whole.astype("f8") - info.min + 0.5) / (float(info.max) - info.min + 1)
    assert p_value(unit, scipy.stats.uniform) > 1e-3 or whole.dtype.itemsize == 1
    assert p_counts(draw(0, 10), np.full(10, 0.1)) > 1e-3
    for low in (info.min, 0, info.max):
        np.testing.assert_array_equal(draw(low, low + 1), low)
    assert set(draw(info.max - 1, info.max + 1).tolist()) == {info.max - 1, info.max}
    for low, high in ((3, 3), (0, info.max + 2), (info.min - 1, 1)):
        with pytest.raises(ValueError, match=f"need {info.min} <= low < high <= "):
            draw(low, high)


@pytest.mark.parametrize("span", [1, 7, 2**32 - 1, 2**32, 2**32 + 1, 3 * 2**62, 2**64])
def test_randint_is_the_upper_half_of_a_product(span: int) -> None:
    low = 2**64 - span
    found = philox.randint(SEED, COUNTER, (100,), low, 2**64, np.uint64)
    upper = philox.random_longs(SEED, COUNTER, (100,)).tolist()
    lower = philox.random_longs(SEED, COUNTER, (100,), 1).tolist()
    lower = lower if span > 2**32 else [0] * 100
    wide = [(u << 64) + v for u, v in zip(upper, lower, strict=True)]
    assert found.tolist() == [low + (w * span >> 128) for w in wide]


def test_randint_broadcasts_bounds() -> None:
    low, high = np.array([[0], [-(2**62)]]), np.array([1, 10, 2**62])
    found = philox.randint(SEED, COUNTER, (2, 3), low, high, np.int64)
    for (row, column), number in np.ndenumerate(found):
        bounds = int(low[row, 0]), int(high[column])
        alone = philox.randint(SEED, COUNTER, (2, 3), *bounds, np.int64)
        assert alone[row, column] == number
    bounds = np.uint64(2**63), np.uint64(2**64 - 1)
    assert philox.randint(SEED, COUNTER, (9,), *bounds, np.uint64).min() >= 2**63


def test_bernoulli() -> None:
    for p in (0.0, 1e-3, 0.3, 0.999, 1.0):
        sample = philox.bernoulli(SEED, COUNTER, (MANY,), p)
        assert sample.dtype == np.bool_
        assert abs(sample.mean() - p) <= 4 * (p * (1 - p) / MANY) ** 0.5
    p = np.array([0, 1, np.nan], np.float32)
    found = philox.bernoulli(SEED, COUNTER, (4, 3), p)
    np.testing.assert_array_equal(found, [[False, True, False]] * 4)
    with pytest.raises(ValueError, match="broadcast"):
        philox.bernoulli(SEED, COUNTER, (2,), p)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, ml_dtypes.bfloat16])
def test_categorical(dtype: Any) -> None:
    logits = np.array([[0.0, 1, -np.inf, 2.5, -3], [800, 0, 0, 0, 802]], dtype)
    sample = philox.categorical(SEED, COUNTER, logits, MANY)
    assert (sample.shape, sample.dtype) == ((2, MANY), np.int64)
    for row, scores in zip(sample, logits.astype(np.float64), strict=True):
        assert p_counts(row, scipy.special.softmax(scores)) > 1e-3


def test_categorical_shapes_and_layout() -> None:
    logits = philox.normal(SEED, COUNTER, (4, 3, 5), np.float64)
    draw = philox.categorical
    by_classes = draw(SEED, COUNTER, logits, 2)  # as there are more rows than classes
    by_rows = draw(SEED, COUNTER, logits[:1], 2)
    np.testing.assert_array_equal(by_rows, by_classes[:1])
    for part, num in ((logits[0, 0], 7), (logits[:0], 7), (logits, 0), (logits, 3)):
        assert draw(SEED, COUNTER, part, num).shape == (*part.shape[:-1], num)
    for bad in ([-np.inf, -np.inf], [np.nan, 0.0], [np.inf, 0.0], []):
        with pytest.raises(ValueError, match="finite largest logit"):
            draw(SEED, COUNTER, bad, 1)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.99, 1.0, 2.5, 40.0, 1e4, 1e9, 1e15])
def test_gamma(alpha: float) -> None:
    sample = philox.gamma(SEED, COUNTER, (MANY,), alpha, np.float64)
    assert p_value(sample, scipy.stats.gamma(alpha)) > 1e-3
    narrow = philox.gamma(SEED, COUNTER, (MANY,), alpha, np.float32)
    tiny = np.finfo(np.float32).tiny
    np.testing.assert_array_equal(narrow, np.maximum(sample, tiny).astype(np.float32))


@each_float
def test_gamma_extremes(dtype: Any) -> None:
    def draw(alpha: Any) -> Array:
        return philox.gamma(SEED, COUNTER, (4,), alpha, dtype).astype(np.float64)

    tiny = float(ml_dtypes.finfo(dtype).tiny)
    np.testing.assert_array_equal(draw([5e-324, 1e-310, 1e-300, 1e-20]), tiny)
    huge = 1e300 if dtype == np.float64 else np.inf
    np.testing.assert_allclose(draw(1e300), huge, rtol=1e-15)
    assert np.isnan(draw([0.0, -1.0, np.nan, np.inf])).all()
    mixed = draw(np.array([0.3, 5.0, 0.3, 5.0], np.float32))
    np.testing.assert_array_equal(mixed[::2], draw(np.float32(0.3))[::2])
    np.testing.assert_array_equal(mixed[1::2], draw(5.0)[1::2])


def test_permutation(monkeypatch: pytest.MonkeyPatch) -> None:
    order = philox.permutation(SEED, COUNTER, 1000)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(np.sort(order), np.arange(1000))
    assert philox.permutation(SEED, COUNTER, 0).shape == (0,)
    draws = [philox.permutation(SEED, counter, 4) for counter in range(4800)]
    _, which = np.unique(np.array(draws), axis=0, return_inverse=True)
    assert p_counts(which, np.full(24, 1 / 24)) > 1e-3
    monkeypatch.setattr(philox, "philox4x32", words_of(1))  # all keys equal
    np.testing.assert_array_equal(philox.permutation(0, 0, 40), np.arange(40))


def test_derived_seeds() -> None:
    children = philox.split(SEED, 1000)
    folded = philox.fold(SEED, np.arange(1000).reshape(10, 100))
    assert (folded.dtype, folded.shape) == (children.dtype, (10, 100))
    np.testing.assert_array_equal(philox.split(SEED, 10), children[:10])
    draws = philox.random_longs(SEED, 0, (1000,))
    assert np.unique(np.concatenate([children, folded.ravel(), draws])).size == 3000
    assert philox.fold(SEED, 5).shape == philox.split(SEED, 0).shape[1:] == ()
    assert philox.fold(SEED, 5) == folded[0, 5]
    assert philox.fold(SEED, -1) == philox.fold(SEED, 2**64 - 1)
    assert philox.fold(SEED, -1) == philox.fold(SEED, np.int64(-1))
    assert philox.normal(children[3], 0, (2,), np.float32).shape == (2,)


def test_wrong_dtypes() -> None:
    with pytest.raises(TypeError, match="random floats need one of"):
        philox.normal(SEED, COUNTER, (2,), np.int32)
    with pytest.raises(ValueError, match="Invalid integer data type"):
        philox.randint(SEED, COUNTER, (2,), 0, 2, np.float32)
    with pytest.raises(TypeError, match="random floats need one of"):
        philox.gamma_sample_gradient(1.0, np.arange(3))


@pytest.mark.parametrize("alpha", [1e-3, 0.05, 0.3, 1.0, 3.0, 9.99, 10.0, 1e2, 1e5])
def test_gamma_gradient_is_that_of_the_quantile(alpha: float) -> None:
    inverse = scipy.special.gammaincinv
    p = np.array([0.001, 0.05, 0.3, 0.5, 0.632, 0.8, 0.99])
    p = p[inverse(alpha, p) > 1e-290]
    # Differences of order 6 of the logarithm, as small quantiles are powers.
    h = 2e-3 * min(alpha, alpha**0.5)
    up, down = (np.log(inverse(alpha + s * h * np.c_[1:4], p)) for s in (1, -1))
    slope = np.array([45, -9, 1]) @ (up - down) / (60 * h)
    found = philox.gamma_sample_gradient(alpha, inverse(alpha, p))
    np.testing.assert_allclose(found, slope * inverse(alpha, p), rtol=1e-8)


# Made with 60 digits: the power series of the distribution, or quadrature of its tail.
GRADIENTS = [
    (1e-5, 0.5, 46146.06881942334), (1e-5, 3.0, 78626.78663422827),
    (0.3, 1e-30, 2.296945396698486e-28), (0.3, 1.2, 2.946881804798908),
    (3.0, 20.0, 2.348346064720834), (9.99, 11.0, 1.0665958301995802),
    (12.0, 0.001, 0.0007862068279335749), (100.0, 97.0, 0.9864906774750127),
    (100.0, 220.0, 1.4478686430960432), (1e4, 9400.0, 0.9693974793670286),
]  # fmt: skip


def test_gamma_gradient_values() -> None:
    *given, gradient = np.array(GRADIENTS).T
    found = philox.gamma_sample_gradient(*given)
    np.testing.assert_allclose(found, gradient, rtol=1e-12)


def test_gamma_gradient_edges() -> None:
    gradient = philox.gamma_sample_gradient
    np.testing.assert_array_equal(gradient([0.1, 1.0, 50.0], 0.0), 0)
    samples = [1.0, 1.0, 1.0, -1.0, np.nan, np.inf]
    assert np.isnan(gradient([0.0, -1.0, np.nan, 1.0, 1.0, 1.0], samples)).all()
    assert gradient(1e300, 1e300) == pytest.approx(1)
    for dtype in FLOATS:
        assert gradient(2.0, np.array(1.5, dtype)).dtype == dtype
        assert gradient(np.ones((2, 1)), np.ones((0,), dtype)).shape == (2, 0)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 25.0])
def test_gamma_gradient_keeps_the_mean(alpha: float) -> None:
    """E[d sample / d alpha] = d E[sample] / d alpha = 1."""
    sample = philox.gamma(SEED, COUNTER, (MANY,), alpha, np.float64)
    gradient = philox.gamma_sample_gradient(alpha, sample)
    assert abs(gradient.mean() - 1) < 5 * gradient.std() / MANY**0.5
