"""Wrong uses of tapes, accumulators, rules of one's own and transforms."""

import threading

import numpy as np

import gtape as gt
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    GradientError,
    ShapeError,
    TapeError,
    TapeStateError,
    WatchError,
)
from tests.errors.cases import A23, I3, V3, V4, S, Table

TABLE = Table()
row, wrong = TABLE.row, TABLE.wrong

W = gt.Variable([1.0, 2.0, 3.0], name="weights")
X = gt.Variable(2.0, name="x")
K = gt.Variable(3, name="k")


def taped(persistent=True):
    """A tape, and a vector and a scalar that it has seen."""
    with gt.GradientTape(persistent) as tape:
        y = W * W
        z = gt.reduce_sum(y)
    return tape, y, z


def used():
    tape, _, z = taped(persistent=False)
    tape.gradient(z, W)
    return tape, z


TAPE, Y, Z = taped()
USED, LOSS = used()
NEW = gt.GradientTape()

# --- The life of a tape ---------------------------------------------------------------

row("gradient-twice", lambda: USED.gradient(LOSS, W), TapeError, "gradient", "used")
row("jacobian-twice", lambda: USED.jacobian(LOSS, W), TapeError, "jacobian", "used")
row("gradient-new", lambda: NEW.gradient(Z, W), TapeError, "gradient")
row("watch-new", lambda: NEW.watch(V3), TapeError, "watch", "entered")
row("stop-new", lambda: NEW.stop_recording(), TapeError, "stop_recording")
row("stop-after", lambda: TAPE.stop_recording(), TapeStateError, "stop_recording")
row("reset-after", lambda: TAPE.reset(), TapeStateError, "reset")
row("reset-new", lambda: NEW.reset(), TapeStateError, "reset")


@wrong(TapeStateError, "still recording")
def enter_twice():
    with gt.GradientTape() as tape, tape:  # <- here
        pass


@wrong(TapeError, "batch_jacobian", "used")
def batch_jacobian_twice():
    m = gt.Variable([[1.0, 2.0]])
    with gt.GradientTape() as tape:
        y = m * m
    tape.gradient(y, m)
    tape.batch_jacobian(y, m)


@wrong(TapeError, "gradient", "used")
def gradient_in_a_loop():
    with gt.GradientTape() as tape:
        y = X * X
    for _ in range(2):
        tape.gradient(y, X)  # <- here


@wrong(TapeStateError, "tape", "another thread")
def entered_in_another_thread():
    tape = gt.GradientTape()
    worker = threading.Thread(target=tape.__enter__)
    worker.start()
    worker.join()
    tape.__exit__(None, None, None)


# --- Watching -------------------------------------------------------------------------


@wrong(WatchError, "watch", "3.0", "float")
def watch_number():
    with gt.GradientTape() as tape:
        tape.watch(3.0)  # <- here


@wrong(WatchError, "watch", "ndarray")
def watch_array():
    with gt.GradientTape() as tape:
        tape.watch(np.ones(2))  # <- here


@wrong(WatchError, "watch", "None")
def watch_none():
    with gt.GradientTape() as tape:
        tape.watch([V3, None])  # <- here


@wrong(WatchError, "watch", "'x'", "str")
def watch_name():
    with gt.GradientTape() as tape:
        tape.watch({"a": "x"})  # <- here


@wrong(WatchError, "watch", "IndexedSlices")
def watch_slices():
    with gt.GradientTape() as tape:
        tape.watch(gt.IndexedSlices(V3, [0, 1, 2]))  # <- here


# --- Targets and sources --------------------------------------------------------------

