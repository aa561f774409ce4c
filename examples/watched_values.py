"""What a tape watches: trainable variables by itself, everything else when told."""

import gtape as gt

trainable = gt.Variable(1.0, name="trainable")
frozen = gt.Variable(2.0, trainable=False, name="frozen")
constant = gt.constant(3.0)
tensor = gt.Variable(4.0) + 0.0  # a variable plus a number is a tensor

sources = {
    "trainable": trainable,
    "frozen": frozen,
    "constant": constant,
    "tensor": tensor,
}


def square_sum():
    return trainable**2 + frozen**2 + constant**2 + tensor**2


def shown(gradients):
    return {k: None if g is None else float(g) for k, g in gradients.items()}


with gt.GradientTape() as tape:
    y = square_sum()

by_itself = shown(tape.gradient(y, sources))
print("by itself:        ", by_itself)
assert by_itself == {
    "trainable": 2.0,
    "frozen": None,
    "constant": None,
    "tensor": None,
}

with gt.GradientTape() as tape:
    tape.watch([frozen, constant, tensor])
    y = square_sum()

when_told = shown(tape.gradient(y, sources))
print("told to watch all:", when_told)
assert when_told == {"trainable": 2.0, "frozen": 4.0, "constant": 6.0, "tensor": 8.0}

# The opposite: nothing is watched unless told.
with gt.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(constant)
    y = square_sum()

only_one = shown(tape.gradient(y, sources))
print("told to watch one:", only_one)
assert only_one == {"trainable": None, "frozen": None, "constant": 6.0, "tensor": None}
assert [v.name for v in tape.watched_variables()] == []

# What lies between a source and the target can be a source as well.
with gt.GradientTape() as tape:
    between = trainable * 3.0
    y = between**2

by_between = tape.gradient(y, between)
print("by a value in between:", float(by_between))
assert float(by_between) == 6.0
