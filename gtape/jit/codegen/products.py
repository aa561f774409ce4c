"""Products of two matrices: a call of BLAS, or loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.body import load, memory_type
from gtape.jit.codegen.index import NotCompiledError, add, as_value, mul
from gtape.jit.codegen.loops import local, loop

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

I8, I32 = ir.IntType(8), ir.IntType(32)
_FLOAT32, _FLOAT64 = as_numpy_dtype("float32"), as_numpy_dtype("float64")


def gemm(
    region: Region,
    b: ir.IRBuilder,
    dtype: Any,
    at: Any,
    dims: Any,
    turned: Any,
    leads: Any = None,
    start: float = 0.0,
) -> None:
    """Emit a call of BLAS, whose matrices stand by columns: C' = B' A'.

    Args:
        region: Where the product is computed.
        b: Where to emit.
        dtype: float32 or float64.
        at: The addresses of the factors [m, k] and [k, n] and of the result [m, n].
        dims: m, n and k.
        turned: For each factor, whether it stands in memory transposed.
        leads: The distances between the rows in memory of the three, where they are
            more than the lengths of the rows.
        start: What the result is multiplied by before the product is added to it.
    """
    kind = memory_type(dtype)
    name = "gtape_sgemm" if dtype == _FLOAT32 else "gtape_dgemm"
    byte, number, real = I8.as_pointer(), I32.as_pointer(), kind.as_pointer()
    kinds = [byte, byte, number, number, number, real, real, number, real, number]
    kinds += [real, real, number]
    function = region.code.frame.library(name, ir.VoidType(), kinds)
    m, n, k = [b.trunc(as_value(d), I32) for d in dims]
    own = (m if turned[0] else k, k if turned[1] else n, n)
    if leads is not None:
        own = tuple([b.trunc(as_value(lead), I32) for lead in leads])

    def boxed(value: ir.Value) -> ir.Value:
        slot = local(b, value.type)
        b.store(value, slot)
        return slot

    def at_least_one(value: ir.Value) -> ir.Value:
        return b.select(b.icmp_signed(">", value, I32(1)), value, I32(1))

    letters = [boxed(I8(ord("T" if t else "N"))) for t in turned]
    x_lead, y_lead, out_lead = [boxed(at_least_one(lead)) for lead in own]
    one, beta = boxed(ir.Constant(kind, 1.0)), boxed(ir.Constant(kind, start))
    some = b.and_(b.icmp_signed(">", m, I32(0)), b.icmp_signed(">", n, I32(0)))
    with b.if_then(some):
        b.call(
            function,
            [
                *(letters[1], letters[0], boxed(n), boxed(m), boxed(k), one),
                *(at[1], y_lead, at[0], x_lead, beta, at[2], out_lead),
            ],
        )


def product(
    region: Region, b: ir.IRBuilder, dtype: Any, at: Any, dims: Any, turned: Any
) -> None:
    """Emit the loops of a product.

    Args:
        region: Where it is computed.
        b: Where to emit.
        dtype: An integer dtype, float32 or float64.
        at: The addresses of the factors [m, k] and [k, n] and of the result [m, n].
        dims: m, n and k.
        turned: For each factor, whether it stands in memory transposed.

    Raises:
        NotCompiledError: If the dtype is another one.
    """
    m, n, k = dims
    kind = memory_type(dtype)
    if dtype.kind not in "iu" and dtype not in (_FLOAT32, _FLOAT64):
        raise NotCompiledError(f"a matrix product of {dtype}")
    zero = ir.Constant(kind, 0 if dtype.kind in "iu" else 0.0)
    with loop(b, m) as i:
        row = mul(b, i, n)
        with loop(b, n) as j:
            total = local(b, kind)
            b.store(zero, total)
            with loop(b, k) as p:
                x_at = add(b, mul(b, p, m), i) if turned[0] else add(b, mul(b, i, k), p)
                y_at = add(b, mul(b, j, k), p) if turned[1] else add(b, mul(b, p, n), j)
                x = load(b, b.gep(at[0], [as_value(x_at)]), dtype).value
                y = load(b, b.gep(at[1], [as_value(y_at)]), dtype).value
                if dtype.kind in "iu":
                    found = b.add(b.load(total), b.mul(x, y))
                else:
                    flags = ("contract", "reassoc")
                    found = b.fadd(
                        b.load(total), b.fmul(x, y, flags=flags), flags=flags
                    )
                b.store(found, total)
            b.store(b.load(total), b.gep(at[2], [as_value(add(b, row, j))]))
