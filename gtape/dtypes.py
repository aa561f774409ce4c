"""The dtypes of gtape, how they promote, and the default float.

A `DType` is a named face on a NumPy dtype; it equals the NumPy dtype, its scalar type
and its name. Promotion is the table of the Array API standard, with Python numbers as
weak operands.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from gtape.errors import ArgumentTypeError, DTypeError

NumpyDType: TypeAlias = "np.dtype[Any]"


class DType:
    """The type of a tensor's elements: a name, a width and a kind.

    Args:
        numpy_dtype: The NumPy dtype that stores the elements.

    Example:
        >>> import gtape as gt
        >>> gt.float32.name, gt.float32.size, gt.float32 == np.float32
        ('float32', 4, True)
    """

    __slots__ = ("_numpy", "kind", "name")

    def __init__(self, numpy_dtype: NumpyDType) -> None:
        self._numpy = numpy_dtype
        self.name: str = numpy_dtype.name
        kind = numpy_dtype.kind
        # NumPy files bfloat16 under "V" (void), since ml_dtypes registers it from
        # outside.
        self.kind: str = "f" if kind == "V" else kind

    @property
    def as_numpy_dtype(self) -> type[np.generic]:
        """The NumPy scalar type, such as `np.float32`."""
        return self._numpy.type

    @property
    def dtype(self) -> NumpyDType:
        """The NumPy dtype (NumPy itself asks for this name)."""
        return self._numpy

    @property
    def __numpy_dtype__(self) -> NumpyDType:
        return self._numpy

    @property
    def is_floating(self) -> bool:
        """Whether the dtype is a real floating-point type."""
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self.kind == "c"

    @property
    def is_integer(self) -> bool:
        """Whether the dtype is a signed or unsigned integer."""
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether the dtype is an unsigned integer."""
        return self.kind == "u"

    @property
    def is_bool(self) -> bool:
        """Whether the dtype is boolean."""
        return self.kind == "b"

    @property
    def is_differentiable(self) -> bool:
        """Whether gradients flow through the dtype: floating-point and complex do."""
        return self.kind in "fc"

    @property
    def size(self) -> int:
        """The number of bytes of one element."""
        return self._numpy.itemsize

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part; the dtype itself where it is not complex."""
        if self.kind != "c":
            return self
        return float32 if self.size == 8 else float64

    @property
    def min(self) -> int | float | bool:
        """The least finite value."""
        return self._limit("min", False)

    @property
    def max(self) -> int | float | bool:
        """The greatest finite value."""
        return self._limit("max", True)

    @property
    def eps(self) -> float:
        """The distance from 1 to the next number; 0 for integers and bools."""
        return float(self._limit("eps", False)) if self.is_differentiable else 0.0

    def _limit(self, which: str, if_bool: bool) -> int | float | bool:
        if self.kind == "b":
            return if_bool
        if self.kind == "c":
            raise DTypeError(f"{self.name} has no {which}", "Ask its real_dtype")
        if self.kind == "f":
            info: Any = ml_dtypes.finfo  # untyped
            return float(getattr(info(self._numpy), which))
        return int(getattr(np.iinfo(self._numpy), which))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None:
            return False
        try:
            return self._numpy == as_numpy_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self._numpy)

    def __repr__(self) -> str:
        return f"gt.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


bool_ = DType(np.dtype(np.bool_))
int8 = DType(np.dtype(np.int8))
int16 = DType(np.dtype(np.int16))
int32 = DType(np.dtype(np.int32))
int64 = DType(np.dtype(np.int64))
uint8 = DType(np.dtype(np.uint8))
uint16 = DType(np.dtype(np.uint16))
uint32 = DType(np.dtype(np.uint32))
uint64 = DType(np.dtype(np.uint64))
float16 = DType(np.dtype(np.float16))
bfloat16 = DType(np.dtype(ml_dtypes.bfloat16))
float32 = DType(np.dtype(np.float32))
float64 = DType(np.dtype(np.float64))
complex64 = DType(np.dtype(np.complex64))
complex128 = DType(np.dtype(np.complex128))

ALL: tuple[DType, ...] = (
    bool_,
    *(int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(float16, bfloat16, float32, float64),
    *(complex64, complex128),
)
_BY_NUMPY: dict[NumpyDType, DType] = {d.dtype: d for d in ALL}
_BY_NAME: dict[str, DType] = {d.name: d for d in ALL}
_BY_PYTHON: dict[object, DType] = {
    bool: bool_,
    int: int32,
    float: float32,
    complex: complex128,
}

DTypeLike: TypeAlias = "DType | np.dtype[Any] | type | str"


def as_dtype(value: DTypeLike) -> DType:
    """Return the `DType` for a DType, NumPy dtype or scalar type, Python type or name.

    Args:
        value: What names the dtype. `float` means the default float, `int` means int32.

    Raises:
        DTypeError: If gtape has no such dtype.

    Example:
        >>> import gtape as gt
        >>> gt.as_dtype("float16"), gt.as_dtype(np.int8)
        (gt.float16, gt.int8)
    """
    if type(value) is DType:
        return value
    if isinstance(value, np.dtype):
        found = _BY_NUMPY.get(value)
    elif isinstance(value, str):
        found = _BY_NAME.get(value)
    elif value is float:
        found = default_float()
    elif isinstance(value, type) and value in _BY_PYTHON:
        found = _BY_PYTHON[value]
    else:
        found = None
    if found is None:
        found = _from_numpy(value)
    return found


def _from_numpy(value: Any) -> DType:
    names = ", ".join(_BY_NAME)
    if value is None or isinstance(value, (bool, int, float, complex, list, tuple)):
        raise DTypeError(f"{value!r} is not a dtype", f"Use one of {names}")
    try:
        numpy_dtype = np.dtype(value)
    except (TypeError, ValueError):
        raise DTypeError(f"{value!r} is not a dtype", f"Use one of {names}") from None
    found = _BY_NUMPY.get(numpy_dtype.newbyteorder("="))
    if found is None:
        shown = repr(value) if isinstance(value, str) else numpy_dtype
        raise DTypeError(f"gtape has no dtype {shown}", f"Use one of {names}")
    return found


def as_numpy_dtype(value: Any) -> NumpyDType:
    """Return the NumPy dtype for anything that `as_dtype` takes."""
    if type(value) is DType:
        return value._numpy
    if isinstance(value, np.dtype) and value in _BY_NUMPY:
        return value
    return as_dtype(value)._numpy


def set_default_float(dtype: DTypeLike) -> None:
    """Set the dtype that Python floats become: float32 at the start.

    Args:
        dtype: A real floating-point dtype.

    Raises:
        DTypeError: If the dtype is not a real floating-point type.

    Example:
        >>> import gtape as gt
        >>> gt.set_default_float("float64")
        >>> gt.constant(1.0).dtype
        gt.float64
        >>> gt.set_default_float("float32")
    """
    found = as_dtype(dtype)
    if not found.is_floating:
        raise DTypeError(
            f"set_default_float: {found} is not a floating-point dtype",
            "Use float16, bfloat16, float32 or float64",
        )
    _BY_PYTHON[float] = found
    # The promotions that depend on the default float are forgotten.
    _promoted.clear()
    for cache in _dependents:
        cache.clear()


_dependents: list[dict[Any, Any]] = []


def depends_on_default_float(cache: dict[Any, Any]) -> None:
    """Register a cache to be cleared when the default float changes."""
    _dependents.append(cache)


def default_float() -> DType:
    """Return the dtype that Python floats become."""
    return _BY_PYTHON[float]


def is_differentiable(numpy_dtype: NumpyDType) -> bool:
    """Return whether gradients flow through a NumPy dtype."""
    return numpy_dtype.kind in "fcV"


# --- Promotion ------------------------------------------------------------------------

Kind: TypeAlias = "np.dtype[Any] | type"
"""The dtype of a tensor operand, or the Python type of a weak one."""

_WEAK_RANK: dict[Any, int] = {bool: 0, int: 1, float: 2, complex: 3}
_promoted: dict[tuple[Kind, Kind], Kind] = {}


def promote(a: Kind, b: Kind) -> Kind:
    """Return the common dtype of two operands; two weak operands stay weak."""
    found = _promoted.get((a, b))
    if found is None:
        found = _promoted[a, b] = _promote(a, b)
    return found


def _promote(a: Kind, b: Kind) -> Kind:
    # Identity first: NumPy says that its float64 equals Python's float.
    if a is b:
        return a
    if isinstance(a, type):
        if isinstance(b, type):
            return a if _WEAK_RANK[a] >= _WEAK_RANK[b] else b
        return _promote_weak(b, a)
    if isinstance(b, type):
        return _promote_weak(a, b)
    return _promote_strong(a, b)


def _promote_weak(strong: NumpyDType, weak: type) -> NumpyDType:
    """A Python number takes the tensor's dtype, unless its kind is the higher one."""
    d = _BY_NUMPY[strong]
    if weak is bool:
        return strong
    if weak is int:
        return _BY_PYTHON[int].dtype if d.is_bool else strong
    if weak is float:
        return strong if d.is_differentiable else default_float().dtype
    if d.is_complex:
        return strong
    return complex64.dtype if d.is_floating and d.size <= 4 else complex128.dtype


