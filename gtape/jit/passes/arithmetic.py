"""Rules of `simplify` for arithmetic: exact for floats, infinities, NaN, both zeros.

x + 0.0 is not x where x is -0.0, x * 0 is not 0 where x is NaN, and products with
complex ones spread a NaN: no such rule stands here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from gtape.jit.graph.ir import Atom, Literal, Op
from gtape.jit.graph.rewrite import same_spec
from gtape.jit.passes.known import Made, is_number, keeps_all, made_by, power_of_two
from gtape.primitive import Primitive, registry

Result: TypeAlias = "Atom | Op | None"


def _primitive(name: str) -> Primitive:
    return registry()[name]


def _other(node: Op, name: str, *inputs: Atom) -> Op:
    """Return another operation, without attributes, in the place of one."""
    return replace(node, primitive=_primitive(name), inputs=inputs, attrs={})


def _negated(node: Op, x: Atom) -> Op | None:
    """Return -x in the place of an operation, if it has the spec of x."""
    fits = same_spec(x.spec, node.outputs[0].spec)
    return _other(node, "negative", x) if fits else None


def _add(node: Op, made: Made) -> Result:
    """Adding -0.0, or the integer 0, is nothing; x + -y is x - y."""
    for x, y in (node.inputs, node.inputs[::-1]):
        if is_number(y, 0, negative_zero=True):
            return x
        inner = made_by(y, made, "negative")
        if inner is not None:
            return _other(node, "subtract", x, inner.inputs[0])
    return None


def _subtract(node: Op, made: Made) -> Result:
    """Taking 0.0 away is nothing; -0.0 - x is -x, x - -y is x + y."""
    x, y = node.inputs
    if is_number(y, 0):
        return x
    if is_number(x, 0, negative_zero=True):
        return _negated(node, y)
    inner = made_by(y, made, "negative")
    return None if inner is None else _other(node, "add", x, inner.inputs[0])


def _multiply(node: Op, made: Made) -> Result:
    """Once x is x, x * -1 is -x, -x * -y is x * y."""
    for x, y in (node.inputs, node.inputs[::-1]):
        if is_number(y, 1):
            return x
        if is_number(y, -1):
            return _negated(node, x)
    a, b = [made_by(atom, made, "negative") for atom in node.inputs]
    if a is None or b is None:
        return None
    return replace(node, inputs=(a.inputs[0], b.inputs[0]))


def _divide(node: Op, made: Made) -> Result:
    """Parting by 1 is nothing, by -1 it is -x, by a power of two a product."""
    x, y = node.inputs
    if is_number(y, 1):
        return x
    if is_number(y, -1):
        return _negated(node, x)
    factor = power_of_two(y)
    if factor is None or isinstance(x, Literal):
        return None
    shaped = Literal(y.array * 0 + factor) if isinstance(y, Literal) else y
    return _other(node, "multiply", x, shaped)


def _pow(node: Op, made: Made) -> Result:
    """The first power is x, the second x * x: to the bit what NumPy's power gives."""
    x, y = node.inputs
    if is_number(y, 1):
        return x
    fits = same_spec(x.spec, node.outputs[0].spec)
    return _other(node, "multiply", x, x) if fits and is_number(y, 2) else None


def _involution(node: Op, made: Made) -> Result:
    """What undoes itself: -(-x) is x."""
    inner = made_by(node.inputs[0], made, node.primitive.name)
    return None if inner is None else inner.inputs[0]


def _abs(node: Op, made: Made) -> Result:
    """|-x| is |x|, and of that the absolute value is itself."""
    x = node.inputs[0]
    if x.dtype.kind == "u":  # |x| is x, and -x is another number
        return x
    if made_by(x, made, "abs") is not None:
        return x
    inner = made_by(x, made, "negative")
    return None if inner is None else replace(node, inputs=inner.inputs)


def _idempotent(node: Op, made: Made) -> Result:
    """What changes nothing the second time: floor(floor(x))."""
    x = node.inputs[0]
    return None if made_by(x, made, node.primitive.name) is None else x


def _cast(node: Op, made: Made) -> Result:
    """A cast to the dtype of x is x; after a cast that loses nothing, x is cast."""
    x, target = node.inputs[0], node.attrs["dtype"]
    if x.dtype == target:
        return x
    inner = made_by(x, made, "cast")
    if inner is None:
        return None
    source = inner.inputs[0]
    if not keeps_all(source.dtype, x.dtype):
        return None
    # Floats out of the range of an integer become what the hardware makes of them.
    if target.kind in "iu" and x.dtype.kind not in "iu":
        return source if source.dtype == target else None
    if source.dtype == target:
        return source
    return replace(node, inputs=(source,))


Rule: TypeAlias = "Callable[[Op, Made], Result]"

ARITHMETIC: dict[str, tuple[Rule, ...]] = {
    "add": (_add,),
    "subtract": (_subtract,),
    "multiply": (_multiply,),
    "divide": (_divide,),
    "pow": (_pow,),
    "negative": (_involution,),
    "conj": (_involution,),
    "invert": (_involution,),
    "abs": (_abs,),
    "floor": (_idempotent,),
    "ceil": (_idempotent,),
    "round": (_idempotent,),
    "trunc": (_idempotent,),
    "cast": (_cast,),
}
