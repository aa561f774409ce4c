"""A line of a printed graph as tokens, and the values among them as Python values."""

from __future__ import annotations

import ast
import re
from typing import Any, NoReturn

import numpy as np

from gtape.errors import ArgumentError
from gtape.jit.graph.text import DTYPES
from gtape.sizes import Integer, Unknown, size_of_unknown
from gtape.spec import TensorShape, TensorSpec

_TOKEN = re.compile(
    r"""\s*(
        [bB]?'(?:\\.|[^'\\])*' | [bB]?"(?:\\.|[^"\\])*"   # text
        | %\d+                                             # a value
        | \d+\.\d*(?:e[+-]?\d+)? | \d+e[+-]?\d+ | \d+      # a number
        | \.\.\. | // | [A-Za-z_]\w*
        | <[^>]*>                                          # what cannot be read
        | [-+*%()\[\]{}:,=?.]
    )""",
    re.VERBOSE,
)
_FLOATS = {"inf": float("inf"), "nan": float("nan")}
_WORDS = {"True": True, "False": False, "None": None}


def split(line: str, number: int) -> list[str]:
    """Return the tokens of a line, without its comment.

    Args:
        line: The line.
        number: Its number, for messages.
    """
    tokens, place, end = [], 0, len(line.rstrip())
    while place < end:
        if line[place:].lstrip().startswith("#"):
            break
        found = _TOKEN.match(line, place)
        if found is None:
            refuse(number, f"{line[place:end]!r} is nothing a graph is written with")
        tokens.append(found[1])
        place = found.end()
    return tokens


def refuse(number: int, what: str) -> NoReturn:
    """Refuse a line of a text.

    Raises:
        ArgumentError: Always.
    """
    raise ArgumentError(
        f"parse: line {number}: {what}", "Write it as str(graph) writes graphs"
    )


class Names:
    """What the names in a text stand for; the same in all its lines.

    Args:
        constants: The large arrays, by name.
        least: The bounds of unknowns, by name.
    """

    def __init__(self, constants: dict[str, Any], least: dict[str, int]) -> None:
        self.constants = constants
        self.least = least
        self.unknowns: dict[str, Unknown] = {}

    def unknown(self, name: str) -> Integer:
        """Return the size that a name stands for."""
        if name not in self.unknowns:
            self.unknowns[name] = Unknown(name, least=self.least.get(name, 0))
        return size_of_unknown(self.unknowns[name])


