"""Measure gtape beside PyTorch and TensorFlow, all run eagerly, and beside NumPy.

Every figure is a ratio of times taken in turns in one run: see README.md of this
folder. Run `python benchmarks/eager.py`; exit status 1 says that a library computed a
wrong value. A missed bar changes nothing but the table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from typing import Any, NamedTuple

import import_time
from common import HERE, Library, in_turns, wrong_values

NAMES = {"gtape": "gtape", "torch": "PyTorch", "tf": "TensorFlow"}
PEERS = ("torch", "tf")


class Comparison(NamedTuple):
    """A row of the table: gtape's work against a peer's, and the bar for the ratio."""

    title: str
    work: str
    peer: str
    peer_work: str
    bar: float | None = None


COMPARISONS = (
    Comparison(
        "weighted sum of 2 scalars, 2 gradients", "scalar", "torch", "scalar", 0.5
    ),
    Comparison("", "scalar", "tf", "scalar", 0.06),
    Comparison("training step 784-128-10, batch 32", "step", "torch", "step", 1.1),
    Comparison("  fused Adam", "step", "torch", "step, fused Adam"),
    Comparison("", "step", "tf", "step"),
    Comparison("the same without the optimizer", "gradients", "torch", "gradients"),
    Comparison("", "gradients", "tf", "gradients"),
    Comparison("backward pass, for each operation", "backward", "torch", "backward"),
    Comparison("", "backward", "tf", "backward"),
    Comparison("jacobian of 100 outputs by 64 inputs", "jacobian", "torch", "jacobian"),
    Comparison("", "jacobian", "tf", "jacobian"),
)

OPERANDS = {"scalars": "product of float32 scalars", "vectors": "product of 3 float32"}
OPERATION_BAR = 1.5e-6
"""Seconds that gtape and a tape may add to an operation of NumPy."""


def arguments() -> argparse.Namespace:
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(description="Measure gtape's eager half.")
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="the interpreter that has torch or tf; or set BENCH_PYTHON_TORCH, "
        "BENCH_PYTHON_TF",
    )
    parser.add_argument("--threads", type=int, default=1, help="of every library")
    parser.add_argument("--turns", type=int, default=9, help="for each library")
    parser.add_argument("--seconds", type=float, default=0.2, help="of a turn")
    parser.add_argument(
        "--only", metavar="WORK", help="measure works of this name only"
    )
    options = parser.parse_args()
    options.pythons = {
        peer: os.environ.get(f"BENCH_PYTHON_{peer.upper()}") or sys.executable
        for peer in PEERS
    }
    for entry in options.python:
        peer, _, path = entry.partition("=")
        if peer not in PEERS or not path:
            parser.error(f"--python {entry}: write torch=PATH or tf=PATH")
        options.pythons[peer] = path
    for path in options.pythons.values():
        if not os.access(path, os.X_OK):
            parser.error(f"{path} is no interpreter")
    return options


def check(libraries: dict[str, Library], only: str | None) -> list[str]:
    """Return a sentence for each wrong value of any library."""
    wrong = []
    for name, library in libraries.items():
        for work in library.works:
            if only in (None, work):
                expected = work.partition(",")[0]
                found = wrong_values(expected, library.values(work))
                wrong += [f"{NAMES[name]}: {line}" for line in found]
    return wrong


def compare(
    libraries: dict[str, Library], work: str, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the table's rows for a work, whose libraries take turns."""
    rows = [c for c in COMPARISONS if c.work == work]
    entries = [(libraries["gtape"], work)]
    present = [c for c in rows if c.peer in libraries]
    entries += [(libraries[c.peer], c.peer_work) for c in present]
    mine, *others = in_turns(entries, options.turns, options.seconds)
    theirs = dict(zip(present, others, strict=True))
    out = []
    for row in rows:
        times = theirs.get(row)
        ratios = times and [a / b for a, b in zip(mine, times, strict=True)]
        out.append(
            {
                **row._asdict(),
                "gtape_seconds": statistics.median(mine),
                "peer_seconds": times and statistics.median(times),
                "ratio": ratios and statistics.median(ratios),
            }
        )
    return out


