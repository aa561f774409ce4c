"""Scans along an axis: running sums, products and extrema, and a linear recurrence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from llvmlite import ir

from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.jit.codegen.axes import (
    LANES,
    Along,
    Emitter,
    Span,
    along,
    guarded,
    over_columns,
)
from gtape.jit.codegen.body import Body, Scalar, cast, load, store
from gtape.jit.codegen.index import I64, Int, add, as_value, mul, sub
from gtape.jit.codegen.loops import local, loop
from gtape.jit.codegen.python import emitted
from gtape.jit.codegen.scalars import is_float, is_half, register_type
from gtape.jit.graph.ir import Op
from gtape.scalar import Tree, parse

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_FLOAT32, _FLOAT64 = as_numpy_dtype("float32"), as_numpy_dtype("float64")
_NARROW = 24  # the eager recurrence of fewer columns runs on Python's floats


class _Scan:
    """The code of a scan over some columns.

    Args:
        region: Where it is.
        node: The scan.
        tree: A result, from the one before it and the operands.
        shape: The tensor.
    """

    def __init__(self, region: Region, node: Op, tree: Tree, shape: Along) -> None:
        self._dtype: NumpyDType = node.outputs[0].dtype
        self._tree = tree
        self._reverse = node.attrs["reverse"]
        self._names = ["x"] if len(node.inputs) == 1 else ["a", "x"]
        self._lanes = 1 if shape.is_last else LANES
        self._work = _FLOAT32 if is_half(self._dtype) else self._dtype
        self._carried = self._work
        counts = shape.before, shape.after
        few = all(isinstance(n, int) for n in counts) and math.prod(counts) < _NARROW
        if few and len(self._names) > 1 and is_float(self._dtype):
            self._carried = _FLOAT64
        # Each step rounds as NumPy's do: no product and sum in one.
        body = region.code.body
        self._body = Body(body.module, body.vector, contract=False)

    def emit(
        self, b: ir.IRBuilder, span: Span, start: Int, width: Int, size: Int, step: Int
    ) -> None:
        """Emit the loops."""
        running = local(b, register_type(self._carried), self._lanes)

        def row(k: Int) -> Int:
            i = sub(b, sub(b, size, 1), k) if self._reverse else k
            return add(b, start, mul(b, i, step))

        with b.if_then(b.icmp_signed(">", as_value(size), I64(0))):
            self._row(b, span, row(0), width, running, True)
        with loop(b, sub(b, size, 1)) as k:
            self._row(b, span, row(add(b, k, 1)), width, running, False)

    def _row(
        self,
        b: ir.IRBuilder,
        span: Span,
        row: Int,
        width: Int,
        running: ir.Value,
        is_first: bool,
    ) -> None:
        names, carried = self._names, self._carried
        with loop(b, width) as lane:
            slot = running if self._lanes == 1 else b.gep(running, [as_value(lane)])
            at = add(b, row, lane)
            found = {
                name: cast(b, load(b, span.at(b, place, at), self._dtype), carried)
                for place, name in enumerate(names)
                if name == "x" or not is_first  # the first factor is not read
            }
            out = found["x"]
            if not is_first:
                found["acc"] = Scalar(carried, b.load(slot))
                out = cast(b, emitted(self._body, b, self._tree, found), carried)
            b.store(out.value, slot)
            out = cast(b, out, self._work)
            store(b, out, span.at(b, len(names), at), self._dtype)


def _scan(text: str, cost: float = 1.0) -> Emitter:
    """Return the emitter of a scan.

    Args:
        text: A result, from the one before it and the operands, the last of which is
            the first result.
        cost: The nanoseconds that an element takes, about.
    """
    tree = parse(text)

    def emitter(region: Region, b: ir.IRBuilder, node: Op) -> None:
        [value] = node.outputs
        shape = along(region, b, value.shape, node.attrs["axis"])
        pointers = [region.pointer(atom) for atom in node.inputs]
        pointers.append(region.place(b, value))
        first, last = node.inputs[0], node.inputs[-1]
        pairs = list(zip(first.shape, last.shape, strict=True))

        def rows(count: Int) -> Int:
            return guarded(region, b, count, pairs)

        code = _Scan(region, node, tree, shape)
        over_columns(region, b, pointers, shape, cost, code.emit, rows)

    return emitter


SCANS: dict[str, Emitter] = {
    "cumsum": _scan("acc + x"),
    "cumprod": _scan("acc * x"),
    "cummax": _scan("maximum(acc, x)"),
    "cummin": _scan("minimum(acc, x)"),
    "cumulative_logsumexp": _scan(
        "acc + 0.6931471805599453 if acc == x "
        "else maximum(acc, x) + log1p(exp(-abs(acc - x)))",
        20.0,
    ),
    "linear_recurrence": _scan("x + a * acc"),
}
"""What emits the code of scans, by the name in their lowering."""
