import ml_dtypes
import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError, Origin
from gtape.jit.graph.attrs import key_of, printed, resolve
from gtape.jit.graph.ir import Graph, Literal, Op, Value
from gtape.jit.graph.parse import parse_graph
from gtape.jit.graph.printer import constants_of, print_graph
from gtape.sizes import Unknown, size_of_unknown
from gtape.spec import TensorShape, TensorSpec

LOOP = """\
graph(%0: float64[3], %1: float64[3]):
  %2: int64[], %3: float64[3], %4: int64[t], %5: int64[] = while 0, %0, %1 {carried=2}
    graph(%0: int64[], %1: float64[3], %2: float64[3]):  # test
      %3: bool[] = less %0, 4
      return %3
    graph(%0: int64[], %1: float64[3], %2: float64[3]):  # body
      %3: float64[] = reduce_sum %1 {axes=(0,)}
      %4: bool[] = less %3, 2.0
      %5: float64[3] = cond %4, %1, %2
        graph(%0: float64[3], %1: float64[3]):  # then
          %2: float64[3] = sin %0
          return %2
        graph(%0: float64[3], %1: float64[3]):  # else
          return %1
      %6: int64[] = add %0, 1
      return %6, %5, %0
  %6: float64[3], %7: float64[5], %8: int64[] = for 5, %3 {carried=1, limit=16}
    graph(%0: int64[], %1: float64[3]):  # body
      %2: float64[] = reduce_sum %1 {axes=(0,)}
      return %1, %2
  %9: float64[3] = for 5, %6 {carried=1, reverse=True}
    graph(%0: int64[], %1: float64[3]):  # body
      return %1
  cond True
    graph():  # then
      return
    graph():  # else
      return
  return %2, %4, %9, %7"""


def test_all_kinds_of_nodes():
    graph = Graph.parse(LOOP)
    assert str(graph) == LOOP
    assert [type(n).__name__ for n in graph.nodes] == ["While", "For", "For", "Cond"]
    assert [n.limit for n in graph.nodes[:2]] == [None, 16]
    assert [n.reverse for n in graph.nodes[1:3]] == [False, True]


LITERALS = [
    (np.float64(0.1), "0.1"),
    (np.float64(-0.0), "-0.0"),
    (np.float64(1e300), "1e+300"),
    (np.float64("nan"), "nan"),
    (np.float64("-inf"), "-inf"),
    (np.int64(-3), "-3"),
    (np.bool_(True), "True"),
    (np.float32(0.1), "float32(0.1)"),
    (np.float32(16777216.0), "float32(16777216.0)"),
    (np.float16(0.1), "float16(0.1)"),
    (ml_dtypes.bfloat16(3.14), "bfloat16(3.14062)"),
    (np.int32(7), "int32(7)"),
    (np.uint64(2**64 - 1), "uint64(18446744073709551615)"),
    (np.complex64(1 - 0j), "complex64(1.0, 0.0)"),
    (np.complex128(complex(-0.0, float("inf"))), "complex128(-0.0, inf)"),
    (np.array([[1, 2], [3, 4]], np.int32), "int32[2,2](1, 2, 3, 4)"),
    (np.zeros((0, 3)), "float64[0,3]()"),
    (np.array([True, False]), "bool[2](True, False)"),
    (np.array([1 + 2j]), "complex128[1](1.0, 2.0)"),
    (np.array(2.5), "2.5"),
]


@pytest.mark.parametrize(("array", "text"), LITERALS)
def test_literals(array, text):
    graph = Graph((), (), (Literal(array),))
    assert str(graph) == f"graph():\n  return {text}"
    [again] = parse_graph(str(graph)).outputs
    assert (again.array.dtype, again.array.shape) == (array.dtype, array.shape)
    assert again.array.tobytes() == array.tobytes()


def test_narrow_floats_are_read_back():
    for kind in (np.float16, np.float32, ml_dtypes.bfloat16):
        rng = np.random.default_rng(5)
        bits = rng.integers(0, 2**15, 300).astype(np.uint16)
        wide = rng.integers(0, 2**31 - 2**24, 300).astype(np.uint32)
        values = (wide if kind is np.float32 else bits).view(kind)
        for x in values[np.isfinite(values)]:
            [again] = parse_graph(str(Graph((), (), (Literal(x),)))).outputs
            assert again.array == x


def with_attr(value):
    primitive = gt.primitive.registry()["sin"]
    x = Value(TensorSpec((), "float64"))
    out = Value(x.spec)
    node = Op(inputs=(x,), outputs=(out,), primitive=primitive, attrs={"a": value})
    return Graph((x,), (node,), (out,))


