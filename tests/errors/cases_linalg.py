"""Wrong calls of linear algebra and of `gt.nn`."""

import gtape as gt
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    IndexRangeError,
    LinalgError,
    ShapeError,
)
from tests.errors.cases import (
    A23,
    A45,
    B3,
    C3,
    CUBE,
    D3,
    FILTERS,
    I3,
    IMAGE,
    V3,
    V4,
    S,
    Table,
)

TABLE = Table()
row = TABLE.row

SINGULAR = gt.ones([2, 2])
SQUARE = gt.constant([[2.0, 1.0], [1.0, 3.0]])
INDEFINITE = gt.constant([[1.0, 2.0], [2.0, 1.0]])
WAVE = gt.ones([2, 8, 3])

# --- Products -------------------------------------------------------------------------

row(
    "matmul-inner",
    lambda: gt.matmul(A23, A45),
    ShapeError,
    "matmul",
    "(2, 3)",
    "(4, 5)",
)
row("matmul-operator", lambda: A23 @ A23, ShapeError, "matmul", "(2, 3)")
row("matmul-scalar", lambda: gt.matmul(A23, S), ShapeError, "matmul", "()")
row("matmul-vectors", lambda: V3 @ V4, ShapeError, "matmul", "(3,)", "(4,)")
row(
    "matmul-batch",
    lambda: gt.ones([2, 3, 4]) @ gt.ones([3, 4, 5]),
    ShapeError,
    "matmul",
    "(2, 3, 4)",
    "(3, 4, 5)",
)
row("matmul-str", lambda: A23 @ "text", ArgumentTypeError, "'text'")
row(
    "matmul-bool",
    lambda: gt.matmul(gt.ones([2, 2]) > 0, gt.ones([2, 2]) > 0),
    DTypeError,
    "matmul",
    "bool",
)
row(
    "matmul-both",
    lambda: gt.matmul(A23, A23, transpose_a=True, adjoint_a=True),
    ArgumentError,
    "matmul",
    "transposed",
    "adjoint",
)
row(
    "matvec-sizes",
    lambda: gt.linalg.matvec(A23, V4),
    ShapeError,
    "matvec",
    "(2, 3)",
    "(4,)",
)
row(
    "matvec-batch",
    lambda: gt.linalg.matvec(gt.ones([2, 3, 4]), gt.ones([5, 4])),
    ShapeError,
    "matvec",
    "(2, 3, 4)",
)
row(
    "solve-batch",
    lambda: gt.linalg.solve(gt.ones([2, 3, 3]), gt.ones([5, 3, 1])),
    ShapeError,
    "solve",
    "(2, 3, 3)",
    "(5, 3, 1)",
)
row(
    "cholesky-solve-singular",
    lambda: gt.linalg.cholesky_solve(gt.zeros([2, 2]), gt.ones([2, 1])),
    LinalgError,
    "cholesky_solve",
    "element 0",
)
row(
    "lstsq-nan",
    lambda: gt.linalg.lstsq([[float("nan")]], [1.0]),
    LinalgError,
    "lstsq",
)
row(
    "matrix-norm-int",
    lambda: gt.linalg.matrix_norm(gt.ones([2, 2], gt.int32), ord=2),
    DTypeError,
    "matrix_norm",
    "int32",
)
row(
    "norm-nuc-complex",
    lambda: gt.norm(gt.constant([[1j]]), "nuc", (0, 1)),
    DTypeError,
    "norm",
    "complex",
)
row("matvec-rank", lambda: gt.linalg.matvec(V3, V3), ShapeError, "matvec", "(3,)")
row("dot-sizes", lambda: gt.dot(V3, V4), ShapeError, "dot", "(3,)", "(4,)")
row("inner-sizes", lambda: gt.inner(A23, V4), ShapeError, "inner", "(2, 3)", "(4,)")
row("vecdot-sizes", lambda: gt.vecdot(V3, V4), ShapeError, "vecdot", "(3,)", "(4,)")
row("vecdot-axis", lambda: gt.vecdot(V3, V3, axis=1), ShapeError, "vecdot", "1")
row("kron-none", lambda: gt.kron(None, A23), ArgumentTypeError, "None")
row(
    "tensordot-sizes",
    lambda: gt.tensordot(A23, A45, 1),
    ShapeError,
    "tensordot",
    "(2, 3)",
    "(4, 5)",
)
row("tensordot-many", lambda: gt.tensordot(A23, A45, 3), ShapeError, "tensordot", "3")
row(
    "tensordot-negative",
    lambda: gt.tensordot(A23, A45, -1),
    ShapeError,
    "tensordot",
    "-1",
)
row(
    "tensordot-lengths",
    lambda: gt.tensordot(A23, A45, [[0, 1], [0]]),
    ShapeError,
    "tensordot",
    "0, 1",
)
row(
    "tensordot-axis",
    lambda: gt.tensordot(A23, A45, [[2], [0]]),
    ShapeError,
    "tensordot",
    "2",
)
row(
    "tensordot-str",
    lambda: gt.tensordot(A23, A45, "ij"),
    ArgumentTypeError,
    "tensordot",
    "'ij'",
)
row(
    "einsum-sizes",
    lambda: gt.einsum("ij,jk->ik", A23, A45),
    ShapeError,
    "einsum",
    "j",
    "3",
    "4",
)
row(
    "einsum-operands",
    lambda: gt.einsum("ij,jk->ik", A23),
    ArgumentError,
    "einsum",
    "2",
    "1",
)
row(
    "einsum-rank",
    lambda: gt.einsum("ijk->i", A23),
    ShapeError,
    "einsum",
    "ijk",
    "(2, 3)",
)
row("einsum-output", lambda: gt.einsum("ij->k", A23), ArgumentError, "einsum", "k")
row("einsum-twice", lambda: gt.einsum("ij->ii", A23), ArgumentError, "einsum", "i")
row("einsum-diagonal", lambda: gt.einsum("ii->i", A23), ShapeError, "einsum", "2", "3")
row(
    "einsum-arrow",
    lambda: gt.einsum("ij->i->j", A23),
    ArgumentError,
    "einsum",
    "ij->i->j",
)
row("einsum-letter", lambda: gt.einsum("i1->i", A23), ArgumentError, "einsum", "1")
row("einsum-none", lambda: gt.einsum(None, A23), ArgumentTypeError, "einsum", "None")
row("einsum-tensor", lambda: gt.einsum(A23, "ij->i"), ArgumentTypeError, "einsum")

