"""Counter-based random numbers: Philox 4x32-10 as pure NumPy functions.

Every element is a pure function of (seed, counter, element index), so any split of the
work over chunks, threads or GPU blocks gives the same numbers.

State. The 64-bit seed is the key. The 128-bit Philox counter is, from the low end: 48
bits block index, 16 bits sub-stream, 64 bits stream offset (the `counter` argument).
Draws from the same (seed, counter) share their bits, so a generator advances its
counter by one per call. A block is four 32-bit words; "word i" is word i % 4 of block
i // 4, and "long i" is (word 2i) | (word 2i+1) << 32. Elements are numbered in C order;
the first n of a longer draw are the shorter draw. Sub-stream 0 is used unless noted:

* `random_bits`, `bernoulli`, and up to 32-bit `uniform01`, `normal` and
  `truncated_normal`: element i reads word i. The float64 ones, `random_longs`,
  `permutation` and `categorical` read long i. Normals 2j, 2j+1 share their two reads.
* `randint`: element i reads long i and, if the range is wider than 2**32, long i of
  sub-stream 1 as the lower half. Bias: a factor within 1 +- 2**-32 (wide: 2**-64).
* `gamma`: element i reads block i of sub-stream k for its attempt k = 1, 2, ..., and
  the first long of block i of sub-stream 0 for the boost of alpha < 1.
* `fold` and `split`: the first long of block 0 of the sub-streams 0xFFFF and 0xFFFE,
  with the folded number or the child index as the stream offset.

Arithmetic. Draws use only integers, int-to-float conversion, comparison, rint, ldexp,
+, -, *, / and sqrt, rounded to nearest as IEEE 754 says. Compiled code that keeps the
order of operations, without fused multiply-add, gives the same bits.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias
from typing import SupportsInt as Int

import numpy as np
from numpy.typing import ArrayLike, NDArray
from numpy.typing import DTypeLike as DType

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = Sequence[int]
State: TypeAlias = tuple[Int, Int, Shape]  # seed, counter and shape of a draw
Make: TypeAlias = Callable[[Array], Array]

# Per dtype: the bits of its significand, and the exponent of its smallest normal.
_FLOATS = {"float64": (53, -1022), "float32": (24, -126), "float16": (11, -14)}
_FLOATS["bfloat16"] = (8, -126)
_MASK32, _MASK64 = 2**32 - 1, 2**64 - 1
_CHUNK = 8192  # blocks at a time, so that the temporaries stay in cache
_GAMMA_ATTEMPTS = 64  # each succeeds with probability > 0.95

# Taylor coefficients: with z = s * s, 2 atanh s = 2 s + s z LOG(z), sin s = s + s z
# SIN(z) and cos s = 1 + z COS(z); log(1 + s) = s - s**2/2 + s**3/3 + s**4 TAIL(s).
# The float32 series (key 4, the width in bytes) stop at terms below half an ulp.
_LOG = {8: [2 / (2 * k + 1) for k in range(1, 11)]}
_SIN = {8: [(-1) ** k / math.factorial(2 * k + 1) for k in range(1, 9)]}
_COS = {8: [(-1) ** k / math.factorial(2 * k) for k in range(1, 9)]}
_LOG[4], _SIN[4], _COS[4] = _LOG[8][:4], _SIN[8][:4], _COS[8][:5]
_EXP = [1 / math.factorial(k) for k in range(14)]
_TAIL = [(-1) ** (k + 1) / k for k in range(4, 20)]
# ln 2 in two parts, the upper so short that its product with an exponent is exact.
_LN2 = {4: (710 / 1024, -2.121944400546905828e-4)}
_LN2[8] = (math.floor(math.log(2) * 2**32) / 2**32, 1.908214929270587816e-10)
# sqrt(2) erfinv(y) = y * P(w), w = -log(1 - y * y): a Chebyshev fit of P up to two
# standard deviations (0 <= w <= 2.421), with an error of 3e-16.
_PROBIT = [
    1.2533141373155006, 0.328116873869171, 0.016333236148425016,
    -0.0033023324282337127, -0.00018108045494099457, 6.591812034700202e-05,
    2.857706845852999e-06, -1.4336623960692118e-06, -5.075944887499135e-08,
    3.059554503213103e-08, 2.01459917113431e-09, -1.110765555566544e-09,
    6.424015570558917e-11, 9.622418335116174e-12, -1.0602257473551366e-12,
]  # fmt: skip
# log(a) - psi(a) = 1/(2 a) + z PSI(z) with z = a**-2, for a >= 10.
_PSI = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12]


def _uint64(numbers: ArrayLike) -> Array:
    """Integers modulo 2**64 as an array of one axis or more, which wraps silently."""
    numbers = numbers & _MASK64 if isinstance(numbers, int) else numbers
    return np.array(numbers, ndmin=1).astype(np.uint64)


def philox4x32(seed: Int, counter: ArrayLike, index: Array, stream: int) -> Array:
    """The blocks number `index` (uint64, (n,)) as words (uint32, (n, 4))."""
    key0, key1 = int(seed) & _MASK32, int(seed) >> 32 & _MASK32
    c0, c1 = index & _MASK32, index >> 32 | stream << 16
    c2, c3 = _uint64(counter) & _MASK32, _uint64(counter) >> 32
    for _ in range(10):
        even, odd = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c2 = odd >> 32 ^ c1 ^ key0, even >> 32 ^ c3 ^ key1
        c1, c3 = odd & _MASK32, even & _MASK32
        key0, key1 = key0 + 0x9E3779B9 & _MASK32, key1 + 0xBB67AE85 & _MASK32
    return np.stack([c0, c1, c2, c3], -1, dtype=np.uint32, casting="same_kind")


def _generate(
    state: State, dtype: DType, make: Make, wide: bool = False, stream: int = 0
) -> Array:
    """Apply `make` to the words (to the longs, if `wide`) of the blocks of a draw."""
    (seed, counter, shape), per_block = state, 2 if wide else 4
    size = math.prod(shape)
    blocks = -(-size // per_block)
    out = np.empty((blocks, per_block), dtype)
    for start in range(0, blocks, _CHUNK):
        index = np.arange(start, min(start + _CHUNK, blocks), dtype=np.uint64)
        words = philox4x32(seed, int(counter), index, stream)
        out[start : start + _CHUNK] = make(words.view(np.uint64) if wide else words)
    return out.reshape(-1)[:size].reshape(tuple(shape))


def _float_dtype(dtype: DType) -> np.dtype[Any]:
    found = np.dtype(dtype)
    if found.name not in _FLOATS:
        raise TypeError(f"random floats need one of {sorted(_FLOATS)}, not {found}")
    return found


def _horner(z: Array, coefficients: Sequence[float]) -> Array:
    """The polynomial with the given coefficients, lowest order first."""
    total = z * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        total = (total + coefficient) * z
    return np.asarray(total + coefficients[0])


def _log(x: Array) -> Array:
    """Natural logarithm of positive normal float32 or float64 numbers."""
    width = x.itemsize
    # Scale into [sqrt(1/2), sqrt(2)): `root` is the bit pattern of sqrt(1/2).
    mantissa, root = (23, 0x3F3504F3) if width == 4 else (52, 0x3FE6A09E667F3BCD)
    bits: Array = x.view(np.int32 if width == 4 else np.int64)
    exponent = (bits - root) >> mantissa
    f = (bits - (exponent << mantissa)).view(x.dtype) - 1
    s = f / (f + 2)
    z = s * s
    tail = _horner(z, _LOG[width]) * z
    scale, (high, low) = exponent.astype(x.dtype), _LN2[width]
    # log(1 + f) = 2 atanh(s) = 2 s + s * tail, and 2 s = f - s * f.
    return np.asarray(scale * high + ((f - s * (f - tail)) + scale * low))


def _exp(x: Array) -> Array:
    """Exponential of float64 numbers up to 700."""
    x = np.maximum(x, -800.0)
    power, (high, low) = np.rint(x * (1 / math.log(2))), _LN2[8]
    value = _horner((x - power * high) - power * low, _EXP)
    return np.asarray(np.ldexp(value, power.astype(np.int32)))


def _cos_sin_turn(bits: Array) -> tuple[Array, Array]:
    """Cosine and sine of bits / 2**width turns (uint32: float32, uint64: float64)."""
    width, shift = bits.itemsize, 8 * bits.itemsize - 2
    real, signed = (np.float32, np.int32) if width == 4 else (np.float64, np.int64)
    # Split off the nearest quarter turn; the rest is within an eighth of a turn.
    quarter = (bits + (1 << (shift - 1))) >> shift
    rest: Array = (bits - (quarter << shift)).view(signed).astype(real)
    t = rest * (math.pi / 2 * 2.0**-shift)
    z = t * t
    sin = t + t * (z * _horner(z, _SIN[width]))
    cos = 1 + z * _horner(z, _COS[width])
    swap = (quarter & 1).astype(bool)
    first, second = np.where(swap, sin, cos), np.where(swap, cos, sin)
    # Negative in quarters 1 and 2 (cosine) and in 2 and 3 (sine): flip the sign bit.
    first.view(bits.dtype)[...] ^= ((quarter + 1) & 2) << shift
    second.view(bits.dtype)[...] ^= (quarter & 2) << shift
    return first, second


def _unit(bits: Array) -> Array:
    """The number (bits + 1/2) / 2**width, rounded to a float of that width: (0, 1]."""
    nbits = 8 * bits.itemsize
    u: Array = bits.astype(np.float32 if nbits == 32 else np.float64)
    return np.asarray(u * 2.0**-nbits + 2.0 ** (-nbits - 1))


def random_bits(seed: Int, counter: Int, shape: Shape) -> Array:
    """Uniform uint32 words."""
    return _generate((seed, counter, shape), np.uint32, np.asarray)


def random_longs(seed: Int, counter: Int, shape: Shape, stream: int = 0) -> Array:
    """Uniform uint64 numbers."""
    return _generate((seed, counter, shape), np.uint64, np.asarray, True, stream)


def uniform01(seed: Int, counter: Int, shape: Shape, dtype: DType) -> Array:
    """Uniform multiples of 2**-b in [0, 1), exact in a significand of b bits."""
    dtype = _float_dtype(dtype)
    bits, wide = _FLOATS[dtype.name][0], dtype.itemsize == 8
    shift = (64 if wide else 32) - bits

    def make(words: Array) -> Array:
        return np.asarray((words >> shift).astype("f8" if wide else "f4") * 2.0**-bits)

    return _generate((seed, counter, shape), dtype, make, wide)


def normal(seed: Int, counter: Int, shape: Shape, dtype: DType) -> Array:
    """Standard normal numbers by Box-Muller; 16-bit floats round the float32 ones.

    The first of two words gives u = (word + 1/2) / 2**32, rounded into (0, 1], and the
    radius sqrt(-2 log u), at most 6.8 (float64: 9.6); the second gives the angle.
    """
    dtype = _float_dtype(dtype)

    def make(words: Array) -> Array:
        radius = np.sqrt(_log(_unit(words[:, 0::2])) * -2)
        turned = _cos_sin_turn(words[:, 1::2])
        return np.stack([radius * part for part in turned], -1).reshape(words.shape)

    return _generate((seed, counter, shape), dtype, make, dtype.itemsize == 8)


def truncated_normal(seed: Int, counter: Int, shape: Shape, dtype: DType) -> Array:
    """Normal numbers given that they lie in [-2, 2], by the inverse CDF in float64."""
    dtype = _float_dtype(dtype)
    shift, bits = (12, 52) if dtype.itemsize == 8 else (0, 32)

    def make(words: Array) -> Array:
        # The midpoint of one of 2**bits cells of (-1, 1), exact until it is scaled.
        y = ((words >> shift).astype("f8") + 0.5) * 2.0 ** (1 - bits) - 1
        y *= 0.9544997361036416  # erf(sqrt(2))
        x: Array = y * _horner(-_log((1 - y) * (1 + y)), _PROBIT)
        return np.clip(x, -2.0, 2.0)

    return _generate((seed, counter, shape), dtype, make, bits == 52)


def _multiply_high(a: Array, b: Array) -> Array:
    """The upper 64 bits of the 128-bit product of uint64 arrays."""
    a0, a1, b0, b1 = a & _MASK32, a >> 32, b & _MASK32, b >> 32
    middle = a1 * b0 + (a0 * b0 >> 32)
    lower = a0 * b1 + (middle & _MASK32)
    return np.asarray(a1 * b1 + (middle >> 32) + (lower >> 32))


def randint(
    seed: Int, counter: Int, shape: Shape, low: ArrayLike, high: ArrayLike, dtype: DType
) -> Array:
    """Uniform integers in [low, high): low + range * random; the bounds broadcast."""
    info = np.iinfo(np.dtype(dtype))
    inside = np.greater_equal(low, info.min) & np.less_equal(high, info.max + 1)
    if not np.all(np.less(low, high) & inside):
        raise ValueError(f"need {info.min} <= low < high <= {info.max + 1} ({dtype})")
    span = _uint64(high) - _uint64(low)  # modulo 2**64: zero is the whole range
    bits = random_longs(seed, counter, shape)
    value = _multiply_high(bits, span)
    if np.any(span - 1 >= 2**32):
        # (bits, lower) * span >> 128, of which the lower half only adds a carry.
        lower, partial = random_longs(seed, counter, shape, 1), bits * span
        carry = partial + _multiply_high(lower, span) < partial
        value = np.where(span == 0, bits, value + (carry & (span > 2**32)))
    total: Array = np.asarray(_uint64(low) + value)
    return total.reshape(bits.shape).astype(dtype)


def bernoulli(seed: Int, counter: Int, shape: Shape, p: ArrayLike) -> Array:
    """Booleans, true where word / 2**32 < p (never for NaN); p broadcasts."""
    limit = np.broadcast_to(np.asarray(p).astype(np.float64) * 2.0**32, shape)
    return np.asarray(random_bits(seed, counter, shape) < limit)


def categorical(seed: Int, counter: Int, logits: ArrayLike, num_samples: int) -> Array:
    """Classes of softmax(logits): int64 of shape logits.shape[:-1] + (num_samples,).

    By the inverse CDF in float64: the number of classes whose weight, summed in order,
    is at most the uniform number times the whole.
    """
    scores = np.asarray(logits).astype(np.float64)
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    if not np.isfinite(top).all():
        raise ValueError("categorical needs a finite largest logit in every row")
    lead, classes = scores.shape[:-1], scores.shape[-1]
    sums = np.cumsum(_exp(scores - top), -1).reshape(math.prod(lead), classes)
    mark = uniform01(seed, counter, (len(sums), num_samples), np.float64) * sums[:, -1:]
    out = np.zeros(mark.shape, np.int64)
    if len(sums) < classes:
        for row, (edges, marks) in enumerate(zip(sums, mark, strict=True)):
            out[row] = np.searchsorted(edges, marks, side="right")
    else:
        for edges in sums.T:
            out += edges[:, None] <= mark
    return out.reshape(*lead, num_samples)


def _gamma_attempts(seed: Int, counter: Int, index: Array, alpha: Array) -> Array:
    """Marsaglia and Tsang's method for alpha >= 1: elements `index`, in float64."""
    d = alpha - 1 / 3
    c = 1 / (3 * np.sqrt(d))
    value, todo, attempt = d.copy(), np.arange(d.size), 0
    while todo.size and attempt < _GAMMA_ATTEMPTS:
        attempt += 1
        words = philox4x32(seed, int(counter), index[todo], attempt)
        radius = np.sqrt(_log(_unit(words.view(np.uint64)[:, 0])) * -2)
        cos, _ = _cos_sin_turn(words[:, 2].astype(np.uint64) << 32)
        t = radius * cos * c[todo]
        # The test log u < x**2/2 + d - d v + d log v with v = (1 + t)**3 and t = c x,
        # less the terms that cancel: log u < 3 d (log(1 + t) - t + t**2/2 - t**3/3).
        square = t * t
        rest = _log(1 + t) - (t - square * 0.5 + square * t * (1 / 3))
        rest = np.where(np.abs(t) < 0.125, square * square * _horner(t, _TAIL), rest)
        u = (words[:, 3].astype(np.float64) + 0.5) * 2.0**-32
        good = (t > -1) & (_log(u) < 3 * d[todo] * rest)
        v = 1 + t[good]
        value[todo[good]] *= v * v * v
        todo = todo[~good]
    return value


