"""`GradientTape`: records what depends on watched values, and gives gradients of it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from gtape import dispatch, nest
from gtape.backprop import pull_back
from gtape.dtypes import is_differentiable
from gtape.errors import (
    GradientError,
    TapeError,
    TapeStateError,
    WatchError,
    warn_once,
)
from gtape.explain import Explanation, explain
from gtape.jacobians import (
    batch_jacobian,
    check_batch,
    check_unconnected,
    full_like,
    jacobians,
    own,
    seeded,
    single,
    tensors_of,
)
from gtape.record import Record
from gtape.tensor import Tensor
from gtape.variable import Variable


class UnconnectedGradients:
    """What `gradient` returns for a source on which the target does not depend."""

    NONE = "none"
    ZERO = "zero"
    ERROR = "error"


class GradientTape:
    """Records the operations of a block, so that their gradients can be taken.

    It records what depends on a watched value: trainable variables when they are read,
    and whatever `watch` is given. Tapes nest to any order.

    Args:
        persistent: Whether gradients can be taken more than once. The values of the
            block then stay in memory as long as the tape.
        watch_accessed_variables: Whether trainable variables are watched when they are
            read.

    Example:
        >>> import gtape as gt
        >>> x = gt.Variable(3.0)
        >>> with gt.GradientTape() as tape:
        ...     y = x * x
        >>> tape.gradient(y, x)
        <gt.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(
        self, persistent: bool = False, watch_accessed_variables: bool = True
    ) -> None:
        self._persistent = persistent
        self._record = Record(watch_accessed_variables)
        self._active = False
        self._entered = False
        self._used = False

    # --- Life -------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        if self._active:
            raise TapeStateError(
                "the tape is still recording: it cannot be entered again",
                "Use a second tape, or leave the block first",
            )
        if self._used:
            self._clear()
        self._active = self._entered = True
        self._record.thread = threading.get_ident()
        dispatch.push_recorder(self._record)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._active:
            self._stop()

    def _stop(self) -> None:
        if self._record.thread != threading.get_ident():
            raise TapeStateError(
                "the tape is recording in another thread",
                "Leave its block there first",
            )
        self._active = False
        dispatch.pop_recorder(self._record)

    def _clear(self) -> None:
        self._record = Record(self._record.watch_accessed)
        self._used = False

    def reset(self) -> None:
        """Forget everything recorded and watched so far; inside the block only.

        Raises:
            TapeError: If the tape is not recording.
        """
        if not self._active:
            raise TapeStateError(
                "reset: the tape is not recording", "Call it in the block"
            )
        self._stop()
        self._clear()
        self._active = True
        dispatch.push_recorder(self._record)

    def stop_recording(self) -> contextlib.AbstractContextManager[None]:
        """Do not record the operations of an inner block: their results are constants.

        Raises:
            TapeError: If the tape is not recording.
        """
        if not self._active:
            kind = TapeStateError if self._entered else TapeError
            raise kind(
                "stop_recording: the tape is not recording",
                "Use it inside the tape's block",
            )
        return self._paused()

    @contextlib.contextmanager
    def _paused(self) -> Iterator[None]:
        self._stop()
        try:
            yield
        finally:
            self._active = True
            dispatch.push_recorder(self._record)

    # --- Recording --------------------------------------------------------------------

    def watch(self, tensor: Any) -> None:
        """Watch tensors or variables: what is computed from them is recorded.

        Args:
            tensor: A tensor, a variable, or a nested structure of these.

        Raises:
            WatchError: If it is something else, such as a NumPy array.
            TapeError: If the tape has not been entered yet.
        """
        if not self._entered:
            raise TapeError(
                "watch: the tape has not been entered",
                "Call it inside the tape's block",
            )
        for leaf in nest.flatten(tensor):
            if not issubclass(type(leaf), (Tensor, Variable)):
                raise WatchError(
                    f"watch: {leaf!r} of type {type(leaf).__name__} is neither a "
                    "tensor nor a variable",
                    "Make it one with gt.constant or gt.Variable",
                )
            if not is_differentiable(leaf.dtype.dtype):
                warn_once(
                    f"watch: a value of {leaf.dtype} has no gradient; use a "
                    "floating-point dtype"
                )
            if leaf._key <= 0:
                leaf._key = dispatch.next_key()
            self._record.known.add(leaf._key)
            if isinstance(leaf, Variable):
                self._record.variables[leaf._key] = leaf

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the watched variables in order of their creation."""
        variables = self._record.variables
        return tuple([variables[key] for key in sorted(variables)])

    # --- Gradients --------------------------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> Any:
        """Return the gradient of a target by each source.

        Args:
            target: A tensor or variable, or a nested structure; elements are summed.
            sources: A tensor or variable recorded by the tape, or a nested structure.
            output_gradients: A cotangent for each target, in the structure of the
                target; ones by default, and for entries that are `None`.
            unconnected_gradients: For a source on which the target does not depend:
                "none" for `None`, "zero" for zeros, "error" for a GradientError.

        Returns:
            Tensors (or `None`) in the structure of the sources, each of its source's
            shape and dtype.

        Raises:
            TapeError: If the tape is not persistent and has been used.
            ArgumentTypeError: If a target or source is not a tensor or variable.

        Example:
            >>> import gtape as gt
            >>> w, b = gt.Variable(2.0), gt.Variable(1.0)
            >>> with gt.GradientTape() as tape:
            ...     y = w * 3.0 + b
            >>> [float(g) for g in tape.gradient(y, [w, b])]
            [3.0, 1.0]
        """
        check_unconnected("gradient", unconnected_gradients)
        targets = tensors_of("gradient", "target", target)
        leaves = tensors_of("gradient", "sources", sources)
        self._start_gradient("gradient")
        known = self._record.known
        wanted = known.intersection([leaf._key for leaf in leaves])
        cotangents = seeded(known, targets, target, output_gradients)
        pull_back(self._record, (cotangents,), wanted, not self._persistent)
        results = []
        for leaf in leaves:
            c = cotangents.get(leaf._key)
            if c is None:
                results.append(self._missing(leaf, unconnected_gradients, targets[0]))
            else:
                results.append(own(c))
        self._finish_gradient()
        if leaves is sources:
            return results if type(sources) is list else tuple(results)
        return nest.pack(sources, iter(results))

    def _start_gradient(self, name: str) -> None:
        if not self._entered:
            raise TapeError(
                f"{name}: the tape has not recorded anything", "Enter it first"
            )
        if self._used:
            raise TapeError(
                f"{name}: the tape has been used and its values are released",
                "For more than one call use GradientTape(persistent=True)",
            )
        if not self._persistent:
            self._used = True
            if self._active:
                self._stop()

    def _missing(
        self, source: Any, unconnected: str, target: Any, shape: Any = None
    ) -> Any:
        """Return what stands for a gradient that does not exist."""
        if unconnected == "none":
            return None
        if unconnected == "zero":
            shape = tuple(source.shape) if shape is None else shape
            return full_like(source, shape, 0)
        raise GradientError(
            "gradient: the target does not depend on a source: "
            f"{self.explain(target, source)}",
            'Use unconnected_gradients="none" to get None',
        )

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: str = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the derivative of each element of a target by each of the sources.

        Args:
            target: A tensor or variable.
            sources: A tensor or variable, or a nested structure of these.
            unconnected_gradients: As for `gradient`.
            parallel_iterations: Accepted for TensorFlow's sake.
            experimental_use_pfor: Accepted for TensorFlow's sake.

        Returns:
            In the structure of the sources, tensors of shape target.shape +
            source.shape.

        Raises:
            TapeError: If the tape is not persistent and has been used.
            ArgumentTypeError: If the target is not one tensor.

        Example:
            >>> import gtape as gt
            >>> v = gt.Variable([1.0, 2.0])
            >>> with gt.GradientTape() as tape:
            ...     y = v * v
            >>> tape.jacobian(y, v).numpy()
            array([[2., 0.],
                   [0., 4.]], dtype=float32)
        """
        check_unconnected("jacobian", unconnected_gradients)
        leaf = single("jacobian", "target", target)
        leaves = tensors_of("jacobian", "sources", sources)
        self._start_gradient("jacobian")
        found = jacobians(self._record, leaf, leaves)
        results = [
            self._missing(
                source, unconnected_gradients, leaf, (*leaf.shape, *source.shape)
            )
            if j is None
            else j
            for source, j in zip(leaves, found, strict=True)
        ]
        self._finish_gradient()
        return nest.pack(sources, iter(results))

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: str = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the jacobian of each row of a target by the same row of a source.

        Args:
            target: A tensor of shape [b, ...], each row of which depends on that row of
                the source only.
            source: A tensor or variable of shape [b, ...].
            unconnected_gradients: Accepted for TensorFlow's sake: zeros where
                unconnected.
            parallel_iterations: Accepted for TensorFlow's sake.
            experimental_use_pfor: Accepted for TensorFlow's sake.

        Returns:
            A tensor of shape [b, *target.shape[1:], *source.shape[1:]].

        Raises:
            ShapeError: If a rank is below 2 or the first sizes differ.

        Example:
            >>> import gtape as gt
            >>> m = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
            >>> with gt.GradientTape() as tape:
            ...     y = m * m
            >>> tape.batch_jacobian(y, m).numpy()[1]
            array([[6., 0.],
                   [0., 8.]], dtype=float32)
        """
        y = single("batch_jacobian", "target", target)
        x = single("batch_jacobian", "source", source)
        check_batch(y, x)
        self._start_gradient("batch_jacobian")
        out = batch_jacobian(self._record, y, x)
        self._finish_gradient()
        return out

    def _finish_gradient(self) -> None:
        if not self._persistent:
            self._record.drop_contents()

    def explain(self, target: Any, source: Any) -> Explanation:
        """Return why the gradient of a target by a source is `None`, and at which line.

        Args:
            target: The tensor or variable whose gradient was asked for.
            source: The tensor or variable by which.

        Returns:
            An explanation: its `reason` is one word or phrase, its `origin` the line of
            the user's file where the chain ends, its text a sentence with what to do.

        Example:
            >>> import gtape as gt
            >>> x = gt.Variable(3)
            >>> with gt.GradientTape() as tape:
            ...     y = x * x
            >>> tape.explain(y, x).reason
            'integer'
        """
        y = single("explain", "target", target)
        x = single("explain", "source", source)
        return explain(self._record, y, x)
