"""What is in a tensor, and whether it is what it should be."""

import numpy as np

import gtape as gt


def values(tree):
    """The tensors of a list or tuple as plain Python values, None kept."""
    return [None if t is None else dense(t).tolist() for t in tree]


def dense(tensor):
    assert tensor is not None
    return np.asarray(gt.convert_to_tensor(tensor))


def near(tensor, expected, tol=1e-6):
    np.testing.assert_allclose(dense(tensor), expected, rtol=tol, atol=tol)


def content(tensor):
    return tensor.numpy().tolist()


def typed(value, name):
    """A tensor of the named dtype."""
    return gt.cast(gt.constant(value), getattr(gt, name))
