"""Wrong uses of tensors, variables, slices, modules and of NumPy's protocols."""

import enum
import math

import numpy as np

import gtape as gt
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssignError,
    AttributeMissingError,
    DTypeError,
    IndexRangeError,
    RangeError,
    ShapeError,
)
from tests.errors.cases import A23, A45, C3, I3, V3, V4, S, Table

TABLE = Table()
row, wrong = TABLE.row, TABLE.wrong


def variable(value=(1.0, 2.0, 3.0), **options):
    return gt.Variable(list(value), name="w", **options)


W = gt.Variable([1.0, 2.0, 3.0], name="weights")
COUNT = gt.Variable([1, 2, 3], name="count")


class Number(enum.IntEnum):
    BIG = 300


# --- Python's protocols ---------------------------------------------------------------

row("bool-of-vector", lambda: bool(V3), ArgumentError, "truth", "(3,)")
row("if-vector", lambda: 1 if V3 > 1.0 else 0, ArgumentError, "truth", "(3,)")
row("and-of-vectors", lambda: V3 and V3, ArgumentError, "truth", "(3,)")
row("chained-comparison", lambda: 0.0 < V3 < 2.0, ArgumentError, "truth", "(3,)")
row("not-vector", lambda: not V3, ArgumentError, "truth", "(3,)")
row("max-of-rows", lambda: max(A23), ArgumentError, "truth", "(3,)")
row("row-in-list", lambda: V3 in [V3 + 1.0, V3], ArgumentError, "truth", "(3,)")
row("int-of-vector", lambda: int(V3), ArgumentTypeError, "int", "(3,)")
row("float-of-vector", lambda: float(V3), ArgumentTypeError, "float", "(3,)")
row("complex-of-matrix", lambda: complex(A23), ArgumentTypeError, "complex", "(2, 3)")
row("math-of-vector", lambda: math.sin(V3), ArgumentTypeError, "float", "(3,)")
row("int-of-nan", lambda: int(gt.constant(math.nan)), ArgumentError, "int", "nan")
row("int-of-inf", lambda: int(gt.constant(math.inf)), ArgumentError, "int", "inf")
row("float-of-complex", lambda: float(C3[0]), DTypeError, "float", "complex128")
row("index-of-float", lambda: [1, 2, 3][S], ArgumentTypeError, "index", "float32")
row("index-of-vector", lambda: [1, 2, 3][I3], ArgumentTypeError, "index", "(3,)")
row("range-of-float", lambda: range(S), ArgumentTypeError, "index", "float32")
row("format-vector", lambda: f"{V3:.2f}", ArgumentTypeError, "format", "(3,)")
row("format-code", lambda: f"{S:d}", ArgumentError, "format", "'d'")
row("format-variable", lambda: f"{W:.2f}", ArgumentTypeError, "format", "(3,)")
row("iterate-scalar", lambda: list(S), ArgumentTypeError, "scalar")
row("unpack-scalar", lambda: [*S], ArgumentTypeError, "scalar")
row("len-of-scalar", lambda: len(S), ArgumentTypeError, "len")
row("hash", lambda: hash(V3), ArgumentTypeError, "Tensor", "unhashable")
row("set", lambda: {V3}, ArgumentTypeError, "unhashable")
row("dict-key", lambda: {W: 1.0}, ArgumentTypeError, "Variable", "unhashable")
row("sum-of-shapes", lambda: sum([V3, V4]), ShapeError, "add", "(3,)", "(4,)")
row("sorted", lambda: sorted([V3, V3]), ArgumentError, "truth", "(3,)")

# --- Attributes -----------------------------------------------------------------------

row("attribute-T", lambda: A23.T, AttributeMissingError, "'T'")
row("attribute-item", lambda: S.item(), AttributeMissingError, "'item'")
row("attribute-reshape", lambda: A23.reshape(6), AttributeMissingError, "'reshape'")
row("attribute-sum", lambda: A23.sum(), AttributeMissingError, "'sum'")
row("attribute-astype", lambda: A23.astype("int32"), AttributeMissingError, "'astype'")
row("attribute-grad", lambda: S.grad, AttributeMissingError, "'grad'")
row("attribute-backward", lambda: S.backward(), AttributeMissingError, "'backward'")
row("attribute-detach", lambda: S.detach(), AttributeMissingError, "'detach'")
row("attribute-size", lambda: V3.size, AttributeMissingError, "'size'")
row("attribute-typo", lambda: V3.shap, AttributeMissingError, "'shap'")
row("attribute-assign", lambda: V3.assign(V3), AttributeMissingError, "'assign'")
row("attribute-name", lambda: V3.name, AttributeMissingError, "'name'")
row("variable-T", lambda: W.T, AttributeMissingError, "Variable", "'T'")
row("variable-sum", lambda: W.sum(), AttributeMissingError, "Variable", "'sum'")
row("variable-typo", lambda: W.asign(1.0), AttributeMissingError, "'asign'")
row("variable-grad", lambda: W.grad, AttributeMissingError, "Variable", "'grad'")


