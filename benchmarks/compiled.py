"""Measure compiled functions beside the same work written by hand for Numba.

Scalars: a call of a function of four numbers with two gradients, beside a call of a
Numba function on floats. Prices: Black-Scholes on a million options with gradients,
beside one hand-written loop on one thread. Recurrence: a million trips of a scalar loop
and its gradient, beside the forward loop alone. Run `python benchmarks/compiled.py`;
every ratio is of two medians of one run, measured in turns.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import gtape as gt

Call = Callable[[], Any]


def in_turns(calls: dict[str, Call], rounds: int, each: int) -> dict[str, float]:
    """Return the median seconds of each call, measured in turns."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(each):
                call()
            found[name].append((time.perf_counter() - begin) / each)
    return {name: statistics.median(times) for name, times in found.items()}


def scalars() -> dict[str, Call]:
    """Return the calls of a function of four numbers."""
    args = [gt.constant(v) for v in (0.3, 1.5, -0.7, 2.5)]

    @gt.function
    def ours(w1: Any, x1: Any, w2: Any, x2: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch([w1, w2])
            s = w1 * x1 + w2 * x2
        return s, tape.gradient(s, [w1, w2])

    @numba.njit
    def hand(w1: float, x1: float, w2: float, x2: float) -> tuple[float, float, float]:
        return w1 * x1 + w2 * x2, x1, x2

    return {"gtape": lambda: ours(*args), "hand": lambda: hand(0.3, 1.5, -0.7, 2.5)}


@numba.njit
def _priced(s: Any, k: Any, v: Any, r: Any, t: Any, out: Any) -> None:
    half, root = np.float32(0.5), np.float32(math.sqrt(0.5))
    density = np.float32(1.0 / math.sqrt(2.0 * math.pi))
    for i in range(s.size):
        wide = v[i] * math.sqrt(t[i])
        d1 = (math.log(s[i] / k[i]) + (r[i] + half * v[i] * v[i]) * t[i]) / wide
        d2 = d1 - wide
        p1 = half * (np.float32(1.0) + math.erf(d1 * root))
        p2 = half * (np.float32(1.0) + math.erf(d2 * root))
        paid = k[i] * math.exp(-r[i] * t[i])
        out[0, i] = s[i] * p1 - paid * p2
        out[1, i] = p1
        out[2, i] = -paid / k[i] * p2
        out[3, i] = s[i] * density * math.exp(-half * d1 * d1) * math.sqrt(t[i])
        out[4, i] = t[i] * paid * p2


def prices() -> dict[str, Call]:
    """Return the calls that price a million options with four gradients."""
    rng, n = np.random.default_rng(4), 1_000_000
    ranges = ((50, 150), (50, 150), (0.1, 0.6), (0, 0.08), (0.1, 2))
    arrays = [rng.uniform(a, b, n).astype(np.float32) for a, b in ranges]
    tensors = [gt.constant(a) for a in arrays]
    out = np.empty((5, n), np.float32)

    def phi(z: Any) -> Any:
        return (1.0 + gt.math.erf(z * math.sqrt(0.5))) * 0.5

    @gt.function
    def ours(s: Any, k: Any, v: Any, r: Any, t: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch([s, k, v, r])
            wide = v * gt.sqrt(t)
            d1 = (gt.log(s / k) + (r + v * v * 0.5) * t) / wide
            price = s * phi(d1) - k * gt.exp(-r * t) * phi(d1 - wide)
        return price, tape.gradient(price, [s, k, v, r])

    price, slopes = ours(*tensors)
    _priced(*arrays, out)
    for found, wanted in zip((price, *slopes), out, strict=True):
        np.testing.assert_allclose(found.numpy().mean(), wanted.mean(), rtol=1e-3)
    return {"gtape": lambda: ours(*tensors), "hand": lambda: _priced(*arrays, out)}


@numba.njit
def _recurred(a: float, b: float, trips: int) -> float:
    x = 0.5
    for _ in range(trips):
        x = math.sin(x) * a + b
    return x


def recurrence() -> dict[str, Call]:
    """Return the gradient of a loop of a million trips, and the loop alone by hand."""
    trips = 1_000_000
    a, b = gt.constant(0.9, gt.float64), gt.constant(0.3, gt.float64)

    def ours(a: Any, b: Any) -> Any:
        x = gt.constant(0.5, gt.float64)
        for _ in gt.range(trips):
            x = gt.sin(x) * a + b
        return x

    forward = gt.function(ours)
    both = gt.function(gt.value_and_grad(ours, argnums=(0, 1)))
    assert abs(float(forward(a, b)) - _recurred(0.9, 0.3, trips)) < 1e-12
    return {
        "gtape": lambda: forward(a, b),
        "gtape, gradient": lambda: both(a, b),
        "hand": lambda: _recurred(0.9, 0.3, trips),
    }


WORK: dict[str, tuple[Callable[[], dict[str, Call]], int]] = {
    "scalars": (scalars, 2000),
    "prices": (prices, 1),
    "recurrence": (recurrence, 1),
}


def main() -> None:
    """Measure, and print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("work", nargs="*", choices=[*WORK, []], default=[])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(f"{'work':<12} {'who':<18} {'median':>12} {'ratio to hand':>14}")
    for name in options.work or WORK:
        make, each = WORK[name]
        found = in_turns(make(), options.rounds, each)
        for who, seconds in found.items():
            ratio = seconds / found["hand"]
            print(f"{name:<12} {who:<18} {seconds * 1e6:>9.2f} us {ratio:>14.2f}")


if __name__ == "__main__":
    main()
