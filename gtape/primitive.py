"""`Primitive`, an operation that every part of gtape understands; the registry."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn, TypeAlias

from gtape.dtypes import (
    Kind,
    NumpyDType,
    as_dtype,
    concrete,
    default_float,
    depends_on_default_float,
    promote,
)
from gtape.errors import DTypeError
from gtape.lowering import Lowering, Map

OperandRule: TypeAlias = "Callable[[str, tuple[Kind, ...]], tuple[NumpyDType, ...]]"
VjpRule: TypeAlias = "Callable[..., Any]"

_registry: dict[str, Primitive] = {}


def registry() -> dict[str, Primitive]:
    """Return every primitive by name."""
    return dict(_registry)


_WHY = "its result is constant almost everywhere, or not a number one can differ by"


class Primitive:
    """One operation: its computation, its shape rule, its reverse rule and its loop.

    Args:
        name: The operation, as messages and printed graphs say it.
        forward: arrays -> array, or a tuple of arrays where `multiple`.
        spec: specs -> spec (or a tuple of specs), or a ShapeError or DTypeError.
        vjp: (g, out, *inputs, **attrs) -> one cotangent per input; `None` for no
            gradient, and a function of no arguments for a cotangent that is only
            computed when somebody wants it. An operand whose name starts with an
            underscore is asked for its shape and dtype only, and `_out` for nothing, so
            the tape need not keep their values. Products with complex numbers are
            written as for real ones: the tape conjugates around the rule.
        lowering: The shape of the loop, and its scalar expression.
        operands: How the dtypes of the operands adapt to each other.
        multiple: Whether the result is a tuple; then g and out are tuples too, and
            entries of g are `None` where nothing flows.
        on_tensors: Whether the rule runs the user's code, which wants tensors: then the
            whole backward pass runs on tensors, not on bare arrays.
        on_large: The same as `forward`, faster where an operand is an array of rank 1
            or more.
        effect: Whether running it is what it is for: a graph keeps it even if nobody
            reads its result, and in its place.
        why: Where there is no vjp: why not, as `explain` says it.
    """

    # Written out, since `dataclasses` takes a while to import. Nobody changes one.
    __slots__ = (
        "effect",
        "forward",
        "keeps",
        "keeps_inputs",
        "keeps_out",
        "lowering",
        "multiple",
        "name",
        "on_large",
        "on_tensors",
        "operands",
        "plain",
        "pointwise",
        "resolved",
        "spec",
        "unchanged",
        "vjp",
        "why",
    )

    listed = True
    """Whether the registry holds it: nodes with graphs inside are not operations."""

    def __init__(
        self,
        name: str,
        forward: Callable[..., Any],
        spec: Callable[..., Any],
        vjp: VjpRule | None,
        lowering: Lowering,
        operands: OperandRule | None = None,
        multiple: bool = False,
        on_tensors: bool = False,
        on_large: Callable[..., Any] | None = None,
        effect: bool = False,
        why: str = _WHY,
    ) -> None:
        self.name = name
        self.forward = forward
        self.spec = spec
        self.vjp = vjp
        self.lowering = lowering
        self.operands = as_is if operands is None else operands
        self.multiple = multiple
        self.on_tensors = on_tensors
        self.on_large = on_large
        self.effect = effect
        self.why = why
        self.keeps = _keeps(vjp)
        self.keeps_out = self.keeps[0]
        self.keeps_inputs = all(self.keeps[1]) and self.keeps[2]
        self.plain = not (multiple or on_tensors)
        self.pointwise = type(lowering) is Map
        self.resolved: dict[Any, tuple[NumpyDType, ...]] = {}
        # Dtypes, and their scalar types, that need not adapt where all operands have
        # them: what `resolved` knows, for a look-up in a fraction of the time.
        self.unchanged: set[Any] = set()
        depends_on_default_float(self.resolved)
        if self.listed:
            if name in _registry:
                raise ValueError(f"primitive {name} is declared twice")
            _registry[name] = self

    def resolve(self, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
        """Return the dtypes that operands of given dtypes must have; () if the same."""
        found = self.resolved.get(kinds)
        if found is None:
            wanted = self.operands(self.name, kinds)
            # By identity: NumPy says that its float64 equals Python's float.
            done = all(k is w for k, w in zip(kinds, wanted, strict=True))
            found = self.resolved[kinds] = () if done else wanted
            if done and len(set(kinds)) == 1:
                self.unchanged.update((wanted[0], wanted[0].type))
        return found

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


def only_recorded(*args: Any, **attrs: Any) -> NoReturn:
    """Stand for the computation and the shapes of an operation that only tapes see.

    Such an operation is told to recorders when its results are there; a call of this is
    a mistake in gtape.
    """
    raise AssertionError("the operation is recorded, never run")


def _keeps(vjp: VjpRule | None) -> tuple[bool, tuple[bool, ...], bool]:
    """Return whether a rule reads the values of out, each input, further inputs."""
    if vjp is None:
        return False, (), False  # nothing is read
    if not isinstance(vjp, FunctionType):
        return True, (), True
    code = vjp.__code__
    names = code.co_varnames[: code.co_argcount]
    rest = bool(code.co_flags & 0x04)  # a *parameter
    place = code.co_argcount + code.co_kwonlyargcount
    rest_name = code.co_varnames[place] if rest else "none"
    keep = [not name.startswith("_") for name in names]
    return keep[1], tuple(keep[2:]), not rest_name.startswith("_")


# --- How operands adapt to each other -------------------------------------------------


def common(kinds: tuple[Kind, ...]) -> NumpyDType:
    """Return the dtype that all operands promote to."""
    out = kinds[0]
    for kind in kinds[1:]:
        out = promote(out, kind)
    return concrete(out)


def as_is(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Leave every operand its own dtype."""
    return tuple([concrete(kind) for kind in kinds])


