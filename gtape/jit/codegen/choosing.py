"""Random classes, and random orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.jit.codegen.body import Scalar, cast, load, memory_type
from gtape.jit.codegen.index import I64, Int, add, as_value, floordiv, mul
from gtape.jit.codegen.loops import local, loop
from gtape.jit.codegen.parameters import put
from gtape.jit.codegen.philox import LONGS, Key, internal
from gtape.jit.codegen.scalars import fabs
from gtape.jit.codegen.series import Series
from gtape.jit.graph.ir import Op

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_INT64, _UINT64 = as_numpy_dtype("int64"), as_numpy_dtype("uint64")
_FLOAT64 = as_numpy_dtype("float64")
_I1, _DOUBLE = ir.IntType(1), ir.DoubleType()
_INF = ir.Constant(_DOUBLE, float("inf"))


def _longs(region: Region, b: ir.IRBuilder, node: Op, count: Int) -> ir.Value:
    """Emit that so many longs are drawn, and return their address."""
    whole = mul(b, floordiv(b, add(b, count, 1), 2), 2)
    longs = region.code.frame.memory(b, _UINT64, whole)
    key = Key.at(b, region.pointer(node.inputs[0]))
    key.draw(b, longs, 0, count)
    return longs


# --- Classes --------------------------------------------------------------------------


def categorical(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit draws of classes."""
    [value] = node.outputs
    scores = node.inputs[1]
    sizes, frame = region.sizes, region.code.frame
    rows = sizes.product(b, scores.shape[:-1])
    classes, samples = (sizes.of(b, s.shape[-1]) for s in (scores, value))
    longs = _longs(region, b, node, mul(b, rows, samples))
    sums = frame.memory(b, _FLOAT64, classes)
    out = region.place(b, value)
    function = _categorical(b.module, scores.dtype, value.dtype)
    numbers = [as_value(n) for n in (rows, classes, samples)]
    frame.fail(
        b, b.call(function, [longs, region.pointer(scores), sums, out, *numbers])
    )


def _categorical(
    module: ir.Module, dtype: NumpyDType, target: NumpyDType
) -> ir.Function:
    """Return the function that draws classes of a dtype for scores of another."""
    name = f"gtape_categorical_{dtype.name}_{target.name}"
    found = module.globals.get(name)
    if found is not None:
        return found
    kinds = [memory_type(d).as_pointer() for d in (_UINT64, dtype, _FLOAT64, target)]
    function = internal(module, name, [*kinds, I64, I64, I64], _I1)
    longs, scores, sums, out, rows, classes, samples = function.args
    b = ir.IRBuilder(function.append_basic_block())
    bad = local(b, _I1)
    b.store(_I1(0), bad)
    with loop(b, rows) as r:
        row = b.gep(scores, [b.mul(as_value(r), classes)])
        total = _summed(b, row, dtype, sums, classes, bad)
        with loop(b, samples) as j:
            at = add(b, mul(b, r, samples), j)
            bits = b.lshr(b.load(b.gep(longs, [as_value(at)])), I64(11))
            share = b.fmul(b.uitofp(bits, _DOUBLE), ir.Constant(_DOUBLE, 2.0**-53))
            place = _places_up_to(b, sums, classes, b.fmul(share, total))
            put(b, Scalar(_INT64, place), out, at, target)
    b.ret(b.load(bad))
    return function


def _summed(
    b: ir.IRBuilder,
    row: ir.Value,
    dtype: NumpyDType,
    sums: ir.Value,
    classes: ir.Value,
    bad: ir.Value,
) -> ir.Value:
    """Write the weights of a row of scores, summed in order; return the whole."""
    top, total = local(b, _DOUBLE), local(b, _DOUBLE)
    series = Series(b, 8)

    def score(i: Int) -> ir.Value:
        return cast(b, load(b, b.gep(row, [as_value(i)]), dtype), _FLOAT64).value

    b.store(b.fneg(_INF), top)
    with loop(b, classes) as i:
        x, before = score(i), b.load(top)
        # Once it is NaN it stays that.
        more = b.fcmp_unordered(">", x, before)
        kept = b.fcmp_unordered("uno", before, before)
        b.store(b.select(kept, before, b.select(more, x, before)), top)
    largest = b.load(top)
    finite = b.fcmp_ordered("<", fabs(b, largest), _INF)
    b.store(b.or_(b.load(bad), b.not_(finite)), bad)
    with loop(b, classes) as i:
        weight = series.exp(b.fsub(score(i), largest))
        b.store(weight, b.gep(sums, [as_value(i)]))
    b.store(ir.Constant(_DOUBLE, 0.0), total)
    with loop(b, classes) as i:
        at = b.gep(sums, [as_value(i)])
        found = b.fadd(b.load(total), b.load(at))
        b.store(found, total)
        b.store(found, at)
    return b.load(total)