def gamma(
    seed: Int, counter: Int, shape: Shape, alpha: ArrayLike, dtype: DType
) -> Array:
    """Standard gamma numbers, NaN unless 0 < alpha < inf; alpha broadcasts.

    Computed in float64, rounded, and raised to the smallest normal number of the
    dtype where smaller, so that the logarithm and the reciprocal are finite.
    """
    dtype = _float_dtype(dtype)
    flat = np.broadcast_to(np.asarray(alpha).astype(np.float64), shape).reshape(-1)
    out = np.empty(flat.shape, dtype)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        valid = (part > 0) & (part < np.inf)
        safe = np.where(valid, part, 1.0)
        index = np.arange(start, start + part.size, dtype=np.uint64)
        value = _gamma_attempts(seed, counter, index, safe + (safe < 1))
        small = np.flatnonzero(safe < 1)
        u = _unit(philox4x32(seed, int(counter), index[small], 0).view(np.uint64)[:, 0])
        with np.errstate(over="ignore"):  # for a tiny or a huge alpha
            value[small] *= _exp(_log(u) / safe[small])
            value = np.maximum(value, 2.0 ** _FLOATS[dtype.name][1])
            out[start : start + _CHUNK] = np.where(valid, value, np.nan)
    return out.reshape(tuple(shape))


