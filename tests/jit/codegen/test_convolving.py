"""Compiled convolution and pooling: the same as the operations give eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape import nest
from gtape.dispatch import apply
from gtape.jit.codegen import convolving
from gtape.ops.convolving import convolution, convolution_filter, convolution_input
from gtape.ops.pools import max_windows, mean_windows
from gtape.ops.windows import Windows, as_windows
from gtape.primitive import registry

RTOL = {"float32": 1e-5, "float64": 1e-12}
PADDINGS = ("SAME", "VALID", "pairs")


def numbers(seed: int, shape: Any, dtype: Any = "float64") -> Any:
    """Return a tensor of random numbers, some of them equal."""
    drawn = np.random.default_rng(seed).integers(-40, 40, shape)
    scale = 1 if np.dtype(dtype).kind in "iu" else 0.1
    return gt.constant((drawn * scale).astype(dtype))


def windows(
    sizes: Any, size: Any, stride: int = 1, padding: Any = "VALID", dilation: int = 1
) -> Windows:
    if padding == "pairs":
        padding = [(min(1, k - 1), k - 1) for k in size]
    return as_windows("test", sizes, size, stride, padding, dilation, False)


def close(found: Any, wanted: Any, exact: bool = False) -> None:
    """Require equal results, floats up to what the order of a sum changes."""
    flat = zip(nest.flatten(found), nest.flatten(wanted), strict=True)
    for x, y in [(a.numpy(), b.numpy()) for a, b in flat]:
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if exact or y.dtype.kind in "iub":
            np.testing.assert_array_equal(x, y)
            continue
        rtol = RTOL[y.dtype.name]
        scale = float(np.max(np.abs(y), initial=0.0))
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * scale)


def why_interpreted(function: Any, args: Any) -> str:
    reason: str = function.concrete(*args)._concrete.program.why_not
    return reason


def check(function: Callable[..., Any], *args: Any, exact: bool = False) -> None:
    """Require that a function becomes machine code and gives what it gives eagerly."""
    traced = gt.function(function, jit_compile=True)
    close(traced(*args), function(*args), exact)
    assert why_interpreted(traced, args) == ""


def check_three(
    win: Windows,
    batch: int,
    sizes: Any,
    channels: int,
    features: int,
    groups: int = 1,
    dtype: str = "float64",
) -> None:
    """Compare a convolution and its two transposes."""
    x = numbers(1, (batch, *sizes, channels), dtype)
    w = numbers(2, (*win.size, channels // groups, features), dtype)
    y = numbers(3, (batch, *win.counts("test", sizes), features), dtype)
    known = {"windows": win, "groups": groups}

    def three(x: Any, w: Any, y: Any) -> Any:
        return (
            apply(convolution, x, w, **known),
            apply(convolution_filter, x, y, **known),
            apply(convolution_input, y, w, sizes=tuple(sizes), **known),
        )

    check(three, x, w, y)


# --- Convolution ----------------------------------------------------------------------


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("dilation", [1, 2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_strides_dilations_padding(stride: int, dilation: int, padding: Any) -> None:
    sizes, batch = ((10, 9), 5) if padding == "SAME" else ((9, 12), 1)
    win = windows(sizes, (3, 2), stride, padding, dilation)
    check_three(win, batch, sizes, 3, 8, 1, "float32" if stride == 2 else "float64")


@pytest.mark.parametrize("channels", [1, 3, 8])
@pytest.mark.parametrize("features", [1, 3, 8, 20])
def test_channels_and_features(channels: int, features: int) -> None:
    win = windows((8, 7), (3, 3), 1, "SAME")
    batch = 5 if channels == 3 else 1
    check_three(win, batch, (8, 7), channels, features, 1, "float32")


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_ranks(rank: int, padding: Any) -> None:
    sizes, size = (7, 6, 5)[:rank], (3, 2, 2)[:rank]
    check_three(windows(sizes, size, 2, padding), 2, sizes, 8, 6)
    check_three(windows(sizes, size, 1, padding, 2), 2, sizes, 2, 2)


@pytest.mark.parametrize(
    ("channels", "features", "groups"),
    [(4, 4, 4), (4, 8, 4), (12, 12, 2), (12, 24, 3), (12, 10, 2), (10, 10, 1)],
)
@pytest.mark.parametrize("padding", PADDINGS)
def test_groups(channels: int, features: int, groups: int, padding: Any) -> None:
    win = windows((8, 9), (3, 3), 2 if padding == "SAME" else 1, padding)
    check_three(win, 5, (8, 9), channels, features, groups)


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("stride", [1, 2])
def test_windows_of_one_element(stride: int, groups: int) -> None:
    win = windows((7, 6), (1, 1), stride)
    check_three(win, 5, (7, 6), 15, 12, groups)


def test_windows_larger_than_the_input() -> None:
    for channels in (1, 8):
        check_three(windows((2, 3), (5, 7), 1, "SAME"), 3, (2, 3), channels, 8)
        check_three(windows((2, 3), (5, 7), 2, "SAME"), 3, (2, 3), channels, 8)
        wide = windows((3,), (3,), 1, [(9, 2)])
        check_three(wide, 3, (3,), channels, 8)  # windows that hold padding only
        check_three(windows((3,), (2,), 1, [(9, 7)], 4), 3, (3,), channels, 8)


def test_nothing() -> None:
    for channels in (1, 8):
        check_three(windows((5, 5), (3, 3), 1, "SAME"), 0, (5, 5), channels, 8)
        check_three(windows((0, 5), (1, 3)), 2, (0, 5), channels, 4)
        check_three(windows((5, 5), (3, 3), 2), 2, (5, 5), channels, 0)


@pytest.mark.parametrize("bytes_of_columns", [1, 700, 1 << 13])
def test_blocks(bytes_of_columns: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(convolving, "_BLOCK", bytes_of_columns)
    check_three(windows((7, 6), (3, 3), 1, "SAME"), 5, (7, 6), 8, 8)
    check_three(windows((7, 6), (3, 3), 2), 5, (7, 6), 12, 12, 2)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_integers_wrap_around(dtype: str) -> None:
    win = windows((6, 5), (3, 2), 1, "SAME")
    x, w = numbers(1, (2, 6, 5, 4), dtype), numbers(2, (3, 2, 4, 6), dtype)

    def run(x: Any, w: Any) -> Any:
        y = apply(convolution, x, w, windows=win, groups=1)
        again = apply(convolution_input, y, w, windows=win, groups=1, sizes=(6, 5))
        return y, again, apply(convolution_filter, x, y, windows=win, groups=1)

    check(run, x, w)


def with_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with its gradients by all arguments."""

    def run(*args: Any) -> Any:
        with gt.GradientTape() as tape:
            for x in args:
                tape.watch(x)
            out = function(*args)
            loss = gt.reduce_sum(gt.sin(out))
        return out, tape.gradient(loss, list(args))

    return run


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_of_public_functions(stride: int, padding: str) -> None:
    def signals(x: Any, w: Any) -> Any:
        return gt.nn.conv1d(x, w, stride, padding)

    def images(x: Any, w: Any) -> Any:
        return gt.nn.conv2d(x, w, stride, padding, "NCHW")

    def each(x: Any, w: Any) -> Any:
        return gt.nn.depthwise_conv2d(x, w, stride, padding)

    check(with_gradients(signals), numbers(1, (3, 9, 4)), numbers(2, (3, 4, 5)))
    check(with_gradients(images), numbers(1, (3, 4, 9, 8)), numbers(2, (3, 3, 4, 5)))
    check(with_gradients(each), numbers(1, (3, 9, 8, 4)), numbers(2, (3, 3, 4, 2)))


