"""`vectorized_map`: one run of a function on all elements of a batch at once.

An interpreter between the user's function and the eager one: its tensors stand for one
element and hold the whole batch. Elementwise operations, folds and rearrangements run
on the batch; the few others run element by element; a function that asks a batch for a
Python value is run once for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from gtape import dispatch, nest
from gtape.batching import RULES, BatchedTensor, NeedsValue, aligned, whole
from gtape.dispatch import NO_ATTRS, Recorders, apply, services, tell
from gtape.errors import ArgumentError, ShapeError
from gtape.lowering import Fold
from gtape.ops.common import name_of, renamed
from gtape.ops.folds import map_fn
from gtape.ops.linear import broadcast_to, cast
from gtape.ops.slicing import stack
from gtape.primitive import Primitive
from gtape.sizes import is_size
from gtape.spec import TensorSpec

_FEW = 4  # elements that a trace runs one after the other, without a loop


class BatchInterpreter:
    """Runs primitives on batches through another interpreter.

    Args:
        inner: The interpreter of whole batches.
        recorders: The recorders that see what runs on whole batches.
        size: The number of elements.
    """

    on_arrays = False

    def __init__(self, inner: Any, recorders: Any, size: int) -> None:
        self._inner = inner
        self._recorders = recorders
        self._size = size

    def _inside(self) -> Any:
        return dispatch.running(self._inner, self._recorders)

    def lift(self, primitive: Primitive, operands: Sequence[Any]) -> list[Any]:
        """Return the operands as batched or whole tensors of the dtypes wanted."""
        operands = [self._operand(x) for x in operands]
        full = [x._full if type(x) is BatchedTensor else x for x in operands]
        with dispatch.running(self._inner):
            lifted = self._inner.lift(primitive, full)
        # What is cast is cast here, where the recorders of an element see it.
        return [
            new
            if not hasattr(x, "_key")
            else x
            if x.dtype == new.dtype
            else cast(x, new.dtype)
            for x, new in zip(operands, lifted, strict=True)
        ]

    def _operand(self, x: Any) -> Any:
        """Return tensors, and what holds or reads some, as tensors of this batch."""
        if isinstance(x, (list, tuple)):
            return self.convert(x) if _holds_tensor(x) else x
        if type(x) is BatchedTensor or hasattr(x, "__gtape_tensor__"):
            return self.convert(x)
        return x

    def _own(self, x: BatchedTensor) -> BatchedTensor:
        """Return an element of an outer batch as one that all elements share."""
        if x._batch is self:
            return x
        with self._inside():
            return BatchedTensor(broadcast_to(x, (self._size, *x.shape)), self, x._key)

    def run(
        self, primitive: Primitive, inputs: Sequence[Any], attrs: dict[str, Any]
    ) -> Any:
        """Return the result for all elements."""
        with self._inside():
            if not any(type(x) is BatchedTensor for x in inputs):
                return apply(primitive, *inputs, **attrs)
            out = self._batched(primitive, inputs, attrs)
        if isinstance(out, tuple):
            return tuple([BatchedTensor(o, self) for o in out])
        return BatchedTensor(out, self)

    def one(self, primitive: Primitive, x: Any, recorders: Recorders) -> Any:
        """Lift, run and tell, for one operand."""
        inputs = self.lift(primitive, (x,))
        out = self.run(primitive, inputs, {})
        return tell(recorders, primitive, inputs, out, NO_ATTRS)

    def two(self, primitive: Primitive, x: Any, y: Any, recorders: Recorders) -> Any:
        """Lift, run and tell, for two operands."""
        inputs = self.lift(primitive, (x, y))
        out = self.run(primitive, inputs, {})
        return tell(recorders, primitive, inputs, out, NO_ATTRS)

    def convert(self, value: Any, dtype: Any = None, exact: bool = False) -> Any:
        """Return anything tensor-like as a batched or whole tensor."""
        if type(value) is BatchedTensor:
            return self._own(value)
        if isinstance(value, (list, tuple)) and _holds_tensor(value):
            return stack([self.convert(v, dtype, exact) for v in value])
        if hasattr(value, "__gtape_tensor__"):
            return value.__gtape_tensor__()  # tells the recorders of an element, too
        with self._inside():
            return self._inner.convert(value, dtype, exact)

    def constant(self, array: Any) -> Any:
        """Return an array as a tensor that is the same for all elements."""
        return self._inner.constant(array)

    def for_each(self, make: Callable[[], Any]) -> Any:
        """Return tensors made for each element, as one batched tensor."""
        with self._inside():
            return BatchedTensor(stack([make() for _ in range(self._size)]), self)

    def read(self, variable: Any) -> Any:
        """Return the value of a variable, the same for all elements."""
        with self._inside():
            return variable.__gtape_tensor__()

    def replace(self, symbol: Any, out: Any) -> NoReturn:
        """Refuse: the items of a traced tensor are assigned to in one element."""
        raise NeedsValue

    def assign(self, variable: Any, value: Any) -> None:
        """Refuse, unless the value is the same for all elements."""
        if type(value) is BatchedTensor:
            raise ArgumentError(
                f"vectorized_map: the elements would each assign to {variable.name}",
                "Return the values and assign once",
            )
        with self._inside():
            self._inner.assign(variable, value)

    def wrap(self, value: Any, key: int) -> Any:
        """Return what a recorder kept as an operand again."""
        if type(value) is BatchedTensor:
            return BatchedTensor(value._full, value._batch, key)
        return self._inner.wrap(value, key)

    def _batched(self, primitive: Primitive, inputs: Sequence[Any], attrs: Any) -> Any:
        """Run on whole batches, by the kind of the primitive's loop."""
        if primitive.pointwise:
            rank = max(x.ndim for x in inputs)
            return apply(primitive, *[aligned(x, rank) for x in inputs], **attrs)
        if len(inputs) == 1 and type(primitive.lowering) is Fold and "axes" in attrs:
            axes = tuple([a + 1 for a in attrs["axes"]])
            return apply(primitive, inputs[0]._full, **{**attrs, "axes": axes})
        rule = RULES.get(primitive.name)
        if rule is not None:
            out = rule(primitive, inputs, attrs, self._size)
            if out is not None:
                return out
        return self._each(primitive, inputs, attrs)

    def _each(self, primitive: Primitive, inputs: Sequence[Any], attrs: Any) -> Any:
        """Run element by element and stack the results."""
        if _sized_by_values(primitive, inputs, attrs):
            raise NeedsValue  # each element has a shape of its own
        batched = [i for i, x in enumerate(inputs) if type(x) is BatchedTensor]

        def run(elements: Sequence[Any]) -> Any:
            row = list(inputs)
            for i, x in zip(batched, elements, strict=True):
                row[i] = x
            return apply(primitive, *row, **attrs)

        whole_batches = [inputs[i]._full for i in batched]
        if services() is not None and (is_size(self._size) or self._size > _FEW):
            return map_fn(run, whole_batches)  # a loop in the graph
        rows = [run([x[i] for x in whole_batches]) for i in range(self._size)]
        if not rows:
            raise ArgumentError(
                f"vectorized_map: {primitive.name} needs at least one element",
                "Leave out empty batches",
            )
        if primitive.multiple:
            return tuple([stack(list(column)) for column in zip(*rows, strict=True)])
        return stack(rows)


