"""Plans of reference functions: a lost fusion fails a test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.jit.schedule.fuse import plan_of
from gtape.jit.schedule.plan import Kernel, Plan


def plan(f: Any, *args: Any) -> Plan:
    """Return the plan of the optimized graph of a function."""
    function = gt.function(f, jit_compile=False)
    return plan_of(function.concrete(*args)._concrete.program.optimised)


def summary(found: Plan) -> list[str]:
    """Return the steps of a plan in words."""
    lines = []
    for step in found.walk():
        if isinstance(step, Kernel):
            space = ",".join(map(str, step.space))
            folds = "".join(f" {f.primitive.name}" for f in step.folds)
            lines.append(f"kernel [{space}] stores {len(step.stores)}{folds}")
        else:
            lines.append(type(step).__name__.lower())
    return lines


def kernels(found: Plan) -> list[str]:
    return [line for line in summary(found) if line.startswith("kernel")]


def tensor(*shape: int) -> Any:
    return gt.constant(np.linspace(0.1, 1.0, int(np.prod(shape))).reshape(shape))


def phi(z: Any) -> Any:
    return 0.5 * (1.0 + gt.math.erf(z / 2.0**0.5))


def black_scholes(s: Any, k: Any, v: Any, r: Any, t: Any) -> Any:
    d1 = (gt.log(s / k) + (r + v * v / 2.0) * t) / (v * gt.sqrt(t))
    d2 = d1 - v * gt.sqrt(t)
    return s * phi(d1) - k * gt.exp(-r * t) * phi(d2)


def with_gradients(*args: Any) -> Any:
    with gt.GradientTape() as tape:
        tape.watch(args[:4])
        price = black_scholes(*args)
    return price, tape.gradient(price, args[:4])


def softmax_by_hand(x: Any) -> Any:
    e = gt.exp(x - gt.reduce_max(x, axis=1, keepdims=True))
    return e / gt.reduce_sum(e, axis=1, keepdims=True)


def normalized(x: Any) -> Any:
    centered = x - gt.reduce_mean(x, axis=1, keepdims=True)
    return centered / gt.sqrt(gt.reduce_mean(centered * centered, 1, True) + 1e-5)


def rosenbrock(x: Any) -> Any:
    with gt.GradientTape() as tape:
        tape.watch(x)
        a, b = x[:-1], x[1:]
        y = gt.reduce_sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2)
    return y, tape.gradient(y, x)


PLANS: dict[str, tuple[Any, Any, list[str]]] = {
    "black-scholes with four gradients": (
        with_gradients,
        [tensor(50) for _ in range(5)],
        ["kernel [50] stores 5"],
    ),
    "a chain": (
        lambda x: gt.tanh(gt.sin(x) * 2.0 + 1.0),
        [tensor(3, 4)],
        ["kernel [3,4] stores 1"],
    ),
    "a bias": (
        lambda x, b: gt.nn.relu(x + b),
        [tensor(3, 4), tensor(4)],
        ["kernel [3,4] stores 1"],
    ),
    "views": (
        lambda x: gt.transpose(x)[1:, ::2] * 2.0,
        [tensor(4, 6)],
        ["kernel [5,2] stores 1"],
    ),
    "a fold of a map": (
        lambda x: gt.reduce_sum(gt.exp(x) * x),
        [tensor(100)],
        ["kernel [100] stores 0 reduce_sum"],
    ),
    "folds over one space": (
        lambda x: (gt.reduce_sum(x, 1), gt.reduce_max(x * x, 1), x + 1.0),
        [tensor(5, 7)],
        ["kernel [5,7] stores 1 reduce_sum reduce_max"],
    ),
    "softmax by hand": (
        softmax_by_hand,
        [tensor(5, 7)],
        [
            "kernel [5,7] stores 0 reduce_max",
            "kernel [5,7] stores 1 reduce_sum",
            "kernel [5,7] stores 1",
        ],
    ),
    "a normalization": (
        normalized,
        [tensor(5, 7)],
        [
            "kernel [5,7] stores 0 reduce_mean",
            "kernel [5,7] stores 0 reduce_mean",
            "kernel [5,7] stores 1",
        ],
    ),
    "an activation behind a product": (
        lambda x, w, b: gt.nn.relu(x @ w + b),
        [tensor(30, 40), tensor(40, 50), tensor(50)],
        ["kernel [30,50] stores 1"],
    ),
    "rosenbrock with its gradient": (
        rosenbrock,
        [tensor(100)],
        ["kernel [99] stores 1 reduce_sum", "kernel [100] stores 1"],
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_kernels(name: str) -> None:
    f, args, wanted = PLANS[name]
    assert sorted(kernels(plan(f, *args))) == sorted(wanted)


def test_a_transposed_factor_is_no_copy() -> None:
    found = plan(
        lambda x, y: gt.matmul(x, y, transpose_b=True), tensor(3, 4), tensor(5, 4)
    )
    assert summary(found) == ["librarycall"]


def test_numbers_take_no_memory() -> None:
    found = plan(
        lambda x, y: gt.sin(x) * y + gt.exp(y), gt.constant(1.0), gt.constant(2.0)
    )
    assert set(summary(found)) == {"register"}
    assert found.stored == frozenset()


def test_loops_of_numbers_have_no_kernel() -> None:
    def f(x: Any, n: Any) -> Any:
        for _ in gt.range(n):
            x = gt.sin(x) * 0.9 + 0.3
        return x

    found = plan(f, gt.constant(0.5), gt.constant(9))
    assert kernels(found) == []
    assert "loop" in summary(found)
