"""Random numbers: `gt.random`, the same for the same seed, eager and compiled.

The functions here draw from the global generator, and differ from call to call. With a
`seed` argument they draw from a sequence of its own, which that number and `set_seed`
begin: the first call with it after `set_seed` always gives the same numbers, the second
call others. A `Generator` is a sequence that one holds; the `stateless_` functions
depend on their arguments only.
"""

from __future__ import annotations

from gtape.dtypes import DTypeLike
from gtape.ops import distributions
from gtape.ops.common import Tensor, TensorLike
from gtape.ops.distributions import ShapeLike
from gtape.ops.generator import Generator as Generator
from gtape.ops.generator import get_global_generator as get_global_generator
from gtape.ops.generator import global_key
from gtape.ops.generator import set_seed as set_seed
from gtape.ops.stateless import stateless_bernoulli as stateless_bernoulli
from gtape.ops.stateless import stateless_categorical as stateless_categorical
from gtape.ops.stateless import stateless_gamma as stateless_gamma
from gtape.ops.stateless import stateless_normal as stateless_normal
from gtape.ops.stateless import stateless_permutation as stateless_permutation
from gtape.ops.stateless import stateless_randint as stateless_randint
from gtape.ops.stateless import stateless_shuffle as stateless_shuffle
from gtape.ops.stateless import stateless_truncated_normal as stateless_truncated_normal
from gtape.ops.stateless import stateless_uniform as stateless_uniform


