"""Every program of the corpus as a graph: its value and derivatives are the eager ones.

Interpreted as it was traced, and compiled after the passes.

`test_programs_eager` holds the eager ones against central differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.jit.graph.ir import Graph
from gtape.jit.graph.verify import verify
from gtape.jit.passes import optimise
from tests.jit import reference
from tests.jit.programs import PROGRAMS, Program

FORMS = {
    "interpreted": {"optimize": False, "jit_compile": False},
    "compiled": {"optimize": True, "jit_compile": True},
}


def agree(found: list[Any], expected: list[Any], tolerance: float) -> None:
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
@pytest.mark.filterwarnings("ignore::gtape.RetraceWarning")
def test_a_graph_does_what_python_does(program: Program, form: str) -> None:
    function = gt.function(program.function, **FORMS[form])
    for trips in program.trips:
        args = program.inputs(trips)
        # In float32 two libraries of functions differ in the last bits.
        narrow = "float32" in str(function.graph(*reference.tensors(args)[0]))
        value, slope, curve = (1e-6,) * 3 if narrow else (1e-9, 1e-8, 1e-7)
        expected = reference.value(program.function, args)
        agree([reference.value(function, args)], [expected], value)
        first = reference.gradients(program.function, args)
        agree(reference.gradients(function, args), first, slope)
        if program.orders > 1:
            second = reference.second(program.function, args)
            agree(reference.second(function, args), second, curve)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_graph_is_well_formed(program: Program) -> None:
    function = gt.function(program.function, optimize=False)
    args = reference.tensors(program.inputs(program.trips[-1]))[0]
    graph = function.graph(*args)
    verify(graph)
    optimised = optimise(graph, check=True)
    if "<" not in str(optimised).replace("<=", ""):  # no Python function in it
        assert str(Graph.parse(str(optimised))) == str(optimised)
