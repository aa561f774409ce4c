"""Shapes in `gt.function`: sizes by tensors, by data, and what cannot be known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.errors import TracingError

DATA = np.array([[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0]])


def matrices(*sizes: int) -> list[tuple[Any, Any]]:
    """Return pairs of matrices with so many rows, and columns with two."""
    return [
        (
            gt.constant(np.resize(DATA, (n, 2))),
            gt.constant(np.resize(DATA[::-1] * 0.5, (n, 2))),
        )
        for n in sizes
    ]


def agree(f: Any, *calls: tuple[Any, ...], traces: int = 2) -> None:
    """Require that a function traced gives what it gives eagerly, and its gradient."""
    traced = gt.function(f)
    for args in calls:
        wanted, found = f(*args), traced(*args)
        for a, b in zip(gt.nest.flatten(found), gt.nest.flatten(wanted), strict=True):
            assert np.shape(a) == np.shape(b)
            np.testing.assert_allclose(a, b, rtol=1e-12)
    assert traced.trace_count == traces
    if wanted.dtype == gt.float64:
        gradients = gt.grad(lambda *xs: gt.reduce_sum(gt.sin(f(*xs))))
        inside, args = gt.function(gradients), calls[-1]
        np.testing.assert_allclose(inside(*args), gradients(*args), rtol=1e-10)


# --- Shapes as tensors ----------------------------------------------------------------


def unpacked(x: Any) -> Any:
    rows, columns = gt.shape(x)
    return gt.reshape(gt.transpose(x), [columns * rows])


SHAPES = {
    "zeros": lambda x: x + gt.zeros(gt.shape(x), gt.float64),
    "fill": lambda x: x * gt.fill(gt.shape(x), gt.constant(2.0, gt.float64)),
    "reshape": lambda x: gt.reshape(gt.reshape(x, [-1]), gt.shape(x)),
    "reshape to a product": lambda x: gt.reshape(x, [gt.shape(x)[0] * gt.shape(x)[1]]),
    "reshape to the size": lambda x: gt.reshape(x, [gt.size(x)]),
    "a mixed list": lambda x: x * gt.ones([gt.shape(x)[0], 1], gt.float64),
    "shape[1:]": lambda x: gt.reshape(x, gt.concat([[-1, 1], gt.shape(x)[1:]], 0)),
    "reduce_prod": lambda x: gt.reshape(x, [gt.reduce_prod(gt.shape(x))]),
    "broadcast_to": lambda x: gt.broadcast_to(x[:1], gt.shape(x)),
    "tile": lambda x: gt.tile(x, [gt.shape(x)[1], 1]),
    "slice": lambda x: gt.slice(x, [0, 0], [gt.shape(x)[0] - 1, 1]),
    "a bound": lambda x: x[: gt.shape(x)[0] - 1],
    "unpacked": unpacked,
    "unstacked": lambda x: gt.reshape(x, gt.unstack(gt.shape(x))[::-1]),
    "range": lambda x: gt.range(gt.shape(x)[0]),
    "range of floats": lambda x: gt.range(0.0, gt.cast(gt.shape(x)[0], gt.float64)),
    "eye": lambda x: gt.eye(gt.shape(x)[0], dtype=gt.float64) @ x,
    "one_hot": lambda x: gt.one_hot([0, 1], gt.shape(x)[0]),
    "random": lambda x: gt.random.stateless_normal(gt.shape(x), 3),
    "len": lambda x: gt.ones([len(x), 3]),
    "x.shape": lambda x: gt.ones([*x.shape, 3]),
    "np.shape": lambda x: gt.ones(np.shape(x)),
    "half of it": lambda x: x[: len(x) // 2],
    "a mean by hand": lambda x: gt.reduce_sum(x, 0) / x.shape[0],
    "a float of it": lambda x: x * (0.5 * x.shape[0] + 1.5),
    "a comparison": lambda x: x * 2.0 if x.shape[0] > 1.5 else x,
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_that_follow_from_those_of_arguments(name: str) -> None:
    agree(SHAPES[name], *[(x,) for x, _ in matrices(3, 4, 5)])


def test_constants_as_shapes() -> None:
    [[x, _]] = matrices(3)
    agree(lambda x: gt.reshape(x, gt.constant([2, 3])), (x,), traces=1)
    agree(lambda x: x * gt.ones([gt.constant(3), 2], x.dtype), (x,), traces=1)


# --- Sizes that depend on data --------------------------------------------------------


def set_where(x: Any, y: Any) -> Any:
    z, mask = y * 1.0, x > 0
    z[mask] = x[mask] * 2.0
    return z


def differences(x: Any, y: Any) -> Any:
    mask = x > 0
    return x[mask] - y[mask]


def mean_of_squares(x: Any, y: Any) -> Any:
    mask = x[:, 0] > 0
    return gt.reduce_mean(gt.square(x[mask] - y[mask]))


def in_a_branch(x: Any, y: Any) -> Any:
    mask = x > 0
    if gt.reduce_any(mask):
        return gt.reduce_sum(x[mask] * y[mask])
    return gt.reduce_sum(x)


def stacked(x: Any, y: Any) -> Any:
    mask = x > 0
    return gt.stack([x[mask], y[mask]])


def product(x: Any, y: Any) -> Any:
    mask = x[:, 0] > 0
    return gt.transpose(x[mask]) @ y[mask]


MASKED = {
    "elements": lambda x, y: x[x > 0],
    "rows": lambda x, y: x[x[:, 0] > 0] * 2.0,
    "set": set_where,
    "two": differences,
    "a loss": mean_of_squares,
    "in a branch": in_a_branch,
    "stacked": stacked,
    "matrix product": product,
    "joined": lambda x, y: gt.concat([x[x > 0], y[y > 0]], 0),
    "beside another": lambda x, y: x[x[:, 0] > 0][:, None, :] + y[None],
    "first and last": lambda x, y: x[x > 0][0] - x[x > 0][-1],
    "backwards": lambda x, y: x[x > 0][::-1],
    "but one": lambda x, y: x[x > 0][1:],
    "boolean_mask": lambda x, y: gt.boolean_mask(x, x[:, 1] > 0),
    "where": lambda x, y: gt.gather_nd(y, gt.where(x > 0)),
    "nonzero": lambda x, y: y[gt.nonzero(x > 0)],
    "unique": lambda x, y: gt.unique(gt.reshape(x, [-1]))[0],
    "unique with counts": lambda x, y: gt.unique_with_counts(x[:, 1])[2],
    "segments": lambda x, y: gt.math.segment_sum(x, gt.range(x.shape[0]) // 2),
    "bins": lambda x, y: gt.math.bincount(gt.cast(gt.abs(x), gt.int32)),
    "its length": lambda x, y: gt.size(x[x > 0]),
    "its shape": lambda x, y: gt.shape(x[x > 0])[0] * 2,
    "sorted": lambda x, y: gt.sort(x[x > 0]),
    "cumsum": lambda x, y: gt.cumsum(x[x > 0]),
    "a range": lambda x, y: x[x > 0] * gt.cast(gt.range(gt.size(x[x > 0])), x.dtype),
    "max": lambda x, y: gt.reduce_max(x[x > 0]),
    "std": lambda x, y: gt.math.reduce_std(x[x > 0]),
    "reshaped": lambda x, y: gt.reshape(x[x[:, 0] > 0], [-1]),
}


@pytest.mark.parametrize("name", MASKED)
def test_shapes_that_depend_on_data(name: str) -> None:
    agree(MASKED[name], *matrices(3, 4, 5))


COUNTED = {
    "zeros": lambda x, n: gt.zeros([n, 2]),
    "a slice": lambda x, n: x[:n],
    "the rest": lambda x, n: x[n:],
    "every second": lambda x, n: x[n::2],
    "two slices": lambda x, n: x[:n] * x[:n],
    "three slices": lambda x, n: gt.stack([x[:n], -x[:n]]) * x[:n],
    "random": lambda x, n: gt.random.stateless_normal([n], 3),
    "range": lambda x, n: gt.range(n),
}


@pytest.mark.parametrize("name", COUNTED)
def test_sizes_that_are_tensors(name: str) -> None:
    [[x, _]] = matrices(4)
    for dtype in (gt.int32, gt.int64):
        counts = [gt.constant(n, dtype) for n in (2, 4, 0, 3)]
        agree(COUNTED[name], *[(x, n) for n in counts], traces=1)


@pytest.mark.parametrize("n", [-1, -3, -9, 9])
def test_bounds_that_are_tensors_count_as_pythons_do(n: int) -> None:
    [[x, _]] = matrices(4)
    for f in (COUNTED["a slice"], COUNTED["the rest"]):
        agree(f, (x, gt.constant(2)), (x, gt.constant(n)), traces=1)


def test_a_size_below_zero() -> None:
    f = gt.function(lambda n: gt.zeros([n, 2]))
    assert f(gt.constant(1)).shape == (1, 2)
    with pytest.raises(ValueError, match="a size or bound of -1, which was computed"):
        f(gt.constant(-1))


def substitution(lower: Any, right: Any) -> Any:
    """Solve a triangular system, row by row."""
    y, i = gt.zeros_like(right), 0
    while i < right.shape[0] and gt.reduce_sum(gt.abs(y)) < 1e9:
        y[i] = (right[i] - gt.reduce_sum(lower[i, :i] * y[:i])) / lower[i, i]
        i += 1
    return y


def test_slices_that_grow_in_a_loop() -> None:
    systems = [
        (
            gt.constant(np.tril(np.ones((n, n))) + 2.0 * np.eye(n)),
            gt.constant(np.arange(1.0, n + 1)),
        )
        for n in (3, 4, 6)
    ]
    agree(substitution, *systems)
    for lower, right in systems:
        np.testing.assert_allclose(
            substitution(lower, right), np.linalg.solve(lower.numpy(), right.numpy())
        )


def test_a_mask_that_selects_nothing() -> None:
    f = gt.function(lambda x: x[x > 0])
    assert f(gt.constant([-1.0, -2.0])).shape == (0,)
    assert f(gt.constant([1.0, -2.0])).shape == (1,)
    assert f.trace_count == 1


def test_an_index_outside_of_what_a_mask_selects() -> None:
    f = gt.function(lambda x: x[x > 0][1])
    assert float(f(gt.constant([1.0, 2.0]))) == 2.0
    with pytest.raises(IndexError):
        f(gt.constant([-1.0, 2.0]))


def test_sizes_that_turn_out_to_differ() -> None:
    f = gt.function(lambda x, y: gt.reshape(x[x > 0], [-1, 2]) + y)
    y = gt.constant([[1.0, 2.0]])
    assert f(gt.constant([1.0, -1.0, 2.0]), y).shape == (1, 2)
    with pytest.raises(ValueError, match="reshape"):
        f(gt.constant([1.0, 1.0, 2.0]), y)


# --- What cannot be known -------------------------------------------------------------

REFUSED = {
    "an axis": lambda x, n: gt.reduce_sum(x, axis=n),
    "top_k": lambda x, n: gt.top_k(x, n),
    "a depth": lambda x, n: gt.one_hot([1], n),
    "a number of points": lambda x, n: gt.linspace(0.0, 1.0, n),
    "a number of pieces": lambda x, n: gt.split(x, n),
    "a permutation": lambda x, n: gt.transpose(x, [n, 0]),
    "a step": lambda x, n: x[::n],
    "a list": lambda x, n: gt.unstack(x[x > 0]),
    "a comparison": lambda x, n: x if x[x > 0].shape[0] < 3 else -x,
    "a number": lambda x, n: int(x[x > 0].shape[0]) * [x],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_must_be_known_is_refused(name: str) -> None:
    f = REFUSED[name]
    with pytest.raises(TracingError, match="known only when the function runs") as info:
        gt.function(f)(gt.constant(DATA), gt.constant(1))
    assert f.__code__.co_filename == info.value.origin.file