@pytest.mark.parametrize("channels", [1, 8])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_a_batch_size_that_varies(padding: str, channels: int) -> None:
    def model(x: Any, w: Any) -> Any:
        y = gt.nn.conv2d(x, w, 2, padding)
        return gt.nn.max_pool2d(y, 2, 1, padding) + gt.nn.avg_pool2d(y, 2, 1, padding)

    run = with_gradients(model)
    traced = gt.function(run, jit_compile=True)
    w = numbers(2, (3, 3, channels, 8))
    for batch in (2, 3, 7, 0, 40):
        x = numbers(batch, (batch, 11, 10, channels))
        close(traced(x, w), run(x, w))
        assert why_interpreted(traced, (x, w)) == ""
    assert traced.trace_count <= 3


def test_all_sizes_vary() -> None:
    def model(x: Any, w: Any) -> Any:
        return gt.nn.max_pool2d(gt.nn.conv2d(x, w, 1, "VALID"), 2, 2, "VALID")

    run = with_gradients(model)
    traced = gt.function(run, jit_compile=True)
    for n, height, channels in ((2, 8, 2), (3, 9, 3), (5, 12, 4), (1, 7, 8)):
        x = numbers(n, (n, height, height + 1, channels))
        w = numbers(2, (3, 3, channels, 2 * channels))
        close(traced(x, w), run(x, w))
        assert why_interpreted(traced, (x, w)) == ""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex128"])
