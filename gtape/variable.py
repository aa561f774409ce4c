"""`Variable`: a named cell that holds a tensor, and changes by assignment."""

from __future__ import annotations

import contextlib
import contextvars
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.conversion import from_python
from gtape.dispatch import next_key, services, state
from gtape.dtypes import DType, DTypeLike, as_numpy_dtype
from gtape.eager import EagerTensor, describe
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssignError,
    DTypeError,
    ShapeError,
)
from gtape.ops import indexing, linear
from gtape.ops.common import name_of
from gtape.scatter import ScatterMethods
from gtape.spec import Dim, TensorShape, as_dims
from gtape.tensor import Operators

_scope: contextvars.ContextVar[str] = contextvars.ContextVar("gtape_scope", default="")


@contextlib.contextmanager
def name_scope(name: str) -> Iterator[str]:
    """Put a name and a slash before the names of the variables made in the block.

    Args:
        name: The name; scopes nest.

    Raises:
        ArgumentTypeError: If it is not a string.

    Example:
        >>> import gtape as gt
        >>> with gt.name_scope("layer"):
        ...     v = gt.Variable(1.0, name="weights")
        >>> v.name
        'layer/weights:0'
    """
    if not isinstance(name, str) or not name:
        raise ArgumentTypeError(
            f"name_scope: the name is {name!r}", "Give a string of one or more letters"
        )
    whole = f"{_scope.get()}{name}/"
    token = _scope.set(whole)
    try:
        yield whole
    finally:
        _scope.reset(token)


_counts: dict[str, int] = {}  # the last number given to a living name
_names: weakref.WeakValueDictionary[str, Variable] = weakref.WeakValueDictionary()


class SlicedTensor(EagerTensor):
    """The elements v[i] of a variable, which can be assigned to."""

    __slots__ = ("_place", "_variable")

    def __init__(self, value: EagerTensor, variable: Variable, place: Any) -> None:
        super().__init__(value._array, value._key)
        self._variable = variable
        self._place = place

    def assign(self, value: Any) -> Variable:
        """Put a value at this place of the variable; it is broadcast."""
        variable = self._variable
        variable.assign(indexing.with_item(variable, self._place, value))
        return variable


