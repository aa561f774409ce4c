"""Softmax along an axis and its kin."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.jit.codegen.axes import (
    LANES,
    Emitter,
    Span,
    along,
    at_most,
    guarded,
    over_columns,
    over_rows,
)
from gtape.jit.codegen.body import Body, Scalar, cast, constant, load, store
from gtape.jit.codegen.frame import FAILED
from gtape.jit.codegen.index import I64, Int, NotCompiledError, add, as_value, mul
from gtape.jit.codegen.loops import local, loop
from gtape.jit.codegen.python import emitted
from gtape.jit.codegen.scalars import intrinsic, register_type
from gtape.jit.graph.ir import Op
from gtape.scalar import parse

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_FLOAT32, _FLOAT64 = as_numpy_dtype("float32"), as_numpy_dtype("float64")
_INT64 = as_numpy_dtype("int64")
_DOUBLE = ir.DoubleType()
_BLOCK = 1024  # numbers of a partial sum
_FREE = ("reassoc", "contract", "nsz")


def _float(node: Op) -> NumpyDType:
    """Return the dtype of the first operand, float32 or float64."""
    dtype = node.inputs[0].dtype
    if dtype not in (_FLOAT32, _FLOAT64):
        raise NotCompiledError(f"{node.primitive.name} of {dtype} is not compiled")
    return dtype


class _Lanes:
    """The greatest number and the sum of exponentials of each of some columns."""

    def __init__(
        self, b: ir.IRBuilder, body: Body, dtype: NumpyDType, lanes: int
    ) -> None:
        self._body, self._dtype, self._lanes = body, dtype, lanes
        self._most = local(b, register_type(dtype), lanes)
        self._total = local(b, _DOUBLE, lanes)
        self._part = local(b, _DOUBLE) if lanes == 1 else None

    def _slot(self, b: ir.IRBuilder, slots: ir.Value, lane: Int) -> ir.Value:
        return slots if self._lanes == 1 else b.gep(slots, [as_value(lane)])

    def _raised(self, b: ir.IRBuilder, x: Scalar, lane: Int) -> Scalar:
        """Return e to the power of a number less the greatest."""
        names = {"x": x, "most": self.most(b, lane)}
        return emitted(self._body, b, parse("exp(x - most)"), names)

    def most(self, b: ir.IRBuilder, lane: Int) -> Scalar:
        """Return the greatest number of a column."""
        return Scalar(self._dtype, b.load(self._slot(b, self._most, lane)))

    def total(self, b: ir.IRBuilder, lane: Int) -> Scalar:
        """Return the sum of a column."""
        return Scalar(_FLOAT64, b.load(self._slot(b, self._total, lane)))

    def log_total(self, b: ir.IRBuilder, lane: Int) -> Scalar:
        """Return the logarithm of the sum, in the dtype of the numbers."""
        names = {"x": self.total(b, lane)}
        return cast(b, emitted(self._body, b, parse("log(x)"), names), self._dtype)

    def scan(
        self,
        b: ir.IRBuilder,
        size: Int,
        width: Int,
        address: Callable[[ir.IRBuilder, Int, Int], ir.Value],
        out: Callable[[ir.IRBuilder, Int, Int], ir.Value] | None,
    ) -> None:
        """Emit the search for the greatest, then the sum; keep the exponentials.

        Args:
            b: Where to.
            size: The length of the columns.
            width: How many columns.
            address: Returns where an element stands.
            out: Returns where its exponential is to stand; `None` for nowhere.
        """
        lowest = constant(self._dtype, -math.inf).value
        with loop(b, width) as lane:
            b.store(lowest, self._slot(b, self._most, lane))
            b.store(_DOUBLE(0.0), self._slot(b, self._total, lane))
        with loop(b, size) as k, loop(b, width) as lane:
            x = load(b, address(b, k, lane), self._dtype)
            slot = self._slot(b, self._most, lane)
            # A function rather than a choice: LLVM turns it into vectors despite NaN.
            b.store(intrinsic(b, "llvm.maximum", b.load(slot), x.value), slot)
        if self._part is None:
            with loop(b, size) as k, loop(b, width) as lane:
                self._take(b, k, lane, address, out, self._total)
            return
        for first, count in _in_blocks(b, size):
            b.store(_DOUBLE(0.0), self._part)
            with loop(b, count) as k:
                self._take(b, add(b, first, k), 0, address, out, self._part)
            total = b.fadd(b.load(self._total), b.load(self._part))
            b.store(total, self._total)

    def _take(
        self, b: ir.IRBuilder, k: Int, lane: Int, address: Any, out: Any, slots: Any
    ) -> None:
        raised = self._raised(b, load(b, address(b, k, lane), self._dtype), lane)
        if out is not None:
            store(b, raised, out(b, k, lane), self._dtype)
        slot = self._slot(b, slots, lane)
        wide = cast(b, raised, _FLOAT64).value
        b.store(b.fadd(b.load(slot), wide, flags=_FREE), slot)


def _in_blocks(b: ir.IRBuilder, size: Int) -> Iterator[tuple[Int, Int]]:
    """Emit a loop over blocks of a length: the place and the length of each."""
    if isinstance(size, int) and size <= _BLOCK:
        yield 0, size
        return
    total = as_value(size)
    blocks = b.sdiv(b.add(total, I64(_BLOCK - 1)), I64(_BLOCK))
    with loop(b, blocks) as block:
        first = mul(b, block, _BLOCK)
        yield first, at_most(b, b.sub(total, as_value(first)), _BLOCK)


def _softmax(logarithm: bool) -> Emitter:
    def emitter(region: Region, b: ir.IRBuilder, node: Op) -> None:
        dtype = _float(node)
        [value] = node.outputs
        shape = along(region, b, value.shape, node.attrs["axis"])
        body = region.code.body
        pointers = [region.pointer(node.inputs[0]), region.place(b, value)]

        def emit(
            b: ir.IRBuilder, span: Span, start: Int, width: Int, size: Int, step: Int
        ) -> None:
            def address(place: int) -> Callable[[ir.IRBuilder, Int, Int], ir.Value]:
                return lambda b, k, lane: span.at(
                    b, place, add(b, add(b, start, mul(b, k, step)), lane)
                )

            x, out = address(0), address(1)
            lanes = _Lanes(b, body, dtype, 1 if shape.is_last else LANES)
            lanes.scan(b, size, width, x, None if logarithm else out)
            last = local(b, register_type(dtype), 1 if shape.is_last else LANES)
            with loop(b, width) as lane:
                found = (lanes.log_total if logarithm else lanes.total)(b, lane)
                slot = b.gep(last, [as_value(lane)])
                b.store(cast(b, found, dtype).value, slot)
            with loop(b, size) as k, loop(b, width) as lane:
                end = b.load(b.gep(last, [as_value(lane)]))
                if logarithm:
                    less = load(b, x(b, k, lane), dtype).value
                    less = b.fsub(less, lanes.most(b, lane).value)
                    found = Scalar(dtype, b.fsub(less, end))
                else:
                    raised = load(b, out(b, k, lane), dtype).value
                    found = Scalar(dtype, b.fdiv(raised, end))
                store(b, found, out(b, k, lane), dtype)

        cost = 0.5 * dtype.itemsize
        over_columns(region, b, pointers, shape, cost, emit)

    return emitter


def _cross_entropy(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit the loss, and its slope: softmax, less 1 at the label."""
    dtype = _float(node)
    logits, labels = node.inputs
    loss, slope = node.outputs
    shape = along(region, b, logits.shape, -1)
    kind = labels.dtype
    if labels.ndim:
        label, losses = region.pointer(labels), region.place(b, loss)
    else:
        number = region.number(labels)
        label, losses = local(b, number.value.type), local(b, register_type(dtype))
        b.store(number.value, label)
    pointers = [region.pointer(logits), label, losses, region.place(b, slope)]
    body = region.code.body

    def emit(b: ir.IRBuilder, span: Span) -> None:
        [size] = span.lengths
        with span.rows(b) as row:
            start = mul(b, row, size)
            found = cast(b, load(b, span.at(b, 1, row), kind), _INT64).value
            outside = b.icmp_unsigned(">=", found, as_value(size))
            with b.if_then(outside, likely=False):
                b.store(I64(FAILED), span.flag)
            with b.if_then(b.not_(outside)):
                lanes = _Lanes(b, body, dtype, 1)
                lanes.scan(
                    b,
                    size,
                    1,
                    lambda b, k, _: span.at(b, 0, add(b, start, k)),
                    lambda b, k, _: span.at(b, 3, add(b, start, k)),
                )
                total = cast(b, lanes.total(b, 0), dtype).value
                with loop(b, size) as k:
                    at = span.at(b, 3, add(b, start, k))
                    b.store(b.fdiv(b.load(at), total), at)
                place = add(b, start, found)
                at = span.at(b, 3, place)
                b.store(b.fsub(b.load(at), constant(dtype, 1).value), at)
                picked = b.load(span.at(b, 0, place))
                picked = b.fsub(picked, lanes.most(b, 0).value)
                out = b.fsub(lanes.log_total(b, 0).value, picked)
                b.store(out, span.at(b, 2, row))

    pairs = list(zip(logits.shape, labels.shape, strict=False))
    rows = guarded(region, b, shape.before, pairs)
    cost = 0.5 * dtype.itemsize
    over_rows(region, b, pointers, [shape.size], rows, shape.size, cost, emit)
    if not loss.ndim:
        region.give(loss, load(b, losses, dtype))


ROWS: dict[str, Emitter] = {
    "softmax": _softmax(False),
    "log_softmax": _softmax(True),
    "sparse_softmax_cross_entropy": _cross_entropy,
}
"""What emits the code of softmax and its kin, by the name in their lowering."""