def test_other_dtypes_are_interpreted(dtype: str) -> None:
    x, w = gt.cast(numbers(1, (1, 5, 2)), dtype), gt.cast(numbers(2, (3, 2, 4)), dtype)

    def run(x: Any, w: Any) -> Any:
        return gt.nn.conv1d(x, w, 1, "SAME")

    traced = gt.function(run, jit_compile=True)
    np.testing.assert_array_equal(traced(x, w).numpy(), run(x, w).numpy())
    assert why_interpreted(traced, (x, w)) != ""


# --- Pooling --------------------------------------------------------------------------


def check_pools(win: Windows, batch: int, sizes: Any, channels: int, dtype: Any) -> Any:
    """Compare all operations on windows."""
    own = registry()
    counts = win.counts("test", sizes)
    x = numbers(1, (batch, *sizes, channels), dtype)
    g = numbers(2, (batch, *counts, channels), dtype)

    def maxima(x: Any, g: Any) -> Any:
        out = apply(max_windows, x, windows=win)
        place = apply(own["max_pool_place"], x, out, windows=win)
        return (
            *(out, place, apply(own["max_pool_pick"], x, place, windows=win)),
            apply(own["max_pool_spread"], g, place, windows=win, sizes=tuple(sizes)),
        )

    def means(x: Any, g: Any) -> Any:
        spread = apply(own["avg_pool_spread"], g, windows=win, sizes=tuple(sizes))
        return apply(mean_windows, x, windows=win), spread

    check(maxima, x, g, exact=True)
    if np.dtype(dtype).kind == "f":
        check(means, x, g)


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_pools(dtype: str, stride: int, padding: Any) -> None:
    for size, channels in (((2, 2), 8), ((3, 1), 3), ((3, 4), 1)):
        sizes = (8, 7) if channels == 3 else (9, 8)
        check_pools(windows(sizes, size, stride, padding), 2, sizes, channels, dtype)


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("rank", [1, 3])
def test_pools_of_other_ranks(rank: int, padding: Any) -> None:
    sizes, size = (7, 6, 5)[:rank], (3, 2, 2)[:rank]
    check_pools(windows(sizes, size, 2, padding), 3, sizes, 3, "float64")


def test_pools_of_nothing_and_more_than_there_is() -> None:
    check_pools(windows((4, 4), (2, 2), 2), 0, (4, 4), 3, "float64")
    check_pools(windows((0, 4), (1, 2), 2), 2, (0, 4), 3, "float64")
    check_pools(windows((4, 4), (2, 2), 2), 2, (4, 4), 0, "float64")
    check_pools(windows((2, 3), (4, 5), 1, "SAME"), 2, (2, 3), 3, "float64")


def test_ties_and_nan() -> None:
    rng = np.random.default_rng(0)
    values = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, 1.0])
    x = gt.constant(rng.choice(values, (4, 7, 6, 3)))

    def run(x: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(x)
            out = gt.nn.max_pool2d(x, 3, 2, "SAME")
            loss = gt.reduce_sum(out * numbers(3, out.shape))
        return out, tape.gradient(loss, x)

    check(run, x, exact=True)
    win = windows((7, 6), (3, 3), 2, "SAME")
    place = registry()["max_pool_place"]

    def places(x: Any) -> Any:
        return apply(place, x, apply(max_windows, x, windows=win), windows=win)

    check(places, x, exact=True)


def test_picked_places_of_other_dtypes() -> None:
    win = windows((4, 6), (2, 3), 2, "SAME")
    pick = registry()["max_pool_pick"]

    def run(h: Any, found: Any) -> Any:
        return apply(pick, h, found, windows=win)

    found = gt.constant(np.random.default_rng(0).integers(-2, 8, (3, 2, 3, 2)))
    for dtype in ("bool", "int16", "float32"):
        check(run, gt.cast(numbers(1, (3, 4, 6, 2)), dtype), found, exact=True)


def test_derivatives_of_second_order() -> None:
    def model(x: Any, w: Any) -> Any:
        y = gt.nn.conv2d(x, w, 1, "SAME")
        return gt.nn.max_pool2d(y, 2, 2, "VALID") * gt.nn.avg_pool2d(y, 2, 2, "VALID")

    def run(x: Any, w: Any) -> Any:
        with gt.GradientTape() as outer:
            outer.watch([x, w])
            with gt.GradientTape() as inner:
                inner.watch([x, w])
                loss = gt.reduce_sum(model(x, w) ** 2)
            first = inner.gradient(loss, [x, w])
            size = gt.reduce_sum(first[0] ** 2) + gt.reduce_sum(first[1] ** 2)
        return outer.gradient(size, [x, w])

    check(run, numbers(1, (2, 6, 6, 3)), numbers(2, (3, 3, 3, 4)))
