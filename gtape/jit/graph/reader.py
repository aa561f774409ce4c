"""Text -> graph, with the classes of the graph given: so that these can use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gtape.jit.graph.tokens import Line, Names, refuse
from gtape.primitive import registry

_GRAPH = object()  # stands in attributes for a graph that is written below


class Makers(NamedTuple):
    """The classes that a graph is made of."""

    graph: Callable[..., Any]
    value: Callable[..., Any]
    literal: Callable[..., Any]
    op: Callable[..., Any]
    cond: Callable[..., Any]
    while_: Callable[..., Any]
    for_: Callable[..., Any]


def read_graph(text: str, constants: dict[str, Any] | None, make: Makers) -> Any:
    """Return the graph that a text says.

    Args:
        text: What `str(graph)` gives.
        constants: The large arrays, by the names that the text has for them.
        make: The classes of the graph.

    Raises:
        ArgumentError: If the text is not that of a graph, naming the line.
    """
    return _Reader(text, constants or {}, make).whole()


class _Reader:
    """Reads the lines of a text in order."""

    def __init__(self, text: str, constants: dict[str, Any], make: Makers) -> None:
        numbered = enumerate(text.splitlines(), 1)
        self.lines = [(n, line) for n, line in numbered if _content(line)]
        self.make = make
        self.primitives = registry()
        least: dict[str, int] = {}
        tables = [pair for pair in self.lines if _is_table(pair[1])]
        self.lines = [pair for pair in self.lines if not _is_table(pair[1])]
        self.names = Names(constants, least)
        for number, line in tables:
            self._table(number, line.strip(), least)
        self.place = 0

    def _table(self, number: int, text: str, least: dict[str, int]) -> None:
        """Read a line of the table: the bound of an unknown, or a constant's spec."""
        if ">=" in text:
            name, _, bound = text.partition(">=")
            if not bound.strip().isdigit():
                refuse(number, f"{bound.strip()!r} is no bound")
            least[name.strip()] = int(bound)
            return
        line = Line(text, number, self.names, _GRAPH)
        name = line.take()
        line.expect(":")
        spec, array = line.spec(), self.names.constants.get(name)
        if array is None:
            refuse(number, f"the constant {name} is not given")
        if tuple(spec.shape) != array.shape or spec.dtype != array.dtype:
            found = f"{array.dtype}{list(array.shape)}"
            refuse(number, f"the constant {name} is given as {found}")

    def whole(self) -> Any:
        out = self.graph(0)
        if self.place < len(self.lines):
            refuse(self.lines[self.place][0], "nothing follows the end of a graph")
        return out

    # --- Lines ------------------------------------------------------------------------

    def peek(self) -> int:
        """Return the depth of the next line, -1 at the end."""
        if self.place >= len(self.lines):
            return -1
        line = self.lines[self.place][1]
        return (len(line) - len(line.lstrip())) // 2

    def line(self, depth: int) -> Line:
        """Return the next line, which must stand at a depth."""
        if self.peek() != depth:
            last = self.lines[-1][0] if self.lines else 1
            number = last if self.peek() < 0 else self.lines[self.place][0]
            refuse(number, f"a line indented by {2 * depth} is missing here")
        number, text = self.lines[self.place]
        self.place += 1
        return Line(text, number, self.names, _GRAPH)

    # --- Graphs and nodes -------------------------------------------------------------

    def graph(self, depth: int) -> Any:
        line = self.line(depth)
        line.expect("graph")
        line.expect("(")
        known: dict[str, Any] = {}
        inputs = () if line.next == ")" else self.defined(line, known)
        line.expect(")")
        line.expect(":")
        nodes = []
        while True:
            line = self.line(depth + 1)
            if line.next == "return":
                break
            nodes.append(self.node(line, depth + 1, known))
        line.take()
        outputs = self.atoms(line, known)
        if line.next:
            line.refuse(f"{line.next!r} behind the outputs")
        return self.make.graph(inputs, tuple(nodes), outputs)

    def defined(self, line: Line, known: dict[str, Any]) -> tuple[Any, ...]:
        out = []
        while True:
            name = line.take()
            if not name.startswith("%") or name in known:
                line.refuse(f"{name or 'the end'!r} is no name for a new value")
            line.expect(":")
            known[name] = self.make.value(line.spec())
            out.append(known[name])
            if not line.accept(","):
                return tuple(out)

    def atoms(self, line: Line, known: dict[str, Any]) -> tuple[Any, ...]:
        out: list[Any] = []
        while line.next and line.next != "{":
            if out:
                line.expect(",")
            if not line.next.startswith("%"):
                out.append(self.make.literal(line.literal()))
            elif line.next in known:
                out.append(known[line.take()])
            else:
                line.refuse(f"{line.next} is not defined")
        return tuple(out)

    def node(self, line: Line, depth: int, known: dict[str, Any]) -> Any:
        fresh: dict[str, Any] = dict(known)
        outputs = ()
        if line.next.startswith("%"):
            outputs = self.defined(line, fresh)
            line.expect("=")
        word = line.take()
        inputs = self.atoms(line, known)
        known.update(fresh)
        attrs = line.attrs() if line.accept("{") else {}
        if line.next:
            line.refuse(f"{line.next!r} behind the node")
        regions = []
        while self.peek() > depth:
            regions.append(self.graph(depth + 1))
        return self.made(line, word, inputs, outputs, attrs, regions)

    def made(
        self,
        line: Line,
        word: str,
        inputs: tuple[Any, ...],
        outputs: tuple[Any, ...],
        attrs: dict[str, Any],
        regions: list[Any],
    ) -> Any:
        makers = {
            "cond": (self.make.cond, ("then", "orelse")),
            "while": (self.make.while_, ("test", "body")),
            "for": (self.make.for_, ("body",)),
        }
        if word in makers:
            maker, names = makers[word]
            if len(regions) != len(names):
                line.refuse(f"{word} has {len(names)} regions, not {len(regions)}")
            parts = dict(zip(names, regions, strict=True))
            return maker(inputs=inputs, outputs=outputs, **parts, **attrs)
        if word not in self.primitives:
            line.refuse(f"there is no operation {word!r}")
        rest = iter(regions)
        attrs = {n: next(rest) if v is _GRAPH else v for n, v in attrs.items()}
        primitive = self.primitives[word]
        return self.make.op(
            inputs=inputs, outputs=outputs, primitive=primitive, attrs=attrs
        )


def _content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _is_table(line: str) -> bool:
    """Return whether a line is of the table below a graph."""
    return not line[0].isspace() and not line.startswith("graph")