ATTRS = [
    (1, "1"),
    (True, "True"),
    (None, "None"),
    (..., "..."),
    (1.0, "1.0"),
    (float("inf"), "inf"),
    (complex(1, -0.0), "complex(1.0, -0.0)"),
    ("a 'b' # \\ \n {", None),
    (b"x\x00", "b'x\\x00'"),
    ((), "()"),
    ((1,), "(1,)"),
    (((None, -1, None), 3, None), "((None, -1, None), 3, None)"),
    ([1, [2.5]], "[1, [2.5]]"),
    ({"x": (1, None)}, "{'x': (1, None)}"),
    (slice(1, None, -2), "slice(1, None, -2)"),
    (np.dtype("float64"), "float64"),
    (np.dtype(ml_dtypes.bfloat16), "bfloat16"),
    (gt.int8, "gt.int8"),
    (np.float32, "np.float32"),
    (np.float32(0.5), "float32(0.5)"),
    (np.int64(3), "int64(3)"),
]


@pytest.mark.parametrize(("value", "text"), ATTRS)
def test_attributes(value, text):
    graph = with_attr(value)
    text = text or repr(value)
    assert f"sin %0 {{a={text}}}" in str(graph)
    again = parse_graph(str(graph)).nodes[0].attrs
    assert key_of(again) == key_of({"a": value})
    assert printed({"a": value}) == f"{{a={text}}}"


def test_arrays_in_attributes():
    small, large = np.array([1.5, 2.0]), np.arange(20)
    graph = with_attr((small, large))
    assert "{a=(float64[2](1.5, 2.0), const0)}" in str(graph)
    found = parse_graph(str(graph), {"const0": large}).nodes[0].attrs["a"]
    assert found[0].tolist() == small.tolist()
    assert found[1] is large


def test_large_constants_stand_in_a_table():
    array = np.arange(300.0).reshape(100, 3)
    out = Literal(array)
    graph = Graph((), (), (out, out, Literal(array.copy())))
    text = str(graph)
    assert text.splitlines()[1:] == [
        "  return const0, const0, const1",
        "const0: float64[100,3]",
        "const1: float64[100,3]",
    ]
    constants = constants_of(graph)
    again = parse_graph(text, constants)
    assert again.outputs[0].array is array
    assert str(again) == text


