"""Scalar expressions as LLVM instructions: the body of every loop.

A tree of the scalar vocabulary becomes straight code, with the dtypes that
`gtape.scalar.type_of` gives it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from llvmlite import ir

from gtape.dtypes import Kind, NumpyDType, as_numpy_dtype, concrete, promote
from gtape.errors import DTypeError, GraphError
from gtape.jit.codegen.place import Place
from gtape.jit.codegen.scalars import (
    Scalar,
    cast,
    constant,
    load,
    memory_type,
    store,
    truth,
)
from gtape.jit.codegen.vecmath import VectorMath
from gtape.jit.codegen.words import emit_word, known_power
from gtape.scalar import VOCABULARY, Call, Const, Name, Tree

__all__ = [
    "Body",
    "Operand",
    "Scalar",
    "Weak",
    "cast",
    "constant",
    "load",
    "memory_type",
    "store",
    "weak",
]

Number: TypeAlias = "bool | int | float"
"""A weak number that is known while compiling."""


class Weak(NamedTuple):
    """A number that is known at run time only, but takes the type of what is beside it.

    Args:
        kind: Its Python type.
        at: Emits it at a dtype, that of what stands beside it.
    """

    kind: type
    at: Callable[[NumpyDType], Scalar]


Operand: TypeAlias = "Scalar | Weak | bool | int | float"
"""What a name in an expression stands for."""


def weak(builder: Any, scalar: Scalar, kind: type) -> Weak:
    """Return a scalar as a weak number, such as an index that takes any dtype.

    Args:
        builder: Where it is cast.
        scalar: The value.
        kind: bool, int or float.
    """
    return Weak(kind, lambda dtype: cast(builder, scalar, dtype))


_BOOL = as_numpy_dtype("bool")

# Words of weak numbers that are computed now, by these functions.
_KNOWN: dict[str, Callable[..., Any]] = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide},
    **{"floordiv": np.floor_divide, "mod": np.remainder, "neg": np.negative},
    **{"abs": np.abs, "sign": np.sign, "sqrt": np.sqrt},
    **{"minimum": np.minimum, "maximum": np.maximum},
    **{"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal},
    **{"eq": np.equal, "ne": np.not_equal, "isnan": np.isnan, "isinf": np.isinf},
    **{"isfinite": np.isfinite, "logical_not": np.logical_not},
    **{"logical_and": np.logical_and, "logical_or": np.logical_or},
    **{"logical_xor": np.logical_xor, "bit_and": np.bitwise_and},
    **{"bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor},
    **{"bit_not": np.invert, "shl": np.left_shift, "shr": np.right_shift},
}

# Words that ask each operand for its truth, and LLVM's instructions for them.
_LOGIC = {
    **{"logical_and": "and_", "logical_or": "or_"},
    **{"logical_xor": "xor", "logical_not": "not_"},
}


class Body:
    """Writes scalar expressions into the functions of a module.

    Args:
        module: The module. Functions that an expression needs are added to it.
        vector: The mathematical functions of the host.
        contract: Whether a product and a sum may become one instruction, which rounds
            once instead of twice.
    """

    def __init__(
        self, module: ir.Module, vector: VectorMath, contract: bool = True
    ) -> None:
        self.module = module
        self.vector = vector
        self._flags = ("contract",) if contract else ()

    def emit(
        self, builder: Any, tree: Tree, names: Mapping[str, Operand]
    ) -> Scalar | Number:
        """Emit an expression and return its value, a Python number if all of it is.

        Args:
            builder: Where to.
            tree: The expression.
            names: What each name stands for.

        Raises:
            DTypeError: If it uses complex numbers, or a word on a dtype it is not for.
            GraphError: If a name stands for nothing.
        """
        out = self._operand(builder, tree, names)
        return out.at(concrete(out.kind)) if isinstance(out, Weak) else out

    def _operand(
        self, builder: Any, tree: Tree, names: Mapping[str, Operand]
    ) -> Operand:
        if isinstance(tree, Const):
            return tree.value
        if isinstance(tree, Name):
            if tree.name not in names:
                raise GraphError(f"a scalar expression uses {tree.name}, which is new")
            return names[tree.name]
        operands = [self._operand(builder, o, names) for o in tree.operands]
        return self._call(builder, tree, operands)

    def _call(self, builder: Any, call: Call, operands: Sequence[Operand]) -> Operand:
        word = call.function
        if word == "select":
            return _select(builder, *operands)
        if word == "complex":
            raise DTypeError(
                "complex: complex numbers are not compiled",
                "Run what uses them without compiling it",
            )
        answers = VOCABULARY[word][1] == "bool"
        if word in _KNOWN and not any(isinstance(o, (Scalar, Weak)) for o in operands):
            value = _computed(word, operands)
            return constant(_BOOL, value) if answers else value
        if word in _LOGIC:
            truths = [truth(builder, _strong(builder, o)) for o in operands]
            return Scalar(_BOOL, getattr(builder, _LOGIC[word])(*truths))
        kind = functools.reduce(promote, map(_kind, operands))
        if isinstance(kind, type) and not answers:
            return Weak(kind, lambda d: self._word(builder, word, d, operands))
        return self._word(builder, word, concrete(kind), operands)

    def _word(
        self, builder: Any, word: str, dtype: NumpyDType, operands: Sequence[Operand]
    ) -> Scalar:
        """Emit a word on operands that become of one dtype, which the result has too.

        A float16 or bfloat16 result is rounded to that format word by word, as NumPy
        does it.
        """
        answers = VOCABULARY[word][1] == "bool"
        place = Place(builder, dtype, self.vector, self._flags)
        values = [_at(builder, o, dtype).value for o in operands]
        if word == "pow":
            exponent = _number(operands[1])
            if exponent is not None:
                out = known_power(place, values[0], exponent)
                if out is not None:
                    return Scalar(dtype, out)
        return Scalar(_BOOL if answers else dtype, emit_word(place, word, values))


def _kind(operand: Operand) -> Kind:
    if isinstance(operand, Scalar):
        return operand.dtype
    return operand.kind if isinstance(operand, Weak) else type(operand)


def _at(builder: Any, operand: Operand, dtype: NumpyDType) -> Scalar:
    """Return an operand as a scalar of a dtype."""
    if isinstance(operand, Scalar):
        return cast(builder, operand, dtype)
    return operand.at(dtype) if isinstance(operand, Weak) else constant(dtype, operand)


def _strong(builder: Any, operand: Operand) -> Scalar:
    return _at(builder, operand, concrete(_kind(operand)))


def _number(operand: Operand) -> Number | None:
    """Return the number that an operand is, if it is known now."""
    if isinstance(operand, Weak):
        return None
    if not isinstance(operand, Scalar):
        return operand
    found = getattr(operand.value, "constant", None)
    if isinstance(found, float):
        return found
    if not isinstance(found, int):
        return None  # an instruction, or LLVM's undefined
    width = operand.value.type.width
    negative = operand.dtype.kind == "i" and found >> (width - 1)
    return found - (1 << width) if negative else found


def _computed(word: str, operands: Sequence[Operand]) -> Number:
    # Python's integers have no bounds, NumPy's do: these are the indices and sizes of
    # arrays, and small.
    with np.errstate(all="ignore"):
        value: Number = _KNOWN[word](*[np.asarray(o) for o in operands]).item()
    return value


def _select(builder: Any, test: Operand, x: Operand, y: Operand) -> Operand:
    """Emit a choice between two values, both of which there are already."""
    kind = promote(_kind(x), _kind(y))
    known = _number(test)
    if known is not None:
        chosen = x if known else y
        if isinstance(kind, type):
            if isinstance(chosen, (Scalar, Weak)):
                return Weak(kind, functools.partial(_at, builder, chosen))
            converted: Number = kind(chosen)
            return converted
        return _at(builder, chosen, kind)
    condition = truth(builder, _strong(builder, test))

    def at(dtype: NumpyDType) -> Scalar:
        both = [_at(builder, o, dtype).value for o in (x, y)]
        return Scalar(dtype, builder.select(condition, *both))

    return Weak(kind, at) if isinstance(kind, type) else at(kind)
