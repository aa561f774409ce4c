"""How each library does the works: `python benchmarks/libraries.py NAME THREADS`.

The process answers on a line protocol; `common.Library` is the other side. Inputs are
converted to the library's tensors beforehand, and results stay in the library's form.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import (
    ADAM,
    CHAIN,
    CHECK_STEPS,
    SCALARS,
    Work,
    factors,
    layer,
    network,
    norm,
    serve,
)

Makers = dict[str, Callable[[], Work]]

REPEATED = 100
"""How many times a call does one operation, to lose the cost of the call."""


def training(
    step: Callable[[], Any], reset: Callable[[], Any], weights: Callable[[], list[Any]]
) -> Work:
    """Return a work that trains: a step returns the loss before it."""

    def check() -> dict[str, float]:
        reset()
        losses = [float(step()) for _ in range(CHECK_STEPS)]
        first, second = weights()
        return {
            "loss_1": losses[0],
            "loss_10": losses[-1],
            "norm_1": norm(first),
            "norm_2": norm(second),
        }

    return Work(step, check, reset)


def scalar_values(s: Any, gradients: Any) -> dict[str, float]:
    """Return the check values of the weighted sum."""
    by_w1, by_w2 = gradients
    return {"s": s, "by_w1": by_w1, "by_w2": by_w2}


# --- gtape ----------------------------------------------------------------------------


def load_gtape(threads: int) -> tuple[str, Makers]:
    """Import gtape; it computes with the threads that NumPy was given."""
    import gtape as gt

    def scalar() -> Work:
        w1, w2 = gt.Variable(SCALARS["w1"]), gt.Variable(SCALARS["w2"])
        x1, x2 = gt.constant(SCALARS["x1"]), gt.constant(SCALARS["x2"])

        def call() -> Any:
            with gt.GradientTape() as tape:
                s = w1 * x1 + w2 * x2
            return s, tape.gradient(s, [w1, w2])

        return Work(call, lambda: scalar_values(*call()))

    def loss_of(variables: Any, x: Any, labels: Any) -> Any:
        w1, b1, w2, b2 = variables
        logits = gt.nn.relu(x @ w1 + b1) @ w2 + b2
        losses = gt.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return gt.reduce_mean(losses)

    def gradients() -> Work:
        start, x, labels = network()
        variables = [gt.Variable(p) for p in start]
        x, labels = gt.constant(x), gt.constant(labels)

        def call() -> Any:
            with gt.GradientTape() as tape:
                loss = loss_of(variables, x, labels)
            return loss, tape.gradient(loss, variables)

        return Work(call, lambda: {"loss": call()[0]})

    def step() -> Work:
        start, x, labels = network()
        variables = [gt.Variable(p) for p in start]
        x, labels = gt.constant(x), gt.constant(labels)
        optimizers: list[Any] = []

        def reset() -> None:
            for variable, value in zip(variables, start, strict=True):
                variable.assign(value)
            optimizers[:] = [
                gt.optim.Adam(
                    ADAM["rate"], ADAM["beta_1"], ADAM["beta_2"], ADAM["epsilon"]
                )
            ]

        def call() -> Any:
            with gt.GradientTape() as tape:
                loss = loss_of(variables, x, labels)
            found = tape.gradient(loss, variables)
            optimizers[0].apply_gradients(zip(found, variables, strict=True))
            return loss

        return training(
            call, reset, lambda: [variables[0].numpy(), variables[2].numpy()]
        )

    def backward() -> Work:
        start, factor = factors()
        x, y = gt.Variable(start), gt.constant(factor)
        found: list[Any] = []

        def call() -> float:
            with gt.GradientTape() as tape:
                out = x * y
                for _ in range(CHAIN - 1):
                    out = out * y
            before = time.perf_counter()
            found[:] = [tape.gradient(out, x)]
            return time.perf_counter() - before

        def check() -> dict[str, float]:
            call()
            return {"by_x": found[0]}

        return Work(call, check, count=CHAIN, timed=True)

    def jacobian() -> Work:
        x, weights = (gt.constant(a) for a in layer())

        def call() -> Any:
            with gt.GradientTape() as tape:
                tape.watch(x)
                y = gt.tanh(gt.matvec(weights, x, transpose_a=True))
            return tape.jacobian(y, x)

        return Work(call, lambda: {"norm": norm(call().numpy())})

    makers: Makers = {
        "scalar": scalar,
        "step": step,
        "gradients": gradients,
        "backward": backward,
        "jacobian": jacobian,
    }
    for label, a, b in (
        ("scalars", np.float32(1.5), np.float32(0.5)),
        ("vectors", np.full(3, 1.5, np.float32), np.full(3, 0.5, np.float32)),
    ):
        makers.update(one_operation(gt, label, a, b))
    return gt.__version__, makers


def one_operation(gt: Any, label: str, a: Any, b: Any) -> Makers:
    """Return a product of two small values: in NumPy, in gtape, and under a tape."""

    def bare() -> Work:
        def call() -> None:
            for _ in range(REPEATED):
                a * b

        return Work(call, count=REPEATED)

    def without_tape() -> Work:
        x, y = gt.constant(a), gt.constant(b)

        def call() -> None:
            for _ in range(REPEATED):
                x * y

        return Work(call, count=REPEATED)

    def with_tape() -> Work:
        x, y = gt.constant(a), gt.constant(b)

        def call() -> None:
            with gt.GradientTape() as tape:
                tape.watch(x)
                for _ in range(REPEATED):
                    x * y

        return Work(call, count=REPEATED)

    return {
        f"{label}, NumPy": bare,
        f"{label}, no tape": without_tape,
        f"{label}, tape": with_tape,
    }


# --- PyTorch --------------------------------------------------------------------------


def load_torch(threads: int) -> tuple[str, Makers]:
    """Import PyTorch."""
    import torch
    from torch.nn.functional import cross_entropy

    torch.set_num_threads(threads)

    def scalar() -> Work:
        w1 = torch.tensor(SCALARS["w1"], requires_grad=True)
        w2 = torch.tensor(SCALARS["w2"], requires_grad=True)
        x1, x2 = torch.tensor(SCALARS["x1"]), torch.tensor(SCALARS["x2"])

        def call() -> Any:
            s = w1 * x1 + w2 * x2
            return s, torch.autograd.grad(s, [w1, w2])

        def check() -> dict[str, float]:
            s, by = call()
            return scalar_values(s.detach(), by)

        return Work(call, check)

    def tensors() -> tuple[list[Any], list[Any], Any, Any]:
        start, x, labels = network()
        values = [torch.from_numpy(p) for p in start]
        parameters = [v.clone().requires_grad_() for v in values]
        labels = torch.from_numpy(labels.astype(np.int64))
        return values, parameters, torch.from_numpy(x), labels

    def loss_of(parameters: Any, x: Any, labels: Any) -> Any:
        w1, b1, w2, b2 = parameters
        return cross_entropy(torch.relu(x @ w1 + b1) @ w2 + b2, labels)

    def gradients() -> Work:
        _, parameters, x, labels = tensors()

        def call() -> Any:
            loss = loss_of(parameters, x, labels)
            return loss, torch.autograd.grad(loss, parameters)

        return Work(call, lambda: {"loss": call()[0].detach()})

    def step(fused: bool | None = None) -> Work:
        values, parameters, x, labels = tensors()
        optimizers: list[Any] = []

        def reset() -> None:
            with torch.no_grad():
                for parameter, value in zip(parameters, values, strict=True):
                    parameter.copy_(value)
            optimizers[:] = [
                torch.optim.Adam(
                    parameters,
                    ADAM["rate"],
                    (ADAM["beta_1"], ADAM["beta_2"]),
                    ADAM["epsilon"],
                    fused=fused,
                )
            ]

        def call() -> Any:
            optimizers[0].zero_grad()
            loss = loss_of(parameters, x, labels)
            loss.backward()
            optimizers[0].step()
            return loss.detach()

        def weights() -> list[Any]:
            return [parameters[i].detach().numpy() for i in (0, 2)]

        return training(call, reset, weights)

    def backward() -> Work:
        start, factor = factors()
        x, y = torch.tensor(start, requires_grad=True), torch.tensor(factor)
        found: list[Any] = []

        def call() -> float:
            out = x
            for _ in range(CHAIN):
                out = out * y
            before = time.perf_counter()
            found[:] = torch.autograd.grad(out, [x])
            return time.perf_counter() - before

        def check() -> dict[str, float]:
            call()
            return {"by_x": found[0]}

        return Work(call, check, count=CHAIN, timed=True)

    def jacobian() -> Work:
        x, weights = (torch.from_numpy(a) for a in layer())
        of = torch.func.jacrev(lambda x: torch.tanh(x @ weights))
        return Work(lambda: of(x), lambda: {"norm": norm(of(x).numpy())})

    return torch.__version__, {
        "scalar": scalar,
        "step": step,
        "step, fused Adam": lambda: step(fused=True),
        "gradients": gradients,
        "backward": backward,
        "jacobian": jacobian,
    }


# --- TensorFlow -----------------------------------------------------------------------


def load_tensorflow(threads: int) -> tuple[str, Makers]:
    """Import TensorFlow."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)

    def scalar() -> Work:
        w1, w2 = tf.Variable(SCALARS["w1"]), tf.Variable(SCALARS["w2"])
        x1, x2 = tf.constant(SCALARS["x1"]), tf.constant(SCALARS["x2"])

        def call() -> Any:
            with tf.GradientTape() as tape:
                s = w1 * x1 + w2 * x2
            return s, tape.gradient(s, [w1, w2])

        return Work(call, lambda: scalar_values(*call()))

    def loss_of(variables: Any, x: Any, labels: Any) -> Any:
        w1, b1, w2, b2 = variables
        logits = tf.nn.relu(x @ w1 + b1) @ w2 + b2
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_mean(losses)

    def gradients() -> Work:
        start, x, labels = network()
        variables = [tf.Variable(p) for p in start]
        x, labels = tf.constant(x), tf.constant(labels)

        def call() -> Any:
            with tf.GradientTape() as tape:
                loss = loss_of(variables, x, labels)
            return loss, tape.gradient(loss, variables)

        return Work(call, lambda: {"loss": call()[0]})

    def step() -> Work:
        start, x, labels = network()
        variables = [tf.Variable(p) for p in start]
        means = [tf.Variable(tf.zeros_like(v)) for v in variables]
        squares = [tf.Variable(tf.zeros_like(v)) for v in variables]
        power_1, power_2 = tf.Variable(0.0), tf.Variable(0.0)
        x, labels = tf.constant(x), tf.constant(labels)

        def reset() -> None:
            for variable, value in zip(variables, start, strict=True):
                variable.assign(value)
            for slot in means + squares:
                slot.assign(tf.zeros_like(slot))
            power_1.assign(ADAM["beta_1"])
            power_2.assign(ADAM["beta_2"])

        def call() -> Any:
            with tf.GradientTape() as tape:
                loss = loss_of(variables, x, labels)
            found = tape.gradient(loss, variables)
            for v, m, s, g in zip(variables, means, squares, found, strict=True):
                # The operation that runs Adam's whole rule, TensorFlow's fastest way.
                tf.raw_ops.ResourceApplyAdam(
                    var=v.handle,
                    m=m.handle,
                    v=s.handle,
                    beta1_power=power_1,
                    beta2_power=power_2,
                    lr=ADAM["rate"],
                    beta1=ADAM["beta_1"],
                    beta2=ADAM["beta_2"],
                    epsilon=ADAM["epsilon"],
                    grad=g,
                )
            power_1.assign(power_1 * ADAM["beta_1"])
            power_2.assign(power_2 * ADAM["beta_2"])
            return loss

        return training(
            call, reset, lambda: [variables[0].numpy(), variables[2].numpy()]
        )

    def backward() -> Work:
        start, factor = factors()
        x, y = tf.Variable(start), tf.constant(factor)
        found: list[Any] = []

        def call() -> float:
            with tf.GradientTape() as tape:
                out = x * y
                for _ in range(CHAIN - 1):
                    out = out * y
            before = time.perf_counter()
            found[:] = [tape.gradient(out, x)]
            return time.perf_counter() - before

        def check() -> dict[str, float]:
            call()
            return {"by_x": found[0]}

        return Work(call, check, count=CHAIN, timed=True)

    def jacobian() -> Work:
        x, weights = (tf.constant(a) for a in layer())

        def call() -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.tanh(tf.linalg.matvec(weights, x, transpose_a=True))
            return tape.jacobian(y, x)

        return Work(call, lambda: {"norm": norm(call().numpy())})

    return tf.__version__, {
        "scalar": scalar,
        "step": step,
        "gradients": gradients,
        "backward": backward,
        "jacobian": jacobian,
    }


LOADERS = {"gtape": load_gtape, "torch": load_torch, "tf": load_tensorflow}

if __name__ == "__main__":
    name, threads = sys.argv[1], int(sys.argv[2])
    serve(lambda: LOADERS[name](threads))
