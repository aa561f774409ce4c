"""Long loops look now and then whether somebody wants to stop them."""

from __future__ import annotations

from llvmlite import ir

from gtape.jit.codegen.index import I64
from gtape.jit.codegen.loops import local

I1, I32 = ir.IntType(1), ir.IntType(32)
_POINTER = ir.IntType(8).as_pointer()
_MONOTONIC = 1  # the clock that nobody sets
_SOON, _LATE = 2_000_000, 20_000_000  # nanoseconds between two looks
_MOST = 1 << 20  # trips between two looks


class Poll:
    """The state of looking, of one program.

    Args:
        b: Where to take memory: the program's first block.
    """

    def __init__(self, b: ir.IRBuilder) -> None:
        # Trips until the next look, trips between two looks, the time of the last one.
        self._state = local(b, I64, 3)
        for place, number in enumerate((1, 1, 0)):
            b.store(I64(number), b.gep(self._state, [I64(place)]))

    def emit(self, b: ir.IRBuilder) -> ir.Value:
        """Emit a trip; return whether somebody wants to stop, as a bool in memory."""
        wanted = local(b, I1)
        b.store(I1(0), wanted)
        left = b.sub(b.load(self._state), I64(1))
        b.store(left, self._state)
        with b.if_then(b.icmp_signed("<=", left, I64(0)), likely=False):
            b.store(b.call(_look(b.module), [self._state]), wanted)
        return b.load(wanted)


def _declared(
    module: ir.Module, name: str, out: ir.Type, kinds: list[ir.Type]
) -> ir.Function:
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(out, kinds), name=name)
    return found


def _look(module: ir.Module) -> ir.Function:
    """Return the function that looks for a signal, if it is time for that.

    The number of trips between two looks follows from how long they take.
    """
    name = "gtape_look"
    found = module.globals.get(name)
    if found is not None:
        return found
    function = ir.Function(module, ir.FunctionType(I1, [I64.as_pointer()]), name=name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    [state] = function.args
    b = ir.IRBuilder(function.append_basic_block())
    places = [b.gep(state, [I64(k)]) for k in range(3)]
    clock = b.alloca(I64, size=2)
    read = _declared(module, "clock_gettime", I32, [I32, I64.as_pointer()])
    b.call(read, [I32(_MONOTONIC), clock])
    seconds, rest = b.load(clock), b.load(b.gep(clock, [I64(1)]))
    now = b.add(b.mul(seconds, I64(1_000_000_000)), rest)
    passed = b.sub(now, b.load(places[2]))
    trips = b.load(places[1])
    more = b.select(b.icmp_signed("<", passed, I64(_SOON)), b.shl(trips, I64(1)), trips)
    less = b.select(b.icmp_signed(">", passed, I64(_LATE)), b.ashr(more, I64(3)), more)
    less = b.select(b.icmp_signed("<", less, I64(1)), I64(1), less)
    trips = b.select(b.icmp_signed(">", less, I64(_MOST)), I64(_MOST), less)
    b.store(trips, places[0])
    b.store(trips, places[1])
    early = b.icmp_signed("<", passed, I64(_SOON))
    with b.if_then(early):
        b.ret(I1(0))
    b.store(now, places[2])
    ensure = _declared(module, "PyGILState_Ensure", I32, [])
    release = _declared(module, "PyGILState_Release", ir.VoidType(), [I32])
    check = _declared(module, "PyErr_CheckSignals", I32, [])
    held = b.call(ensure, [])
    status = b.call(check, [])
    b.call(release, [held])
    b.ret(b.icmp_signed("!=", status, I32(0)))
    return function
