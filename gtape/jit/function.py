"""`Function`: when to trace, and which trace a call uses."""

from __future__ import annotations

import functools
import threading
import types
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from gtape import config, dispatch
from gtape.dtypes import default_float
from gtape.errors import ArgumentError, RetraceWarning, TracingError, warn_once
from gtape.interpreter import EagerInterpreter
from gtape.jit.arguments import Arguments, Choice
from gtape.jit.backend.executable import Executable
from gtape.jit.checking import checked
from gtape.jit.concrete import Concrete
from gtape.jit.explaining import described, reason_for, told
from gtape.jit.graph.ir import Graph
from gtape.jit.hooks.calls import call, call_root
from gtape.jit.hooks.captures import note_function, note_outer, note_own, note_setting
from gtape.jit.hooks.facade import HOOKS
from gtape.jit.methods import of_owner
from gtape.jit.quick import NOTHING, Quick
from gtape.jit.reflection import ConcreteFunction
from gtape.jit.schedule.fuse import plan_of
from gtape.jit.schedule.printer import printed
from gtape.jit.services import TracingServices
from gtape.jit.shapes import generalized
from gtape.jit.signature import Binder, Bound, pinned
from gtape.jit.specs import InputSignature
from gtape.jit.tracing.number import Pin
from gtape.jit.tracing.tracer import Trace, Tracer
from gtape.ops.common import name_of, require_flag

MOST_TRACES = 8
"""After so many traces of a function a warning names the cause."""

MOST_KEPT = 256
"""So many traces of a function are kept; the oldest go first."""