def _promote_strong(a: NumpyDType, b: NumpyDType) -> NumpyDType:
    x, y = _BY_NUMPY[a], _BY_NUMPY[b]
    if x is y:
        return a
    if x.is_bool:
        return b
    if y.is_bool:
        return a
    if x.is_integer and y.is_integer:
        if {x.name, y.name} & {"uint64"} and x.is_unsigned != y.is_unsigned:
            raise DTypeError(
                f"{x} and {y} have no common integer dtype",
                "Cast one of them: no integer dtype holds both ranges",
            )
        return np.promote_types(a, b)
    if x.is_integer:
        return b
    if y.is_integer:
        return a
    if x.is_complex or y.is_complex:
        wide = 8 in (x.real_dtype.size, y.real_dtype.size)
        return complex128.dtype if wide else complex64.dtype
    if x.size == y.size:  # float16 with bfloat16: neither holds the other
        return float32.dtype
    return a if x.size > y.size else b


def concrete(kind: Kind) -> NumpyDType:
    """Return the dtype of a tensor operand, or the default dtype of a weak one."""
    if isinstance(kind, type):
        return _BY_PYTHON[kind].dtype
    return kind


def result_type(*dtypes: DTypeLike) -> DType:
    """Return the dtype that operands of the given dtypes promote to.

    Args:
        *dtypes: Dtypes; the Python types bool, int, float and complex stand for Python
            numbers.

    Raises:
        DTypeError: If there is none: uint64 with a signed integer.

    Example:
        >>> import gtape as gt
        >>> gt.result_type("float32", "float64"), gt.result_type("int8", float)
        (gt.float64, gt.float32)
    """
    if not dtypes:
        raise ArgumentTypeError(
            "result_type needs at least one dtype", "Give the dtypes of the operands"
        )
    kinds: list[Any] = [d if d in _WEAK_RANK else as_numpy_dtype(d) for d in dtypes]
    out: Kind = kinds[0]
    for kind in kinds[1:]:
        out = promote(out, kind)
    return _BY_NUMPY[concrete(out)]
