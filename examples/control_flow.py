"""Branches and loops: a tape sees the operations that ran, and only those."""

import gtape as gt


def f(x):
    if x > 0.0:
        return x**2
    return -3.0 * x


def derivative(function, value):
    x = gt.Variable(value)
    with gt.GradientTape() as tape:
        y = function(x)
    return float(y), float(tape.gradient(y, x))


for point in (2.0, -2.0):
    y, slope = derivative(f, point)
    print(f"f({point}) = {y}, and the branch taken has the slope {slope}")

assert derivative(f, 2.0) == (4.0, 4.0)
assert derivative(f, -2.0) == (6.0, -3.0)


def square_until_large(x):
    while x < 100.0:
        x = x * x
    return x


# From 2: 4, 16, 256. That is x**8, so the slope is 8 * 2**7.
y, slope = derivative(square_until_large, 2.0)
print(f"squared until it is large: {y}, slope {slope}")
assert (y, slope) == (256.0, 1024.0)


def root(x):
    """Newton's method for the square root, twenty steps."""
    guess = 1.0
    for _ in range(20):
        guess = 0.5 * (guess + x / guess)
    return guess


# The derivative of the steps is the derivative of the root: 1 / (2 * sqrt(x)).
y, slope = derivative(root, 4.0)
print(f"square root of 4 by Newton's method: {y}, slope {slope}")
assert (y, slope) == (2.0, 0.25)


def clipped(x):
    return gt.where(x > 0.0, gt.sqrt(x), 0.0)


# `where` chooses element by element; what is not chosen adds nothing, not even NaN.
x = gt.Variable([4.0, -1.0])
with gt.GradientTape() as tape:
    y = clipped(x)
gradient = tape.gradient(y, x)
print("where:", y.numpy(), gradient.numpy())
assert gradient.numpy().tolist() == [0.25, 0.0]
