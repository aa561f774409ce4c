"""Limits for gradients: by value, by the norm of each, by the norm of all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gtape.errors import ArgumentError
from gtape.ops.extrema import clip_by_value, maximum
from gtape.ops.linear import cast, reduce_sum
from gtape.ops.math import sqrt


def check(name: str, limits: Mapping[str, float | None]) -> None:
    """Require that at most one limit is given.

    Raises:
        ArgumentError: If there are more.
    """
    given = [kind for kind, limit in limits.items() if limit is not None]
    if len(given) > 1:
        raise ArgumentError(
            f"{name}: {' and '.join(given)} are given",
            f"Use one of {', '.join(limits)}",
        )


def by_value(gradients: Sequence[Any], limit: float) -> list[Any]:
    """Return gradients with elements beyond -limit or limit moved to the bound."""
    return [clip_by_value(g, -limit, limit) for g in gradients]


def by_norm(gradients: Sequence[Any], limit: float) -> list[Any]:
    """Return gradients, each scaled down to a norm of the limit."""
    return [_scaled(g, limit, _sum_of_squares(g)) for g in gradients]


def by_global_norm(gradients: Sequence[Any], limit: float) -> list[Any]:
    """Return gradients, all scaled alike, to a common norm of the limit.

    An infinite element makes the scale zero: it becomes NaN, and the others zero.
    """
    total = sum(_sum_of_squares(g) for g in gradients)
    return [_scaled(g, limit, total) for g in gradients]


def _sum_of_squares(g: Any) -> Any:
    # In float64, so that the squares of large float32 numbers stay finite.
    wide = cast(g, "float64")
    return reduce_sum(wide * wide)


def _scaled(g: Any, limit: float, squares: Any) -> Any:
    return g * cast(limit / maximum(sqrt(squares), limit), g.dtype)
