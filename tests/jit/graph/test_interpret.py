import signal

import numpy as np
import pytest

import gtape as gt
from gtape.errors import GraphError, Origin
from gtape.jit.graph.interpret import interpret
from gtape.jit.graph.ir import Graph, Op, Value
from gtape.lowering import Custom
from gtape.primitive import Primitive
from gtape.sizes import Unknown
from gtape.spec import TensorSpec

TRIPS = [0, 1, 2, 7]

FOR = """
graph(%0: int64[], %1: float64[], %2: float64[]):
  %3: float64[], %4: float64[t], %5: int64[t] = for %0, %1, %2 {carried=1EXTRA}
    graph(%0: int64[], %1: float64[], %2: float64[]):
      %3: float64[] = multiply %1, %2
      %4: float64[] = cast %0 {dtype=float64}
      %5: float64[] = add %3, %4
      return %5, %1, %0
  return %3, %4, %5
"""


def run_for(trips, start, factor, reverse=False):
    carry, rows, places = start, [0.0] * trips, [0] * trips
    for i in reversed(range(trips)) if reverse else range(trips):
        rows[i], places[i] = carry, i
        carry = carry * factor + i
    return carry, rows, places


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("trips", TRIPS)
def test_for(trips, reverse):
    graph = Graph.parse(FOR.replace("EXTRA", ", reverse=True" if reverse else ""))
    out = interpret(graph, [np.int64(trips), np.float64(3), np.float64(-2)])
    carry, rows, places = run_for(trips, 3.0, -2.0, reverse)
    assert out[0] == carry
    assert out[1].tolist() == rows
    assert out[2].tolist() == places
    assert (out[1].dtype, out[2].dtype) == (np.float64, np.int64)


WHILE = """
graph(%0: float64[], %1: float64[], %2: float32[3]):
  %3: float64[], %4: float32[3], %5: float32[t,3], %6: int64[] = while %0, %2, %1 \
{carried=2}
    graph(%0: float64[], %1: float32[3], %2: float64[]):
      %3: bool[] = less %0, %2
      return %3
    graph(%0: float64[], %1: float32[3], %2: float64[]):
      %3: float64[] = add %0, 1.0
      %4: float32[3] = multiply %1, float32(2.0)
      return %3, %4, %1
  return %3, %4, %5, %6
"""


@pytest.mark.parametrize("trips", TRIPS)
def test_while(trips):
    start = np.array([1, 2, 3], np.float32)
    out = interpret(Graph.parse(WHILE), [np.float64(0), np.float64(trips), start])
    assert out[0] == trips
    assert out[1].tolist() == (start * 2**trips).tolist()
    assert out[2].shape == (trips, 3)
    assert out[2].tolist() == [(start * 2**i).tolist() for i in range(trips)]
    assert (out[3], out[3].dtype) == (trips, np.int64)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 100])
