"""Operations with code of their own: matrix products, Python's numbers, checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.body import Scalar, load
from gtape.jit.codegen.convolving import CONVOLVING
from gtape.jit.codegen.counting import COUNTING
from gtape.jit.codegen.drawing import DRAWING
from gtape.jit.codegen.index import Int, NotCompiledError, add, as_value, mul
from gtape.jit.codegen.loops import local, loop, loops
from gtape.jit.codegen.pooling import POOLING
from gtape.jit.codegen.products import gemm, product
from gtape.jit.codegen.python import PYTHON
from gtape.jit.codegen.rows import ROWS
from gtape.jit.codegen.scans import SCANS
from gtape.jit.codegen.scatter import scatter
from gtape.jit.codegen.searching import SEARCHING
from gtape.jit.codegen.sorting import SORTING
from gtape.jit.graph.ir import Op
from gtape.jit.schedule.nodes import factor_of
from gtape.sizes import same_size

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

Emitter = Callable[["Region", ir.IRBuilder, Op], None]

_FLOAT32, _FLOAT64 = as_numpy_dtype("float32"), as_numpy_dtype("float64")
_BOOL = as_numpy_dtype("bool")
_SMALL = 2048  # products of numbers that loops compute sooner than a library is called


def _matmul(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit a matrix product, of each matrix of a batch."""
    [value] = node.outputs
    makers = region.plan.makers
    factors = [factor_of(atom, makers) for atom in node.inputs]
    sizes = region.sizes
    (x, x_turned), (y, y_turned) = factors
    m, n = value.shape[-2:]
    k = node.inputs[0].shape[-1]
    out = region.place(b, value)
    pointers = [region.pointer(x), region.pointer(y)]
    batch = tuple(value.shape[:-2])
    dims = [sizes.of(b, d) for d in (m, n, k)]
    known = all(isinstance(d, int) for d in dims)
    small = known and dims[0] * dims[1] * dims[2] <= _SMALL
    blas = value.dtype in (_FLOAT32, _FLOAT64) and not small
    counts = [sizes.of(b, d) for d in batch]
    with loops(b, counts) as places:
        starts = []
        for atom in node.inputs:
            own = tuple(atom.shape[:-2])
            start: Int = 0
            for axis, dim in enumerate(own):
                i = places[len(batch) - len(own) + axis]
                i = 0 if same_size(dim, 1) else i
                start = add(b, mul(b, start, sizes.of(b, dim)), i)
            start = mul(b, start, sizes.of(b, atom.shape[-2]))
            starts.append(mul(b, start, sizes.of(b, atom.shape[-1])))
        start = 0
        for i, count in zip(places, counts, strict=True):
            start = add(b, mul(b, start, count), i)
        starts.append(mul(b, mul(b, start, dims[0]), dims[1]))
        at = [
            b.gep(pointer, [as_value(s)])
            for pointer, s in zip((*pointers, out), starts, strict=True)
        ]
        if blas:
            gemm(region, b, value.dtype, at, dims, (x_turned, y_turned))
        else:
            product(region, b, value.dtype, at, dims, (x_turned, y_turned))


def _check(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit that a claim holds everywhere."""
    holds = node.inputs[0]
    frame = region.code.frame
    if holds.ndim == 0:
        frame.fail(b, b.not_(region.number(holds).value))
    else:
        bad = local(b, ir.IntType(1))
        b.store(ir.IntType(1)(0), bad)
        pointer = region.pointer(holds)
        with loop(b, region.sizes.product(b, holds.shape)) as i:
            found = load(b, b.gep(pointer, [as_value(i)]), _BOOL).value
            b.store(b.or_(b.load(bad), b.not_(found)), bad)
        frame.fail(b, b.load(bad))
    region.give(node.outputs[0], Scalar(_BOOL, ir.IntType(1)(1)))


def _host(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit a call of Python: the interpreter makes it, and all that was before.

    It stands in a branch that is seldom taken, such as one that raises an exception.
    Elsewhere every call would end so.
    """
    if not region.code.branches:
        raise NotCompiledError(f"{node.primitive.name} is not compiled")
    true = ir.IntType(1)(1)
    region.code.frame.fail(b, true)
    region.give(node.outputs[0], Scalar(_BOOL, true))


def _python(name: str) -> Emitter:
    emit = PYTHON[name]

    def emitter(region: Region, b: ir.IRBuilder, node: Op) -> None:
        numbers = [region.number(atom) for atom in node.inputs]

        def fail(bad: ir.Value) -> None:
            region.code.frame.fail(b, bad)

        [value] = node.outputs
        region.give(value, emit(b, numbers, value.dtype, fail, region.code.body))

    return emitter


EMITTERS: dict[str, Emitter] = {
    "matmul": _matmul,
    "check": _check,
    "host": _host,
    "print": _host,
    **COUNTING,
    "scatter": scatter,
    **DRAWING,
    **{name: _python(name) for name in PYTHON},
    **CONVOLVING,
    **POOLING,
    **ROWS,
    **SCANS,
    **SEARCHING,
    **SORTING,
}
"""What emits the code of an operation, by the name in its lowering."""