row("target-none", lambda: TAPE.gradient(None, W), ArgumentTypeError, "target", "None")
row(
    "target-number",
    lambda: TAPE.gradient(1.5, W),
    ArgumentTypeError,
    "target",
    "1.5",
    "float",
)
row(
    "target-array",
    lambda: TAPE.gradient(np.ones(2), W),
    ArgumentTypeError,
    "target",
    "ndarray",
)
row(
    "target-list",
    lambda: TAPE.gradient([Z, 2.0], W),
    ArgumentTypeError,
    "target[1]",
    "2.0",
)
row("target-nothing", lambda: TAPE.gradient([], W), ArgumentError, "target", "[]")
row("source-none", lambda: TAPE.gradient(Z, None), ArgumentTypeError, "sources", "None")
row("source-number", lambda: TAPE.gradient(Z, 2.0), ArgumentTypeError, "sources", "2.0")
row(
    "source-str",
    lambda: TAPE.gradient(Z, "weights"),
    ArgumentTypeError,
    "sources",
    "'weights'",
)
row(
    "source-list",
    lambda: TAPE.gradient(Z, [W, None]),
    ArgumentTypeError,
    "sources[1]",
    "None",
)
row(
    "source-dict",
    lambda: TAPE.gradient(Z, {"w": 1}),
    ArgumentTypeError,
    "sources",
    "1",
    "int",
)
row(
    "source-generator",
    lambda: TAPE.gradient(Z, (w for w in [W])),
    ArgumentTypeError,
    "generator",
)
row("source-module", lambda: TAPE.gradient(Z, gt.Module()), ArgumentTypeError, "Module")
row(
    "unconnected-word",
    lambda: TAPE.gradient(Z, W, unconnected_gradients="zeros"),
    ArgumentError,
    "'zeros'",
)
row(
    "unconnected-none",
    lambda: TAPE.gradient(Z, W, unconnected_gradients=None),
    ArgumentError,
    "None",
)
row(
    "unconnected-list",
    lambda: TAPE.gradient(Z, W, unconnected_gradients=[]),
    ArgumentError,
    "[]",
)
row(
    "unconnected",
    lambda: TAPE.gradient(Z, X, unconnected_gradients="error"),
    GradientError,
    "gradient",
    "x:0",
    "does not depend",
)
row(
    "jacobian-word",
    lambda: TAPE.jacobian(Y, W, unconnected_gradients="zeros"),
    ArgumentError,
    "'zeros'",
)
row(
    "jacobian-list",
    lambda: TAPE.jacobian([Y, Z], W),
    ArgumentTypeError,
    "jacobian",
    "list",
)
row(
    "jacobian-none",
    lambda: TAPE.jacobian(None, W),
    ArgumentTypeError,
    "jacobian",
    "None",
)
row(
    "jacobian-source",
    lambda: TAPE.jacobian(Y, 1.0),
    ArgumentTypeError,
    "jacobian",
    "sources",
    "1.0",
)
row("batch-rank", lambda: TAPE.batch_jacobian(Z, W), ShapeError, "batch_jacobian", "()")
row(
    "batch-sizes",
    lambda: TAPE.batch_jacobian(A23, gt.ones([4, 5])),
    ShapeError,
    "batch_jacobian",
    "(2, 3)",
    "(4, 5)",
)
row(
    "batch-list",
    lambda: TAPE.batch_jacobian([Y], W),
    ArgumentTypeError,
    "batch_jacobian",
    "list",
)
row(
    "explain-number",
    lambda: TAPE.explain(1.0, W),
    ArgumentTypeError,
    "explain",
    "target",
    "1.0",
)
row(
    "explain-list",
    lambda: TAPE.explain(Z, [W]),
    ArgumentTypeError,
    "explain",
    "source",
    "list",
)


@wrong(GradientError, "gradient", "does not depend", "not computed")
def foreign_tape():
    with gt.GradientTape() as other:
        X * X
    other.gradient(Z, X, unconnected_gradients="error")


@wrong(GradientError, "gradient", "another thread")
def other_thread():
    found = []
    with gt.GradientTape() as tape:
        worker = threading.Thread(target=lambda: found.append(X * X))
        worker.start()
        worker.join()
        y = found[0] * 2.0
    tape.gradient(y, X, unconnected_gradients="error")


# --- Output gradients -----------------------------------------------------------------

row(
    "seed-shape",
    lambda: TAPE.gradient(Y, W, V4),
    ShapeError,
    "output_gradients",
    "(4,)",
    "(3,)",
)
row(
    "seed-dtype",
    lambda: TAPE.gradient(Z, W, gt.constant(1.0, "float64")),
    DTypeError,
    "output_gradients",
    "float64",
    "float32",
)
row(
    "seed-int",
    lambda: TAPE.gradient(Z, W, gt.constant(1)),
    DTypeError,
    "output_gradients",
    "int32",
)
row(
    "seed-complex",
    lambda: TAPE.gradient(Z, W, 1j),
    DTypeError,
    "output_gradients",
    "complex",
)
row("seed-str", lambda: TAPE.gradient(Z, W, "1"), ArgumentTypeError, "'1'")
row(
    "seed-structure",
    lambda: TAPE.gradient([Y, Z], W, [V3]),
    ArgumentError,
    "output_gradients",
    "2",
    "1",
)
row(
    "seed-no-list",
    lambda: TAPE.gradient([Y, Z], W, V3),
    ArgumentError,
    "output_gradients",
    "2",
    "Tensor",
)
row(
    "seed-keys",
    lambda: TAPE.gradient({"y": Y}, W, {"z": V3}),
    ArgumentError,
    "output_gradients",
    "'y'",
    "'z'",
)
row(
    "seed-ragged",
    lambda: TAPE.gradient(Y, W, [[1.0], [1.0, 2.0]]),
    ArgumentError,
    "ragged",
)

