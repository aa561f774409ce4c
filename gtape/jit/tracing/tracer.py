"""`Tracer`: the interpreter of symbols; `Trace`: what its regions share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.conversion import NUMBERS, filled, from_python, kind_of
from gtape.dispatch import NO_ATTRS, Recorders, tell
from gtape.dtypes import NumpyDType, as_dtype
from gtape.eager import EagerTensor
from gtape.errors import GtapeError, TracingError, sayings
from gtape.jit.graph.attrs import has_size
from gtape.jit.graph.builder import Builder
from gtape.jit.graph.ir import Atom, Literal, Op, Value
from gtape.jit.tracing.number import TracedNumber
from gtape.jit.tracing.region import Region
from gtape.jit.tracing.state import (
    CONSTANT,
    Cell,
    Services,
    SizeOwner,
    Slot,
    SymbolLocation,
    in_numbers,
    user_origin,
)
from gtape.jit.tracing.symbol import Symbol
from gtape.ops import linear, slicing
from gtape.ops.traced import REREAD, fitted, next_state, size_tensor
from gtape.primitive import Primitive
from gtape.sizes import Size
from gtape.spec import TensorSpec
from gtape.tensor import Tensor


class Trace(SizeOwner):
    """What the regions of one trace share: inputs, cells, guards, notes.

    Args:
        name: The function's name.
        services: What tracers need of the modules further down.
    """

    def __init__(self, name: str, services: Services) -> None:
        super().__init__()
        self.name = name
        self.services = services
        self.values: dict[Value, Any] = {}  # what the arguments are in this call
        builder = Builder()
        self.root = Tracer(self, builder, Region(builder), None)
        self.slots: list[Slot] = []
        self.cells: dict[int, Cell] = {}
        self.captured: dict[int, tuple[Any, Value]] = {}
        self.created: list[Any] = []  # variables made while tracing
        self.captures: dict[Any, Any] = {}  # what was read of the world outside
        self.outer: dict[int, Any] = {}  # objects that were there before
        self.written: set[Any] = set()  # places outside that the function has written
        self.noted: set[Any] = set()  # the code whose globals have been looked at
        self.depths: dict[Any, int] = {}  # how deep calls of a function nest by now

    # --- Inputs -----------------------------------------------------------------------

    def cell(self, owner: Any) -> Cell:
        """Return the cell of a variable or state."""
        found = self.cells.get(id(owner))
        if found is None:
            tensor = getattr(owner, "_tensor", None)
            if tensor is not None:
                spec = TensorSpec(tensor._array.shape, tensor.dtype)
                kind, key = "variable", owner._key
            else:
                spec, kind, key = TensorSpec((2,), "uint64"), "state", CONSTANT
            value = self.root.builder.add_input(spec)
            self.slots.append(Slot(kind, owner, value))
            found = self.cells[id(owner)] = Cell(owner, Symbol(value, key))
        return found

    def capture(self, source: Any) -> Value:
        """Return the input that stands for a tensor or array from outside."""
        found = self.captured.get(id(source))
        if found is None:
            tensor = isinstance(source, EagerTensor)
            array = source._array if tensor else source
            spec = TensorSpec(array.shape, as_dtype(array.dtype))
            value = self.root.builder.add_input(spec)
            self.slots.append(Slot("tensor" if tensor else "array", source, value))
            found = self.captured[id(source)] = (source, value)
        return found[1]


class Tracer:
    """Runs primitives on symbols: it appends nodes to the graph of one region.

    Args:
        trace: What it belongs to.
        builder: The graph under construction.
        region: What the region's code writes.
        around: The tracer of the region around, if there is one.
    """

    on_arrays = False

    def __init__(
        self, trace: Trace, builder: Builder, region: Region, around: Tracer | None
    ) -> None:
        self.trace = trace
        self.builder = builder
        self.region = region
        self.around = around

    def child(self) -> Tracer:
        """Return the tracer of a new region in this one."""
        builder = Builder(self.builder)
        return Tracer(self.trace, builder, Region(builder, self.region), self)

    @contextlib.contextmanager
    def tracing(self) -> Iterator[None]:
        """Trace the block into this region; recorders around do not see it."""
        with dispatch.running(self, ()):
            yield

    # --- Operands ---------------------------------------------------------------------

    def atom(self, symbol: Symbol) -> Atom:
        """Return what stands for a symbol in this region."""
        return self.builder.atom(symbol._value, symbol._key)

    def lift(self, primitive: Primitive, operands: Sequence[Any]) -> list[Any]:
        """Return the operands as symbols of the dtypes that the primitive wants."""
        inputs = []
        kinds: list[Any] = []
        for x in operands:
            kind = type(x)
            if isinstance(x, Symbol):
                kinds.append(x._value.dtype)
            elif kind in NUMBERS:
                kinds.append(kind)
            elif kind is TracedNumber:
                kinds.append(x.kind)
            elif kind is Size:
                kinds.append(int)
            else:
                x = self._operand(x)
                known = isinstance(x, Symbol)
                kinds.append(x._value.dtype if known else kind_of(x))
            inputs.append(x)
        key = tuple(kinds)
        wanted = primitive.resolved.get(key)
        if wanted is None:
            wanted = primitive.resolve(key)
        for i, dtype in enumerate(wanted):
            if kinds[i] is not dtype:
                inputs[i] = self._adapt(inputs[i], dtype)
        return inputs

    def _operand(self, x: Any) -> Any:
        read = getattr(x, "__gtape_tensor__", None)
        if read is not None:
            return read()
        if isinstance(x, (list, tuple)) and not _holds_traced(x):
            return x  # its numbers adapt to the tensor beside it
        return self.convert(x)

    def _adapt(self, x: Any, dtype: NumpyDType) -> Symbol:
        if isinstance(x, Symbol):
            out: Symbol = x if x._value.dtype == dtype else linear.cast(x, dtype)
        elif type(x) is TracedNumber:
            out = fitted(x.symbol, dtype)
        elif type(x) is Size:
            out = size_tensor(x, dtype)
        else:
            out = self.constant(filled(x, kind_of(x), dtype, dtype))
        return out

    def convert(self, value: Any, dtype: Any = None, exact: bool = False) -> Any:
        """Return anything that stands for a tensor as a symbol."""
        if isinstance(value, Symbol):
            return value if type(value) is Symbol else value.__copy__()
        read = getattr(value, "__gtape_tensor__", None)
        if read is not None:
            copy: Symbol = read().__copy__()
            return copy
        if isinstance(value, EagerTensor):
            return Symbol(self.trace.capture(value), value._key)
        if isinstance(value, Tensor):
            raise TracingError(
                f"{value!r} is used in the trace of a function",
                "Call the function inside gt.vectorized_map, not the other way round",
            )
        if type(value) is TracedNumber or type(value) is Size:
            return self._weak(value, dtype)
        if isinstance(value, (list, tuple)) and _holds_traced(value):
            return slicing.stack([self.convert(v, dtype, exact) for v in value])
        if isinstance(value, np.ndarray) and value.dtype.kind not in "OSU":
            return self._array(value, dtype if exact else None)
        if exact:
            return self.constant(from_python(value, dtype))
        return self.constant(from_python(value, None, dtype))

    def _weak(self, value: Any, beside: Any) -> Symbol:
        """Return a traced Python number as a tensor, of the dtype beside it."""
        number = self.trace.tensor(value) if type(value) is Size else value
        sample = 0 if number.kind is int else 0.0
        target = from_python(sample, None, beside).dtype
        return fitted(number.symbol, target)  # type: ignore[no-any-return]

    def _array(self, array: Any, wanted: NumpyDType | None) -> Symbol:
        """Return a NumPy array from outside: what it holds when the function runs."""
        out = Symbol(self.trace.capture(array), CONSTANT)
        if wanted is None or out._value.dtype == wanted:
            return out
        from_python(array, wanted)  # refuses what does not fit
        return linear.cast(out, wanted)  # type: ignore[no-any-return]

    def constant(self, array: Any) -> Symbol:
        """Return an array that nobody will change any more as a symbol."""
        return Symbol(Literal(array), CONSTANT, self.builder)

    def wrap(self, value: Any, key: int) -> Symbol:
        """Return what a recorder kept as an operand again."""
        if isinstance(value, (Value, Literal)):
            return Symbol(value, key, self.builder)
        return Symbol(Literal(value), key, self.builder)

    # --- Running ----------------------------------------------------------------------

    def run(
        self, primitive: Primitive, inputs: Sequence[Any], attrs: dict[str, Any]
    ) -> Any:
        """Append a node, and return its outputs as symbols."""
        atoms = tuple([self.builder.atom(x._value, x._key) for x in inputs])
        structure = getattr(primitive, "structure", None)
        if structure is not None:
            node = structure(self.trace, atoms, attrs, user_origin())
            outputs = node.outputs
        else:
            known = self._known(primitive, atoms, attrs)
            if known is not None:
                return known
            given = [a.spec for a in atoms]
            try:
                spec = primitive.spec(*given, **attrs)
            except GtapeError as error:
                raise in_numbers(primitive, given, attrs, error) from None
            specs = spec if primitive.multiple else (spec,)
            outputs = tuple([Value(s) for s in specs])
            node = Op(
                inputs=atoms,
                outputs=outputs,
                origin=user_origin(),
                primitive=primitive,
                attrs=attrs,
                sayings=sayings(),
            )
        self.builder.add(node)
        symbols = [Symbol(v, dispatch.UNFOLLOWED, self.builder) for v in outputs]
        return tuple(symbols) if primitive.multiple else symbols[0]

    def _known(
        self, primitive: Primitive, atoms: Sequence[Atom], attrs: dict[str, Any]
    ) -> Symbol | None:
        """Return the result of an operation on constants that are scalars.

        So a condition on sizes that are known is known, too, and one branch is traced.
        """
        if not atoms or not primitive.pointwise or has_size(attrs):
            return None
        arrays = [a.array for a in atoms if isinstance(a, Literal) and not a.ndim]
        if len(arrays) != len(atoms):
            return None
        try:
            out = dispatch.on_arrays(primitive.forward, *arrays, **attrs)
        except Exception:
            return None  # it is raised when the function runs
        return Symbol(Literal(out), dispatch.UNFOLLOWED, self.builder)

    def one(self, primitive: Primitive, x: Any, recorders: Recorders) -> Any:
        """Lift, run and tell, for one operand and no attributes."""
        inputs = self.lift(primitive, (x,))
        out = self.run(primitive, inputs, NO_ATTRS)
        return tell(recorders, primitive, inputs, out, NO_ATTRS)

    def two(self, primitive: Primitive, x: Any, y: Any, recorders: Recorders) -> Any:
        """Lift, run and tell, for two operands and no attributes."""
        inputs = self.lift(primitive, (x, y))
        out = self.run(primitive, inputs, NO_ATTRS)
        return tell(recorders, primitive, inputs, out, NO_ATTRS)

    @property
    def services(self) -> Any:
        """What operations ask of a trace: control flow, numbers, guards."""
        return self.trace.services

    def invoke(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function of the user's, converted."""
        return self.trace.services.call(function, *args, **kwargs)

    def count(self, start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
        """Return a range of traced numbers as a tensor; `None` if none is traced."""
        return self.trace.services.count(start, limit, delta, dtype)

    def custom_rule(self, tensors: Any, outputs: Any, rule: Any) -> tuple[Any, ...]:
        """Return outputs whose gradients by tensors are by a rule."""
        return self.trace.services.custom_rule(self, tensors, outputs, rule)

    def initial(self, symbol: Symbol) -> Any:
        """Return the array that a traced tensor is now, to begin a variable with."""
        return self.trace.services.evaluate(self, symbol)

    def made(self, variable: Any) -> None:
        """Note a variable that is made while tracing."""
        self.trace.created.append(variable)

    # --- State ------------------------------------------------------------------------

    def read(self, variable: Any) -> Symbol:
        """Return the value that a variable has by now."""
        self.region.variables[variable._key] = variable
        return self.trace.cell(variable).current

    def assign(self, variable: Any, value: Symbol) -> None:
        """Give a variable a value."""
        cell = self.trace.cell(variable)
        self.region.touch(cell)
        # Later gradients are by the variable, and there is none by what it is given.
        cell.write(self.run(REREAD, (self.convert(value), cell.entry), NO_ATTRS))

    def draw(self, state: Any) -> Symbol:
        """Return the key of a random draw, and advance the state."""
        cell = self.trace.cell(state)
        self.region.touch(cell)
        key = cell.current
        cell.write(next_state(key))
        return key

    def replace(self, symbol: Symbol, out: Symbol) -> None:
        """Give a symbol the value that it has after an assignment to its items."""
        if symbol._doubtful:
            raise TracingError(
                "an item is assigned of a tensor that another name stands for, too, on "
                "some paths and not on others",
                "Make a copy for the name, with gt.identity(x)",
            )
        self._replace(symbol, out, set())

    def _replace(self, symbol: Symbol, out: Symbol, seen: set[int]) -> None:
        self.region.touch(SymbolLocation(symbol))
        symbol._value, symbol._key = out._value, out._key
        seen.add(id(symbol))
        for other, same in symbol._aliases:
            if id(other) not in seen:
                self._replace(other, linear.where(same, symbol, other), seen)


def current(what: str = "This") -> Tracer:
    """Return the tracer of the region that is being traced.

    Raises:
        TracingError: If there is none.
    """
    interpreter = dispatch.interpreter()
    if not isinstance(interpreter, Tracer):
        raise TracingError(f"{what} is used outside of a traced function", "")
    return interpreter


def is_tracing() -> bool:
    """Return whether a function is being traced in this thread of control."""
    return isinstance(dispatch.interpreter(), Tracer)


def _holds_traced(values: Any) -> bool:
    return any(
        _holds_traced(v)
        if isinstance(v, (list, tuple))
        else isinstance(v, (Tensor, TracedNumber, Size))
        or hasattr(v, "__gtape_tensor__")
        for v in values
    )
