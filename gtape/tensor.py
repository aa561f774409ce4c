"""`Tensor`: the face of every tensor, eager or traced, and its operators."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Self

from gtape import dispatch
from gtape.errors import ArgumentTypeError, AttributeMissingError, ShapeError
from gtape.lazy import difflib
from gtape.ops import arithmetic, indexing, linalg, logic, math, rounding
from gtape.ops.common import as_int
from gtape.spec import TensorShape


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return function(other, self)

    return operator


class Operators:
    """The operators of tensors and variables, each through the one door."""

    __slots__ = ()

    # NumPy gives way to tensors in mixed expressions: ndarray * tensor is a Tensor.
    __array_priority__ = 100

    __add__ = arithmetic.add
    __radd__ = _reflected(arithmetic.add)
    __sub__ = arithmetic.subtract
    __rsub__ = _reflected(arithmetic.subtract)
    __mul__ = arithmetic.multiply
    __rmul__ = _reflected(arithmetic.multiply)
    __truediv__ = arithmetic.divide
    __rtruediv__ = _reflected(arithmetic.divide)
    __floordiv__ = arithmetic.floordiv
    __rfloordiv__ = _reflected(arithmetic.floordiv)
    __mod__ = arithmetic.mod
    __rmod__ = _reflected(arithmetic.mod)
    __matmul__ = linalg.matmul
    __rmatmul__ = _reflected(linalg.matmul)
    __and__ = logic.bitwise_and
    __rand__ = _reflected(logic.bitwise_and)
    __or__ = logic.bitwise_or
    __ror__ = _reflected(logic.bitwise_or)
    __xor__ = logic.bitwise_xor
    __rxor__ = _reflected(logic.bitwise_xor)
    __lshift__ = logic.left_shift
    __rlshift__ = _reflected(logic.left_shift)
    __rshift__ = logic.right_shift
    __rrshift__ = _reflected(logic.right_shift)
    __lt__ = logic.less
    __le__ = logic.less_equal
    __gt__ = logic.greater
    __ge__ = logic.greater_equal

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            raise ArgumentTypeError(
                f"pow: a modulus, here {modulus!r}, is not supported",
                "Use (x ** y) % m",
            )
        return arithmetic.pow(self, other)

    def __rpow__(self, other: Any, modulus: Any = None) -> Any:
        return arithmetic.pow(other, self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return arithmetic.floordiv(self, other), arithmetic.mod(self, other)

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return arithmetic.floordiv(other, self), arithmetic.mod(other, self)

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, (str, bytes)):
            return False
        return logic.equal(self, other)

    def __ne__(self, other: object) -> Any:
        if other is None or isinstance(other, (str, bytes)):
            return True
        return logic.not_equal(self, other)

    def __hash__(self) -> int:
        raise ArgumentTypeError(
            f"a {_kind_of(type(self))} is unhashable, since == compares its elements",
            "Use its .ref() as the key",
        )

    def __neg__(self) -> Any:
        return arithmetic.negative(self)

    def __pos__(self) -> Any:
        return copy.copy(dispatch.interpreter().convert(self))

    def __abs__(self) -> Any:
        return math.abs(self)

    def __invert__(self) -> Any:
        return logic.invert(self)

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None or digits == 0:
            return rounding.round(self)
        scale = 10.0 ** as_int("round", "the number of digits", digits)
        return rounding.round(arithmetic.multiply(self, scale)) / scale

    def __floor__(self) -> Any:
        return rounding.floor(self)

    def __ceil__(self) -> Any:
        return rounding.ceil(self)

    def __trunc__(self) -> Any:
        return rounding.trunc(self)

    def __getitem__(self, index: Any) -> Any:
        return indexing.getitem(self, index)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # NumPy and copy look for protocols that way
            raise AttributeError(name)
        kind = type(self)
        hint = _FUNCTIONS if name.startswith("_") else _HINTS.get(name)
        if hint is None:
            close = difflib.get_close_matches(name, dir(kind), 1)
            hint = f"Did you mean {close[0]!r}?" if close else _FUNCTIONS
        raise AttributeMissingError(
            f"a {_kind_of(kind)} has no attribute {name!r}", hint
        )

    def ref(self) -> Reference:
        """Return a hashable reference to this object, for sets and dict keys."""
        return Reference(self)


class Reference:
    """A hashable stand-in for a tensor or variable: equal when it is the same object.

    Args:
        value: The object.

    Example:
        >>> import gtape as gt
        >>> v = gt.Variable(1.0)
        >>> v.ref() == v.ref(), v.ref().deref() is v
        (True, True)
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def deref(self) -> Any:
        """Return the object."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


_FUNCTIONS = "Use a gt function, such as gt.reshape(x, shape)"
_HINTS = {
    "T": "Use gt.transpose(x)",
    "item": "Use x.numpy() or float(x)",
    "tolist": "Use x.numpy().tolist()",
    "size": "Use gt.size(x)",
    "reshape": "Use gt.reshape(x, shape)",
    "astype": "Use gt.cast(x, dtype)",
    "sum": "Use gt.reduce_sum(x)",
    "mean": "Use gt.reduce_mean(x)",
    "max": "Use gt.reduce_max(x)",
    "min": "Use gt.reduce_min(x)",
    "grad": "Use tape.gradient(y, x)",
    "backward": "Use tape.gradient(y, x)",
    "assign": "Only a gt.Variable can be assigned to",
    "assign_add": "Only a gt.Variable can be assigned to: did x = x + 1 rebind it?",
    "assign_sub": "Only a gt.Variable can be assigned to: did x = x - 1 rebind it?",
    "detach": "Use gt.stop_gradient(x)",
    "requires_grad": "Use gt.Variable, or tape.watch(x)",
}


def _kind_of(kind: type) -> str:
    """Return what messages call the class: those inside gtape are Tensors to users."""
    return "Tensor" if issubclass(kind, Tensor) else kind.__name__


class Tensor(Operators):
    """A value with a shape and a dtype; its arithmetic is recorded by the active tapes.

    Made by `gt.constant` and by every operation. A Tensor is immutable, but `t[i] = x`
    gives the name t a new value, in which x stands at i; whatever was computed from t
    before stays as it was.

    Example:
        >>> import gtape as gt
        >>> gt.constant([1.0, 2.0]) * 3.0
        <gt.Tensor: shape=(2,), dtype=float32, numpy=array([3., 6.], dtype=float32)>
    """

    __slots__ = ()

    @property
    def device(self) -> str:
        """Where the elements are: "cpu"."""
        return "cpu"

    def get_shape(self) -> TensorShape:
        """Return the sizes of the axes."""
        return TensorShape(self.shape)

    def set_shape(self, shape: Any) -> None:
        """Require a shape; `None` stands for any size.

        Args:
            shape: A size or `None` for each axis.

        Raises:
            ShapeError: If the tensor has another one.
        """
        if not self.get_shape().is_compatible_with(TensorShape(shape)):
            raise ShapeError(
                f"set_shape: a tensor of shape {tuple(self.shape)} for shape {shape}",
                "Use gt.reshape to change the shape",
            )

    def cpu(self) -> Self:
        """Return the tensor, whose elements are in the memory of the CPU."""
        return self

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise ArgumentTypeError(
                "a scalar tensor cannot be iterated over", "Use the tensor itself"
            )
        return iter([self[i] for i in range(self.shape[0])])

    def __len__(self) -> int:
        if self.ndim == 0:
            raise ArgumentTypeError(
                "len: a scalar tensor has no length", "gt.size(x) is 1"
            )
        return int(self.shape[0])