def _sized_by_values(primitive: Primitive, inputs: Sequence[Any], attrs: Any) -> bool:
    """Return whether the shape of a result depends on values."""
    specs = [TensorSpec(x.shape, x.dtype) for x in inputs]
    with dispatch.running(dispatch.ARRAYS):
        out = primitive.spec(*specs, **attrs)
    outs = out if primitive.multiple else (out,)
    return any(None in spec.shape for spec in outs)


def _holds_tensor(values: Any) -> bool:
    return any(
        hasattr(v, "_key") or hasattr(v, "__gtape_tensor__")
        for v in nest.flatten(values)
    )


def vectorized_map(fn: Callable[..., Any], elems: Any) -> Any:
    """Return the stacked results of a function for each element along the first axis.

    The function runs once, on the whole batch, wherever its operations allow; where it
    asks for Python values it is run again for each element, with its effects. Tapes and
    gradients work through it and in it.

    Args:
        fn: A function of one element: a tensor, or the nested structure of `elems`.
        elems: A tensor of rank 1 or more, or a nested structure of tensors with one
            first size.

    Returns:
        The results, stacked along a new first axis, in the structure that the function
        returns.

    Raises:
        ShapeError: If an element has no first axis, or the first sizes differ.
        ArgumentError: If there are no elements and the function cannot run on a batch.

    Example:
        >>> import gtape as gt
        >>> rows = gt.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> gt.vectorized_map(lambda row: gt.reduce_sum(row * row), rows).numpy()
        array([ 5., 25.], dtype=float32)
    """
    name_of("vectorized_map", fn)
    interpreter, recorders = dispatch.state()
    structure, leaves = _elements(interpreter, elems)
    size = leaves[0].shape[0]
    batch = BatchInterpreter(interpreter, recorders, size)
    rows = iter([BatchedTensor(leaf, batch) for leaf in leaves])
    try:
        with dispatch.running(batch, ()):
            out = dispatch.invoke(fn, nest.pack(structure, rows))
            results = [batch.convert(leaf) for leaf in nest.flatten(out)]
    except NeedsValue:
        return _one_by_one(fn, structure, leaves, size)
    return nest.pack(out, iter([renamed(whole(r, size)) for r in results]))


def _elements(interpreter: Any, elems: Any) -> tuple[Any, list[Any]]:
    structure = _as_tensors(interpreter, elems)
    leaves = nest.flatten(structure)
    if not leaves:
        raise ArgumentError(
            "vectorized_map: there are no tensors in elems", "Give at least one"
        )
    for leaf in leaves:
        if leaf.ndim == 0 or leaf.shape[0] != leaves[0].shape[0]:
            raise ShapeError(
                f"vectorized_map: shapes {[tuple(x.shape) for x in leaves]} have no "
                "common "
                "first size",
                "Give tensors of rank 1 or more with one first size",
            )
    return structure, leaves


def _as_tensors(interpreter: Any, elems: Any) -> Any:
    """Return a structure of tensors; a nested list of numbers is one tensor."""
    if isinstance(elems, Mapping):
        return {k: _as_tensors(interpreter, v) for k, v in elems.items()}
    if isinstance(elems, (list, tuple)) and (
        not elems or any(hasattr(x, "dtype") for x in nest.flatten(elems))
    ):
        children = [_as_tensors(interpreter, v) for v in elems]
        named = hasattr(elems, "_fields")
        return type(elems)(*children) if named else type(elems)(children)
    return interpreter.convert(elems)


def _one_by_one(fn: Callable[..., Any], structure: Any, leaves: Any, size: int) -> Any:
    if size == 0:
        raise ArgumentError(
            "vectorized_map: the function asks for Python values, so it needs elements",
            "Call it on at least one element",
        )
    if services() is not None:
        return map_fn(fn, structure)  # a loop in the graph
    rows = [nest.pack(structure, iter([x[i] for x in leaves])) for i in range(size)]
    outs = [dispatch.invoke(fn, row) for row in rows]
    columns = zip(*[nest.flatten(o) for o in outs], strict=True)
    return nest.pack(outs[0], iter([stack(list(c)) for c in columns]))