def one_operation(
    gtape: Library, label: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Return what gtape and a tape add to one small operation of NumPy."""
    pieces = ("NumPy", "no tape", "tape")
    entries = [(gtape, f"{label}, {piece}") for piece in pieces]
    bare, without, under = in_turns(entries, options.turns, options.seconds)
    return {
        "title": OPERANDS[label],
        "numpy_seconds": statistics.median(bare),
        "no_tape_seconds": statistics.median(without),
        "tape_seconds": statistics.median(under),
        "added_seconds": statistics.median(
            [u - b for u, b in zip(under, bare, strict=True)]
        ),
    }


def importing(rounds: int) -> dict[str, float]:
    """Return how long imports take in fresh processes."""
    numpy, gtape, ratio = import_time.measure(rounds)
    return {"gtape_seconds": gtape, "numpy_seconds": numpy, "ratio": ratio}


# --- Text -----------------------------------------------------------------------------


def micro(seconds: float) -> str:
    """Return seconds as microseconds with three digits."""
    us = seconds * 1e6
    return f"{us:,.0f} us" if us >= 100 else f"{us:.3g} us"


def verdict(value: float, bar: float | None, unit: str = "") -> str:
    """Return a bar and whether a value is within it."""
    if bar is None:
        return ""
    return f"<= {bar:g}{unit}  {'holds' if value <= bar else 'MISSED'}"


def show(row: dict[str, Any]) -> None:
    """Print a row of the table."""
    start = f"{row['title']:40}{micro(row['gtape_seconds']):>10}  "
    start += f"{NAMES[row['peer']]:12}"
    if row["ratio"] is None:
        print(f"{start}{'not installed':>13}")
        return
    line = f"{start}{micro(row['peer_seconds']):>13}{row['ratio']:>8.3f}  "
    print(f"{line}{verdict(row['ratio'], row['bar'])}".rstrip(), flush=True)


def show_operation(row: dict[str, Any]) -> None:
    """Print what a tape adds to an operation."""
    times = [row[f"{piece}_seconds"] for piece in ("numpy", "no_tape", "tape", "added")]
    line = "".join(f"{micro(t):>10}" for t in times)
    added = verdict(row["added_seconds"] * 1e6, OPERATION_BAR * 1e6, " us")
    print(f"{row['title']:32}{line}  {added}", flush=True)


def save(results: dict[str, Any]) -> str:
    """Write the results to a file of their own; return its path."""
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"eager-{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    return os.path.relpath(path)


def main() -> int:
    """Check the values, measure, print and save; return 1 if a value is wrong."""
    options = arguments()
    pythons = {"gtape": sys.executable, **options.pythons}
    started = {
        name: Library(name, python, options.threads) for name, python in pythons.items()
    }
    try:
        libraries = {k: v for k, v in started.items() if v.version is not None}
        for name, library in started.items():
            print(f"{NAMES[name]} {library.version or 'not installed'}", end="  ")
        print(f"threads {options.threads}, turns {options.turns}\n", flush=True)
        wrong = check(libraries, options.only)
        if wrong:
            print("\n".join(["wrong values, nothing measured:", *wrong]))
            return 1
        results = measure(libraries, options)
    finally:
        for library in started.values():
            library.close()
    print(f"\nsaved in {save(results)}")
    return 0


def measure(
    libraries: dict[str, Library], options: argparse.Namespace
) -> dict[str, Any]:
    """Measure everything and print it; return it."""

    def wanted(work: str) -> bool:
        return options.only in (None, work)

    compared: list[dict[str, Any]] = []
    for work in dict.fromkeys(c.work for c in COMPARISONS):
        if wanted(work):
            rows = compare(libraries, work, options)
            if not compared:
                print(f"{'':40}{'gtape':>10}  {'peer':12}{'':13}{'ratio':>8}  bar")
            compared += rows
            for row in rows:
                show(row)
    operations: list[dict[str, Any]] = []
    for label in OPERANDS:
        if wanted(label):
            if not operations:
                heads = ("NumPy", "no tape", "tape", "added")
                print(f"\n{'':32}{''.join(f'{h:>10}' for h in heads)}  bar")
            operations.append(one_operation(libraries["gtape"], label, options))
            show_operation(operations[-1])
    imports = importing(2 * options.turns) if wanted("import") else None
    if imports:
        print(
            f"\nimport gtape {imports['gtape_seconds'] * 1e3:.0f} ms, import numpy "
            f"{imports['numpy_seconds'] * 1e3:.0f} ms, ratio {imports['ratio']:.2f}  "
            f"{verdict(imports['ratio'], import_time.TARGET)}"
        )
    return {
        "versions": {name: library.version for name, library in libraries.items()},
        "threads": options.threads,
        "turns": options.turns,
        "compared": compared,
        "operations": operations,
        "imports": imports,
    }


if __name__ == "__main__":
    sys.exit(main())
