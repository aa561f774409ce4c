"""`recompute_grad`: values that are computed again for gradients, and not kept."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from gtape import dispatch, nest
from gtape.eager import EagerTensor
from gtape.ops.common import name_of
from gtape.ops.linear import identity
from gtape.ops.states import Script
from gtape.rules import Reads, is_input, record_rule, split_arguments
from gtape.tape import GradientTape
from gtape.tensor import Tensor

P = ParamSpec("P")
R = TypeVar("R")

_MUTABLE = (Tensor, np.ndarray)


def recompute_grad(f: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to compute its intermediate values again for gradients.

    It saves memory for the time of one more evaluation.

    Args:
        f: A function of tensors. It may read variables and tensors from outside, and
            gradients flow to these, too. Its random numbers come out the same again;
            nothing else may change between the evaluations.

    Example:
        >>> import gtape as gt
        >>> x = gt.Variable(2.0)
        >>> with gt.GradientTape() as tape:
        ...     y = gt.recompute_grad(lambda v: v * v * v)(x)
        >>> tape.gradient(y, x).numpy()
        np.float32(12.0)
    """
    name_of("recompute_grad", f)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if hasattr(dispatch.interpreter(), "custom_rule"):
            # What a graph keeps for gradients is decided when it is compiled.
            return dispatch.invoke(f, *args, **kwargs)
        leaves, tensors = split_arguments(args)
        named = nest.flatten(kwargs)
        named = [copy.copy(x) if isinstance(x, _MUTABLE) else x for x in named]
        tensors += [copy.copy(x) for x in named if isinstance(x, Tensor)]
        # Now, since the function may assign to a variable that is an argument.
        tensors = [dispatch.interpreter().convert(x) for x in tensors]
        reads = Reads(dispatch.recorders())
        given = [list(args), kwargs]
        mine = [*map(is_input, leaves), *[isinstance(x, Tensor) for x in named]]
        run = _Run(f, given, [*leaves, *named], mine, reads, Script())
        outputs, results = run.first()
        variables, captured = reads.captured(), _Captured.all(reads)

        def rule(g: Sequence[Any], out: Sequence[Any], inputs: Sequence[Any]) -> Any:
            with _restored(captured):
                return run.again(g, inputs, [*variables, *[c.tensor for c in captured]])

        sources = [*tensors, *variables, *[c.value for c in captured]]
        return nest.pack(outputs, iter(record_rule(sources, results, rule)))

    return wrapper


class _Run(NamedTuple):
    """A call of a function, which can be made again."""

    function: Callable[..., Any]
    structure: Any  # its arguments, positional and named
    leaves: Sequence[Any]
    mine: Sequence[bool]  # whether each is computed again as a source of its own
    reads: Reads
    script: Script  # random numbers must come out the same again

    def first(self) -> tuple[Any, list[Any]]:
        """Return what the function gives, and the leaves of that as tensors."""
        # Under keys that nobody follows: what has another key is from outside.
        hidden = [
            EagerTensor(x._array) if isinstance(x, EagerTensor) else x
            for x in self.leaves
        ]
        # A function around this one restores what both read.
        around = [r for r in dispatch.recorders() if isinstance(r, Reads)]
        interpreter = dispatch.interpreter()
        seeing = dispatch.running(interpreter, (*around, self.reads))
        with seeing, self.script.written():
            inner, options = nest.pack(self.structure, iter(hidden))
            outputs = self.function(*inner, **options)
            results = [interpreter.convert(x) for x in nest.flatten(outputs)]
            self.reads.see(results)
        return outputs, results

    def again(
        self, g: Sequence[Any], inputs: Sequence[Any], outside: Sequence[Any]
    ) -> list[Any]:
        """Return the gradients by the arguments, and by what is read beside them."""
        # Each argument is a source of its own, even if a tensor stands twice.
        own = [identity(x) for x in inputs[: sum(self.mine)]]
        sources = [*own, *outside]
        with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch([s for s in sources if s.dtype.is_differentiable])
            values = iter([copy.copy(x) for x in own])
            pairs = zip(self.leaves, self.mine, strict=True)
            leaves = [next(values) if new else x for x, new in pairs]
            inner, options = nest.pack(self.structure, iter(leaves))
            with self.script.played(), self.reads.restored():
                outputs = self.function(*inner, **options)
            convert = dispatch.interpreter().convert
            redone = [convert(x) for x in nest.flatten(outputs)]
        found = [(r, c) for r, c in zip(redone, g, strict=True) if c is not None]
        targets, seeds = [r for r, _ in found], [c for _, c in found]
        return list(tape.gradient(targets, sources, output_gradients=seeds))


class _Captured(NamedTuple):
    """A tensor that a function reads beside its arguments, and what it was then."""

    tensor: Any
    value: EagerTensor

    @classmethod
    def all(cls, reads: Reads) -> list[_Captured]:
        """Return the tensors that were read."""
        return [
            cls(x, EagerTensor(array, key)) for key, (x, array) in reads.tensors.items()
        ]


@contextlib.contextmanager
def _restored(captured: Sequence[_Captured]) -> Iterator[None]:
    """Give tensors the values that were read: their items may have been assigned to."""
    now = [(c.tensor, c.tensor._array, c.tensor._key) for c in captured]
    for c in captured:
        c.tensor._array, c.tensor._key = c.value._array, c.value._key
    try:
        yield
    finally:
        for tensor, array, key in now:
            tensor._array, tensor._key = array, key
