"""How printed graphs say values: sizes, specs, numbers, arrays, attributes.

It knows no class of the graph, so that these can say themselves with its help.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from gtape.dtypes import ALL, DType, as_dtype
from gtape.errors import DTypeError
from gtape.sizes import Integer, Rounded, Size, Unknown
from gtape.spec import TensorSpec

INLINE = 16
"""The most elements of an array that is written where it is used."""

DTYPES: dict[str, DType] = {d.name: d for d in ALL}
WORDS = frozenset(
    ["True", "False", "None", "inf", "nan", "slice", "complex", "graph", "gt", "np"]
)
"""Words that mean something in an attribute; no unknown is printed as one of them."""


class Writer:
    """Says values, and remembers what it has named: unknowns and large arrays.

    Two unknowns of one name get names that differ, and where they are used says which
    is which; a large array becomes a constant that stands in a table.
    """

    def __init__(self) -> None:
        self.unknowns: dict[Unknown, str] = {}
        self.constants: dict[str, Any] = {}
        self.graphs: list[Any] = []  # those that attributes of the node at hand hold

    # --- Sizes and specs --------------------------------------------------------------

    def unknown(self, unknown: Unknown) -> str:
        """Return the name of an unknown in this text."""
        found = self.unknowns.get(unknown)
        if found is None:
            base = re.sub(r"\W", "_", unknown.name) or "n"
            if base[0].isdigit():
                base = f"_{base}"
            taken = {*self.unknowns.values(), *WORDS, *DTYPES}
            found, count = base, 1
            while found in taken or re.fullmatch(r"const\d+", found):
                found, count = f"{base}_{count}", count + 1
            self.unknowns[unknown] = found
        return found

    def size(self, size: Integer | None) -> str:
        """Return an axis length as an expression of the names of unknowns."""
        if size is None:
            return "?"
        if type(size) is not Size:
            return str(int(size))
        # Ordered by text: the order inside a size depends on which unknown was made
        # first, and a text that is read makes them in another order.
        products = [
            (len(monomial), "*".join(sorted(map(self._atom, monomial))), coefficient)
            for monomial, coefficient in size.terms
        ]
        products.sort(key=lambda p: (-p[0], p[1]))
        out = "+".join([self._product(text, c) for _, text, c in products])
        return out.replace("+-", "-")

    def _atom(self, atom: Unknown | Rounded) -> str:
        if isinstance(atom, Unknown):
            return self.unknown(atom)
        left, right = self.size(atom.left), self.size(atom.right)
        return (
            f"(({left})//({right}))"
            if atom.relation == "//"
            else (f"(({left})%({right}))")
        )

    @staticmethod
    def _product(text: str, coefficient: int) -> str:
        if not text:
            return str(coefficient)
        if coefficient in (1, -1):
            return text if coefficient == 1 else f"-{text}"
        return f"{coefficient}*{text}"

    def shape(self, shape: Iterable[Any]) -> str:
        """Return a shape, such as `[n,3]`."""
        return f"[{','.join([self.size(d) for d in shape])}]"

    def spec(self, spec: TensorSpec) -> str:
        """Return a spec, such as `float64[n,3]`."""
        return f"{spec.dtype}{self.shape(spec.shape)}"

    # --- Numbers and arrays -----------------------------------------------------------

    def literal(self, array: Any) -> str:
        """Return a constant as an operand.

        A scalar is its number alone if it is float64, int64 or bool, and else has its
        dtype before it: `0.5`, `float32(0.5)`. An array is its dtype, its shape and its
        elements in order: `int32[2](1, 2)`.
        """
        if array.ndim:
            return self.array(array)
        scalar = array[()]
        if scalar.dtype.name in ("float64", "int64", "bool"):
            return number(scalar)
        return f"{scalar.dtype.name}({elements(array)})"

    def array(self, array: Any) -> str:
        """Return an array in full, or by the name of a constant if it is large."""
        if array.size <= INLINE:
            return f"{array.dtype.name}{self.shape(array.shape)}({elements(array)})"
        for name, known in self.constants.items():
            if known is array:
                return name
        name = f"const{len(self.constants)}"
        self.constants[name] = array
        return name

    # --- Attributes -------------------------------------------------------------------

    def attrs(self, attrs: dict[str, Any]) -> str:
        """Return the attributes of a node, such as `{axes=(0,)}`."""
        inside = [f"{name}={self.value(value)}" for name, value in attrs.items()]
        return f"{{{', '.join(inside)}}}"

    def value(self, value: Any) -> str:
        """Return a value of an attribute; in `<...>` if it cannot be read back."""
        kind = type(value)
        if kind in (int, str, bytes, bool, type(None)):
            return repr(value)
        if value is Ellipsis:
            return "..."
        if kind is float:
            return number(value)
        if kind is complex:
            return f"complex({number(value.real)}, {number(value.imag)})"
        if kind is Size:
            return self.size(value)
        if kind is tuple:
            inside = [self.value(v) for v in value]
            return f"({inside[0]},)" if len(inside) == 1 else f"({', '.join(inside)})"
        if kind is list:
            return f"[{', '.join([self.value(v) for v in value])}]"
        if kind is dict:
            items = [f"{self.value(k)}: {self.value(v)}" for k, v in value.items()]
            return f"{{{', '.join(items)}}}"
        if kind is slice:
            bounds = [self.value(v) for v in (value.start, value.stop, value.step)]
            return f"slice({', '.join(bounds)})"
        return self._numeric(value)

    def _numeric(self, value: Any) -> str:
        """Return a dtype, NumPy value or graph; else the type of the object."""
        if isinstance(value, np.dtype) and _readable(value):
            return value.name
        if isinstance(value, DType):
            return f"gt.{value.name}"
        if isinstance(value, type) and issubclass(value, np.generic):
            try:
                return f"np.{as_dtype(value).name}"
            except DTypeError:
                return f"<{value.__name__}>"
        if isinstance(value, np.generic) and _readable(value.dtype):
            return f"{value.dtype.name}({elements(value)})"
        if type(value) is np.ndarray and _readable(value.dtype):
            return self.array(value)
        if hasattr(value, "nodes") and hasattr(value, "walk"):
            self.graphs.append(value)
            return "graph"
        return f"<{type(value).__name__}>"


def _readable(dtype: Any) -> bool:
    return dtype.name in DTYPES and dtype == DTYPES[dtype.name].dtype


def elements(array: Any) -> str:
    """Return the elements of an array in order; a complex one as its two parts."""
    flat = np.ravel(array)
    if flat.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag], axis=1).ravel()
    return ", ".join([number(x) for x in flat])


def number(x: Any) -> str:
    """Return a real number with enough digits to read it back."""
    if isinstance(x, (bool, np.bool_)):
        return str(bool(x))
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    value = float(x)
    if value != value:
        return "nan"
    if type(x) is not float and x.dtype.itemsize < 8:
        # The digits that tell a narrow float from its neighbors, if they are enough:
        # they are read as a float64 first, and rounded again.
        short = repr(float(str(x)))
        if x.dtype.type(float(short)) == x:
            return short
    return repr(value)
