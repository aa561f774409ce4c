"""Which tests of functions are interpreted, not compiled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gtape as gt

INTERPRETED = ("test_control_functions", "test_control_calls", "test_transforms_traced")
"""Modules with many functions that are called once; compiling each would take long."""


@pytest.fixture(autouse=True)
def _interpreter(request: pytest.FixtureRequest) -> Iterator[None]:
    """Interpret the functions of some modules."""
    before = gt.config.jit_compile()
    if request.module.__name__.rpartition(".")[2] in INTERPRETED:
        gt.config.set_jit_compile(False)
    yield
    gt.config.set_jit_compile(before)
