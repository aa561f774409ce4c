"""Targets, sources and seeds of a gradient; and jacobians, by passes on batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape import dispatch, nest
from gtape.backprop import pull_back
from gtape.batching import BatchedTensor, NeedsValue, whole
from gtape.dispatch import services
from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.eager import EagerTensor
from gtape.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from gtape.ops.creation import eye
from gtape.ops.folds import map_fn
from gtape.ops.linear import broadcast_to
from gtape.ops.shaping import reshape, swapaxes
from gtape.ops.slicing import concat, stack
from gtape.record import SCALAR_KINDS, Record
from gtape.sizes import is_size
from gtape.spec import broadcast_shapes
from gtape.tensor import Tensor
from gtape.variable import Variable
from gtape.vectorize import BatchInterpreter


def tensors_of(operation: str, name: str, structure: Any) -> Sequence[Any]:
    """Return the leaves of targets or sources.

    Raises:
        ArgumentTypeError: If a leaf is neither a tensor nor a variable, naming its
            position.
    """
    kind = type(structure)
    if kind is EagerTensor or kind is Variable:
        return [structure]
    if kind is list or kind is tuple:
        for leaf in structure:
            if type(leaf) is not EagerTensor and type(leaf) is not Variable:
                break
        else:
            return structure  # type: ignore[no-any-return]
    leaves = nest.flatten(structure)
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, (Tensor, Variable)):
            continue
        where = f"{name}[{i}]" if nest.is_nested(structure) else name
        hint = "Make it a tensor or variable before the computation"
        if leaf is None:
            hint = (
                "Did the function that made it return nothing, or was a gradient None?"
            )
        raise ArgumentTypeError(
            f"{operation}: {where} is {leaf!r} of type {type(leaf).__name__}, not a "
            "tensor or "
            "variable",
            hint,
        )
    return leaves


def check_unconnected(name: str, word: Any) -> None:
    """Require a word that says what stands for a gradient that does not exist.

    Raises:
        ArgumentError: If it is another one.
    """
    if word not in ("none", "zero", "error"):
        raise ArgumentError(
            f"{name}: unknown value for unconnected_gradients: {word!r}",
            'Use "none", "zero" or "error"',
        )


def single(name: str, argument: str, value: Any) -> Any:
    """Return an argument that must be one tensor or variable.

    Raises:
        ArgumentTypeError: If it is something else.
    """
    if nest.is_nested(value):
        raise ArgumentTypeError(
            f"{name}: the {argument} must be one tensor, got a {type(value).__name__}",
            "Call it for each of them",
        )
    return tensors_of(name, argument, value)[0]


def seeded(
    known: set[int], targets: Sequence[Any], structure: Any, given: Any
) -> dict[int, Any]:
    """Return the cotangents of the targets that a tape knows, by key.

    A target that stands twice gets the sum; a variable is its own gradient even unread.
    """
    if len(targets) == 1 and given is None:  # by far the most frequent case
        [leaf] = targets
        if leaf._key in known and differentiable(leaf):
            return {leaf._key: ones_for(leaf)}
    cotangents: dict[int, Any] = {}
    seeds = seeds_for(targets, structure, given)
    for leaf, seed in zip(targets, seeds, strict=True):
        key = leaf._key
        if (key in known or type(leaf) is Variable) and differentiable(leaf):
            before = cotangents.get(key)
            cotangents[key] = seed if before is None else before + seed
    return cotangents


def seeds_for(targets: Sequence[Any], structure: Any, given: Any) -> list[Any]:
    """Return a cotangent for each target: ones, or what the user gives.

    Raises:
        ArgumentError: If what is given has another structure than the targets.
        ShapeError: If a cotangent does not broadcast to its target.
        DTypeError: If a cotangent has another dtype than its target.
    """
    if not targets:
        raise ArgumentError(
            f"gradient: there is no tensor in the target, {structure!r}",
            "Give at least one",
        )
    if given is None:
        return [ones_for(t) for t in targets]
    entries = nest.flatten_like(structure, given, "output_gradients")
    return [
        ones_for(t) if e is None else _seed(t, e)
        for t, e in zip(targets, entries, strict=True)
    ]


_ONES = {kind: kind(1) for kind in SCALAR_KINDS}


def ones_for(target: Any) -> Any:
    """Return a tensor of ones like a target."""
    array = value_of(target)
    one = _ONES.get(type(array))
    if one is not None:
        return EagerTensor(one)
    return full_like(target, array.shape, 1)


def full_like(value: Any, shape: Sequence[Any], number: int) -> Any:
    """Return a tensor of a shape and of a value's dtype, full of a number."""
    interpreter = dispatch.interpreter()
    dtype = as_numpy_dtype(value.dtype)
    if interpreter.on_arrays:
        return EagerTensor(np.full(tuple(shape), number, dtype)[()])
    one = interpreter.constant(dtype.type(number))
    return broadcast_to(one, shape) if len(shape) else one