class Line:
    """The tokens of a line, read from left to right.

    Args:
        text: The line.
        number: Its number, for messages.
        names: What names stand for.
        graph: What the word `graph` stands for in attributes: a mark.
    """

    def __init__(self, text: str, number: int, names: Names, graph: object) -> None:
        self.tokens = split(text, number)
        self.number = number
        self.names = names
        self.graph = graph
        self.place = 0

    # --- Tokens -----------------------------------------------------------------------

    @property
    def next(self) -> str:
        """The token that comes next, empty at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        """Return the next token, and go on behind it."""
        token = self.next
        self.place += 1
        return token

    def accept(self, token: str) -> bool:
        """Go on behind a token if it comes next; return whether it did."""
        found = self.next == token
        self.place += found
        return found

    def expect(self, token: str) -> None:
        """Go on behind a token that must come next."""
        if not self.accept(token):
            self.refuse(f"{token!r} is missing before {self.next or 'the end'!r}")

    def refuse(self, what: str) -> NoReturn:
        """Refuse the line."""
        refuse(self.number, what)

    def sequence(self, end: str) -> list[Any]:
        """Return the values up to a closing token, which is taken."""
        out: list[Any] = []
        while not self.accept(end):
            out.append(self.value())
            if self.next != end:
                self.expect(",")
        return out

    # --- Sizes and specs --------------------------------------------------------------

    def spec(self) -> TensorSpec:
        """Return a spec, such as `float64[n,3]`."""
        dtype = self.take()
        if dtype not in DTYPES:
            self.refuse(f"{dtype!r} is no dtype")
        self.expect("[")
        return TensorSpec(self._shape(), DTYPES[dtype])

    def _shape(self) -> TensorShape:
        dims: list[Any] = []
        while not self.accept("]"):
            dims.append(None if self.accept("?") else self.sum())
            if self.next != "]":
                self.expect(",")
        return TensorShape(dims)

    def sum(self) -> Any:
        """Return a number, or a size: products added up."""
        out = self._product()
        while self.next in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            out = out + self._product() * sign
        return out

    def _product(self) -> Any:
        if self.accept("-"):
            return -self._product()
        out = self._factor()
        while self.next in ("*", "//", "%"):
            relation, other = self.take(), self._factor()
            if relation == "*":
                out = out * other
            else:
                out = out // other if relation == "//" else out % other
        return out

    def _factor(self) -> Any:
        token = self.take()
        if token == "(":
            out = self.sum()
            self.expect(")")
            return out
        if token[:1].isdigit():
            return int(token) if token.isdigit() else float(token)
        if token in _FLOATS:
            return _FLOATS[token]
        if not token.isidentifier():
            self.refuse(f"{token or 'the end'!r} is no size")
        return self.names.unknown(token)

    # --- Values -----------------------------------------------------------------------

    def attrs(self) -> dict[str, Any]:
        """Return the attributes up to the closing brace, the opening one taken."""
        out = {}
        while not self.accept("}"):
            name = self.take()
            self.expect("=")
            out[name] = self.value()
            if self.next != "}":
                self.expect(",")
        return out

    def value(self) -> Any:
        """Return a value as attributes have them."""
        token = self.next
        if token.lstrip("bB")[:1] in ("'", '"'):
            return ast.literal_eval(self.take())
        if token[:1] == "<":
            self.refuse(f"a {token[1:-1]} cannot be read from text")
        if token in _WORDS or token == "...":
            return _WORDS.get(self.take(), Ellipsis)
        if self.accept("["):
            return self.sequence("]")
        if self.accept("{"):
            return self._dict()
        if token == "(":
            return self._tuple()
        if token in DTYPES or token in self.names.constants:
            return self._numeric()
        return self._special()

    def _tuple(self) -> Any:
        """Return a tuple, or what follows if the parenthesis belongs to a size."""
        start = self.place
        self.take()
        if self.accept(")"):
            return ()
        first = self.value()
        if self.next == ",":
            self.take()
            return (first, *self.sequence(")"))
        self.place = start
        return self.sum()

    def _dict(self) -> dict[Any, Any]:
        out = {}
        while not self.accept("}"):
            key = self.value()
            self.expect(":")
            out[key] = self.value()
            if self.next != "}":
                self.expect(",")
        return out

    def _special(self) -> Any:
        token = self.next
        if token == "slice" and self._called():
            return slice(*self.sequence(")"))
        if token == "complex" and self._called():
            return complex(*self.sequence(")"))
        if token in ("gt", "np"):
            self.take()
            self.expect(".")
            dtype = DTYPES.get(self.take())
            if dtype is None:
                self.refuse(f"{token} has no such dtype")
            return dtype if token == "gt" else dtype.as_numpy_dtype
        if self.accept("graph"):
            return self.graph
        return self.sum()

    def _called(self) -> bool:
        """Whether a parenthesis follows the next token; then both are taken."""
        called = self.tokens[self.place + 1 : self.place + 2] == ["("]
        self.place += 2 * called
        return called

    def _numeric(self) -> Any:
        """Return a dtype, a NumPy scalar or an array."""
        name = self.take()
        if name in self.names.constants:
            return self.names.constants[name]
        dtype = DTYPES[name].dtype
        shape = None
        if self.accept("["):
            shape = tuple(self._shape())
        elif self.next != "(":
            return dtype
        self.expect("(")
        flat = self.sequence(")")
        if dtype.kind == "c":
            flat = [complex(*p) for p in zip(flat[::2], flat[1::2], strict=True)]
        array = np.array(flat, dtype)
        if shape is None:
            return array[0]
        if array.size != int(np.prod(shape)):
            self.refuse(f"{array.size} elements for the shape {shape}")
        return array.reshape(shape)

    def literal(self) -> Any:
        """Return the array of a constant operand."""
        value = self.value()
        if isinstance(value, (np.ndarray, np.generic)):
            return value if value.ndim else np.asarray(value)[()]
        kinds = {float: np.float64, int: np.int64, bool: np.bool_}
        if type(value) not in kinds:
            self.refuse(f"{value!r} is no operand")
        return kinds[type(value)](value)
