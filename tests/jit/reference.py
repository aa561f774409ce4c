"""Derivatives of a program by tapes and by central differences, to be compared.

Everything takes the function itself, so that a converted one can stand in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import gtape as gt
from gtape import nest

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]


def is_varied(leaf: Any) -> bool:
    """Return whether an argument, or a part of it, is differentiated."""
    return isinstance(leaf, (np.ndarray, np.floating)) and leaf.dtype.kind == "f"


def tensors(args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the arguments with tensors for arrays, and the varied tensors alone."""
    leaves = [
        gt.constant(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf
        for leaf in nest.flatten(list(args))
    ]
    flags = map(is_varied, nest.flatten(list(args)))
    sources = [leaf for leaf, varied in zip(leaves, flags, strict=True) if varied]
    return nest.pack(list(args), iter(leaves)), sources


def varied(args: Sequence[Any]) -> list[Array]:
    """Return the arrays among the arguments that are differentiated."""
    return [np.asarray(leaf) for leaf in nest.flatten(list(args)) if is_varied(leaf)]


def replaced(args: Sequence[Any], arrays: Sequence[Array]) -> list[Any]:
    """Return the arguments with other values for the differentiated arrays."""
    new = iter(arrays)
    leaves = []
    for leaf in nest.flatten(list(args)):
        moved = next(new) if is_varied(leaf) else leaf
        leaves.append(np.float64(moved) if isinstance(leaf, np.floating) else moved)
    packed: list[Any] = nest.pack(list(args), iter(leaves))
    return packed


def weights(args: Sequence[Any], seed: int = 0) -> list[Array]:
    """Return fixed directions, one for each differentiated array."""
    rng = np.random.default_rng([20240229, seed])
    return [rng.uniform(0.5, 1.5, x.shape) * _signs(rng, x) for x in varied(args)]


def _signs(rng: np.random.Generator, like: Array) -> Array:
    return rng.choice([-1.0, 1.0], like.shape)


def value(f: Function, args: Sequence[Any]) -> float:
    """Return the result of a program, a float64 scalar."""
    passed, _ = tensors(args)
    return _scalar(f(*passed))


def _scalar(result: Any) -> float:
    assert gt.is_tensor(result), f"{result!r} is no tensor"
    assert result.dtype == "float64", f"{result!r} is not float64"
    assert tuple(result.shape) == (), f"{result!r} is no scalar"
    return float(result.numpy())


def gradients(f: Function, args: Sequence[Any]) -> list[Array]:
    """Return the gradient by each differentiated array, from one tape."""
    passed, sources = tensors(args)
    with gt.GradientTape() as tape:
        tape.watch(sources)
        result = f(*passed)
    found = tape.gradient(result, sources, unconnected_gradients="zero")
    return [np.asarray(g.numpy()) for g in found]


def second(f: Function, args: Sequence[Any]) -> list[Array]:
    """Return the Hessian times `weights(args)`, from nested tapes."""
    passed, sources = tensors(args)
    with gt.GradientTape() as outer:
        outer.watch(sources)
        with gt.GradientTape() as inner:
            inner.watch(sources)
            result = f(*passed)
        first = inner.gradient(result, sources, unconnected_gradients="zero")
        # Python's sum starts at an int, which keeps the dtype of what follows.
        total = sum(
            gt.reduce_sum(w * g) for w, g in zip(weights(args), first, strict=True)
        )
    found = outer.gradient(total, sources, unconnected_gradients="zero")
    return [np.asarray(g.numpy()) for g in found]


@dataclass(frozen=True)
class Slope:
    """A derivative along a direction, and an estimate of its error."""

    value: float
    error: float


def differences(
    f: Function, args: Sequence[Any], order: int = 1, step: float = 2e-4
) -> list[Slope]:
    """Return slopes along a fixed direction within each differentiated array.

    The stencil has five points and its error goes with the fourth power of the step.
    The estimate of the error is the difference between the step and its double.

    Args:
        f: The program.
        args: Its arguments.
        order: 1 for slopes of the value, 2 for slopes of `weights(args)` times the
            gradient.
        step: The step, relative to the numbers above 1.
    """
    points = varied(args)
    directions = weights(args, seed=1)

    def at(i: int, distance: float) -> float:
        moved = list(points)
        moved[i] = points[i] + distance * directions[i]
        new = replaced(args, moved)
        if order == 1:
            return value(f, new)
        return dot(weights(args), gradients(f, new))

    slopes = []
    for i, point in enumerate(points):
        if not point.size:
            slopes.append(Slope(0.0, 0.0))
            continue
        h = step * max(1.0, float(np.max(np.abs(point))))
        side = {k: at(i, k * h) - at(i, -k * h) for k in (1, 2, 4)}
        fine = (8 * side[1] - side[2]) / (12 * h)
        coarse = (8 * side[2] - side[4]) / (24 * h)
        slopes.append(Slope(fine, abs(fine - coarse)))
    return slopes


def along(args: Sequence[Any], found: Sequence[Array]) -> list[float]:
    """Return what `differences` gives slopes of, from gradients or `second`."""
    directions = weights(args, seed=1)
    return [dot([d], [g]) for d, g in zip(directions, found, strict=True)]


def dot(xs: Sequence[Array], ys: Sequence[Array]) -> float:
    """Return the sum of the products of all elements."""
    return float(sum(np.sum(x * y) for x, y in zip(xs, ys, strict=True)))
