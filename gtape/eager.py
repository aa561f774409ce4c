"""`EagerTensor`, a tensor on a NumPy array, and the eager interpreter."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.conversion import NUMBERS, SMALL, Array, filled, from_python, kind_of
from gtape.dispatch import _quiet, on_arrays
from gtape.dtypes import DType, NumpyDType, as_dtype, as_numpy_dtype
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    GtapeError,
    ShapeError,
    TensorMemoryError,
)
from gtape.ops import indexing, linear, numpy_protocol, slicing
from gtape.primitive import Primitive
from gtape.spec import TensorShape, TensorSpec
from gtape.tensor import Tensor

# Keys of values that no recorder follows yet. Below them all stand signs of other
# threads.
_LITERAL = 0  # a Python number beside a tensor
_MADE = dispatch.UNFOLLOWED  # what an operation made outside every tape
_CONSTANT = -2  # what came from Python or NumPy


class EagerTensor(Tensor):
    """A tensor whose elements are there: the value of the eager interpreter.

    Args:
        array: The elements. They are not copied and must not change any more.
        key: The number under which recorders follow the value.
    """

    __slots__ = ("__weakref__", "_array", "_key")

    def __init__(self, array: Array, key: int = _CONSTANT) -> None:
        self._array = array
        self._key = key

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return TensorShape(self._array.shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return as_dtype(self._array.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._array.ndim  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        """Where the elements are: "cpu"."""
        return "cpu"

    def get_shape(self) -> TensorShape:
        """Return the sizes of the axes."""
        return self.shape

    def numpy(self) -> Any:
        """Return the elements as an array of one's own, or a NumPy scalar for rank 0.

        What is computed from it is not recorded by tapes.
        """
        self._left()
        array = self._array
        return np.array(array) if array.ndim else array[()]

    def _left(self) -> None:
        """Tell the tapes that the value goes where they cannot follow."""
        if self._key > 0:
            for recorder in dispatch.recorders():
                recorder.left(self._key)

    # --- Python protocols -------------------------------------------------------------

    def __bool__(self) -> bool:
        if self._array.size > 1:
            raise ArgumentError(
                f"the truth of a tensor of shape {tuple(self.shape)} is ambiguous",
                "Use gt.reduce_any or gt.reduce_all",
            )
        return bool(self._array) if self._array.size else False

    def _scalar(self, convert: Callable[[Any], Any]) -> Any:
        if self._array.ndim:
            raise ArgumentTypeError(
                f"{convert.__name__}: only a scalar tensor converts, got shape "
                f"{tuple(self.shape)}",
                "Index it first",
            )
        self._left()
        value = self._array[()]
        if value.dtype.kind == "c" and convert is not complex:
            raise DTypeError(
                f"{convert.__name__}: {value} of {self.dtype} is not real",
                "Take gt.real, gt.imag or gt.abs first",
            )
        try:
            return convert(value)
        except (ValueError, OverflowError):
            raise ArgumentError(
                f"{convert.__name__}: {value} is not an integer",
                "Check it with gt.is_finite",
            ) from None

    def __int__(self) -> int:
        return int(self._scalar(int))

    def __float__(self) -> float:
        return float(self._scalar(float))

    def __complex__(self) -> complex:
        return complex(self._scalar(complex))

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"a tensor of {self.dtype} is not an index",
                "Cast it to an integer dtype",
            )
        return int(self._scalar(operator.index))

    def __setitem__(self, key: Any, value: Any) -> None:
        out = indexing.with_item(self, key, value)
        # The name keeps the object; the object takes the new value and its place on the
        # tapes.
        self._array, self._key = out._array, out._key

    def __contains__(self, value: Any) -> bool:
        found = self == value
        return found if type(found) is bool else bool(np.any(found._array))

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return EagerTensor(self._array, self._key)

    def __copy__(self) -> EagerTensor:
        return EagerTensor(self._array, self._key)

    def __reduce__(self) -> tuple[Any, ...]:
        return EagerTensor, (np.array(self._array),)

    # --- Text -------------------------------------------------------------------------

    def __str__(self) -> str:
        line = "\n" if self._array.ndim > 1 else ""
        return (
            f"gt.Tensor({line}{self._text()}, shape={self.shape}, dtype={self.dtype})"
        )

    def _text(self) -> str:
        return str(self._array)

    def __repr__(self) -> str:
        return f"<gt.Tensor: {describe(self._array)}>"

    def _repr_html_(self) -> str:
        text = self._text().replace("&", "&amp;").replace("<", "&lt;")
        head = f"<b>gt.Tensor</b> shape={self.shape} dtype={self.dtype}"
        return f"<div>{head}<pre>{text}</pre></div>"

    def __format__(self, spec: str) -> str:
        array = self._array
        if spec and array.ndim:
            raise ArgumentTypeError(
                f"format: a tensor of shape {tuple(self.shape)} takes no format spec",
                "Format x.numpy(), or its elements",
            )
        if spec:
            try:
                return format(array[()].item(), spec)
            except ValueError:
                text = f"format: {spec!r} is no format of a scalar of {self.dtype}"
                raise ArgumentError(text, "Use another, such as .3f") from None
        return str(array if array.ndim else array[()])

    # --- NumPy ------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self._left()
        array = np.asarray(self._array)
        if dtype is not None and array.dtype != dtype:
            return array.astype(as_numpy_dtype(dtype))
        if copy:
            return np.array(array)
        view = array.view()
        view.flags.writeable = (
            False  # the array is this tensor's value, which must not change
        )
        return view

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        return numpy_protocol.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        return numpy_protocol.function(function, args, kwargs)

    def __dlpack__(self, **kwargs: Any) -> Any:
        self._left()
        return np.array(self._array).__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.asarray(self._array).__dlpack_device__()


_new = EagerTensor.__new__


def describe(array: Array) -> str:
    """Return the shape, dtype and value of an array, as a tensor's repr says them."""
    value = repr(array.item()) if array.ndim == 0 else repr(array)
    line = "\n" if array.ndim > 1 else ""
    return f"shape={tuple(array.shape)}, dtype={array.dtype}, numpy={line}{value}"


