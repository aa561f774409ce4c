"""Measure how long `import gtape` takes against `import numpy`.

Each round is a fresh process that imports NumPy and then gtape. NumPy's time is the
first part, that of gtape, which needs NumPy, is the whole; so a slow moment of the
computer meets both, and the median ratio counts.
Run `python benchmarks/import_time.py`; exit status 1 says the target was missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = 1.5
# The clock starts in the child: the start of the interpreter belongs to neither.
CHILD = """
import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import gtape
print(middle - start, time.perf_counter() - start)
"""


def import_seconds(cache: str) -> tuple[float, float]:
    """Return the seconds that NumPy and gtape take in a fresh process.

    Args:
        cache: A folder for byte code. Without it, where the environment forbids to
            write byte code, Python would compile all sources each time.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    child = subprocess.run(
        [sys.executable, "-c", CHILD],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=environment,
        text=True,
    )
    numpy, gtape = child.stdout.split()
    return float(numpy), float(gtape)


def measure(rounds: int) -> tuple[float, float, float]:
    """Return the median seconds of NumPy and of gtape, and their median ratio."""
    with tempfile.TemporaryDirectory() as cache:
        import_seconds(cache)  # writes the byte code
        times = [import_seconds(cache) for _ in range(rounds)]
    numpy, gtape = (statistics.median(column) for column in zip(*times, strict=True))
    return numpy, gtape, statistics.median([g / n for n, g in times])


def main() -> int:
    """Print the times and their ratio; return 1 if the ratio misses the target."""
    parser = argparse.ArgumentParser(description="Time `import gtape`.")
    parser.add_argument("--rounds", type=int, default=21, help="how many processes")
    numpy, gtape, ratio = measure(parser.parse_args().rounds)
    print(f"import numpy {numpy * 1e3:.1f} ms  import gtape {gtape * 1e3:.1f} ms")
    met = ratio <= TARGET
    print(f"ratio {ratio:.2f}  target {TARGET}  {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
