"""Compiled softmax, scans, sorting and searching: as the eager operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape import nest
from gtape.config import settings
from gtape.errors import IndexRangeError
from gtape.ops.logsumexp import cumulative_logsumexp
from gtape.ops.scanning import cummax, cummin, cumprod, cumsum, linear_recurrence
from gtape.ops.searching import searchsorted
from gtape.ops.sorting import argsort, sort, top_k

SIZES = (0, 1, 2, 3, 17, 1000)
FLOATS = ("float32", "float64")
ORDERED = ("float32", "float64", "int64", "uint8", "bool")
RTOL = {"float32": 2e-6, "float64": 1e-13}
DIRECTIONS = ("ASCENDING", "DESCENDING")
cross_entropy = gt.nn.sparse_softmax_cross_entropy_with_logits


def shapes(size: int) -> list[tuple[tuple[int, ...], int]]:
    """Return tensors with an axis of a size: the first, the middle, the last one."""
    if size != 17:
        return [((size,), 0), ((2, size, 3), 1)]
    # More columns than are computed side by side, too.
    return [((size,), 0), ((size, 70), 0), ((2, size, 3), 1), ((3, size), 1)]


def numbers(shape: tuple[int, ...], dtype: str, special: bool = False) -> Any:
    rng = np.random.default_rng(sum(shape))
    x = rng.normal(0, 3, shape)
    if dtype == "bool":
        return x > 0
    if dtype == "uint8":
        return np.abs(x * 20).astype(dtype)
    x = np.round(x, 1).astype(dtype)  # some are equal
    if special and dtype in FLOATS:
        for step, value in ((5, np.nan), (7, np.inf), (11, -np.inf), (4, -0.0)):
            x.reshape(-1)[step - 1 :: step + 8] = value
    return x


def same(call: Callable[..., Any], *arrays: Any, exact: bool = False) -> None:
    """Require that a call gives compiled what it gives eagerly."""
    args = [gt.constant(a) for a in arrays]
    function = gt.function(call, jit_compile=True)
    with np.errstate(all="ignore"):
        outs = nest.flatten(function(*args)), nest.flatten(call(*args))
    assert function.concrete(*args)._concrete.program.why_not == ""
    for out, eager in zip(*outs, strict=True):
        found, wanted = out.numpy(), eager.numpy()
        assert found.dtype == wanted.dtype
        rtol = 0.0 if exact else RTOL.get(str(wanted.dtype), 0.0)
        scale = np.max(np.abs(wanted), initial=1.0, where=np.isfinite(wanted))
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * float(scale))


# --- Softmax --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("call", [gt.nn.softmax, gt.nn.log_softmax])
def test_softmax(call: Any, size: int, dtype: str) -> None:
    for shape, axis in shapes(size):
        same(lambda x, axis=axis: call(x, axis), numbers(shape, dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("call", [gt.nn.softmax, gt.nn.log_softmax])
def test_softmax_of_special_numbers(call: Any, dtype: str) -> None:
    inf, nan = np.inf, np.nan
    rows = [[1, 2, nan], [inf, 1, 2], [-inf, 1, 2], [-inf] * 3, [inf, inf, 1]]
    x = np.array([*rows, [nan, inf, -inf], [1e4, -1e4, 0], [-0.0, 0.0, -1]], dtype)
    same(lambda x: call(x, 1), x)
    same(lambda x: call(x, 0), x.T.copy())
    long = np.zeros((2, 1000), dtype)
    long[0, 500] = nan
    long[1, 999] = inf
    same(lambda x: call(x, 1), long)


def test_softmax_sums_many_numbers_well() -> None:
    x = np.zeros(300_000, np.float32)
    out = gt.function(gt.nn.softmax, jit_compile=True)(gt.constant(x)).numpy()
    np.testing.assert_allclose(out, 1 / 300_000, rtol=1e-6)


def test_softmax_of_unknown_sizes() -> None:
    spec = gt.TensorSpec((None, None, None), "float32")
    for axis in range(3):
        function = gt.function(
            lambda x, axis=axis: gt.nn.softmax(x, axis),
            jit_compile=True,
            input_signature=[spec],
        )
        for shape in ((2, 3, 4), (70, 2, 129), (0, 3, 2), (1, 1, 1)):
            x = gt.constant(numbers(shape, "float32"))
            wanted = gt.nn.softmax(x, axis).numpy()
            np.testing.assert_allclose(function(x).numpy(), wanted, rtol=2e-6)


@pytest.mark.parametrize(
    ("dtype", "labels"),
    [("float32", "int32"), ("float64", "int64"), ("float32", "uint8")],
)
@pytest.mark.parametrize("size", SIZES)
def test_cross_entropy(size: int, dtype: str, labels: str) -> None:
    rng = np.random.default_rng(size)
    for shape in ((size,), (5, size), (2, 3, size), (0, size)):
        if size == 0 and shape != (0, size):
            continue
        picked = rng.integers(0, min(max(size, 1), 255), shape[:-1]).astype(labels)
        same(
            lambda x, y: cross_entropy(y, x), numbers(shape, dtype), np.asarray(picked)
        )


@pytest.mark.parametrize("bad", [3, -1])
@pytest.mark.parametrize("rank", [1, 2])
def test_labels_out_of_range(rank: int, bad: int) -> None:
    shape = (2, 3)[-rank:]
    x = gt.constant(numbers(shape, "float32"))
    y = gt.constant(np.full(shape[:-1], bad))
    with pytest.raises(IndexRangeError) as eager:
        cross_entropy(y, x)
    function = gt.function(lambda x, y: cross_entropy(y, x), jit_compile=True)
    with pytest.raises(IndexRangeError) as compiled:
        function(x, y)
    said = [str(e.value).split(" At ")[0] for e in (eager, compiled)]
    assert said[0] == said[1]
    good = gt.constant(np.zeros(shape[:-1], int))
    np.testing.assert_allclose(
        function(x, good).numpy(), cross_entropy(good, x).numpy(), atol=1e-6
    )


# --- Scans ----------------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
@pytest.mark.parametrize("call", [cumsum, cumprod, cummax, cummin])
def test_scans(call: Any, dtype: str, reverse: bool) -> None:
    for size in SIZES:
        for shape, axis in shapes(size):
            x = numbers(shape, dtype, special=True)
            same(lambda x, axis=axis: call(x, axis, reverse=reverse), x, exact=True)


@pytest.mark.parametrize("dtype", FLOATS)
def test_cumulative_logsumexp(dtype: str) -> None:
    for size in SIZES:
        for shape, axis in shapes(size):
            for special in (False, True):
                x = numbers(shape, dtype, special)
                same(lambda x, axis=axis: cumulative_logsumexp(x, axis), x)


def recurrence(axis: int, reverse: bool) -> Callable[..., Any]:
    return lambda a, x: linear_recurrence(a, x, axis, reverse)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, "int64"])
def test_linear_recurrence(dtype: str, reverse: bool) -> None:
    for size in SIZES:
        for shape, axis in shapes(size):
            x = numbers(shape, dtype)
            a = np.sign(x) if dtype == "int64" else np.tanh(x)

            same(recurrence(axis, reverse), a, x, exact=True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_scans_of_half_precision(dtype: str) -> None:
    x = gt.cast(gt.constant(numbers((40, 5), "float32")), dtype)
    for axis in (0, 1):
        function = gt.function(lambda x, axis=axis: cumsum(x, axis), jit_compile=True)
        wanted = gt.cast(cumsum(x, axis), "float32").numpy()
        found = gt.cast(function(x), "float32").numpy()
        np.testing.assert_array_equal(found, wanted)


# --- Sorting --------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", ORDERED)
def test_sort(dtype: str, direction: str) -> None:
    for size in (0, 1, 2, 17, 33, 1000):
        for shape, axis in shapes(size):
            x = numbers(shape, dtype, special=True)
            same(
                lambda x, axis=axis: (
                    sort(x, axis, direction),
                    argsort(x, axis, direction),
                ),
                x,
            )


@pytest.mark.parametrize("dtype", ORDERED)
@pytest.mark.parametrize("k", [0, 1, 3, 32, 33, 100])
def test_top_k(k: int, dtype: str) -> None:
    for shape in ((3,), (2, 33), (2, 3, 1000)):
        if k <= shape[-1]:
            x = numbers(shape, dtype, special=True)
            same(lambda x: tuple(top_k(x, k)), x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_order_of_zeros_and_nan(dtype: str) -> None:
    nan = np.array([np.nan, -np.nan, 0.0, -0.0, 0.0, np.inf, -np.inf, -0.0], dtype)
    for x in (nan, np.tile(nan, 20)):
        for direction in DIRECTIONS:
            same(lambda x, d=direction: argsort(x, direction=d), x)
        same(lambda x: sort(x), x)
        same(lambda x: top_k(x, 6).indices, x)
        numerals = gt.function(lambda x: sort(x), jit_compile=True)(gt.constant(x))
        assert np.signbit(numerals.numpy()[:-1]).sum() >= np.signbit(x[x == 0]).sum()


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_order_of_extreme_integers(dtype: str) -> None:
    ends = np.iinfo(dtype)
    x = np.array([0, ends.max, ends.min, 1, ends.max, ends.min, 7], dtype)
    for values in (x, np.tile(x, 10)):
        same(lambda x: sort(x), values)
        same(lambda x: argsort(x, direction="DESCENDING"), values)
        same(lambda x: top_k(x, 3).indices, values)


def test_sort_of_unknown_sizes() -> None:
    spec = gt.TensorSpec((None, None), "float64")
    for axis in (0, 1):
        function = gt.function(
            lambda x, axis=axis: argsort(x, axis),
            jit_compile=True,
            input_signature=[spec],
        )
        for shape in ((3, 4), (100, 70), (0, 3), (3, 0), (1, 1), (700, 2)):
            x = gt.constant(numbers(shape, "float64", special=True))
            wanted = argsort(x, axis).numpy()
            np.testing.assert_array_equal(function(x).numpy(), wanted)


@pytest.mark.parametrize("threads", [1, 2])
def test_sort_on_threads(threads: int) -> None:
    before = settings.num_threads
    settings.num_threads = threads
    try:
        same(lambda x: argsort(x), numbers((200, 600), "float32", special=True))
        same(lambda x: gt.nn.softmax(x), numbers((2000, 600), "float32"))
        same(lambda x: cumsum(x, 1), numbers((2000, 600), "float32"), exact=True)
    finally:
        settings.num_threads = before


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ORDERED)
def test_searchsorted(dtype: str, side: str) -> None:
    def call(sequence: Any, values: Any) -> Any:
        return searchsorted(sequence, values, side)

    for size in (0, 1, 3, 1000):
        sequence = np.sort(numbers((size,), dtype, special=True))
        for shape in ((), (2, 5), (0,)):
            values = numbers((30,), dtype, special=True)
            values = values[4] if shape == () else np.resize(values, shape)
            same(call, sequence, np.asarray(values))
        rows = np.sort(numbers((2, 3, size), dtype, special=True), -1)
        same(call, rows, numbers((2, 3, 7), dtype, special=True))


# --- Gradients ------------------------------------------------------------------------

SMOOTH: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: gt.nn.softmax(x, 0) * x,
    "log_softmax": lambda x: gt.nn.log_softmax(x) * gt.nn.log_softmax(x, 1),
    "cross_entropy": lambda x: cross_entropy([1, 0, 2, 3], gt.reshape(x, (4, 18))),
    "cumsum": lambda x: cumsum(x, 1) ** 2,
    "cumprod": lambda x: cumprod(x, 0, reverse=True),
    "cummax": lambda x: cummax(x, 2) * x,
    "cummin": lambda x: cummin(x, 1, reverse=True) * x,
    "cumulative_logsumexp": lambda x: cumulative_logsumexp(x, 1) * x,
    "linear_recurrence": lambda x: linear_recurrence(gt.tanh(x), x, 2),
    "sort": lambda x: sort(x, 1) * gt.reshape(gt.range(72.0), (3, 4, 6)),
    "top_k": lambda x: top_k(x, 3).values ** 2,
}


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name: str) -> None:
    def gradient(x: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = gt.reduce_sum(SMOOTH[name](x))
        return tape.gradient(y, x)

    x = gt.constant(np.random.default_rng(3).normal(size=(3, 4, 6)))
    found = gt.function(gradient, jit_compile=True)(x).numpy()
    np.testing.assert_allclose(found, gradient(x).numpy(), rtol=1e-11, atol=1e-12)
