"""The random bits of `gtape.philox` as LLVM code: Philox 4x32-10, block by block.

Source: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3
(2011). Each block of 128 bits is a function of the key and its own number, so LLVM
computes several at once in the lanes of vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from gtape.jit.codegen.index import I64, Int, as_value
from gtape.jit.codegen.loops import local, loop
from gtape.jit.codegen.spans import WORTH, call_in_spans

I32 = ir.IntType(32)
LONGS = I64.as_pointer()
MASK = (1 << 32) - 1

CHUNK = 1024
"""Longs that are drawn at a time, so that they stay in the first cache."""

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_STEPS = 0x9E3779B9, 0xBB67AE85  # what the key grows by: golden ratio, sqrt(3) - 1
_ROUNDS = 10


def blocks_function(module: ir.Module) -> ir.Function:
    """Return the function that writes blocks of random bits.

    It takes the seed, the counter, the sub-stream, the number of the first block, the
    number of blocks, and the address of two longs for each.

    Args:
        module: The module, which gets the function if it has none.
    """
    name = "gtape_philox"
    found = module.globals.get(name)
    if found is not None:
        return found
    function = internal(module, name, [I64, I64, I64, I64, I64, LONGS])
    function.attributes.add("noinline")
    seed, counter, stream, first, count, out = function.args
    b = ir.IRBuilder(function.append_basic_block())
    low, bits = I64(MASK), I64(32)
    keys = []
    key = [b.and_(seed, low), b.lshr(seed, bits)]
    for _ in range(_ROUNDS):
        keys.append(key)
        key = [b.and_(b.add(k, I64(s)), low) for k, s in zip(key, _STEPS, strict=True)]
    upper = b.shl(stream, I64(16))
    ends = b.and_(counter, low), b.lshr(counter, bits)
    with loop(b, count) as i:
        index = b.add(first, as_value(i))
        c0, c1 = b.and_(index, low), b.or_(b.lshr(index, bits), upper)
        c2, c3 = ends
        # Words stand in the lower halves of longs: that is how vectors multiply them.
        for k0, k1 in keys:
            even = b.mul(c0, I64(_MULTIPLIERS[0]))
            odd = b.mul(c2, I64(_MULTIPLIERS[1]))
            c0 = b.xor(b.xor(b.lshr(odd, bits), c1), k0)
            c2 = b.xor(b.xor(b.lshr(even, bits), c3), k1)
            c1, c3 = b.and_(odd, low), b.and_(even, low)
        at = b.gep(out, [b.shl(as_value(i), I64(1))])
        b.store(b.or_(c0, b.shl(c1, bits)), at)
        b.store(b.or_(c2, b.shl(c3, bits)), b.gep(at, [I64(1)]))
    b.ret_void()
    return function


def internal(
    module: ir.Module, name: str, kinds: Sequence[ir.Type], out: Any = None
) -> ir.Function:
    """Return a new function of a module that nobody outside calls.

    Args:
        module: The module.
        name: The function's name.
        kinds: The types of its arguments; what pointers point to does not overlap.
        out: The type of its result; nothing by default.
    """
    kind = ir.FunctionType(ir.VoidType() if out is None else out, kinds)
    function = ir.Function(module, kind, name=name)
    function.linkage = "internal"
    for argument in function.args:
        if isinstance(argument.type, ir.PointerType):
            argument.add_attribute("noalias")
    return function


class Key(NamedTuple):
    """What numbers depend on.

    Args:
        seed: The seed.
        counter: How often has been drawn.
    """

    seed: ir.Value
    counter: ir.Value

    @classmethod
    def at(cls, b: ir.IRBuilder, pointer: ir.Value) -> Key:
        """Return the key at an address."""
        return cls(b.load(pointer), b.load(b.gep(pointer, [I64(1)])))

    def draw(
        self, b: ir.IRBuilder, out: ir.Value, first: Int, longs: Int, stream: Int = 0
    ) -> None:
        """Emit that longs are written: one more where their number is odd.

        Args:
            b: Where to.
            out: The address.
            first: The number of the first block.
            longs: How many.
            stream: The sub-stream.
        """
        blocks = b.lshr(b.add(as_value(longs), I64(1)), I64(1))
        numbers = [as_value(n) for n in (stream, first)]
        function = blocks_function(b.module)
        b.call(function, [self.seed, self.counter, *numbers, blocks, out])


class Chunk(NamedTuple):
    """Some of the elements of a draw, and their random bits.

    Args:
        key: The draw's.
        block: The number of the first block.
        start: The number of the first element.
        count: How many elements.
        longs: The address of their bits.
    """

    key: Key
    block: ir.Value
    start: ir.Value
    count: ir.Value
    longs: ir.Value

    def bits(self, b: ir.IRBuilder, is_wide: bool, i: Int) -> ir.Value:
        """Return the word of an element of the chunk, or its long if it is wide."""
        kind = I64 if is_wide else I32
        longs = b.bitcast(self.longs, kind.as_pointer())
        return b.load(b.gep(longs, [as_value(i)]))


Write = Callable[[ir.IRBuilder, Chunk, Sequence[ir.Value]], None]


class Draw(NamedTuple):
    """A function that fills memory with random numbers.

    Args:
        name: Its name; there is one for each kind of draw.
        kinds: The types of the arguments that are its own.
        words: How many words of random bits an element takes: 1, 2 or 4.
        cost: The nanoseconds that an element takes, about.
        write: Writes a chunk: the builder, the chunk and the arguments.
    """

    name: str
    kinds: Sequence[ir.Type]
    words: int
    cost: float
    write: Write

    @property
    def elements(self) -> int:
        """How many elements a chunk has."""
        return 2 * CHUNK // self.words

    def function(self, module: ir.Module) -> ir.Function:
        """Return the function: key, its own arguments, count, and a range of chunks."""
        found = module.globals.get(self.name)
        if found is not None:
            return found
        kinds = [LONGS, *self.kinds, I64, I64, I64]
        function = internal(module, self.name, kinds)
        pointer, *given, total, begin, end = function.args
        b = ir.IRBuilder(function.append_basic_block())
        key = Key.at(b, pointer)
        longs = local(b, I64, CHUNK)
        longs.align = 64
        with loop(b, b.sub(end, begin)) as trip:
            place = b.add(begin, as_value(trip))
            start = b.mul(place, I64(self.elements))
            left = b.sub(total, start)
            most = I64(self.elements)
            count = b.select(b.icmp_signed("<", left, most), left, most)
            block = b.mul(place, I64(CHUNK // 2))
            words = b.mul(count, I64(self.words))
            need = b.lshr(b.add(words, I64(1)), I64(1))
            key.draw(b, longs, block, need)
            self.write(b, Chunk(key, block, start, count, longs), given)
        b.ret_void()
        return function

    def call(
        self,
        b: ir.IRBuilder,
        key: ir.Value,
        given: Sequence[ir.Value],
        count: Int,
        threads: ir.Value,
    ) -> None:
        """Emit that numbers are drawn, over threads where that is worth it.

        Args:
            b: Where to.
            key: The address of the key.
            given: The arguments of its own.
            count: How many numbers.
            threads: The number of threads.
        """
        function = self.function(b.module)
        values = [key, *given, as_value(count)]
        if isinstance(count, int):
            chunks: Int = -(-count // self.elements)
            if count * self.cost < WORTH:
                b.call(function, [*values, I64(0), I64(chunks)])
                return
        else:
            chunks = b.sdiv(b.add(count, I64(self.elements - 1)), I64(self.elements))
        # Threads want a function for each call.
        name = b.module.get_unique_name(self.name)
        own = internal(b.module, name, [a.type for a in function.args])
        inner = ir.IRBuilder(own.append_basic_block())
        inner.call(function, own.args)
        inner.ret_void()
        call_in_spans(b, own, values, chunks, count, self.cost, threads)
