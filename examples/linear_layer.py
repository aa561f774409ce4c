"""The gradients of a cost by the weights and the bias of a linear layer."""

import gtape as gt

weights = gt.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="weights")
bias = gt.Variable(gt.zeros([2]), name="bias")
x = gt.constant([[-2.0, 1.0, 3.0]])

with gt.GradientTape() as tape:
    y = x @ weights + bias
    cost = gt.reduce_mean(y**2)

# One pass back gives the gradients by all sources, in the structure of the sources.
by_weights, by_bias = tape.gradient(cost, [weights, bias])

print("y =", y.numpy(), "cost =", float(cost))
print("gradient by the weights, of their shape:")
print(by_weights.numpy())
print("gradient by the bias:", by_bias.numpy())
assert y.numpy().tolist() == [[16.0, 18.0]]
assert float(cost) == 290.0
assert by_weights.shape == weights.shape
assert by_weights.numpy().tolist() == [[-32.0, -36.0], [16.0, 18.0], [48.0, 54.0]]
assert by_bias.numpy().tolist() == [16.0, 18.0]

# A step against the gradients makes the cost smaller. Here 1 / 15 is the best rate: the
# squares of x and of the 1 that the bias is multiplied by add up to 15.
optimizer = gt.optim.SGD(learning_rate=1.0 / 15.0)
for step in range(3):
    with gt.GradientTape() as tape:
        cost = gt.reduce_mean((x @ weights + bias) ** 2)
    variables = [weights, bias]
    gradients = tape.gradient(cost, variables)
    optimizer.apply_gradients(zip(gradients, variables, strict=True))
    print(f"before step {step + 1} the cost is {float(cost):.6g}")

assert float(cost) < 1e-6
