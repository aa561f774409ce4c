"""Records of operations, and the inputs that the generated tests draw from them.

A file of operations `gtape/ops/NAME.py` has its records in `tests/ops/records/NAME.py`:
a list `RECORDS` with at least one `Record` for each primitive it declares.
`test_every_op.py` makes every check from them that can be made for any operation; what
a record cannot say stands in `tests/ops/test_NAME.py`.

    from tests.ops.harness import FLOATS, Record, cplx, ints, positive, real

    RECORDS = [
        Record("add", gt.add, np.add, (real((2, 3)), real((2, 3))), elementwise=True,
               dtypes=NUMBERS),
        Record("abs", gt.abs, np.abs, (real((2, 3)),), elementwise=True,
               kinks=lambda x: x),
        Record("reduce_sum", gt.reduce_sum, np.sum, (real((2, 3, 2)),),
               attrs=({"axis": 1}, {"axis": (0, 2)}, {"axis": None})),
        Record("cholesky", gt.linalg.cholesky, np.linalg.cholesky,
               lambda rng: (spd(rng, 3),), rtol=1e-5),
        Record("gather", gt.gather, np.take, (real((4,)), ints((3,), 0, 4))),
    ]
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gtape import dispatch, nest
from gtape.dtypes import as_numpy_dtype
from gtape.eager import EagerTensor
from gtape.primitive import Primitive

Array = Any
Shape = tuple[int, ...]
Draw = Callable[[np.random.Generator, Shape], Array]

FLOATS = ("float64", "float32", "float16", "bfloat16")
WIDE = ("float64", "float32")
COMPLEX = ("complex128", "complex64")
INTS = ("int32", "int64", "int8", "uint8")
BOOL = ("bool",)
REALS = (*FLOATS, *INTS)
INEXACT = (*FLOATS, *COMPLEX)
NUMBERS = (*FLOATS, *COMPLEX, *INTS)
ANY = (*NUMBERS, *BOOL)


@dataclass(frozen=True)
class Input:
    """How one operand is drawn.

    Make it with `real`, `positive`, `cplx`, `ints`, `bools` or `fixed`.

    Args:
        shape: The shape of the operand.
        draw: (rng, shape) -> array, in float64, complex128, an integer dtype or bool.
        adapts: Whether the operand takes each of the record's dtypes in turn; otherwise
            it keeps the one it is drawn with.
        grows: Whether it can be drawn in another shape.
    """

    shape: Shape
    draw: Draw
    adapts: bool = True
    grows: bool = True


def real(shape: Sequence[int] = (2, 3), low: float = -2.0, high: float = 2.0) -> Input:
    """Numbers between low and high, in each of the record's dtypes.

    For an integer dtype they are rounded, for a complex one they get an imaginary part
    between low and high too; for bool they are coin throws.
    """
    return Input(tuple(shape), lambda rng, s: rng.uniform(low, high, s))


def positive(
    shape: Sequence[int] = (2, 3), low: float = 0.3, high: float = 2.0
) -> Input:
    """Numbers well above zero, in each of the record's dtypes."""
    return real(shape, low, high)


def cplx(shape: Sequence[int] = (2, 3), low: float = -2.0, high: float = 2.0) -> Input:
    """Complex numbers with both parts between low and high.

    They are complex128 where the record's dtype is float64 and complex64 where it is
    float32; other dtypes are passed over.
    """

    def draw(rng: np.random.Generator, s: Shape) -> Array:
        return rng.uniform(low, high, s) + 1j * rng.uniform(low, high, s)

    return Input(tuple(shape), draw)


def ints(
    shape: Sequence[int] = (2, 3), low: int = -5, high: int = 6, dtype: str = "int32"
) -> Input:
    """Integers from low to high - 1, of this dtype whatever the record's dtypes."""

    def draw(rng: np.random.Generator, s: Shape) -> Array:
        return rng.integers(low, high, s).astype(dtype)

    return Input(tuple(shape), draw, adapts=False)


def bools(shape: Sequence[int] = (2, 3)) -> Input:
    """Coin throws."""
    return Input(tuple(shape), lambda rng, s: rng.random(s) < 0.5, adapts=False)


