"""Wrong calls of what shapes, joins, reduces, scans, indexes, gathers and sorts."""

import numpy as np

import gtape as gt
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    IndexRangeError,
    ShapeError,
    TensorMemoryError,
)
from tests.errors.cases import (
    A23,
    A45,
    B3,
    C3,
    CUBE,
    EMPTY,
    I3,
    V3,
    V4,
    S,
    Table,
)

TABLE = Table()
row, wrong = TABLE.row, TABLE.wrong
NAN = float("nan")

# --- Shapes ---------------------------------------------------------------------------

row("reshape-size", lambda: gt.reshape(A23, [4]), ShapeError, "reshape", "(2, 3)", "4")
row(
    "reshape-divisor", lambda: gt.reshape(A23, [4, -1]), ShapeError, "reshape", "(2, 3)"
)
row(
    "reshape-two-rests",
    lambda: gt.reshape(A23, [-1, -1]),
    ShapeError,
    "reshape",
    "-1",
)
row("reshape-negative", lambda: gt.reshape(A23, [-2, 3]), ShapeError, "reshape", "-2")
row("reshape-str", lambda: gt.reshape(A23, "6"), ArgumentTypeError, "reshape", "'6'")
row("reshape-none", lambda: gt.reshape(A23, None), ArgumentTypeError, "reshape", "None")
row(
    "reshape-float", lambda: gt.reshape(A23, [6.0]), ArgumentTypeError, "reshape", "6.0"
)
row(
    "transpose-short",
    lambda: gt.transpose(A23, [0]),
    ShapeError,
    "transpose",
    "[0]",
    "rank 2",
)
row(
    "transpose-twice",
    lambda: gt.transpose(A23, [0, 0]),
    ShapeError,
    "transpose",
    "0, 0",
)
row("transpose-axis", lambda: gt.transpose(A23, [0, 5]), ShapeError, "transpose", "5")
row(
    "transpose-str",
    lambda: gt.transpose(A23, "ji"),
    ArgumentTypeError,
    "transpose",
    "'ji'",
)
row(
    "expand-axis",
    lambda: gt.expand_dims(A23, 5),
    ShapeError,
    "expand_dims",
    "5",
    "rank 3",
)
row(
    "expand-str",
    lambda: gt.expand_dims(A23, "0"),
    ArgumentTypeError,
    "expand_dims",
    "'0'",
)
row("squeeze-size", lambda: gt.squeeze(A23, 0), ShapeError, "squeeze", "(2, 3)", "0")
row("squeeze-axis", lambda: gt.squeeze(A23, 2), ShapeError, "squeeze", "2")
row("swap-axis", lambda: gt.swapaxes(A23, 0, 3), ShapeError, "swapaxes", "3")
row(
    "swap-bool",
    lambda: gt.swapaxes(A23, 0, True),
    ArgumentTypeError,
    "swapaxes",
    "True",
)
row(
    "matrix-transpose",
    lambda: gt.matrix_transpose(V3),
    ShapeError,
    "matrix_transpose",
    "(3,)",
)
row(
    "broadcast",
    lambda: gt.broadcast_to(V3, [2, 4]),
    ShapeError,
    "broadcast_to",
    "(3,)",
    "4",
)
row(
    "broadcast-rank",
    lambda: gt.broadcast_to(A23, [3]),
    ShapeError,
    "broadcast_to",
    "(2, 3)",
)
row(
    "broadcast-huge",
    lambda: gt.broadcast_to(V3, [2**40, 2**40, 3]) + 1.0,
    TensorMemoryError,
    "broadcast",
)
row(
    "concat-rank",
    lambda: gt.concat([A23, V3], 0),
    ShapeError,
    "concat",
    "(2, 3)",
    "(3,)",
)
row(
    "concat-sizes",
    lambda: gt.concat([A23, A45], 0),
    ShapeError,
    "concat",
    "(2, 3)",
    "(4, 5)",
)
row("concat-axis", lambda: gt.concat([A23, A23], 2), ShapeError, "concat", "2")
row("concat-nothing", lambda: gt.concat([], 0), ArgumentError, "concat")
row("concat-scalars", lambda: gt.concat([S, S], 0), ShapeError, "concat")
row("concat-number", lambda: gt.concat(5, 0), ArgumentTypeError, "concat", "5")
row("concat-str", lambda: gt.concat([V3, "a"], 0), ArgumentTypeError, "'a'")
row("stack-shapes", lambda: gt.stack([V3, V4]), ShapeError, "stack", "(3,)", "(4,)")
row("stack-nothing", lambda: gt.stack([]), ArgumentError, "stack")
row("stack-axis", lambda: gt.stack([V3, V3], axis=3), ShapeError, "stack", "3")
row("split-number", lambda: gt.split(V4, 3), ShapeError, "split", "3", "4")
row("split-sizes", lambda: gt.split(V4, [1, 2]), ShapeError, "split", "(1, 2)", "4")
row("split-zero", lambda: gt.split(V4, 0), ShapeError, "split", "0")
row("split-negative", lambda: gt.split(V4, [5, -1]), ShapeError, "split", "5")
row("split-fraction", lambda: gt.split(V4, 2.0), ArgumentTypeError, "split", "2.0")
row("split-axis", lambda: gt.split(V4, 2, axis=1), ShapeError, "split", "1")
row("unstack-number", lambda: gt.unstack(V3, 4), ShapeError, "unstack", "4", "3")
row("unstack-scalar", lambda: gt.unstack(S), ShapeError, "unstack")
row("tile-length", lambda: gt.tile(A23, [2]), ShapeError, "tile", "2")
row("tile-negative", lambda: gt.tile(V3, [-1]), ArgumentError, "tile", "-1")
row("tile-float", lambda: gt.tile(V3, [1.5]), ArgumentTypeError, "tile", "1.5")
row("tile-huge", lambda: gt.tile(V3, [2**60]), TensorMemoryError, "tile")
row("repeat-negative", lambda: gt.repeat(V3, -1), ArgumentError, "repeat", "-1")
row("repeat-length", lambda: gt.repeat(V3, [1, 2], 0), ShapeError, "repeat", "2", "3")
row("repeat-nan", lambda: gt.repeat(V3, NAN), ArgumentTypeError, "repeat", "nan")
row("reverse-axis", lambda: gt.reverse(A23, 2), ShapeError, "reverse", "2")
row("reverse-twice", lambda: gt.reverse(A23, [0, -2]), ShapeError, "reverse", "[0, -2]")
row("roll-length", lambda: gt.roll(A23, [1, 2], 0), ShapeError, "roll")
row("roll-axis", lambda: gt.roll(V3, 1, 1), ShapeError, "roll", "1")
row("roll-float", lambda: gt.roll(V3, 0.5, 0), ArgumentTypeError, "roll", "0.5")
row("pad-shape", lambda: gt.pad(A23, [[1, 1]]), ShapeError, "pad", "(2, 3)")
row("pad-negative", lambda: gt.pad(V3, [[-1, 0]]), ArgumentError, "pad", "-1")
row("pad-mode", lambda: gt.pad(V3, [[1, 1]], "WRAP"), ArgumentError, "pad", "'WRAP'")
row("pad-reflect", lambda: gt.pad(V3, [[3, 0]], "REFLECT"), ShapeError, "pad", "3")
row("pad-float", lambda: gt.pad(V3, [[0.5, 0]]), ArgumentTypeError, "pad", "0.5")
row("pad-none", lambda: gt.pad(V3, None), ShapeError, "pad", "None")
row("slice-out", lambda: gt.slice(V3, [1], [3]), ShapeError, "slice", "3")
row(
    "slice-rank", lambda: gt.slice(A23, [0], [1]), ShapeError, "slice", "(0,)", "rank 2"
)
row("slice-negative", lambda: gt.slice(V3, [-1], [1]), ShapeError, "slice", "-1")
row(
    "ensure-shape",
    lambda: gt.ensure_shape(A23, [None, 4]),
    ShapeError,
    "ensure_shape",
    "(2, 3)",
    "4",
)
row("size-dtype", lambda: gt.size(A23, "str"), DTypeError, "str")
row("tril-vector", lambda: gt.tril(V3), ShapeError, "tril", "(3,)")
row("triu-offset", lambda: gt.triu(A23, "1"), ArgumentTypeError, "triu", "'1'")
row("trace-vector", lambda: gt.trace(V3), ShapeError, "trace", "(3,)")
row("trace-none", lambda: gt.trace(None), ArgumentTypeError, "None")