# --- Matrices -------------------------------------------------------------------------

row("solve-square", lambda: gt.linalg.solve(A23, A23), ShapeError, "solve", "(2, 3)")
row(
    "solve-sizes",
    lambda: gt.linalg.solve(SQUARE, gt.ones([3, 1])),
    ShapeError,
    "solve",
    "(2, 2)",
    "(3, 1)",
)
row(
    "solve-singular",
    lambda: gt.linalg.solve(SINGULAR, gt.ones([2, 1])),
    LinalgError,
    "solve",
)
row(
    "solve-int",
    lambda: gt.linalg.solve([[1, 2], [3, 4]], gt.constant([[1], [2]])),
    DTypeError,
    "solve",
    "int32",
)
row(
    "triangular-sizes",
    lambda: gt.linalg.triangular_solve(SQUARE, gt.ones([3, 1])),
    ShapeError,
    "triangular_solve",
    "(2, 2)",
    "(3, 1)",
)
row(
    "triangular-singular",
    lambda: gt.linalg.triangular_solve(gt.zeros([2, 2]), gt.ones([2, 1])),
    LinalgError,
    "triangular_solve",
)
row("inv-square", lambda: gt.linalg.inv(A23), ShapeError, "inv", "(2, 3)")
row("inv-singular", lambda: gt.linalg.inv(SINGULAR), LinalgError, "inv")
row("det-square", lambda: gt.linalg.det(A23), ShapeError, "det", "(2, 3)")
row("det-vector", lambda: gt.linalg.det(V3), ShapeError, "det", "(3,)")
row(
    "slogdet-int",
    lambda: gt.linalg.slogdet(gt.eye(2, dtype=gt.int32)),
    DTypeError,
    "slogdet",
    "int32",
)
row(
    "cholesky-indefinite",
    lambda: gt.linalg.cholesky(INDEFINITE),
    LinalgError,
    "cholesky",
)
row(
    "cholesky-square", lambda: gt.linalg.cholesky(A23), ShapeError, "cholesky", "(2, 3)"
)
row("cholesky-str", lambda: gt.linalg.cholesky("matrix"), ArgumentTypeError, "'matrix'")
row(
    "cholesky-solve",
    lambda: gt.linalg.cholesky_solve(SQUARE, gt.ones([3, 1])),
    ShapeError,
    "cholesky_solve",
    "(2, 2)",
    "(3, 1)",
)
row("logdet-indefinite", lambda: gt.linalg.logdet(INDEFINITE), LinalgError, "logdet")
row("qr-vector", lambda: gt.linalg.qr(V3), ShapeError, "qr", "(3,)")
row("svd-vector", lambda: gt.linalg.svd(V3), ShapeError, "svd", "(3,)")
row(
    "svd-nan",
    lambda: gt.linalg.svd([[float("nan"), 1.0], [1.0, 1.0]]),
    LinalgError,
    "svd",
)
row("eigh-square", lambda: gt.linalg.eigh(A23), ShapeError, "eigh", "(2, 3)")
row(
    "eigvalsh-int",
    lambda: gt.linalg.eigvalsh(gt.eye(2, dtype=gt.int32)),
    DTypeError,
    "eig",
    "int32",
)
row("expm-square", lambda: gt.linalg.expm(A23), ShapeError, "expm", "(2, 3)")
row(
    "lstsq-sizes",
    lambda: gt.linalg.lstsq(A23, gt.ones([3, 1])),
    ShapeError,
    "lstsq",
    "(2, 3)",
    "(3, 1)",
)
row(
    "lstsq-regular",
    lambda: gt.linalg.lstsq(A23, gt.ones([2, 1]), -1.0),
    ArgumentError,
    "lstsq",
    "-1",
)
row("pinv-vector", lambda: gt.linalg.pinv(V3), ShapeError, "pinv", "(3,)")
row("matrix-norm", lambda: gt.linalg.matrix_norm(V3), ShapeError, "matrix_norm", "(3,)")
row(
    "matrix-norm-order",
    lambda: gt.linalg.matrix_norm(A23, ord=3),
    ArgumentError,
    "matrix_norm",
    "3",
)
row("diag-scalar", lambda: gt.linalg.diag(S), ShapeError, "diag", "()")
row("diag-offset", lambda: gt.linalg.diag(V3, k=0.5), ArgumentTypeError, "diag", "0.5")
row(
    "diag-part-vector", lambda: gt.linalg.diag_part(V3), ShapeError, "diag_part", "(3,)"
)
row(
    "set-diag",
    lambda: gt.linalg.set_diag(A23, V3),
    ShapeError,
    "set_diag",
    "(3,)",
    "(2,)",
)
row("band-part", lambda: gt.linalg.band_part(V3, 0, 0), ShapeError, "band_part", "(3,)")
row(
    "band-width",
    lambda: gt.linalg.band_part(A23, "0", 0),
    ArgumentTypeError,
    "band_part",
    "'0'",
)