def uniform(
    shape: ShapeLike,
    minval: TensorLike = 0,
    maxval: TensorLike = None,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return random numbers, equally likely between minval and maxval.

    Floats are minval + u * (maxval - minval) with u below 1, so that rounding can give
    maxval itself; gradients flow to both.

    Args:
        shape: The shape of the result.
        minval: The least number, broadcast to the shape.
        maxval: The number below which all lie, broadcast to the shape; 1 by default for
            floats.
        dtype: A floating-point or integer dtype; the default float if none is given.
        seed: Begins a sequence of its own.

    Raises:
        ArgumentError: If integers have no maxval, or minval is not below it.
        ShapeError: If minval or maxval does not broadcast to the shape.

    Example:
        >>> import gtape as gt
        >>> x = gt.random.uniform([2, 3], minval=-1.0)
        >>> x.shape, bool(gt.reduce_all(gt.abs(x) <= 1.0))
        (TensorShape([2, 3]), True)
    """
    key = global_key("random.uniform", seed)
    return distributions.uniform("random.uniform", key, shape, minval, maxval, dtype)


def randint(
    shape: ShapeLike,
    minval: TensorLike,
    maxval: TensorLike,
    dtype: DTypeLike = "int32",
    seed: int | None = None,
) -> Tensor:
    """Return random integers, equally likely from minval to maxval - 1.

    Args:
        shape: The shape of the result.
        minval: The least integer, broadcast to the shape.
        maxval: The integer below which all lie, broadcast to the shape.
        dtype: An integer dtype.
        seed: Begins a sequence of its own.

    Raises:
        ArgumentError: If minval is not below maxval.
        RangeError: If a bound does not fit the dtype.

    Example:
        >>> import gtape as gt
        >>> dice = gt.random.randint([100], 1, 7)
        >>> bool(gt.reduce_all((dice >= 1) & (dice <= 6)))
        True
    """
    key = global_key("random.randint", seed)
    return distributions.integers("random.randint", key, shape, minval, maxval, dtype)


def normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return normal random numbers, mean + stddev * z; gradients flow to both.

    Args:
        shape: The shape of the result.
        mean: The mean, broadcast to the shape.
        stddev: The standard deviation, broadcast to the shape.
        dtype: A floating-point dtype; the default float if none is given.
        seed: Begins a sequence of its own.

    Raises:
        ShapeError: If a parameter does not broadcast to the shape.
        DTypeError: If a parameter is a tensor of another dtype.

    Example:
        >>> import gtape as gt
        >>> mean = gt.Variable(5.0)
        >>> with gt.GradientTape() as tape:
        ...     y = gt.random.normal([4], mean)
        >>> tape.gradient(y, mean).numpy()
        np.float32(4.0)
    """
    key = global_key("random.normal", seed)
    return distributions.normal("random.normal", key, shape, mean, stddev, dtype)


def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return normal random numbers given that they lie within two stddev of the mean.

    Args:
        shape: The shape of the result.
        mean: The mean, broadcast to the shape.
        stddev: The deviation before the tails are cut off, broadcast to the shape.
        dtype: A floating-point dtype; the default float if none is given.
        seed: Begins a sequence of its own.

    Raises:
        ShapeError: If a parameter does not broadcast to the shape.
        DTypeError: If a parameter is a tensor of another dtype.

    Example:
        >>> import gtape as gt
        >>> x = gt.random.truncated_normal([100], mean=1.0, stddev=0.5)
        >>> bool(gt.reduce_all((x >= 0.0) & (x <= 2.0)))
        True
    """
    name = "random.truncated_normal"
    key = global_key(name, seed)
    return distributions.truncated_normal(name, key, shape, mean, stddev, dtype)


def bernoulli(shape: ShapeLike, p: TensorLike = 0.5, seed: int | None = None) -> Tensor:
    """Return random bools that are true with probability p.

    Args:
        shape: The shape of the result.
        p: The probability, broadcast to the shape. No gradient flows to it.
        seed: Begins a sequence of its own.

    Raises:
        ArgumentError: If p is a Python number outside of 0 to 1.
        ShapeError: If p does not broadcast to the shape.

    Example:
        >>> import gtape as gt
        >>> gt.random.bernoulli([2], p=[0.0, 1.0]).numpy()
        array([False,  True])
    """
    key = global_key("random.bernoulli", seed)
    return distributions.bernoulli("random.bernoulli", key, shape, p)


def categorical(
    logits: TensorLike,
    num_samples: int,
    dtype: DTypeLike = "int64",
    seed: int | None = None,
) -> Tensor:
    """Return random classes, each as likely as the softmax of the logits says.

    Args:
        logits: Unnormalized log-probabilities of shape [..., classes].
        num_samples: The number of draws for each row.
        dtype: An integer dtype.
        seed: Begins a sequence of its own.

    Returns:
        Classes of shape [..., num_samples].

    Raises:
        ArgumentError: If a row has NaN, inf, or no finite logit.
        ShapeError: If the logits are a scalar.

    Example:
        >>> import gtape as gt
        >>> gt.random.categorical(gt.log([[0.0, 1.0]]), 3).numpy()
        array([[1, 1, 1]])
    """
    name = "random.categorical"
    key = global_key(name, seed)
    return distributions.categorical(name, key, logits, num_samples, dtype)


def gamma(
    shape: ShapeLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return random numbers of gamma distributions.

    Their density is in proportion to x**(alpha - 1) * exp(-beta * x). Gradients flow to
    alpha and beta, with the quantile of each number held; there is no second derivative
    by alpha. Source: Figurnov, Mohamed and Mnih, Implicit Reparameterization Gradients
    (2018).

    Args:
        shape: The number of draws for each element of the parameters.
        alpha: The shape parameter, above 0; elsewhere the result is NaN.
        beta: The rate, above 0; 1 by default. It broadcasts with alpha.
        dtype: A floating-point dtype; the default float if none is given.
        seed: Begins a sequence of its own.

    Returns:
        A tensor of the shape `shape + (alpha + beta).shape`.

    Raises:
        ShapeError: If alpha and beta do not broadcast.
        DTypeError: If a parameter is a tensor of another dtype.

    Example:
        >>> import gtape as gt
        >>> gt.random.gamma([5], alpha=[1.0, 2.0]).shape
        TensorShape([5, 2])
    """
    key = global_key("random.gamma", seed)
    return distributions.gamma("random.gamma", key, shape, alpha, beta, dtype)


def permutation(size: int, seed: int | None = None) -> Tensor:
    """Return the numbers from 0 to size - 1 in a random order, as int64.

    Args:
        size: How many numbers.
        seed: Begins a sequence of its own.

    Raises:
        ArgumentError: If the size is negative.

    Example:
        >>> import gtape as gt
        >>> sorted(gt.random.permutation(4).numpy().tolist())
        [0, 1, 2, 3]
    """
    key = global_key("random.permutation", seed)
    return distributions.permutation("random.permutation", key, size)


def shuffle(value: TensorLike, seed: int | None = None) -> Tensor:
    """Return the rows of a tensor in a random order; gradients find their way back.

    Args:
        value: A tensor of rank 1 or more, reordered along its first axis.
        seed: Begins a sequence of its own.

    Raises:
        ShapeError: If it is a scalar.

    Example:
        >>> import gtape as gt
        >>> sorted(gt.random.shuffle([3, 1, 2]).numpy().tolist())
        [1, 2, 3]
    """
    key = global_key("random.shuffle", seed)
    return distributions.shuffle("random.shuffle", key, value)
