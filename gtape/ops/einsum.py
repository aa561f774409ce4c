"""einsum: a sum of products over labeled axes, as a sequence of pairs.

opt_einsum chooses the order of the pairs; `contraction.contract_pair` does each.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any, TypeAlias

from gtape.errors import ArgumentError, ArgumentTypeError, ShapeError
from gtape.lazy import opt_einsum
from gtape.ops.common import Tensor, TensorLike, one_of
from gtape.ops.contraction import Label, Labels, arrange, contract_pair, sum_labels
from gtape.ops.linalg import as_factors
from gtape.ops.shaping import reshape, transpose
from gtape.ops.slicing import strided_slice
from gtape.sizes import is_size

Shapes: TypeAlias = "tuple[tuple[int, ...], ...]"

_GUESS = 100  # a size of which nothing is known

_ORDERS = (
    "auto",
    "auto-hq",
    "greedy",
    "optimal",
    "dp",
    "branch-1",
    "branch-2",
    "branch-all",
    "random-greedy",
)


def einsum(equation: str, *inputs: TensorLike, optimize: Any = "auto") -> Tensor:
    """Return a sum of products, written as an equation over the labels of the axes.

    Args:
        equation: One letter for each axis, a comma between operands, and the letters of
            the result after "->": "bij,bjk->bik". Letters that the result lacks are
            summed. Without "->" the result has the letters that occur once, in
            alphabetical order. A letter repeated in one operand takes the diagonal.
            "..." stands for any number of axes, which broadcast.
        *inputs: The operands.
        optimize: How the order of three or more operands is sought: "auto", "greedy",
            "optimal" or another method of opt_einsum; `False` for left to right.

    Raises:
        ArgumentError: If the equation cannot be read.
        ShapeError: If it does not fit the shapes.

    Example:
        >>> import gtape as gt
        >>> gt.einsum("ij,j->i", [[1., 2.], [3., 4.]], [1., 10.]).numpy()
        array([21., 43.], dtype=float32)
    """
    if not isinstance(equation, str):
        raise ArgumentTypeError(
            f"einsum: the equation must be a string, got {equation!r}",
            "Write it first, such as einsum('ij,jk->ik', a, b)",
        )
    name = f"einsum {equation!r}"
    tensors = as_factors(name, *inputs) if inputs else ()
    shapes = tuple(tuple(x.shape) for x in tensors)
    sized = any(is_size(d) for shape in shapes for d in shape)
    # What is remembered must not hold sizes of a trace.
    labels, out = (_parse.__wrapped__ if sized else _parse)(equation, shapes)
    pairs = [_diagonals(x, xs) for x, xs in zip(tensors, labels, strict=True)]
    method = _method(name, optimize)
    if len(pairs) > 1:
        sizes = tuple(tuple([_likely(d) for d in x.shape]) for x, _ in pairs)
        for step in _path(tuple(xs for _, xs in pairs), out, sizes, method):
            taken = [pairs.pop(place) for place in sorted(step, reverse=True)][::-1]
            while len(taken) > 1:
                (x, xs), (y, ys) = taken[:2]
                kept = {*out}.union(*[s for _, s in (*taken[2:], *pairs)])
                taken[:2] = [contract_pair(x, xs, y, ys, kept)]
            pairs += taken
    x, xs = sum_labels(*pairs[0], out)
    return arrange(x, xs, out)


def _diagonals(x: Tensor, labels: Labels) -> tuple[Tensor, Labels]:
    """Return x with one axis for each label: of repeated ones the diagonal."""
    while len(set(labels)) < len(labels):
        label = next(i for i in labels if labels.count(i) > 1)
        first = labels.index(label)
        second = labels.index(label, first + 1)
        rest = [axis for axis in range(len(labels)) if axis not in (first, second)]
        size = x.shape[first]
        outside = [x.shape[axis] for axis in rest]
        x = reshape(transpose(x, [*rest, first, second]), [*outside, size * size])
        steps = [1] * len(rest) + [size + 1]
        x = strided_slice(x, [0] * x.ndim, [*outside, size], steps)
        labels = (*[labels[axis] for axis in rest], label)
    return x, labels


def _likely(dim: Any) -> int:
    """Return a size, or a guess at one: only the order of the products hangs on it."""
    if not is_size(dim):
        return int(dim)
    hint = dim.hint()
    return _GUESS if hint is None else int(hint)


def _method(name: str, optimize: Any) -> str:
    if optimize is True or optimize is None:
        return "auto"
    return "" if optimize is False else one_of(name, "optimize", optimize, _ORDERS)


@functools.lru_cache(maxsize=1024)
def _path(
    labels: tuple[Labels, ...], out: Labels, shapes: Shapes, method: str
) -> tuple[tuple[int, ...], ...]:
    """Return the places of what each step contracts; its result goes to the end."""
    count = len(labels)
    if count == 2 or not method:
        return ((0, 1), *[(0, n - 1) for n in range(count - 1, 1, -1)])
    symbols: dict[Label, str] = {}
    for label in (label for xs in labels for label in xs):
        symbols.setdefault(label, opt_einsum.get_symbol(len(symbols)))
    terms = ["".join(symbols[i] for i in xs) for xs in (*labels, out)]
    text = f"{','.join(terms[:-1])}->{terms[-1]}"
    path, _ = opt_einsum.contract_path(text, *shapes, shapes=True, optimize=method)
    return tuple(tuple(step) for step in path)


@functools.lru_cache(maxsize=1024)
def _parse(equation: str, shapes: Shapes) -> tuple[tuple[Labels, ...], Labels]:
    """Return the labels of each operand and of the result, the ellipsis written out."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ArgumentError(
            f"einsum {equation!r} names {len(terms)} operands, "
            f"but {len(shapes)} are given",
            "Separate the operands by commas, one term for each",
        )
    operands = tuple(
        _expanded(equation, _tokens(equation, term), shape)
        for term, shape in zip(terms, shapes, strict=True)
    )
    _check_labels(equation, operands, shapes)
    hidden = sorted({i for xs in operands for i in xs if isinstance(i, int)})
    counts = Counter(i for xs in operands for i in xs if isinstance(i, str))
    if not arrow:
        return operands, (*hidden, *sorted(i for i, n in counts.items() if n == 1))
    tokens = _tokens(equation, right)
    for token in tokens:
        if tokens.count(token) > 1 or (token != "..." and token not in counts):
            raise ArgumentError(
                f"einsum {equation!r}: {token!r} in the result "
                + ("is repeated" if tokens.count(token) > 1 else "is in no operand"),
                "Name labels of the operands in the result, each once",
            )
    if hidden and "..." not in tokens:
        raise ArgumentError(
            f"einsum {equation!r}: the result lacks the {len(hidden)} axes under '...'",
            "Write '...' in the result too, or name the axes that are to be summed",
        )
    out: list[Label] = []
    for token in tokens:
        out += hidden if token == "..." else [token]
    return operands, tuple(out)


