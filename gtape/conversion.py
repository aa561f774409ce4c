"""From Python numbers, nested lists and NumPy values to arrays of a tensor's own."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from gtape.dtypes import Kind, NumpyDType, as_dtype, as_numpy_dtype, concrete, promote
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    RangeError,
    TensorMemoryError,
)

Array: TypeAlias = Any
"""A NumPy array, or a NumPy scalar for rank 0, whose arithmetic is much faster."""

NUMBERS = frozenset((bool, int, float, complex))
"""The Python types of weak operands."""

SMALL = 65504  # numbers below it are finite in every dtype


def from_python(
    value: Any, wanted: NumpyDType | None, beside: Kind | None = None
) -> Array:
    """Return a Python number, nested list or NumPy value as an array of its own.

    Args:
        value: What to convert.
        wanted: The dtype that Python numbers take; they must fit it.
        beside: The dtype of a tensor beside it, to which Python numbers adapt.

    Raises:
        ArgumentTypeError: If it is nothing a tensor can be made of.
        ArgumentError: If nested lists are ragged.
        DTypeError: If a number does not fit the dtype.
        RangeError: If an integer is out of the range of the dtype.
    """
    if isinstance(value, np.ndarray):
        return _own(value, wanted)
    if isinstance(value, np.generic):
        return _own(np.asarray(value), wanted)[()]
    if type(value) not in NUMBERS and not isinstance(value, (list, tuple, range)):
        number = _plain(value)
        if number is None:
            return _foreign(value, wanted)
        value = number
    kind = kind_of(value)
    target = wanted if wanted is not None else concrete(kind)
    if wanted is None and beside is not None:
        target = concrete(promote(beside, kind))
    _check_fits(kind, target, wanted is not None, value)
    return filled(value, kind, target, wanted)


def _own(array: Any, wanted: NumpyDType | None) -> Array:
    source = as_numpy_dtype(array.dtype)
    if wanted is None or wanted is source:
        return np.array(array, dtype=source, subok=False)
    _check_fits(source, wanted, True, array)
    if wanted.kind in "iu" and not np.can_cast(source, wanted) and array.size:
        for value in (array.min(), array.max()):
            if not np.iinfo(wanted).min <= int(value) <= np.iinfo(wanted).max:
                raise out_of_range(value, wanted)
    with np.errstate(over="ignore"):
        return np.array(array, dtype=wanted, subok=False)


def _plain(value: Any) -> Any:
    """Return an instance of a subclass, such as an `IntEnum`, as a bare number."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    return complex(value) if isinstance(value, complex) else None


def _foreign(value: Any, wanted: NumpyDType | None) -> Array:
    if isinstance(value, (str, bytes, dict, set)) or value is None:
        raise ArgumentTypeError(
            f"{value!r} of type {type(value).__name__} cannot become a tensor",
            "Use numbers, NumPy arrays, tensors, or nested lists of them",
        )
    for protocol in ("__array__", "__array_interface__", "__dlpack__"):
        if hasattr(value, protocol):
            array = (
                np.from_dlpack(value) if protocol == "__dlpack__" else np.asarray(value)
            )
            return _own(array, wanted)
    raise ArgumentTypeError(
        f"a value of type {type(value).__name__} cannot become a tensor",
        "Use numbers, NumPy arrays, tensors, or nested lists of them",
    )


def kind_of(value: Any) -> Kind:
    """Return the dtype that the numbers of a nested list share, or a weak one."""
    if type(value) in NUMBERS:
        return type(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return as_numpy_dtype(value.dtype)
    if isinstance(value, range):
        return int
    if isinstance(value, (list, tuple)):
        out: Kind | None = None
        for entry in value:
            kind = kind_of(entry)
            if (out is bool and kind in (float, complex)) or (
                kind is bool and out in (float, complex)
            ):
                raise DTypeError(
                    "a list mixes bools with floats", "Write 1.0 and 0.0 for the bools"
                )
            out = kind if out is None else promote(out, kind)
        return float if out is None else out
    if hasattr(value, "dtype") and hasattr(value, "__array__"):
        return as_numpy_dtype(value.dtype)
    number = _plain(value)
    if number is not None:
        return type(number)
    raise ArgumentTypeError(
        f"{value!r} of type {type(value).__name__} cannot become a tensor",
        "Use numbers, NumPy arrays, tensors, or nested lists of them",
    )


def _check_fits(kind: Kind, target: NumpyDType, asked: bool, value: Any) -> None:
    """Refuse to lose a fraction or an imaginary part by converting a Python number."""
    rank = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}
    source = concrete(kind).kind
    if asked and rank[source] > rank[target.kind]:
        raise DTypeError(
            f"{short(value)} does not fit the dtype {as_dtype(target)}",
            "Use another dtype, or gt.cast, which truncates",
        )


def short(value: Any) -> str:
    """Return a value as messages show it: its repr, cut where it is long."""
    if isinstance(value, np.ndarray):
        if value.ndim:
            return f"an array of {value.dtype}"
        value = value[()]
    try:
        text = repr(value)
    except ValueError:  # Python writes no integers of more than 4300 digits
        return f"a huge {type(value).__name__}"
    return text if len(text) < 60 else text[:57] + "..."


def filled(
    value: Any, kind: Kind, target: NumpyDType, wanted: NumpyDType | None
) -> Array:
    """Return Python numbers, whose common dtype is kind, as an array of a dtype.

    Args:
        value: A number, nested list or range.
        kind: What `kind_of` says of it.
        target: The dtype of the array; int64 replaces int32 where Python ints need it.
        wanted: The dtype that was asked for; `None` if nobody did.
    """
    try:
        if kind is int and wanted is None and target == np.int32:
            target = _wide_enough(value)
        number = type(value) in NUMBERS
        if number and kind is not complex and -SMALL < value < SMALL:
            return target.type(value)
        with np.errstate(over="ignore"):  # as float32, 1e300 is infinite
            if number:
                return target.type(value)
            if isinstance(value, range):
                return _own(_counted(value), target)
            wide = np.float64 if target.kind == "V" else target
            return np.array(value, dtype=wide).astype(target, copy=False)
    except OverflowError:
        raise out_of_range(value, target) from None
    except MemoryError:
        raise TensorMemoryError(
            f"{short(value)} does not fit into memory", "Use less at once"
        ) from None
    except ValueError as error:
        if isinstance(error, RangeError):
            raise
        raise ArgumentError(
            f"the nested list {short(value)} is ragged",
            "Give every row the same length",
        ) from None


def _counted(value: range) -> Array:
    if len(value) * 8 > 2**62:
        raise MemoryError
    return np.arange(value.start, value.stop, value.step, dtype=np.int64)


def out_of_range(value: Any, target: NumpyDType) -> RangeError:
    """Return the error of an integer that a dtype cannot hold."""
    limits = as_dtype(target).real_dtype
    return RangeError(
        f"{short(value)} is out of the range of {as_dtype(target)}, "
        f"{limits.min} to {limits.max}",
        "Use a wider dtype",
    )


def _wide_enough(value: Any) -> NumpyDType:
    """Return int32, or int64 for Python ints that int32 cannot hold."""
    if isinstance(value, int):
        low = high = value
    elif isinstance(value, range):
        low, high = sorted((value[0], value[-1])) if value else (0, 0)
    else:
        numbers = np.asarray(value)
        if not numbers.size:
            return np.dtype(np.int32)
        low, high = numbers.min(), numbers.max()
    fits = low >= -(2**31) and high < 2**31
    return np.dtype(np.int32 if fits else np.int64)
