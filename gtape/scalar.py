"""The scalar vocabulary: an expression such as "x * y" parsed into a small typed tree.

Takes Python notation over parameter names and a closed list of scalar functions; gives
a tree of three kinds of nodes, from which each target writes its instructions.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from gtape.dtypes import Kind, NumpyDType, as_numpy_dtype, concrete, promote
from gtape.errors import GraphError


class Name(NamedTuple):
    """A parameter of the expression: an operand, an attribute or an index."""

    name: str


class Const(NamedTuple):
    """A literal; its type is weak, so it takes the type of what stands beside it."""

    value: bool | int | float


class Call(NamedTuple):
    """A function of the vocabulary, applied."""

    function: str
    operands: tuple[Tree, ...]


Tree: TypeAlias = "Name | Const | Call"

_SAME, _BOOL, _SELECT = "same", "bool", "select"
_REAL, _COMPLEX = "real", "complex"

VOCABULARY: dict[str, tuple[int, str]] = {
    # name: (number of operands, type of the result)
    **dict.fromkeys(("add", "sub", "mul", "div", "floordiv", "mod", "pow"), (2, _SAME)),
    **dict.fromkeys(("neg", "sign", "sqrt", "rsqrt", "cbrt"), (1, _SAME)),
    **dict.fromkeys(("exp", "exp2", "expm1"), (1, _SAME)),
    **dict.fromkeys(("log", "log2", "log10", "log1p"), (1, _SAME)),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan"), (1, _SAME)),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), (1, _SAME)),
    **dict.fromkeys(("erf", "erfc", "erfinv", "lgamma", "digamma"), (1, _SAME)),
    **dict.fromkeys(("floor", "ceil", "round", "trunc", "conj"), (1, _SAME)),
    **dict.fromkeys(("abs", "real", "imag", "angle"), (1, _REAL)),
    "complex": (2, _COMPLEX),
    **dict.fromkeys(("atan2", "hypot", "minimum", "maximum", "polygamma"), (2, _SAME)),
    **dict.fromkeys(("copysign", "nextafter"), (2, _SAME)),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), (2, _BOOL)),
    **dict.fromkeys(("isnan", "isinf", "isfinite"), (1, _BOOL)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), (2, _BOOL)),
    "logical_not": (1, _BOOL),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor", "shl", "shr"), (2, _SAME)),
    "bit_not": (1, _SAME),
    "select": (3, _SELECT),
}

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "bit_and",
    ast.BitOr: "bit_or",
    ast.BitXor: "bit_xor",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
_COMPARE: dict[type[ast.AST], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_UNARY: dict[type[ast.AST], str] = {
    ast.USub: "neg",
    ast.Not: "logical_not",
    ast.Invert: "bit_not",
}
_LITERALS = {"inf": float("inf"), "nan": float("nan"), "pi": 3.141592653589793}


@functools.cache
def parse(source: str) -> Tree:
    """Return the tree of an expression in Python notation.

    Args:
        source: Operators, comparisons, `a if c else b`, `and`, `or`, `not`, literals,
            the names inf, nan and pi, and calls of the vocabulary.

    Raises:
        GraphError: If the expression uses anything else.

    Example:
        >>> from gtape.scalar import parse
        >>> parse("-x")
        Call(function='neg', operands=(Name(name='x'),))
    """
    return _build(ast.parse(source, mode="eval").body, source)


def _build(node: ast.AST, source: str) -> Tree:
    match node:
        case ast.Name(id=name):
            return Const(_LITERALS[name]) if name in _LITERALS else Name(name)
        case ast.Constant(value=bool() | int() | float() as value):
            return Const(value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _call(_BINARY[type(op)], (left, right), source)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _call(_UNARY[type(op)], (operand,), source)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if (
            type(op) in _COMPARE
        ):
            return _call(_COMPARE[type(op)], (left, right), source)
        case ast.BoolOp(op=op, values=[first, *others]):
            both = isinstance(op, ast.And)
            name = "logical_and" if both else "logical_or"
            tree = _build(first, source)
            for other in others:
                tree = Call(name, (tree, _build(other, source)))
            return tree
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _call("select", (test, body, orelse), source)
        case ast.Call(func=ast.Name(id=name), args=operands, keywords=[]):
            return _call(name, tuple(operands), source)
    raise GraphError(
        f"scalar expression {source!r}: {ast.unparse(node)!r} is not in it"
    )


def _call(function: str, operands: tuple[ast.AST, ...], source: str) -> Call:
    arity = VOCABULARY.get(function, (None, ""))[0]
    if arity != len(operands):
        raise GraphError(
            f"scalar expression {source!r}: no function {function} of {len(operands)}"
        )
    return Call(function, tuple(_build(o, source) for o in operands))


def names(tree: Tree) -> Iterator[str]:
    """Yield the names in a tree, left to right, with repetitions."""
    if isinstance(tree, Name):
        yield tree.name
    elif isinstance(tree, Call):
        for operand in tree.operands:
            yield from names(operand)


def type_of(tree: Tree, types: Mapping[str, Kind]) -> NumpyDType:
    """Return the dtype of the tree's value.

    Args:
        tree: The expression.
        types: The dtype of each name; a Python type for a weak one.
    """
    return concrete(_kind_of(tree, types))


def _kind_of(tree: Tree, types: Mapping[str, Kind]) -> Kind:
    if isinstance(tree, Const):
        return type(tree.value)
    if isinstance(tree, Name):
        return types[tree.name]
    result = VOCABULARY[tree.function][1]
    kinds = [_kind_of(operand, types) for operand in tree.operands]
    if result == _BOOL:
        return as_numpy_dtype("bool")
    if result == _REAL:
        real = {"complex64": "float32", "complex128": "float64"}
        name = concrete(kinds[0]).name
        return as_numpy_dtype(real[name]) if name in real else kinds[0]
    if result == _COMPLEX:
        wide = concrete(kinds[0]).name == "float64"
        return as_numpy_dtype("complex128" if wide else "complex64")
    if result == _SELECT:
        kinds = kinds[1:]
    out = kinds[0]
    for kind in kinds[1:]:
        out = promote(out, kind)
    return out
