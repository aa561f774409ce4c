"""Wrong uses of optimizers."""

import gtape as gt
from gtape import optim
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    GradientError,
    ShapeError,
    TapeError,
)
from tests.errors.cases import I3, V3, V4, S, Table

TABLE = Table()
row, wrong = TABLE.row, TABLE.wrong

NAN, INF = float("nan"), float("inf")
W = gt.Variable([1.0, 2.0, 3.0], name="weights")
U = gt.Variable([1.0, 2.0, 3.0], name="unused")
K = gt.Variable([1, 2, 3], name="count")
SGD = optim.SGD(0.1)
ADAM = optim.Adam()

# --- Hyperparameters ------------------------------------------------------------------

row(
    "rate-negative",
    lambda: optim.SGD(-0.1),
    ArgumentError,
    "SGD",
    "learning_rate",
    "-0.1",
)
row("rate-nan", lambda: optim.SGD(NAN), ArgumentError, "SGD", "learning_rate", "nan")
row(
    "rate-infinite",
    lambda: optim.SGD(INF),
    ArgumentError,
    "SGD",
    "learning_rate",
    "inf",
)
row("rate-str", lambda: optim.SGD("0.1"), ArgumentTypeError, "SGD", "'0.1'", "str")
row("rate-none", lambda: optim.Adam(None), ArgumentTypeError, "Adam", "None")
row("rate-bool", lambda: optim.Adam(True), ArgumentTypeError, "Adam", "True")
row("rate-vector", lambda: optim.SGD(V3), ArgumentTypeError, "SGD", "learning_rate")
row("rate-variable", lambda: optim.SGD(W), ArgumentError, "SGD", "(3,)")
row(
    "rate-int-variable",
    lambda: optim.SGD(gt.Variable(1)),
    ArgumentError,
    "SGD",
    "int32",
)
row(
    "momentum-one",
    lambda: optim.SGD(0.1, momentum=1.5),
    ArgumentError,
    "SGD",
    "momentum",
    "1.5",
)
row(
    "momentum-negative",
    lambda: optim.SGD(0.1, momentum=-0.5),
    ArgumentError,
    "momentum",
    "-0.5",
)
row("beta-one", lambda: optim.Adam(beta_1=1.0), ArgumentError, "Adam", "beta_1", "1.0")
row("beta-str", lambda: optim.Adam(beta_2="0.9"), ArgumentTypeError, "beta_2", "'0.9'")
row("epsilon", lambda: optim.Adam(epsilon=-1e-7), ArgumentError, "epsilon", "-1e-07")
row("rho", lambda: optim.RMSprop(rho=2.0), ArgumentError, "RMSProp", "rho", "2.0")
row(
    "adadelta-rho",
    lambda: optim.Adadelta(rho=-1.0),
    ArgumentError,
    "Adadelta",
    "rho",
    "-1.0",
)
row(
    "adagrad-start",
    lambda: optim.Adagrad(initial_accumulator_value=-1.0),
    ArgumentError,
    "Adagrad",
    "-1.0",
)
row(
    "decay", lambda: optim.SGD(weight_decay=-0.1), ArgumentError, "weight_decay", "-0.1"
)
row("clipnorm-zero", lambda: optim.SGD(clipnorm=0.0), ArgumentError, "clipnorm", "0.0")
row(
    "clipvalue-str",
    lambda: optim.SGD(clipvalue="1"),
    ArgumentTypeError,
    "clipvalue",
    "'1'",
)
row(
    "clip-two",
    lambda: optim.SGD(clipnorm=1.0, clipvalue=1.0),
    ArgumentError,
    "clipnorm",
    "clipvalue",
)
row("flavor", lambda: optim.Adam(flavor="jax"), ArgumentError, "flavor", "'jax'")
row("flavor-none", lambda: optim.Adam(flavor=None), ArgumentError, "flavor", "None")
row(
    "config",
    lambda: optim.SGD.from_config({"lr": 0.1}),
    ArgumentTypeError,
    "from_config",
    "'lr'",
)

# --- Pairs ----------------------------------------------------------------------------