# --- Reductions and scans -------------------------------------------------------------

row("sum-axis", lambda: gt.reduce_sum(A23, 2), ShapeError, "reduce_sum", "2")
row("sum-negative-axis", lambda: gt.reduce_sum(A23, -3), ShapeError, "reduce_sum", "-3")
row(
    "sum-axis-str",
    lambda: gt.reduce_sum(A23, "rows"),
    ArgumentTypeError,
    "reduce_sum",
    "'rows'",
)
row(
    "sum-axis-float",
    lambda: gt.reduce_sum(A23, 0.5),
    ArgumentTypeError,
    "reduce_sum",
    "0.5",
)
row(
    "sum-axis-bool",
    lambda: gt.reduce_sum(A23, True),
    ArgumentTypeError,
    "reduce_sum",
    "True",
)
row(
    "sum-axis-twice",
    lambda: gt.reduce_sum(A23, [0, 0]),
    ShapeError,
    "reduce_sum",
    "[0, 0]",
)
row("sum-of-scalar-axis", lambda: gt.reduce_sum(S, 0), ShapeError, "reduce_sum", "0")
row("sum-bool", lambda: gt.reduce_sum(B3), DTypeError, "reduce_sum", "bool")
row("mean-bool", lambda: gt.reduce_mean(B3), DTypeError, "reduce_mean", "bool")
row("mean-axis", lambda: gt.reduce_mean(A23, [0, 4]), ShapeError, "reduce_mean", "4")
row("max-complex", lambda: gt.reduce_max(C3), DTypeError, "reduce_max", "complex128")
row("max-axis", lambda: gt.reduce_max(V3, 1), ShapeError, "reduce_max", "1")
row("min-str", lambda: gt.reduce_min("abc"), ArgumentTypeError, "'abc'")
row("prod-bool", lambda: gt.reduce_prod(B3), DTypeError, "reduce_prod", "bool")
row("all-floats", lambda: gt.reduce_all(V3), DTypeError, "reduce_all", "float32")
row("any-axis", lambda: gt.reduce_any(B3, 3), ShapeError, "reduce_any", "3")
row("logsumexp-int", lambda: gt.reduce_logsumexp(I3), DTypeError, "int32")
row("std-int", lambda: gt.reduce_std(I3), DTypeError, "reduce_std", "int32")
row(
    "variance-axis",
    lambda: gt.reduce_variance(V3, 1),
    ShapeError,
    "reduce_variance",
    "1",
)
row(
    "norm-order", lambda: gt.norm(V3, "manhattan"), ArgumentError, "norm", "'manhattan'"
)
row("norm-int", lambda: gt.norm(I3), DTypeError, "norm", "int32")
row("norm-zero", lambda: gt.norm(V3, ord=0.0), ArgumentError, "norm", "0")
row(
    "norm-axes",
    lambda: gt.norm(CUBE, axis=[0, 1, 2]),
    ArgumentError,
    "norm",
    "[0, 1, 2]",
)
row("argmax-axis", lambda: gt.argmax(A23, 2), ShapeError, "argmax", "2")
row("argmax-empty", lambda: gt.argmax(EMPTY), ShapeError, "argmax", "(0,)")
row("argmax-complex", lambda: gt.argmax(C3), DTypeError, "argmax", "complex128")
row(
    "argmin-dtype",
    lambda: gt.argmin(V3, output_type="float32"),
    DTypeError,
    "argmin",
    "float32",
)
row("count-axis", lambda: gt.count_nonzero(V3, 1), ShapeError, "count_nonzero", "1")
row("count-dtype", lambda: gt.count_nonzero(V3, dtype="text"), DTypeError, "'text'")
row("cumsum-axis", lambda: gt.cumsum(A23, 2), ShapeError, "cumsum", "2")
row("cumsum-scalar", lambda: gt.cumsum(S), ShapeError, "cumsum", "0")
row("cumsum-bool", lambda: gt.cumsum(B3), DTypeError, "cumsum", "bool")
row("cumprod-axis", lambda: gt.cumprod(V3, "0"), ArgumentTypeError, "cumprod", "'0'")
row("cummax-complex", lambda: gt.cummax(C3), DTypeError, "cummax", "complex128")
row("cumulative-int", lambda: gt.cumulative_logsumexp(I3), DTypeError, "int32")