@pytest.mark.parametrize("trips", [0, 1, 2, 3, 4, 5, 7, 8, 9, 30])
def test_a_limit_keeps_every_kth_trip(trips, rows):
    limit = 8 * rows
    limited = f"""
graph(%0: int64[]):
  %1: float64[], %2: float64[t], %3: int64[] = for %0, 0.0 {{carried=1, limit={limit}}}
    graph(%0: int64[], %1: float64[]):
      %2: float64[] = add %1, 1.0
      return %2, %1
  return %1, %2, %3
"""
    last, kept, stride = interpret(Graph.parse(limited), [np.int64(trips)])
    assert last == trips
    assert kept.tolist() == list(range(trips))[:: int(stride)]
    assert len(kept) == -(-trips // int(stride))
    assert len(kept) <= max(rows, 2)
    # It is no coarser than it must be: half the stride would have been too much.
    assert stride == 1 or -(-trips // (int(stride) // 2)) > max(rows, 2)


def test_a_limited_while_gives_trips_then_stride():
    text = WHILE.replace("%6: int64[] =", "%6: int64[], %7: int64[] =")
    text = text.replace("{carried=2}", "{carried=2, limit=24}")
    text = text.replace("%5, %6\n", "%5, %6, %7\n")
    start = np.ones(3, np.float32)
    out = interpret(Graph.parse(text), [np.float64(0), np.float64(7), start])
    assert (out[3], out[4]) == (7, 4)
    assert out[2][:, 0].tolist() == [1, 16]


COND = """
graph(%0: bool[], %1: float64[]):
  %2: float64[] = cond %0, %1
    graph(%0: float64[]):
      %1: float64[] = add %0, 1.0
      return %1
    graph(%0: float64[]):
      %1: int64[] = floordiv 1, 0
      return %0
  return %2
"""


def test_only_the_branch_taken_runs():
    graph = Graph.parse(COND)
    assert interpret(graph, [np.True_, np.float64(2)]) == (3.0,)
    with pytest.raises(ZeroDivisionError):
        interpret(graph, [np.False_, np.float64(2)])


NESTED = """
graph(%0: int64[], %1: float64[]):
  %2: float64[] = for %0, %1 {carried=1}
    graph(%0: int64[], %1: float64[]):
      %2: float64[], %3: float64[k] = for %0, %1 {carried=1}
        graph(%0: int64[], %1: float64[]):
          %2: bool[] = greater %1, 10.0
          %3: float64[] = cond %2, %1
            graph(%0: float64[]):
              %1: float64[] = divide %0, 4.0
              return %1
            graph(%0: float64[]):
              %1: float64[] = multiply %0, 3.0
              return %1
          return %3, %1
      %4: float64[] = reduce_sum %3 {axes=(0,)}
      %5: float64[] = add %2, %4
      return %5
  return %2
"""


@pytest.mark.parametrize("trips", TRIPS)
def test_nested_regions_with_other_sizes_in_each_trip(trips):
    x = 1.5
    for i in range(trips):
        total = 0.0
        for _ in range(i):
            total += x
            x = x / 4 if x > 10 else x * 3
        x += total
    assert interpret(Graph.parse(NESTED), [np.int64(trips), np.float64(1.5)]) == (x,)


UNKNOWN = """
graph(%0: float64[n,m], %1: float64[m]):
  %2: float64[n*m] = reshape %0 {shape=(n*m,)}
  %3: float64[n,m] = broadcast_to %1 {shape=(n, m)}
  %4: float64[n,m] = add %0, %3
  %5: int64[] = size {size=2*n+m, dtype=int64}
  return %2, %4, %5
"""


def test_sizes_are_those_of_the_call():
    graph = Graph.parse(UNKNOWN)
    for n, m in [(2, 3), (1, 1), (5, 0)]:
        out = interpret(graph, [np.ones((n, m)), np.arange(m, dtype=float)])
        assert (out[0].shape, out[1].shape, out[2]) == ((n * m,), (n, m), 2 * n + m)


def test_sizes_that_no_array_shows_are_given():
    n = Unknown("n")
    graph = Graph.parse(
        "graph():\n  %0: int64[] = size {size=n, dtype=int64}\n  return %0"
    )
    [node] = graph.nodes
    [unknown] = node.attrs["size"].unknowns()
    assert interpret(graph, [], {unknown: 5, n: 6}) == (5,)
    with pytest.raises(GraphError, match="the size n has no length yet"):
        interpret(graph, [])


def test_a_carry_may_have_another_length_in_each_trip():
    text = """
graph(%0: int64[], %1: float64[n]):
  %2: float64[last] = for %0, %1 {carried=1}
    graph(%0: int64[], %1: float64[k]):
      %2: float64[k+1] = concat %1, float64[1](7.0) {axis=0}
      return %2
  return %2
"""
    for trips in TRIPS:
        [out] = interpret(Graph.parse(text), [np.int64(trips), np.zeros(2)])
        assert out.tolist() == [0.0, 0.0, *[7.0] * trips]


MISFITS = [
    ([np.ones((2, 3)), np.ones(4)], r"input 1 .* shape \(4,\) .* float64\[m\].*m = 3"),
    ([np.ones((2, 3)), np.ones(3, np.float32)], "an array of float32 for a value of"),
    ([np.ones(3), np.ones(3)], r"input 0 of a graph: an array of shape \(3,\)"),
    ([np.ones((2, 3))], "1 arrays for the 2 inputs"),
    ([np.ones((2, 3)), 3.0], "an array of float for"),
]


@pytest.mark.parametrize(("arrays", "message"), MISFITS)
def test_arrays_that_do_not_fit_are_refused(arrays, message):
    with pytest.raises(GraphError, match=message):
        interpret(Graph.parse(UNKNOWN), arrays)


HERE = Origin("model.py", 41, "predict")


def one_op(primitive, specs, out, **attrs):
    inputs = tuple([Value(s) for s in specs])
    outputs = (Value(out),)
    node = Op(
        inputs=inputs, outputs=outputs, primitive=primitive, attrs=attrs, origin=HERE
    )
    return Graph(inputs, (node,), outputs)


def op(name):
    return gt.primitive.registry()[name]


INDEX = {"axes": (0,), "wrap": False}
S, V, N = (
    TensorSpec((), "int64"),
    TensorSpec((3,), "float64"),
    TensorSpec((2,), "int64"),
)


def test_a_result_that_contradicts_its_spec_is_a_fault():
    graph = one_op(op("sin"), [V], TensorSpec((4,), "float64"))
    with pytest.raises(
        GraphError, match=r"sin: an array .* \(3,\) .* float64\[4\]"
    ) as e:
        interpret(graph, [np.ones(3)])
    assert e.value.origin == HERE


ERRORS = [
    ("floordiv", [S, S], S, {}, [np.int64(1), np.int64(0)], ZeroDivisionError),
    ("add", [V, V], V, {}, [np.ones(3), np.ones(3)[:0]], GraphError),
    (
        "cholesky",
        [TensorSpec((2, 2), "float64")],
        TensorSpec((2, 2), "float64"),
        {},
        [-np.eye(2)],
        np.linalg.LinAlgError,
    ),
    ("index", [V, N], TensorSpec((2,), "float64"), INDEX, None, IndexError),
]


@pytest.mark.parametrize(("name", "specs", "out", "attrs", "arrays", "kind"), ERRORS)
def test_errors_name_the_line_of_the_node(name, specs, out, attrs, arrays, kind):
    arrays = arrays or [np.ones(3), np.array([0, 7])]
    with pytest.raises(kind) as caught:
        interpret(one_op(op(name), specs, out, **attrs), arrays)
    assert isinstance(caught.value, gt.errors.GtapeError)
    if kind is not GraphError:
        assert caught.value.origin == HERE
        assert "At model.py:41 in predict." in str(caught.value)


class Refuses(Primitive):
    listed = False

    def __init__(self, error, effect):
        def forward(*inputs):
            raise error

        spec = lambda x: x  # noqa: E731
        super().__init__("refuse", forward, spec, None, Custom("no"), effect=effect)


def test_errors_of_numpy_become_those_of_gtape():
    for error, kind in [
        (ValueError("no"), gt.errors.ShapeError),
        (TypeError("no"), gt.errors.DTypeError),
        (MemoryError(), gt.errors.TensorMemoryError),
    ]:
        with pytest.raises(kind, match=r"refuse\(float64\[3\]\)") as caught:
            interpret(one_op(Refuses(error, False), [V], V), [np.ones(3)])
        assert caught.value.origin == HERE


def test_errors_of_the_user_pass_unchanged():
    for error in (ValueError("mine"), KeyError("mine")):
        with pytest.raises(type(error)) as caught:
            interpret(one_op(Refuses(error, True), [V], V), [np.ones(3)])
        assert caught.value is error


FOREVER = """
graph(%0: float64[]):
  %1: float64[], %2: int64[] = while %0 {carried=1}
    graph(%0: float64[]):
      return True
    graph(%0: float64[]):
      %1: float64[] = negative %0
      return %1
  return %1
"""


def test_a_loop_can_be_interrupted():
    def stop(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            interpret(Graph.parse(FOREVER), [np.float64(1)])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
