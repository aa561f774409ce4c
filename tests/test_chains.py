"""Random chains of operations against NumPy, and gradients against differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

import gtape as gt
from gtape import nest
from gtape.ops.indexing import getitem, with_item
from gtape.ops.reduction import reduce_max, reduce_mean
from gtape.ops.trig import sin, tanh
from gtape.testing import check_grads

Step = Callable[[Any, list[Any]], Any]
"""One operation of a chain: (operations, the values so far) -> the next value."""


def _numpy_with_item(x: Any, key: Any, value: Any) -> Any:
    out = np.array(x)
    out[key] = value
    return out


GTAPE = SimpleNamespace(
    **{name: getattr(gt, name) for name in ("exp", "log1p", "sqrt", "square", "abs")},
    **{name: getattr(gt, name) for name in ("maximum", "minimum", "where", "hypot")},
    **{name: getattr(gt, name) for name in ("reshape", "transpose", "concat", "stack")},
    sin=sin,
    tanh=tanh,
    sum=gt.reduce_sum,
    mean=reduce_mean,
    max=reduce_max,
    matmul=gt.matmul,
    broadcast=gt.broadcast_to,
    getitem=getitem,
    with_item=with_item,
)
NUMPY = SimpleNamespace(
    **{name: getattr(np, name) for name in ("exp", "log1p", "sqrt", "square", "abs")},
    **{name: getattr(np, name) for name in ("maximum", "minimum", "where", "hypot")},
    **{name: getattr(np, name) for name in ("reshape", "transpose", "stack")},
    concat=np.concatenate,
    sin=np.sin,
    tanh=np.tanh,
    sum=lambda x, axis, keepdims: np.sum(x, axis=axis, keepdims=keepdims),
    mean=lambda x, axis, keepdims: np.mean(x, axis=axis, keepdims=keepdims),
    max=lambda x, axis, keepdims: np.max(x, axis=axis, keepdims=keepdims),
    matmul=np.matmul,
    broadcast=np.broadcast_to,
    getitem=lambda x, key: x[key],
    with_item=_numpy_with_item,
)

UNARY: list[Callable[[Any, Any], Any]] = [
    lambda m, x: m.sin(x),
    lambda m, x: m.tanh(x),
    lambda m, x: m.exp(-m.square(x)),
    lambda m, x: m.sqrt(1.0 + x * x),
    lambda m, x: m.log1p(m.square(x)),
    lambda m, x: m.abs(x),
    lambda m, x: x / (2.0 + m.sin(x)),
    lambda m, x: 1.5 - x,
    lambda m, x: m.tanh(x) ** 3,
    lambda m, x: m.where(x > 0.25, x, m.sin(x)),
]
BINARY: list[Callable[[Any, Any, Any], Any]] = [
    lambda m, x, y: x + y,
    lambda m, x, y: x - 0.5 * y,
    lambda m, x, y: m.sin(x) * y,
    lambda m, x, y: x / (1.5 + m.square(y)),
    lambda m, x, y: m.maximum(x, y),
    lambda m, x, y: m.minimum(x, y),
    lambda m, x, y: m.hypot(x, 1.0 + m.square(y)),
    lambda m, x, y: m.where(x < y, x, m.tanh(y)),
]
MOST = 60  # elements of a value, so that products of chains stay small


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[Any], list[Step]]:
    """Draw the inputs of a chain and three to eight steps that fit them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = draw(
        st.lists(st.lists(st.integers(1, 3), max_size=3), min_size=1, max_size=2)
    )
    inputs = [rng.uniform(-2, 2, shape) for shape in shapes]
    values = list(inputs)
    steps: list[Step] = []
    for _ in range(draw(st.integers(3, 8))):
        kinds = [unary, binary, reduction, reshaping, indexing, updating, product]
        step = draw(st.sampled_from(kinds))(draw, values)
        steps.append(step)
        values.append(np.asarray(step(NUMPY, values)))
    return inputs, steps


def pick(draw: st.DrawFn, values: list[Any]) -> int:
    """Draw a value's place; the newest often, so that chains grow long."""
    return draw(st.one_of(st.just(len(values) - 1), st.integers(0, len(values) - 1)))


def unary(draw: st.DrawFn, values: list[Any]) -> Step:
    i, f = pick(draw, values), draw(st.sampled_from(UNARY))
    return lambda m, v: f(m, v[i])


def binary(draw: st.DrawFn, values: list[Any]) -> Step:
    i, f = pick(draw, values), draw(st.sampled_from(BINARY))
    fitting = [k for k, v in enumerate(values) if k == i or fits(values[i], v)]
    j = draw(st.sampled_from(fitting))
    return lambda m, v: f(m, v[i], v[j])


def fits(x: Any, y: Any) -> bool:
    try:
        return math.prod(np.broadcast_shapes(x.shape, y.shape)) <= MOST
    except ValueError:
        return False


def axes_of(draw: st.DrawFn, rank: int) -> tuple[int, ...] | None:
    if rank == 0:
        return None
    some = st.lists(st.integers(0, rank - 1), min_size=1, unique=True).map(tuple)
    return draw(st.one_of(st.none(), some))


def reduction(draw: st.DrawFn, values: list[Any]) -> Step:
    i, name = pick(draw, values), draw(st.sampled_from(["sum", "mean", "max"]))
    axes, keep = axes_of(draw, values[i].ndim), draw(st.booleans())
    return lambda m, v: getattr(m, name)(v[i], axis=axes, keepdims=keep)


