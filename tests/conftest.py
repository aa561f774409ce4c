"""What every test shares: fixed seeds, hypothesis profiles, tests for a device."""

import ctypes
import functools
import os
import random
import sys

# Every worker runs its own tests, so threads inside a worker only fight for the same
# cores. The libraries read this once, when NumPy loads: it has to stand above that.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tests compile anew, and leave the user's cache alone.
os.environ["GTAPE_CACHE_DIR"] = ""

import hypothesis
import numpy as np
import pytest

SEED = 20240229

# The first run of an operation may load or compile something: no deadline.
hypothesis.settings.register_profile("local", deadline=None, max_examples=50)
hypothesis.settings.register_profile(
    "ci", deadline=None, max_examples=50, derandomize=True, print_blob=True
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(autouse=True)
def _seeds() -> None:
    """Start every test from the same random state, alone or among others."""
    random.seed(SEED)
    np.random.seed(SEED)
    # Tests of the source alone never import gtape and need not pay for it.
    if "gtape.ops.random" in sys.modules:
        sys.modules["gtape.ops.random"].set_seed(SEED)


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator for the inputs of one test."""
    return np.random.default_rng(SEED)


@functools.cache
def _device_present() -> bool:
    """Ask the CUDA driver itself, so that no package is needed to say no."""
    try:
        driver = ctypes.CDLL("nvcuda" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return False
    return count.value > 0


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and not _device_present():
        pytest.skip("no CUDA device")
