"""`BatchedTensor`, and how rearrangements, indexing and products run on whole batches.

A rule takes a primitive and its operands for one element, and runs the primitive once
for all elements; where it cannot, it returns `None`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gtape.dispatch import apply
from gtape.dtypes import DType
from gtape.ops.creation import positions
from gtape.ops.indices import on_outside
from gtape.ops.linear import broadcast_to
from gtape.ops.shaping import reshape
from gtape.primitive import Primitive
from gtape.spec import TensorShape
from gtape.tensor import Tensor


class NeedsValue(Exception):
    """A function asked for the Python value of an element of a batch."""


class BatchedTensor(Tensor):
    """A tensor that stands for one element of a batch.

    Args:
        full: The whole batch, elements along the first axis.
        batch: The interpreter whose batch it is: where maps nest, an element of an
            outer one is the same for all elements of an inner one.
        key: The number under which recorders follow the value.
    """

    __slots__ = ("_batch", "_full", "_key")

    nbytes = 0  # recorders keep it whole

    def __init__(self, full: Any, batch: Any, key: int = -1) -> None:
        self._full = full
        self._batch = batch
        self._key = key

    @property
    def _array(self) -> BatchedTensor:
        return self

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes of one element."""
        return TensorShape(self._full.shape[1:])

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        dtype: DType = self._full.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes of one element."""
        return int(self._full.ndim) - 1

    def _value(self, *args: Any, **kwargs: Any) -> Any:
        raise NeedsValue

    numpy = __bool__ = __int__ = __float__ = __complex__ = __index__ = _value
    __array__ = __array_ufunc__ = __array_function__ = __format__ = _value
    __setitem__ = _value

    def __repr__(self) -> str:
        text = f"shape={self.shape}, dtype={self.dtype}, one element of a batch"
        return f"<gt.Tensor: {text}>"


def aligned(x: Any, rank: int) -> Any:
    """Return a batch with axes of size 1, so that elements of any rank broadcast."""
    if type(x) is not BatchedTensor:
        return x
    shape = x._full.shape
    missing = rank - (len(shape) - 1)
    return (
        reshape(x._full, (shape[0], *[1] * missing, *shape[1:])) if missing else x._full
    )


def whole(x: Any, size: int) -> Any:
    """Return a batch; a tensor that is the same for all elements is repeated."""
    if type(x) is BatchedTensor:
        return x._full
    return broadcast_to(x, (size, *x.shape))


def _reshape(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    return apply(primitive, inputs[0]._full, shape=(size, *attrs["shape"]))


def _transpose(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    perm = (0, *[p + 1 for p in attrs["perm"]])
    return apply(primitive, inputs[0]._full, perm=perm)


def _broadcast(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    shape = attrs["shape"]
    return apply(primitive, aligned(inputs[0], len(shape)), shape=(size, *shape))


def _slice(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    starts, sizes = (0, *attrs["starts"]), (size, *attrs["sizes"])
    steps = (1, *attrs["steps"])
    return apply(primitive, inputs[0]._full, starts=starts, sizes=sizes, steps=steps)


def _embed(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    return apply(
        primitive,
        inputs[0]._full,
        shape=(size, *attrs["shape"]),
        starts=(0, *attrs["starts"]),
        steps=(1, *attrs["steps"]),
        fill=attrs["fill"],
    )


def _concat(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    return apply(primitive, *[whole(x, size) for x in inputs], axis=attrs["axis"] + 1)


def _roll(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    axes = tuple([a + 1 for a in attrs["axes"]])
    return apply(primitive, inputs[0]._full, shifts=attrs["shifts"], axes=axes)


def _matmul(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    rank = max(x.ndim for x in inputs)
    return apply(primitive, *[aligned(x, rank) for x in inputs], **attrs)


_FULL = (None, None, None)


def _select(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    attrs = dict(attrs, key=(_FULL, *attrs["key"]))
    if "shape" in attrs:
        attrs["shape"] = (size, *attrs["shape"])
    return apply(primitive, inputs[0]._full, **attrs)


def _update(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    x, value = inputs
    key = attrs["key"]
    used = [e for e in key if e is not None]
    kept = [e for e in key if e is None or type(e) is tuple]
    rank = len(kept) + x.ndim - len(used)  # of what the key selects from one element
    return apply(primitive, whole(x, size), aligned(value, rank), key=(_FULL, *key))


def _index(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    x, *indices = inputs
    return _at_indices(primitive, [x], indices, attrs, size)


def _index_write(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    x, value, *indices = inputs
    return _at_indices(primitive, [x, value], indices, attrs, size)


def _at_indices(
    primitive: Primitive, tensors: Any, indices: Any, attrs: Any, size: int
) -> Any:
    own = attrs["axes"]
    axes = tuple([a + 1 for a in own])
    each = any(type(i) is BatchedTensor for i in indices)
    if each:
        if axes[0] > 1:
            return None
        # Each element of the batch has its own indices: number the elements.
        rank = max(i.ndim for i in indices)
        rows = positions(size, 0, 1 + rank)
        indices, axes = [rows, *[aligned(i, rank) for i in indices]], (0, *axes)
    attrs = dict(attrs, axes=axes)
    if "shape" in attrs:
        attrs["shape"] = (size, *attrs["shape"])
    with on_outside(lambda error: error.renamed("index", own, int(each))):
        return apply(primitive, *[whole(x, size) for x in tensors], *indices, **attrs)


def _along(primitive: Primitive, inputs: Any, attrs: Any, size: int) -> Any:
    if "axis" in attrs:  # otherwise it is the last one
        attrs = dict(attrs, axis=attrs["axis"] + 1)
    return apply(primitive, inputs[0]._full, **attrs)


RULES: dict[str, Callable[[Primitive, Any, Any, int], Any]] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast_to": _broadcast,
    "slice": _slice,
    "embed": _embed,
    "concat": _concat,
    "roll": _roll,
    "matmul": _matmul,
    "select": _select,
    "place": _select,
    "update": _update,
    "index": _index,
    "index_add": _index,
    "writers": _index,
    "index_put": _index_write,
    "index_max": _index_write,
    "index_min": _index_write,
    "index_multiply": _index_write,
    "sort": _along,
    "argsort": _along,
    "top_k_indices": _along,
}