def permutation(seed: Int, counter: Int, size: int) -> Array:
    """A random order of range(size) as int64: `random_longs` sorted, ties by index."""
    return np.argsort(random_longs(seed, counter, (size,)), kind="stable")


def fold(seed: Int, data: ArrayLike, stream: int = 0xFFFF) -> Array:
    """New seeds from a seed and integers, modulo 2**64: uint64, shaped as `data`."""
    offset = _uint64(data).reshape(-1)
    longs = philox4x32(seed, offset, np.zeros_like(offset), stream).view(np.uint64)
    return longs[:, 0].reshape(np.shape(data))


def split(seed: Int, num: int) -> Array:
    """The first `num` child seeds of a seed, as uint64 of shape (num,)."""
    return fold(seed, np.arange(num), 0xFFFE)


def _log_minus_psi(a: Array) -> Array:
    """log(a) - psi(a) for a > 0, by ten steps of the recurrence of psi."""
    z = 1 / ((a + 10) * (a + 10))
    steps = sum(1 / (a + step) for step in range(10)) - np.log1p(10 / a)
    return np.asarray(steps + 0.5 / (a + 10) + z * _horner(z, _PSI))


def _gradient_series(a: Array, x: Array) -> Array:
    """P = x**a exp(-x) T / Gamma(1 + a) with T = sum x**k / ((a + 1) ... (a + k))."""
    term, total = np.ones_like(x), np.ones_like(x)
    harmonic, slope = np.zeros_like(x), np.zeros_like(x)  # slope: dT / da
    for k in range(1, 60):
        term, harmonic = term * x / (a + k), harmonic + 1 / (a + k)
        total, slope = total + term, slope - term * harmonic
    psi = np.log1p(a) - _log_minus_psi(1 + a)
    return np.asarray(x / -a * (total * (np.log(x) - psi) + slope))


