"""From Python to a differentiated graph: `gt.function`. See ARCHITECTURE.md.

The compiler itself is imported when the first function is decorated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gtape.lazy import Lazy
from gtape.ops.common import name_of

F = TypeVar("F", bound=Callable[..., Any])

_compiler = Lazy("gtape.jit.function")


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = True,
    *,
    check: bool = False,
    optimize: bool = True,
) -> Any:
    """Make a Python function one that is traced to a graph and run as such.

    Control flow that depends on tensors becomes part of the graph: `if`, `while`,
    `for`, `break`, `continue`, `return`, `and`, `or`, conditional expressions, and so
    on. Python values stay Python. A call is traced again only if the arguments'
    structure, dtypes or ranks are new, or something that the function reads outside has
    changed; a size that changes is left open from then on. What the function writes
    outside, it writes on every call.

    Args:
        func: The function; without it, a decorator is returned.
        input_signature: A nested `gt.TensorSpec` for each parameter: what all calls
            must fit. `None` in a shape leaves a size open.
        autograph: Whether control flow is converted.
        jit_compile: Whether the graph is compiled; by default as
            `gt.config.set_jit_compile` says. A graph with operations that have no
            compiled form yet is interpreted.
        reduce_retracing: Accepted for TensorFlow's sake: it is so.
        check: Whether every call runs as plain Python, too, and both must agree.
        optimize: Whether the graph goes through the passes; without, it runs as it was
            traced.

    Returns:
        A function with the attributes `graph`, `concrete`, `explain`, `trace_count`,
        `python_function`, `input_signature`.

    Raises:
        ConversionError: When it is called, if its source cannot be converted.
        TracingError: When it is called, if it does what a graph cannot hold.

    Example:
        >>> import gtape as gt
        >>> @gt.function
        ... def collatz(n):
        ...     steps = 0
        ...     while n != 1:
        ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
        ...         steps += 1
        ...     return steps
        >>> int(collatz(gt.constant(27)))
        111
    """
    del reduce_retracing

    def decorate(python_function: Callable[..., Any]) -> Any:
        return _compiler.Function(
            python_function, input_signature, autograph, check, optimize, jit_compile
        )

    return decorate if func is None else decorate(func)


def do_not_convert(func: F) -> F:
    """Decorate a function to be called as it is in traced functions.

    Its conditions and loops stay Python's; they cannot test traced tensors.

    Args:
        func: The function.

    Example:
        >>> import gtape as gt
        >>> @gt.do_not_convert
        ... def twice(x):
        ...     return x + x
        >>> float(gt.function(lambda x: twice(x))(gt.constant(1.5)))
        3.0
    """
    name_of("do_not_convert", func)
    func.__gtape_as_is__ = True  # type: ignore[attr-defined]
    return func