def value_of(leaf: Any) -> Any:
    """Return the array (or a symbol's value) of a tensor or variable, unread."""
    return leaf._tensor._array if type(leaf) is Variable else leaf._array


def differentiable(leaf: Any) -> bool:
    """Return whether a tensor or variable has a dtype through which gradients flow."""
    value = value_of(leaf)
    return type(value) in SCALAR_KINDS or value.dtype.kind in "fcV"


def _seed(target: Any, given: Any) -> Any:
    seed = dispatch.interpreter().convert(given, target.dtype.dtype)
    if seed.dtype != target.dtype:
        raise DTypeError(
            f"output_gradients: an entry of {seed.dtype} for a target of "
            f"{target.dtype}",
            "Cast it first",
        )
    shape = tuple(target.shape)
    if seed.shape == shape:
        return seed
    if broadcast_shapes("output_gradients", seed.shape, shape) != shape:
        raise ShapeError(
            f"output_gradients: an entry of shape {tuple(seed.shape)} for a target of "
            "shape "
            f"{shape}",
            "Give it the target's shape, or one that broadcasts to it",
        )
    return broadcast_to(seed, shape)


def own(c: Any) -> Any:
    """Return a cotangent as a tensor object that nobody else holds.

    Assigning to an item of one gradient must not show in another.
    """
    if isinstance(c, (np.generic, np.ndarray)):
        return EagerTensor(c, dispatch.UNFOLLOWED)
    return EagerTensor(c._array, c._key) if type(c) is EagerTensor else c


_FEW_ROWS = 4  # so many passes on bare arrays are faster than one on a batch
_ROWS_AT_ONCE = 512  # bounds the memory of a pass on a batch


def _pull_rows(
    record: Record, target: Any, sources: Sequence[Any], seeds: Any
) -> list[Any]:
    """Return for each source the stacked cotangents of all seeds, or `None`."""
    wanted = {s._key for s in sources if s._key in record.known}
    blocks: list[list[Any]] = [[] for _ in sources]
    count = seeds.shape[0]
    starts = (0,) if is_size(count) else range(0, count, _ROWS_AT_ONCE)
    for start in starts:
        one = is_size(count) or count <= _ROWS_AT_ONCE
        block = seeds if one else seeds[start : start + _ROWS_AT_ONCE]
        found = _pull_block(record, target, sources, block, wanted)
        for rows, new in zip(blocks, found, strict=True):
            rows.append(new)
    return [
        None if rows[0] is None or not differentiable(s) else _joined(rows)
        for rows, s in zip(blocks, sources, strict=True)
    ]


def _joined(blocks: list[Any]) -> Any:
    return blocks[0] if len(blocks) == 1 else concat(blocks, axis=0)


def _pull_block(
    record: Record, target: Any, sources: Sequence[Any], seeds: Any, wanted: set[int]
) -> list[Any]:
    """Pull a block of seeds back: one pass on the batch, or one on each."""
    count = seeds.shape[0]
    interpreter, recorders = dispatch.state()
    if is_size(count) or count > _FEW_ROWS:
        batch = BatchInterpreter(interpreter, recorders, count)
        seed = BatchedTensor(_as_tensor(seeds), batch)
        cotangents: dict[int, Any] = {target._key: seed}
        try:
            with dispatch.running(batch, ()):
                pull_back(record, (cotangents,), wanted)
        except NeedsValue:
            # A rule of the user's or a loop: one pass for each seed.
            if services() is not None:
                return _pull_in_a_loop(record, target, sources, seeds, wanted)
        else:
            found = [cotangents.get(s._key) for s in sources]
            return [
                None if c is None else whole(batch.convert(c), count) for c in found
            ]
    passes = [{target._key: _as_tensor(seeds[i])} for i in range(count)]
    pull_back(record, passes, wanted)
    out: list[Any] = []
    for source in sources:
        rows = [own(c) for p in passes if (c := p.get(source._key)) is not None]
        out.append(stack(rows) if rows else None)
    return out