def same(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one dtype of any kind."""
    return (common(kinds),) * len(kinds)


def number(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one dtype, which must not be bool."""
    d = common(kinds)
    if d.kind == "b":
        raise DTypeError(
            f"{name}: bool is not a number",
            "Cast to an integer or float dtype, or use logical_and, logical_or, "
            "logical_not",
        )
    return (d,) * len(kinds)


def real(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one dtype, integer or floating-point."""
    number(name, kinds)
    return ordered(name, kinds)


def ordered(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one dtype whose elements have an order: bools too."""
    d = common(kinds)
    if d.kind == "c":
        raise DTypeError(
            f"{name}: {as_dtype(d)} numbers have no order",
            "Take gt.real, gt.imag or gt.abs first",
        )
    return (d,) * len(kinds)


def inexact(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one floating-point or complex dtype."""
    out = kinds[0]
    for kind in kinds[1:]:
        out = promote(out, kind)
    if out is int:
        return (default_float().dtype,) * len(kinds)
    d = concrete(out)
    if d.kind in "biu":
        raise DTypeError(
            f"{name} needs a floating-point dtype, got {as_dtype(d)}",
            "Cast first: gt.cast(x, gt.float32)",
        )
    return (d,) * len(kinds)


def floating(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one real floating-point dtype."""
    d = inexact(name, kinds)[0]
    if d.kind == "c":
        raise DTypeError(
            f"{name} is not defined for {as_dtype(d)}",
            "Take gt.real, gt.imag or gt.abs first",
        )
    return (d,) * len(kinds)


def quotient(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one dtype; two integers divide as float64."""
    d = number(name, kinds)[0]
    return (d if d.kind not in "iu" else _FLOAT64,) * len(kinds)


def integer(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one integer dtype, or bool."""
    d = common(kinds)
    if d.kind not in "biu":
        raise DTypeError(
            f"{name} needs an integer or bool dtype, got {as_dtype(d)}", "Cast it first"
        )
    return (d,) * len(kinds)


def boolean(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Require bool operands."""
    for kind in kinds:
        d = concrete(kind)
        if d.kind != "b":
            raise DTypeError(
                f"{name} needs a bool dtype, got {as_dtype(d)}",
                "Compare first, such as x != 0",
            )
    return tuple([concrete(kind) for kind in kinds])


def choice(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """A bool condition, then operands promoted to one dtype."""
    return boolean(name, kinds[:1]) + same(name, kinds[1:])


def indexed(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """A tensor of any dtype, then integer indices."""
    for kind in kinds[1:]:
        d = concrete(kind)
        if d.kind not in "iu":
            raise DTypeError(
                f"{name}: indices must be integers, got {as_dtype(d)}",
                "Cast them first",
            )
    return tuple([concrete(kind) for kind in kinds])


_FLOAT64 = as_dtype("float64").dtype
