"""Passes on graphs as text: what goes in, and what must come out."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import GraphError, Origin
from gtape.jit.graph.ir import Graph, Literal, Op, Value
from gtape.jit.graph.verify import verify
from gtape.jit.passes import ORDER, optimise
from gtape.jit.passes.cse import cse
from gtape.jit.passes.fold import fold
from gtape.jit.passes.hoist import hoist
from gtape.jit.passes.prune import prune
from gtape.jit.passes.simplify import simplify

RUN = {"cse": cse, "fold": fold, "hoist": hoist, "prune": prune, "optimise": optimise}


# A case: the pass, what it is about, before, after ("" for no change).
CASES = [
    (
        "fold",
        "constants",
        """
graph(%0: float64[]):
  %1: float64[] = add 1.0, 2.0
  %2: float64[] = multiply %1, %0
  %3: float64[2] = add float64[2](1.0, 2.0), %1
  %4: int64[] = size {size=7, dtype=int64}
  return %2, %3, %4
""",
        """
graph(%0: float64[]):
  %1: float64[] = multiply 3.0, %0
  return %1, float64[2](4.0, 5.0), 7
""",
    ),
    (
        "fold",
        "what raises, prints, is large or has sizes stays",
        """
graph(%0: int8[n]):
  %1: int64[] = floordiv 1, 0
  %2: bool[] = print 1.0 {pieces=('', ''), stream=None, summarize=3}
  %3: float64[100] = broadcast_to 1.0 {shape=(100,)}
  %4: int64[] = size {size=n, dtype=int64}
  %5: float64[n] = broadcast_to 0.0 {shape=(n,)}
  return %1, %3, %4, %5
""",
        "",
    ),
    (
        "fold",
        "a known predicate",
        """
graph(%0: float64[], %1: float64[]):
  %2: bool[] = less 1.0, 2.0
  %3: float64[], %4: float64[] = cond %2, %0, %1
    graph(%0: float64[], %1: float64[]):
      %2: float64[] = sin %0
      %3: float64[] = cos %2
      return %3, %1
    graph(%0: float64[], %1: float64[]):
      return %1, %0
  return %3, %4
""",
        """
graph(%0: float64[], %1: float64[]):
  %2: float64[] = sin %0
  %3: float64[] = cos %2
  return %3, %1
""",
    ),
    (
        "fold",
        "a branch whose result has a size of its own stays",
        """
graph(%0: float64[n]):
  %1: float64[k] = cond True, %0
    graph(%0: float64[n]):
      return %0
    graph(%0: float64[n]):
      %1: float64[99] = broadcast_to 1.0 {shape=(99,)}
      return %1
  %2: float64[2*k] = broadcast_to 0.0 {shape=(2*k,)}
  return %1, %2
""",
        "",
    ),
    (
        "fold",
        "constant operands go inside, and are computed with",
        """
graph(%0: bool[], %1: float64[], %2: int64[]):
  %3: float64[] = cond %0, 2.0, %1, %0
    graph(%0: float64[], %1: float64[], %2: bool[]):
      %3: float64[] = add %0, 1.0
      %4: float64[] = where %2, %1, %3
      return %4
    graph(%0: float64[], %1: float64[], %2: bool[]):
      %3: float64[] = where %2, %1, %0
      return %3
  %4: float64[] = for %2, 5.0, 2.0, %1 {carried=1}
    graph(%0: int64[], %1: float64[], %2: float64[], %3: float64[]):
      %4: float64[] = multiply %2, %2
      %5: float64[] = add %1, %4
      %6: float64[] = add %5, %3
      return %6
  return %3, %4
""",
        """
graph(%0: bool[], %1: float64[], %2: int64[]):
  %3: float64[] = cond %0, %1
    graph(%0: float64[]):
      %1: float64[] = where True, %0, 3.0
      return %1
    graph(%0: float64[]):
      %1: float64[] = where False, %0, 2.0
      return %1
  %4: float64[] = for %2, 5.0, %1 {carried=1}
    graph(%0: int64[], %1: float64[], %2: float64[]):
      %3: float64[] = add %1, 4.0
      %4: float64[] = add %3, %2
      return %4
  return %3, %4
