import numpy as np
import pytest
from hypothesis import given, settings

from gtape.jit.graph.interpret import interpret
from gtape.jit.graph.ir import Graph
from gtape.jit.graph.verify import verify
from gtape.jit.passes import optimise
from gtape.jit.passes.cse import cse
from gtape.jit.passes.fold import fold
from gtape.jit.passes.hoist import hoist
from gtape.jit.passes.prune import prune
from gtape.jit.passes.simplify import simplify
from tests.jit.graph.random_graphs import ARGUMENTS, graphs

PASSES = [cse, fold, hoist, prune, simplify, optimise]


def bits(array):
    # Any NaN is as good as any other; the sign of a zero counts.
    array = np.asarray(array)
    if array.dtype.kind != "f":
        return array.tolist()
    return [("nan", "") if x != x else (str(x), "") for x in array.ravel()]


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_text_is_read_back(graph):
    verify(graph)
    text = str(graph)
    again = Graph.parse(text)
    assert str(again) == text
    for arrays in ARGUMENTS:
        results = zip(interpret(graph, arrays), interpret(again, arrays), strict=True)
        assert all(bits(a) == bits(b) for a, b in results)


@pytest.mark.parametrize("run", PASSES, ids=lambda run: run.__name__)
@settings(max_examples=150, deadline=None)
@given(graph=graphs())
def test_passes_keep_results(run, graph):
    wanted = [interpret(graph, arrays) for arrays in ARGUMENTS]
    new = run(graph)
    verify(new)
    assert [v.spec for v in new.inputs] == [v.spec for v in graph.inputs]
    for arrays, values in zip(ARGUMENTS, wanted, strict=True):
        found = interpret(new, arrays)
        for a, b in zip(values, found, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            assert bits(a) == bits(b), str(new)


@pytest.mark.parametrize("run", PASSES[:-1], ids=lambda run: run.__name__)
@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_passes_leave_a_graph_they_have_done(run, graph):
    done = run(run(run(run(graph))))
    assert run(done) is done
