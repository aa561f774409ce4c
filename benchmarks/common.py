"""What the benchmarks share: data, check values, and processes that measure in turns.

Every library works in a process of its own, which sleeps while another one measures.
The two sides talk in lines of JSON over pipes. This file imports NumPy only, so that
each process loads no library but its own.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# --- Work: its data, and the values that every library must reach ---------------------

SCALARS = {"w1": 0.3, "x1": 1.5, "w2": -0.7, "x2": 2.5}
ADAM = {"rate": 1e-3, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8}
CHECK_STEPS = 10
MOST_STEPS = 400
"""After so many steps training starts anew: on one batch it soon fits it perfectly."""

EXPECTED: dict[str, tuple[float, dict[str, float]]] = {
    # work: (relative tolerance, values); computed in float64
    "scalar": (1e-5, {"s": -1.3, "by_w1": 1.5, "by_w2": 2.5}),
    "step": (
        2e-3,
        {
            "loss_1": 2.38055454,
            "loss_10": 0.845597185,
            "norm_1": 16.0579346,
            "norm_2": 4.53543301,
        },
    ),
    "gradients": (2e-3, {"loss": 2.38055454}),
    "backward": (1e-4, {"by_x": 0.367879441}),
    "jacobian": (1e-4, {"norm": 6.85391523}),
}
CHAIN = 200
"""Operations in the chain of products that the backward pass goes through."""


def network() -> tuple[list[Any], Any, Any]:
    """Return the parameters of a network 784-128-10, 32 examples and their labels."""
    random = np.random.default_rng(2)
    parameters = [
        random.standard_normal((784, 128)) * np.sqrt(2 / 784),
        np.zeros(128),
        random.standard_normal((128, 10)) * np.sqrt(2 / 128),
        np.zeros(10),
    ]
    random = np.random.default_rng(1032)
    x = random.random((32, 784)).astype(np.float32)
    labels = random.integers(0, 10, 32).astype(np.int32)
    return [p.astype(np.float32) for p in parameters], x, labels


def layer() -> tuple[Any, Any]:
    """Return 64 inputs and the weights of a layer of 100 outputs."""
    random = np.random.default_rng(5)
    x = random.standard_normal(64)
    weights = random.standard_normal((64, 100)) / 8
    return x.astype(np.float32), weights.astype(np.float32)


def factors() -> tuple[float, float]:
    """Return x and y of the chain x * y * y * ..., whose slope by x is 1 / e."""
    return 1.5, float(np.exp(-1 / CHAIN))


def norm(array: Any) -> float:
    """Return the Euclidean norm of all elements, computed in float64."""
    return float(np.linalg.norm(np.asarray(array, dtype=np.float64).ravel()))


def wrong_values(work: str, found: dict[str, float]) -> list[str]:
    """Return a sentence for each value that is not the expected one."""
    tolerance, expected = EXPECTED.get(work, (0.0, {}))
    return [
        f"{work}: {name} is {found.get(name)}, expected {value}"
        for name, value in expected.items()
        if not abs(found.get(name, np.nan) - value) <= tolerance * abs(value)
    ]


# --- In the process of a library ------------------------------------------------------


class Work(NamedTuple):
    """One thing to measure, as a library does it."""

    call: Callable[[], Any]
    """Does it once."""
    check: Callable[[], dict[str, float]] = dict
    """Returns the values by which one sees that it is done right."""
    reset: Callable[[], Any] | None = None
    """Goes back to the start; called before each turn."""
    count: int = 1
    """By how many a call's time is divided."""
    timed: bool = False
    """Whether a call returns its own seconds: of a part of what it does."""


def _turn(work: Work, seconds: float) -> float:
    """Return the median seconds of one call in a turn of so many seconds."""
    clock = time.perf_counter
    most = MOST_STEPS if work.reset else sys.maxsize
    if work.reset:
        work.reset()
    start, calls = clock(), 0
    while calls < 3 or (clock() - start < seconds / 5 and calls < most / 4):
        work.call()
        calls += 1
    at_once = max(1, int(2e-3 * calls / (clock() - start)))
    samples = []
    start = clock()
    while not samples or (clock() - start < seconds and calls + at_once <= most):
        if work.timed:
            samples.append(work.call())
            continue
        before = clock()
        for _ in range(at_once):
            work.call()
        samples.append((clock() - before) / at_once)
        calls += at_once
    return statistics.median(samples) / work.count


def serve(load: Callable[[], tuple[str, dict[str, Callable[[], Work]]]]) -> None:
    """Answer requests on standard input until it closes.

    Args:
        load: Imports the library; returns its version and what makes each of its works.
    """
    # Libraries print what they like: that goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**contents: Any) -> None:
        print(json.dumps(contents), file=answers, flush=True)

    try:
        version, makers = load()
    except ModuleNotFoundError:
        answer(version=None)
        return
    answer(version=version, works=list(makers))
    works: dict[str, Work] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name = request["work"]
        if name not in works:
            works[name] = makers[name]()
        if "seconds" in request:
            answer(seconds=_turn(works[name], request["seconds"]))
        else:
            answer(values={k: float(v) for k, v in works[name].check().items()})


# --- In the process that asks ---------------------------------------------------------


class Library:
    """A library in a process of its own.

    Args:
        name: Its name in `libraries.py`.
        python: The interpreter that has it.
        threads: How many threads it may use.
    """

    def __init__(self, name: str, python: str, threads: int) -> None:
        self.name = name
        pools = ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
        limits = {f"{pool}_NUM_THREADS": str(threads) for pool in pools}
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        settings = {**limits, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": path}
        # What libraries log would tear the table apart; it is shown when they fail.
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (lives with the process)
        self._process = subprocess.Popen(
            [python, str(HERE / "libraries.py"), name, str(threads)],
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        hello = self._answer()
        self.version: str | None = hello["version"]
        self.works: list[str] = hello.get("works", [])

    def values(self, work: str) -> dict[str, float]:
        """Return the check values of a work."""
        found: dict[str, float] = self._ask(work=work)["values"]
        return found

    def seconds(self, work: str, turn: float) -> float:
        """Return the seconds that one call takes, measured in a turn of some length."""
        found: float = self._ask(work=work, seconds=turn)["seconds"]
        return found

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._log.close()

    def _ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._log.seek(0)
            raise RuntimeError(f"{self.name} failed:\n{self._log.read()[-4000:]}")
        return json.loads(line)


def in_turns(
    entries: Sequence[tuple[Library, str]], turns: int, seconds: float
) -> list[list[float]]:
    """Return for each entry, a library and a work, its seconds in every turn.

    They take turns, each time with another one at the start, so that a slow moment of
    the computer meets all of them.
    """
    found: list[list[float]] = [[] for _ in entries]
    for turn in range(turns):
        for i in range(len(entries)):
            place = (turn + i) % len(entries)
            library, work = entries[place]
            found[place].append(library.seconds(work, seconds))
    return found
