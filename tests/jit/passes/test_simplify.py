import numpy as np
import pytest

import gtape as gt
from gtape.jit.graph.interpret import interpret
from gtape.jit.graph.ir import Graph
from gtape.jit.graph.verify import verify
from gtape.jit.passes.known import keeps_all
from gtape.jit.passes.prune import prune
from gtape.jit.passes.simplify import RULES, simplify
from tests.jit.graph.test_random_graphs import bits

INPUTS = "%0: float64[3], %1: float64[3], %2: bool[3], %3: int32[3], %4: float64[2,3]"

# The body of a graph of these inputs, what stands in its place ("same" for nothing),
# and what is returned.
SPECIAL = np.array([0.0, -0.0, np.nan])
RULE_CASES = [
    ("float64[3] = identity %0", "%0"),
    ("float64[3] = stop_gradient %0", "%0"),
    ("float64[3] = add %0, -0.0", "%0"),
    ("float64[3] = add -0.0, %0", "%0"),
    ("float64[3] = add %0, 0.0", "same"),
    ("float64[3] = add %0, float64[3](-0.0, -0.0, -0.0)", "%0"),
    ("float64[3] = add %0, float64[3](-0.0, 0.0, -0.0)", "same"),
    ("float64[2,3] = add %0, float64[2,1](-0.0, -0.0)", "same"),
    ("int32[3] = add %3, int32(0)", "%3"),
    ("float64[3] = subtract %0, 0.0", "%0"),
    ("float64[3] = subtract %0, -0.0", "same"),
    ("float64[3] = subtract 0.0, %0", "same"),
    ("float64[3] = subtract -0.0, %0", "negative %0"),
    ("int32[3] = subtract int32(0), %3", "negative %3"),
    ("float64[3] = multiply %0, 1.0", "%0"),
    ("float64[3] = multiply 1.0, %0", "%0"),
    ("float64[3] = multiply %0, -1.0", "negative %0"),
    ("float64[3] = multiply %0, 0.0", "same"),
    ("float64[2,3] = multiply %0, float64[2,1](1.0, 1.0)", "same"),
    ("float64[3] = divide %0, 1.0", "%0"),
    ("float64[3] = divide %0, -1.0", "negative %0"),
    ("float64[3] = divide %0, 8.0", "multiply %0, 0.125"),
    ("float64[3] = divide %0, 10.0", "same"),
    ("float64[3] = divide %0, float64[1](-0.5)", "multiply %0, float64[1](-2.0)"),
    ("float64[3] = divide %0, 1e+308", "same"),
    ("float64[3] = pow %0, 1.0", "%0"),
    ("float64[3] = pow %0, 2.0", "multiply %0, %0"),
    ("float64[3] = pow %0, 0.5", "same"),
    ("int32[3] = pow %3, int32(2)", "multiply %3, %3"),
    ("int32[3] = cast %3 {dtype=int32}", "%3"),
    ("float64[3] = where True, %0, %1", "%0"),
    ("float64[3] = where bool[3](False, False, False), %0, %1", "%1"),
    ("float64[3] = where bool[3](False, True, False), %0, %1", "same"),
    ("float64[3] = where %2, %0, %0", "%0"),
    ("float64[3] = where True, 1.0, %0", "same"),
    ("bool[3] = logical_and %2, True", "%2"),
    ("bool[3] = logical_or %2, False", "%2"),
    ("bool[3] = logical_and %2, False", "same"),
    ("bool[3] = logical_and %2, %2", "%2"),
    ("float64[3] = maximum %0, %0", "%0"),
    ("float64[3] = minimum %0, %1", "same"),
    ("float64[3] = mask_nan %0, %0", "%0"),
    (
        "float64[3] = mask_nan float64[3](1.0, 1.0, 1.0), %0",
        "float64[3](1.0, 1.0, 1.0)",
    ),
    ("float64[3] = mask_nan float64[3](1.0, nan, 1.0), %0", "same"),
    ("float64[3] = reshape %0 {shape=(3,)}", "%0"),
    ("float64[3,1] = reshape %0 {shape=(3, 1)}", "same"),
    ("float64[3] = broadcast_to %0 {shape=(3,)}", "%0"),
    ("float64[2,3] = transpose %4 {perm=(0, 1)}", "%4"),
    ("float64[3,2] = transpose %4 {perm=(1, 0)}", "same"),
    ("float64[3] = slice %0 {starts=(0,), sizes=(3,), steps=(1,)}", "%0"),
    ("float64[2] = slice %0 {starts=(0,), sizes=(2,), steps=(1,)}", "same"),
    ("float64[3] = slice %0 {starts=(2,), sizes=(3,), steps=(-1,)}", "same"),
    ("float64[2,3] = select %4 {key=((None, None, None),)}", "%4"),
    ("float64[2,3] = select %4 {key=((None, None, -1),)}", "same"),
    ("float64[3] = concat %0 {axis=0}", "%0"),
    ("float64[3] = reduce_sum %0 {axes=()}", "same"),
    ("int32[3] = reduce_sum %3 {axes=()}", "%3"),
    ("float64[3] = reduce_max %0 {axes=()}", "%0"),
    ("float64[] = reduce_sum %0 {axes=(0,)}", "same"),
    ("float64[3] = reread %0, %1", "%0"),
    ("float64[3] = abs %0", "same"),
    ("complex128[1] = multiply complex128[1](1.0, inf), complex128(1.0, 0.0)", "same"),
]