""",
    ),
    (
        "fold",
        "loops of no trip and one",
        """
graph(%0: float64[], %1: float64[]):
  %2: float64[] = for 0, %0, %1 {carried=1}
    graph(%0: int64[], %1: float64[], %2: float64[]):
      %3: float64[] = multiply %1, %2
      return %3
  %3: float64[] = for 1, %2, %1 {carried=1}
    graph(%0: int64[], %1: float64[], %2: float64[]):
      %3: float64[] = cast %0 {dtype=float64}
      %4: float64[] = multiply %1, %2
      %5: float64[] = add %4, %3
      return %5
  %4: float64[], %5: float64[], %6: int64[] = while 5.0, %3 {carried=2}
    graph(%0: float64[], %1: float64[]):
      %2: float64[] = add %0, 1.0
      %3: bool[] = less %2, 4.0
      return %3
    graph(%0: float64[], %1: float64[]):
      return %1, %0
  return %2, %3, %4, %5, %6
""",
        """
graph(%0: float64[], %1: float64[]):
  %2: float64[] = cast 0 {dtype=float64}
  %3: float64[] = multiply %0, %1
  %4: float64[] = add %3, %2
  return %0, %4, 5.0, %4, 0
""",
    ),
    (
        "fold",
        "loops with stacks stay",
        """
graph(%0: float64[]):
  %1: float64[], %2: float64[0] = for 0, %0 {carried=1}
    graph(%0: int64[], %1: float64[]):
      return %1, %1
  return %1, %2
""",
        "",
    ),
    (
        "cse",
        "equal expressions",
        """
graph(%0: float64[3], %1: float64[3]):
  %2: float64[3] = add %0, %1
  %3: float64[3] = add %1, %0
  %4: float64[3] = subtract %0, %1
  %5: float64[3] = subtract %1, %0
  %6: float64[3] = sin %2
  %7: float64[3] = sin %3
  %8: float64[3] = multiply %6, 0.0
  %9: float64[3] = multiply %7, -0.0
  %10: float64[3] = multiply %7, 0.0
  return %4, %5, %8, %9, %10
""",
        """
graph(%0: float64[3], %1: float64[3]):
  %2: float64[3] = add %0, %1
  %3: float64[3] = subtract %0, %1
  %4: float64[3] = subtract %1, %0
  %5: float64[3] = sin %2
  %6: float64[3] = multiply %5, 0.0
  %7: float64[3] = multiply %5, -0.0
  return %3, %4, %6, %7, %6
""",
    ),
    (
        "cse",
        "other attributes, dtypes and effects are another thing",
        """
graph(%0: float64[3], %1: float32[3]):
  %2: float64[] = reduce_sum %0 {axes=(0,)}
  %3: float64[3] = reduce_sum %0 {axes=()}
  %4: float64[] = add 1.0, %2
  %5: float32[3] = add float32(1.0), %1
  %6: bool[] = print %0 {pieces=('', ''), stream=None, summarize=3}
  %7: bool[] = print %0 {pieces=('', ''), stream=None, summarize=3}
  return %3, %4, %5
""",
        "",
    ),
    (
        "cse",
        "sizes that only the data tell",
        """
graph(%0: bool[3]):
  %1: int64[n,1] = argwhere %0
  %2: int64[m,1] = argwhere %0
  return %1, %2
""",
        "",
    ),
    (
        "cse",
        "operands that are taken twice",
        """
graph(%0: bool[], %1: float64[], %2: int64[]):
  %3: float64[] = cond %0, %1, %1
    graph(%0: float64[], %1: float64[]):
      %2: float64[] = sin %0
      %3: float64[] = sin %1
      %4: float64[] = multiply %2, %3
      return %4
    graph(%0: float64[], %1: float64[]):
      return %1
  %4: float64[] = for %2, %1, %1, %3, %1 {carried=1}
    graph(%0: int64[], %1: float64[], %2: float64[], %3: float64[], %4: float64[]):
      %5: float64[] = add %1, %2
      %6: float64[] = add %5, %4
      %7: float64[] = add %6, %3
      return %7
  return %3, %4
