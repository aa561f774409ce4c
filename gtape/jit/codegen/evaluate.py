"""The value of an element: expressions of the graph as instructions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from gtape.errors import GraphError
from gtape.jit.codegen.body import Body, Scalar, cast, constant, load, weak
from gtape.jit.codegen.index import (
    I64,
    Int,
    NotCompiledError,
    Place,
    Sizes,
    add,
    as_value,
    floordiv,
    is_one,
    mod,
    mul,
    sub,
)
from gtape.jit.graph.attrs import changed_sizes, has_size
from gtape.jit.graph.ir import Literal, Op, Value
from gtape.jit.schedule.nodes import REFUSED
from gtape.jit.schedule.plan import Plan
from gtape.lowering import Gather, Map, Reindex, View
from gtape.primitive import Primitive
from gtape.scalar import Call, Const, Name, Tree, parse
from gtape.sizes import Unknown, is_size, same_shape, size_of_unknown
from gtape.spec import TensorSpec

I1 = ir.IntType(1)

_ARITHMETIC: dict[str, Callable[..., Int]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "floordiv": floordiv,
    "mod": mod,
}
_RELATIONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class Memory:
    """What a kernel knows: arrays by their addresses, numbers, sizes.

    Args:
        plan: The plan of the graph around it.
        pointers: The addresses of values in memory, typed.
        numbers: The values of rank 0.
        sizes: The lengths of unknowns.
        literals: Returns the address of an array known while compiling.
    """

    def __init__(
        self,
        plan: Plan,
        pointers: Mapping[Value, ir.Value],
        numbers: Mapping[Value, Scalar],
        sizes: Sizes,
        literals: Callable[[Literal], ir.Value],
    ) -> None:
        self.plan = plan
        self.pointers = dict(pointers)
        self.numbers = dict(numbers)
        self.sizes = sizes
        self.literals = literals


class Evaluator:
    """Emits what gives an element of a value.

    Args:
        body: Emits scalar expressions.
        memory: What is known.
        own: Values that the kernel computes, though they are stored.
        fail: Emits what notes that an index is out of range, given a bool.
    """

    def __init__(
        self,
        body: Body,
        memory: Memory,
        own: Sequence[Value] = (),
        fail: Callable[[ir.IRBuilder, ir.Value], None] | None = None,
    ) -> None:
        self._body = body
        self._memory = memory
        self._own = set(own)
        self._fail = fail
        self._known: dict[Any, Scalar] = {}

    def forget(self) -> None:
        """Forget what has been emitted: it does not dominate what comes."""
        self._known = {}

    def at(self, b: ir.IRBuilder, atom: Any, place: Place) -> Scalar:
        """Return an element of a value.

        Args:
            b: Where to emit.
            atom: A value or literal.
            place: Which element.
        """
        if isinstance(atom, Literal):
            return self._literal(b, atom, place)
        memory = self._memory
        if atom.ndim == 0 and atom in memory.numbers:
            return memory.numbers[atom]
        key = (atom, place.key() if atom.ndim else ())
        found = self._known.get(key)
        if found is None:
            if atom in memory.pointers and atom not in self._own:
                found = self._load(b, memory.pointers[atom], atom, place)
            else:
                found = self._computed(b, atom, place)
            self._known[key] = found
        return found

    def _load(self, b: ir.IRBuilder, pointer: Any, atom: Any, place: Place) -> Scalar:
        position: Int = 0
        if atom.ndim:
            position = place.position(b, self._memory.sizes, atom.shape)
        return load(b, b.gep(pointer, [as_value(position)]), atom.dtype)

    def _literal(self, b: ir.IRBuilder, atom: Literal, place: Place) -> Scalar:
        array = atom.array
        first = array.reshape(-1)[:1]
        if not atom.ndim or (array.size and (array == first).all()):
            return constant(atom.dtype, first[0])
        return self._load(b, self._memory.literals(atom), atom, place)

    # --- Operations -------------------------------------------------------------------

    def _computed(self, b: ir.IRBuilder, value: Value, place: Place) -> Scalar:
        node = self._memory.plan.makers.get(value)
        if not isinstance(node, Op):
            raise GraphError(f"no operation gives {value.spec} element by element")
        lowering = node.primitive.lowering
        if isinstance(lowering, Map):
            return self._map(b, node, lowering.tree, place)
        if isinstance(lowering, Reindex):
            return self._view(b, node, place)
        assert isinstance(lowering, Gather)
        return self._gathered(b, node, place)

    def _map(self, b: ir.IRBuilder, node: Op, tree: Tree, place: Place) -> Scalar:
        [value] = node.outputs
        sizes, shape = self._memory.sizes, tuple(value.shape)
        names: dict[str, Any] = {}
        for name, atom in zip(operand_names(node.primitive), node.inputs, strict=False):
            names[name] = self.at(b, atom, self._aligned(b, atom, place, shape))
        for name, attr in node.attrs.items():
            if is_size(attr):
                names[name] = Scalar(_INT64, as_value(sizes.of(b, attr)))
            elif isinstance(attr, (bool, int, float)):
                names[name] = attr
        for name in _names(tree):
            if name not in names:
                axis = int(name[1:])
                index = place.positions(b, sizes, shape)[axis]
                names[name] = weak(b, Scalar(_INT64, as_value(index)), int)
        self._guard(b, node, names)
        out = self._body.emit(b, tree, names)
        if not isinstance(out, Scalar):
            return constant(value.dtype, out)
        return cast(b, out, value.dtype)

    def _guard(self, b: ir.IRBuilder, node: Op, names: Mapping[str, Any]) -> None:
        """Emit that what the operation refuses fails."""
        relation = REFUSED.get(node.primitive.name)
        y = names.get("y")
        if relation is None or not isinstance(y, Scalar) or y.dtype.kind not in "iu":
            return
        if self._fail is None:
            raise NotCompiledError("an operation that may be refused")
        zero = y.value.type(0)
        if relation == "==" or y.dtype.kind == "i":
            self._fail(b, b.icmp_signed(relation, y.value, zero))

    def _aligned(
        self, b: ir.IRBuilder, atom: Any, place: Place, shape: tuple[Any, ...]
    ) -> Place:
        """Return the place in an operand that is broadcast to a shape."""
        mine = tuple(atom.shape)
        if not mine:
            return Place(())
        if same_shape(mine, shape):
            return place
        positions = place.positions(b, self._memory.sizes, shape)
        tail = positions[len(shape) - len(mine) :]
        whole = shape[len(shape) - len(mine) :]
        return Place(
            tuple(
                [
                    0 if is_one(d) and not is_one(w) else i
                    for d, w, i in zip(mine, whole, tail, strict=True)
                ]
            )
        )

    # --- Views ------------------------------------------------------------------------

    def _view(self, b: ir.IRBuilder, node: Op, place: Place) -> Scalar:
        [value] = node.outputs
        sizes, shape = self._memory.sizes, tuple(value.shape)
        if node.primitive.name == "reshape":
            position = place.position(b, sizes, shape) if shape else 0
            return self.at(b, node.inputs[0], Place(flat=position))
        names: dict[str, Int] = {
            f"i{k}": i for k, i in enumerate(place.positions(b, sizes, shape))
        }
        views = self._views(b, node, names)
        return self._piece(b, node, views, names)

    def _views(
        self, b: ir.IRBuilder, node: Op, names: dict[str, Int]
    ) -> tuple[View, ...]:
        """Return the pieces of a view; sizes in them become names."""
        own: dict[Unknown, Unknown] = {}

        decider = self._memory.sizes.decider(own)

        def named(unknown: Unknown) -> Any:
            if unknown not in own:
                own[unknown] = Unknown(
                    f"s{len(own)}", decider, unknown.hint, unknown.least
                )
                length = self._memory.sizes.of(b, size_of_unknown(unknown))
                names[own[unknown].name] = length
            return size_of_unknown(own[unknown])

        specs = []
        for atom in node.inputs:
            dims = {"shape": tuple(atom.shape)}
            if has_size(dims):
                dims = changed_sizes(dims, named)
            specs.append(TensorSpec(dims["shape"], atom.spec.dtype))
        attrs = node.attrs
        if has_size(attrs):
            attrs = changed_sizes(attrs, named)
        lowering = node.primitive.lowering
        assert isinstance(lowering, Reindex)
        return lowering.views(*specs, **attrs)

    def _piece(
        self,
        b: ir.IRBuilder,
        node: Op,
        views: Sequence[View],
        names: Mapping[str, Int],
    ) -> Scalar:
        """Return the element that the first valid piece gives."""
        view, *rest = views
        valid = integer(b, parse(view.valid), names)
        [value] = node.outputs

        def read() -> Scalar:
            index = tuple([integer(b, parse(i), names) for i in view.index])
            found = self.at(b, node.inputs[view.operand], Place(index))
            return cast(b, found, value.dtype)

        if valid is True:
            return read()

        def other() -> Scalar:
            if rest:
                return self._piece(b, node, rest, names)
            return constant(value.dtype, view.fill)

        if valid is False:
            return other()
        return self._chosen(b, valid, read, other)

    def _chosen(
        self,
        b: ir.IRBuilder,
        test: ir.Value,
        then: Callable[[], Scalar],
        orelse: Callable[[], Scalar],
    ) -> Scalar:
        """Emit a branch, since the side not taken may lie outside of memory."""
        known = dict(self._known)
        results = []
        with b.if_else(test) as (yes, no):
            for side, compute in ((yes, then), (no, orelse)):
                with side:
                    self._known = dict(known)
                    found = compute()
                    results.append((found, b.block))
        self._known = known
        first = results[0][0]
        phi = b.phi(first.value.type)
        for found, block in results:
            phi.add_incoming(found.value, block)
        return Scalar(first.dtype, phi)

    def _gathered(self, b: ir.IRBuilder, node: Op, place: Place) -> Scalar:
        """Return an element at a place that other tensors say."""
        x, *indices = node.inputs
        axes, wrap = node.attrs["axes"], node.attrs["wrap"]
        sizes = self._memory.sizes
        positions = place.positions(b, sizes, tuple(node.outputs[0].shape))
        first, count = axes[0], len(axes)
        block = len(positions) - (x.ndim - count)
        inner = positions[first : first + block]
        shape = tuple(node.outputs[0].shape)[first : first + block]
        found: list[Int] = []
        for axis, atom in zip(axes, indices, strict=True):
            mine = self._aligned(b, atom, Place(tuple(inner)), shape)
            index = cast(b, self.at(b, atom, mine), _INT64).value
            size = as_value(sizes.of(b, x.shape[axis]))
            if wrap:
                below = b.icmp_signed("<", index, I64(0))
                index = b.select(below, b.add(index, size), index)
            outside = b.icmp_unsigned(">=", index, size)
            if self._fail is None:
                raise NotCompiledError("an index that may be out of range")
            self._fail(b, outside)
            found.append(b.select(outside, I64(0), index))
        place = Place((*positions[:first], *found, *positions[first + block :]))
        if any(is_one(d) is False and d == 0 for d in x.shape if isinstance(d, int)):
            raise NotCompiledError("an index into a tensor without elements")
        return self.at(b, x, place)


def operand_names(primitive: Primitive) -> tuple[str, ...]:
    """Return the names that the expression of a map has for its operands."""
    code = primitive.spec.__code__
    if code.co_flags & inspect.CO_VARARGS:  # declared with `elementwise`
        return ("x", "y")
    return code.co_varnames[: code.co_argcount]


def _names(tree: Tree) -> set[str]:
    if isinstance(tree, Name):
        return {tree.name}
    if isinstance(tree, Call):
        return set().union(*[_names(part) for part in tree.operands])
    return set()


def integer(b: ir.IRBuilder, tree: Tree, names: Mapping[str, Int]) -> Any:
    """Return an expression of integers, or a condition on them.

    Returns:
        A Python number or bool where it is known, else an LLVM value.
    """
    if isinstance(tree, Const):
        return tree.value
    if isinstance(tree, Name):
        return names[tree.name]
    parts = [integer(b, part, names) for part in tree.operands]
    word = tree.function
    if word in _ARITHMETIC:
        return _ARITHMETIC[word](b, *parts)
    if word == "neg":
        return sub(b, 0, parts[0])
    if word in _RELATIONS:
        return _related(b, _RELATIONS[word], *parts)
    if word in ("logical_and", "logical_or"):
        return _joined(b, word == "logical_and", *parts)
    if word == "logical_not":
        [part] = parts
        return not part if isinstance(part, bool) else b.not_(part)
    if word == "select":
        test, x, y = parts
        if isinstance(test, bool):
            return x if test else y
        return b.select(test, as_value(x), as_value(y))
    raise GraphError(f"{word} of integers")


def _related(b: ir.IRBuilder, relation: str, x: Int, y: Int) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        return {
            "<": x < y,
            "<=": x <= y,
            ">": x > y,
            ">=": x >= y,
            "==": x == y,
            "!=": x != y,
        }[relation]
    return b.icmp_signed(relation, as_value(x), as_value(y))


def _joined(b: ir.IRBuilder, both: bool, x: Any, y: Any) -> Any:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, bool):
            return other if one is both else one
    return (b.and_ if both else b.or_)(x, y)


_INT64 = TensorSpec((), "int64").dtype.dtype
