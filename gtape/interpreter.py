"""The eager interpreter, the bottom of the stack: primitives on `EagerTensor`s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.conversion import NUMBERS, SMALL, filled, from_python, kind_of
from gtape.dispatch import (
    NO_ATTRS,
    Recorders,
    following,
    on_arrays,
    run_quietly,
    sign,
    tell,
)
from gtape.dtypes import NumpyDType
from gtape.eager import LITERAL, MADE, EagerTensor
from gtape.errors import (
    ArgumentTypeError,
    DTypeError,
    GtapeError,
    ShapeError,
    TensorMemoryError,
)
from gtape.ops import linear, slicing
from gtape.primitive import Primitive
from gtape.spec import TensorSpec
from gtape.tensor import Tensor

_new = EagerTensor.__new__
ndarray = np.ndarray


class EagerInterpreter:
    """Runs primitives on `EagerTensor`s with NumPy, at once."""

    on_arrays = True  # a backward pass that nobody records may run on bare arrays

    def lift(self, primitive: Primitive, operands: Sequence[Any]) -> list[Any]:
        """Return the operands as tensors of the dtypes that the primitive wants."""
        inputs = []
        kinds = []
        for x in operands:
            kind = type(x)
            if kind is EagerTensor:
                kinds.append(x._array.dtype)
            elif kind in NUMBERS:
                kinds.append(kind)
            else:
                x = self._operand(x)
                kinds.append(x._array.dtype if type(x) is EagerTensor else kind_of(x))
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
        if isinstance(x, (list, tuple)) and not _holds_tensor(x):
            return x  # its numbers adapt to the tensor beside it
        return self.convert(x)

    def _adapt(self, x: Any, dtype: NumpyDType) -> EagerTensor:
        if type(x) is EagerTensor:
            return x if x._array.dtype == dtype else linear.cast(x, dtype)
        if type(x) in (int, float) and dtype.kind == "f" and -SMALL < x < SMALL:
            return EagerTensor(dtype.type(x), LITERAL)
        kind = kind_of(x)
        return EagerTensor(filled(x, kind, dtype, dtype), LITERAL)

    def run(
        self, primitive: Primitive, inputs: Sequence[Any], attrs: dict[str, Any]
    ) -> Any:
        """Return the result as a tensor, or as a tuple of tensors."""
        try:
            out = on_arrays(primitive.forward, *[x._array for x in inputs], **attrs)
        except Exception as error:
            self._explain(primitive, inputs, attrs, error)
        if primitive.multiple:
            return tuple([EagerTensor(o, MADE) for o in out])
        return EagerTensor(out, MADE)

    def one(self, primitive: Primitive, x: Any, recorders: Recorders) -> Any:
        """Lift, run and tell, for one operand and no attributes."""
        if type(x) is EagerTensor:
            array = x._array
            if array.dtype in primitive.unchanged:
                try:
                    array = run_quietly(primitive.forward, array)
                except Exception:  # the slow path says what it is
                    out = self.run(primitive, (x,), {})
                else:
                    out = _new(EagerTensor)
                    out._array = array
                    out._key = MADE
                return tell(recorders, primitive, (x,), out, NO_ATTRS)
        inputs = self.lift(primitive, (x,))
        out = self.run(primitive, inputs, {})
        return tell(recorders, primitive, inputs, out, NO_ATTRS)

    def two(self, primitive: Primitive, x: Any, y: Any, recorders: Recorders) -> Any:
        """Lift, run and tell, for two operands and no attributes."""
        if type(x) is not EagerTensor or type(y) is not EagerTensor:
            if type(x) is not EagerTensor and hasattr(x, "__gtape_tensor__"):
                x = x.__gtape_tensor__()
            if type(y) is not EagerTensor and hasattr(y, "__gtape_tensor__"):
                y = y.__gtape_tensor__()
        if type(x) is EagerTensor and type(y) is EagerTensor:
            a, b = x._array, y._array
            # The type of a NumPy scalar says its dtype, and is known sooner.
            kind: Any = type(a)
            forward = primitive.forward
            if kind is ndarray or kind is not type(b):
                kind = a.dtype
                if kind is not b.dtype:
                    kind = None
                forward = primitive.on_large or forward
            if kind in primitive.unchanged:
                try:
                    array = run_quietly(forward, a, b)
                except Exception:  # the slow path says what it is
                    out = self.run(primitive, (x, y), {})
                else:
                    out = _new(EagerTensor)
                    out._array = array
                    out._key = MADE
                if recorders:
                    for recorder in recorders:
                        recorder.record(primitive, (x, y), out, NO_ATTRS)
                elif following[0]:
                    sign(out)
                return out
        inputs = self.lift(primitive, (x, y))
        out = self.run(primitive, inputs, {})
        return tell(recorders, primitive, inputs, out, NO_ATTRS)

    def _explain(
        self, primitive: Primitive, inputs: Sequence[Any], attrs: Any, error: Exception
    ) -> None:
        """Say in gtape's words why NumPy refused: the spec rule knows."""
        try:
            if isinstance(error, GtapeError):
                raise error
            specs = [TensorSpec(x.shape, x.dtype) for x in inputs]
            out = primitive.spec(*specs, **attrs)
            listed = ", ".join(str(s) for s in specs)
            if isinstance(error, MemoryError) or _too_large(out):
                text = f"{primitive.name}({listed}): the result, {out}, is too large"
                raise TensorMemoryError(text, "Use less at once") from None
            text = f"{primitive.name}({listed}): {error}"
            if isinstance(error, TypeError):
                raise DTypeError(text, "Check the dtypes of the operands") from error
            if isinstance(error, ValueError):
                raise ShapeError(text, "Check the shapes of the operands") from error
            raise error
        finally:
            del error  # its traceback holds this frame: a cycle, and the arrays with it

    def convert(self, value: Any, dtype: Any = None, exact: bool = False) -> Any:
        """Return anything that stands for a tensor as an `EagerTensor`."""
        if type(value) is EagerTensor:
            return value
        read = getattr(value, "__gtape_tensor__", None)
        if read is not None:
            value = read()  # an object of the variable's; a caller may keep this one
        if isinstance(value, EagerTensor):
            return EagerTensor(value._array, value._key)
        if isinstance(value, Tensor):
            raise ArgumentTypeError(
                "a symbolic tensor is used outside the function that traces it",
                "Return it from the function",
            )
        if isinstance(value, (list, tuple)) and _holds_tensor(value):
            return slicing.stack([self.convert(v, dtype, exact) for v in value])
        if exact:
            return EagerTensor(from_python(value, dtype))
        return EagerTensor(from_python(value, None, dtype))

    def constant(self, array: Any) -> EagerTensor:
        """Return an array that nobody will change any more as a tensor."""
        return EagerTensor(array)

    def read(self, variable: Any) -> EagerTensor:
        """Return the value of a variable, under the variable's own key."""
        tensor: EagerTensor = variable._tensor
        return tensor

    def assign(self, variable: Any, value: EagerTensor) -> None:
        """Give a variable a value."""
        variable._tensor = EagerTensor(value._array, variable._key)

    def wrap(self, value: Any, key: int) -> EagerTensor:
        """Return an array that a recorder kept as a tensor again."""
        return EagerTensor(value, key)


def _too_large(spec: Any) -> bool:
    """Return whether a result has more elements than NumPy can count."""
    return isinstance(spec, TensorSpec) and (spec.size or 0) > 2**60


def _holds_tensor(value: Any) -> bool:
    return any(
        _holds_tensor(v)
        if isinstance(v, (list, tuple))
        else isinstance(v, Tensor) or hasattr(v, "__gtape_tensor__")
        for v in value
    )


EAGER = EagerInterpreter()
dispatch.seat_bottom(EAGER)