def reshaping(draw: st.DrawFn, values: list[Any]) -> Step:
    i = pick(draw, values)
    x = values[i]
    kind = draw(st.sampled_from(["flat", "transpose", "broadcast", "stack", "concat"]))
    if kind == "flat":
        return lambda m, v: m.reshape(v[i], (-1,))
    if kind == "transpose":
        order = draw(st.permutations(range(x.ndim)))
        return lambda m, v: m.transpose(v[i], order)
    if 2 * x.size > MOST or (kind == "concat" and x.ndim == 0):
        return lambda m, v: m.reshape(v[i], (1, *x.shape))
    if kind == "broadcast":
        return lambda m, v: m.broadcast(v[i], (2, *x.shape))
    axis = draw(st.integers(0, x.ndim - (kind == "concat")))
    return lambda m, v: getattr(m, kind)([v[i], m.sin(v[i])], axis=axis)


def place(draw: st.DrawFn, x: Any) -> Any:
    """Draw an index of a value: an integer, slices, a list or a mask."""
    if x.ndim == 0:
        return ...
    n = x.shape[0]
    slices = st.slices(n).filter(lambda s: len(range(*s.indices(n))) > 0)
    lists = st.lists(st.integers(-n, n - 1), min_size=1, max_size=3)
    masks = st.lists(st.booleans(), min_size=n, max_size=n).filter(any)
    entry = draw(
        st.one_of(st.integers(-n, n - 1), slices, lists, masks.map(np.array), st.none())
    )
    last = [None, slice(None)] if x.ndim > 1 else [None]
    return (entry, ..., draw(st.sampled_from(last)))


def indexing(draw: st.DrawFn, values: list[Any]) -> Step:
    i = pick(draw, values)
    key = place(draw, values[i])
    if values[i][key].size > MOST:
        key = ...
    return lambda m, v: m.getitem(v[i], key)


def updating(draw: st.DrawFn, values: list[Any]) -> Step:
    i = pick(draw, values)
    key = place(draw, values[i])
    return lambda m, v: m.with_item(v[i], key, m.sin(m.sum(v[-1], None, False)))


def product(draw: st.DrawFn, values: list[Any]) -> Step:
    i = pick(draw, values)
    x = values[i]
    if x.ndim < 2:
        shapes = (-1, 1), (1, -1)
        if x.size**2 > MOST or draw(st.booleans()):
            shapes = shapes[::-1]  # one number
        a, b = shapes
        return lambda m, v: m.matmul(m.reshape(v[i], a), m.tanh(m.reshape(v[i], b)))
    order = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    return lambda m, v: m.matmul(v[i], m.tanh(m.transpose(v[i], order)))


def run(m: Any, inputs: Any, steps: list[Step]) -> Any:
    """Return the last value of a chain."""
    values = list(inputs)
    for step in steps:
        values.append(step(m, values))
    return values[-1]


def is_smooth(inputs: list[Any], steps: list[Step]) -> bool:
    """Return whether differences resolve the slope: no kink is near, nothing steep."""
    rng = np.random.default_rng(7)
    for _ in range(3):
        directions = [rng.standard_normal(x.shape) for x in inputs]
        slopes = []
        for step in (2e-5, 4e-5):
            up, down = (
                run(
                    NUMPY,
                    [x + s * d for x, d in zip(inputs, directions, strict=True)],
                    steps,
                )
                for s in (step, -step)
            )
            slopes.append((up - down) / (2 * step))
        scale = 1 + float(np.max(np.abs(slopes), initial=0))
        if np.any(np.abs(slopes[0] - slopes[1]) > 1e-6 * scale):
            return False
    return True


@given(chains())
@settings(max_examples=150)
def test_values(chain: Any) -> None:
    inputs, steps = chain
    found = run(GTAPE, [gt.Variable(x) for x in inputs], steps)
    wanted = run(NUMPY, inputs, steps)
    assert tuple(found.shape) == wanted.shape
    assert found.dtype == "float64"
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-11, atol=1e-11)


@given(chains())
@settings(max_examples=100)
def test_gradients(chain: Any) -> None:
    inputs, steps = chain
    if is_smooth(inputs, steps):
        check_grads(lambda *xs: run(GTAPE, xs, steps), *inputs, order=1)


@given(chains())
@settings(max_examples=60)
def test_second_gradients_and_forward_mode(chain: Any) -> None:
    inputs, steps = chain
    if is_smooth(inputs, steps):
        check_grads(
            lambda *xs: run(GTAPE, xs, steps),
            *inputs,
            rtol=1e-3,
            atol=1e-3,
            modes=("reverse", "forward"),
        )


@given(chains())
@settings(max_examples=60)
def test_a_persistent_tape_and_a_recorded_pass_agree(chain: Any) -> None:
    inputs, steps = chain
    variables = [gt.Variable(x) for x in inputs]
    with gt.GradientTape() as outer:
        with gt.GradientTape(persistent=True) as tape:
            y = run(GTAPE, variables, steps)
        recorded = tape.gradient(y, variables)
    plain = tape.gradient(y, variables)
    assert outer.watched_variables() == tape.watched_variables()
    for a, b in zip(nest.flatten(recorded), nest.flatten(plain), strict=True):
        if a is None or b is None:
            assert a is b
        else:
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-9)
