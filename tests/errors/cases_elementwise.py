"""Wrong calls of elementwise functions, and of what makes tensors."""

import enum

import numpy as np

import gtape as gt
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DivisionError,
    DTypeError,
    RangeError,
    ShapeError,
    TensorMemoryError,
)
from tests.errors.cases import A23, A45, B3, C3, D3, I3, V3, V4, S, Table

TABLE = Table()
row = TABLE.row
NAN, INF = float("nan"), float("inf")


class Color(enum.Enum):
    RED = 1


# --- Operands -------------------------------------------------------------------------

row("add-shapes", lambda: gt.add(A23, A45), ShapeError, "add", "(2, 3)", "(4, 5)")
row("plus-shapes", lambda: A23 + A45, ShapeError, "add", "(2, 3)", "(4, 5)")
row("plus-list", lambda: V3 + [0.5] * 2, ShapeError, "add", "(3,)", "(2,)")
row("radd-array", lambda: np.ones(2) + V3, ShapeError, "add", "(2,)", "(3,)")
row("maximum-shapes", lambda: gt.maximum(V3, V4), ShapeError, "maximum", "(3,)", "(4,)")
row("atan2-shapes", lambda: gt.atan2(V3, V4), ShapeError, "atan2", "(3,)", "(4,)")
row("equal-shapes", lambda: V3 == V4, ShapeError, "equal", "(3,)", "(4,)")
row("where-shapes", lambda: gt.where(B3, V4, 0.0), ShapeError, "(3,)", "(4,)")
row("hypot-shapes", lambda: gt.hypot(V3, V4), ShapeError, "hypot", "(3,)", "(4,)")
row("xlogy-shapes", lambda: gt.xlogy(V3, V4), ShapeError, "xlogy", "(3,)", "(4,)")
row("clip-shapes", lambda: gt.clip_by_value(V3, V4, 9.0), ShapeError, "(3,)", "(4,)")
row("plus-str", lambda: A23 + "text", ArgumentTypeError, "'text'", "str")
row("plus-none", lambda: A23 + None, ArgumentTypeError, "None")
row("none-times", lambda: None * A23, ArgumentTypeError, "None")
row("times-dict", lambda: A23 * {"a": 1}, ArgumentTypeError, "'a'", "dict")
row("times-set", lambda: gt.multiply({1, 2}, A23), ArgumentTypeError, "{1, 2}", "set")
row("less-str", lambda: A23 < "text", ArgumentTypeError, "'text'")
row("minus-object", lambda: A23 - object(), ArgumentTypeError, "object")
row("minus-enum", lambda: A23 - Color.RED, ArgumentTypeError, "Color")
row("exp-none", lambda: gt.exp(None), ArgumentTypeError, "None", "NoneType")
row("exp-str", lambda: gt.exp("1.0"), ArgumentTypeError, "'1.0'", "str")
row("sin-module", lambda: gt.sin(np), ArgumentTypeError, "module")
row("sin-function", lambda: gt.sin(abs), ArgumentTypeError, "builtin_function")
row("times-ragged", lambda: V3 * [[1.0], [1.0, 2.0]], ArgumentError, "[[1.0], [1.0")
row("times-str-list", lambda: V3 * ["a", "b", "c"], ArgumentTypeError, "'a'", "str")
row("plus-str-array", lambda: V3 + np.array(["a"]), DTypeError, "<U1")
row("plus-object-array", lambda: V3 + np.array([None]), DTypeError, "object")
row("plus-date", lambda: V3 + np.datetime64("2020-01-01"), DTypeError, "datetime64")

# --- Dtypes ---------------------------------------------------------------------------