class Variable(ScatterMethods, Operators):
    """A named value that changes by assignment, and that tapes watch by themselves.

    Args:
        initial_value: A tensor, NumPy array, Python number, nested list, or a function
            of no arguments that returns one. It is copied.
        trainable: Whether tapes watch the variable when it is read; they do by default.
        name: A label; made unique among living variables by a number.
        dtype: The dtype that Python numbers take.
        constraint: A function that an optimizer applies to the value after its update.
        shape: A shape with `None` for sizes that assignments may change.
        validate_shape: Accepted for TensorFlow's sake.

    Raises:
        ArgumentError: If there is no initial value.

    Example:
        >>> import gtape as gt
        >>> v = gt.Variable([1.0, 2.0], name="offsets")
        >>> v.assign_add([1.0, 1.0])
        <gt.Variable 'offsets:0' shape=(2,) dtype=float32, numpy=array([2., 3.],
        dtype=float32)>
    """

    __slots__ = (
        "__weakref__",
        "_key",
        "_name",
        "_shape",
        "_tensor",
        "_trainable",
        "constraint",
    )

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        constraint: Callable[[Any], Any] | None = None,
        shape: Sequence[Dim] | None = None,
        validate_shape: bool = True,
    ) -> None:
        if callable(initial_value) and not hasattr(initial_value, "__gtape_tensor__"):
            initial_value = initial_value()
        if initial_value is None:
            raise ArgumentError("Variable: there is no initial value", "Give one")
        array = _initial(initial_value, dtype)
        self._key = next_key()
        self._tensor = EagerTensor(array, self._key)
        self._trainable = trainable is None or bool(trainable)
        self._shape = None if shape is None else as_dims("Variable", shape)
        if constraint is not None:
            name_of("Variable: constraint", constraint)
        self.constraint = constraint
        if self._shape is not None and not self._shape.is_compatible_with(array.shape):
            raise ShapeError(
                f"Variable: an initial value of shape {array.shape} for shape "
                f"{self._shape}",
                "Write None for the sizes that may change",
            )
        if name is not None and not isinstance(name, str):
            raise ArgumentTypeError(f"Variable: the name is {name!r}", "Give a string")
        self._name = _unique(name or "Variable")
        _names[self._name] = self
        made = getattr(dispatch.interpreter(), "made", None)
        if made is not None:
            made(self)

    # --- What it is -------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The label, unique among living variables."""
        return f"{self._name}:0"

    @property
    def trainable(self) -> bool:
        """Whether tapes watch the variable when it is read."""
        return self._trainable

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes; `None` for those that assignments may change."""
        return self._tensor.shape if self._shape is None else self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._tensor.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._tensor.ndim

    @property
    def device(self) -> str:
        """Where the elements are: "cpu"."""
        return "cpu"

    def get_shape(self) -> TensorShape:
        """Return the sizes of the axes."""
        return self.shape

    def is_initialized(self) -> bool:
        """Return whether the variable has a value: always."""
        return True

    # --- Reading ----------------------------------------------------------------------

    def __gtape_tensor__(self) -> Any:
        """Return the value for an operation, and tell the tapes that it is read."""
        interpreter, recorders = state()
        for recorder in recorders:
            recorder.read(self)
        return interpreter.read(self)

    def read_value(self) -> Any:
        """Return the value as a tensor, recorded as reading the variable now."""
        return linear.identity(self)

    value = read_value

    def numpy(self) -> Any:
        """Return the value as an array of one's own, or a NumPy scalar for rank 0."""
        return self.__gtape_tensor__().numpy()

    # --- Assigning --------------------------------------------------------------------

    def assign(self, value: Any, *, read_value: bool = True) -> Any:
        """Give the variable a value of its shape and dtype.

        The link is not differentiated: later gradients by the variable are by its new
        value, and there is none by what was assigned.

        Args:
            value: Python numbers take the variable's dtype; NumPy arrays of floats are
                cast.
            read_value: Whether to return the variable, for chaining.

        Raises:
            ShapeError: If the shape differs; assignment does not broadcast.
            DTypeError: If the dtype does not fit.
        """
        tensor = self._converted("assign", value)
        dispatch.interpreter().assign(self, tensor)
        for recorder in dispatch.recorders():
            recorder.assigned(self, tensor)
        return self if read_value else None

    def assign_add(self, delta: Any, *, read_value: bool = True) -> Any:
        """Add a value of the variable's shape and dtype to the variable."""
        total = self + self._converted("assign_add", delta)
        return self.assign(total, read_value=read_value)

    def assign_sub(self, delta: Any, *, read_value: bool = True) -> Any:
        """Subtract a value of the variable's shape and dtype from the variable."""
        rest = self - self._converted("assign_sub", delta)
        return self.assign(rest, read_value=read_value)

    def _converted(self, verb: str, value: Any) -> Any:
        """Return the value as a tensor, if its shape and dtype fit."""
        mine = self._tensor._array.dtype
        interpreter = dispatch.interpreter()
        if isinstance(value, np.ndarray) and value.dtype.kind == mine.kind:
            tensor = linear.cast(interpreter.convert(value), mine)
        else:
            tensor = interpreter.convert(value, mine, True)
        if tensor.dtype != mine:
            raise DTypeError(
                f"{verb}: a value of {tensor.dtype} for {self.name} of {self.dtype}",
                "Cast it first",
            )
        if not self.shape.is_compatible_with(tensor.shape):
            raise ShapeError(
                f"{verb}: a value of shape {tuple(tensor.shape)} for {self.name} of "
                f"shape {tuple(self.shape)}",
                "Assignment does not broadcast: give the whole value",
            )
        return tensor

    def __getitem__(self, index: Any) -> Any:
        out = indexing.getitem(self, index)
        if type(out) is EagerTensor:
            return SlicedTensor(out, self, index)
        traced = services()
        return out if traced is None else traced.sliced(out, self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.assign(indexing.with_item(self, index, value))

    def _no_rebinding(self, other: Any) -> Any:
        raise AssignError(
            f"an augmented assignment such as `v += value` would make the name of "
            f"{self.name} a Tensor, which tapes do not watch",
            "Use v.assign_add(value), v.assign_sub(value), or v = v + value for a "
            "Tensor",
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = _no_rebinding
    __imod__ = __ipow__ = __imatmul__ = _no_rebinding
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _no_rebinding

    # --- Python protocols: those of the value -----------------------------------------

    def __len__(self) -> int:
        return len(self.__gtape_tensor__())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__gtape_tensor__())

    def __contains__(self, value: Any) -> bool:
        return value in self.__gtape_tensor__()

    def __bool__(self) -> bool:
        return bool(self.__gtape_tensor__())

    def __int__(self) -> int:
        return int(self.__gtape_tensor__())

    def __float__(self) -> float:
        return float(self.__gtape_tensor__())

    def __complex__(self) -> complex:
        return complex(self.__gtape_tensor__())

    def __index__(self) -> int:
        return int(self.__gtape_tensor__().__index__())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.__gtape_tensor__().__array__(dtype, copy)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        return self.__gtape_tensor__().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        tensor = self.__gtape_tensor__()
        return tensor.__array_function__(function, types, args, kwargs)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.__gtape_tensor__().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._tensor.__dlpack_device__()

    def __format__(self, spec: str) -> str:
        return format(self._tensor, spec)

    def __repr__(self) -> str:
        return self._described(self._tensor._array)

    def _described(self, array: Any) -> str:
        return f"<gt.Variable {self.name!r} {describe(array, '')}>"

    def _repr_html_(self) -> str:
        head = f"<b>gt.Variable</b> {self.name} shape={self.shape} dtype={self.dtype}"
        return f"<div>{head}<pre>{self._tensor._array}</pre></div>"

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        shape = self._shape
        value, name = self._tensor, self._name
        return Variable(value, self._trainable, name, None, self.constraint, shape)

    def __reduce__(self) -> tuple[Any, ...]:
        array, name, shape = np.array(self._tensor._array), self._name, self._shape
        return Variable, (array, self._trainable, name, None, self.constraint, shape)


def _initial(value: Any, dtype: DTypeLike | None) -> Any:
    wanted = None if dtype is None else as_numpy_dtype(dtype)
    if hasattr(value, "__gtape_tensor__") or hasattr(value, "_key"):
        interpreter = dispatch.interpreter()
        tensor = interpreter.convert(value)
        initial = getattr(interpreter, "initial", None)
        array = tensor._array if initial is None else initial(tensor)
        if wanted is not None and array.dtype != wanted:
            raise DTypeError(
                f"Variable: an initial tensor of {array.dtype} for dtype {dtype}",
                "Cast it first",
            )
        return array
    return from_python(value, wanted)


def _unique(name: str) -> str:
    base = _scope.get() + name.removesuffix(":0")
    if base not in _names:
        _counts.pop(base, None)
        return base
    number = _counts.get(base, 0) + 1
    while f"{base}_{number}" in _names:
        number += 1
    _counts[base] = number
    return f"{base}_{number}"


def is_tensor(x: Any) -> bool:
    """Return whether a value is a gtape tensor or variable.

    Args:
        x: Anything.

    Example:
        >>> import gtape as gt
        >>> gt.is_tensor(gt.constant(1.0)), gt.is_tensor(1.0)
        (True, False)
    """
    return isinstance(x, Operators)
