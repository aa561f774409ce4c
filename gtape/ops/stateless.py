"""Random numbers that depend on their arguments only: the same seed, the same numbers.

A seed is an integer or a pair [a, b], also as a tensor; a alone stands for [a, 0].
Different functions called with one seed share their random bits, so give each its own.
"""

from __future__ import annotations

from gtape.dtypes import DTypeLike
from gtape.ops import distributions
from gtape.ops.common import Tensor, TensorLike
from gtape.ops.distributions import ShapeLike
from gtape.ops.draws import key_from


def stateless_uniform(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return the uniform numbers of a seed; see `uniform`.

    Args:
        shape: The shape of the result.
        seed: An integer or a pair of them.
        minval: The least number.
        maxval: The number below which all lie; 1 by default for floats.
        dtype: The dtype; the default float if none is given.

    Example:
        >>> import gtape as gt
        >>> a = gt.random.stateless_uniform([3], seed=[1, 2])
        >>> b = gt.random.stateless_uniform([3], seed=[1, 2])
        >>> bool(gt.reduce_all(a == b))
        True
    """
    name = "random.stateless_uniform"
    key = key_from(name, seed)
    return distributions.uniform(name, key, shape, minval, maxval, dtype)


def stateless_randint(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike,
    maxval: TensorLike,
    dtype: DTypeLike = "int32",
) -> Tensor:
    """Return the integers of a seed, from minval to maxval - 1; see `randint`.

    Args:
        shape: The shape of the result.
        seed: An integer or a pair of them.
        minval: The least integer.
        maxval: The integer below which all lie.
        dtype: An integer dtype.

    Example:
        >>> import gtape as gt
        >>> bool(gt.reduce_all(gt.random.stateless_randint([9], 1, 0, 6) < 6))
        True
    """
    name = "random.stateless_randint"
    key = key_from(name, seed)
    return distributions.integers(name, key, shape, minval, maxval, dtype)


def stateless_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return the normal numbers of a seed; see `normal`.

    Args:
        shape: The shape of the result.
        seed: An integer or a pair of them.
        mean: The mean, broadcast to the shape.
        stddev: The standard deviation, broadcast to the shape.
        dtype: The dtype; the default float if none is given.

    Example:
        >>> import gtape as gt
        >>> gt.random.stateless_normal([2, 3], seed=1).shape
        TensorShape([2, 3])
    """
    name = "random.stateless_normal"
    key = key_from(name, seed)
    return distributions.normal(name, key, shape, mean, stddev, dtype)


def stateless_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return the truncated normal numbers of a seed; see `truncated_normal`.

    Args:
        shape: The shape of the result.
        seed: An integer or a pair of them.
        mean: The mean, broadcast to the shape.
        stddev: The deviation, of which all numbers lie within two from the mean.
        dtype: The dtype; the default float if none is given.

    Example:
        >>> import gtape as gt
        >>> x = gt.random.stateless_truncated_normal([9], seed=1)
        >>> bool(gt.reduce_all(gt.abs(x) <= 2.0))
        True
    """
    name = "random.stateless_truncated_normal"
    key = key_from(name, seed)
    return distributions.truncated_normal(name, key, shape, mean, stddev, dtype)


def stateless_bernoulli(
    shape: ShapeLike, seed: TensorLike, p: TensorLike = 0.5
) -> Tensor:
    """Return the bools of a seed, true with probability p; see `bernoulli`.

    Args:
        shape: The shape of the result.
        seed: An integer or a pair of them.
        p: The probability, broadcast to the shape.

    Example:
        >>> import gtape as gt
        >>> gt.random.stateless_bernoulli([2], seed=1, p=1.0).numpy()
        array([ True,  True])
    """
    name = "random.stateless_bernoulli"
    return distributions.bernoulli(name, key_from(name, seed), shape, p)


def stateless_categorical(
    logits: TensorLike, num_samples: int, seed: TensorLike, dtype: DTypeLike = "int64"
) -> Tensor:
    """Return the classes of a seed, as the softmax of logits; see `categorical`.

    Args:
        logits: Unnormalized log-probabilities, classes along the last axis.
        num_samples: The number of draws for each row.
        seed: An integer or a pair of them.
        dtype: An integer dtype.

    Example:
        >>> import gtape as gt
        >>> logits = gt.log([[0.0, 1.0]])
        >>> gt.random.stateless_categorical(logits, 3, seed=1).numpy()
        array([[1, 1, 1]])
    """
    name = "random.stateless_categorical"
    key = key_from(name, seed)
    return distributions.categorical(name, key, logits, num_samples, dtype)


def stateless_gamma(
    shape: ShapeLike,
    seed: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return the gamma numbers of a seed; see `gamma`.

    Args:
        shape: The shape of the result, that of the parameters included.
        seed: An integer or a pair of them.
        alpha: The shape parameter, above 0, broadcast to the shape.
        beta: The rate, above 0, broadcast to the shape; 1 by default.
        dtype: The dtype; the default float if none is given.

    Example:
        >>> import gtape as gt
        >>> gt.random.stateless_gamma([5, 2], seed=1, alpha=[1.0, 2.0]).shape
        TensorShape([5, 2])
    """
    name = "random.stateless_gamma"
    key = key_from(name, seed)
    return distributions.gamma(name, key, shape, alpha, beta, dtype, each=False)


def stateless_permutation(size: int, seed: TensorLike) -> Tensor:
    """Return the order that a seed gives to the numbers below size; see `permutation`.

    Args:
        size: How many numbers.
        seed: An integer or a pair of them.

    Example:
        >>> import gtape as gt
        >>> sorted(gt.random.stateless_permutation(4, seed=1).numpy().tolist())
        [0, 1, 2, 3]
    """
    name = "random.stateless_permutation"
    return distributions.permutation(name, key_from(name, seed), size)


def stateless_shuffle(value: TensorLike, seed: TensorLike) -> Tensor:
    """Return the rows of a tensor in the order that a seed gives; see `shuffle`.

    Args:
        value: A tensor of rank 1 or more.
        seed: An integer or a pair of them.

    Example:
        >>> import gtape as gt
        >>> sorted(gt.random.stateless_shuffle([3, 1, 2], seed=1).numpy().tolist())
        [1, 2, 3]
    """
    name = "random.stateless_shuffle"
    return distributions.shuffle(name, key_from(name, seed), value)
