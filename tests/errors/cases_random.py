"""Wrong calls of random functions and of `gt.debugging`, and checks that fail."""

import gtape as gt
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    CheckError,
    DTypeError,
    NumericsError,
    ShapeError,
)
from tests.errors.cases import A23, I3, V3, V4, S, Table

TABLE = Table()
row = TABLE.row
random, check = gt.random, gt.debugging
NAN = float("nan")

# --- Random numbers -------------------------------------------------------------------

row("normal-shape", lambda: random.normal([-1]), ArgumentError, "normal", "-1")
row("normal-str", lambda: random.normal("ab"), ArgumentError, "normal", "'ab'")
row("normal-int", lambda: random.normal([2], dtype="int32"), DTypeError, "int32")
row("normal-mean", lambda: random.normal([2], mean=V3), ShapeError, "(2,)", "(3,)")
row("normal-seed", lambda: random.normal([2], seed="x"), ArgumentTypeError, "'x'")
row("normal-seed-float", lambda: random.normal([2], seed=1.5), ArgumentTypeError, "1.5")
row("uniform-bounds", lambda: random.uniform([2], 3, 1, "int32"), ArgumentError, "3")
row("uniform-dtype", lambda: random.uniform([2], dtype="bool"), DTypeError, "bool")
row("uniform-none", lambda: random.uniform(None), ArgumentError, "uniform", "None")
row(
    "bernoulli", lambda: random.bernoulli([2], p=1.5), ArgumentError, "bernoulli", "1.5"
)
row("bernoulli-nan", lambda: random.bernoulli([2], p=NAN), ArgumentError, "nan")
row("randint-empty", lambda: random.randint([2], 5, 5), ArgumentError, "random", "5")
row("randint-float", lambda: random.randint([2], 0.5, 3), DTypeError, "randint", "0.5")
row("categorical-count", lambda: random.categorical(A23, -2), ArgumentError, "-2")
row("shuffle-scalar", lambda: random.shuffle(S), ShapeError, "shuffle", "scalar")
row("permutation", lambda: random.permutation(-1), ArgumentError, "permutation", "-1")
row("permutation-float", lambda: random.permutation(2.5), ArgumentTypeError, "2.5")
row(
    "stateless-seed",
    lambda: random.stateless_normal([2], V3),
    ArgumentTypeError,
    "float32",
)
row("stateless-three", lambda: random.stateless_normal([2], I3), ShapeError, "(3,)")
row(
    "stateless-none",
    lambda: random.stateless_uniform([2], None),
    ArgumentTypeError,
    "None",
)
row("seed-str", lambda: random.set_seed("x"), ArgumentTypeError, "'x'")
row("generator-seed", lambda: random.Generator.from_seed("x"), ArgumentTypeError, "'x'")

# --- Dropout and checks ---------------------------------------------------------------

row("dropout-one", lambda: gt.nn.dropout(V3, 1.0), ArgumentError, "dropout", "1.0")
row(
    "dropout-negative",
    lambda: gt.nn.dropout(V3, -0.1),
    ArgumentError,
    "dropout",
    "-0.1",
)
row("dropout-int", lambda: gt.nn.dropout(I3, 0.5), DTypeError, "dropout", "int32")
row("dropout-str", lambda: gt.nn.dropout(V3, "0.5"), ArgumentTypeError, "'0.5'")
row(
    "numerics",
    lambda: gt.check_numerics([1.0, NAN], "loss"),
    NumericsError,
    "loss",
    "NaN",
)
row("numerics-int", lambda: gt.check_numerics(I3, "loss"), DTypeError, "int32")
row("numerics-str", lambda: gt.check_numerics("x", "loss"), ArgumentTypeError, "'x'")
row("equal", lambda: check.assert_equal(V3, V3 + 1.0), CheckError, "assert_equal")
row("equal-shapes", lambda: check.assert_equal(V3, V4), ShapeError, "(3,)", "(4,)")
row("equal-str", lambda: check.assert_equal(V3, "x"), ArgumentTypeError, "'x'")
row("positive", lambda: check.assert_positive(-V3), CheckError, "assert_positive", "-1")
row("near", lambda: check.assert_near(V3, V3 + 0.5), CheckError, "assert_near")
row("rank", lambda: check.assert_rank(A23, 3), CheckError, "assert_rank", "3")
row("rank-str", lambda: check.assert_rank(A23, "3"), ArgumentTypeError, "'3'")
row("scalar", lambda: check.assert_scalar(V3), CheckError, "assert_scalar", "(3,)")
row("type", lambda: check.assert_type(V3, "int32"), CheckError, "float32", "int32")
row(
    "shapes",
    lambda: check.assert_shapes([(V3, ["n"]), (V4, ["n"])]),
    CheckError,
    "n",
    "3",
    "4",
)

# --- Others ---------------------------------------------------------------------------

row("search-rank", lambda: gt.searchsorted(S, V3), ShapeError, "searchsorted", "()")
row("search-side", lambda: gt.searchsorted(V3, V3, "middle"), ArgumentError, "'middle'")
row("unique-matrix", lambda: gt.unique(A23), ShapeError, "unique", "(2, 3)")
row("unique-str", lambda: gt.unique("aab"), ArgumentTypeError, "'aab'")