# --- Convolutions and pools -----------------------------------------------------------

row(
    "conv2d-rank",
    lambda: gt.nn.conv2d(A23, FILTERS, 1, "SAME"),
    ShapeError,
    "conv2d",
    "(2, 3)",
)
row(
    "conv2d-channels",
    lambda: gt.nn.conv2d(IMAGE, gt.ones([3, 3, 2, 4]), 1, "SAME"),
    ShapeError,
    "conv2d",
    "3",
    "2",
)
row(
    "conv2d-filters",
    lambda: gt.nn.conv2d(IMAGE, gt.ones([3, 3]), 1, "SAME"),
    ShapeError,
    "conv2d",
    "(3, 3)",
)
row(
    "conv2d-padding",
    lambda: gt.nn.conv2d(IMAGE, FILTERS, 1, "FULL"),
    ArgumentError,
    "conv2d",
    "'FULL'",
)
row(
    "conv2d-padding-none",
    lambda: gt.nn.conv2d(IMAGE, FILTERS, 1, None),
    ArgumentTypeError,
    "conv2d",
    "None",
)
row(
    "conv2d-stride-zero",
    lambda: gt.nn.conv2d(IMAGE, FILTERS, 0, "SAME"),
    ArgumentError,
    "conv2d",
    "0",
)
row(
    "conv2d-stride-three",
    lambda: gt.nn.conv2d(IMAGE, FILTERS, [1, 2, 3], "SAME"),
    ArgumentError,
    "conv2d",
    "3",
)
row(
    "conv2d-stride-float",
    lambda: gt.nn.conv2d(IMAGE, FILTERS, 1.5, "SAME"),
    ArgumentTypeError,
    "conv2d",
    "1.5",
)
row(
    "conv2d-format",
    lambda: gt.nn.conv2d(IMAGE, FILTERS, 1, "SAME", "NHCW"),
    ArgumentError,
    "conv2d",
    "'NHCW'",
)
row(
    "conv2d-dilation",
    lambda: gt.nn.conv2d(IMAGE, FILTERS, 1, "SAME", dilations=-1),
    ArgumentError,
    "conv2d",
    "-1",
)
row(
    "conv2d-small",
    lambda: gt.nn.conv2d(gt.ones([1, 2, 2, 3]), FILTERS, 1, "VALID"),
    ShapeError,
    "conv2d",
    "2",
    "3",
)
row(
    "conv1d-channels",
    lambda: gt.nn.conv1d(WAVE, gt.ones([3, 2, 4]), 1, "SAME"),
    ShapeError,
    "conv1d",
    "3",
    "2",
)
row(
    "conv1d-rank",
    lambda: gt.nn.conv1d(V3, gt.ones([3, 3, 4]), 1, "SAME"),
    ShapeError,
    "conv1d",
    "(3,)",
)
row(
    "depthwise-channels",
    lambda: gt.nn.depthwise_conv2d(IMAGE, gt.ones([3, 3, 2, 1]), 1, "SAME"),
    ShapeError,
    "depthwise_conv2d",
    "3",
    "2",
)
row(
    "conv2d-transpose",
    lambda: gt.nn.conv2d_transpose(IMAGE, gt.ones([3, 3, 4, 3]), [1, 9, 9], 1),
    ShapeError,
    "conv2d_transpose",
    "9",
)
row(
    "conv2d-transpose-size",
    lambda: gt.nn.conv2d_transpose(IMAGE, gt.ones([3, 3, 4, 3]), [1, 30, 30, 4], 2),
    ShapeError,
    "conv2d_transpose",
    "30",
)
row(
    "max-pool-size",
    lambda: gt.nn.max_pool2d(IMAGE, 0, 1, "SAME"),
    ArgumentError,
    "max_pool2d",
    "0",
)
row(
    "max-pool-rank",
    lambda: gt.nn.max_pool2d(A23, 2, 2, "SAME"),
    ShapeError,
    "max_pool2d",
    "(2, 3)",
)
row(
    "max-pool-small",
    lambda: gt.nn.max_pool2d(IMAGE, 9, 1, "VALID"),
    ShapeError,
    "max_pool2d",
    "9",
)
row(
    "avg-pool-padding",
    lambda: gt.nn.avg_pool2d(IMAGE, 2, 2, "HALF"),
    ArgumentError,
    "avg_pool2d",
    "'HALF'",
)
row(
    "avg-pool-int",
    lambda: gt.nn.avg_pool1d(gt.ones([1, 4, 1], gt.int32), 2, 2, "SAME"),
    DTypeError,
    "avg_pool",
    "int32",
)
row(
    "avg-pool-str",
    lambda: gt.nn.avg_pool1d(WAVE, "2", 2, "SAME"),
    ArgumentTypeError,
    "avg_pool1d",
    "'2'",
)
row(
    "max-pool-any-rank",
    lambda: gt.nn.max_pool(V3, 2, 2, "SAME"),
    ShapeError,
    "max_pool",
    "(3,)",
)