""",
        """
graph(%0: bool[], %1: float64[], %2: int64[]):
  %3: float64[] = cond %0, %1
    graph(%0: float64[]):
      %1: float64[] = sin %0
      %2: float64[] = multiply %1, %1
      return %2
    graph(%0: float64[]):
      return %0
  %4: float64[] = for %2, %1, %1, %3 {carried=1}
    graph(%0: int64[], %1: float64[], %2: float64[], %3: float64[]):
      %4: float64[] = add %1, %2
      %5: float64[] = add %4, %2
      %6: float64[] = add %5, %3
      return %6
  return %3, %4
""",
    ),
    (
        "hoist",
        "out of the test and the body of a while, and of both loops of a nest",
        """
graph(%0: float64[3], %1: float64[], %2: int64[]):
  %3: float64[], %4: int64[] = while %1, %0, %1 {carried=1}
    graph(%0: float64[], %1: float64[3], %2: float64[]):
      %3: float64[] = reduce_sum %1 {axes=(0,)}
      %4: bool[] = less %0, %3
      return %4
    graph(%0: float64[], %1: float64[3], %2: float64[]):
      %3: float64[] = exp %2
      %4: float64[] = sin %3
      %5: float64[] = add %0, %4
      return %5
  %5: float64[] = for %2, %1, %0 {carried=1}
    graph(%0: int64[], %1: float64[], %2: float64[3]):
      %3: float64[] = for %0, %1, %2 {carried=1}
        graph(%0: int64[], %1: float64[], %2: float64[3]):
          %3: float64[] = reduce_sum %2 {axes=(0,)}
          %4: float64[] = add %1, %3
          return %4
      return %3
  return %3, %5
""",
        """
graph(%0: float64[3], %1: float64[], %2: int64[]):
  %3: float64[] = reduce_sum %0 {axes=(0,)}
  %4: float64[] = exp %1
  %5: float64[] = sin %4
  %6: float64[], %7: int64[] = while %1, %0, %1, %3, %5 {carried=1}
    graph(%0: float64[], %1: float64[3], %2: float64[], %3: float64[], %4: float64[]):
      %5: bool[] = less %0, %3
      return %5
    graph(%0: float64[], %1: float64[3], %2: float64[], %3: float64[], %4: float64[]):
      %5: float64[] = add %0, %4
      return %5
  %8: float64[] = reduce_sum %0 {axes=(0,)}
  %9: float64[] = for %2, %1, %0, %8 {carried=1}
    graph(%0: int64[], %1: float64[], %2: float64[3], %3: float64[]):
      %4: float64[] = for %0, %1, %2, %3 {carried=1}
        graph(%0: int64[], %1: float64[], %2: float64[3], %3: float64[]):
          %4: float64[] = add %1, %3
          return %4
      return %4
  return %6, %9
""",
    ),
    (
        "hoist",
        "what may raise, grows, prints, or is under a condition stays",
        """
graph(%0: float64[3], %1: int64[], %2: bool[], %3: float64[0]):
  %4: float64[3] = for %1, %0, %1, %2, %0, %3 {carried=1}
    graph(%0: int64[], %1: float64[3], %2: int64[], %3: bool[], %4: float64[3], %5: \
float64[0]):
      %6: int64[] = floordiv %2, %2
      %7: float64[1000,3] = broadcast_to %4 {shape=(1000, 3)}
      %8: bool[] = print %4 {pieces=('', ''), stream=None, summarize=3}
      %9: float64[] = index %4, %2 {axes=(0,), wrap=True}
      %10: float64[] = reduce_max %5 {axes=(0,)}
      %11: float64[3] = cond %3, %4
        graph(%0: float64[3]):
          %1: float64[3] = sin %0
          return %1
        graph(%0: float64[3]):
          return %0
      %12: float64[3] = reduce_sum %7 {axes=(0,)}
      %13: float64[3] = add %12, %9
      %14: float64[3] = add %13, %10
      return %14
  return %4