def fixed(value: Any) -> Input:
    """The array given; a real or complex one takes each of the record's dtypes."""
    array = np.asarray(value)
    return Input(
        array.shape,
        lambda rng, s: np.broadcast_to(array, s).copy(),
        adapts=array.dtype.kind in "fc",
        grows=array.size < 2,
    )


@dataclass(frozen=True)
class Record:
    """One operation as the generated tests see it.

    Args:
        primitive: Its name in `gtape.primitive.registry()`. Several records may share
            it. For an operation without a primitive of its own, the public name, with
            `composed=True`.
        call: The public function: tensors (and the entries of `attrs`, by keyword) -> a
            tensor or a nested structure of tensors.
        reference: The same over NumPy arrays (and attrs), or `None` if there is nothing
            to compare with. It gets its operands in float64 or complex128 where they
            are floating-point, so that it is exact for the narrow dtypes too; its dtype
            is not looked at, its shape is.
        inputs: One `Input` per operand, or a function rng -> tuple of arrays, in which
            the floating-point and complex arrays take each of the record's dtypes and
            the others stay. `()` for an operation without operands.
        attrs: Keyword arguments: a dict for each variant to test.
        name: What tells records of one primitive apart in the tests' names.
        dtypes: The dtypes the operands take: FLOATS, WIDE, COMPLEX, INTS, BOOL, REALS,
            INEXACT, NUMBERS, ANY, or any tuple of names.
        order: The highest order of gradients that is checked, in float64, and in
            complex128 where `dtypes` has it (or the inputs are complex): 0 for none, 1
            or 2.
        wrt: The operands by which gradients are checked; all floating-point ones by
            default.
        rtol: The relative error allowed of values, where the default of a dtype (1e-12,
            1e-5, 1e-2, 5e-2 for float64 to bfloat16) is too little: a number for all
            dtypes, or a dict from dtype names.
        atol: The absolute error; as the relative one by default.
        grad_rtol: The relative error allowed between gradients and central differences.
        elementwise: Adds broadcasting pairs, rank 0, an empty axis, and NaN, infinities
            and signed zeros against the reference.
        specials: Set to False where the reference does something else for NaN and
            infinities.
        kinks: Arrays (and attrs) -> an array, or a tuple of arrays, whose zeros are the
            points without a derivative, such as `lambda x, y: x - y` for a maximum.
            Operands are drawn anew until all of it lies 0.05 away from zero.
        composed: Whether the operation has no primitive of its own.
        narrow_gradients: Set to False where gradients in float16 and bfloat16 make no
            sense.
        grows: (rng, k) -> operands that are larger by k, where it is not enough to
            make all sizes above 1 larger by k.
        per_size: Why a trace holds for one size only, where it does.
    """

    primitive: str
    call: Callable[..., Any]
    reference: Callable[..., Any] | None
    inputs: tuple[Input, ...] | Callable[[np.random.Generator], tuple[Array, ...]]
    attrs: tuple[dict[str, Any], ...] = ({},)
    name: str = ""
    dtypes: tuple[str, ...] = FLOATS
    order: int = 2
    wrt: tuple[int, ...] | None = None
    rtol: float | dict[str, float] | None = None
    atol: float | None = None
    grad_rtol: float = 1e-5
    elementwise: bool = False
    specials: bool = True
    kinks: Callable[..., Any] | None = None
    composed: bool = False
    narrow_gradients: bool = True
    grows: Callable[[np.random.Generator, int], tuple[Array, ...]] | None = None
    per_size: str = ""

    @property
    def id(self) -> str:
        """The record's name in the tests."""
        return f"{self.primitive}-{self.name}" if self.name else self.primitive


# --- Drawing --------------------------------------------------------------------------

COUNTERPART = {"float64": "complex128", "float32": "complex64"}
MARGIN = 0.05


def rng_for(record: Record) -> np.random.Generator:
    """Return a generator of the record's own, the same in every run."""
    return np.random.default_rng(zlib.crc32(record.id.encode()))


