"""The learning rate of an optimizer: a number, a schedule or a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from gtape import dispatch
from gtape.dispatch import services
from gtape.errors import ArgumentError
from gtape.ops.common import convert
from gtape.optim.arguments import in_range, takes_argument
from gtape.variable import Variable

_NO_OPTIONS = ("name", "scratch", "packs")  # public attributes that no rule reads

Rate: TypeAlias = "float | Callable[..., Any] | Variable"
"""A learning rate: a number, a function of the updates done so far, or a variable."""


class HasRate:
    """What has a learning rate, and tells traces that it may change."""

    name: str
    _now: tuple[Any, Any] | None = None  # step and rate while applying

    @property
    def learning_rate(self) -> Rate:
        """The learning rate as it was given: a number, a schedule or a variable."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Rate) -> None:
        self._takes_step = False
        if isinstance(value, Variable):
            if value.ndim or not value.dtype.is_floating:
                raise ArgumentError(
                    f"{self.name}: learning_rate is a variable of shape "
                    f"{tuple(value.shape)} and dtype {value.dtype}",
                    "Use a scalar of a floating-point dtype",
                )
            self._learning_rate: Rate = value
        elif callable(value):
            self._takes_step = takes_argument(value)
            self._learning_rate = value
        elif hasattr(value, "sources") and services() is not None:
            self._learning_rate = value  # a number that the trace itself computes
        else:
            self._learning_rate = in_range(self, "learning_rate", value, "[0, inf)")

    def rate(self, step: Any) -> Any:
        """Return the learning rate of an update: a number, or what a schedule returns.

        Args:
            step: The number of the update, from 1. A schedule is asked at step - 1, the
                number of updates done before: an int, or what stands for one in a
                trace.
        """
        if self._now is not None and self._now[0] is step:
            return self._now[1]
        return self._rate_after(step - 1)

    def _rate_after(self, done: Any) -> Any:
        """Return the learning rate after a number of updates."""
        traced = services()
        if traced is not None:
            self._tell(traced)
        rate: Any = self._learning_rate
        if isinstance(rate, Variable):
            return convert(rate)
        if callable(rate):
            return dispatch.invoke(rate, *([done] if self._takes_step else []))
        # In a trace a number that every call reads again, so that it can change.
        return rate if traced is None else traced.host_number(self, "learning_rate")

    def _tell(self, traced: Any) -> None:
        """Tell a trace on which attributes it depends."""
        for name in vars(self):
            if not (name.startswith("_") or name in _NO_OPTIONS):
                traced.depends(self, name)

        def schedule() -> Any:
            rate = self._learning_rate
            return rate if callable(rate) or isinstance(rate, Variable) else float

        traced.depends_on(self, f"the learning rate of {self.name}", schedule)
