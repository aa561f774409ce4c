from dataclasses import replace

import numpy as np
import pytest

import gtape  # noqa: F401  (declares the primitives)
from gtape.errors import GraphError, Origin
from gtape.jit.graph.ir import Graph, Literal, Op, Value
from gtape.jit.graph.verify import verify
from gtape.primitive import registry
from gtape.sizes import Unknown, size_of_unknown
from gtape.spec import TensorShape, TensorSpec

# One text a kind of node, right; then what is replaced in it, and what is said.
OP = """
graph(%0: float64[3], %1: float64[]):
  %2: float64[3] = multiply %0, %1
  %3: float64[] = reduce_sum %2 {axes=(0,)}
  return %3
"""
COND = """
graph(%0: bool[], %1: float64[3]):
  %2: float64[3] = cond %0, %1
    graph(%0: float64[3]):  # then
      return %0
    graph(%0: float64[3]):  # else
      %1: float64[3] = sin %0
      return %1
  return %2
"""
WHILE = """
graph(%0: float64[], %1: float32[]):
  %2: float64[], %3: float32[t], %4: int64[] = while %0, %1 {carried=1}
    graph(%0: float64[], %1: float32[]):  # test
      %2: bool[] = less %0, 9.0
      return %2
    graph(%0: float64[], %1: float32[]):  # body
      %2: float64[] = add %0, 1.0
      return %2, %1
  return %2, %3, %4
"""
FOR = """
graph(%0: int64[], %1: float64[], %2: float32[]):
  %3: float64[], %4: float32[t], %5: int64[] = for %0, %1, %2 {carried=1, limit=64}
    graph(%0: int64[], %1: float64[], %2: float32[]):  # body
      %3: float64[] = add %1, 1.0
      return %3, %2
  return %3, %4, %5
"""

