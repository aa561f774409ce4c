"""A tape gives gradients once, unless it is made persistent."""

import gtape as gt

x = gt.Variable(3.0)

with gt.GradientTape() as tape:
    y = x**2
    z = y**2

print("z by x:", float(tape.gradient(z, x)))
try:
    tape.gradient(y, x)
except RuntimeError as error:
    print("a second time:", error)
else:
    raise AssertionError("a tape that was used should refuse")

# A persistent tape keeps the values of its block until it is deleted.
with gt.GradientTape(persistent=True) as tape:
    y = x**2
    z = y**2

gradients = [float(g) for g in (tape.gradient(z, x), tape.gradient(y, x))]
print("z by x and y by x:", gradients)
assert gradients == [108.0, 6.0]

# One persistent tape for several targets, which plain gradients would add up.
with gt.GradientTape(persistent=True) as tape:
    targets = [x * 2.0, x * 5.0]

each = [float(tape.gradient(target, x)) for target in targets]
together = float(tape.gradient(targets, x))
print("each target:", each, "the list of both:", together)
assert each == [2.0, 5.0]
assert together == 7.0

# The derivative of each element of a result is its jacobian.
with gt.GradientTape() as tape:
    y = x * gt.constant([1.0, 10.0, 100.0])

jacobian = tape.jacobian(y, x)
print("jacobian:", jacobian.numpy())
assert jacobian.numpy().tolist() == [1.0, 10.0, 100.0]

del tape  # frees what it kept
