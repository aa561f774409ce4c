"""`Generator`: a seed and a counter that each draw advances; and the global one."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from gtape import philox
from gtape.dtypes import DTypeLike
from gtape.errors import ArgumentError, TensorMemoryError
from gtape.ops import distributions
from gtape.ops.common import Tensor, TensorLike, as_int, as_shape
from gtape.ops.creation import made
from gtape.ops.distributions import ShapeLike
from gtape.ops.draws import seed_number
from gtape.ops.slicing import stack
from gtape.ops.states import State, need_numbers, next_key


def entropy() -> int:
    """Return a seed that the operating system has rolled."""
    return int.from_bytes(os.urandom(8), "little")


_READ = "Read it outside of the function"


class Generator:
    """A source of random numbers that depend on its seed and on how often it has drawn.

    The numbers of a draw are those of the stateless function with the pair
    [seed, counter] for its seed. Threads may share a generator.

    Args:
        seed: An integer of up to 64 bits.
        counter: How often it has drawn.

    Raises:
        ArgumentError: If the seed or the counter has more than 64 bits.

    Example:
        >>> import gtape as gt
        >>> g = gt.random.Generator.from_seed(7)
        >>> first, second = g.normal([2]), g.normal([2])
        >>> again = gt.random.stateless_normal([2], seed=[7, 1])
        >>> bool(gt.reduce_all(second == again)), bool(gt.reduce_all(first == again))
        (True, False)
    """

    def __init__(self, seed: int, counter: int = 0) -> None:
        count = as_int("Generator", "counter", counter)
        if not 0 <= count < 2**64:
            raise ArgumentError(
                f"Generator: counter {count} is not one of 0 to 2**64 - 1",
                "Use the counter of another generator, or 0",
            )
        number = seed_number("Generator", seed)
        self._state = State(number, count)
        self._state.begin(number, count)

    @classmethod
    def from_seed(cls, seed: int) -> Generator:
        """Return a generator that gives the same numbers in every run."""
        return cls(seed)

    @classmethod
    def from_state(cls, state: tuple[int, int]) -> Generator:
        """Return a generator that goes on where one with this state would."""
        if not isinstance(state, (tuple, list)) or len(state) != 2:
            raise ArgumentError(
                f"Generator.from_state: {state!r} is not a pair of seed and counter",
                "Give the state of another generator",
            )
        return cls(*state)

    @classmethod
    def from_non_deterministic_state(cls) -> Generator:
        """Return a generator whose seed the operating system has rolled."""
        need_numbers("Generator.from_non_deterministic_state", "Make it outside")
        return cls(entropy())

    @property
    def seed(self) -> int:
        """The seed, from 0 to 2**64 - 1."""
        need_numbers("Generator.seed", _READ)
        return self._state.seed

    @property
    def counter(self) -> int:
        """How often the generator has drawn."""
        need_numbers("Generator.counter", _READ)
        return self._state.counter

    @property
    def state(self) -> tuple[int, int]:
        """The seed and the counter, to be saved."""
        need_numbers("Generator.state", _READ)
        return self._state.seed, self._state.counter

    def reset(self, seed: int) -> None:
        """Begin anew with a seed."""
        self._state.begin(seed_number("Generator.reset", seed))

    def split(self, count: int = 1) -> list[Generator]:
        """Return new generators, independent of each other and of this one.

        Args:
            count: How many.

        Example:
            >>> import gtape as gt
            >>> a, b = gt.random.Generator.from_seed(7).split(2)
            >>> a.seed == b.seed
            False
        """
        [number] = as_shape("Generator.split", as_int("Generator", "count", count))
        if number > 2**32:
            raise TensorMemoryError(f"Generator.split: {number} of them", "Use fewer")
        need_numbers(
            "Generator.split", "Split it outside, or use make_seeds in the function"
        )
        parent = int(philox.fold(*self._state.advance()))
        return [Generator(int(seed)) for seed in philox.split(parent, number)]

    def make_seeds(self, count: int = 1) -> Tensor:
        """Return seeds for stateless functions: the columns of an int64 tensor.

        Args:
            count: How many.

        Example:
            >>> import gtape as gt
            >>> seeds = gt.random.Generator.from_seed(7).make_seeds(3)
            >>> seeds.shape, gt.random.stateless_uniform([2], seed=seeds[:, 0]).shape
            (TensorShape([2, 3]), TensorShape([2]))
        """
        [number] = as_shape("Generator.make_seeds", as_int("Generator", "count", count))
        key = next_key(self._state)
        seeds = distributions.integers(
            "Generator.make_seeds", key, (number,), -(2**63), 2**63, "int64"
        )
        return stack([seeds, made(np.zeros(number, np.int64))])

    # --- Draws ------------------------------------------------------------------------

    def uniform(
        self,
        shape: ShapeLike,
        minval: TensorLike = 0,
        maxval: TensorLike = None,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """Draw numbers from minval to below maxval, as `gt.random.uniform`."""
        return distributions.uniform(
            "Generator.uniform", next_key(self._state), shape, minval, maxval, dtype
        )

    def randint(
        self,
        shape: ShapeLike,
        minval: TensorLike,
        maxval: TensorLike,
        dtype: DTypeLike = "int32",
    ) -> Tensor:
        """Draw integers from minval to maxval - 1, as `gt.random.randint`."""
        return distributions.integers(
            "Generator.randint", next_key(self._state), shape, minval, maxval, dtype
        )

    def normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """Draw normal numbers, as `gt.random.normal`."""
        return distributions.normal(
            "Generator.normal", next_key(self._state), shape, mean, stddev, dtype
        )

    def truncated_normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """Draw normal numbers near the mean, as `gt.random.truncated_normal`."""
        name = "Generator.truncated_normal"
        key = next_key(self._state)
        return distributions.truncated_normal(name, key, shape, mean, stddev, dtype)

    def bernoulli(self, shape: ShapeLike, p: TensorLike = 0.5) -> Tensor:
        """Draw bools that are true with probability p, as `gt.random.bernoulli`."""
        key = next_key(self._state)
        return distributions.bernoulli("Generator.bernoulli", key, shape, p)

    def categorical(
        self, logits: TensorLike, num_samples: int, dtype: DTypeLike = "int64"
    ) -> Tensor:
        """Draw classes from the softmax of logits, as `gt.random.categorical`."""
        return distributions.categorical(
            "Generator.categorical", next_key(self._state), logits, num_samples, dtype
        )

    def gamma(
        self,
        shape: ShapeLike,
        alpha: TensorLike,
        beta: TensorLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """Draw gamma numbers, as `gt.random.gamma`."""
        return distributions.gamma(
            "Generator.gamma", next_key(self._state), shape, alpha, beta, dtype
        )

    def permutation(self, size: int) -> Tensor:
        """Draw an order of the numbers below size, as `gt.random.permutation`."""
        key = next_key(self._state)
        return distributions.permutation("Generator.permutation", key, size)

    def shuffle(self, value: TensorLike) -> Tensor:
        """Return the rows of a tensor in a random order, as `gt.random.shuffle`."""
        return distributions.shuffle("Generator.shuffle", next_key(self._state), value)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.state

    def __repr__(self) -> str:
        seed, counter = self._state.seed, self._state.counter
        return f"<gt.random.Generator: seed={seed}, counter={counter}>"


# --- The global generator -------------------------------------------------------------


class _Global:
    """The generator of those who bring none, and the states of the `seed` arguments.

    Args:
        base: What the `seed` arguments are combined with until `set_seed` is called.
    """

    def __init__(self, base: int = 0) -> None:
        self.generator = Generator.from_non_deterministic_state()
        self._lock = threading.Lock()
        self._base = base
        self._seeded: dict[int, State] = {}

    def set_seed(self, seed: int) -> None:
        need_numbers("random.set_seed", "Call it outside, or use a Generator")
        with self._lock:
            self._base = seed
            # The same objects, since functions that have been traced hold them.
            for number, state in self._seeded.items():
                state.reset(int(philox.fold(seed, number)))
        self.generator.reset(seed)

    def seeded(self, seed: int) -> State:
        """Return the state of a `seed` argument, which all calls with it share."""
        with self._lock:
            state = self._seeded.get(seed)
            if state is None:
                state = State(int(philox.fold(self._base, seed)))
                self._seeded[seed] = state
        return state


_global = _Global()


def set_seed(seed: int) -> None:
    """Begin the global generator, and all `seed` arguments, anew.

    Without it the numbers differ from run to run, except those of calls with a `seed`
    argument. Generators that are held elsewhere go on as they are.

    Args:
        seed: An integer of up to 64 bits.

    Raises:
        ArgumentTypeError: If it is not an integer.
        ArgumentError: If it has more than 64 bits.

    Example:
        >>> import gtape as gt
        >>> gt.random.set_seed(7)
        >>> first = gt.random.normal([2])
        >>> gt.random.set_seed(7)
        >>> bool(gt.reduce_all(gt.random.normal([2]) == first))
        True
    """
    _global.set_seed(seed_number("random.set_seed", seed))


def get_global_generator() -> Generator:
    """Return the generator that the functions of `gt.random` draw from.

    Example:
        >>> import gtape as gt
        >>> gt.random.set_seed(7)
        >>> gt.random.get_global_generator()
        <gt.random.Generator: seed=7, counter=0>
    """
    return _global.generator


def global_key(name: str, seed: int | None) -> Tensor:
    """Return the key of the next draw of the global generator, or of a `seed`."""
    if seed is None:
        return next_key(_global.generator._state)
    return next_key(_global.seeded(seed_number(name, seed)))
