"""Convolution and its two transposes: products with the columns of x, or loops.

x is [n, *sizes, channels], w is [*window, channels / groups, features] and y is
[n, *counts, features]; each is computed from the two others. The columns have a row for
each window, with what lies below it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.index import (
    I64,
    Int,
    NotCompiledError,
    add,
    as_value,
    floordiv,
    mul,
    sub,
)
from gtape.jit.codegen.loops import loop, loops
from gtape.jit.codegen.products import gemm
from gtape.jit.codegen.sliding import Sliding, Window, bounded, divided, zeroed
from gtape.jit.graph.ir import Op

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_Act: TypeAlias = "Callable[[ir.Value, ir.Value, Int], None]"

_FLOATS = (as_numpy_dtype("float32"), as_numpy_dtype("float64"))
_BLOCK = 1 << 20
"""Bytes of columns at once: they stay in cache."""
_ALONE = 1 << 18
"""Products of numbers up to which BLAS works in one thread, without waiting for any."""
_ROWS = 32
"""Windows of a block that are worth a call of BLAS."""
_THIN = 2
"""Products of numbers for each place and group up to which loops are quicker."""
_VECTOR = 64
"""Elements that are added in registers, without a loop."""
_SMALL = 2048
"""Products of numbers in all up to which loops are quicker."""


def convolve(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit a convolution, or the one of its transposes that the primitive is.

    Args:
        region: Where it is computed.
        b: Where to emit.
        node: The operation.

    Raises:
        NotCompiledError: If the dtype is no integer, float32 or float64.
    """
    name = node.primitive.name
    [out] = node.outputs
    if out.dtype.kind not in "iu" and out.dtype not in _FLOATS:
        raise NotCompiledError(f"{name} is not compiled")
    first, second = node.inputs
    found = {
        "convolution": (first, second, out),
        "convolution_filter": (first, out, second),
        "convolution_input": (out, second, first),
    }[name]
    code = _Convolution(region, b, node, found)
    if code.is_thin():
        code.by_loops(b)
    else:
        code.by_products(b)