BROKEN = [
    (OP, "%2: float64[3] =", "%2: float64[4] =", r"multiply has output 0 of .*\[4\]"),
    (OP, "%2: float64[3] =", "%2: float32[3] =", "has output 0 of float32"),
    (OP, "%2: float64[3] =", "%2: float64[3], %9: int8[] =", "has 2 outputs, not 1"),
    (
        OP,
        "%1: float64[]",
        "%1: float64[2]",
        "multiply does not take its inputs: .*broad",
    ),
    (
        OP,
        "axes=(0,)",
        "axes=()",
        r"reduce_sum has output 0 of float64\[\], not float64",
    ),
    (COND, "%0: bool[]", "%0: int8[]", r"the predicate of int8\[\], not bool"),
    (COND, "%0: bool[]", "%0: bool[3]", r"the predicate of bool\[3\]"),
    (COND, "cond %0, %1", "cond", "cond has no predicate"),
    (COND, "cond %0, %1", "cond %0", "has 1 inputs of its then, not 0"),
    (
        COND,
        "graph(%0: float64[3]):  # else",
        "graph(%0: float64[3], %9: int8[]):",
        "has 2 inputs of its else, not 1",
    ),
    (
        COND,
        "graph(%0: float64[3]):  # then",
        "graph(%0: float64[2]):",
        r"input 0 of its then of float64\[2\], not float64\[3\]",
    ),
    (COND, "return %1\n", "return %1, %1\n", "has 2 outputs of its else, not 1"),
    (COND, "return %1\n", "return 1.0\n", r"that of its else of float64\[3\], not"),
    (COND, "%2: float64[3] =", "%2: float64[2] =", "output 0 against that of its then"),
    (WHILE, "bool[] = less", "bool[] = greater", None),
    (WHILE, "      return %2\n", "      return %0\n", "what its test gives of float64"),
    (WHILE, "      return %2\n", "      return %2, %2\n", "has 2 outputs of its test"),
    (
        WHILE,
        "graph(%0: float64[], %1: float32[]):  # test",
        "graph(%0: float64[]):",
        "has 1 inputs of its test, not 2",
    ),
    (
        WHILE,
        "graph(%0: float64[], %1: float32[]):  # test",
        "graph(%0: float64[], %1: float64[]):",
        "input 1 of its test of float64",
    ),
    (
        WHILE,
        "while %0, %1",
        "while 1, %1",
        r"carry 0 at the start .* of float64\[\], not int64",
    ),
    (WHILE, "while %0, %1", "while %0, 1.0", "invariant 0 at the start of a trip"),
    (WHILE, "while %0, %1", "while %0", "has 2 inputs of its body, not 1"),
    (
        WHILE,
        "return %2, %1\n",
        "return %1, %1\n",
        "carry 0 at the end of a trip of float32",
    ),
    (WHILE, "carried=1", "carried=3", "carries 3 of 2 values"),
    (
        WHILE,
        "%2: float64[], %3: float32[t]",
        "%2: float32[], %3: float32[t]",
        "last carry 0",
    ),
    (WHILE, "float32[t]", "float32[]", "stack 0 of float32.*without an axis of trips"),
    (WHILE, "float32[t]", "float32[t,2]", r"stack 0 of float32\[2\], not float32"),
    (WHILE, "float32[t]", "float64[t]", "stack 0 of float64"),
    (WHILE, "%4: int64[]", "%4: int32[]", "number of trips or the stride of int32"),
    (WHILE, "%4: int64[] =", "%4: int64[], %5: int64[] =", "has 4 outputs, not 3"),
    (WHILE, "carried=1", "carried=1, limit=8", "has 3 outputs, not 4"),
    (
        FOR,
        "%0: int64[], %1: float64[], %2: float32[]):\n  %3",
        "%0: int32[], %1: float64[], %2: float32[]):\n  %3",
        "the number of trips of int32",
    ),
    (
        FOR,
        "graph(%0: int64[], %1: float64[], %2: float32[]):  #",
        "graph(%0: int32[], %1: float64[], %2: float32[]):  #",
        "the index of its body of int32",
    ),
    (FOR, "limit=64", "limit=64, reverse=True", "in reverse and has a limit"),
    (FOR, ", limit=64", "", "has 3 outputs, not 2"),
    (FOR, "%5: int64[] =", "%5: float64[] =", "the stride of float64"),
    (FOR, "return %3, %2", "return %2, %2", "carry 0 at the end of a trip"),
]


@pytest.mark.parametrize("text", [OP, COND, WHILE, FOR])
def test_right_graphs_pass(text):
    verify(Graph.parse(text))


@pytest.mark.parametrize(("text", "old", "new", "message"), BROKEN)
def test_each_violation_is_named(text, old, new, message):
    assert text.count(old) == 1
    graph = Graph.parse(text.replace(old, new))
    if message is None:
        verify(graph)
        return
    with pytest.raises(GraphError, match=message):
        verify(graph)


# --- Violations that no text can say --------------------------------------------------

HERE = Origin("model.py", 41, "predict")
SCALAR = TensorSpec((), "float64")


def sin(x, out=None):
    out = Value(SCALAR) if out is None else out
    return Op(inputs=(x,), outputs=(out,), primitive=registry()["sin"], origin=HERE)


def refused(graph, message, at=HERE):
    with pytest.raises(GraphError, match=message) as caught:
        verify(graph)
    if at:
        assert caught.value.origin == at
        assert "At model.py:41 in predict." in str(caught.value)


def test_a_value_is_defined_once():
    x, y = Value(SCALAR), Value(SCALAR)
    refused(Graph((x,), (sin(x, y), sin(x, y)), (y,)), "sin defines .* already")
    refused(Graph((x,), (sin(x, x),), (x,)), "sin defines a value .* already")
    refused(Graph((x, x), (), ()), "a graph defines", at=None)


def test_a_value_is_defined_before_it_is_read():
    x, y = Value(SCALAR), Value(SCALAR)
    refused(Graph((x,), (sin(y), sin(x, y)), (y,)), "sin reads .* input 0, defined now")
    refused(Graph((x,), (), (y,)), "a graph reads a value .* defined nowhere", at=None)