# --- Indexing -------------------------------------------------------------------------

row("index-out", lambda: V3[5], IndexRangeError, "index", "5", "3")
row("index-below", lambda: V3[-4], IndexRangeError, "index", "-4", "3")
row("index-second", lambda: A23[0, 7], IndexRangeError, "index", "7", "3")
row("index-too-many", lambda: A23[0, 0, 0], IndexRangeError, "index", "3", "2")
row("index-scalar", lambda: S[0], IndexRangeError, "index", "0")
row("index-str", lambda: V3["a"], ArgumentTypeError, "index", "'a'")
row("index-float", lambda: V3[1.5], ArgumentTypeError, "index", "1.5")
row("index-float-tensor", lambda: V3[S], ArgumentTypeError, "index", "float32")
row("index-list-out", lambda: V3[[0, 9]], IndexRangeError, "index", "9", "3")
row(
    "index-array-out",
    lambda: V3[np.array([0, -7])],
    IndexRangeError,
    "index",
    "-7",
    "3",
)
row("index-mask", lambda: V4[B3], IndexRangeError, "index", "3", "4")
row(
    "index-arrays",
    lambda: A23[[0, 1], [0, 1, 2]],
    ShapeError,
    "index",
    "(2,)",
    "(3,)",
)
row("index-two-dots", lambda: A23[..., ...], IndexRangeError, "index", "ellipsis")
row("index-step", lambda: V3[::0], IndexRangeError, "index", "zero")
row("index-slice-float", lambda: V3[0.5:], ArgumentTypeError, "index", "0.5")
row("index-slice-str", lambda: V3[:"a"], ArgumentTypeError, "index", "'a'")
row("index-dict", lambda: V3[{"a": 1}], ArgumentTypeError, "index", "dict")


