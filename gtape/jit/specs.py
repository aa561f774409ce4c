"""`input_signature`: the specs that all calls of a function must fit."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from gtape import dispatch
from gtape.errors import ArgumentTypeError, GtapeError
from gtape.jit.signature import Binder, flattened
from gtape.spec import TensorSpec
from gtape.tensor import Tensor
from gtape.variable import Variable


class InputSignature:
    """What all calls of a function must fit, and are converted to.

    Args:
        name: The function's name.
        specs: A nested structure of TensorSpecs for each parameter.
        binder: Binds the arguments.

    Raises:
        ArgumentTypeError: If an entry is no TensorSpec, or a parameter has neither a
            spec nor a default.
    """

    def __init__(self, name: str, specs: Any, binder: Binder) -> None:
        if not isinstance(specs, (list, tuple)):
            raise ArgumentTypeError(
                f"{name}: the input_signature is {specs!r}, not a list or tuple",
                "Write one entry for each parameter",
            )
        self.specs = tuple(specs)
        self._name = name
        self._binder = binder
        entries: list[tuple[str, Any]] = []
        flattened(self.specs, "input_signature", entries)
        for place, entry in entries:
            if not isinstance(entry, TensorSpec):
                raise ArgumentTypeError(
                    f"{name}: {place} is {entry!r}, not a TensorSpec",
                    "Write gt.TensorSpec(shape, dtype)",
                )
        self._first = 0  # the parameter of the first spec
        self._check_parameters()

    @property
    def by_leaf(self) -> tuple[Any, ...] | None:
        """The specs, if the leaves of the arguments begin with theirs."""
        return self.specs if self._first == 0 else None

    def _check_parameters(self) -> None:
        if self._binder.signature is None:
            return
        positional = (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
        parameters = list(self._binder.signature.parameters.values())
        plain = [p for p in parameters if p.kind in positional]
        if plain and plain[0].name in ("self", "cls"):
            self._first = 1  # of a method, as it stands in its class
        count = self._first + len(self.specs)
        rest = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
        if count > len(plain) and not rest:
            raise ArgumentTypeError(
                f"{self._name}: {len(self.specs)} specs for "
                f"{len(plain) - self._first} parameters",
                "Give one spec for each parameter",
            )
        keyword = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
        for p in (*plain[count:], *keyword):
            if p.default is p.empty:
                raise ArgumentTypeError(
                    f"{self._name}: parameter {p.name!r} has neither a spec nor a "
                    "default",
                    "Give one spec for each parameter",
                )

    def fitted(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Return the arguments of a call, converted to the specs.

        Raises:
            ArgumentTypeError: If their number, rank, size or dtype does not fit.
        """
        args, kwargs = self._binder.bind(args, kwargs)
        before, given = args[: self._first], args[self._first :]
        if len(given) < len(self.specs):
            raise ArgumentTypeError(
                f"{self._name}: {len(given)} arguments for an input_signature of "
                f"{len(self.specs)}",
                "Give one argument for each spec",
            )
        names = self._binder.names(args)[self._first :]
        own = [
            _fitted(f"{self._name}: {n}", spec, value)
            for n, spec, value in zip(names, self.specs, given, strict=False)
        ]
        return (*before, *own, *given[len(own) :]), kwargs


def _fitted(name: str, spec: Any, value: Any) -> Any:
    if isinstance(spec, TensorSpec):
        found = _as_tensor(name, spec, value)
        if found.dtype != spec.dtype or not spec.shape.is_compatible_with(found.shape):
            raise ArgumentTypeError(
                f"{name} has shape {tuple(found.shape)} and dtype {found.dtype}, which "
                f"do not fit {spec!r} of the input_signature",
                "Cast or reshape it, or write None for sizes that may change",
            )
        return found
    if isinstance(spec, Mapping):
        if isinstance(value, Mapping) and spec.keys() == value.keys():
            return {k: _fitted(f"{name}[{k!r}]", spec[k], value[k]) for k in spec}
    elif isinstance(value, (list, tuple)) and len(spec) == len(value):
        rows = [
            _fitted(f"{name}[{i}]", s, v)
            for i, (s, v) in enumerate(zip(spec, value, strict=True))
        ]
        return type(spec)(*rows) if hasattr(spec, "_fields") else type(spec)(rows)
    raise ArgumentTypeError(
        f"{name} is a {type(value).__name__}, which does not fit {spec!r} of the "
        "input_signature",
        "Give it the structure of the signature",
    )


def _as_tensor(name: str, spec: TensorSpec, value: Any) -> Any:
    """Return an argument as a tensor; Python and NumPy values take the spec's dtype."""
    if isinstance(value, (Tensor, TensorSpec)):
        return value
    if isinstance(value, Variable):
        return value.read_value()
    try:
        return dispatch.interpreter().convert(value, spec.dtype.dtype, True)
    except GtapeError as error:
        raise ArgumentTypeError(
            f"{name} is {value!r}, which does not fit {spec!r} of the input_signature: "
            f"{error.what}",
            "Give it a tensor of that kind",
        ) from None