@wrong(AttributeMissingError, "assign_add")
def rebound_variable():
    w = variable()
    w = w + 1.0
    w.assign_add(V3)


# --- Variables ------------------------------------------------------------------------

row(
    "variable-nothing",
    lambda: gt.Variable(),
    ArgumentError,
    "Variable",
    "initial value",
)
row("variable-none", lambda: gt.Variable(None), ArgumentError, "Variable")
row(
    "variable-returns-none",
    lambda: gt.Variable(lambda: None),
    ArgumentError,
    "Variable",
)
row("variable-str", lambda: gt.Variable("text"), ArgumentTypeError, "'text'")
row(
    "variable-ragged",
    lambda: gt.Variable([[1], [1, 2]]),
    ArgumentError,
    "[[1], [1, 2]]",
)
row(
    "variable-dtype", lambda: gt.Variable(1.0, dtype="float31"), DTypeError, "'float31'"
)
row("variable-fraction", lambda: gt.Variable(1.5, dtype="int32"), DTypeError, "1.5")
row("variable-range", lambda: gt.Variable(300, dtype="uint8"), RangeError, "300")
row(
    "variable-tensor",
    lambda: gt.Variable(V3, dtype="int32"),
    DTypeError,
    "float32",
    "int32",
)
row(
    "variable-shape",
    lambda: gt.Variable(V3, shape=[None, 2]),
    ShapeError,
    "(3,)",
    "(None, 2)",
)
row("variable-shape-str", lambda: gt.Variable(V3, shape="ab"), ArgumentError, "'ab'")
row("variable-name", lambda: gt.Variable(1.0, name=5), ArgumentTypeError, "name", "5")
row(
    "variable-constraint",
    lambda: gt.Variable(1.0, constraint=5),
    ArgumentTypeError,
    "constraint",
    "5",
)
row(
    "assign-shape",
    lambda: W.assign(V4),
    ShapeError,
    "assign",
    "weights",
    "(4,)",
    "(3,)",
)
row("assign-scalar", lambda: W.assign(1.0), ShapeError, "assign", "()", "(3,)")
row("assign-dtype", lambda: W.assign(I3), DTypeError, "assign", "int32", "float32")
row("assign-double", lambda: W.assign(gt.zeros([3], gt.float64)), DTypeError, "float64")
row("assign-none", lambda: W.assign(None), ArgumentTypeError, "None")
row("assign-str", lambda: W.assign("abc"), ArgumentTypeError, "'abc'")
row(
    "assign-fraction", lambda: COUNT.assign([1.5, 2.0, 3.0]), DTypeError, "1.5", "int32"
)
row("assign-huge", lambda: COUNT.assign([2**40, 0, 0]), RangeError, str(2**40), "int32")
row("assign-complex", lambda: W.assign([1j, 0, 0]), DTypeError, "float32")
row(
    "assign-enum",
    lambda: gt.Variable(1, dtype="uint8").assign(Number.BIG),
    RangeError,
    "300",
)
row(
    "assign-add-shape",
    lambda: W.assign_add(A23),
    ShapeError,
    "assign_add",
    "(2, 3)",
    "(3,)",
)
row("assign-sub-dtype", lambda: W.assign_sub(I3), DTypeError, "assign_sub", "int32")
row("slice-assign", lambda: W[:2].assign(V3), ShapeError, "assign", "(3,)", "(2,)")
row("slice-assign-out", lambda: W[3].assign(1.0), IndexRangeError, "3")
row(
    "scatter-tuple",
    lambda: W.scatter_add(([1.0], [0])),
    ArgumentTypeError,
    "scatter_add",
    "tuple",
)
row(
    "scatter-out",
    lambda: W.scatter_update(gt.IndexedSlices([1.0], [3])),
    IndexRangeError,
    "scatter_update",
    "3",
)
row(
    "scatter-shape",
    lambda: W.scatter_sub(gt.IndexedSlices([[1.0]], [0])),
    ShapeError,
    "scatter_sub",
    "(1, 1)",
)
row(
    "scatter-negative",
    lambda: W.scatter_max(gt.IndexedSlices([1.0], [-1])),
    IndexRangeError,
    "scatter_max",
    "-1",
)
row("count-up", lambda: W.count_up_to(3), DTypeError, "count_up_to", "float32")
row("sparse-read", lambda: W.sparse_read([5]), IndexRangeError, "sparse_read", "5")
row("bool-of-variable", lambda: bool(W), ArgumentError, "truth", "(3,)")
row("float-of-variable", lambda: float(W), ArgumentTypeError, "float", "(3,)")
row("variable-plus-str", lambda: W + "1", ArgumentTypeError, "'1'")
row("variable-index", lambda: W["first"], ArgumentTypeError, "'first'")