""",
        "",
    ),
    (
        "hoist",
        "what may raise goes out where a trip is certain",
        """
graph(%0: int64[]):
  %1: int64[] = for 3, %0, %0 {carried=1}
    graph(%0: int64[], %1: int64[], %2: int64[]):
      %3: int64[] = floordiv 9, %2
      %4: int64[] = add %1, %3
      return %4
  return %1
""",
        """
graph(%0: int64[]):
  %1: int64[] = floordiv 9, %0
  %2: int64[] = for 3, %0, %0, %1 {carried=1}
    graph(%0: int64[], %1: int64[], %2: int64[], %3: int64[]):
      %4: int64[] = add %1, %3
      return %4
  return %2
""",
    ),
    (
        "hoist",
        "sizes of the body stay in it",
        """
graph(%0: int64[], %1: float64[n]):
  %2: float64[last] = for %0, %1, %1 {carried=1}
    graph(%0: int64[], %1: float64[k], %2: float64[n]):
      %3: float64[n] = sin %2
      %4: int64[] = size {size=k, dtype=int64}
      %5: int64[] = size {size=n, dtype=int64}
      %6: float64[k+n] = concat %1, %3 {axis=0}
      return %6
  return %2
""",
        """
graph(%0: int64[], %1: float64[n]):
  %2: float64[n] = sin %1
  %3: int64[] = size {size=n, dtype=int64}
  %4: float64[last] = for %0, %1, %1, %2 {carried=1}
    graph(%0: int64[], %1: float64[k], %2: float64[n], %3: float64[n]):
      %4: int64[] = size {size=k, dtype=int64}
      %5: float64[k+n] = concat %1, %3 {axis=0}
      return %5
  return %4
""",
    ),
    (
        "prune",
        "dead nodes; effects stay, also inside",
        """
graph(%0: float64[], %1: bool[]):
  %2: float64[] = sin %0
  %3: float64[] = cos %2
  %4: float64[] = exp %2
  %5: bool[] = print %4 {pieces=('', ''), stream=None, summarize=3}
  %6: float64[], %7: float64[] = cond %1, %0, %3
    graph(%0: float64[], %1: float64[]):
      %2: bool[] = print %0 {pieces=('', ''), stream=None, summarize=3}
      return %1, %0
    graph(%0: float64[], %1: float64[]):
      %2: float64[] = sin %0
      return %1, %2
  %8: float64[] = cond %1, %0
    graph(%0: float64[]):
      return %0
    graph(%0: float64[]):
      return 1.0
  return %2
""",
        """
graph(%0: float64[], %1: bool[]):
  %2: float64[] = sin %0
  %3: float64[] = exp %2
  %4: bool[] = print %3 {pieces=('', ''), stream=None, summarize=3}
  cond %1, %0
    graph(%0: float64[]):
      %1: bool[] = print %0 {pieces=('', ''), stream=None, summarize=3}
      return
    graph(%0: float64[]):
      return
  return %2
""",
    ),
    (
        "prune",
        "outputs and operands of branches",
        """
graph(%0: bool[], %1: float64[], %2: float64[], %3: float64[]):
  %4: float64[], %5: float64[] = cond %0, %1, %2, %3
    graph(%0: float64[], %1: float64[], %2: float64[]):
      %3: float64[] = sin %0
      return %3, %1
    graph(%0: float64[], %1: float64[], %2: float64[]):
      return %1, %2
  return %5
""",
        """
graph(%0: bool[], %1: float64[], %2: float64[], %3: float64[]):
  %4: float64[] = cond %0, %2, %3
    graph(%0: float64[], %1: float64[]):
      return %0
    graph(%0: float64[], %1: float64[]):
      return %1
  return %4
""",
    ),
    (
        "prune",
        "carries that feed what is needed stay, rings of others go",
        """
graph(%0: float64[], %1: float64[]):
  %2: float64[], %3: float64[], %4: float64[], %5: float64[], %6: float64[t], \