def _as_tensor(seeds: Any) -> Any:
    """Return seeds, which are an array where their number is known, as a tensor."""
    if isinstance(seeds, (np.ndarray, np.generic)):
        return dispatch.interpreter().constant(seeds)
    return seeds


def _pull_in_a_loop(
    record: Record, target: Any, sources: Sequence[Any], seeds: Any, wanted: set[int]
) -> list[Any]:
    """Pull seeds back one by one, in a loop of the graph that is being traced."""
    reached: list[int] = []

    def pull(seed: Any) -> list[Any]:
        cotangents = {target._key: seed}
        pull_back(record, (cotangents,), wanted)
        found = [cotangents.get(s._key) for s in sources]
        reached[:] = [i for i, c in enumerate(found) if c is not None]
        return [own(c) for c in found if c is not None]

    rows = dict(zip(reached, map_fn(pull, _as_tensor(seeds)), strict=True))
    return [rows.get(i) for i in range(len(sources))]


def _identity_rows(size: int, dtype: NumpyDType, shape: Sequence[int]) -> Any:
    """Return the rows of an identity matrix, each in a shape."""
    if is_size(size):
        return reshape(eye(size, dtype=dtype), (size, *shape))
    return np.eye(size, dtype=dtype).reshape(size, *shape)


def jacobians(record: Record, target: Any, sources: Sequence[Any]) -> list[Any]:
    """Return the jacobian of a target by each source, `None` where unconnected."""
    shape, dtype = tuple(target.shape), target.dtype.dtype
    size = math.prod(shape)
    if target._key not in record.known or not differentiable(target):
        return [None] * len(sources)
    # A target without elements still says by one pass what it depends on.
    basis = _identity_rows(size, dtype, shape) if size else np.zeros((1, *shape), dtype)
    out: list[Any] = []
    rows = _pull_rows(record, target, sources, basis)
    for source, row in zip(sources, rows, strict=True):
        full = (*shape, *source.shape)
        if row is None:
            out.append(None)
        elif size == 0:
            out.append(full_like(source, full, 0))
        else:
            out.append(own(reshape(row, full)))
    return out


def check_batch(target: Any, source: Any) -> None:
    """Require two tensors with a common first axis and rank 2 or more.

    Raises:
        ShapeError: If they do not have one.
    """
    for x in (target, source):
        if x.ndim < 2:
            raise ShapeError(
                f"batch_jacobian: shape {tuple(x.shape)} must have rank at least 2",
                "The first axis counts the rows",
            )
    if target.shape[0] != source.shape[0]:
        raise ShapeError(
            "batch_jacobian: need the first dimension of target shape "
            f"{tuple(target.shape)} "
            f"and source shape {tuple(source.shape)} to match",
            "The first axis counts the rows",
        )


def batch_jacobian(record: Record, target: Any, source: Any) -> Any:
    """Return the jacobian of each row by the same row."""
    batch, *rest = target.shape
    dtype = target.dtype.dtype
    size = math.prod(rest)
    full = (batch, *rest, *source.shape[1:])
    rows = None
    if target._key in record.known and size:
        basis = _identity_rows(size, dtype, (1, *rest))
        full_basis = (size, batch, *rest)
        if any(map(is_size, full_basis)):
            basis = broadcast_to(_as_tensor(basis), full_basis)
        else:
            basis = np.broadcast_to(basis, full_basis)
        [rows] = _pull_rows(record, target, [source], basis)
    if rows is None:
        return full_like(source, full, 0)
    return reshape(swapaxes(rows, 0, 1), full)


__all__ = ["batch_jacobian", "check_batch", "jacobians", "own", "seeded", "single"]
