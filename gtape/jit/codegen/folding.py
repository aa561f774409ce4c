"""Accumulators of folds.

A sum of float32 is kept in float64 over blocks of float32 sums, and one of float64 over
blocks with a compensation (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur
Summation endlicher Summen", ZAMM 54, 1974), so that both are at least as accurate as
NumPy's pairwise sum. Inside a block the order is free: vectors of partial sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.jit.codegen.body import Body, Scalar, cast, constant
from gtape.jit.codegen.index import I64, Int, as_value
from gtape.jit.codegen.loops import local
from gtape.jit.graph.ir import Op
from gtape.lowering import Fold
from gtape.scalar import Call, Name, Tree, parse

BLOCK = 1024
"""So many numbers are summed before the sum goes to the wide accumulator."""

_INT64, _FLOAT64 = as_numpy_dtype("int64"), as_numpy_dtype("float64")
_FREE = ("reassoc", "contract", "nsz")


class Accumulator:
    """What a fold has found so far, for one element of its result or for several.

    Args:
        b: Where to take local memory.
        body: Emits scalar expressions.
        node: The fold.
        lanes: For how many elements.
    """

    def __init__(self, b: ir.IRBuilder, body: Body, node: Op, lanes: int = 1) -> None:
        lowering = node.primitive.lowering
        assert isinstance(lowering, Fold)
        self.node = node
        self._body = body
        self._lowering = lowering
        self._trees = [parse(text) for text in lowering.combine]
        [atom] = node.inputs
        self._dtype: NumpyDType = atom.dtype
        self._kinds = [
            _INT64 if "j" in _names(tree) else self._dtype for tree in self._trees
        ]
        word = _word(self._trees[0]) if len(self._trees) == 1 else ""
        self._is_float = self._dtype.kind in "fV"
        self._sums = word == "add" and self._is_float
        self._multiplies = word == "mul" and self._is_float
        self._lanes = lanes
        self._slots = [
            local(b, _register(self._wide if self._sums else kind), lanes)
            for kind in self._kinds
        ]
        self._partial = self._lost = None
        if self._sums and lanes == 1:
            self._partial = local(b, _register(self._dtype))
            if self._dtype == _FLOAT64:
                self._lost = local(b, ir.DoubleType())

    @property
    def _wide(self) -> NumpyDType:
        return _FLOAT64

    def _slot(self, b: ir.IRBuilder, k: int, lane: Int) -> ir.Value:
        if self._lanes == 1:
            return self._slots[k]
        return b.gep(self._slots[k], [as_value(lane)])

    # --- What is emitted --------------------------------------------------------------

    def begin(self, b: ir.IRBuilder, lane: Int = 0) -> None:
        """Emit the start."""
        for k, (text, kind) in enumerate(
            zip(self._lowering.identity, self._kinds, strict=True)
        ):
            wanted = self._wide if self._sums else kind
            b.store(_identity(text, wanted).value, self._slot(b, k, lane))
        if self._lost is not None:
            b.store(ir.Constant(ir.DoubleType(), 0.0), self._lost)

    def begin_block(self, b: ir.IRBuilder) -> None:
        """Emit the start of a block of numbers."""
        if self._partial is not None:
            b.store(constant(self._dtype, 0).value, self._partial)

    def step(self, b: ir.IRBuilder, x: Scalar, j: Int, lane: Int = 0) -> None:
        """Emit that a number is taken in."""
        if self._partial is not None:
            total = b.fadd(b.load(self._partial), x.value, flags=_FREE)
            b.store(total, self._partial)
            return
        if self._sums:
            slot = self._slot(b, 0, lane)
            wide = cast(b, x, self._wide).value
            b.store(b.fadd(b.load(slot), wide), slot)
            return
        if self._multiplies:
            slot = self._slot(b, 0, lane)
            b.store(b.fmul(b.load(slot), x.value, flags=_FREE), slot)
            return
        names: dict[str, Any] = {"x": x, "j": Scalar(_INT64, as_value(j))}
        names |= self._accumulated(b, lane)
        found = [self._body.emit(b, tree, names) for tree in self._trees]
        for k, (out, kind) in enumerate(zip(found, self._kinds, strict=True)):
            b.store(_typed(b, out, kind).value, self._slot(b, k, lane))

    def end_block(self, b: ir.IRBuilder) -> None:
        """Emit the end of a block."""
        if self._partial is None:
            return
        slot = self._slots[0]
        part = cast(b, Scalar(self._dtype, b.load(self._partial)), self._wide).value
        total = b.load(slot)
        new = b.fadd(total, part)
        if self._lost is not None:
            fabs = b.module.declare_intrinsic("llvm.fabs", [ir.DoubleType()])
            larger = b.fcmp_ordered(">=", b.call(fabs, [total]), b.call(fabs, [part]))
            a = b.select(larger, total, part)
            c = b.select(larger, part, total)
            lost = b.fadd(b.fsub(a, new), c)
            # An infinite sum loses nothing that a number could say.
            finite = b.fcmp_ordered("==", b.fsub(new, new), new.type(0.0))
            lost = b.select(finite, lost, new.type(0.0))
            b.store(b.fadd(b.load(self._lost), lost), self._lost)
        b.store(new, slot)

    def finish(self, b: ir.IRBuilder, count: Int, lane: Int = 0) -> Scalar:
        """Emit the result, and return it."""
        names = self._accumulated(b, lane)
        out: NumpyDType = self.node.outputs[0].dtype
        wide = self._wide if self._sums else out
        names["n"] = cast(b, Scalar(_INT64, as_value(count)), wide)
        found = self._body.emit(b, parse(self._lowering.finish), names)
        return _typed(b, found, out)

    def _accumulated(self, b: ir.IRBuilder, lane: Int) -> dict[str, Any]:
        names: dict[str, Any] = {}
        for k, kind in enumerate(self._kinds):
            value = b.load(self._slot(b, k, lane))
            if self._sums:
                kind = self._wide
                if self._lost is not None:
                    value = b.fadd(value, b.load(self._lost))
            names[f"acc{k}"] = Scalar(kind, value)
        if len(self._kinds) == 1:
            names["acc"] = names["acc0"]
        return names


def _typed(b: ir.IRBuilder, found: Any, dtype: NumpyDType) -> Scalar:
    if isinstance(found, Scalar):
        return cast(b, found, dtype)
    return constant(dtype, found)


def _register(dtype: NumpyDType) -> ir.Type:
    """Return the type of a dtype in registers."""
    return constant(dtype, 0).value.type


def _identity(text: str, dtype: NumpyDType) -> Scalar:
    if text in ("lowest", "highest"):
        if dtype.kind in "fV":
            return constant(dtype, -np.inf if text == "lowest" else np.inf)
        if dtype.kind == "b":
            return constant(dtype, text == "highest")
        limits = np.iinfo(dtype)
        return constant(dtype, limits.min if text == "lowest" else limits.max)
    tree = parse(text)
    return constant(dtype, getattr(tree, "value", 0))


def _word(tree: Tree) -> str:
    """Return the word of `acc + x` and `acc * x`."""
    if isinstance(tree, Call) and tree.operands == (Name("acc"), Name("x")):
        return tree.function
    return ""


def _names(tree: Tree) -> set[str]:
    if isinstance(tree, Name):
        return {tree.name}
    if isinstance(tree, Call):
        return set().union(*[_names(part) for part in tree.operands])
    return set()


Emit = Callable[[ir.IRBuilder], None]
ZERO = I64(0)
