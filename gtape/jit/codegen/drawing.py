"""Random draws: the numbers of the eager operations, bit for bit.

A draw is cut into chunks: their random bits are written first, and then become numbers
in a loop of their own. See `gtape.philox` for which bits an element reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from llvmlite import ir

from gtape import philox
from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.jit.codegen.body import Scalar, cast, load, memory_type
from gtape.jit.codegen.choosing import categorical, permutation
from gtape.jit.codegen.dice import integers
from gtape.jit.codegen.gamma import gamma
from gtape.jit.codegen.index import I64, add, as_value, mul
from gtape.jit.codegen.loops import local, loop
from gtape.jit.codegen.parameters import Parameter, emit_draw, put
from gtape.jit.codegen.philox import CHUNK, Chunk, Draw
from gtape.jit.codegen.series import Series
from gtape.jit.graph.ir import Op

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

Emitter = Callable[["Region", ir.IRBuilder, Op], None]

_BOOL = as_numpy_dtype("bool")
_FLOAT32, _FLOAT64 = as_numpy_dtype("float32"), as_numpy_dtype("float64")


def _wide(dtype: NumpyDType) -> bool:
    return dtype.itemsize == 8


# --- Distributions without parameters -------------------------------------------------


def _uniform(dtype: NumpyDType) -> Draw:
    wide = _wide(dtype)
    bits = philox._FLOATS[dtype.name][0]

    def write(b: ir.IRBuilder, chunk: Chunk, given: Sequence[ir.Value]) -> None:
        series = Series(b, 8 if wide else 4)
        with loop(b, chunk.count) as i:
            found = chunk.bits(b, wide, i)
            high = b.lshr(found, found.type(found.type.width - bits))
            u = b.fmul(b.uitofp(high, series.real), series.number(2.0**-bits))
            put(b, Scalar(dtype, u), given[0], add(b, chunk.start, i), dtype)

    kinds = [memory_type(dtype).as_pointer()]
    return Draw(f"gtape_uniform_{dtype.name}", kinds, 1 + wide, 0.5 + 0.5 * wide, write)


def _normal(dtype: NumpyDType) -> Draw:
    wide = _wide(dtype)
    computed = _FLOAT64 if wide else _FLOAT32

    def write(b: ir.IRBuilder, chunk: Chunk, given: Sequence[ir.Value]) -> None:
        series = Series(b, 8 if wide else 4)
        # Two numbers share their bits, and the last one may stand alone.
        made = local(b, series.real, CHUNK if wide else 2 * CHUNK)
        made.align = 64
        pairs = b.lshr(b.add(chunk.count, I64(1)), I64(1))
        with loop(b, pairs) as j:
            i = mul(b, j, 2)
            places = i, add(b, i, 1)
            found = [chunk.bits(b, wide, place) for place in places]
            for x, place in zip(series.normals(*found), places, strict=True):
                b.store(x, b.gep(made, [as_value(place)]))
        with loop(b, chunk.count) as i:
            x = b.load(b.gep(made, [as_value(i)]))
            put(b, Scalar(computed, x), given[0], add(b, chunk.start, i), dtype)

    kinds = [memory_type(dtype).as_pointer()]
    return Draw(
        f"gtape_normal_{dtype.name}", kinds, 1 + wide, 4.0 if wide else 1.0, write
    )


def _truncated_normal(dtype: NumpyDType) -> Draw:
    wide = _wide(dtype)

    def write(b: ir.IRBuilder, chunk: Chunk, given: Sequence[ir.Value]) -> None:
        series = Series(b, 8)
        with loop(b, chunk.count) as i:
            bits = chunk.bits(b, wide, i)
            bits = b.lshr(bits, I64(12)) if wide else bits
            x = series.truncated(bits, 52 if wide else 32)
            put(b, Scalar(_FLOAT64, x), given[0], add(b, chunk.start, i), dtype)

    kinds = [memory_type(dtype).as_pointer()]
    return Draw(f"gtape_truncated_normal_{dtype.name}", kinds, 1 + wide, 4.0, write)


# --- Distributions with parameters ----------------------------------------------------


def _bernoulli(dtype: NumpyDType, each: bool) -> Draw:
    """Return the draw of bools, whose probability is of a dtype."""

    def write(b: ir.IRBuilder, chunk: Chunk, given: Sequence[ir.Value]) -> None:
        chance, out = given
        scale = ir.Constant(ir.DoubleType(), 2.0**32)
        with loop(b, chunk.count) as i:
            at = add(b, chunk.start, i)
            p = load(b, b.gep(chance, [as_value(at) if each else I64(0)]), dtype)
            limit = b.fmul(cast(b, p, _FLOAT64).value, scale)
            word = b.uitofp(chunk.bits(b, False, i), ir.DoubleType())
            kept = Scalar(_BOOL, b.fcmp_ordered("<", word, limit))
            put(b, kept, out, at, _BOOL)

    kinds = [memory_type(dtype).as_pointer(), memory_type(_BOOL).as_pointer()]
    name = f"gtape_bernoulli_{dtype.name}_{'each' if each else 'one'}"
    return Draw(name, kinds, 1, 0.5, write)


# --- Emitters -------------------------------------------------------------------------


def _standard(make: Callable[[NumpyDType], Draw]) -> Emitter:
    def emitter(region: Region, b: ir.IRBuilder, node: Op) -> None:
        emit_draw(region, b, node, make(node.outputs[0].dtype))

    return emitter


def _emit_bernoulli(region: Region, b: ir.IRBuilder, node: Op) -> None:
    p = Parameter(region, b, node.inputs[1])
    chance = p.spread(b, node.outputs[0].shape)
    emit_draw(region, b, node, _bernoulli(p.dtype, not p.is_one), [chance])


DRAWING: dict[str, Emitter] = {
    "random_uniform": _standard(_uniform),
    "random_normal": _standard(_normal),
    "random_truncated_normal": _standard(_truncated_normal),
    "random_bernoulli": _emit_bernoulli,
    "random_integers": integers,
    "random_categorical": categorical,
    "random_permutation": permutation,
    "random_gamma": gamma,
}
"""What emits the code of a draw, by the name in its lowering."""