# --- The interpreter ------------------------------------------------------------------


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
            return EagerTensor(dtype.type(x), _LITERAL)
        kind = kind_of(x)
        return EagerTensor(filled(x, kind, dtype, dtype), _LITERAL)

    def run(
        self, primitive: Primitive, inputs: Sequence[Any], attrs: dict[str, Any]
    ) -> Any:
        """Return the result as a tensor, or as a tuple of tensors."""
        try:
            out = on_arrays(primitive.forward, *[x._array for x in inputs], **attrs)
        except Exception as error:
            self._explain(primitive, inputs, attrs, error)
        if primitive.multiple:
            return tuple([EagerTensor(o, _MADE) for o in out])
        return EagerTensor(out, _MADE)

    def run_one(self, primitive: Primitive, x: Any) -> tuple[Any, Any]:
        """Return the operand as a tensor, and the result."""
        if type(x) is EagerTensor:
            array = x._array
            if primitive.resolved.get((array.dtype,)) == ():
                try:
                    array = _quiet.run(primitive.forward, array)
                except Exception:  # the slow path says what it is
                    return x, self.run(primitive, (x,), {})
                out = _new(EagerTensor)
                out._array = array
                out._key = _MADE
                return x, out
        [x] = self.lift(primitive, (x,))
        return x, self.run(primitive, (x,), {})

    def run_two(self, primitive: Primitive, x: Any, y: Any) -> tuple[Any, Any, Any]:
        """Return the operands as tensors, and the result."""
        if type(x) is not EagerTensor and hasattr(x, "__gtape_tensor__"):
            x = x.__gtape_tensor__()
        if type(y) is not EagerTensor and hasattr(y, "__gtape_tensor__"):
            y = y.__gtape_tensor__()
        if type(x) is EagerTensor and type(y) is EagerTensor:
            a, b = x._array, y._array
            if primitive.resolved.get((a.dtype, b.dtype)) == ():
                try:
                    array = _quiet.run(primitive.forward, a, b)
                except Exception:  # the slow path says what it is
                    return x, y, self.run(primitive, (x, y), {})
                out = _new(EagerTensor)
                out._array = array
                out._key = _MADE
                return x, y, out
        x, y = self.lift(primitive, (x, y))
        return x, y, self.run(primitive, (x, y), {})

    def _explain(
        self, primitive: Primitive, inputs: Sequence[Any], attrs: Any, error: Exception
    ) -> None:
        """Say in gtape's words why NumPy refused: the spec rule knows."""
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

    def convert(self, value: Any, dtype: Any = None, exact: bool = False) -> Any:
        """Return anything that stands for a tensor as an `EagerTensor`."""
        if type(value) is EagerTensor:
            return value
        read = getattr(value, "__gtape_tensor__", None)
        if read is not None:
            return read()
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
        return variable._tensor  # type: ignore[no-any-return]

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
