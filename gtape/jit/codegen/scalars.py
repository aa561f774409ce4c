"""Single values in registers: their LLVM types, loads, stores, constants and casts.

A float16 or bfloat16 is held as an LLVM float whose value that format has, and computed
with as such; a bool is held as i1 and lies in memory as a byte.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from llvmlite import ir

from gtape.dtypes import NumpyDType
from gtape.errors import DTypeError

BOOL, FLOAT, DOUBLE = ir.IntType(1), ir.FloatType(), ir.DoubleType()
_BYTE, _SHORT, _INT, _LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))


class Scalar(NamedTuple):
    """A value of a dtype in a register.

    Args:
        dtype: Its NumPy dtype.
        value: The LLVM value: i1 for bool, the integer type of its width for integers,
            double for float64, and float for float32, float16 and bfloat16.
    """

    dtype: NumpyDType
    value: Any


def is_float(dtype: NumpyDType) -> bool:
    """Return whether a dtype is a real floating-point type."""
    return dtype.kind in "fV"


def is_half(dtype: NumpyDType) -> bool:
    """Return whether a dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def register_type(dtype: NumpyDType) -> Any:
    """Return the LLVM type of a value in a register.

    Args:
        dtype: Its dtype.

    Raises:
        DTypeError: If it is complex.
    """
    if dtype.kind == "c":
        raise DTypeError(
            f"{dtype}: complex numbers are not compiled",
            "Run what uses them without compiling it",
        )
    if dtype.kind == "b":
        return BOOL
    if dtype.kind in "iu":
        return ir.IntType(8 * dtype.itemsize)
    return DOUBLE if dtype.itemsize == 8 else FLOAT


def memory_type(dtype: NumpyDType) -> Any:
    """Return the LLVM type of a value in memory.

    Args:
        dtype: Its dtype.

    Raises:
        DTypeError: If it is complex.
    """
    if dtype.kind == "b":
        return _BYTE
    if is_half(dtype):
        return _SHORT if dtype.kind == "V" else ir.HalfType()
    return register_type(dtype)


def load(builder: Any, pointer: Any, dtype: NumpyDType) -> Scalar:
    """Emit a load.

    Args:
        builder: Where to.
        pointer: The address.
        dtype: What lies there.
    """
    raw = builder.load(pointer, typ=memory_type(dtype))
    return Scalar(dtype, from_memory(builder, raw, dtype))


def store(builder: Any, scalar: Scalar, pointer: Any, dtype: NumpyDType) -> None:
    """Emit a store.

    Args:
        builder: Where to.
        scalar: The value, of any dtype.
        pointer: The address.
        dtype: What lies there: the value is cast to it.
    """
    value = cast(builder, scalar, dtype).value
    builder.store(to_memory(builder, value, dtype), pointer)


def from_memory(builder: Any, raw: Any, dtype: NumpyDType) -> Any:
    """Return a value as it lies in memory in the form it has in a register."""
    if dtype.kind == "b":
        return builder.icmp_unsigned("!=", raw, ir.Constant(_BYTE, 0))
    if not is_half(dtype):
        return raw
    if dtype.kind == "f":
        return builder.fpext(raw, FLOAT)
    bits = builder.shl(builder.zext(raw, _INT), ir.Constant(_INT, 16))
    return builder.bitcast(bits, FLOAT)


def to_memory(builder: Any, value: Any, dtype: NumpyDType) -> Any:
    """Return a value in a register in the form it has in memory."""
    if dtype.kind == "b":
        return builder.zext(value, _BYTE)
    if not is_half(dtype):
        return value
    if dtype.kind == "f":
        return builder.fptrunc(value, ir.HalfType())
    # The value is one of bfloat16, so its lower half is empty.
    bits = builder.lshr(builder.bitcast(value, _INT), ir.Constant(_INT, 16))
    return builder.trunc(bits, _SHORT)


def number(dtype: NumpyDType, value: Any) -> Any:
    """Return the LLVM constant of a number.

    Args:
        dtype: Its dtype, which it is rounded to, or wraps around in.
        value: A Python or NumPy number.
    """
    kind = register_type(dtype)
    if dtype.kind == "b":
        return ir.Constant(kind, int(bool(value)))
    if dtype.kind in "iu":
        # As an unsigned number: LLVM's integers have no sign.
        return ir.Constant(kind, int(value) & ((1 << kind.width) - 1))
    with np.errstate(all="ignore"):
        return ir.Constant(kind, float(dtype.type(value)))


def constant(dtype: NumpyDType, value: Any) -> Scalar:
    """Return a number as a scalar.

    Args:
        dtype: Its dtype, which it is rounded to, or wraps around in.
        value: A Python or NumPy number.
    """
    return Scalar(dtype, number(dtype, value))


# --- Casts ----------------------------------------------------------------------------


def cast(builder: Any, scalar: Scalar, dtype: NumpyDType) -> Scalar:
    """Emit a cast, with NumPy's results: to bool asks for non-zero, to int cuts off.

    Args:
        builder: Where to.
        scalar: The value. Where an integer dtype does not hold it, some number results.
        dtype: The dtype it gets.
    """
    source = scalar.dtype
    if source == dtype:
        return scalar
    value, kind = scalar.value, register_type(dtype)
    if dtype.kind == "b":
        return Scalar(dtype, truth(builder, scalar))
    if is_float(source):
        out = (
            _to_other_float(builder, value, dtype)
            if is_float(dtype)
            else _to_integer(builder, value, dtype)
        )
    elif is_float(dtype):
        signed = source.kind == "i"
        convert = builder.sitofp if signed else builder.uitofp
        out = rounded(builder, convert(value, kind), dtype)
    elif kind.width == value.type.width:
        out = value
    elif kind.width < value.type.width:
        out = builder.trunc(value, kind)
    else:
        widen = builder.sext if source.kind == "i" else builder.zext
        out = widen(value, kind)
    return Scalar(dtype, out)


