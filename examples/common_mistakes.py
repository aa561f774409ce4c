"""Why is my gradient None? Five mistakes, what `tape.explain` says, and the way out."""

import numpy as np

import gtape as gt


def show(title, tape, target, source, reason):
    """Print why a gradient is `None`, and check that it is for the reason given."""
    explanation = tape.explain(target, source)
    print(f"{title}\n    {explanation}\n")
    assert explanation.reason == reason, explanation


# 1. A part of the computation stands before the block.
x = gt.Variable(1.0, name="x")
inner = 2.0 * x + 1.0
with gt.GradientTape(persistent=True) as tape:
    y = inner**2
assert tape.gradient(y, x) is None
show("1. Computed before the tape", tape, y, x, "made before the tape")

with gt.GradientTape() as tape:
    inner = 2.0 * x + 1.0
    y = inner**2
assert float(tape.gradient(y, x)) == 12.0

# 2. The name of the variable is given to a tensor: the second time round it is None.
x = gt.Variable(1.0, name="x")
gradients = []
for _ in range(2):
    with gt.GradientTape(persistent=True) as tape:
        y = x**2 + 2.0 * x
    gradients.append(tape.gradient(y, x))
    last = x
    x = x + 1.0  # a tensor; x.assign_add(1.0) would keep the variable
assert float(gradients[0]) == 4.0
assert gradients[1] is None
show("2. The name was rebound", tape, y, last, "rebound")

x = gt.Variable(1.0, name="x")
gradients = []
for _ in range(2):
    with gt.GradientTape() as tape:
        y = x**2 + 2.0 * x
    gradients.append(float(tape.gradient(y, x)))
    x.assign_add(1.0)
assert gradients == [4.0, 6.0]

# 3. A value goes to NumPy as an array, and comes back as a constant.
x = gt.Variable(3.0, name="x")
with gt.GradientTape(persistent=True) as tape:
    z = 2.0 * x
    y = gt.constant(z.numpy() ** 2) + 1.0
assert tape.gradient(y, x) is None
show("3. Left through NumPy", tape, y, x, "left through NumPy")

with gt.GradientTape() as tape:
    y = np.square(2.0 * x) + 1.0  # NumPy's functions are recorded if called on a tensor
assert float(tape.gradient(y, x)) == 24.0

# 4. The variable is an integer, because 1 was written for 1.0.
x = gt.Variable(1, name="x")
with gt.GradientTape(persistent=True) as tape:
    y = x * x
assert tape.gradient(y, x) is None
show("4. Integers have no gradients", tape, y, x, "integer")

x = gt.Variable(1.0, name="x")
with gt.GradientTape() as tape:
    y = x * x
assert float(tape.gradient(y, x)) == 2.0

# 5. A value is assigned to a variable, and the link between the two is lost.
a, w = gt.Variable(1.0, name="a"), gt.Variable(2.0, name="w")
with gt.GradientTape(persistent=True) as tape:
    w.assign_add(a)
    y = w**2
assert tape.gradient(y, a) is None
assert float(tape.gradient(y, w)) == 6.0  # by the new value of w
show("5. Assigned", tape, y, a, "assigned")

a, w = gt.Variable(1.0, name="a"), gt.Variable(2.0, name="w")
with gt.GradientTape() as tape:
    y = (w + a) ** 2
assert float(tape.gradient(y, a)) == 6.0

print("Each of them has a way out, and with it the gradient exists.")