@wrong(AssignError, "w", "augmented")
def variable_plus_equals():
    w = variable()
    w += 1.0


@wrong(AssignError, "w", "augmented")
def variable_times_equals():
    w = variable()
    w *= 2.0


@wrong(AssignError, "w", "augmented")
def variable_or_equals():
    w = gt.Variable([True], name="w")
    w |= True


@wrong(ShapeError, "assign", "(2,)")
def variable_item_shape():
    w = variable()
    w[:] = [1.0, 2.0]


@wrong(IndexRangeError, "7", "3")
def variable_item_out():
    w = variable()
    w[7] = 1.0


# --- Slices, modules, structures ------------------------------------------------------

row(
    "slices-shapes",
    lambda: gt.IndexedSlices(V3, [0, 1]),
    ShapeError,
    "IndexedSlices",
    "(3,)",
    "(2,)",
)
row(
    "slices-floats",
    lambda: gt.IndexedSlices(V3, V3),
    DTypeError,
    "IndexedSlices",
    "float32",
)
row(
    "slices-dense",
    lambda: gt.IndexedSlices(V3, [0, 1, 2], [3, 2]),
    ShapeError,
    "IndexedSlices",
    "(3, 2)",
)
row(
    "slices-negative",
    lambda: gt.IndexedSlices(V3, [0, 1, 2], [-3]),
    ArgumentError,
    "IndexedSlices",
    "-3",
)
row(
    "slices-unknown",
    lambda: gt.IndexedSlices(V3, [0, 1, 2]) + 1.0,
    ShapeError,
    "IndexedSlices",
    "None",
)
row(
    "slices-out",
    lambda: gt.IndexedSlices(V3, [0, 1, 5], [3]) + 1.0,
    IndexRangeError,
    "IndexedSlices",
    "5",
)
row(
    "module-name",
    lambda: gt.Module("two words"),
    ArgumentError,
    "Module",
    "'two words'",
)
row("module-digit", lambda: gt.Module(name="1st"), ArgumentError, "Module", "'1st'")
row("module-number", lambda: gt.Module(5), ArgumentError, "Module", "5")
row(
    "map-structure",
    lambda: gt.nest.map_structure(max, [1], [1, 2]),
    ArgumentError,
    "map_structure",
    "1",
    "2",
)
row(
    "map-dict",
    lambda: gt.nest.map_structure(max, {"a": 1}, {"b": 1}),
    ArgumentError,
    "map_structure",
    "'a'",
    "'b'",
)

# --- NumPy's protocols ----------------------------------------------------------------

row("np-add", lambda: np.add(A23, A45), ShapeError, "add", "(2, 3)", "(4, 5)")
row("np-sqrt", lambda: np.sqrt(gt.constant(["x"])), ArgumentTypeError, "'x'")
row("np-add-str", lambda: np.add(V3, "x"), ArgumentTypeError, "'x'")
row("np-sum-axis", lambda: np.sum(A23, axis=9), ShapeError, "reduce_sum", "9")
row("np-matmul", lambda: np.matmul(A23, A45), ShapeError, "matmul", "(2, 3)", "(4, 5)")
row(
    "np-array-at",
    lambda: np.ones([5, 5]) @ A23,
    ShapeError,
    "matmul",
    "(5, 5)",
    "(2, 3)",
)
row(
    "np-concatenate",
    lambda: np.concatenate([A23, V3]),
    ShapeError,
    "concat",
    "(2, 3)",
    "(3,)",
)
row("np-reshape", lambda: np.reshape(A23, [4]), ShapeError, "reshape", "(2, 3)", "4")
row("np-stack", lambda: np.stack([V3, V4]), ShapeError, "stack", "(3,)", "(4,)")
row("np-transpose", lambda: np.transpose(A23, [0, 2]), ShapeError, "transpose", "2")
row("np-sort-axis", lambda: np.sort(A23, axis=5), ShapeError, "sort", "5")
row("np-where", lambda: np.where(V3 > 0, V4, 0.0), ShapeError, "(3,)", "(4,)")
row("np-dot", lambda: np.dot(V3, V4), ShapeError, "dot", "(3,)", "(4,)")
row("np-einsum", lambda: np.einsum("ij,jk->ik", A23, A45), ShapeError, "einsum", "j")
row("np-inv", lambda: np.linalg.inv(A23), ShapeError, "inv", "(2, 3)")
row("np-variable", lambda: np.add(W, V4), ShapeError, "add", "(3,)", "(4,)")
