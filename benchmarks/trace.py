"""Measure how long it takes to trace a training step: from Python to its graph.

The step is that of a network 784-128-10 with Adam, batch 32: the tape, the gradients
and the update in one function. Every round has a function of its own, whose code nobody
has seen before. Run `python benchmarks/trace.py`; exit status 1 says that the whole
takes longer than it may.
"""

from __future__ import annotations

import argparse
import gc
import json
import linecache
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

# Before NumPy is there: products on several threads would only add noise.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from common import ADAM, network

import gtape as gt
from gtape.jit.hooks.facade import HOOKS
from gtape.jit.syntax import convert

BAR = 30e-3
"""Seconds that the conversion, the trace and the passes may take together."""

PROGRAM = """
def logits(parameters, x):
    w1, b1, w2, b2 = parameters
    hidden = gt.nn.relu(x @ w1 + b1)
    return hidden @ w2 + b2


def loss(parameters, x, labels):
    losses = gt.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits(parameters, x)
    )
    return gt.reduce_mean(losses)


def step(x, labels):
    with gt.GradientTape() as tape:
        cost = loss(parameters, x, labels)
    gradients = tape.gradient(cost, parameters)
    optimizer.apply_gradients(zip(gradients, parameters))
    return cost


def cost(x, labels):
    return loss(parameters, x, labels)
"""

STAGES = {
    "conversion": "Python to Python whose control flow calls gtape",
    "first trace": "from the call to the graph, conversion and slots in it",
    "trace again": "the same with code that has been converted before",
    "passes": "the graph made smaller",
    "total": "first trace and passes",
    "to the loss": "a whole first call",
    "a call": "every later one",
    "gradient": "the reverse pass of the loss alone, passes in it",
}


class Round:
    """A training step whose code and variables are new.

    Args:
        number: Tells it from others.
    """

    def __init__(self, number: int) -> None:
        arrays, x, labels = network()
        self.parameters = [gt.Variable(a) for a in arrays]
        self.batch = gt.constant(x), gt.constant(labels)
        optimizer = gt.optim.Adam(
            ADAM["rate"], ADAM["beta_1"], ADAM["beta_2"], ADAM["epsilon"]
        )
        names = {"gt": gt, "parameters": self.parameters, "optimizer": optimizer}
        file = f"<step {number}>"
        # The source is found where notebooks keep theirs.
        linecache.cache[file] = len(PROGRAM), None, PROGRAM.splitlines(True), file
        exec(compile(PROGRAM, file, "exec"), names)
        self.functions = names


def seconds(work: Callable[[], Any]) -> float:
    """Return how long something takes, without the collector of garbage."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    finally:
        gc.enable()


def converted(functions: dict[str, Any]) -> float:
    """Return the seconds of the conversion of all that a step calls."""
    return seconds(
        lambda: [convert(functions[name], HOOKS) for name in ("step", "loss", "logits")]
    )


def traced(one: Round) -> dict[str, float]:
    """Return the seconds of the stages of a first trace."""
    f = gt.function(one.functions["step"])
    first = seconds(lambda: f.concrete(*one.batch))
    passes = seconds(lambda: f.graph(*one.batch))
    f(*one.batch)
    call = min(seconds(lambda: f(*one.batch)) for _ in range(9))
    again = seconds(lambda: gt.function(one.functions["step"]).concrete(*one.batch))
    return {
        "first trace": first,
        "trace again": again,
        "passes": passes,
        "total": first + passes,
        "a call": call,
    }


def differentiated(one: Round) -> float:
    """Return the seconds that the reverse pass of the loss takes to be made."""
    f = gt.function(one.functions["cost"])
    f(*one.batch)

    def gradient() -> None:
        with gt.GradientTape() as tape:
            y = f(*one.batch)
        tape.gradient(y, one.parameters)

    return seconds(gradient) - min(seconds(gradient) for _ in range(9))


def measured(rounds: int) -> dict[str, list[float]]:
    """Return the seconds of every stage in every round; the first does not count."""
    found: dict[str, list[float]] = {stage: [] for stage in STAGES}
    for number in range(0, 4 * rounds + 4, 4):
        row = {"conversion": converted(Round(number).functions)}
        row |= traced(Round(number + 1))
        whole = Round(number + 2)
        f = gt.function(whole.functions["step"])
        row["to the loss"] = seconds(lambda f=f, b=whole.batch: f(*b))
        row["gradient"] = differentiated(Round(number + 3))
        if number:
            for stage, value in row.items():
                found[stage].append(value)
    return found


def main() -> int:
    """Measure and print; return 1 if the bar is missed."""
    parser = argparse.ArgumentParser(description="Measure how long a trace takes.")
    parser.add_argument("--rounds", type=int, default=15, help="of new functions")
    parser.add_argument("--json", action="store_true", help="print JSON, no table")
    options = parser.parse_args()
    found = measured(options.rounds)
    medians = {stage: statistics.median(values) for stage, values in found.items()}
    holds = medians["total"] <= BAR
    if options.json:
        print(json.dumps({"seconds": found, "medians": medians, "bar": BAR}))
        return 0 if holds else 1
    print(f"{'stage':14}{'median':>10}{'least':>10}")
    for stage, text in STAGES.items():
        values = found[stage]
        times = f"{medians[stage] * 1e3:7.2f} ms{min(values) * 1e3:7.2f} ms"
        print(f"{stage:14}{times}  {text}")
    verdict = "holds" if holds else "MISSED"
    print(f"\ntotal {medians['total'] * 1e3:.1f} ms, bar {BAR * 1e3:.0f} ms: {verdict}")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