# --- Rules of one's own ---------------------------------------------------------------


def own(result, *args):
    """The gradient of a function that returns `result` and has a rule of its own."""
    args = args or (V3,)
    with gt.GradientTape(True) as tape:
        tape.watch(args)
        y = gt.custom_gradient(lambda *x: result)(*args)
    return lambda: tape.gradient(y, args)


NO_PAIR = gt.custom_gradient(lambda x: x * 2.0)
NO_FUNCTION = gt.custom_gradient(lambda x: (x * 2.0, 2.0))
READS = gt.custom_gradient(lambda x: (x * W, lambda g: g))
NAMELESS = gt.custom_gradient
TWO = own((V3 * 2.0, lambda g: (g, g)))
FEW = own((V3 * 2.0, lambda g: g), V3, V4)
SHAPE = own((V3 * 2.0, lambda g: gt.ones([2])))
INTEGER = own((V3 * 2.0, lambda g: I3))
TEXT = own((V3 * 2.0, lambda g: "g"))

row("rule-no-pair", lambda: NO_PAIR(V3), ArgumentTypeError, "custom_gradient", "pair")
row(
    "rule-no-function",
    lambda: NO_FUNCTION(V3),
    ArgumentTypeError,
    "custom_gradient",
    "pair",
)
row("rule-not-callable", lambda: NAMELESS(5), ArgumentTypeError, "custom_gradient", "5")
row("rule-two", TWO, GradientError, "custom_gradient", "1", "2")
row("rule-shape", SHAPE, ShapeError, "custom_gradient", "(2,)", "(3,)")
row("rule-few", FEW, GradientError, "custom_gradient", "2", "1")
row("rule-int", INTEGER, DTypeError, "custom_gradient", "int32")
row("rule-text", TEXT, ArgumentTypeError, "'g'")


@wrong(ArgumentTypeError, "custom_gradient", "weights", "variables")
def rule_without_variables():
    with gt.GradientTape() as tape:
        y = READS(V3)
    tape.gradient(y, W)


@wrong(ArgumentTypeError, "custom_gradient", "pair")
def rule_returns_one():
    @gt.custom_gradient
    def scaled(x):
        return x * W, lambda g, variables=None: g

    with gt.GradientTape() as tape:
        y = scaled(V3)
    tape.gradient(y, W)  # <- here


row(
    "pass-through",
    lambda: gt.grad_pass_through(gt.reduce_sum)(V3),
    ArgumentError,
    "grad_pass_through",
    "(3,)",
    "()",
)
row(
    "pass-through-str",
    lambda: gt.grad_pass_through(gt.round)("x"),
    ArgumentTypeError,
    "'x'",
)
row("stop-gradient-str", lambda: gt.stop_gradient("x"), ArgumentTypeError, "'x'")
row(
    "recompute-callable",
    lambda: gt.recompute_grad(V3),
    ArgumentTypeError,
    "recompute_grad",
)

# --- Forward mode ---------------------------------------------------------------------

row(
    "forward-shape",
    lambda: gt.ForwardAccumulator(W, V4),
    ShapeError,
    "ForwardAccumulator",
    "(4,)",
    "(3,)",
)
row(
    "forward-dtype",
    lambda: gt.ForwardAccumulator(W, I3),
    DTypeError,
    "ForwardAccumulator",
    "int32",
    "float32",
)
row(
    "forward-int",
    lambda: gt.ForwardAccumulator(K, 1),
    DTypeError,
    "ForwardAccumulator",
    "int32",
)
row(
    "forward-number",
    lambda: gt.ForwardAccumulator(2.0, 1.0),
    ArgumentTypeError,
    "primals",
    "2.0",
)
row(
    "forward-twice",
    lambda: gt.ForwardAccumulator([X, X], [1.0, 1.0]),
    ArgumentError,
    "ForwardAccumulator",
    "multiple times",
)
row(
    "forward-structure",
    lambda: gt.ForwardAccumulator([X, W], [1.0]),
    ArgumentError,
    "ForwardAccumulator",
    "2",
    "1",
)
row("forward-none", lambda: gt.ForwardAccumulator(X, None), ArgumentTypeError, "None")
row(
    "jvp-target",
    lambda: gt.ForwardAccumulator(X, 1.0).jvp(None),
    ArgumentTypeError,
    "jvp",
    "target",
    "None",
)
row(
    "jvp-word",
    lambda: gt.ForwardAccumulator(X, 1.0).jvp(X, "zeros"),
    ArgumentError,
    "jvp",
    "'zeros'",
)


@wrong(TapeError, "accumulator", "active")
def forward_twice():
    with gt.ForwardAccumulator(X, 1.0) as acc, acc:  # <- here
        pass


