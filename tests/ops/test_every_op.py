"""Every operation in the table: its values, specs, gradients and lowering.

What is checked follows from the record alone; `harness.Record` tells what a record
says.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape import jacobians, nest
from gtape import record as record_module
from gtape.dtypes import as_dtype, as_numpy_dtype
from gtape.lowering import Fold, Map, Reindex
from gtape.ops.traced import reread
from gtape.primitive import Primitive, registry
from gtape.scalar import parse, type_of
from gtape.spec import TensorSpec
from gtape.testing import check_grads
from tests.ops.harness import (
    Array,
    Ran,
    Record,
    draw,
    leaves,
    rng_for,
    tensor,
    watched,
    widened,
)
from tests.ops.scalar_oracle import evaluate, evaluate_index, wrapped
from tests.ops.table import RECORDS

TOLERANCES = {
    "float64": 1e-12,
    "complex128": 1e-12,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 1e-2,
    "bfloat16": 5e-2,
}
SPECIALS = (0.0, -0.0, 1.0, -1.0, 2.5, -3.0, np.inf, -np.inf, np.nan)
BROADCASTS = {
    1: [((2, 3),)],
    2: [
        ((2, 3), (3,)),
        ((2, 1), (1, 3)),
        ((), (2, 3)),
        ((3, 1, 2), (2, 1)),
    ],
    3: [((2, 1), (3,), ()), ((), (2, 3), (2, 1)), ((3,), (2, 1), (1, 3))],
}
SIZED_BY_VALUES = {  # whose specs leave sizes open
    "argwhere",
    "bound_in_axis",
    "positions_below",
    "segment_rows",
    "unique",
}
MAX_LOWERED = 200  # elements of a result that plain Python walks through

every = pytest.mark.parametrize("record", RECORDS, ids=lambda r: r.id)


def some(*conditions: Any) -> Any:
    """Parametrize by the records for which all conditions hold."""
    chosen = [r for r in RECORDS if all(c(r) for c in conditions)]
    return pytest.mark.parametrize("record", chosen, ids=lambda r: r.id)


def elementwise(record: Record) -> bool:
    return record.elementwise


def differentiable(record: Record) -> bool:
    return record.order > 0


def call(record: Record, arrays: Sequence[Array], attrs: dict[str, Any]) -> Any:
    return record.call(*map(tensor, arrays), **attrs)


def tolerance(record: Record, dtype: str) -> tuple[float, float]:
    default = TOLERANCES.get(dtype, 0.0)
    asked = record.rtol
    if isinstance(asked, dict):
        asked = asked.get(dtype)
    rtol = max(default, asked or 0.0)
    return rtol, max(rtol, record.atol or 0.0)


def check_values(
    record: Record, arrays: Sequence[Array], attrs: dict[str, Any], dtype: str
) -> None:
    """Compare a call with the record's reference."""
    assert record.reference is not None
    found = leaves(call(record, arrays, attrs))
    with np.errstate(all="ignore"):
        wanted = record.reference(*[widened(a) for a in arrays], **attrs)
    wanted = [np.asarray(w) for w in nest.flatten(wanted)]
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert a.shape == b.shape
        rtol, atol = tolerance(record, dtype)
        if dtype in ("float16", "bfloat16", "float32", "complex64"):
            with np.errstate(all="ignore"):  # what overflows there, overflows here
                b = b.astype(a.dtype) if a.dtype.kind in "fVc" else b
        np.testing.assert_allclose(widened(a), widened(b), rtol=rtol, atol=atol)


# --- Values ---------------------------------------------------------------------------


def dtype_cases() -> list[Any]:
    return [
        pytest.param(record, dtype, id=f"{record.id}-{dtype}")
        for record in RECORDS
        for dtype in record.dtypes
    ]


@pytest.mark.parametrize(("record", "dtype"), dtype_cases())
def test_values_and_specs(record: Record, dtype: str) -> None:
    rng = rng_for(record)
    for attrs in record.attrs:
        arrays = draw(record, rng, dtype, attrs)
        if arrays is None:
            continue
        before = [a.copy() for a in arrays]
        _, ran = watched(lambda a=arrays, k=attrs: call(record, a, k))
        for step in ran:
            check_spec(step)
        for a, b in zip(arrays, before, strict=True):
            assert a.tobytes() == b.tobytes(), "an operand was changed"
        if record.reference is not None:
            check_values(record, arrays, attrs, dtype)