def truth(builder: Any, scalar: Scalar) -> Any:
    """Return whether a value is not zero, as an i1."""
    value, dtype = scalar.value, scalar.dtype
    if dtype.kind == "b":
        return value
    zero = number(dtype, 0)
    if is_float(dtype):
        return builder.fcmp_unordered("!=", value, zero)
    return builder.icmp_unsigned("!=", value, zero)


def rounded(builder: Any, value: Any, dtype: NumpyDType) -> Any:
    """Return a float rounded to float16 or bfloat16; of other dtypes as it is."""
    if not is_half(dtype):
        return value
    if dtype.kind == "f":
        return builder.fpext(builder.fptrunc(value, ir.HalfType()), FLOAT)
    # To nearest, ties to even: add just under half of the last place that stays, and
    # one more where that place is odd. A NaN could become an infinity on the way, so it
    # gets the bit that makes it a quiet one.
    bits = builder.bitcast(value, _INT)
    last = builder.and_(builder.lshr(bits, _int(16)), _int(1))
    up = builder.add(bits, builder.add(last, _int(0x7FFF)))
    quiet = builder.or_(bits, _int(0x00400000))
    out = builder.select(builder.fcmp_unordered("uno", value, value), quiet, up)
    return builder.bitcast(builder.and_(out, _int(0xFFFF0000)), FLOAT)


def _int(value: int) -> Any:
    return ir.Constant(_INT, value)


def _to_other_float(builder: Any, value: Any, dtype: NumpyDType) -> Any:
    kind = register_type(dtype)
    if kind == DOUBLE:
        return builder.fpext(value, DOUBLE)
    if value.type == DOUBLE:
        # NumPy rounds to float16 at once, ml_dtypes to bfloat16 by way of float32.
        to_half = is_half(dtype) and dtype.kind == "f"
        value = (_to_odd if to_half else _to_nearest)(builder, value)
    return rounded(builder, value, dtype)


def _to_nearest(builder: Any, value: Any) -> Any:
    return builder.fptrunc(value, FLOAT)


def _to_odd(builder: Any, value: Any) -> Any:
    """Return a double as a float, rounded so that rounding it once more does no harm.

    What is not exact goes to the neighbor with an odd last place (S. Boldo and
    G. Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using
    rounding to odd, 2008). LLVM would call a function that few systems have.
    """
    near = builder.fptrunc(value, FLOAT)
    back = builder.fpext(near, DOUBLE)
    bits = builder.bitcast(near, _INT)
    size = fabs(builder, back), fabs(builder, value)
    above = builder.zext(builder.fcmp_ordered(">", *size), _INT)
    odd = builder.bitcast(builder.or_(builder.sub(bits, above), _int(1)), FLOAT)
    return builder.select(builder.fcmp_ordered("!=", back, value), odd, near)


def fabs(builder: Any, value: Any) -> Any:
    """Return the absolute value of a floating-point register."""
    return intrinsic(builder, "llvm.fabs", value)


def intrinsic(builder: Any, name: str, *operands: Any) -> Any:
    """Emit a call of an LLVM function that is named by the type of its operands."""
    kind = operands[0].type
    signature = ir.FunctionType(kind, [kind] * len(operands))
    function = builder.module.declare_intrinsic(name, [kind], signature)
    return builder.call(function, operands)


def _to_integer(builder: Any, value: Any, dtype: NumpyDType) -> Any:
    """Cut off the fraction; narrow dtypes by way of a wide one, as processors do it."""
    bits, unsigned = 8 * dtype.itemsize, dtype.kind == "u"
    wide = _LONG if bits == 64 or (bits == 32 and unsigned) else _INT
    out = _saturated(builder, "llvm.fptosi.sat", value, wide)
    if bits == 64 and unsigned:
        whole = _saturated(builder, "llvm.fptoui.sat", value, wide)
        large = builder.fcmp_ordered(">=", value, ir.Constant(value.type, 2.0**63))
        out = builder.select(large, whole, out)
    return out if bits == wide.width else builder.trunc(out, ir.IntType(bits))


def _saturated(builder: Any, name: str, value: Any, kind: Any) -> Any:
    # The plain instruction leaves the result for large values undefined.
    signature = ir.FunctionType(kind, [value.type])
    function = builder.module.declare_intrinsic(name, [kind, value.type], signature)
    return builder.call(function, [value])


def bits_of(builder: Any, value: Any, dtype: NumpyDType) -> Any:
    """Return the bits that a floating-point value has in memory, as an integer."""
    raw = to_memory(builder, value, dtype)
    kind = ir.IntType(8 * dtype.itemsize)
    return raw if raw.type == kind else builder.bitcast(raw, kind)


def of_bits(builder: Any, bits: Any, dtype: NumpyDType) -> Any:
    """Return the floating-point value that has these bits in memory."""
    kind = memory_type(dtype)
    raw = bits if bits.type == kind else builder.bitcast(bits, kind)
    return from_memory(builder, raw, dtype)


def smallest(dtype: NumpyDType) -> float:
    """Return the smallest positive number of a floating-point dtype."""
    info: Any = ml_dtypes.finfo  # untyped
    return float(info(dtype).smallest_subnormal)
