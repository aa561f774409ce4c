"""The functions of `gtape.philox` as LLVM code, with the same bits as there.

They consist of +, -, *, / and sqrt, each rounded as IEEE 754 says, so the order of
operations is all that matters. No instruction here may carry a flag that lets LLVM
change it, and no product and sum may become one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from llvmlite import ir

from gtape import philox
from gtape.jit.codegen.scalars import intrinsic


class Series:
    """Emits functions of floats of one width.

    Args:
        builder: Where to.
        width: Their bytes: 4 or 8.
    """

    def __init__(self, builder: ir.IRBuilder, width: int) -> None:
        self._b = builder
        self._width = width
        self.real = ir.FloatType() if width == 4 else ir.DoubleType()
        self.bits = ir.IntType(8 * width)

    def number(self, value: float) -> ir.Constant:
        """Return a number, rounded to the width as NumPy does it."""
        if self._width == 4:
            value = float(np.float32(value))
        return ir.Constant(self.real, float(value))

    def horner(self, z: ir.Value, coefficients: Sequence[float]) -> ir.Value:
        """Return a polynomial whose coefficients are given from the lowest."""
        b, numbers = self._b, [self.number(c) for c in coefficients]
        total = b.fmul(z, numbers[-1])
        for number in numbers[-2:0:-1]:
            total = b.fmul(b.fadd(total, number), z)
        return b.fadd(total, numbers[0])

    def log(self, x: ir.Value) -> ir.Value:
        """Return the logarithm of a positive normal number."""
        b, kind = self._b, self.bits
        mantissa, root = (
            (23, 0x3F3504F3) if self._width == 4 else (52, 0x3FE6A09E667F3BCD)
        )
        bits = b.bitcast(x, kind)
        exponent = b.ashr(b.sub(bits, kind(root)), kind(mantissa))
        scaled = b.bitcast(b.sub(bits, b.shl(exponent, kind(mantissa))), self.real)
        f = b.fsub(scaled, self.number(1))
        s = b.fdiv(f, b.fadd(f, self.number(2)))
        z = b.fmul(s, s)
        tail = b.fmul(self.horner(z, philox._LOG[self._width]), z)
        scale = b.sitofp(exponent, self.real)
        high, low = (self.number(part) for part in philox._LN2[self._width])
        inner = b.fsub(f, b.fmul(s, b.fsub(f, tail)))
        return b.fadd(b.fmul(scale, high), b.fadd(inner, b.fmul(scale, low)))

    def unit(self, bits: ir.Value) -> ir.Value:
        """Return (bits + 1/2) / 2**width, which lies in (0, 1]."""
        b, count = self._b, 8 * self._width
        u = b.fmul(b.uitofp(bits, self.real), self.number(2.0**-count))
        return b.fadd(u, self.number(2.0 ** (-count - 1)))

    def turn(self, bits: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Return the cosine and the sine of bits / 2**width turns."""
        b, kind = self._b, self.bits
        shift = kind(8 * self._width - 2)
        half = kind(1 << (shift.constant - 1))
        quarter = b.lshr(b.add(bits, half), shift)
        rest = b.sitofp(b.sub(bits, b.shl(quarter, shift)), self.real)
        t = b.fmul(rest, self.number(math.pi / 2 * 2.0**-shift.constant))
        z = b.fmul(t, t)
        inner = b.fmul(z, self.horner(z, philox._SIN[self._width]))
        sin = b.fadd(t, b.fmul(t, inner))
        cos = self.horner(z, philox._COS[self._width])
        cos = b.fadd(self.number(1), b.fmul(z, cos))
        swap = b.trunc(quarter, ir.IntType(1))
        first, second = b.select(swap, sin, cos), b.select(swap, cos, sin)
        two = kind(2)
        signs = b.and_(b.add(quarter, kind(1)), two), b.and_(quarter, two)
        out = [
            b.bitcast(b.xor(b.bitcast(x, kind), b.shl(sign, shift)), self.real)
            for x, sign in zip((first, second), signs, strict=True)
        ]
        return out[0], out[1]

    def normals(self, first: ir.Value, second: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Return two normal numbers, by the method of Box and Muller (1958)."""
        b = self._b
        square = b.fmul(self.log(self.unit(first)), self.number(-2))
        radius = intrinsic(b, "llvm.sqrt", square)
        cos, sin = self.turn(second)
        return b.fmul(radius, cos), b.fmul(radius, sin)

    def truncated(self, bits: ir.Value, count: int) -> ir.Value:
        """Return a normal number in [-2, 2] from so many bits, in float64."""
        b, number = self._b, self.number
        y = b.fadd(b.uitofp(bits, self.real), number(0.5))
        y = b.fsub(b.fmul(y, number(2.0 ** (1 - count))), number(1))
        y = b.fmul(y, number(0.9544997361036416))  # erf(sqrt(2))
        one = number(1)
        w = b.fneg(self.log(b.fmul(b.fsub(one, y), b.fadd(one, y))))
        x = b.fmul(y, self.horner(w, philox._PROBIT))
        for sign, end in ((">", -2.0), ("<", 2.0)):
            inside = b.fcmp_ordered(sign, x, number(end))
            x = b.select(inside, x, number(end))
        return x

    def exp(self, x: ir.Value) -> ir.Value:
        """Return the exponential of a float64 number up to 0."""
        b, number = self._b, self.number
        least = number(-800.0)
        x = b.select(b.fcmp_ordered(">", x, least), x, least)
        power = intrinsic(b, "llvm.rint", b.fmul(x, number(1 / math.log(2))))
        high, low = (number(part) for part in philox._LN2[8])
        rest = b.fsub(b.fsub(x, b.fmul(power, high)), b.fmul(power, low))
        value = self.horner(rest, philox._EXP)
        # Times 2**power in two steps: the first is exact, so that only the second
        # rounds where the result is subnormal.
        whole = b.fptosi(power, self.bits)
        half = b.ashr(whole, self.bits(1))
        for part in (half, b.sub(whole, half)):
            exponent = b.shl(b.add(part, self.bits(1023)), self.bits(52))
            value = b.fmul(value, b.bitcast(exponent, self.real))
        return value
