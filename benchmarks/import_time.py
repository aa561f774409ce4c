"""Measure how long `import gtape` takes against `import numpy`.

Every import runs in a fresh process. The two take turns, so that a slow moment of the
computer meets both, and the best time of each counts, since noise only ever adds.
Run `python benchmarks/import_time.py`; exit status 1 says the target was missed.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = 1.5
MODULES = ("numpy", "gtape")
# The clock starts in the child: the start of the interpreter belongs to neither.
CHILD = """
import time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""


def import_seconds(module: str, cache: str) -> float:
    """Return the seconds that one import takes in a fresh process.

    Args:
        module: What to import.
        cache: A folder for byte code. Without it the first import would count, in which
            Python compiles the sources, wherever the environment forbids to write it.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    child = subprocess.run(
        [sys.executable, "-c", CHILD.format(module=module)],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=environment,
        text=True,
    )
    return float(child.stdout)


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the import times of every module, taken in turns."""
    times: dict[str, list[float]] = {module: [] for module in MODULES}
    with tempfile.TemporaryDirectory() as cache:
        for module in MODULES:
            import_seconds(module, cache)  # writes the byte code
        for _ in range(rounds):
            for module in MODULES:
                times[module].append(import_seconds(module, cache))
    return times


def main() -> int:
    """Print the times and their ratio; return 1 if the ratio misses the target."""
    parser = argparse.ArgumentParser(description="Time `import gtape`.")
    parser.add_argument("--rounds", type=int, default=15, help="imports of each module")
    times = measure(parser.parse_args().rounds)
    for module in MODULES:
        best, median = min(times[module]), statistics.median(times[module])
        print(f"import {module}  best {best * 1e3:6.1f} ms  median {median * 1e3:.1f}")
    ratio = min(times["gtape"]) / min(times["numpy"])
    met = ratio <= TARGET
    print(f"ratio {ratio:.2f}  target {TARGET}  {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
