"""Every operation in the table under `gt.function` does what it does eagerly.

Values and gradients to the order of the record, with the sizes of the operands known
and with unknown ones: two traces are enough for all sizes. The former are interpreted,
the latter compiled; `test_every_op_compiled` compiles the values of all records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape import nest
from gtape.jit.graph.verify import verify
from tests.ops import any_size
from tests.ops.harness import Array, Record, draw, grown, rng_for, tensor, widened
from tests.ops.table import RECORDS
from tests.ops.test_every_op import every, some, sources_of

# The same NumPy functions run, but the passes may rewrite a formula.
TOLERANCES = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-5, "complex64": 1e-5}
GRADIENTS = 1e-9
EXACT = ("float64", "complex128")


def differentiable(record: Record) -> bool:
    return record.order > 0


def of_any_size(record: Record) -> bool:
    """Return whether the operands of a record come in several sizes."""
    if record.grows is not None:
        return True
    if callable(record.inputs) or record.id in any_size.FITTED:
        return False
    grow = all(i.grows for i in record.inputs)
    return grow and any(d > 1 for i in record.inputs for d in i.shape)


def called(record: Record, attrs: dict[str, Any]) -> Callable[..., Any]:
    """Return the call of a record as a function of its operands alone."""
    return lambda *xs: record.call(*xs, **attrs)


# --- What is compared -----------------------------------------------------------------


def assert_same(found: Any, wanted: Any, rtol: float | None = None) -> None:
    """Require equal structures of equal tensors."""
    assert nest.flatten(nest.map_structure(type, found)) == nest.flatten(
        nest.map_structure(type, wanted)
    )
    for a, b in zip(nest.flatten(found), nest.flatten(wanted), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        near = TOLERANCES.get(a.dtype.name, 1e-12) if rtol is None else rtol
        x, y = widened(a.numpy()), widened(b.numpy())
        scale = max(1.0, float(np.max(np.abs(y), initial=0, where=np.isfinite(y))))
        np.testing.assert_allclose(x, y, rtol=near, atol=near * scale)


def check_graphs(record: Record, f: Any, operands: Sequence[Any]) -> None:
    """Require a sound graph before and after the passes, which holds all it needs."""
    concrete = f.concrete(*operands)
    verify(concrete.graph)
    arrays = [x for x in concrete.captured_inputs if hasattr(x, "dtype")]
    assert record.primitive in any_size.HOLD_ARRAYS or arrays == []


def gradients(
    call: Callable[..., Any], xs: Sequence[Any], wrt: Sequence[int], order: int
) -> list[Any]:
    """Return the gradients of a call by some operands, and those of their sum."""
    sources = [xs[i] for i in wrt]
    with gt.GradientTape(persistent=True) as outer:
        if order > 1:
            outer.watch(sources)
        with gt.GradientTape() as tape:
            tape.watch(sources)
            targets = nest.flatten(call(*xs))
        targets = [t for t in targets if t.dtype.is_differentiable]
        if not targets:
            return []
        seeds = [ramp(t) for t in targets]
        first = tape.gradient(targets, sources, seeds, "zero")
    if order == 1:
        return list(first)
    return [*first, *outer.gradient(first, sources, None, "zero")]


def ramp(target: Any) -> Any:
    """Return a cotangent for a target, whatever its shape."""
    count = math.prod(target.shape)
    rise = gt.linspace(gt.constant(-1.0, gt.float64), 1.5, count)
    return gt.reshape(gt.cast(rise, target.dtype), target.shape)


def cases(record: Record) -> Iterator[tuple[dict[str, Any], tuple[Array, ...]]]:
    """Yield operands of each dtype for the first attributes, of one for the others."""
    rng = rng_for(record)
    for i, attrs in enumerate(record.attrs):
        for dtype in record.dtypes if i == 0 else record.dtypes[:1]:
            arrays = draw(record, rng, dtype, attrs)
            if arrays is not None:
                yield attrs, arrays


# --- Known sizes ----------------------------------------------------------------------


@every
def test_traced_values(record: Record) -> None:
    for attrs, arrays in cases(record):
        operands = [tensor(a) for a in arrays]
        f = gt.function(called(record, attrs), jit_compile=False)
        assert_same(f(*operands), record.call(*operands, **attrs))
        check_graphs(record, f, operands)


@some(differentiable)
def test_traced_gradients(record: Record) -> None:
    rng = rng_for(record)
    for attrs in record.attrs:
        dtype = "complex128" if record.dtypes[0] == "complex128" else "float64"
        arrays = draw(record, rng, dtype, attrs)
        if arrays is None or not sources_of(record, arrays):
            continue
        operands = [tensor(a) for a in arrays]
        check_gradients(record, attrs, operands, sources_of(record, arrays))


def check_gradients(
    record: Record, attrs: dict[str, Any], operands: Sequence[Any], wrt: Sequence[int]
) -> None:
    """Compare gradients taken in a trace, and of a trace, with eager ones."""
    call = called(record, attrs)
    wanted = gradients(call, operands, wrt, record.order)
    inside = gt.function(
        lambda *xs: gradients(call, xs, wrt, record.order), jit_compile=False
    )
    assert_same(inside(*operands), wanted, GRADIENTS)
    check_graphs(record, inside, operands)
    function = gt.function(call, jit_compile=False)
    around = gradients(function, operands, wrt, record.order)
    assert_same(around, wanted, GRADIENTS)


# --- Unknown sizes --------------------------------------------------------------------


def sized(record: Record, attrs: dict[str, Any]) -> list[list[Any]]:
    """Return operands of three sizes."""
    found = [grown(record, attrs, k) for k in (0, 1, 3)]
    return [[tensor(a) for a in arrays] for arrays in found]


SIZED = [*filter(of_any_size, RECORDS), *any_size.RECORDS]


def identified(record: Record) -> str:
    return record.id


@pytest.mark.parametrize("record", SIZED, ids=identified)
def test_traced_values_of_any_size(record: Record) -> None:
    for attrs in record.attrs:
        f = gt.function(called(record, attrs))
        sets = sized(record, attrs)
        for operands in sets:
            assert_same(f(*operands), record.call(*operands, **attrs))
            check_graphs(record, f, operands)
        check_count(record, f)


def check_count(record: Record, f: Any) -> None:
    """Require two traces for three sizes, three where the record says why."""
    assert f.trace_count == (3 if record.per_size else 2), f.explain()


@pytest.mark.parametrize(
    "record",
    [r for r in SIZED if r.order and r.dtypes[0] in EXACT],
    ids=identified,
)
def test_traced_gradients_of_any_size(record: Record) -> None:
    attrs, order = record.attrs[0], record.order
    sets = sized(record, attrs)
    wrt = sources_of(record, [x.numpy() for x in sets[0]])
    call = called(record, attrs)
    f = gt.function(call)
    # Compiled are the function, and the passes of its gradients.
    inside = gt.function(lambda *xs: gradients(call, xs, wrt, order), jit_compile=False)
    for operands in sets:
        wanted = gradients(call, operands, wrt, order)
        assert_same(inside(*operands), wanted, GRADIENTS)
        check_graphs(record, inside, operands)
        assert_same(gradients(f, operands, wrt, order), wanted, GRADIENTS)
    check_count(record, f)
    check_count(record, inside)


# --- Attributes that the function gets as arguments -----------------------------------


def is_public(record: Record) -> bool:
    homes = (gt, gt.linalg, gt.math, gt.nn, gt.random, gt.bitwise)
    name = getattr(record.call, "__name__", "")
    return any(getattr(home, name, None) is record.call for home in homes)


@some(is_public, lambda r: r.attrs != ({},))
def test_attributes_may_be_arguments(record: Record) -> None:
    rng = rng_for(record)
    for attrs in record.attrs:
        arrays = draw(record, rng, record.dtypes[0], attrs)
        if arrays is not None:
            operands = [tensor(a) for a in arrays]
            f = gt.function(lambda *xs, **given: record.call(*xs, **given))
            assert_same(f(*operands, **attrs), record.call(*operands, **attrs))