# --- Losses and layers ----------------------------------------------------------------

row("softmax-axis", lambda: gt.nn.softmax(V3, axis=1), ShapeError, "softmax", "1")
row("softmax-int", lambda: gt.nn.softmax(I3), DTypeError, "softmax", "int32")
row("softmax-scalar", lambda: gt.nn.softmax(S), ShapeError, "softmax")
row(
    "log-softmax-str",
    lambda: gt.nn.log_softmax(V3, axis="x"),
    ArgumentTypeError,
    "log_softmax",
    "'x'",
)
row(
    "crossentropy-shapes",
    lambda: gt.nn.softmax_cross_entropy_with_logits(V3, V4),
    ShapeError,
    "softmax_cross_entropy_with_logits",
    "(3,)",
    "(4,)",
)
row(
    "crossentropy-axis",
    lambda: gt.nn.softmax_cross_entropy_with_logits(V3, V3, axis=2),
    ShapeError,
    "softmax",
    "2",
)
row(
    "sparse-out",
    lambda: gt.nn.sparse_softmax_cross_entropy_with_logits([0, 3], A23),
    IndexRangeError,
    "sparse_softmax_cross_entropy_with_logits",
    "3",
)
row(
    "sparse-floats",
    lambda: gt.nn.sparse_softmax_cross_entropy_with_logits([0.0, 1.0], A23),
    DTypeError,
    "sparse_softmax_cross_entropy_with_logits",
    "float32",
)
row(
    "sparse-shapes",
    lambda: gt.nn.sparse_softmax_cross_entropy_with_logits(I3, A23),
    ShapeError,
    "sparse_softmax_cross_entropy_with_logits",
    "(3,)",
    "(2, 3)",
)
row(
    "sigmoid-loss-shapes",
    lambda: gt.nn.sigmoid_cross_entropy_with_logits(V3, V4),
    ShapeError,
    "sigmoid_cross_entropy_with_logits",
    "(3,)",
    "(4,)",
)
row(
    "sigmoid-loss-ints",
    lambda: gt.nn.sigmoid_cross_entropy_with_logits(I3, I3),
    DTypeError,
    "sigmoid_cross_entropy",
    "int32",
)
row("relu-complex", lambda: gt.nn.relu(C3), DTypeError, "relu", "complex128")
row("relu-bool", lambda: gt.nn.relu(B3), DTypeError, "relu", "bool")
row("gelu-int", lambda: gt.nn.gelu(I3), DTypeError, "gelu", "int32")
row("leaky-shapes", lambda: gt.nn.leaky_relu(V3, V4), ShapeError, "(3,)", "(4,)")
row("elu-str", lambda: gt.nn.elu(V3, "1"), ArgumentTypeError, "'1'")
row(
    "bias-size",
    lambda: gt.nn.bias_add(A23, V4),
    ShapeError,
    "bias_add",
    "(2, 3)",
    "(4,)",
)
row("bias-rank", lambda: gt.nn.bias_add(A23, A23), ShapeError, "bias_add", "(2, 3)")
row(
    "bias-format",
    lambda: gt.nn.bias_add(A23, V3, "CN"),
    ArgumentError,
    "bias_add",
    "'CN'",
)
row(
    "batch-norm-shapes",
    lambda: gt.nn.batch_normalization(A23, V4, V4, None, None, 1e-3),
    ShapeError,
    "(2, 3)",
    "(4,)",
)
row(
    "layer-norm-gamma",
    lambda: gt.nn.layer_normalization(A23, V4),
    ShapeError,
    "layer_normalization",
    "(4,)",
)
row(
    "layer-norm-axis",
    lambda: gt.nn.layer_normalization(A23, axis=5),
    ShapeError,
    "layer_normalization",
    "5",
)
row("moments-axis", lambda: gt.nn.moments(A23, [2]), ShapeError, "moments", "2")
row("moments-int", lambda: gt.nn.moments(I3, 0), DTypeError, "moments", "int32")
row(
    "l2-normalize-axis",
    lambda: gt.nn.l2_normalize(V3, 1),
    ShapeError,
    "l2_normalize",
    "1",
)
row(
    "l2-normalize-int",
    lambda: gt.nn.l2_normalize(I3),
    DTypeError,
    "l2_normalize",
    "int32",
)
row(
    "embedding-out",
    lambda: gt.nn.embedding_lookup(A23, [2]),
    IndexRangeError,
    "embedding_lookup",
    "2",
)
row(
    "embedding-floats",
    lambda: gt.nn.embedding_lookup(A23, V3),
    DTypeError,
    "embedding_lookup",
    "float32",
)
row(
    "clip-norm-negative",
    lambda: gt.clip_by_norm(V3, -1.0),
    ArgumentError,
    "clip_by_norm",
    "-1",
)
row("clip-norm-str", lambda: gt.clip_by_norm(V3, "1"), ArgumentTypeError, "'1'")
row(
    "clip-global-tensor",
    lambda: gt.nn.clip_by_global_norm(V3, 1.0),
    ArgumentTypeError,
    "clip_by_global_norm",
    "EagerTensor",
)
row(
    "clip-global-int", lambda: gt.nn.clip_by_global_norm([I3], 1.0), DTypeError, "int32"
)
row("global-norm-str", lambda: gt.nn.global_norm(["x"]), ArgumentTypeError, "'x'")
row("swish-shapes", lambda: gt.nn.silu(V3, V4), ShapeError, "(3,)", "(4,)")
row("cube-at-double", lambda: CUBE @ D3, ShapeError, "matmul", "(2, 3, 4)", "(3,)")