def _gradient_integral(a: Array, x: Array) -> Array:
    """Quadrature of |log y - psi(a)| pdf(y) / pdf(x) over the tail of y beyond x."""
    # With y = x exp(u) the quotient times dy / du is x exp((a - x) u - x (exp(u) - 1 -
    # u)); `span` is where that has dropped below x exp(-40).
    upper, gap = x > a, np.abs(x - a)
    span = 80 / (gap + np.hypot(gap, np.sqrt(np.where(upper, 80.0, 160 / 3) * x)))
    span = np.where(upper | (span < 1), span, (40 + x) / a)
    for _ in range(3):
        span = np.where(upper, np.log1p((40 + a * span) / x), span)
    sign, total = np.where(upper, 1.0, -1.0), np.zeros_like(x)
    log_ratio = np.where(gap < a / 2, np.log1p((x - a) / a), np.log(x / a))
    front = sign * (log_ratio + _log_minus_psi(a))
    for node, weight in zip(*np.polynomial.legendre.leggauss(32), strict=True):
        v = span * ((node + 1) / 2)
        u = sign * v
        bend = np.where(v < 0.25, u * u * _horner(u, _EXP[2:]), np.expm1(u) - u)
        total += weight * (front + v) * np.exp((a - x) * u - x * bend)
    return np.asarray(x * span / 2 * total)


def gamma_sample_gradient(alpha: ArrayLike, sample: ArrayLike) -> Array:
    """The implicit d sample / d alpha, -(dP(alpha, x) / dalpha) / pdf(x).

    Of the dtype of the sample, 0 where that is 0, and NaN outside of the domain.
    """
    a, x = np.broadcast_arrays(*(np.asarray(v).astype("f8") for v in (alpha, sample)))
    valid = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
    out = np.where((x == 0) & (a > 0), 0.0, np.nan)
    small = (a < 10) & (x <= a + 1)
    with np.errstate(all="ignore"):  # the branches of `where` that are not taken
        for mask, part in ((small, _gradient_series), (~small, _gradient_integral)):
            out[valid & mask] = part(a[valid & mask], x[valid & mask])
    return out.astype(_float_dtype(np.asarray(sample).dtype))