# Two operations, and what stands in the place of the second.
PAIR_CASES = [
    ("float64[3] = negative %0", "float64[3] = negative %5", "%0"),
    ("float64[3] = negative %0", "float64[3] = abs %5", "abs %0"),
    ("float64[3] = abs %0", "float64[3] = abs %5", "%5"),
    ("float64[3] = negative %0", "float64[3] = add %1, %5", "subtract %1, %0"),
    ("float64[3] = negative %0", "float64[3] = add %5, %1", "subtract %1, %0"),
    ("float64[3] = negative %0", "float64[3] = subtract %1, %5", "add %1, %0"),
    ("float64[3] = negative %0", "float64[3] = multiply %5, %5", "multiply %0, %0"),
    ("float64[3] = floor %0", "float64[3] = floor %5", "%5"),
    ("bool[3] = logical_not %2", "bool[3] = logical_not %5", "%2"),
    ("bool[3] = logical_not %2", "float64[3] = where %5, %0, %1", "where %2, %1, %0"),
    ("float64[3] = mask_nan %0, %1", "float64[3] = mask_nan %5, %1", "%5"),
    ("float64[3] = mask_nan %0, %1", "float64[3] = mask_nan %5, %0", "same"),
    (
        "float64[3,2] = transpose %4 {perm=(1, 0)}",
        "float64[2,3] = transpose %5 {perm=(1, 0)}",
        "%4",
    ),
    (
        "float64[6] = reshape %4 {shape=(6,)}",
        "float64[3,2] = reshape %5 {shape=(3, 2)}",
        "reshape %4 {shape=(3, 2)}",
    ),
    (
        "float64[6] = reshape %4 {shape=(6,)}",
        "float64[2,3] = reshape %5 {shape=(2, 3)}",
        "%4",
    ),
    (
        "float64[2,3] = broadcast_to %0 {shape=(2, 3)}",
        "float64[4,2,3] = broadcast_to %5 {shape=(4, 2, 3)}",
        "broadcast_to %0 {shape=(4, 2, 3)}",
    ),
    (
        "float64[2,3] = broadcast_to %0 {shape=(2, 3)}",
        "float64[2,3] = multiply %4, %5",
        "multiply %4, %0",
    ),
    (
        "float64[2,3] = broadcast_to %0 {shape=(2, 3)}",
        "float64[2,3] = multiply 2.0, %5",
        "same",
    ),
    ("float64[3] = cast %3 {dtype=float64}", "int32[3] = cast %5 {dtype=int32}", "%3"),
    (
        "int64[3] = cast %3 {dtype=int64}",
        "int8[3] = cast %5 {dtype=int8}",
        "cast %3 {dtype=int8}",
    ),
    (
        "float32[3] = cast %0 {dtype=float32}",
        "float64[3] = cast %5 {dtype=float64}",
        "same",
    ),
    (
        "int64[3] = cast %2 {dtype=int64}",
        "float32[3] = cast %5 {dtype=float32}",
        "cast %2 {dtype=float32}",
    ),
]


def arrays():
    yield [
        np.array([0.5, -3.0, 7.25]),
        np.array([2.0, 0.0, -1.0]),
        np.array([True, False, True]),
        np.array([1, -2, 3], np.int32),
        np.arange(6.0).reshape(2, 3),
    ]
    yield [
        SPECIAL,
        np.array([np.inf, np.nan, -0.0]),
        np.array([False, False, True]),
        np.array([-(2**31), 2**31 - 1, 0], np.int32),
        np.array([[np.inf, -0.0, np.nan], [1e-310, 1e308, -1e308]]),
    ]