class Function:
    """A Python function that is traced to a graph, once for each kind of arguments.

    Made by `gt.function`, whose documentation tells what it does.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Sequence[Any] | None,
        autograph: bool,
        check: bool,
        optimize: bool,
        compiled: bool | None,
    ) -> None:
        self.python_function = python_function
        self.name = name_of("function", python_function)
        self._binder = Binder(python_function, self.name)
        self._specs = (
            None
            if input_signature is None
            else InputSignature(self.name, input_signature, self._binder)
        )
        self.autograph = require_flag("function", "autograph", autograph)
        self._check = require_flag("function", "check", check)
        self._optimize = require_flag("function", "optimize", optimize)
        self._compiled = compiled
        if compiled is not None:
            self._compiled = require_flag("function", "jit_compile", compiled)
        self._quick: Quick | None = None
        self._families: dict[Any, list[Concrete]] = {}
        self._changing: set[Any] = set()  # places of numbers that are inputs
        self._constant: set[Any] = set()  # places of numbers that Python needs
        self._asked: dict[Any, frozenset[int]] = {}  # variables whose identity matters
        self._pins: dict[Any, frozenset[int]] = {}
        self._lock = threading.RLock()
        self._traces: list[tuple[Any, Concrete]] = []  # with their keys, oldest first
        self._stories: deque[tuple[int, str]] = deque(maxlen=MOST_KEPT)
        self._count = 0
        functools.update_wrapper(self, python_function, updated=())

    def for_method(self, method: Callable[..., Any]) -> Function:
        """Return a function with the same options for the method of an object."""
        specs = None if self._specs is None else self._specs.specs
        options = self.autograph, self._check, self._optimize, self._compiled
        return Function(method, specs, *options)

    # --- Calls ------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph for these arguments, traced if there is none yet."""
        quick = self._quick
        if quick is not None and not kwargs and not config.settings.eager:
            out = quick.call(args)
            if out is not NOTHING:
                return out
        interpreter = dispatch.interpreter()
        if config.settings.eager or not isinstance(interpreter, EagerInterpreter):
            if self._specs is not None:
                args, kwargs = self._specs.fitted(args, kwargs)
            if isinstance(interpreter, Tracer) and self.autograph:
                return call(HOOKS, self.python_function, *args, **kwargs)
            return self.python_function(*args, **kwargs)
        bound = self.bind(args, kwargs)
        concrete = self._find(bound)
        if concrete is None:
            with self._lock:
                concrete = self._find(bound) or self._traced(bound, True)
        if self._check and not concrete.created:
            return checked(self.python_function, concrete, bound)
        if self._specs is None:
            self._quick = Quick.of(concrete, bound)
        return concrete.run(bound)

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Bound:
        """Return the arguments of a call, converted to the input signature."""
        if self._specs is not None:
            args, kwargs = self._specs.fitted(args, kwargs)
        return self._binder.taken_apart(args, kwargs)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """Return the function as a method of an object, which has traces of its own."""
        if owner is None:
            return self
        method = types.MethodType(self.python_function, owner)
        return of_owner(owner, self, lambda: self.for_method(method))

    def __reduce__(self) -> str | tuple[Any, ...]:
        qualified = getattr(self, "__qualname__", self.name)
        return str(qualified)  # pickled by name, as Python's functions are

    def __deepcopy__(self, memo: Any) -> Function:
        return self

    # --- Traces -----------------------------------------------------------------------

    def _key(self, bound: Bound) -> Any:
        pins = self._pins.get(bound.key)
        if not pins:
            return bound.key
        return bound.key, tuple([pinned(bound.leaves[i].value) for i in sorted(pins)])

    def _find(self, bound: Bound) -> Concrete | None:
        for concrete in reversed(self._families.get(self._key(bound), ())):
            if concrete.fits(bound) and concrete.broken() is None:
                return concrete
        return None

    def _traced(self, bound: Bound, runs: bool) -> Concrete:
        """Trace the function for a call.

        Args:
            bound: The arguments.
            runs: Whether the trace is run at once. If it makes variables, it serves
                this call only.
        """
        first = self._count == 0
        for concrete in self._families.get(self._key(bound), ()):
            self._changing |= concrete.other_numbers() - self._constant
        reason = reason_for([c for _, c in self._traces], bound)
        made = self._attempted(bound, reason)
        if made.created and first:
            reason = "traced again: the first trace made variables"
            undo = made.writes.apply_static(bound)
            try:
                again = self._attempted(bound, reason)
                self._refuse_variables(again)
            except BaseException:
                runs = True
                raise
            finally:
                for step in undo if runs else ():
                    step()
            self._keep(bound, again)
            return made if runs else again
        self._refuse_variables(made)
        self._keep(bound, made)
        if self._count == MOST_TRACES:
            warn_once(
                f"{self.name} has been traced {self._count} times; last: {reason}. "
                "Every trace takes time: pass tensors in place of Python values, or "
                "see explain()",
                RetraceWarning,
            )
        return made

    def _refuse_variables(self, concrete: Concrete) -> None:
        if concrete.created:
            names = ", ".join(v.name for v in concrete.created)
            raise ArgumentError(
                f"{self.name} makes variables ({names}) when it is traced again",
                "Make variables once: before the function, or under `if self.v is "
                "None`",
            )

    def _keep(self, bound: Bound, concrete: Concrete) -> None:
        """Keep a trace for further calls; there is an end to how many are kept."""
        key = self._key(bound)
        self._families[key] = [*self._families.get(key, ()), concrete]
        self._traces.append((key, concrete))
        while len(self._traces) > MOST_KEPT:
            old, gone = self._traces.pop(0)
            left = [c for c in self._families[old] if c is not gone]
            if left:
                self._families[old] = left
            else:
                del self._families[old]

    def _attempted(self, bound: Bound, reason: str) -> Concrete:
        """Trace, with as few constants among the arguments as the function allows."""
        held = self._asked.get(bound.key, frozenset())
        merged = False
        while True:
            pins = self._pins.get(bound.key, frozenset())
            try:
                made = self._traced_once(bound, Choice(pins, held, merged), reason)
            except Pin as pin:
                held |= self._pin(bound, pin, pins | held)
                continue
            more = made.captured_places(bound) - held
            if more:
                held |= more
            elif made.shares() and not merged:
                merged = True
            else:
                self._count += 1
                self._stories.append((self._count, told(made)))
                return made

    def _pin(self, bound: Bound, pin: Pin, known: frozenset[int]) -> frozenset[int]:
        """Make arguments constants, and return those that are variables."""
        places = {s for s in pin.sources if isinstance(s, int)}
        outside = {s for s in pin.sources if isinstance(s, tuple)} & self._changing
        self._changing -= outside
        self._constant |= outside
        if not outside and not places - known:
            raise TracingError(
                "Python needs the number of a traced value, which is known only when "
                "the function runs",
                "Index tensors with it, not lists, and keep it out of shapes",
            )
        held = frozenset(i for i in places if bound.leaves[i].kind == "variable")
        if held:
            self._asked[bound.key] = self._asked.get(bound.key, frozenset()) | held
        if places - held:
            before = self._pins.get(bound.key, frozenset())
            self._pins[bound.key] = before | (places - held)
        return held

    def _traced_once(self, bound: Bound, choice: Choice, reason: str) -> Concrete:
        services = TracingServices(self.autograph, frozenset(self._changing))
        trace = Trace(self.name, services)
        family = self._families.get(self._key(bound), ())
        specs = None if self._specs is None else self._specs.by_leaf
        shapes = generalized(trace, bound.leaves, [c.shapes for c in family], specs)
        arguments = Arguments(trace, bound, shapes, choice)
        try:
            with trace.root.tracing():
                note_setting("default float", "gt.default_float()", default_float)
                for value in (*arguments.values, *arguments.containers):
                    note_own(value)
                out = self._called(arguments)
            concrete = Concrete(
                self.name,
                trace,
                bound,
                shapes,
                arguments,
                choice,
                out,
                reason,
                self._optimize,
                config.jit_compile() if self._compiled is None else self._compiled,
            )
        finally:
            trace.root.region.restore()
            for capture in trace.captures.values():
                capture.restore()
        for i in sorted(choice.pins):
            leaf = bound.leaves[i]
            concrete.notes.append(
                f"argument {leaf.name!r} is part of the signature by its value "
                f"{leaf.value!r}: Python needs the number"
            )
        return concrete

    def _called(self, arguments: Arguments) -> Any:
        function, args = self.python_function, arguments.args
        if not self.autograph:
            note_function(getattr(function, "__func__", function))
            return function(*args, **arguments.kwargs)
        if isinstance(function, types.MethodType):
            note_outer(function.__self__)
            args = (function.__self__, *args)
            function = function.__func__
        return call_root(HOOKS, function, args, arguments.kwargs)

    # --- Looking into it --------------------------------------------------------------

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs that all calls must fit, if there are any."""
        return None if self._specs is None else self._specs.specs

    @property
    def trace_count(self) -> int:
        """How often the function has been traced."""
        return self._count

    def experimental_get_tracing_count(self) -> int:
        """Return how often the function has been traced, under TensorFlow's name."""
        return self._count

    def concrete(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the trace for arguments, or for `TensorSpec`s in their places.

        Args:
            *args: As in a call; a `gt.TensorSpec` stands for any tensor of its kind.
            **kwargs: The same, by name.
        """
        bound = self._spec_bound(args, kwargs)
        return ConcreteFunction(self.name, self._concrete(bound), bound, self.bind)

    get_concrete_function = concrete

    def _concrete(self, bound: Bound) -> Concrete:
        with self._lock:
            return self._find(bound) or self._traced(bound, False)

    def _spec_bound(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Bound:
        if self._specs is not None and not args and not kwargs:
            return self._binder.taken_apart(self._specs.specs, {})
        return self.bind(args, kwargs)

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the graph for arguments, after the passes; printed, it is text.

        Args:
            *args: As in a call; a `gt.TensorSpec` stands for any tensor of its kind.
            **kwargs: The same, by name.

        Example:
            >>> import gtape as gt
            >>> print(gt.function(lambda x: x * x + 1.0).graph(gt.constant(2.0)))
            graph(%0: float32[]):
              %1: float32[] = multiply %0, %0
              %2: float32[] = add %1, float32(1.0)
              return %2
        """
        return self._concrete(self._spec_bound(args, kwargs)).program.optimised

    def plan(self, *args: Any, **kwargs: Any) -> str:
        """Return what runs for arguments, step by step, as text.

        Args:
            *args: As in a call; a `gt.TensorSpec` stands for any tensor of its kind.
            **kwargs: The same, by name.

        Example:
            >>> import gtape as gt
            >>> f = gt.function(lambda x: gt.reduce_sum(gt.exp(x) * x))
            >>> print(f.plan(gt.ones([100])).partition(",")[0])
            kernel over [100]: 2 operations
        """
        return printed(plan_of(self.graph(*args, **kwargs)))

    def code(self, *args: Any, **kwargs: Any) -> str:
        """Return the machine code for arguments as LLVM has it, as text.

        Args:
            *args: As in a call; a `gt.TensorSpec` stands for any tensor of its kind.
            **kwargs: The same, by name.

        Raises:
            NotCompiledError: If the graph holds what is not compiled.
        """
        return Executable(self.graph(*args, **kwargs)).code()

    def explain(self) -> str:
        """Return why each trace was made, in plain words, and what is special in it."""
        return described(self.name, self._stories, self._count)

    def pretty_printed_concrete_signatures(self) -> str:
        """Return the signatures of all traces, a line each."""
        return "\n".join(f"{self.name}({c.signature()})" for _, c in self._traces)

    def __repr__(self) -> str:
        return f"<gt.function {self.name}, traced {self._count} times>"