def _tokens(equation: str, term: str) -> list[str]:
    before, dots, after = term.partition("...")
    letters = [*before, "...", *after] if dots else [*term]
    for letter in [*before, *after]:
        if not letter.isalpha():
            raise ArgumentError(
                f"einsum {equation!r}: {letter!r} in {term!r} is not a label",
                "Use letters, at most one '...' in each term, commas and one '->'",
            )
    return letters


def _expanded(equation: str, tokens: list[str], shape: tuple[int, ...]) -> Labels:
    named = len(tokens) - ("..." in tokens)
    hidden = len(shape) - named
    if hidden < 0 or (hidden and "..." not in tokens):
        raise ShapeError(
            f"einsum {equation!r}: {''.join(tokens)!r} names {named} axes of an "
            f"operand of shape {shape}",
            "Name each axis once, or write '...' for the rest",
        )
    out: list[Label] = []
    for token in tokens:
        out += range(-hidden, 0) if token == "..." else [token]
    return tuple(out)


def _check_labels(equation: str, operands: tuple[Labels, ...], shapes: Shapes) -> None:
    sizes: dict[Label, int] = {}
    for labels, shape in zip(operands, shapes, strict=True):
        for label, size in zip(labels, shape, strict=True):
            known = sizes.setdefault(label, size)
            if known == size or size is None or known is None:
                continue
            if isinstance(label, int) and 1 in (size, known):
                sizes[label] = size if known == 1 else known
                continue
            what = (
                f"label {label!r}" if isinstance(label, str) else "an axis under '...'"
            )
            listed = ", ".join(str(s) for s in shapes)
            raise ShapeError(
                f"einsum {equation!r}: {what} has size {known} and size {size} in "
                f"operands of shapes {listed}",
                "Only axes of size 1 under '...' broadcast",
            )