def draw(
    record: Record,
    rng: np.random.Generator,
    dtype: str = "float64",
    attrs: dict[str, Any] | None = None,
    shapes: Sequence[Shape] | None = None,
) -> tuple[Array, ...] | None:
    """Return operands in a dtype, away from kinks; `None` if they do not come in it."""
    for _ in range(1000):
        if callable(record.inputs):
            raw = [(np.asarray(a), None) for a in record.inputs(rng)]
        else:
            sizes = [i.shape for i in record.inputs] if shapes is None else shapes
            raw = [
                (np.asarray(i.draw(rng, s)), i)
                for i, s in zip(record.inputs, sizes, strict=True)
            ]
        arrays = [_adapted(a, i, dtype, rng) for a, i in raw]
        if any(a is None for a in arrays):
            return None
        if _clear(record, arrays, attrs or {}):
            return tuple(arrays)
    raise AssertionError(f"{record.id}: a thousand draws all lie at kinks")


def grown(record: Record, attrs: dict[str, Any], k: int) -> tuple[Array, ...]:
    """Return operands whose sizes above 1 are larger by k; equal ones stay so."""
    rng, dtype = rng_for(record), record.dtypes[0]
    if record.grows is not None:
        arrays = [np.asarray(a) for a in record.grows(rng, k)]
        return tuple([_adapted(a, None, dtype, rng) for a in arrays])
    assert not callable(record.inputs)
    shapes = [tuple(d + k if d > 1 else d for d in i.shape) for i in record.inputs]
    found = draw(record, rng, dtype, attrs, shapes)
    assert found is not None, f"{dtype} is not a dtype of these inputs"
    return found


def _adapted(
    array: Array, source: Input | None, dtype: str, rng: np.random.Generator
) -> Array | None:
    """Return a drawn operand in a dtype, `None` where it has no counterpart in it."""
    adapts = array.dtype.kind in "fcV" if source is None else source.adapts
    if not adapts:
        return array
    if array.dtype.kind == "c":
        dtype = COUNTERPART.get(dtype, dtype)
        return array.astype(dtype) if dtype in COMPLEX else None
    target = as_numpy_dtype(dtype)
    if target.kind == "b":
        return rng.random(array.shape) < 0.5
    if target.kind == "c" and source is not None:
        array = array + 1j * source.draw(rng, array.shape)
    if target.kind in "iu":
        array = np.rint(array) if target.kind == "i" else np.rint(np.abs(array))
    return array.astype(target)


def _clear(record: Record, arrays: Sequence[Array], attrs: dict[str, Any]) -> bool:
    if record.kinks is None or not any(a.dtype.kind in "fcV" for a in arrays):
        return True
    distances = record.kinks(*[widened(a) for a in arrays], **attrs)
    if not isinstance(distances, tuple):
        distances = (distances,)
    return all(np.all(np.abs(d) > MARGIN) for d in distances)


def widened(array: Array) -> Array:
    """Return an array as references take it: in float64 or complex128 if inexact."""
    if array.dtype.kind in "fV":
        return array.astype(np.float64)
    return array.astype(np.complex128) if array.dtype.kind == "c" else array


def tensor(array: Array) -> EagerTensor:
    """Return a tensor on exactly this array, which nothing may write to."""
    array = np.asarray(array)
    array.flags.writeable = False
    return EagerTensor(array if array.ndim else array[()])


def leaves(result: Any) -> list[Any]:
    """Return the tensors of a result as arrays."""
    return [np.asarray(t.numpy()) for t in nest.flatten(result)]


@dataclass(frozen=True)
class Ran:
    """A primitive as it ran inside a call."""

    primitive: Primitive
    inputs: tuple[Array, ...]
    out: Any
    attrs: dict[str, Any]


@dataclass
class Watcher:
    """A recorder that keeps every primitive that runs."""

    ran: list[Ran] = field(default_factory=list)

    def record(
        self, primitive: Primitive, inputs: Sequence[Any], out: Any, attrs: Any
    ) -> None:
        outs = tuple(o._array for o in out) if isinstance(out, tuple) else out._array
        self.ran.append(
            Ran(primitive, tuple(x._array for x in inputs), outs, dict(attrs))
        )

    def read(self, variable: Any) -> None: ...

    def left(self, key: int) -> None: ...

    def assigned(self, variable: Any, value: Any) -> None: ...


def watched(call: Callable[[], Any]) -> tuple[Any, list[Ran]]:
    """Return the result of a call, and every primitive that ran in it."""
    watcher = Watcher()
    dispatch.push_recorder(watcher)
    try:
        result = call()
    finally:
        dispatch.pop_recorder(watcher)
    return result, watcher.ran