%7: float64[t], %8: int64[] = while %0, %0, %0, %0, %1 {carried=4}
    graph(%0: float64[], %1: float64[], %2: float64[], %3: float64[], %4: float64[]):
      %5: bool[] = less %0, %4
      return %5
    graph(%0: float64[], %1: float64[], %2: float64[], %3: float64[], %4: float64[]):
      %5: float64[] = add %0, %1
      %6: float64[] = sin %1
      return %5, %6, %3, %2, %2, %1
  return %7
""",
        """
graph(%0: float64[], %1: float64[]):
  %2: float64[], %3: float64[], %4: float64[t], %5: int64[] = while %0, %0, %1 \
{carried=2}
    graph(%0: float64[], %1: float64[], %2: float64[]):
      %3: bool[] = less %0, %2
      return %3
    graph(%0: float64[], %1: float64[], %2: float64[]):
      %3: float64[] = add %0, %1
      %4: float64[] = sin %1
      return %3, %4, %1
  return %4
""",
    ),
    (
        "prune",
        "carries that never change, through two loops",
        """
graph(%0: int64[], %1: float64[], %2: float64[]):
  %3: float64[], %4: float64[] = for %0, %1, %2 {carried=2}
    graph(%0: int64[], %1: float64[], %2: float64[]):
      %3: float64[], %4: float64[] = for %0, %1, %2 {carried=2}
        graph(%0: int64[], %1: float64[], %2: float64[]):
          %3: float64[] = add %1, %2
          return %3, %2
      return %3, %4
  return %3, %4
""",
        """
graph(%0: int64[], %1: float64[], %2: float64[]):
  %3: float64[] = for %0, %1, %2 {carried=1}
    graph(%0: int64[], %1: float64[], %2: float64[]):
      %3: float64[] = for %0, %1, %2 {carried=1}
        graph(%0: int64[], %1: float64[], %2: float64[]):
          %3: float64[] = add %1, %2
          return %3
      return %3
  return %3, %2
""",
    ),
    (
        "prune",
        "the limit goes with the stacks",
        """
graph(%0: int64[], %1: float64[]):
  %2: float64[], %3: float64[t], %4: int64[] = for %0, %1 {carried=1, limit=8}
    graph(%0: int64[], %1: float64[]):
      %2: float64[] = sin %1
      return %2, %1
  %5: float64[], %6: float64[s], %7: int64[] = for %0, %1 {carried=1, limit=8}
    graph(%0: int64[], %1: float64[]):
      %2: float64[] = cos %1
      return %2, %1
  return %2, %5, %7
""",
        """
graph(%0: int64[], %1: float64[]):
  %2: float64[] = for %0, %1 {carried=1}
    graph(%0: int64[], %1: float64[]):
      %2: float64[] = sin %1
      return %2
  %3: float64[], %4: int64[] = for %0, %1 {carried=1, limit=8}
    graph(%0: int64[], %1: float64[]):
      %2: float64[] = cos %1
      return %2
  return %2, %3, %4
""",
    ),
    (
        "prune",
        "what tells a size that is read stays",
        """
graph(%0: bool[3], %1: bool[3]):
  %2: int64[n,1] = argwhere %0
  %3: int64[m,1] = argwhere %1
  %4: float64[n] = broadcast_to 1.0 {shape=(n,)}
  return %4
""",
        """
graph(%0: bool[3], %1: bool[3]):
  %2: int64[n,1] = argwhere %0
  %3: float64[n] = broadcast_to 1.0 {shape=(n,)}
  return %3
""",
    ),
    (
        "prune",
        "a carry that changes only its size stays a carry",
        """
graph(%0: int64[], %1: float64[n]):
  %2: float64[last], %3: float64[] = for %0, %1, 1.0 {carried=2}
    graph(%0: int64[], %1: float64[k], %2: float64[]):
      %3: float64[k+1] = concat %1, float64[1](7.0) {axis=0}
      %4: int64[] = size {size=k, dtype=int64}
      %5: float64[] = cast %4 {dtype=float64}
      %6: float64[] = add %2, %5
      return %3, %6
  return %3
