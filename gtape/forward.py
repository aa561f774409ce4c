"""Forward mode: tangents carried along with the computation, in one pass.

The tangent of an operation is the transpose of its reverse rule, which is linear in the
cotangent: the rule runs once on a stand-in cotangent that a record of its own watches,
and the tangents of the inputs are pulled back through that record. So one declaration
serves both modes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from gtape import dispatch, nest
from gtape.backprop import backprop
from gtape.dispatch import next_key
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    ShapeError,
    TapeError,
)
from gtape.jacobians import differentiable, full_like, own, tensors_of, value_of
from gtape.ops.common import name_of
from gtape.ops.linear import identity
from gtape.primitive import Primitive
from gtape.record import Record


class Tangents:
    """The recorder of a forward accumulator: tangents by the key of their value."""

    __slots__ = ("by_key",)

    def __init__(self) -> None:
        self.by_key: dict[int, Any] = {}

    def record(
        self,
        primitive: Primitive,
        inputs: Sequence[Any],
        out: Any,
        attrs: dict[str, Any],
    ) -> None:
        """Compute the tangent of a result from those of the operands."""
        known = self.by_key
        if known.keys().isdisjoint([x._key for x in inputs]) or primitive.vjp is None:
            return
        # Accumulators further in do not see this computation, or two would chase each
        # other; what is further out does, so that forward mode nests with itself and
        # with tapes.
        interpreter, recorders = dispatch.state()
        outer = recorders[: recorders.index(self)]
        with dispatch.running(interpreter, outer):
            self._push_forward(primitive, inputs, out, attrs)

    def _push_forward(
        self, primitive: Primitive, inputs: Sequence[Any], out: Any, attrs: Any
    ) -> None:
        interpreter, outer = dispatch.state()
        once = Record(False)
        moving = {x._key for x in inputs if x._key in self.by_key}
        once.known = set(moving)
        once.record(primitive, inputs, out, attrs)
        results = out if primitive.multiple else (out,)
        results = [r for r in results if r._array.dtype.kind in "fcV"]
        stands = {r._key: _stand_in(r) for r in results}
        linear = Record(False)
        linear.known = {g._key for g in stands.values()}
        pulled: dict[int, Any] = dict(stands)
        with dispatch.running(interpreter, (*outer, linear)):
            backprop(once, pulled, moving, interpreter.wrap)
        transposed: dict[int, Any] = {}
        for key in moving:
            c = pulled.get(key)
            if c is not None:
                tangent, before = self.by_key[key], transposed.get(c._key)
                transposed[c._key] = tangent if before is None else before + tangent
        backprop(linear, transposed, linear.known, interpreter.wrap)
        for key, g in stands.items():
            tangent = transposed.get(g._key)
            if tangent is not None:
                self.by_key[key] = tangent

    def read(self, variable: Any) -> None:
        """Nothing: a variable is read under its own key."""

    def left(self, key: int) -> None:
        """Nothing: the tangent ends where the value leaves."""

    def assigned(self, variable: Any, value: Any) -> None:
        """Nothing: assignment is not differentiated; tangents stay."""


def _stand_in(result: Any) -> Any:
    stand = full_like(result, tuple(result.shape), 1)
    stand._key = next_key()
    return stand


class ForwardAccumulator:
    """Computes Jacobian-vector products along with the block, in one forward pass.

    Args:
        primals: A tensor or variable, or a nested structure, each once.
        tangents: A tensor for each primal, of its shape and dtype: the direction.

    Raises:
        ArgumentError: If a primal is given twice, or the structures differ.
        ShapeError: If a tangent has another shape than its primal.
        DTypeError: If a tangent has another dtype, or a primal is an integer.

    Example:
        >>> import gtape as gt
        >>> x = gt.Variable(2.0)
        >>> with gt.ForwardAccumulator(x, gt.constant(1.0)) as acc:
        ...     y = x * x * x
        >>> acc.jvp(y).numpy()
        np.float32(12.0)
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._tangents = Tangents()
        self._active = False
        leaves = tensors_of("ForwardAccumulator", "primals", primals)
        given = nest.flatten_like(primals, tangents, "ForwardAccumulator: tangents")
        for primal, tangent in zip(leaves, given, strict=True):
            self._add(primal, tangent)

    def _add(self, primal: Any, tangent: Any) -> None:
        if not differentiable(primal):
            raise DTypeError(
                f"ForwardAccumulator: a primal of {primal.dtype} has no tangent",
                "Use a floating-point dtype",
            )
        if primal._key <= 0:
            primal._key = next_key()
        if primal._key in self._tangents.by_key:
            raise ArgumentError(
                "ForwardAccumulator: the same tensor was specified as a primal "
                "multiple times",
                "Give each primal once",
            )
        value = dispatch.interpreter().convert(tangent, value_of(primal).dtype)
        if value.dtype != primal.dtype:
            raise DTypeError(
                f"ForwardAccumulator: a tangent of {value.dtype} for a primal of "
                f"{primal.dtype}",
                "Cast it first",
            )
        if tuple(value.shape) != tuple(primal.shape):
            raise ShapeError(
                f"ForwardAccumulator: a tangent of shape {tuple(value.shape)} for a "
                "primal of "
                f"shape {tuple(primal.shape)}",
                "Give the tangent the primal's shape",
            )
        self._tangents.by_key[primal._key] = value

    def __enter__(self) -> ForwardAccumulator:
        if self._active:
            raise TapeError("the accumulator is already active", "Use a second one")
        self._active = True
        dispatch.push_recorder(self._tangents)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._active = False
        dispatch.pop_recorder(self._tangents)

    def jvp(self, target: Any, unconnected_gradients: str = "none") -> Any:
        """Return the tangent of each target: its derivative along the given direction.

        Args:
            target: A tensor or variable, or a nested structure.
            unconnected_gradients: "none" or "zero", for targets that depend on no
                primal.

        Returns:
            Tensors (or `None`) in the structure of the target.
        """
        if unconnected_gradients not in ("none", "zero"):
            raise ArgumentError(
                "jvp: unknown value for unconnected_gradients: "
                f"{unconnected_gradients!r}",
                'Use "none" or "zero"',
            )
        out = []
        for leaf in tensors_of("jvp", "target", target):
            tangent = self._tangents.by_key.get(leaf._key)
            if tangent is not None:
                out.append(own(tangent))
            elif unconnected_gradients == "zero":
                out.append(zeros_for(leaf))
            else:
                out.append(None)
        return nest.pack(target, iter(out))