def simplified(lines):
    nodes = [f"  %{5 + i}: {line}\n" for i, line in enumerate(lines)]
    graph = Graph.parse(f"graph({INPUTS}):\n{''.join(nodes)}  return %{4 + len(lines)}")
    verify(graph)
    new = prune(simplify(graph))
    verify(new)
    for given in arrays():
        results = zip(interpret(graph, given), interpret(new, given), strict=True)
        assert all(bits(a) == bits(b) for a, b in results if a.dtype.kind != "c")
    return graph, new


def expected(result, spec, before=""):
    if result.startswith(("%0", "%1", "%2", "%3", "%4", "float64[3](1")):
        return f"graph({INPUTS}):\n{before}  return {result}"
    place = 5 + bool(before)
    return f"graph({INPUTS}):\n{before}  %{place}: {spec} = {result}\n  return %{place}"


@pytest.mark.parametrize(("line", "result"), RULE_CASES)
def test_one_operation(line, result):
    graph, new = simplified([line])
    if result == "same":
        assert str(new) == str(graph)
    else:
        assert str(new) == expected(result, line.split(" = ")[0])


@pytest.mark.parametrize(("first", "second", "result"), PAIR_CASES)
def test_two_operations(first, second, result):
    graph, new = simplified([first, second])
    if result == "same":
        assert str(new) == str(graph)
    elif result == "%5":
        text = f"graph({INPUTS}):\n  %5: {first}\n  return %5"
        assert str(new) == text
    else:
        assert str(new) == expected(result, second.split(" = ")[0])


def test_every_rule_has_a_case():
    used = {line.split(" = ")[1].split()[0] for line, _ in RULE_CASES}
    used |= {second.split(" = ")[1].split()[0] for _, second, _ in PAIR_CASES}
    spread = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
    alike = spread | {"multiply_no_nan", "divide_no_nan", "conj", "invert", "ceil"}
    alike |= {"round", "trunc"} | {f"reduce_{n}" for n in ("prod", "min", "any", "all")}
    assert set(RULES) <= used | alike


def test_a_branching_passes_operands_through():
    text = """
graph(%0: bool[], %1: float64[], %2: float64[]):
  %3: float64[], %4: float64[], %5: float64[], %6: float64[] = cond %0, %1, %2
    graph(%0: float64[], %1: float64[]):
      %2: float64[] = sin %0
      return %1, %2, 4.0, %0
    graph(%0: float64[], %1: float64[]):
      return %1, %0, 4.0, %1
  return %3, %4, %5, %6
"""
    new = simplify(Graph.parse(text))
    assert str(new).splitlines()[-1] == "  return %2, %4, 4.0, %6"


def test_custom_rules_are_their_outputs():
    text = """
graph(%0: float64[], %1: float64[], %2: float64[3]):
  %3: float64[], %4: float64[3] = custom_gradient %0, %2 {rule=None}
  %5: float64[] = add %3, %1
  return %5, %4
"""
    wanted = """\
graph(%0: float64[], %1: float64[], %2: float64[3]):
  %3: float64[] = add %0, %1
  return %3, %2"""
    assert str(simplify(Graph.parse(text))) == wanted


def test_replacements_have_the_same_sizes():
    # The size k has its name from the copy: later nodes may read it.
    text = "graph(%0: int8[n]):\n  %1: int8[k] = identity %0\n  return %1"
    graph = Graph.parse(text)
    assert simplify(graph) is graph


DTYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64"]


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_lossless_casts(source, target):
    a, b = np.dtype(source), np.dtype(target)
    extreme = {"b": [0, 1], "f": [-0.0, np.inf, 1.0, 1 / 3]}.get(a.kind)
    if extreme is None:
        info = np.iinfo(a)
        extreme = [info.min, info.max, info.max - 1, info.min + 1, 0, 1]
    elif a.kind == "f":
        info = np.finfo(a)
        extreme += [info.max, info.min, info.smallest_subnormal, info.eps]
    numbers = np.array(extreme, a)
    with np.errstate(all="ignore"):
        there = numbers.astype(b)
    kept = [x.item() for x in numbers] == [x.item() for x in there]
    assert keeps_all(a, b) == kept


def test_the_absolute_value_of_unsigned_numbers_is_themselves():
    x = np.array([0, 1, 200], np.uint8)
    negated = gt.function(lambda x: gt.abs(-x))(gt.constant(x))
    np.testing.assert_array_equal(negated, np.array([0, 255, 56], np.uint8))
    np.testing.assert_array_equal(gt.function(gt.abs)(gt.constant(x)), x)