row("minus-bools", lambda: B3 - B3, DTypeError, "subtract", "bool")
row("plus-bools", lambda: gt.add(True, False), DTypeError, "add", "bool")
row("negative-bool", lambda: -B3, DTypeError, "negative", "bool")
row("sqrt-int", lambda: gt.sqrt(I3), DTypeError, "sqrt", "int32")
row("exp-int", lambda: gt.exp(I3), DTypeError, "exp", "int32")
row("log-bool", lambda: gt.log(B3), DTypeError, "log", "bool")
row("tanh-int", lambda: gt.tanh(I3), DTypeError, "tanh", "int32")
row("erf-int", lambda: gt.erf(I3), DTypeError, "erf", "int32")
row("erf-complex", lambda: gt.erf(C3), DTypeError, "erf", "complex128")
row("lgamma-int", lambda: gt.lgamma(I3), DTypeError, "lgamma", "int32")
row("sigmoid-int", lambda: gt.sigmoid(I3), DTypeError, "sigmoid", "int32")
row("floor-complex", lambda: gt.floor(C3), DTypeError, "floor", "complex128")
row("less-complex", lambda: C3 < C3, DTypeError, "less", "complex128")
row("maximum-complex", lambda: gt.maximum(C3, 1.0), DTypeError, "maximum", "complex128")
row("mod-complex", lambda: C3 % 2, DTypeError, "mod", "complex128")
row(
    "logical-floats", lambda: gt.logical_and(V3, B3), DTypeError, "logical_and", "float"
)
row("logical-not-int", lambda: gt.logical_not(I3), DTypeError, "logical_not", "int32")
row("and-floats", lambda: V3 & V3, DTypeError, "bitwise_and", "float32")
row("invert-float", lambda: ~V3, DTypeError, "invert", "float32")
row("shift-floats", lambda: V3 << 1, DTypeError, "left_shift", "float32")
row("shift-bools", lambda: B3 >> B3, DTypeError, "right_shift", "bool")
row("where-not-bool", lambda: gt.where(V3, V3, V3), DTypeError, "bool", "float32")
row("where-one-value", lambda: gt.where(B3, V3), ArgumentError, "where", "y")
row("complex-ints", lambda: gt.complex(I3, I3), DTypeError, "complex", "int32")
row("complex-mixed", lambda: gt.complex(V3, I3), DTypeError, "complex")
row(
    "uint64-int64",
    lambda: gt.result_type("uint64", "int8"),
    DTypeError,
    "uint64",
    "int8",
)
row("result-of-nothing", lambda: gt.result_type(), ArgumentTypeError, "result_type")
row("result-of-text", lambda: gt.result_type("float99"), DTypeError, "'float99'")
row("cast-unknown", lambda: gt.cast(V3, "float33"), DTypeError, "'float33'")
row("cast-none", lambda: gt.cast(V3, None), DTypeError, "None")
row("cast-string-dtype", lambda: gt.cast(V3, np.dtype("U3")), DTypeError, "U3")
row("as-dtype-number", lambda: gt.as_dtype(3), DTypeError, "3")
row("default-float", lambda: gt.set_default_float("int32"), DTypeError, "int32")

# --- Values ---------------------------------------------------------------------------

