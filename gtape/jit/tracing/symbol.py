"""`Symbol`: a tensor inside a function that is being traced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from gtape import dispatch
from gtape.batching import NeedsValue
from gtape.dtypes import DType, as_dtype
from gtape.errors import (
    ArgumentTypeError,
    AttributeMissingError,
    TracingError,
)
from gtape.jit.graph.ir import Atom, Literal
from gtape.ops import indexing, numpy_protocol
from gtape.spec import TensorShape
from gtape.tensor import Tensor
from gtape.vectorize import BatchInterpreter


class Symbol(Tensor):
    """A tensor that has a shape and a dtype, and no value until the function runs.

    Args:
        value: What stands for it in the graph.
        key: The number under which recorders follow it.
        home: The builder of the region in which the object was made.
    """

    __slots__ = ("__weakref__", "_aliases", "_doubtful", "_home", "_key", "_value")

    def __init__(
        self, value: Atom, key: int = dispatch.UNFOLLOWED, home: Any = None
    ) -> None:
        self._value = value
        self._key = key
        self._home = home
        # Other objects that are the same tensor on some paths, each with whether it is
        # so on the path taken; and whether there are others that nobody can name.
        self._aliases: tuple[tuple[Symbol, Any], ...] = ()
        self._doubtful = False

    @property
    def _array(self) -> Atom:
        """What recorders keep of it."""
        return self._value

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes; those that are known only at run time are `Size`s."""
        return TensorShape(self._value.shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return as_dtype(self._value.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._value.shape)

    # --- What a traced tensor does not have -------------------------------------------

    def _refuse(self, what: str, hint: str) -> NoReturn:
        if isinstance(dispatch.interpreter(), BatchInterpreter):
            raise NeedsValue  # then the elements run one by one, in converted code
        raise TracingError(
            f"{what} of a traced tensor of {self._value.spec}: its value is known only "
            "when the function runs",
            hint,
        )

    def numpy(self) -> NoReturn:
        """Refuse: there is no value yet."""
        raise AttributeMissingError(
            f"numpy() of a traced tensor of {self._value.spec}: its value is known "
            "only when the function runs",
            "Return the tensor and call .numpy() outside of the function",
        )

    def __bool__(self) -> bool:
        if isinstance(self._value, Literal) and self._value.array.size == 1:
            return bool(self._value.array)
        self._refuse(
            "the truth",
            "Write the condition in code that gt.function converts, or use gt.cond or "
            "gt.where",
        )

    def __float__(self) -> NoReturn:
        self._refuse("float()", "Use gt.cast(x, gt.float64)")

    def __int__(self) -> NoReturn:
        self._refuse("int()", "Use gt.cast(x, gt.int64)")

    def __complex__(self) -> NoReturn:
        self._refuse("complex()", "Use gt.cast(x, gt.complex128)")

    def __index__(self) -> int:
        if isinstance(self._value, Literal) and self._value.array.dtype.kind in "iu":
            return int(self._value.array)
        self._refuse(
            "the number",
            "Index a tensor with it (lists need a Python int), or pass it as a Python "
            "int",
        )

    def __hash__(self) -> int:
        raise ArgumentTypeError(
            "a Tensor is unhashable, since == compares its elements",
            "Use its .ref() as the key; to look up by its value, use match, or index a "
            "tensor with it",
        )

    def __contains__(self, value: Any) -> bool:
        self._refuse("membership", "Use gt.reduce_any(x == value)")

    def __format__(self, spec: str) -> str:
        return repr(self) if not spec else self._refuse("the text", "Use gt.print")

    def __repr__(self) -> str:
        return f"<gt.Tensor: shape={self.shape}, dtype={self.dtype}, traced>"

    def __str__(self) -> str:
        return f"gt.Tensor(traced, shape={self.shape}, dtype={self.dtype})"

    def __reduce__(self) -> NoReturn:
        self._refuse("pickling", "Return the tensor and pickle it outside")

    # --- Python protocols -------------------------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        out = indexing.with_item(self, key, value)
        dispatch.interpreter().replace(self, out)  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise ArgumentTypeError(
                "a scalar tensor cannot be iterated over", "Use the tensor itself"
            )
        # A size that may differ from call to call becomes part of the trace.
        size = int(self.shape[0])
        return iter([self[i] for i in range(size)])

    def __len__(self) -> int:
        if self.ndim == 0:
            raise ArgumentTypeError(
                "len: a scalar tensor has no length", "gt.size(x) is 1"
            )
        return int(self.shape[0])

    def __deepcopy__(self, memo: Any) -> Symbol:
        return self.__copy__()

    def __copy__(self) -> Symbol:
        home = getattr(dispatch.interpreter(), "builder", self._home)
        return Symbol(self._value, self._key, home)

    # --- NumPy ------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TracingError(
            f"a traced tensor of {self._value.spec} cannot become a NumPy array: its "
            "value is known only when the function runs",
            "Use gt functions, or NumPy functions that gtape records",
        )

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        return numpy_protocol.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        return numpy_protocol.function(function, args, kwargs)
