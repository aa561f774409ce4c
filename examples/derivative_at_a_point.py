"""The derivative of a function at a point, and the derivatives of that."""

import gtape as gt

# A variable is watched: what is computed from it inside the block is recorded.
x = gt.Variable(-2.0)

with gt.GradientTape() as tape:
    y = x**2

dy_dx = tape.gradient(y, x)
print("x**2 at -2 has the value", float(y), "and the derivative", float(dy_dx))
print(dy_dx)
assert float(dy_dx) == -4.0
assert str(dy_dx) == "gt.Tensor(-4.0, shape=(), dtype=float32)"

# Any Python function of tensors will do.


def f(x):
    return gt.sin(x) * gt.exp(-x)


with gt.GradientTape() as tape:
    y = f(x)

by_hand = (gt.cos(x) - gt.sin(x)) * gt.exp(-x)
by_tape = tape.gradient(y, x)
print("sin(x) * exp(-x):", float(by_tape), "and by hand", float(by_hand))
assert abs(float(by_tape - by_hand)) < 1e-5

# A tape records the work of another tape too: derivatives of any order.
with gt.GradientTape() as outer:
    with gt.GradientTape() as inner:
        y = x**3
    first = inner.gradient(y, x)
second = outer.gradient(first, x)

print("x**3 at -2: first", float(first), "second", float(second))
assert float(first) == 12.0
assert float(second) == -12.0
