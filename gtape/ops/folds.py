"""Folds as functions: `scan`, `map_fn`, `foldl`, `foldr`, over the rows of tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gtape import dispatch, nest
from gtape.dispatch import services
from gtape.dtypes import as_dtype
from gtape.errors import ArgumentError, DTypeError, ShapeError
from gtape.ops.carry import Carry, as_result, places
from gtape.ops.common import Tensor, convert, name_of, require_flag
from gtape.ops.creation import zeros
from gtape.ops.indexing import getitem
from gtape.ops.shaping import expand_dims
from gtape.ops.slicing import concat, stack
from gtape.spec import TensorSpec


class Rows:
    """Tensors of one first size, in a nested structure, whose rows are the items.

    Args:
        name: The operation, as messages say it.
        elems: The structure; a nested list of numbers is one tensor.

    Raises:
        ShapeError: If one has no first axis, or the first sizes differ.
    """

    def __init__(self, name: str, elems: Any) -> None:
        self.structure = _as_tensors(elems)
        self.leaves = nest.flatten(self.structure)
        if not self.leaves:
            raise ArgumentError(f"{name}: there are no tensors in elems", "Give one")
        for leaf in self.leaves:
            if leaf.ndim == 0 or leaf.shape[0] != self.leaves[0].shape[0]:
                raise ShapeError(
                    f"{name}: elems of shapes {[tuple(x.shape) for x in self.leaves]} "
                    "have no common first size",
                    "Give tensors of rank 1 or more with one first size",
                )
        self.size = self.leaves[0].shape[0]

    def at(self, i: Any) -> Any:
        """Return the item at a position, an int or a traced integer."""
        return nest.pack(self.structure, iter([getitem(x, i) for x in self.leaves]))


def _as_tensors(elems: Any) -> Any:
    """Return a structure of tensors."""
    if isinstance(elems, Mapping):
        return {k: _as_tensors(v) for k, v in elems.items()}
    if isinstance(elems, (list, tuple)) and (
        not elems or any(hasattr(x, "dtype") for x in nest.flatten(elems))
    ):
        children = [_as_tensors(v) for v in elems]
        named = hasattr(elems, "_fields")
        return type(elems)(*children) if named else type(elems)(children)
    return convert(elems)


Trip = Callable[[Any], "list[Tensor]"]


def _each(
    rows: Rows, trip: Trip, carry: Carry | None, reverse: bool, skip: int
) -> list[Any]:
    """Call a function for each position, and return its results, stacked.

    Args:
        rows: What is run over.
        trip: A position -> the tensors that are stacked.
        carry: What the function changes.
        reverse: Whether it begins with the last position; results stay in place.
        skip: How many positions are left out: the first, or in reverse the last.

    Returns:
        The stacked results; an empty list if there was no trip.
    """
    first = 0 if reverse else skip
    traced = services()
    if traced is not None:
        stacked: list[Any] = traced.stacked(
            rows.size - skip, lambda i: trip(i + first if first else i), carry, reverse
        )
        return stacked
    positions = range(first, first + rows.size - skip)
    found = [trip(i) for i in (reversed(positions) if reverse else positions)]
    if reverse:
        found.reverse()
    return [stack(list(column)) for column in zip(*found, strict=True)]


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    reverse: bool = False,
) -> Any:
    """Return all that a function makes, item by item, of what it made before.

    Args:
        fn: (what it returned before, an item) -> the same structure, dtypes and shapes.
        elems: A tensor, or a nested structure of tensors of one first size, whose rows
            are the items.
        initializer: What the first call gets; by default the first item, which then is
            the first result, too.
        reverse: Whether to begin with the last item. Every result stands in the place
            of its item.

    Returns:
        The results, stacked along a new first axis.

    Raises:
        ArgumentError: If there is neither an item nor an initializer, or the function
            returns another structure.
        DTypeError: If a dtype changes.
        ShapeError: If a shape changes.

    Example:
        >>> import gtape as gt
        >>> gt.scan(lambda total, x: total + x, gt.constant([1.0, 2.0, 3.0])).numpy()
        array([1., 3., 6.], dtype=float32)
    """
    name_of("scan: fn", fn)
    reverse = require_flag("scan", "reverse", reverse)
    rows = Rows("scan", elems)
    carry, skip = _started("scan", rows, initializer, reverse)
    entry = carry.get()

    def trip(i: Any) -> list[Tensor]:
        carry.update(dispatch.invoke(fn, carry.value(), rows.at(i)), "fn")
        return list(carry.get())

    found = _each(rows, trip, carry, reverse, skip)
    if not found:
        found = [zeros((0, *x.shape), x.dtype) for x in entry]
    if skip:
        heads = [expand_dims(x, 0) for x in entry]
        parts = zip(*((found, heads) if reverse else (heads, found)), strict=True)
        found = [concat(pair, 0) for pair in parts]
    return nest.pack(carry.structure, iter(found))


def _started(
    name: str, rows: Rows, initializer: Any, reverse: bool
) -> tuple[Carry, int]:
    """Return the carry at the start, and how many items it has used up."""
    if initializer is not None:
        return Carry(name, "initializer", initializer, fixed=True), 0
    if rows.size == 0:
        raise ArgumentError(
            f"{name}: there are no items and no initializer", "Give an initializer"
        )
    first = rows.at(rows.size - 1 if reverse else 0)
    return Carry(name, "the first item", first, fixed=True), 1


def foldl(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None) -> Any:
    """Return what a function makes of items from the first to the last.

    Args:
        fn: (what it returned before, an item) -> the same structure, dtypes and shapes.
        elems: A tensor, or a nested structure of tensors of one first size, whose rows
            are the items.
        initializer: What the first call gets; by default the first item.

    Raises:
        ArgumentError: If there is neither an item nor an initializer, or the function
            returns another structure.
        DTypeError: If a dtype changes.
        ShapeError: If a shape changes.

    Example:
        >>> import gtape as gt
        >>> float(gt.foldl(lambda a, x: 10.0 * a + x, gt.constant([1.0, 2.0, 3.0])))
        123.0
    """
    return _folded("foldl", fn, elems, initializer, False)


def foldr(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None) -> Any:
    """Return what a function makes of items from the last to the first.

    Args:
        fn: (what it returned before, an item) -> the same structure, dtypes and shapes.
        elems: A tensor, or a nested structure of tensors of one first size, whose rows
            are the items.
        initializer: What the first call gets; by default the last item.

    Raises:
        ArgumentError: If there is neither an item nor an initializer, or the function
            returns another structure.
        DTypeError: If a dtype changes.
        ShapeError: If a shape changes.

    Example:
        >>> import gtape as gt
        >>> float(gt.foldr(lambda a, x: 10.0 * a + x, gt.constant([1.0, 2.0, 3.0])))
        321.0
    """
    return _folded("foldr", fn, elems, initializer, True)


def _folded(name: str, fn: Any, elems: Any, initializer: Any, reverse: bool) -> Any:
    name_of(f"{name}: fn", fn)
    rows = Rows(name, elems)
    carry, skip = _started(name, rows, initializer, reverse)

    def trip(i: Any) -> list[Tensor]:
        carry.update(dispatch.invoke(fn, carry.value(), rows.at(i)), "fn")
        return []

    _each(rows, trip, carry, reverse, skip)
    return carry.value()


def map_fn(
    fn: Callable[[Any], Any], elems: Any, fn_output_signature: Any = None
) -> Any:
    """Return what a function makes of each item, stacked along a new first axis.

    `gt.vectorized_map` does the same for all items at once, and is faster where it
    can.

    Args:
        fn: A function of an item; all its results have the same structure, dtypes and
            shapes.
        elems: A tensor, or a nested structure of tensors of one first size, whose rows
            are the items.
        fn_output_signature: What the function returns: dtypes, or `TensorSpec`s, in its
            structure. Eagerly it is needed where there are no items.

    Raises:
        ArgumentError: If the structures of results differ, or there are no items and no
            signature.
        DTypeError: If dtypes differ.
        ShapeError: If shapes differ.

    Example:
        >>> import gtape as gt
        >>> gt.map_fn(lambda x: x * x, gt.constant([1.0, 2.0, 3.0])).numpy()
        array([1., 4., 9.], dtype=float32)
    """
    name_of("map_fn: fn", fn)
    rows = Rows("map_fn", elems)
    results: list[Carry] = []

    def trip(i: Any) -> list[Tensor]:
        result = dispatch.invoke(fn, rows.at(i))
        if not results or services() is not None:
            # A trace runs the function once for all items, or again from the start.
            results[:] = [_checked_results(result, fn_output_signature)]
        else:
            results[0].update(result, "fn")
        return list(results[0].get())

    found = _each(rows, trip, None, False, 0)
    if not results:
        return _empty(fn_output_signature)
    return nest.pack(results[0].structure, iter(found))


def _checked_results(result: Any, signature: Any) -> Carry:
    """Return the results for the first item, as what those for others must be like.

    Raises:
        ArgumentError: If they have another structure than the signature.
        DTypeError: If a dtype is not that of the signature.
        ShapeError: If a shape is not that of the signature.
    """
    leaves = [as_result(x, None, "map_fn: fn") for x in nest.flatten(result)]
    if signature is not None:
        specs = nest.flatten_like(result, signature, "map_fn: fn_output_signature")
        labels = places(result, "the result")
        for i, (label, spec) in enumerate(zip(labels, specs, strict=True)):
            leaves[i] = _fitting(label, leaves[i], spec)
    packed = nest.pack(result, iter(leaves))
    return Carry("map_fn", "the result", packed, fixed=True)


def _fitting(label: str, leaf: Tensor, spec: Any) -> Tensor:
    known = isinstance(spec, TensorSpec)
    dtype = spec.dtype if known else as_dtype(spec)
    if leaf.dtype != dtype:
        raise DTypeError(
            f"map_fn: {label} is {leaf.dtype}, and {dtype} in fn_output_signature",
            "Cast it with gt.cast",
        )
    if known and not spec.shape.is_compatible_with(leaf.shape):
        raise ShapeError(
            f"map_fn: {label} has shape {tuple(leaf.shape)}, and {tuple(spec.shape)} "
            "in fn_output_signature",
            "Write None for sizes that may differ",
        )
    return leaf


def _empty(signature: Any) -> Any:
    """Return the results for no items."""
    leaves = nest.flatten(signature)
    known = [isinstance(spec, TensorSpec) for spec in leaves]
    if not all(known) or any(None in spec.shape for spec in leaves):
        raise ArgumentError(
            "map_fn: there are no items, so nobody knows what fn would return",
            "Give fn_output_signature: a TensorSpec for each result",
        )
    rows = [zeros((0, *spec.shape), spec.dtype) for spec in leaves]
    return nest.pack(signature, iter(rows))


__all__ = ["foldl", "foldr", "map_fn", "scan"]