class _Convolution:
    """The code of a convolution.

    Args:
        region: Where it is computed.
        b: Where to emit.
        node: The operation.
        values: x, w and y, one of which is computed.
    """

    def __init__(
        self, region: Region, b: ir.IRBuilder, node: Op, values: tuple[Any, Any, Any]
    ) -> None:
        self.region = region
        [self.out] = node.outputs
        self.dtype = self.out.dtype
        x, _, y = values
        to = region.place(b, self.out)
        self.x, self.w, self.y = [
            to if value is self.out else region.pointer(value) for value in values
        ]
        self.to = to
        self.slide = Sliding(region, b, node.attrs["windows"], x, y)
        self.groups: Int = region.sizes.of(b, node.attrs["groups"])
        self.channels = floordiv(b, self.slide.channels, self.groups)
        self.features = floordiv(b, self.slide.features, self.groups)
        self.width = mul(b, self.slide.places, self.channels)
        self.name = node.primitive.name

    def is_thin(self) -> bool:
        """Return whether loops are quicker than a library."""
        if self.dtype not in _FLOATS:
            return True
        if not (isinstance(self.channels, int) and isinstance(self.features, int)):
            return False
        grouped = not (isinstance(self.groups, int) and self.groups == 1)
        if self.channels * self.features <= (_THIN if grouped else 1):
            return True
        parts = (self.slide.rows, self.groups, self.width)
        if not all(isinstance(n, int) for n in parts):
            return False
        rows, groups, width = parts
        return bool(rows * groups * width * self.features <= _SMALL)

    def at(self, b: ir.IRBuilder, pointer: ir.Value, place: Int) -> ir.Value:
        """Return the address of an element."""
        return b.gep(pointer, [as_value(place)])

    def clear(self, b: ir.IRBuilder) -> None:
        """Emit that the result becomes zero."""
        zeroed(b, self.to, self.region.bytes_of(b, self.out))

    # --- Loops ------------------------------------------------------------------------

    def by_loops(self, b: ir.IRBuilder) -> None:
        """Emit loops over windows, their places, groups, channels and features."""
        slide = self.slide
        self.clear(b)
        with slide.each_window(b) as (row, window):
            held = slide.held(b, window)
            y_row = mul(b, row, slide.features)
            with slide.each_place(b, window, held) as (place, x_row):
                w_row = mul(b, place, self.channels)
                with loops(b, (self.groups, self.channels, self.features)) as inner:
                    g, c, f = inner
                    feature = add(b, mul(b, g, self.features), f)
                    w_at = mul(b, add(b, w_row, c), slide.features)
                    self._add_product(
                        b,
                        self.at(b, self.x, add(b, x_row, self._channel(b, g, c))),
                        self.at(b, self.w, add(b, w_at, feature)),
                        self.at(b, self.y, add(b, y_row, feature)),
                    )

    def _channel(self, b: ir.IRBuilder, group: Int, channel: Int) -> Int:
        return add(b, mul(b, group, self.channels), channel)

    def _add_product(
        self, b: ir.IRBuilder, x: ir.Value, w: ir.Value, y: ir.Value
    ) -> None:
        """Emit that one of three elements is increased by the product of the others."""
        target = {id(self.x): x, id(self.w): w, id(self.y): y}[id(self.to)]
        one, other = [b.load(p) for p in (x, w, y) if p is not target]
        if self.dtype.kind in "iu":
            found = b.add(b.load(target), b.mul(one, other))
        else:
            flags = ("contract",)
            part = b.fmul(one, other, flags=flags)
            found = b.fadd(b.load(target), part, flags=flags)
        b.store(found, target)

    # --- Products with columns --------------------------------------------------------

    def by_products(self, b: ir.IRBuilder) -> None:
        """Emit products of matrices, for so many windows at once as fit in cache."""
        slide = self.slide
        plain = slide.is_plain
        if plain:
            step, columns, count = slide.rows, self.x, 1
        else:
            step = self._step(b)
            size = mul(b, step, self.width)
            columns = self.region.code.frame.memory(b, self.dtype, size)
            count, _ = divided(b, add(b, slide.rows, sub(b, step, 1)), step)
        adds = self.name == "convolution_filter" or not plain
        if adds and self.name != "convolution":
            self.clear(b)
        emit = {
            "convolution": self._forward,
            "convolution_filter": self._filter,
            "convolution_input": self._input,
        }[self.name]
        with loop(b, count) as block:
            first = mul(b, block, step)
            rows = bounded(b, sub(b, slide.rows, first), 0, step)
            with loop(b, self.groups) as group:
                lead = slide.channels if plain else self.width
                at = columns
                if plain:
                    at = self.at(b, columns, mul(b, group, self.channels))
                emit(b, first, rows, group, at, lead)

    def _step(self, b: ir.IRBuilder) -> Int:
        """Return the number of windows of a block."""
        most = _BLOCK // self.dtype.itemsize
        if isinstance(self.width, int):
            step = max(most // self.width, 1)
            if isinstance(self.features, int):
                alone = _ALONE // max(self.width * self.features, 1)
                step = min(step, alone) if alone >= _ROWS else step
            known = isinstance(self.slide.rows, int)
            return max(min(step, self.slide.rows), 1) if known else step
        found = b.sdiv(I64(most), as_value(self.width))
        return b.select(b.icmp_signed(">", found, I64(1)), found, I64(1))

    def _of_group(self, b: ir.IRBuilder, first: Int, group: Int) -> Any:
        """Return the addresses of a group's rows of y from one on, and of its w."""
        feature = mul(b, group, self.features)
        y = add(b, mul(b, first, self.slide.features), feature)
        return self.at(b, self.y, y), self.at(b, self.w, feature)

    def _forward(
        self, b: ir.IRBuilder, first: Int, rows: Int, group: Int, at: Any, lead: Int
    ) -> None:
        if not self.slide.is_plain:
            self._gather(b, first, rows, group, at)
        y, w = self._of_group(b, first, group)
        leads = (lead, self.slide.features, self.slide.features)
        dims = (rows, self.features, self.width)
        turned = (False, False)
        gemm(self.region, b, self.dtype, (at, w, y), dims, turned, leads)

    def _filter(
        self, b: ir.IRBuilder, first: Int, rows: Int, group: Int, at: Any, lead: Int
    ) -> None:
        if not self.slide.is_plain:
            self._gather(b, first, rows, group, at)
        y, w = self._of_group(b, first, group)
        leads = (lead, self.slide.features, self.slide.features)
        dims = (self.width, self.features, rows)
        turned = (True, False)
        gemm(self.region, b, self.dtype, (at, y, w), dims, turned, leads, 1.0)

    def _input(
        self, b: ir.IRBuilder, first: Int, rows: Int, group: Int, at: Any, lead: Int
    ) -> None:
        y, w = self._of_group(b, first, group)
        leads = (self.slide.features, self.slide.features, lead)
        dims = (rows, self.width, self.features)
        turned = (False, True)
        gemm(self.region, b, self.dtype, (y, w, at), dims, turned, leads)
        if not self.slide.is_plain:
            self._spread(b, first, rows, group, at)

    # --- Columns ----------------------------------------------------------------------

    def _gather(
        self, b: ir.IRBuilder, first: Int, rows: Int, group: Int, columns: ir.Value
    ) -> None:
        """Emit that columns get what lies below windows."""
        width, dtype = self.width, self.dtype

        def act(to: ir.Value, x: ir.Value, count: Int) -> None:
            size = mul(b, count, dtype.itemsize)
            self.region.code.frame.copy(b, to, x, as_value(size))

        def partly(window: Window, row: ir.Value) -> None:
            zeroed(b, row, mul(b, width, dtype.itemsize))
            self._each_part(b, window, group, row, act)

        self._each_row(b, first, rows, group, columns, act, partly)

    def _spread(
        self, b: ir.IRBuilder, first: Int, rows: Int, group: Int, columns: ir.Value
    ) -> None:
        """Emit that columns are added to what lies below windows."""

        def act(part: ir.Value, x: ir.Value, count: Int) -> None:
            if isinstance(count, int) and count <= _VECTOR:
                _add_vector(b, x, part, count, self.dtype.itemsize)
                return
            with loop(b, count) as k:
                target = self.at(b, x, k)
                more = b.load(self.at(b, part, k))
                b.store(b.fadd(b.load(target), more), target)

        def partly(window: Window, row: ir.Value) -> None:
            self._each_part(b, window, group, row, act)

        self._each_row(b, first, rows, group, columns, act, partly)

    def _each_row(
        self,
        b: ir.IRBuilder,
        first: Int,
        rows: Int,
        group: Int,
        columns: ir.Value,
        act: _Act,
        partly: Callable[[Window, ir.Value], None],
    ) -> None:
        """Emit a loop over the rows of columns.

        Args:
            b: Where to.
            first: The window of the first row.
            rows: The number of rows.
            group: The group of channels.
            columns: The address of the columns.
            act: Emits what is done with a stretch of a row and of x.
            partly: Emits what is done with a row whose window holds padding.
        """
        with loop(b, rows) as i:
            window = self.slide.window(b, add(b, first, i))
            row = self.at(b, columns, mul(b, i, self.width))
            is_whole = self.slide.is_whole(b, window)
            if is_whole is None:
                self._each_span(b, window, group, row, act)
            else:
                with b.if_else(is_whole, likely=True) as (inside, edge):
                    with inside:
                        self._each_span(b, window, group, row, act)
                    with edge:
                        partly(window, row)

    def _each_span(
        self, b: ir.IRBuilder, window: Window, group: Int, row: ir.Value, act: _Act
    ) -> None:
        """Emit what is done with stretches that columns and x have in common."""
        slide = self.slide
        size, step = slide.size[-1], slide.dilations[-1]
        joined = all(isinstance(n, int) and n == 1 for n in (step, self.groups))
        counts = [*slide.size[:-1], 1 if joined else size]
        span = mul(b, size, self.channels) if joined else self.channels
        with loops(b, counts) as places:
            x = add(b, slide.offset(b, window, places), self._channel(b, group, 0))
            part = mul(b, slide.place(b, places), self.channels)
            act(self.at(b, row, part), self.at(b, self.x, x), span)

    def _each_part(
        self, b: ir.IRBuilder, window: Window, group: Int, row: ir.Value, act: _Act
    ) -> None:
        """Emit what is done with the places of a window that are no padding."""
        held = self.slide.held(b, window)
        with self.slide.each_place(b, window, held) as (place, x_row):
            x = add(b, x_row, self._channel(b, group, 0))
            part = mul(b, place, self.channels)
            act(self.at(b, row, part), self.at(b, self.x, x), self.channels)


def _add_vector(
    b: ir.IRBuilder, to: ir.Value, part: ir.Value, count: int, align: int
) -> None:
    """Emit that elements are increased, in registers: a loop asks whether they overlap.

    Args:
        b: Where to.
        to: The address of the elements.
        part: The address of what is added.
        count: The number of elements.
        align: What the addresses are multiples of.
    """
    kind = ir.VectorType(to.type.pointee, count).as_pointer()
    to, part = b.bitcast(to, kind), b.bitcast(part, kind)
    b.store(b.fadd(b.load(to, align=align), b.load(part, align=align)), to, align=align)


CONVOLVING = {"convolution": convolve}
"""What emits the code of an operation, by the name in its lowering."""
