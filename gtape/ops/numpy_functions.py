"""NumPy's functions in terms of gtape's operations, with NumPy's names and defaults.

Each entry takes the arguments that both sides share. A call with other ones (`out=`,
`where=`, `dtype=`), or on integers where NumPy would change the dtype, stays NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gtape.dtypes import is_differentiable
from gtape.ops import (
    arithmetic,
    contraction,
    creation,
    diagonal,
    discrete,
    einsum,
    extrema,
    linalg,
    linear,
    logic,
    math,
    norm,
    norms,
    padding,
    rearranging,
    reduction,
    scanning,
    shaping,
    slicing,
    sorting,
    special,
)
from gtape.ops.common import UFUNCS, Tensor, TensorLike, convert
from gtape.ops.determinant import det, slogdet
from gtape.ops.factorization import cholesky
from gtape.ops.solving import inv, solve

Function = Callable[..., Any]

FUNCTIONS: dict[Function, Function] = {}
"""The operation that stands for each NumPy function."""


class NotRecordable(Exception):
    """The call means something else to NumPy: let NumPy do it."""


def _for(*functions: Function) -> Callable[[Function], Function]:
    def declare(adapter: Function) -> Function:
        for function in functions:
            FUNCTIONS[function] = adapter
        return adapter

    return declare


def _floats(a: TensorLike) -> Tensor:
    """Return a floating-point tensor; NumPy changes other dtypes, so it does them."""
    x = convert(a)
    if not is_differentiable(x.dtype.dtype):
        raise NotRecordable
    return x


# --- Ufuncs whose operation is no elementwise declaration -----------------------------

UFUNCS[np.power] = arithmetic.pow
UFUNCS[np.float_power] = arithmetic.pow
UFUNCS[np.floor_divide] = arithmetic.floordiv
UFUNCS[np.remainder] = arithmetic.mod
UFUNCS[np.absolute] = math.abs
UFUNCS[np.fabs] = math.abs
UFUNCS[np.conjugate] = math.conj
UFUNCS[np.reciprocal] = arithmetic.reciprocal
UFUNCS[np.logaddexp] = special.logaddexp
UFUNCS[np.positive] = linear.identity


def _matmul(a: TensorLike, b: TensorLike) -> Tensor:
    x, y = convert(a), convert(b)
    if x.ndim < 2 or y.ndim < 2:
        return contraction.dot(x, y)
    return linalg.matmul(x, y)


UFUNCS[np.matmul] = _matmul


# --- Folds ----------------------------------------------------------------------------


@_for(np.sum)
def _sum(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return linear.reduce_sum(_floats(a), axis, keepdims)


@_for(np.mean)
def _mean(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return reduction.reduce_mean(_floats(a), axis, keepdims)


@_for(np.prod)
def _prod(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return reduction.reduce_prod(_floats(a), axis, keepdims)


@_for(np.max, np.amax)
def _max(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return reduction.reduce_max(_floats(a), axis, keepdims)


@_for(np.min, np.amin)
def _min(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return reduction.reduce_min(_floats(a), axis, keepdims)


@_for(np.var)
def _var(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return norms.reduce_variance(_floats(a), axis, keepdims)


@_for(np.std)
def _std(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return norms.reduce_std(_floats(a), axis, keepdims)


@_for(np.any)
def _any(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    x = convert(a)
    if x.dtype != np.bool_:
        raise NotRecordable
    return discrete.reduce_any(x, axis, keepdims)


@_for(np.all)
def _all(a: TensorLike, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    x = convert(a)
    if x.dtype != np.bool_:
        raise NotRecordable
    return discrete.reduce_all(x, axis, keepdims)


@_for(np.cumsum)
def _cumsum(a: TensorLike, axis: int | None = None) -> Tensor:
    x = _floats(a)
    if axis is None:
        return scanning.cumsum(shaping.reshape(x, -1))
    return scanning.cumsum(x, axis)


@_for(np.cumprod)
def _cumprod(a: TensorLike, axis: int | None = None) -> Tensor:
    x = _floats(a)
    if axis is None:
        return scanning.cumprod(shaping.reshape(x, -1))
    return scanning.cumprod(x, axis)


@_for(np.linalg.norm)
def _norm(
    x: TensorLike, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Tensor:
    if ord is not None:
        raise NotRecordable
    return norm.norm(_floats(x), axis=axis, keepdims=keepdims)


# --- Arrangement ----------------------------------------------------------------------


@_for(np.reshape)
def _reshape(a: TensorLike, /, shape: Any) -> Tensor:
    return shaping.reshape(a, shape)


@_for(np.ravel)
def _ravel(a: TensorLike) -> Tensor:
    return shaping.reshape(a, -1)


@_for(np.transpose)
def _transpose(a: TensorLike, axes: Any = None) -> Tensor:
    return shaping.transpose(a, axes)


@_for(np.swapaxes)
def _swapaxes(a: TensorLike, axis1: int, axis2: int) -> Tensor:
    return shaping.swapaxes(a, axis1, axis2)


@_for(np.expand_dims)
def _expand_dims(a: TensorLike, axis: Any) -> Tensor:
    return shaping.expand_dims(a, axis)


@_for(np.squeeze)
def _squeeze(a: TensorLike, axis: Any = None) -> Tensor:
    return shaping.squeeze(a, axis)


@_for(np.broadcast_to)
def _broadcast_to(array: TensorLike, shape: Any) -> Tensor:
    return linear.broadcast_to(array, shape)


@_for(np.concatenate)
def _concatenate(arrays: Sequence[TensorLike], /, axis: int = 0) -> Tensor:
    return slicing.concat(list(arrays), axis)


@_for(np.stack)
def _stack(arrays: Sequence[TensorLike], axis: int = 0) -> Tensor:
    return slicing.stack(arrays, axis)


@_for(np.vstack)
def _vstack(tup: Sequence[TensorLike]) -> Tensor:
    rows = [convert(t) for t in tup]
    return slicing.concat(
        [shaping.reshape(r, (1, -1)) if r.ndim < 2 else r for r in rows]
    )


@_for(np.hstack)
def _hstack(tup: Sequence[TensorLike]) -> Tensor:
    parts = [convert(t) for t in tup]
    parts = [shaping.reshape(p, (1,)) if p.ndim == 0 else p for p in parts]
    return slicing.concat(parts, axis=0 if parts[0].ndim == 1 else 1)


@_for(np.tile)
def _tile(A: TensorLike, reps: Any) -> Tensor:
    x = convert(A)
    counts = (reps,) if isinstance(reps, int) else tuple(reps)
    rank = max(x.ndim, len(counts))
    x = shaping.reshape(x, (1,) * (rank - x.ndim) + tuple(x.shape))
    return rearranging.tile(x, (1,) * (rank - len(counts)) + counts)


@_for(np.repeat)
def _repeat(a: TensorLike, repeats: Any, axis: int | None = None) -> Tensor:
    return rearranging.repeat(a, repeats, axis)


@_for(np.flip)
def _flip(m: TensorLike, axis: Any = None) -> Tensor:
    x = convert(m)
    return rearranging.reverse(x, tuple(range(x.ndim)) if axis is None else axis)


@_for(np.roll)
def _roll(a: TensorLike, shift: Any, axis: Any = None) -> Tensor:
    x = convert(a)
    if axis is None:
        flat = rearranging.roll(shaping.reshape(x, -1), shift, 0)
        return shaping.reshape(flat, tuple(x.shape))
    return rearranging.roll(x, shift, axis)


@_for(np.pad)
def _pad(
    array: TensorLike, pad_width: Any, mode: str = "constant", constant_values: Any = 0
) -> Tensor:
    x = convert(array)
    if mode not in ("constant", "reflect", "symmetric") or np.ndim(constant_values):
        raise NotRecordable
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    return padding.pad(x, widths.tolist(), mode, constant_values)


@_for(np.sort)
def _sort(a: TensorLike, axis: int = -1) -> Tensor:
    return sorting.sort(a, axis)


@_for(np.triu)
def _triu(m: TensorLike, k: int = 0) -> Tensor:
    return diagonal.triu(m, k)


@_for(np.tril)
def _tril(m: TensorLike, k: int = 0) -> Tensor:
    return diagonal.tril(m, k)


# --- Choice and contraction -----------------------------------------------------------


@_for(np.where)
def _where(condition: TensorLike, x: TensorLike, y: TensorLike, /) -> Tensor:
    test = convert(condition)
    if test.dtype != np.bool_:
        test = logic.not_equal(test, 0)
    return linear.where(test, x, y)


@_for(np.clip)
def _clip(a: TensorLike, a_min: TensorLike = None, a_max: TensorLike = None) -> Tensor:
    out = convert(a)
    if a_min is not None:
        out = extrema.maximum(out, a_min)
    return out if a_max is None else extrema.minimum(out, a_max)


@_for(np.dot)
def _dot(a: TensorLike, b: TensorLike) -> Tensor:
    return contraction.dot(a, b)


@_for(np.inner)
def _inner(a: TensorLike, b: TensorLike, /) -> Tensor:
    return contraction.inner(a, b)


@_for(np.outer)
def _outer(a: TensorLike, b: TensorLike) -> Tensor:
    return linalg.outer(shaping.reshape(a, -1), shaping.reshape(b, -1))


@_for(np.tensordot)
def _tensordot(a: TensorLike, b: TensorLike, axes: Any = 2) -> Tensor:
    return contraction.tensordot(a, b, axes)


@_for(np.einsum)
def _einsum(equation: str, /, *operands: TensorLike) -> Tensor:
    if not isinstance(equation, str):
        raise NotRecordable
    return einsum.einsum(equation, *operands)


@_for(np.kron)
def _kron(a: TensorLike, b: TensorLike) -> Tensor:
    return linalg.kron(a, b)


@_for(np.real)
def _real(val: TensorLike) -> Tensor:
    return math.real_part(val)


@_for(np.imag)
def _imag(val: TensorLike) -> Tensor:
    return math.imag(val)


@_for(np.zeros_like)
def _zeros_like(a: TensorLike) -> Tensor:
    return creation.zeros_like(a)


@_for(np.shape)
def _shape(a: TensorLike) -> Any:
    return tuple(convert(a).shape)


@_for(np.ndim)
def _ndim(a: TensorLike) -> Any:
    return convert(a).ndim


@_for(np.ones_like)
def _ones_like(a: TensorLike) -> Tensor:
    return creation.ones_like(a)


@_for(np.linalg.inv)
def _inv(a: TensorLike) -> Tensor:
    return inv(_floats(a))


@_for(np.linalg.det)
def _det(a: TensorLike) -> Tensor:
    return det(_floats(a))


@_for(np.linalg.slogdet)
def _slogdet(a: TensorLike) -> Any:
    return slogdet(_floats(a))


@_for(np.linalg.solve)
def _solve(a: TensorLike, b: TensorLike) -> Tensor:
    return solve(_floats(a), _floats(b))


@_for(np.linalg.cholesky)
def _cholesky(a: TensorLike, /) -> Tensor:
    return cholesky(_floats(a))