N, M = (size_of_unknown(Unknown(name)) for name in "nm")
SIZES = [
    (N, "n"),
    (2 * N - 1, "2*n-1"),
    (N * M + M * M, "m*m+m*n"),
    ((N + 1) // 2 + 3, "((n+1)//(2))+3"),
    (M - (N % M) * 4, "-4*((n)%(m))+m"),
    (-N, "-n"),
]


@pytest.mark.parametrize(("size", "text"), SIZES)
def test_sizes(size, text):
    graph = with_attr((size, 0))
    assert f"{{a=({text}, 0)}}" in str(graph)
    again = parse_graph(str(graph))
    assert str(again) == str(graph)
    [found, _] = again.nodes[0].attrs["a"]
    for n, m in [(3, 5), (8, 2)]:
        named = {u: {"n": n, "m": m}[u.name] for u in found.unknowns()}
        known = {u: {"n": n, "m": m}[u.name] for u in size.unknowns()}
        assert found.value(named) == size.value(known)


def test_unknowns_of_one_name_are_told_apart():
    names = ["n", "n", "float64", "3 rows", "const0"]
    sizes = [size_of_unknown(Unknown(name)) for name in names]
    x = Value(TensorSpec(TensorShape(sizes), "int8"))
    text = str(Graph((x,), (), (x,)))
    assert "%0: int8[n,n_1,float64_1,_3_rows,const0_1]" in text
    assert str(parse_graph(text)) == text


def test_bounds_of_unknowns_are_kept():
    size = size_of_unknown(Unknown("n", least=2))
    x = Value(TensorSpec(TensorShape([size]), "int8"))
    text = str(Graph((x,), (), (x,)))
    assert text.endswith("\nn >= 2")
    [dim] = parse_graph(text).inputs[0].shape
    assert dim.unknown.least == 2


def test_a_graph_can_be_an_attribute():
    rule = parse_graph("graph(%0: float64[]):\n  %1: float64[] = sin %0\n  return %1")
    graph = with_attr((rule, 2))
    assert str(graph).splitlines()[1:5] == [
        "  %1: float64[] = sin %0 {a=(graph, 2)}",
        "    graph(%0: float64[]):  # rule",
        "      %1: float64[] = sin %0",
        "      return %1",
    ]


def test_lines_are_shown_on_demand():
    x = Value(TensorSpec((), "float64"))
    node = with_attr(1).nodes[0]
    node = Op(
        inputs=(x,),
        outputs=node.outputs,
        primitive=node.primitive,
        origin=Origin("code/model.py", 12, "f"),
    )
    graph = Graph((x,), (node,), node.outputs)
    assert "sin %0  # model.py:12\n" in print_graph(graph, show_lines=True)
    assert "#" not in print_graph(graph)


REFUSED = [
    ("", "line 1: a line indented by 0"),
    ("graph():", "line 1: a line indented by 2"),
    ("graph():\n  return\nmore: int8", "line 3: '\\[' is missing"),
    ("graph():\n  return\n  return", "line 3: nothing follows"),
    ("graph(%0: int9[]):\n  return", "line 1: 'int9' is no dtype"),
    ("graph():\n  return %0", "line 2: %0 is not defined"),
    ("graph():\n  %0: int8[] = nothing\n  return", "no operation 'nothing'"),
    (
        "graph(%0: int8[]):\n  %0: int8[] = sin %0\n  return",
        "'%0' is no name for a new",
    ),
    ("graph():\n  %0: int8[] = sin {a=<object>}\n  return", "a object cannot be read"),
    ("graph():\n  return int8[3](1, 2)", "2 elements for the shape \\(3,\\)"),
    ("graph():\n  cond True\n  return", "cond has 2 regions, not 0"),
    ("graph():\n  return 'text'", "'text' is no operand"),
    ("graph():\n  return 1 2", "'2' is missing|',' is missing"),
    ("graph():\n  return $", "is nothing a graph is written with"),
    ("graph():\n  return const0\nconst0: int8[20]", "const0 is not given"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_wrong_texts_are_refused(text, message):
    with pytest.raises(ArgumentError, match=f"parse: .*(?:{message})"):
        parse_graph(text)


def test_a_constant_must_have_its_spec():
    text = "graph():\n  return const0\nconst0: int8[20]"
    with pytest.raises(ArgumentError, match=r"const0 is given as int8\[3\]"):
        parse_graph(text, {"const0": np.zeros(3, np.int8)})


def test_what_has_no_text_is_not_read_back():
    text = str(with_attr(object()))
    assert "{a=<object>}" in text
    with pytest.raises(ArgumentError, match="a object cannot be read from text"):
        parse_graph(text)


# --- Attributes -----------------------------------------------------------------------

DISTINCT = [
    1,
    1.0,
    True,
    None,
    0.0,
    -0.0,
    "1",
    b"1",
    (1,),
    [1],
    (1.0,),
    float("nan"),
    1 + 0j,
    np.float32(1),
    np.float64(1),
    np.float64(-0.0),
    np.dtype("float32"),
    gt.float32,
    np.float32,
    slice(1, 2),
    (1, 2),
    {"a": 1},
    ...,
    N,
    N + 1,
    N // 2,
    (N + 1) // 2,
    M,
    np.zeros(2),
    np.zeros(2),
]


def test_keys_tell_values_apart():
    keys = [key_of({"a": value}) for value in DISTINCT]
    for i, a in enumerate(keys):
        for j, b in enumerate(keys):
            assert (a == b) == (i == j), (DISTINCT[i], DISTINCT[j])


def test_keys_of_equal_values_are_equal():
    array = np.zeros(3)
    make = [
        lambda: {"a": float("nan"), "b": (1, (None, N + 1))},
        lambda: {"a": slice(N, None), "b": array, "c": np.float64("nan")},
        lambda: {"a": complex(0, -0.0), "b": {"x": [1.5]}, "c": np.dtype("int8")},
    ]
    for made in make:
        assert key_of(made()) == key_of(made())
        assert hash(key_of(made())) == hash(key_of(made()))
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})


def test_resolve_puts_numbers_in():
    [n], [m] = N.unknowns(), M.unknowns()
    sizes = {n: 3, m: 4}
    attrs = {"shape": (N, 2, (M * N,)), "key": (slice(None, N), None), "l": [N + 1]}
    assert resolve(attrs, sizes) == {
        "shape": (3, 2, (12,)),
        "key": (slice(None, 3), None),
        "l": [4],
    }
    assert type(resolve({"s": TensorShape([N])}, sizes)["s"]) is TensorShape
    plain = {"shape": (1, 2)}
    assert resolve(plain, sizes) is plain
    with pytest.raises(KeyError):
        resolve({"a": M}, {n: 3})