def _places_up_to(
    b: ir.IRBuilder, sums: ir.Value, count: ir.Value, mark: ir.Value
) -> ir.Value:
    """Return how many of the numbers, which do not fall, are at most a mark."""
    place, step = local(b, I64), local(b, I64)
    b.store(I64(0), place)
    zeros = b.module.declare_intrinsic(
        "llvm.ctlz", [I64], ir.FunctionType(I64, [I64, _I1])
    )
    digits = b.sub(I64(64), b.call(zeros, [count, _I1(0)]))
    b.store(b.shl(I64(1), b.sub(digits, I64(1))), step)
    with loop(b, digits):
        now, width = b.load(place), b.load(step)
        further = b.add(now, width)
        inside = b.icmp_unsigned("<=", further, count)
        last = b.sub(b.select(inside, further, count), I64(1))
        below = b.fcmp_ordered("<=", b.load(b.gep(sums, [last])), mark)
        b.store(b.select(b.and_(inside, below), further, now), place)
        b.store(b.lshr(width, I64(1)), step)
    return b.load(place)


# --- Orders ---------------------------------------------------------------------------

_BITS, _PASSES = 8, 8
_BINS = 1 << _BITS


def permutation(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit a random order: that which sorts random longs."""
    [value] = node.outputs
    frame = region.code.frame
    count = region.sizes.of(b, value.shape[0])
    longs = _longs(region, b, node, count)
    spare, places = (frame.memory(b, d, count) for d in (_UINT64, _INT64))
    out = region.place(b, value)
    b.call(_order(b.module), [longs, spare, places, out, as_value(count)])


def _order(module: ir.Module) -> ir.Function:
    """Return the function that sorts longs, and says from where they came.

    It is a radix sort from the lowest byte, so equal ones stay in their order.
    """
    name = "gtape_order"
    found = module.globals.get(name)
    if found is not None:
        return found
    function = internal(module, name, [LONGS, LONGS, LONGS, LONGS, I64])
    function.attributes.add("noinline")
    longs, spare, places, out, count = function.args
    b = ir.IRBuilder(function.append_basic_block())
    bins = local(b, I64, _PASSES * _BINS)

    def slot(place: int, key: ir.Value) -> ir.Value:
        digit = b.and_(b.lshr(key, I64(_BITS * place)), I64(_BINS - 1))
        return b.gep(bins, [b.add(digit, I64(_BINS * place))])

    with loop(b, _PASSES * _BINS) as i:
        b.store(I64(0), b.gep(bins, [as_value(i)]))
    with loop(b, count) as i:
        key = b.load(b.gep(longs, [as_value(i)]))
        for place in range(_PASSES):
            at = slot(place, key)
            b.store(b.add(b.load(at), I64(1)), at)
    total = local(b, I64)
    with loop(b, _PASSES) as place:
        b.store(I64(0), total)
        with loop(b, _BINS) as digit:
            at = b.gep(bins, [as_value(add(b, mul(b, place, _BINS), digit))])
            here = b.load(at)
            b.store(b.load(total), at)
            b.store(b.add(b.load(total), here), total)
    source, target = (longs, out), (spare, places)
    for place in range(_PASSES):
        with loop(b, count) as i:
            key = b.load(b.gep(source[0], [as_value(i)]))
            came = b.load(b.gep(source[1], [as_value(i)])) if place else as_value(i)
            at = slot(place, key)
            to = b.load(at)
            b.store(b.add(to, I64(1)), at)
            if place < _PASSES - 1:
                b.store(key, b.gep(target[0], [to]))
            b.store(came, b.gep(target[1], [to]))
        source, target = target, source
    b.ret_void()
    return function