# --- Transforms -----------------------------------------------------------------------

row("grad-vector", lambda: gt.grad(lambda x: x * x)(V3), GradientError, "grad", "(3,)")
row(
    "grad-none", lambda: gt.grad(lambda x: None)(1.0), ArgumentTypeError, "grad", "None"
)
row("grad-number", lambda: gt.grad(float)(1.0), ArgumentTypeError, "grad", "1.0")
row("grad-position", lambda: gt.grad(lambda x: x, 1)(1.0), ArgumentError, "grad", "1")
row(
    "grad-argnums-str",
    lambda: gt.grad(lambda x: x, "x"),
    ArgumentTypeError,
    "argnums",
    "'x'",
)
row(
    "grad-argnums-bool",
    lambda: gt.grad(lambda x: x, True),
    ArgumentTypeError,
    "argnums",
    "True",
)
row(
    "grad-argnums-none",
    lambda: gt.grad(lambda x: x, None),
    ArgumentTypeError,
    "argnums",
    "None",
)
row("grad-argument", lambda: gt.grad(lambda x: x)("one"), ArgumentTypeError, "'one'")
row(
    "grad-no-aux",
    lambda: gt.grad(lambda x: x, has_aux=True)(1.0),
    ArgumentTypeError,
    "grad",
    "pair",
)
row("grad-callable", lambda: gt.grad(V3), ArgumentTypeError, "grad")
row(
    "jacobian-of-list",
    lambda: gt.jacobian(lambda x: [x])(1.0),
    ArgumentTypeError,
    "jacobian",
    "list",
)
row(
    "jacobian-position",
    lambda: gt.jacobian(lambda x: x, 2)(1.0),
    ArgumentError,
    "jacobian",
    "2",
)
row("hessian-vector", lambda: gt.hessian(lambda x: x * x)(V3), GradientError, "(3,)")
row(
    "vjp-structure",
    lambda: gt.vjp(lambda x: [x, x], V3)[1](V3),
    ArgumentError,
    "output_gradients",
    "2",
)
row(
    "vjp-shape",
    lambda: gt.vjp(lambda x: x, V3)[1](V4),
    ShapeError,
    "output_gradients",
    "(4,)",
    "(3,)",
)
row(
    "jvp-lengths",
    lambda: gt.jvp(lambda x: x, (V3,), (V3, V3)),
    ArgumentError,
    "tangents",
    "1",
    "2",
)
row("jvp-no-tuple", lambda: gt.jvp(lambda x: x, V3, V3), ArgumentTypeError, "jvp")
row("jvp-shape", lambda: gt.jvp(lambda x: x, (V3,), (V4,)), ShapeError, "(4,)", "(3,)")
row("hvp-lengths", lambda: gt.hvp(lambda x: S, (V3,), ()), ArgumentError, "1", "0")
row("hvp-vector", lambda: gt.hvp(lambda x: x, (V3,), (V3,)), GradientError, "(3,)")
row(
    "gradients-keyword",
    lambda: gt.gradients_function(lambda x: x)(x=1.0),
    ArgumentError,
    "'x'",
)
row(
    "gradients-name",
    lambda: gt.gradients_function(lambda x: x, ["y"])(1.0),
    ArgumentError,
    "'y'",
)
row(
    "gradients-position",
    lambda: gt.gradients_function(lambda x: x, [4])(1.0),
    ArgumentError,
    "4",
)
row(
    "gradients-mixed",
    lambda: gt.gradients_function(lambda x: x, ["x", 0])(1.0),
    ArgumentError,
    "'x', 0",
)
row(
    "gradients-none",
    lambda: gt.gradients_function(lambda x: None)(1.0),
    ArgumentError,
    "None",
)
row(
    "implicit-nothing",
    lambda: gt.implicit_gradients(lambda: V3 * 2.0)(),
    ArgumentError,
    "trainable variable",
)
row(
    "implicit-none",
    lambda: gt.implicit_gradients(lambda: None)(),
    ArgumentError,
    "None",
)
row(
    "map-sizes",
    lambda: gt.vectorized_map(lambda p: p[0], (V3, V4)),
    ShapeError,
    "vectorized_map",
    "3",
    "4",
)
row(
    "map-scalar",
    lambda: gt.vectorized_map(lambda x: x, S),
    ShapeError,
    "vectorized_map",
)
row(
    "map-nothing",
    lambda: gt.vectorized_map(lambda x: x, []),
    ArgumentError,
    "vectorized_map",
)
row("map-none", lambda: gt.vectorized_map(lambda x: x, None), ArgumentTypeError, "None")
row(
    "map-not-callable",
    lambda: gt.vectorized_map(V3, V3),
    ArgumentTypeError,
    "vectorized_map",
)
