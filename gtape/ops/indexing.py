"""NumPy indexing, and functional assignment to indices, both with gradients.

Integers, slices and new axes are one primitive, `select`, and are written by another,
`update`; integer arrays and masks go on to `index` and `index_put`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.errors import ShapeError
from gtape.lowering import Reindex, View
from gtape.ops.common import Tensor, TensorLike, convert, numpy_dtype_of
from gtape.ops.index_write import assigned, fitting, index_write, of_dtype
from gtape.ops.indices import index, on_outside
from gtape.ops.keys import Key, Plan, basic_key, extents, native, take_apart
from gtape.ops.linear import broadcast_to
from gtape.ops.shaping import transpose
from gtape.primitive import Primitive
from gtape.spec import TensorSpec, broadcast_shapes

# --- Primitives -----------------------------------------------------------------------


def _select_views(x: TensorSpec, *, key: Key) -> tuple[View, ...]:
    axes, _ = extents("index", key, x.shape)
    return (View(tuple([axis.read() for axis in axes])),)


_select = Primitive(
    "select",
    forward=lambda x, *, key: x[native(key)],
    spec=lambda x, *, key: x.with_shape(extents("index", key, x.shape)[1]),
    vjp=lambda g, _out, _x, *, key: (apply(_place, g, key=key, shape=tuple(_x.shape)),),
    lowering=Reindex(_select_views),
)


def _back_view(value: TensorSpec, key: Key, shape: Sequence[Any], operand: int) -> View:
    """Return where in a value that stands at a key an element of the whole lies."""
    axes, selection = extents("index", key, shape)
    index, valid = ["0"] * len(selection), "True"
    for i, axis in enumerate(axes):
        valid = f"{valid} and {axis.taken(f'i{i}')}"
        if axis.out >= 0:
            index[axis.out] = axis.back(f"i{i}")
    index = index[len(selection) - value.rank :]
    index = ["0" if d == 1 else i for d, i in zip(value.shape, index, strict=True)]
    return View(tuple(index), operand=operand, valid=valid)


def _place_forward(g: Any, *, key: Key, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, g.dtype)
    out[native(key)] = g
    return out if shape else out[()]


_place: Primitive = Primitive(
    "place",
    forward=_place_forward,
    spec=lambda g, *, key, shape: g.with_shape(shape),
    vjp=lambda g, _out, _g, *, key, shape: (apply(_select, g, key=key),),
    lowering=Reindex(lambda g, *, key, shape: (_back_view(g, key, shape, 0),)),
)


def _update_forward(x: Any, value: Any, *, key: Key) -> Any:
    out = np.array(x)
    place = native(key)
    if value.ndim > out[place].ndim:  # NumPy would take it if the first sizes are 1
        raise ValueError
    out[place] = value
    return out if out.ndim else out[()]


def _update_spec(x: TensorSpec, value: TensorSpec, *, key: Key) -> TensorSpec:
    selection = extents("assign", key, x.shape)[1]
    _check_broadcasts(value.shape, selection)
    return x


def _check_broadcasts(shape: Sequence[Any], selection: tuple[Any, ...]) -> None:
    if broadcast_shapes("assign", shape, selection) != selection:
        raise ShapeError(
            f"assign: a value of shape {tuple(shape)} does not broadcast to the "
            f"selection of shape {selection}",
            "Give a value of the selection's shape, or one that broadcasts to it",
        )


def _update_views(x: TensorSpec, value: TensorSpec, *, key: Key) -> tuple[View, ...]:
    whole = tuple([f"i{axis}" for axis in range(x.rank)])
    return _back_view(value, key, x.shape, 1), View(whole)


_update: Primitive = Primitive(
    "update",
    forward=_update_forward,
    spec=_update_spec,
    vjp=lambda g, _out, _x, _value, *, key: (
        lambda: apply(_update, g, numpy_dtype_of(g).type(0), key=key),
        lambda: apply(_select, g, key=key),  # the tape sums it to the value's shape
    ),
    lowering=Reindex(_update_views),
    operands=lambda _name, kinds: assigned("assign", kinds),
)


# --- Reading and writing --------------------------------------------------------------


def getitem(x: TensorLike, key: Any) -> Tensor:
    """Return x[key] as NumPy does, for every kind of index.

    Args:
        x: A tensor.
        key: Integers, slices, `...`, `None`, integer arrays, bool masks, or a tuple of
            these.

    Raises:
        IndexRangeError: If an index is out of range, naming axis, value and size.

    Example:
        >>> import gtape as gt
        >>> gt.constant([1, 2, 3])[::-1].numpy()
        array([3, 2, 1], dtype=int32)
    """
    basic = basic_key(key)
    if basic is not None:
        return apply(_select, x, key=basic)
    x = convert(x)
    plan = take_apart("index", key, x.shape)
    if plan.key or not plan.axes:
        x = apply(_select, x, key=plan.key)
    if not plan.axes:
        return x
    axes = plan.axes
    if not plan.adjacent:
        x, axes = transpose(x, plan.order), tuple(range(len(axes)))
    sources = plan.sources
    with on_outside(lambda error: error.renamed("index", sources)):
        return index(x, plan.arrays, axes)


def with_item(x: TensorLike, key: Any, value: TensorLike) -> Tensor:
    """Return x with x[key] = value, as a new tensor.

    Where an index is repeated the last value stays, and only that one has a gradient.

    Args:
        x: A tensor.
        key: Anything that indexes it.
        value: What to put there; it is broadcast. A NumPy array takes the dtype of x if
            it is of the same kind.

    Raises:
        ShapeError: If the value does not broadcast to the place.
        IndexRangeError: If an index is out of range.
        DTypeError: If the value does not fit the dtype of x.
    """
    x = convert(x)
    value = of_dtype(value, numpy_dtype_of(x))
    basic = basic_key(key)
    if basic is None:
        plan = take_apart("assign", key, x.shape)
        if plan.axes:
            return _with_items(x, plan, fitting("assign", x, value))
        basic = plan.key
    return apply(_update, x, value, key=basic)


def _with_items(x: Tensor, plan: Plan, value: Tensor) -> Tensor:
    part, axes = x, plan.axes
    if plan.key:
        part = apply(_select, x, key=plan.key)
    if not plan.adjacent:
        part, axes = transpose(part, plan.order), tuple(range(len(axes)))
    block = broadcast_shapes("assign", *[i.shape for i in plan.arrays])
    selection = (*part.shape[: axes[0]], *block, *part.shape[axes[-1] + 1 :])
    _check_broadcasts(value.shape, selection)
    if value.shape != selection:
        value = broadcast_to(value, selection)
    sources = plan.sources
    with on_outside(lambda error: error.renamed("assign", sources)):
        part = index_write("put", part, value, plan.arrays, axes)
    if not plan.adjacent:
        order = plan.order
        part = transpose(part, sorted(range(plan.rank), key=order.__getitem__))
    return apply(_update, x, part, key=plan.key) if plan.key else part