""",
        "",
    ),
    (
        "optimise",
        "all together",
        """
graph(%0: int64[], %1: float64[3], %2: float64[3]):
  %3: float64[3], %4: float64[3], %5: float64[t,3] = for %0, %1, %2 {carried=2}
    graph(%0: int64[], %1: float64[3], %2: float64[3]):
      %3: bool[] = logical_not False
      %4: float64[3] = cond %3, %1, %2
        graph(%0: float64[3], %1: float64[3]):
          %2: float64[3] = exp %1
          %3: float64[3] = multiply %2, 1.0
          %4: float64[3] = add %0, %3
          return %4
        graph(%0: float64[3], %1: float64[3]):
          return %1
      %5: float64[3] = exp %2
      %6: float64[3] = multiply %4, %5
      return %6, %2, %1
  return %3, %4
""",
        """
graph(%0: int64[], %1: float64[3], %2: float64[3]):
  %3: float64[3] = exp %2
  %4: float64[3] = for %0, %1, %3 {carried=1}
    graph(%0: int64[], %1: float64[3], %2: float64[3]):
      %3: float64[3] = add %1, %2
      %4: float64[3] = multiply %3, %2
      return %4
  return %4, %2
""",
    ),
]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [(c[0], c[2], c[3]) for c in CASES],
    ids=[f"{c[0]}: {c[1]}" for c in CASES],
)
def test_graphs(name, before, after):
    graph = Graph.parse(before)
    verify(graph)
    new = RUN[name](graph)
    verify(new)
    # Printed once more: the texts of this file say nothing of labels.
    assert str(new) == str(Graph.parse(after or before))
    if not after:
        assert new is graph


@pytest.mark.parametrize("run", [*RUN.values(), simplify], ids=lambda run: run.__name__)
@pytest.mark.parametrize("text", [c[2] for c in CASES], ids=[c[1] for c in CASES])
def test_all_passes_keep_all_graphs_valid(run, text):
    verify(run(Graph.parse(text)))


def test_origins_are_kept():
    here = Origin("model.py", 41, "predict")
    x = Value(gt.TensorSpec((), "float64"))
    outputs = [Value(x.spec) for _ in range(2)]
    primitives = [gt.primitive.registry()[name] for name in ("add", "pow")]
    one = Literal(np.float64(2))
    nodes = [
        Op(inputs=(x, one), outputs=(out,), primitive=primitive, origin=here)
        for out, primitive in zip(outputs, primitives, strict=True)
    ]
    new = optimise(Graph((x,), tuple(nodes), tuple(outputs)), check=True)
    assert [node.origin for node in new.nodes] == [here, here]
    assert str(new).splitlines()[2] == "  %2: float64[] = multiply %0, %0"


def test_constants_are_folded_once_and_for_all():
    text = "graph():\n  %0: float64[2] = add float64[2](1.0, 2.0), 1.0\n  return %0"
    [literal] = fold(Graph.parse(text)).outputs
    with pytest.raises(ValueError, match="read-only"):
        literal.array[0] = 5


def test_large_results_are_not_computed_ahead():
    for elements, folded in [(8192, True), (8193, False)]:
        x, out = (
            Literal(np.ones(elements)),
            Value(gt.TensorSpec((elements,), "float64")),
        )
        primitive = gt.primitive.registry()["sin"]
        node = Op(inputs=(x,), outputs=(out,), primitive=primitive)
        assert (not fold(Graph((), (node,), (out,))).nodes) == folded


def test_a_pass_that_breaks_a_graph_is_named(monkeypatch):
    def broken(graph):
        return Graph(graph.inputs, (), (Value(gt.TensorSpec((), "int8")),))

    monkeypatch.setattr("gtape.jit.passes.ORDER", (*ORDER, broken))
    graph = Graph.parse("graph():\n  return 1")
    with pytest.raises(GraphError, match="after broken: verify: a graph reads"):
        optimise(graph, check=True)