row(
    "pairs-none",
    lambda: SGD.apply_gradients(None),
    ArgumentTypeError,
    "apply_gradients",
    "None",
)
row("pairs-empty", lambda: SGD.apply_gradients([]), GradientError, "apply_gradients")
row(
    "pairs-bare",
    lambda: SGD.apply_gradients([V3]),
    ArgumentTypeError,
    "apply_gradients",
    "Tensor",
)
row(
    "pairs-swapped",
    lambda: SGD.apply_gradients([(W, V3)]),
    ArgumentTypeError,
    "apply_gradients",
    "Tensor",
)
row(
    "pairs-tensor",
    lambda: SGD.apply_gradients([(V3, V3)]),
    ArgumentTypeError,
    "apply_gradients",
    "Tensor",
)
row(
    "pairs-twice",
    lambda: SGD.apply_gradients([(V3, W), (V3, W)]),
    GradientError,
    "weights",
    "twice",
)
row(
    "pairs-no-gradient",
    lambda: SGD.apply_gradients([(None, W), (None, U)]),
    GradientError,
    "weights",
    "unused",
)
row(
    "gradient-shape",
    lambda: SGD.apply_gradients([(V4, W)]),
    ShapeError,
    "apply_gradients",
    "(4,)",
    "(3,)",
)
row(
    "gradient-complex",
    lambda: SGD.apply_gradients([([1j, 1j, 1j], W)]),
    DTypeError,
    "apply_gradients",
    "complex",
)
row("gradient-str", lambda: SGD.apply_gradients([("g", W)]), ArgumentTypeError, "'g'")
row(
    "gradient-bool",
    lambda: SGD.apply_gradients([(V3 > 0, W)]),
    DTypeError,
    "apply_gradients",
    "bool",
)
row(
    "int-variable",
    lambda: SGD.apply_gradients([(V3, K)]),
    DTypeError,
    "apply_gradients",
    "count",
    "int32",
)
row("build-tensor", lambda: ADAM.build([V3]), ArgumentTypeError, "build", "Tensor")
row("build-none", lambda: ADAM.build(None), ArgumentTypeError, "build", "None")

# --- Minimizing -----------------------------------------------------------------------

row("minimize-no-tape", lambda: SGD.minimize(S, [W]), ArgumentError, "minimize", "tape")
row("minimize-none", lambda: SGD.minimize(lambda: None, [W]), ArgumentTypeError, "None")
row(
    "minimize-unused",
    lambda: SGD.minimize(lambda: gt.reduce_sum(W), [U]),
    GradientError,
    "unused",
)
row(
    "minimize-names",
    lambda: SGD.minimize(lambda: gt.reduce_sum(W), ["w"]),
    ArgumentTypeError,
    "'w'",
)
row(
    "minimize-nothing",
    lambda: SGD.minimize(lambda: gt.reduce_sum(W), []),
    GradientError,
    "apply_gradients",
)


@wrong(ArgumentTypeError, "SGD", "learning rate", "'fast'")
def schedule_returns_text():
    optim.SGD(lambda step: "fast").apply_gradients([(V3, W)])


@wrong(TapeError, "gradient", "used")
def minimize_on_used_tape():
    with gt.GradientTape() as tape:
        loss = gt.reduce_sum(W * W)
    tape.gradient(loss, W)
    SGD.minimize(loss, [W], tape)


@wrong(ShapeError, "constraint", "(2,)", "(3,)")
def constraint_changes_shape():
    w = gt.Variable([1.0, 2.0, 3.0], constraint=lambda w: w[:2])
    SGD.apply_gradients([(V3, w)])


@wrong(ShapeError, "Adam", "(4,)", "(3,)")
def variable_changed_shape():
    w = gt.Variable([1.0, 2.0, 3.0], shape=[None])
    adam = optim.Adam()
    adam.apply_gradients([(V3, w)])
    w.assign([1.0, 2.0, 3.0, 4.0])
    adam.apply_gradients([(V4, w)])


@wrong(ShapeError, "apply_gradients", "(3,)")
def slices_of_another_shape():
    slices = gt.IndexedSlices(V3, [0, 1, 2], [9])
    SGD.apply_gradients([(slices, W)])


row(
    "gradient-int",
    lambda: ADAM.apply_gradients([(I3, K)]),
    DTypeError,
    "count",
    "int32",
)