@wrong(ShapeError, "assign", "(2,)", "(3,)")
def set_item_shape():
    x = gt.ones([2, 3])
    x[0] = [1.0, 2.0]


@wrong(IndexRangeError, "assign", "9", "3")
def set_item_out():
    x = gt.ones([3])
    x[9] = 1.0


@wrong(DTypeError, "assign", "float32", "int32")
def set_item_fraction():
    x = gt.constant([1, 2, 3])
    x[0] = 1.5


@wrong(ArgumentTypeError, "'a'")
def set_item_str():
    x = gt.ones([3])
    x[0] = "a"


@wrong(ArgumentTypeError, "None")
def set_item_none():
    x = gt.ones([3])
    x[0] = None


@wrong(ArgumentTypeError, "assign", "'key'")
def set_item_key():
    x = gt.ones([3])
    x["key"] = 1.0


@wrong(IndexRangeError, "assign", "size 2", "size 3")
def set_item_mask():
    x = gt.ones([3])
    x[np.array([True, False])] = 1.0


# --- Gathering and scattering ---------------------------------------------------------

row("gather-out", lambda: gt.gather(V3, [0, 3]), IndexRangeError, "gather", "3")
row("gather-below", lambda: gt.gather(V3, [-1]), IndexRangeError, "gather", "-1", "3")
row("gather-float", lambda: gt.gather(V3, [0.0]), DTypeError, "gather", "float32")
row("gather-str", lambda: gt.gather(V3, "0"), ArgumentTypeError, "'0'")
row("gather-axis", lambda: gt.gather(V3, [0], axis=1), ShapeError, "gather", "1")
row(
    "gather-batch",
    lambda: gt.gather(A23, [[0]], batch_dims=1),
    ShapeError,
    "gather",
    "(2, 3)",
    "(1, 1)",
)
row(
    "gather-batch-many",
    lambda: gt.gather(V3, [0], batch_dims=3),
    ShapeError,
    "gather",
    "3",
)
row("gather-scalar", lambda: gt.gather(S, [0]), ShapeError, "gather")
row(
    "gather-nd-out",
    lambda: gt.gather_nd(A23, [[0, 3]]),
    IndexRangeError,
    "gather_nd",
    "3",
)
row("gather-nd-depth", lambda: gt.gather_nd(V3, [[0, 0]]), ShapeError, "gather_nd", "2")
row(
    "mask-shape",
    lambda: gt.boolean_mask(V4, B3),
    ShapeError,
    "boolean_mask",
    "(4,)",
    "(3,)",
)
row("mask-dtype", lambda: gt.boolean_mask(V3, I3), DTypeError, "boolean_mask", "int32")
row("mask-scalar", lambda: gt.boolean_mask(V3, True), ShapeError, "boolean_mask")
row(
    "along-rank",
    lambda: gt.take_along_axis(A23, [0], 0),
    ShapeError,
    "take_along_axis",
    "(2, 3)",
    "(1,)",
)
row(
    "along-out",
    lambda: gt.take_along_axis(V3, [3], 0),
    IndexRangeError,
    "take_along_axis",
    "3",
)
row(
    "scatter-out",
    lambda: gt.scatter_nd([[4]], [1.0], [3]),
    IndexRangeError,
    "scatter_nd",
    "4",
    "3",
)
row(
    "scatter-updates",
    lambda: gt.scatter_nd([[0]], [1.0, 2.0], [3]),
    ShapeError,
    "scatter_nd",
    "(2,)",
)
row(
    "scatter-shape",
    lambda: gt.scatter_nd([[0]], [1.0], [-3]),
    ArgumentError,
    "scatter_nd",
    "-3",
)
row(
    "scatter-add-dtype",
    lambda: gt.tensor_scatter_nd_add(I3, [[0]], [1.5]),
    DTypeError,
    "tensor_scatter_nd_add",
    "int32",
)
row(
    "scatter-update-out",
    lambda: gt.tensor_scatter_nd_update(V3, [[-1]], [1.0]),
    IndexRangeError,
    "tensor_scatter_nd_update",
    "-1",
    "3",
)
row(
    "scatter-max-complex",
    lambda: gt.tensor_scatter_nd_max(C3, [[0]], [1j]),
    DTypeError,
    "max",
    "complex128",
)
row(
    "scatter-float-index",
    lambda: gt.tensor_scatter_nd_sub(V3, [[0.0]], [1.0]),
    DTypeError,
    "tensor_scatter_nd_sub",
    "float32",
)

