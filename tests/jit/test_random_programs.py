"""Random programs as graphs: values and two derivatives are the eager ones.

`test_generator` holds the eager ones against central differences.
"""

from __future__ import annotations

import gc
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import gtape as gt
from tests.jit import reference
from tests.jit.generator import arguments, compile_program, programs

EACH = 250  # programs a test; together there are 2,000


def agree(found: list[Any], expected: list[Any]) -> None:
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore::gtape.RetraceWarning")
def test_random_programs(seed: int) -> None:
    counts = {"all": 0}

    @hypothesis.seed(seed)
    @given(programs(aliases=seed % 2 == 1), arguments())
    @settings(max_examples=EACH, suppress_health_check=list(HealthCheck))
    def check(source: str, args: tuple[Any, ...]) -> None:
        counts["all"] += 1
        program = compile_program(source)
        # Of sixteen four as they were traced, eleven after the passes, one compiled.
        kind = counts["all"] % 16
        function = gt.function(program, optimize=kind % 4 > 0, jit_compile=kind == 15)
        value = reference.value(program, args)
        agree([reference.value(function, args)], [value])
        first = reference.gradients(program, args)
        agree(reference.gradients(function, args), first)
        second = reference.second(program, args)
        agree(reference.second(function, args), second)

    gc.collect()
    gc.freeze()  # what other tests have left need not be walked through again and again
    try:
        check()
    finally:
        gc.unfreeze()
    assert counts["all"] >= EACH