def test_a_region_reads_its_own_inputs_only():
    graph = Graph.parse(COND)
    [node] = graph.nodes
    outer = graph.inputs[1]
    then = Graph(node.then.inputs, (replace(sin(outer)),), node.then.outputs)
    wrong = replace(node, then=then)
    refused(Graph(graph.inputs, (wrong,), graph.outputs), "sin reads .* another graph")


def test_one_region_may_stand_under_two_nodes():
    graph = Graph.parse(COND)
    [node] = graph.nodes
    twin = replace(node, then=node.orelse, outputs=(Value(node.outputs[0].spec),))
    verify(Graph(graph.inputs, (node, twin), graph.outputs))


def test_atoms_are_values_and_literals_of_our_dtypes():
    x = Value(SCALAR)
    refused(Graph((x,), (sin(3.0),), (x,)), "sin reads 3.0, which is neither")
    text = Literal(np.array(["a"]))
    refused(Graph((x,), (sin(text),), (x,)), "a constant of no dtype of gtape")


def test_the_rule_of_a_gradient_is_verified_too():
    x, y = Value(SCALAR), Value(SCALAR)
    rule = Graph((), (sin(y),), ())
    node = replace(sin(x), attrs={"rule": rule})
    refused(Graph((x,), (node,), (x,)), "sin reads .* defined nowhere")


# --- Sizes ----------------------------------------------------------------------------

SIZES = [
    (OP.replace("[3]", "[n]"), None),
    (
        OP.replace("float64[3]", "float64[n]", 1) + "n >= 2",
        r"output 0 of float64\[3\], not",
    ),
    (COND.replace("[3]", "[n]"), None),
    # The result of a branching may have a size of its own, but not one that is known.
    (COND.replace("%2: float64[3]", "%2: float64[k]"), None),
    (
        COND.replace("%2: float64[3]", "%2: float64[k]").replace(
            "%0: bool[]", "%0: bool[], %9: int8[k]"
        ),
        "output 0 against that of its then",
    ),
]


@pytest.mark.parametrize(("text", "message"), SIZES)
def test_sizes_are_compared_as_expressions(text, message):
    graph = Graph.parse(text)
    if message is None:
        verify(graph)
    else:
        with pytest.raises(GraphError, match=message):
            verify(graph)


class Owner:
    """Fails a test that decides or asks anything."""

    def decide(self, relation, left, right):
        pytest.fail("a guard was noted")

    number = tensor = decide


def test_no_guard_is_noted():
    sizes = [size_of_unknown(Unknown(name, Owner(), hint=3)) for name in "nm"]
    x, y = [Value(TensorSpec(TensorShape([s]), "float64")) for s in sizes]
    out, whole = Value(x.spec), Value(TensorSpec(TensorShape(sizes), "float64"))
    add = Op(inputs=(x, y), outputs=(out,), primitive=registry()["add"])
    spread = Op(
        inputs=(y,),
        outputs=(whole,),
        primitive=registry()["broadcast_to"],
        attrs={"shape": tuple(sizes)},
    )
    verify(Graph((x, y), (add, spread), (out, whole)))


def test_a_growing_carry_has_a_size_of_its_own():
    text = """
graph(%0: int64[], %1: float64[n]):
  %2: float64[last] = for %0, %1 {carried=1}
    graph(%0: int64[], %1: float64[k]):
      %2: float64[k+1] = concat %1, float64[1](7.0) {axis=0}
      return %2
  return %2
"""
    verify(Graph.parse(text))
    with pytest.raises(GraphError, match="carry 0 at the end of a trip"):
        verify(Graph.parse(text.replace("[k", "[n").replace("[last]", "[n]")))


def test_sizes_that_only_the_data_tell_may_have_any_name():
    text = """
graph(%0: bool[3]):
  %1: int64[found,1] = argwhere %0
  return %1
"""
    verify(Graph.parse(text))