def zeros_for(leaf: Any) -> Any:
    """Return a tensor of zeros like a tensor or variable."""
    return full_like(leaf, tuple(leaf.shape), 0)


def own_primal(primal: Any) -> Any:
    """Return an argument as tensors that are sources of their own.

    A list of Python numbers is one tensor; a structure that holds tensors stays a
    structure.
    """
    if nest.is_nested(primal):
        leaves = nest.flatten(primal)
        if isinstance(primal, Mapping) or any(hasattr(x, "dtype") for x in leaves):
            return nest.pack(primal, iter([identity(x) for x in leaves]))
    return identity(primal)


def check_primals(name: str, primals: Any, tangents: Any) -> None:
    """Require two tuples or lists.

    Raises:
        ArgumentTypeError: If one of them is something else.
    """
    for given in (primals, tangents):
        if not isinstance(given, (tuple, list)):
            raise ArgumentTypeError(
                f"{name}: primals and tangents must be tuples, one entry for each "
                f"argument, got a {type(given).__name__}",
                f"Write {name}(f, (x,), (t,))",
            )


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """Return f(*primals) and its derivative along the tangents, by one forward pass.

    Args:
        f: A function of tensors that returns a tensor or a nested structure.
        primals: Its arguments, a tuple or list.
        tangents: A tangent for each, of the same structure, shapes and dtypes.

    Returns:
        The value, and its tangent in the same structure; zeros where it does not depend
        on the primals.

    Example:
        >>> import gtape as gt
        >>> y, t = gt.jvp(lambda x: x * x, (3.0,), (1.0,))
        >>> float(y), float(t)
        (9.0, 6.0)
    """
    name_of("jvp", f)
    check_primals("jvp", primals, tangents)
    inputs = tuple([own_primal(p) for p in primals])
    with ForwardAccumulator(inputs, tuple(tangents)) as accumulator:
        value = dispatch.invoke(f, *inputs)
    return value, accumulator.jvp(value, unconnected_gradients="zero")