# --- Sorting and segments -------------------------------------------------------------

row(
    "sort-direction", lambda: gt.sort(V3, direction="UP"), ArgumentError, "sort", "'UP'"
)
row("sort-axis", lambda: gt.sort(V3, axis=1), ShapeError, "sort", "1")
row("sort-complex", lambda: gt.sort(C3), DTypeError, "sort", "complex128")
row("sort-scalar", lambda: gt.sort(S), ShapeError, "sort")
row(
    "argsort-none",
    lambda: gt.argsort(V3, axis=None),
    ArgumentTypeError,
    "argsort",
    "None",
)
row("top-k-many", lambda: gt.top_k(V3, 4), ArgumentError, "top_k", "4", "3")
row(
    "in-top-k-class",
    lambda: gt.in_top_k([7], gt.ones([1, 3]), 1),
    IndexRangeError,
    "in_top_k",
    "7",
)
row("top-k-negative", lambda: gt.top_k(V3, -1), ArgumentError, "top_k", "-1")
row("top-k-float", lambda: gt.top_k(V3, 1.0), ArgumentTypeError, "top_k", "1.0")
row("top-k-scalar", lambda: gt.top_k(S), ShapeError, "top_k")
row("in-top-k-rank", lambda: gt.in_top_k(I3, V3, 1), ShapeError, "in_top_k", "(3,)")
row(
    "in-top-k-batch",
    lambda: gt.in_top_k(I3, A23, 1),
    ShapeError,
    "in_top_k",
    "(3,)",
    "(2, 3)",
)
row(
    "in-top-k-floats",
    lambda: gt.in_top_k([0.0, 1.0], A23, 1),
    DTypeError,
    "in_top_k",
    "float32",
)
row(
    "segment-unsorted",
    lambda: gt.segment_sum(V3, [0, 2, 1]),
    ArgumentError,
    "segment_sum",
    "2",
    "1",
)
row(
    "segment-negative",
    lambda: gt.segment_sum(V3, [-1, 0, 1]),
    ArgumentError,
    "segment_sum",
    "-1",
)
row(
    "segment-length",
    lambda: gt.segment_mean(V4, [0, 0, 1]),
    ShapeError,
    "segment_mean",
    "(4,)",
    "(3,)",
)
row(
    "segment-floats",
    lambda: gt.segment_max(V3, [0.0, 0.0, 1.0]),
    DTypeError,
    "segment_max",
    "float32",
)
row(
    "segment-rank",
    lambda: gt.segment_min(A23, [[0, 0, 1]]),
    ShapeError,
    "segment_min",
    "(1, 3)",
)
row(
    "unsorted-out",
    lambda: gt.unsorted_segment_sum(V3, [0, 1, 5], 3),
    IndexRangeError,
    "unsorted_segment_sum",
    "5",
    "3",
)
row(
    "unsorted-number",
    lambda: gt.unsorted_segment_max(V3, [0, 1, 1], -2),
    ArgumentError,
    "unsorted_segment_max",
    "-2",
)
row(
    "unsorted-count-nan",
    lambda: gt.unsorted_segment_prod(V3, [0, 1, 1], NAN),
    ArgumentTypeError,
    "unsorted_segment_prod",
    "nan",
)
row(
    "unsorted-shapes",
    lambda: gt.unsorted_segment_mean(V4, [0, 1, 1], 2),
    ShapeError,
    "unsorted_segment_mean",
    "(4,)",
    "(3,)",
)
row(
    "unsorted-none",
    lambda: gt.unsorted_segment_sqrt_n(V3, [0, 1, 1], None),
    ArgumentTypeError,
    "unsorted_segment_sqrt_n",
    "None",
)
row("bincount-negative", lambda: gt.bincount([-1, 2]), ArgumentError, "bincount", "-1")
row("bincount-floats", lambda: gt.bincount(V3), DTypeError, "bincount", "float32")
row(
    "bincount-weights",
    lambda: gt.bincount(I3, V4),
    ShapeError,
    "bincount",
    "(3,)",
    "(4,)",
)
row(
    "bincount-length",
    lambda: gt.bincount(I3, minlength=-1),
    ArgumentError,
    "bincount",
    "-1",
)