def check_spec(step: Ran) -> None:
    specs = [TensorSpec(x.shape, x.dtype) for x in step.inputs]
    found = step.primitive.spec(*specs, **step.attrs)
    outs = step.out if step.primitive.multiple else (step.out,)
    founds = found if step.primitive.multiple else (found,)
    assert len(outs) == len(founds)
    for spec, out in zip(founds, outs, strict=True):
        text = f"{step.primitive.name}: {spec} against {out.shape} {out.dtype}"
        assert spec.shape.is_compatible_with(out.shape), text
        assert spec.dtype == as_dtype(out.dtype), text
        if step.primitive.name not in SIZED_BY_VALUES:
            assert spec.shape.is_fully_defined(), text


@every
def test_layout_of_operands_does_not_matter(record: Record) -> None:
    rng, dtype = rng_for(record), record.dtypes[0]
    attrs = record.attrs[0]
    arrays = draw(record, rng, dtype, attrs)
    assert arrays is not None, f"{dtype} is not a dtype of these inputs"
    if record.reference is None and not arrays:
        return
    wanted = leaves(call(record, arrays, attrs))
    for layout in (reversed_axes, with_gaps, backwards):
        found = leaves(call(record, [layout(a) for a in arrays], attrs))
        for a, b in zip(found, wanted, strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(widened(a), widened(b), rtol=1e-10, atol=1e-10)


def reversed_axes(a: Array) -> Array:
    """The same elements in Fortran's order."""
    return np.array(a, order="F")


def with_gaps(a: Array) -> Array:
    """The same elements, every second one of a larger array."""
    if a.ndim == 0:
        return a
    wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    wide[..., ::2] = a
    return wide[..., ::2]


def backwards(a: Array) -> Array:
    """The same elements with negative strides."""
    return a if a.ndim == 0 else np.ascontiguousarray(a[::-1])[::-1]


@some(elementwise)
def test_broadcasting_rank_zero_and_empty(record: Record) -> None:
    rng, count = rng_for(record), len(record.inputs)
    empty = [((0, 3),) * count, ((2, 0), (1,), (2, 1))[:count]]
    for attrs in record.attrs:
        for shapes in [*BROADCASTS[count], *empty, ((),) * count]:
            for dtype in record.dtypes:
                arrays = draw(record, rng, dtype, attrs, shapes)
                if arrays is None:
                    continue
                _, ran = watched(lambda a=arrays, k=attrs: call(record, a, k))
                for step in ran:
                    check_spec(step)
                if record.reference is not None:
                    check_values(record, arrays, attrs, dtype)


def special_arrays(record: Record, rng: np.random.Generator) -> list[Array]:
    """Return operands that hold every combination of special values."""
    grid = np.array(list(itertools.product(SPECIALS, repeat=len(record.inputs)))).T
    return [
        np.array(grid[k])
        if source.adapts
        else np.asarray(source.draw(rng, grid[k].shape))
        for k, source in enumerate(record.inputs)
    ]


def is_real_elementwise(record: Record) -> bool:
    if not record.elementwise or "float64" not in record.dtypes:
        return False
    drawn = draw(record, rng_for(record), "float64", record.attrs[0])
    return drawn is not None and not any(a.dtype.kind == "c" for a in drawn)


@some(is_real_elementwise, lambda r: r.specials and r.reference is not None)
def test_nan_and_infinities(record: Record) -> None:
    arrays = special_arrays(record, rng_for(record))
    for attrs in record.attrs:
        check_values(record, arrays, attrs, "float64")


# --- Gradients ------------------------------------------------------------------------


def gradient_cases(record: Record) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield attributes and operands in the dtypes that gradients are checked in."""
    rng = rng_for(record)
    for attrs in record.attrs:
        for dtype in ("float64", "complex128"):
            if dtype in record.dtypes:
                arrays = draw(record, rng, dtype, attrs)
                if arrays is not None:
                    yield attrs, arrays


def sources_of(record: Record, arrays: Sequence[Array]) -> list[int]:
    inexact = [i for i, a in enumerate(arrays) if a.dtype.kind in "fcV"]
    return inexact if record.wrt is None else list(record.wrt)


def checked(
    record: Record,
    arrays: Sequence[Array],
    attrs: dict[str, Any],
    order: int,
    mode: str = "reverse",
) -> None:
    """Compare gradients with central differences."""
    wrt = sources_of(record, arrays)
    if not wrt:
        return

    def f(*xs: Any) -> Any:
        operands = [tensor(a) for a in arrays]
        for i, x in zip(wrt, xs, strict=True):
            operands[i] = x
        return record.call(*operands, **attrs)

    varied = [arrays[i] for i in wrt]
    check_grads(f, *varied, order=order, rtol=record.grad_rtol, modes=mode)


def test_records_have_names_of_their_own() -> None:
    ids = [record.id for record in RECORDS]
    assert sorted({i for i in ids if ids.count(i) > 1}) == []


def test_every_rule_is_checked_by_a_record() -> None:
    checked = {r.primitive for r in RECORDS if r.order and not r.composed}
    rules = {p.name for p in registry().values() if p.vjp is not None}
    # The gradient of `reread` is not that of its value: the next test is its own.
    assert sorted(rules - checked) == ["reread"]


def test_the_gradient_of_what_is_read_again_is_by_its_source() -> None:
    value, source = gt.constant([2.0, 3.0]), gt.constant([5.0, 7.0])
    with gt.GradientTape() as tape:
        tape.watch([value, source])
        y = reread(value, source) ** 2
    assert y.numpy().tolist() == [4.0, 9.0]
    by_value, by_source = tape.gradient(y, [value, source])
    assert by_value is None
    assert by_source.numpy().tolist() == [4.0, 6.0]


@some(differentiable)
def test_gradients_against_differences(record: Record) -> None:
    for attrs, arrays in gradient_cases(record):
        checked(record, arrays, attrs, record.order)


@some(differentiable)
def test_forward_mode_against_differences(record: Record) -> None:
    for attrs, arrays in gradient_cases(record):
        checked(record, arrays, attrs, 1, "forward")


@some(elementwise, differentiable)
def test_gradients_of_broadcast_operands(record: Record) -> None:
    rng, count = rng_for(record), len(record.inputs)
    attrs = record.attrs[0]
    for shapes in [*BROADCASTS[count], ((),) * count, ((0, 3),) * count]:
        arrays = draw(record, rng, "float64", attrs, shapes)
        if arrays is not None:
            checked(record, arrays, attrs, 1)


def pulled(
    record: Record,
    arrays: Sequence[Array],
    attrs: dict[str, Any],
    order: int = 1,
    recorded: bool = False,
) -> list[Array]:
    """Return the gradients of a call, or those of its gradients, from fixed cotangents.

    Args:
        record: What is called.
        arrays: The operands.
        attrs: The attributes.
        order: 1, or 2 for the gradients of the gradients.
        recorded: Whether an outer tape watches the backward pass.
    """
    operands = [tensor(a) for a in arrays]
    sources = [operands[i] for i in sources_of(record, arrays)]
    outer = gt.GradientTape()
    with outer:
        if recorded or order > 1:
            outer.watch(sources)
        else:
            outer._stop()
        with gt.GradientTape() as tape:
            tape.watch(sources)
            targets = nest.flatten(record.call(*operands, **attrs))
        targets = [t for t in targets if t.dtype.is_differentiable]
        if not (targets and sources):
            return []
        seeds = [tensor(cotangent(t)) for t in targets]
        first = tape.gradient(targets, sources, seeds, "zero")
    found = first if order == 1 else outer.gradient(first, sources, None, "zero")
    return [np.asarray(g.numpy()) for g in found]


def cotangent(target: Any) -> Array:
    ramp = np.linspace(-1.0, 1.5, num=int(np.prod(target.shape)))
    return ramp.reshape(target.shape).astype(target.dtype.dtype)


def assert_equal(found: Sequence[Array], wanted: Sequence[Array], rtol: float) -> None:
    for a, b in zip(found, wanted, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(widened(a), widened(b), rtol=rtol, atol=rtol)


@some(differentiable)
def test_rules_read_no_value_they_say_they_do_not(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    for attrs, arrays in gradient_cases(record):
        for order in range(1, record.order + 1):
            with monkeypatch.context() as patch:
                patch.setattr(record_module, "KEEP_BYTES", -1)
                found = pulled(record, arrays, attrs, order)
            assert_equal(found, pulled(record, arrays, attrs, order), 0)


@some(differentiable)
def test_recorded_backward_pass_equals_that_on_arrays(record: Record) -> None:
    rng = rng_for(record)
    for attrs in record.attrs:
        for dtype, rtol in (
            ("float64", 1e-12),
            ("complex128", 1e-12),
            ("float32", 1e-5),
        ):
            if dtype not in record.dtypes:
                continue
            arrays = draw(record, rng, dtype, attrs)
            if arrays is None:
                continue
            found = pulled(record, arrays, attrs, recorded=True)
            assert_equal(found, pulled(record, arrays, attrs), rtol)


@some(differentiable)
def test_jacobian_by_one_pass_on_a_batch_equals_that_by_rows(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    for attrs, arrays in gradient_cases(record):
        found = []
        for few in (0, 10**9):
            with monkeypatch.context() as patch:
                patch.setattr(jacobians, "_FEW_ROWS", few)
                found.append(jacobians_of(record, arrays, attrs))
        assert_equal(found[0], found[1], 1e-10)


def jacobians_of(
    record: Record, arrays: Sequence[Array], attrs: dict[str, Any]
) -> list[Array]:
    """Return the jacobians of the first few elements of each result."""
    operands = [tensor(a) for a in arrays]
    sources = [operands[i] for i in sources_of(record, arrays)]
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        results = nest.flatten(record.call(*operands, **attrs))
        targets = [gt.reshape(t, [-1])[:6] for t in results]
    targets = [t for t in targets if t.dtype.is_differentiable and t.shape[0]]
    pulled = [j for t in targets for j in tape.jacobian(t, sources, "zero")]
    return [np.asarray(j.numpy()) for j in pulled]


@some(differentiable)
def test_gradients_have_the_dtype_and_shape_of_their_source(record: Record) -> None:
    rng = rng_for(record)
    for dtype in record.dtypes:
        if as_numpy_dtype(dtype).kind not in "fcV":
            continue
        narrow = dtype in ("float16", "bfloat16")
        if narrow and not record.narrow_gradients:
            continue
        for attrs in record.attrs:
            arrays = draw(record, rng, dtype, attrs)
            if arrays is None:
                continue
            found = pulled(record, arrays, attrs)
            sources = [arrays[i] for i in sources_of(record, arrays)]
            for g, x in zip(found, sources, strict=True):
                assert (g.shape, g.dtype) == (x.shape, x.dtype)
            if dtype in ("float32", "complex64"):
                wanted = pulled(record, [widened(a) for a in arrays], attrs)
                for g, w in zip(found, wanted, strict=True):
                    scale = max(1.0, float(np.max(np.abs(w), initial=0)))
                    np.testing.assert_allclose(g, w, rtol=1e-3, atol=1e-4 * scale)


@some(elementwise, differentiable)
def test_gradients_at_rank_zero_keep_the_dtype(record: Record) -> None:
    rng, count = rng_for(record), len(record.inputs)
    for dtype in record.dtypes:
        if as_numpy_dtype(dtype).kind not in "fV":
            continue
        arrays = draw(record, rng, dtype, record.attrs[0], ((),) * count)
        if arrays is None:
            continue
        for recorded in (False, True):
            found = pulled(record, arrays, record.attrs[0], recorded=recorded)
            for g, i in zip(found, sources_of(record, arrays), strict=True):
                assert (g.shape, g.dtype) == (arrays[i].shape, arrays[i].dtype)


# --- Lowering -------------------------------------------------------------------------


def lowered(record: Record) -> Iterator[Ran]:
    """Yield the primitives that run in calls of a record, each form of them once."""
    rng = rng_for(record)
    dtypes = [
        d for d in record.dtypes if as_numpy_dtype(d).itemsize >= 8 or d == "bool"
    ]
    dtypes += [d for d in record.dtypes if d in ("int8", "uint8")]
    cases: list[tuple[Any, dict[str, Any]]] = []
    for attrs in record.attrs:
        for dtype in dtypes or record.dtypes[:1]:
            cases.append((draw(record, rng, dtype, attrs), attrs))
        if is_real_elementwise(record) and record.specials:
            cases.append((special_arrays(record, rng), attrs))
    seen = set()
    for arrays, attrs in cases:
        if arrays is None:
            continue
        _, ran = watched(lambda a=arrays, k=attrs: call(record, a, k))
        for step in ran:
            specs = tuple((x.shape, x.dtype) for x in step.inputs)
            form = (step.primitive.name, specs, repr(step.attrs))
            if form not in seen:
                seen.add(form)
                yield step


@every
def test_lowering_computes_what_forward_computes(record: Record) -> None:
    for step in lowered(record):
        kind = type(step.primitive.lowering)
        check = {Map: check_map, Reindex: check_reindex, Fold: check_fold}.get(kind)
        if check is not None:
            check(record, step)


@functools.cache
def operand_names(primitive: Primitive, count: int) -> tuple[str, ...]:
    """Return the operands' names in a scalar expression: those of the spec."""
    parameters = inspect.signature(primitive.spec).parameters.values()
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if len(positional) >= count:
        return tuple([p.name for p in positional[:count]])
    return ("x", "y", "z")[:count]


def python_number(value: Any) -> Any:
    if isinstance(value, np.generic):
        wide = value.astype(np.float64) if value.dtype.kind == "V" else value
        return wide.item()
    return value


def check_map(record: Record, step: Ran) -> None:
    primitive, out = step.primitive, np.asarray(step.out)
    tree = primitive.lowering.tree
    names = operand_names(primitive, len(step.inputs))
    types = {n: x.dtype for n, x in zip(names, step.inputs, strict=True)}
    types |= {f"i{axis}": int for axis in range(out.ndim)}
    constants = {k: python_number(v) for k, v in step.attrs.items()}
    types |= {k: type(v) for k, v in constants.items() if k not in types}
    if "dtype" not in step.attrs:  # a conversion, whose expression is only its operand
        assert type_of(tree, types) == out.dtype, f"{primitive.name}: type of {tree}"
    operands = [np.broadcast_to(x, out.shape) for x in step.inputs]
    for place in itertools.islice(np.ndindex(*out.shape), MAX_LOWERED):
        values = {
            n: python_number(x[place]) for n, x in zip(names, operands, strict=True)
        }
        values |= {f"i{axis}": i for axis, i in enumerate(place)} | constants
        found = converted(evaluate(tree, values, types), out.dtype)
        compare(primitive, found, out[place], (values, step.attrs), record)


def converted(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number of Python as a dtype takes it."""
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind in "iu":
        whole = value.real if isinstance(value, complex) else value
        if whole != whole or whole in (np.inf, -np.inf):
            return None  # NumPy leaves open what comes of it
        return wrapped(int(whole), dtype)
    if dtype.kind != "c" and isinstance(value, complex):
        return value.real
    return value


def compare(
    primitive: Primitive, found: Any, wanted: Any, case: Any, record: Record
) -> None:
    if found is None:
        return
    rtol, atol = tolerance(record, as_dtype(wanted.dtype).name)
    if primitive.name != record.primitive:
        rtol, atol = max(rtol, 1e-12), max(atol, 1e-12)
    wanted = python_number(wanted)
    close = np.isclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True)
    assert close, f"{primitive.name}: {found!r}, forward gives {wanted!r} for {case}"


def check_reindex(record: Record, step: Ran) -> None:
    primitive, out = step.primitive, np.asarray(step.out)
    specs = [TensorSpec(x.shape, x.dtype) for x in step.inputs]
    views = primitive.lowering.views(*specs, **step.attrs)
    for place in itertools.islice(np.ndindex(*out.shape), MAX_LOWERED):
        where = {f"i{axis}": i for axis, i in enumerate(place)}
        found: Any = views[-1].fill
        for view in views:
            if evaluate_index(view.valid, where):
                source = step.inputs[view.operand]
                index = tuple(evaluate_index(e, where) for e in view.index)
                assert len(index) == source.ndim
                assert all(
                    0 <= i < n for i, n in zip(index, source.shape, strict=True)
                ), f"{primitive.name}: {place} reads {index} of shape {source.shape}"
                found = source[index]
                break
        same = np.asarray(found, out.dtype).tobytes() == out[place].tobytes()
        assert same or found == out[place], (
            f"{primitive.name}{step.attrs}: {found!r} at {place}, forward gives "
            f"{out[place]!r}"
        )


def check_fold(record: Record, step: Ran) -> None:
    primitive, fold = step.primitive, step.primitive.lowering
    x, out = np.asarray(step.inputs[0]), np.asarray(step.out)
    axes = step.attrs["axes"]
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = np.transpose(x, [*kept, *axes])
    shape = tuple(x.shape[axis] for axis in kept)
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=int))
    rows = rows.reshape((*shape, count))
    accs = ["acc"] if len(fold.identity) == 1 else []
    accs = accs or [f"acc{k}" for k in range(len(fold.identity))]
    combine = [parse(source) for source in fold.combine]
    finish = parse(fold.finish)
    constants = {k: python_number(v) for k, v in step.attrs.items()}
    flat = out.reshape(shape)
    for place in itertools.islice(np.ndindex(*shape), MAX_LOWERED):
        state = [identity(source, x.dtype) for source in fold.identity]
        for j in range(count):
            values = constants | dict(zip(accs, state, strict=True))
            values |= {"x": python_number(rows[place][j]), "j": j, "n": count}
            state = [evaluate(tree, values) for tree in combine]
        values = constants | dict(zip(accs, state, strict=True)) | {"n": count}
        found = converted(evaluate(finish, values), out.dtype)
        compare(primitive, found, flat[place], (rows[place], step.attrs), record)


def identity(source: str, dtype: np.dtype[Any]) -> Any:
    """Return the start of an accumulator."""
    if source not in ("lowest", "highest"):
        return evaluate(parse(source), {})
    if dtype.kind in "fV":
        return -np.inf if source == "lowest" else np.inf
    if dtype.kind == "b":
        return source == "highest"
    limits = np.iinfo(dtype)
    return int(limits.min if source == "lowest" else limits.max)
