"""`ConcreteFunction`: a trace that can be looked at and called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gtape.errors import ArgumentTypeError
from gtape.jit.concrete import Concrete
from gtape.jit.results import NumberResult, Result, mapped
from gtape.jit.signature import Bound, flattened, rebuilt
from gtape.sizes import is_size
from gtape.spec import TensorSpec


class ConcreteFunction:
    """A trace for one kind of arguments, which can be called with such.

    Args:
        name: The function's name.
        concrete: The trace.
        bound: The arguments it was asked for with.
        bind: Takes the arguments of a call apart.
    """

    def __init__(
        self,
        name: str,
        concrete: Concrete,
        bound: Bound,
        bind: Callable[[Sequence[Any], dict[str, Any]], Bound],
    ) -> None:
        self.name = name
        self._concrete = concrete
        self._bound = bound
        self._bind = bind

    @property
    def graph(self) -> Any:
        """The graph, after the passes."""
        return self._concrete.program.optimised

    @property
    def inputs(self) -> list[TensorSpec]:
        """The specs of the graph's inputs: the arguments, then what is captured."""
        return [_public(v.spec) for v in self._concrete.program.graph.inputs]

    @property
    def outputs(self) -> list[TensorSpec]:
        """The specs of the results."""
        program = self._concrete.program
        return [_public(v.spec) for v in program.graph.outputs[: program.results]]

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that it captures."""
        return tuple(self._concrete.variables)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of them that tapes watch by themselves."""
        return tuple([v for v in self.variables if v.trainable])

    @property
    def captured_inputs(self) -> list[Any]:
        """The variables, tensors and arrays from outside that it reads."""
        return self._concrete.captured

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        """The arguments, positional and by keyword, with specs in place of tensors."""
        args, kwargs = self._bound.structure
        values = iter(self._specs())
        fixed = tuple([rebuilt(a, values, []) for a in args])
        return fixed, {k: rebuilt(a, values, []) for k, a in kwargs.items()}

    @property
    def structured_outputs(self) -> Any:
        """The result, with specs in place of tensors."""
        return _with_specs(self._concrete.plan, self.outputs)

    def _specs(self) -> list[Any]:
        return [
            _public(TensorSpec(shape, leaf.key[1]))
            if leaf.kind in ("tensor", "spec", "variable")
            else leaf.value
            for leaf, shape in zip(
                self._concrete.leaves, self._concrete.shapes, strict=True
            )
        ]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the trace on tensors; what is no tensor may be left out.

        Raises:
            ArgumentTypeError: If an argument does not fit the trace.
        """
        fixed, named = self._bound.structure
        given = [*args, *[v for v in fixed[len(args) :] if not _has_spec(v)]]
        named = {k: v for k, v in named.items() if k not in kwargs and not _has_spec(v)}
        bound = self._bind(given, {**named, **kwargs})
        concrete = self._concrete
        if not (
            bound.key == self._bound.key
            and concrete.fits(bound)
            and self._numbers(bound)
        ):
            raise ArgumentTypeError(
                f"{self.name}: the arguments do not fit {concrete.signature()}",
                "Call the function itself, which finds or makes the right trace",
            )
        return concrete.run(bound)

    def _numbers(self, bound: Bound) -> bool:
        """Return whether the numbers that are part of the trace are the same."""
        return all(
            bound.leaves[i].value == self._bound.leaves[i].value
            for i in self._concrete.pins
        )

    def __repr__(self) -> str:
        return repr(self._concrete)

    def __str__(self) -> str:
        lines = [repr(self)]
        lines += [f"  returns {out}" for out in self.outputs]
        lines += [f"  captures {_said(owner)}" for owner in self.captured_inputs]
        return "\n".join(lines)


def _public(spec: TensorSpec) -> TensorSpec:
    """Return a spec with `None` for sizes that are open."""
    dims = [None if is_size(d) else d for d in spec.shape]
    return TensorSpec(dims, spec.dtype)


def _has_spec(value: Any) -> bool:
    """Return whether an argument stands for tensors that a call must give."""
    found: list[tuple[str, Any]] = []
    flattened(value, "", found)
    return any(isinstance(leaf, TensorSpec) for _, leaf in found)


def _with_specs(plan: Any, outputs: Sequence[TensorSpec]) -> Any:
    if type(plan) in (Result, NumberResult):
        return outputs[plan.place]
    if isinstance(plan, (list, tuple, dict, set)):
        return mapped(plan, lambda v: _with_specs(v, outputs))
    if hasattr(plan, "dtype"):
        return TensorSpec(plan.shape, plan.dtype)
    return plan


def _said(owner: Any) -> str:
    if hasattr(owner, "dtype"):
        name = getattr(owner, "name", type(owner).__name__)
        return f"{name}: {TensorSpec(owner.shape, owner.dtype)}"
    return type(owner).__name__
