"""`Quick`: the short way through a call that is like the one before.

Most calls of a function come with tensors of the dtypes and sizes of the call before,
outside of any tape. For these the trace is known at once; what it depends on outside is
looked at all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gtape.dispatch import UNFOLLOWED, get_state
from gtape.eager import EagerTensor
from gtape.jit.concrete import Concrete
from gtape.jit.results import Result, filled
from gtape.jit.signature import Bound
from gtape.sizes import is_size

NOTHING = object()
"""What says that a call has to go the long way."""

_EMPTY = Bound(((), {}), [], ())


class Quick:
    """A trace, and what arguments have to be like to use it at once.

    Args:
        concrete: The trace, which `of` has found to be fit for it.
        specs: The dtype and shape of each argument.
        reads: What gives the inputs of the graph beside the arguments.
    """

    __slots__ = (
        "_assigns",
        "_captures",
        "_concrete",
        "_fill",
        "_places",
        "_reads",
        "_run",
        "_specs",
    )

    def __init__(
        self,
        concrete: Concrete,
        specs: Sequence[tuple[Any, tuple[int, ...]]],
        reads: Sequence[Callable[[Any], Any]],
    ) -> None:
        self._concrete = concrete
        self._specs = tuple([(d.type if not s else None, d, s) for d, s in specs])
        self._places = tuple(concrete.argument_places)
        self._reads = tuple(reads)
        self._captures = [(c.read, c.value, c.holds) for c in concrete.captures]
        self._assigns = concrete.assigns
        self._run = concrete.program.run
        self._fill = _filler(concrete.plan)

    @classmethod
    def of(cls, concrete: Concrete, bound: Bound) -> Quick | None:
        """Return the short way for calls like one, `None` if there is none."""
        args, kwargs = bound.structure
        plain = not kwargs and len(args) == len(bound.leaves)
        if not plain or not concrete.is_plain or concrete.guards:
            return None
        specs = []
        for leaf, shape in zip(bound.leaves, concrete.shapes, strict=True):
            if type(leaf.value) is not EagerTensor or any(map(is_size, shape)):
                return None
            specs.append((leaf.value._array.dtype, tuple(shape)))
        return cls(concrete, specs, concrete.other_reads)

    def call(self, args: tuple[Any, ...]) -> Any:
        """Return the result of a call, or `NOTHING` if it is of another kind."""
        if get_state() is not None or len(args) != len(self._specs):
            return NOTHING
        arrays = []
        for value, (kind, dtype, shape) in zip(args, self._specs, strict=False):
            if type(value) is not EagerTensor:
                return NOTHING
            array = value._array
            # A scalar of the type has the dtype, and no axes.
            if type(array) is not kind and (
                array.dtype is not dtype or array.shape != shape
            ):
                return NOTHING
            arrays.append(array)
        for read, value, holds in self._captures:
            if read() is not value and not holds():
                return NOTHING
        if len(self._places) != len(arrays):
            arrays = [arrays[i] for i in self._places]
        for find in self._reads:
            arrays.append(find(_EMPTY)._array)
        outs = [EagerTensor(a, UNFOLLOWED) for a in self._run(arrays)]
        result = self._fill(outs)
        if self._assigns:
            self._concrete.assign(_EMPTY, outs)
        return result


def _filler(plan: Any) -> Callable[[Sequence[Any]], Any]:
    """Return what fills in a planned result."""
    kind = type(plan)
    if kind is Result:
        place = plan.place
        return lambda outs: outs[place]
    if kind in (tuple, list) and all(type(p) in (Result, tuple, list) for p in plan):
        rows = [_filler(p) for p in plan]
        if kind is tuple:
            return lambda outs: tuple([row(outs) for row in rows])
        return lambda outs: [row(outs) for row in rows]
    return lambda outs: filled(plan, outs)
