"""Limits for gradients: by value, by the norm of each, by the norm of all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gtape.errors import ArgumentError
from gtape.ops.extrema import clip_by_value, maximum
from gtape.ops.linear import cast, reduce_sum
from gtape.ops.math import sqrt

Clip = Callable[[Sequence[Any]], list[Any]]


def chosen(name: str, limits: Mapping[str, float | None]) -> Clip | None:
    """Return what clips by the one limit that is given, or `None` where there is none.

    Raises:
        ArgumentError: If more than one is given.
    """
    given = {kind: limit for kind, limit in limits.items() if limit is not None}
    if len(given) > 1:
        raise ArgumentError(
            f"{name}: {' and '.join(given)} are given",
            f"Use one of {', '.join(limits)}",
        )
    for kind, limit in given.items():
        return _KINDS[kind](limit)
    return None


def by_value(limit: float) -> Clip:
    """Return a function that moves elements beyond -limit or limit to the bound."""

    def clip(gradients: Sequence[Any]) -> list[Any]:
        return [clip_by_value(g, -limit, limit) for g in gradients]

    return clip


def by_norm(limit: float) -> Clip:
    """Return a function that scales each gradient down to a norm of the limit."""

    def clip(gradients: Sequence[Any]) -> list[Any]:
        return [_scaled(g, limit, _sum_of_squares(g)) for g in gradients]

    return clip


def by_global_norm(limit: float) -> Clip:
    """Return a function that scales all gradients alike, to a common norm of the limit.

    An infinite element makes the scale zero: it becomes NaN, and the others zero.
    """

    def clip(gradients: Sequence[Any]) -> list[Any]:
        total = sum(_sum_of_squares(g) for g in gradients)
        return [_scaled(g, limit, total) for g in gradients]

    return clip


def _sum_of_squares(g: Any) -> Any:
    # In float64, so that the squares of large float32 numbers stay finite.
    wide = cast(g, "float64")
    return reduce_sum(wide * wide)


def _scaled(g: Any, limit: float, squares: Any) -> Any:
    return g * cast(limit / maximum(sqrt(squares), limit), g.dtype)


_KINDS = {
    "clipnorm": by_norm,
    "clipvalue": by_value,
    "global_clipnorm": by_global_norm,
}
