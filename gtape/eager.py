"""`EagerTensor`: a tensor on a NumPy array."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.conversion import Array
from gtape.dtypes import DType, as_dtype, as_numpy_dtype
from gtape.errors import ArgumentError, ArgumentTypeError, DTypeError
from gtape.ops import indexing, numpy_protocol
from gtape.spec import TensorShape
from gtape.tensor import Tensor

# Keys of values that no recorder follows yet. Below them all stand signs of other
# threads.
LITERAL = 0  # a Python number beside a tensor
MADE = dispatch.UNFOLLOWED  # what an operation made outside every tape
CONSTANT = -2  # what came from Python or NumPy


class EagerTensor(Tensor):
    """A tensor whose elements are there: the value of the eager interpreter.

    Args:
        array: The elements. They are not copied and must not change any more.
        key: The number under which recorders follow the value.
    """

    __slots__ = ("__weakref__", "_array", "_key")

    def __init__(self, array: Array, key: int = CONSTANT) -> None:
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
        ndim: int = self._array.ndim
        return ndim

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
        text = self._text()
        line = "\n" if "\n" in text else ""
        return f"gt.Tensor({line}{text}, shape={self.shape}, dtype={self.dtype})"

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
        view.flags.writeable = False  # it is this tensor's value
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


def describe(array: Array, behind_shape: str = ",") -> str:
    """Return the shape, dtype and value of an array, as a tensor's repr says them."""
    value = repr(array.item()) if array.ndim == 0 else repr(array)
    line = "\n" if "\n" in value else ""
    shape = f"shape={tuple(array.shape)}{behind_shape}"
    return f"{shape} dtype={array.dtype}, numpy={line}{value}"
