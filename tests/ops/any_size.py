"""Calls of operations on operands of any size, for what the table has in fixed sizes.

Their attributes follow from the shapes of the operands, or their operands are drawn by
a function of a generator and of k, by which they are larger than the smallest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gtape as gt
from gtape.dispatch import apply
from gtape.ops import index_write
from gtape.ops.indices import index_add
from gtape.primitive import registry
from tests.ops.harness import Array, Record, bools, ints, positive, real

Grow = Callable[[np.random.Generator, int], tuple[Array, ...]]


def sized(primitive: str, call: Any, grow: Any = None, **more: Any) -> Record:
    """Return a record of operands that grow: shapes, or what draws them."""
    if callable(grow):
        more |= {"inputs": lambda rng: grow(rng, 0), "grows": grow}
    else:
        more["inputs"] = grow or (real((2, 3)),)
    return Record(primitive, call, None, **more)


def apart(rng: np.random.Generator, *shape: int) -> Array:
    """Return numbers of which no two are near each other, nor near to zero."""
    count = int(np.prod(shape))
    return (rng.permutation(count).reshape(shape) - count // 2 + 0.5) * 0.3


def regular(rng: np.random.Generator, *shape: int) -> Array:
    """Return matrices with singular values well apart."""
    out = rng.uniform(-0.3, 0.3, shape)
    n = min(shape[-2:])
    out[..., range(n), range(n)] += 1.5 * np.arange(n, 0, -1)
    return out


def definite(rng: np.random.Generator, *shape: int) -> Array:
    """Return symmetric positive definite matrices with eigenvalues well apart."""
    a = regular(rng, *shape)
    return (a + np.swapaxes(a, -1, -2)) / 2


def square(primitive: str, call: Any, **more: Any) -> Record:
    """Return a record of an operation on regular square matrices."""
    return sized(primitive, call, lambda rng, k: (regular(rng, 3 + k, 3 + k),), **more)


def definite_of(primitive: str, call: Any, **more: Any) -> Record:
    """Return a record of an operation on positive definite matrices."""
    return sized(primitive, call, lambda rng, k: (definite(rng, 3 + k, 3 + k),), **more)


def symmetric(x: Any) -> Any:
    return (x + gt.matrix_transpose(x)) / 2


def system(rng: np.random.Generator, k: int) -> tuple[Array, ...]:
    return regular(rng, 3 + k, 3 + k), rng.uniform(-1, 1, (3 + k, 2))


def definite_system(rng: np.random.Generator, k: int) -> tuple[Array, ...]:
    return definite(rng, 3 + k, 3 + k), rng.uniform(-1, 1, (3 + k, 2))


def tall_system(rng: np.random.Generator, k: int) -> tuple[Array, ...]:
    return regular(rng, 4 + k, 2 + k), rng.uniform(-1, 1, (4 + k, 2))


def rows_at(rng: np.random.Generator, k: int) -> tuple[Array, ...]:
    """Return a tensor, rows to be written to it, and where."""
    values = apart(rng, 9 + 2 * k, 2)
    return values[: 5 + k], values[5 + k :], rng.integers(0, 5, 4 + k).astype("int32")


def write(how: str) -> Any:
    return lambda x, value, i: index_write.index_write(how, x, value, [i], [0])


def scatter(name: str) -> Any:
    call = getattr(gt, name)
    return lambda x, value, i: call(x, gt.expand_dims(i, 1), value)


def unsorted(how: str) -> Any:
    call = getattr(gt.math, f"unsorted_segment_{how}")
    return lambda x, ids: call(x, ids, x.shape[0])


def segments(rng: np.random.Generator, k: int) -> tuple[Array, ...]:
    ids = np.sort(rng.integers(0, 3, 6 + k)).astype("int32")
    return apart(rng, 6 + k, 2), ids


def images(rng: np.random.Generator, k: int) -> tuple[Array, ...]:
    return (apart(rng, 1 + k, 4 + k, 5 + 2 * k, 2),)


def filtered(rng: np.random.Generator, k: int) -> tuple[Array, ...]:
    return rng.uniform(-1, 1, (2, 4 + k, 5 + k, 2)), rng.uniform(-1, 1, (2, 3, 2, 3))


def depthwise(rng: np.random.Generator, k: int) -> tuple[Array, ...]:
    return rng.uniform(-1, 1, (2, 4 + k, 5 + k, 2)), rng.uniform(-1, 1, (2, 3, 2, 2))


def transposed(rng: np.random.Generator, k: int) -> tuple[Array, ...]:
    return rng.uniform(-1, 1, (2, 3 + k, 2 + k, 3)), rng.uniform(-1, 1, (2, 3, 2, 3))


def undo(y: Any, w: Any) -> Any:
    n, rows, columns, _ = y.shape
    shape = [n, 2 * rows, 2 * columns, 2]
    return gt.nn.conv2d_transpose(y, w, shape, strides=2, padding="SAME")


FITTED = frozenset(
    """
    avg_pool_spread broadcast_to constant convolution convolution-depthwise
    convolution-groups convolution_filter convolution_input
    convolution_input-transpose det-empty dropout embed embed-empty ensure_shape
    gather_nd gather_nd-the-whole index_add index_add-empty index_add-middle
    index_add-two norm-matrices norm-rows place-0 place-1 place-2 place-3 place-4
    place-6 random_bernoulli random_gamma random_integers random_integers-to-the-end
    reduce_max reduce_min repeat reshape scatter_nd-the-whole scatter_nd-two-axes
    sort split stateless_gamma stateless_normal stateless_truncated_normal
    stateless_uniform tensor_scatter_nd_update-the-whole unstack update-2 update-3
    with_item-apart with_item-integer-and-list with_item-list-and-slice
    with_item-repeated boolean_mask boolean_mask-axis getitem-mask
    getitem-mask-of-rows getitem-nothing with_item-mask
    """.split()  # noqa: SIM905 (one name a line would be a page)
)
"""The records of the table whose attributes or kinks fit one size of the operands."""

HOLD_ARRAYS = ("boolean_mask", "getitem", "with_item")
"""Operations whose records have masks that are no operands."""

RESHAPED = {
    "flat": lambda x: gt.reshape(x, [-1]),
    "rest": lambda x: gt.reshape(x, [x.shape[1], -1]),
    "joined": lambda x: gt.reshape(x, [x.shape[0] * x.shape[1], x.shape[2]]),
    "split": lambda x: gt.reshape(gt.tile(x, [2, 1, 1]), [2, *x.shape]),
    "new axes": lambda x: x[:, None, ..., None, :],
}

KEYS: dict[str, Any] = {
    "half": lambda x: x[: x.shape[0] // 2],
    "last": lambda x: x[x.shape[0] - 1],
    "from the end": lambda x: x[-2:, ::-1],
    "between": lambda x: x[1 : x.shape[0] - 1, 0],
    "every second": lambda x: x[::2, 1::2],
    "backwards": lambda x: x[x.shape[0] - 2 :: -2],
    "too far": lambda x: x[: 2 * x.shape[0], x.shape[1] :],
    "beside a list": lambda x: x[[0, -1], x.shape[1] - 1],
    "a mask": lambda x: x[x > 0],
    "a mask of rows": lambda x: x[x[:, 0] > 0],
    "of a mask": lambda x: x[x > 0][1:],
    "first of a mask": lambda x: x[x < 0][0],
    "where": lambda x: gt.gather_nd(x, gt.where(x > 0)),
}

RECORDS = [
    *[sized("reshape", f, (real((2, 3, 2)),), name=n) for n, f in RESHAPED.items()],
    *[
        sized("select", f, lambda rng, k: (apart(rng, 4 + k, 3 + k),), name=name)
        for name, f in KEYS.items()
    ],
    # What is made with the sizes of something else.
    sized("broadcast_to", lambda x: gt.broadcast_to(x, [x.shape[1], *x.shape])),
    sized("fill", lambda x: gt.fill(x.shape, x[0, 0])),
    sized("zeros", lambda x: x + gt.zeros(x.shape, x.dtype)),
    sized("ones", lambda x: x * gt.ones([x.shape[0], 1], x.dtype)),
    sized("eye", lambda x: x * gt.eye(x.shape[0], x.shape[1], dtype=x.dtype)),
    sized("constant", lambda x: x * gt.constant(2.0, gt.float64, x.shape)),
    sized("range", lambda x: x * gt.cast(gt.range(x.shape[1]), x.dtype)),
    sized("range", lambda x: gt.range(x.shape[0] + 1, 1, -2), name="back", order=0),
    sized("linspace", lambda x: x * gt.linspace(x[0, 0], 2.0, x.shape[1])),
    sized(
        "one_hot",
        lambda i, x: gt.one_hot(i, x.shape[1]),
        (ints((4,), 0, 2), real((2, 3))),
        order=0,
    ),
    sized("size", lambda x: x * gt.cast(gt.size(x), x.dtype)),
    sized("shape", lambda x: gt.shape(x), order=0),
    sized("repeat", lambda x: gt.repeat(x, x.shape[0], axis=1)),
    sized("tile", lambda x: gt.tile(x, [x.shape[1], 1])),
    sized("split", lambda x: gt.split(x, [1, -1], axis=1)),
    sized("split", lambda x: gt.split(x, [x.shape[0] - 1, 1]), name="all but one"),
    sized("roll", lambda x: gt.roll(x, x.shape[0] - 1, 0)),
    sized("slice", lambda x: gt.slice(x, [1, 0], [-1, x.shape[1] - 1])),
    sized("pad", lambda x: gt.pad(x, [[x.shape[0], 0], [0, 1]], constant_values=1.5)),
    sized(
        "pad",
        lambda x: gt.pad(
            x, [[0, 1], [1, 1]], constant_values=gt.stop_gradient(x[0, 0])
        ),
        name="with a traced constant",
    ),
    sized("pad", lambda x: gt.pad(x, [[1, 1], [2, 0]], "REFLECT"), name="mirrored"),
    sized("reduce_std", lambda x: gt.math.reduce_std(x, 0)),
    sized(
        "unstack",
        lambda x: gt.unstack(x),
        per_size="a Python list has an entry for each row",
    ),
    # Ties and kinks lie wide apart.
    sized("sort", lambda x: gt.sort(x, 0), lambda rng, k: (apart(rng, 4 + k, 3),)),
    sized("reduce_max", lambda x: gt.reduce_max(x, 1), images),
    sized("reduce_min", lambda x: gt.reduce_min(x, [0, 3]), images),
    sized("norm", lambda x: gt.norm(x, ord=1, axis=-1), images),
    sized("norm", lambda x: gt.norm(x, ord=np.inf, axis=1), images, name="greatest"),
    sized("norm", lambda x: gt.norm(x), images, name="all"),
    # Positions.
    sized("gather_nd", gt.gather_nd, (real((3, 2)), ints((3, 1), 0, 3))),
    sized(
        "index_add",
        lambda g, i: index_add(g, [i], [0], [g.shape[0] + 2, g.shape[1]]),
        (real((3, 2)), ints((3,), 0, 5)),
    ),
    sized(
        "scatter_nd",
        lambda g, i: gt.scatter_nd(i, g, [g.shape[0] + 2, g.shape[1]]),
        (real((3, 2)), ints((3, 1), 0, 5)),
    ),
    *[sized(f"index_{how}", write(how), rows_at) for how in ("put", "max", "min")],
    sized("index_multiply", write("multiply"), rows_at, order=0),
    *[
        sized(f"tensor_scatter_nd_{how}", scatter(f"tensor_scatter_nd_{how}"), rows_at)
        for how in ("add", "sub", "update", "max", "min")
    ],
    sized(
        "writers",
        lambda among, i: index_write.writers(among, [i], [0], [5]),
        (bools((3,)), ints((3,), 0, 5)),
        dtypes=("bool",),
        order=0,
    ),
    sized(
        "searchsorted",
        lambda x, y: gt.searchsorted(gt.sort(x), y),
        (real((3,)), real((4,))),
        order=0,
    ),
    # Rows of a result by numbers.
    *[
        sized(f"segment_{how}", getattr(gt.math, f"segment_{how}"), segments)
        for how in ("sum", "mean", "prod", "max", "min")
    ],
    *[
        sized(f"unsorted_segment_{how}", unsorted(how), segments)
        for how in ("sum", "mean", "prod", "max", "min", "sqrt_n")
    ],
    sized(
        "bincount",
        lambda x, ids: gt.math.bincount(ids, weights=x[:, 0], minlength=2),
        segments,
    ),
    sized(
        "bincount",
        lambda x, ids: gt.math.bincount(ids),
        segments,
        name="counts",
        order=0,
    ),
    # Matrices.
    definite_of("cholesky", lambda x: gt.linalg.cholesky(symmetric(x))),
    definite_of("logdet", lambda x: gt.linalg.logdet(symmetric(x))),
    definite_of("eigvalsh", lambda x: gt.linalg.eigvalsh(symmetric(x))),
    definite_of("eigh", lambda x: gt.square(gt.linalg.eigh(symmetric(x))[1])),
    square("det", gt.linalg.det),
    square("slogdet", lambda x: gt.linalg.slogdet(x)[1]),
    square("inv", gt.linalg.inv),
    square("svd", lambda x: gt.linalg.svd(x)[0]),
    square("svdvals", lambda x: gt.linalg.svd(x, compute_uv=False)),
    square("matrix_norm", lambda x: gt.norm(x, ord="nuc", axis=(0, 1))),
    square("qr", lambda x: gt.linalg.qr(x)),
    sized("qr", lambda x: gt.linalg.qr(x), lambda r, k: (regular(r, 4 + k, 2 + k),)),
    sized("solve", gt.linalg.solve, system),
    sized("triangular_solve", gt.linalg.triangular_solve, system),
    sized(
        "cholesky_solve",
        lambda a, b: gt.linalg.cholesky_solve(gt.linalg.cholesky(symmetric(a)), b),
        definite_system,
    ),
    sized("lstsq", gt.linalg.lstsq, tall_system),
    sized(
        "lstsq",
        lambda a, b: gt.linalg.lstsq(a, b, 0.5),
        tall_system,
        name="regularized",
    ),
    # Windows.
    sized("max_pool", lambda x: gt.nn.max_pool2d(x, 2, 2, "SAME"), images),
    sized("max_pool", lambda x: gt.nn.max_pool2d(x, 2, 1, "VALID"), images, name="all"),
    sized("avg_pool", lambda x: gt.nn.avg_pool2d(x, 2, 2, "SAME"), images),
    sized("convolution", lambda x, w: gt.nn.conv2d(x, w, 1, "SAME"), filtered),
    sized(
        "convolution",
        lambda x, w: gt.nn.conv2d(x, w, 2, "VALID"),
        filtered,
        name="strides",
    ),
    sized(
        "depthwise_conv2d",
        lambda x, w: gt.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"),
        depthwise,
    ),
    sized("conv2d_transpose", undo, transposed),
    # Random numbers of a seed.
    sized(
        "stateless_normal",
        lambda x: gt.random.stateless_normal(x.shape, 3, x, 2.0, gt.float64),
    ),
    sized(
        "stateless_truncated_normal",
        lambda x: gt.random.stateless_truncated_normal(x.shape, 3, x, 2.0, gt.float64),
    ),
    sized(
        "stateless_uniform",
        lambda x: gt.random.stateless_uniform(x.shape, 3, -9.0, x, gt.float64),
    ),
    sized(
        "stateless_randint",
        lambda x: gt.random.stateless_randint(x.shape, 3, 0, x.shape[0]),
        order=0,
    ),
    sized(
        "stateless_gamma",
        lambda x: gt.random.stateless_gamma(x.shape, 3, x, dtype=gt.float64),
        (positive((2, 3)),),
        order=1,
    ),
    sized(
        "stateless_bernoulli",
        lambda x: gt.random.stateless_bernoulli(x.shape, 3, 0.5),
        order=0,
    ),
    sized(
        "stateless_categorical",
        lambda x: gt.random.stateless_categorical(x, x.shape[0], 3),
        order=0,
    ),
    sized("stateless_shuffle", lambda x: gt.random.stateless_shuffle(x, 3)),
    # Rules that only gradients run.
    sized(
        "place",
        lambda g: apply(
            registry()["place"],
            g,
            key=((0, g.shape[0], None), 1),
            shape=(g.shape[0] + 2, 3),
        ),
        (real((3,)),),
    ),
    sized(
        "embed",
        lambda x: apply(
            registry()["embed"],
            x,
            shape=(2 * x.shape[0], x.shape[1] + 1),
            starts=(1, 0),
            steps=(2, 1),
            fill=0.5,
        ),
    ),
]
"""Operands in float64, which grow by 0, 1 and 3."""