row("uint8-plus-300", lambda: gt.constant(1, gt.uint8) + 300, RangeError, "300", "255")
row("int-plus-huge", lambda: I3 + 2**40, RangeError, str(2**40), "int32")
row("floordiv-zero", lambda: I3 // 0, DivisionError, "floordiv", "zero")
row("mod-zero", lambda: I3 % gt.constant([1, 0, 1]), DivisionError, "mod", "zero")
row("divmod-zero", lambda: divmod(I3, 0), DivisionError, "floordiv", "zero")
row("negative-power", lambda: I3**-1, ArgumentError, "pow", "-1")
row("pow-bool", lambda: B3**B3, DTypeError, "pow", "bool")
row("pow-modulus", lambda: pow(I3, 2, 5), ArgumentTypeError, "pow", "5")
row("round-digits", lambda: round(V3, "two"), ArgumentTypeError, "round", "'two'")
row("round-int-digits", lambda: round(V3, 1.5), ArgumentTypeError, "round", "1.5")
row("polygamma-dtype", lambda: gt.polygamma(I3, I3), DTypeError, "polygamma", "int32")
row("shift-by-str", lambda: I3 << "1", ArgumentTypeError, "'1'")

# --- Making tensors -------------------------------------------------------------------

row("constant-none", lambda: gt.constant(None), ArgumentTypeError, "None")
row("constant-str", lambda: gt.constant("text"), ArgumentTypeError, "'text'")
row("constant-bytes", lambda: gt.constant(b"x"), ArgumentTypeError, "b'x'")
row(
    "constant-generator", lambda: gt.constant(i for i in V3), ArgumentTypeError, "gener"
)
row(
    "constant-ragged",
    lambda: gt.constant([[1], [2, 3]]),
    ArgumentError,
    "[[1], [2, 3]]",
)
row("constant-deep", lambda: gt.constant([1, [2]]), ArgumentError, "[1, [2]]")
row("constant-mixed", lambda: gt.constant([True, 1.5]), DTypeError, "bools")
row("constant-list-none", lambda: gt.constant([1.0, None]), ArgumentTypeError, "None")
row("constant-stack", lambda: gt.constant([V3, V4]), ShapeError, "(3,)", "(4,)")
row("constant-fraction", lambda: gt.constant(1.5, gt.int32), DTypeError, "1.5", "int32")
row("constant-nan-int", lambda: gt.constant(NAN, gt.int32), DTypeError, "nan", "int32")
row("constant-uint8", lambda: gt.constant(300, gt.uint8), RangeError, "300", "0 to 255")
row("constant-minus", lambda: gt.constant([1, -1], "uint8"), RangeError, "-1", "uint8")
row("constant-imag", lambda: gt.constant(1j, gt.float32), DTypeError, "1j", "float32")
row("constant-huge", lambda: gt.constant(10**30), RangeError, str(10**30), "int64")
row("constant-endless", lambda: gt.constant(10**5000), RangeError, "huge int", "int64")
row("constant-dtype", lambda: gt.constant(1.0, "nope"), DTypeError, "'nope'")
row("constant-shape", lambda: gt.constant([1, 2, 3], shape=[2]), ShapeError, "3", "2")
row("constant-bad-shape", lambda: gt.constant(0.0, shape=[-1]), ArgumentError, "-1")
row("constant-tensor-dtype", lambda: gt.constant(V3, gt.int32), DTypeError, "int32")
row(
    "convert-array",
    lambda: gt.convert_to_tensor(np.ones(2), "int32"),
    DTypeError,
    "int32",
)
row(
    "convert-mask", lambda: gt.convert_to_tensor("x", "int32"), ArgumentTypeError, "'x'"
)

row("zeros-negative", lambda: gt.zeros([2, -1]), ArgumentError, "zeros", "-1")
row("zeros-str", lambda: gt.zeros("23"), ArgumentError, "zeros", "'23'")
row("zeros-none", lambda: gt.zeros(None), ArgumentError, "zeros", "None")
row("zeros-fraction", lambda: gt.zeros([2.5]), ArgumentError, "zeros", "2.5")
row("zeros-nan", lambda: gt.zeros([NAN]), ArgumentError, "zeros", "nan")
row("zeros-bool", lambda: gt.zeros([True, 2]), ArgumentError, "zeros", "True")
row("zeros-two", lambda: gt.zeros(2, 3), DTypeError, "3")
row("zeros-dtype", lambda: gt.zeros([2], "string"), DTypeError, "string")
row(
    "zeros-huge",
    lambda: gt.zeros([2**40, 2**20]),
    TensorMemoryError,
    "zeros",
    str(2**40),
)
row(
    "ones-overflow",
    lambda: gt.ones([2**40, 2**40]),
    TensorMemoryError,
    "ones",
    str(2**40),
)
row("ones-float-tensor", lambda: gt.ones(V3), ArgumentError, "ones", "1.0")
row("ones-like-none", lambda: gt.ones_like(None), ArgumentTypeError, "None")
row("fill-vector", lambda: gt.fill([2], [1, 2]), ShapeError, "fill", "(2,)")
row("fill-negative", lambda: gt.fill([-3], 1.0), ArgumentError, "fill", "-3")
row("fill-huge", lambda: gt.fill([10**9, 10**9], S), TensorMemoryError, "fill")
row("eye-negative", lambda: gt.eye(-1), ArgumentError, "eye", "-1")
row("eye-fraction", lambda: gt.eye(2.5), ArgumentTypeError, "eye", "2.5")
row("eye-str", lambda: gt.eye("3"), ArgumentTypeError, "eye", "'3'")
row("eye-bool", lambda: gt.eye(True), ArgumentTypeError, "eye", "True")
row("eye-batch", lambda: gt.eye(2, batch_shape=[-2]), ArgumentError, "eye", "-2")
row("range-step", lambda: gt.range(0, 10, 0), ArgumentError, "range", "0")
row("range-nan", lambda: gt.range(NAN), ArgumentError, "range", "nan")
row("range-infinite", lambda: gt.range(0.0, INF), ArgumentError, "range", "inf")
row("range-huge", lambda: gt.range(0, 2**60), TensorMemoryError, "range")
row("range-str", lambda: gt.range("5"), ArgumentTypeError, "'5'")
row("range-vector", lambda: gt.range(V3), ShapeError, "range", "(3,)")
row("linspace-none", lambda: gt.linspace(0.0, 1.0, None), ArgumentTypeError, "None")
row("linspace-nan", lambda: gt.linspace(0.0, 1.0, NAN), ArgumentTypeError, "num", "nan")
row("linspace-axis", lambda: gt.linspace(0.0, 1.0, 3, axis=2), ShapeError, "axis", "2")
row("one-hot-float", lambda: gt.one_hot(V3, 3), DTypeError, "one_hot", "float32")
row("one-hot-depth", lambda: gt.one_hot(I3, -2), ArgumentError, "one_hot", "-2")
row(
    "one-hot-depth-float",
    lambda: gt.one_hot(I3, 2.5),
    ArgumentTypeError,
    "depth",
    "2.5",
)
row("one-hot-axis", lambda: gt.one_hot(I3, 4, axis=5), ShapeError, "one_hot", "5")
row("meshgrid-indexing", lambda: gt.meshgrid(V3, indexing="yx"), ArgumentError, "'yx'")
row("meshgrid-matrix", lambda: gt.meshgrid(A23), ShapeError, "meshgrid", "(2, 3)")
row(
    "double-uint",
    lambda: gt.constant(1, "uint64") + gt.constant(1),
    DTypeError,
    "uint64",
)
row("float64-to-spec", lambda: gt.TensorSpec([2], "floaty"), DTypeError, "'floaty'")
row("spec-shape", lambda: gt.TensorSpec([2.5], "float32"), ArgumentError, "2.5")
row("d3-range", lambda: gt.range(D3), ShapeError, "range", "(3,)")
