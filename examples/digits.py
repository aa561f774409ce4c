"""Train a small network on handwritten digits, and look at those that it misreads.

The images are scikit-learn's: 1797 digits of 8 by 8 pixels. Every fifth is held out and
never trained on. The network is a gt.Module; its gradients come from a plain
GradientTape.

Run `make demo`, or with options `python examples/digits.py --epochs 60 --seed 1`.
"""

import argparse
import itertools
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # pictures go to files, whether there is a screen or not

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import gtape as gt

BATCH = 32
RATES = {"Adam": 0.003, "RMSProp": 0.001, "SGD": 0.4, "Adagrad": 0.1, "Adadelta": 3.0}


class MLP(gt.Module):
    """Layers of weights and biases, with a rectifier between them."""

    def __init__(self, sizes, random):
        super().__init__()
        self.layers = []
        for n, m in itertools.pairwise(sizes):
            weights = random.normal(scale=np.sqrt(2.0 / n), size=(n, m))
            self.layers.append(
                {
                    "weights": gt.Variable(weights.astype(np.float32)),
                    "bias": gt.Variable(gt.zeros([m])),
                }
            )

    def __call__(self, x):
        for i, layer in enumerate(self.layers):
            if i > 0:
                x = gt.nn.relu(x)
            x = x @ layer["weights"] + layer["bias"]
        return x


def load():
    """Return images and labels to train on, then those held out: every fifth."""
    digits = load_digits()
    images = (digits.data / 16.0).astype(np.float32)
    labels = digits.target.astype(np.int32)
    held_out = np.arange(len(labels)) % 5 == 0
    return images[~held_out], labels[~held_out], images[held_out], labels[held_out]


def train_step(model, optimizer, images, labels):
    """Take one step against the gradient of the mean loss; return the loss."""
    with gt.GradientTape() as tape:
        losses = gt.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=model(images)
        )
        loss = gt.reduce_mean(losses)
    variables = model.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return float(loss)


def predict(model, images):
    """Return the most likely digit of each image."""
    return gt.argmax(model(images), axis=-1).numpy()


def train(model, optimizer, data, epochs, random):
    """Return the loss of every step and the held-out accuracy after every epoch."""
    images, labels, held_out, truth = data
    losses, accuracies = [], []
    with tqdm(range(epochs), unit="epoch") as bar:
        for _ in bar:
            order = random.permutation(len(labels))
            before = len(losses)
            for start in range(0, len(labels), BATCH):
                batch = order[start : start + BATCH]
                losses.append(
                    train_step(model, optimizer, images[batch], labels[batch])
                )
            accuracies.append(np.mean(predict(model, held_out) == truth))
            bar.set_postfix(
                loss=f"{np.mean(losses[before:]):.4f}",
                accuracy=f"{accuracies[-1]:.4f}",
                refresh=False,
            )
    return losses, accuracies


def draw_curve(losses, accuracies, path):
    """Draw the loss of every step, and the accuracy after every epoch."""
    figure, left = plt.subplots(figsize=(7, 4), layout="constrained")
    epochs = np.arange(1, len(losses) + 1) * len(accuracies) / len(losses)
    left.semilogy(epochs, losses, color="tab:blue", linewidth=0.6)
    left.set(xlabel="epoch", ylabel="loss of a batch")
    left.yaxis.label.set_color("tab:blue")
    right = left.twinx()
    right.plot(np.arange(1, len(accuracies) + 1), accuracies, color="tab:orange")
    right.set(ylabel="accuracy on held-out digits", ylim=(0.8, 1.0))
    right.yaxis.label.set_color("tab:orange")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw_misread(images, truth, read, path):
    """Draw the digits that were misread, each with what it is and what was read."""
    wrong = np.flatnonzero(read != truth)
    columns = 6
    rows = max(1, -(-len(wrong) // columns))
    figure, axes = plt.subplots(
        rows, columns, figsize=(columns * 1.3, rows * 1.6), layout="constrained"
    )
    for ax in axes.flat:
        ax.axis("off")
    for ax, i in zip(axes.flat, wrong, strict=False):
        ax.imshow(images[i].reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{truth[i]} read as {read[i]}", fontsize=9)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def arguments():
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--optimizer", choices=list(RATES), default="Adam")
    parser.add_argument("--output", type=Path, default=Path("build/digits"))
    args = parser.parse_args()
    if args.epochs < 1:
        parser.error("--epochs must be 1 or more")
    return args


def main():
    """Train, tell the accuracy, and draw two pictures."""
    args = arguments()
    started = time.perf_counter()
    random = np.random.default_rng(args.seed)
    data = load()
    model = MLP([64, 128, 10], random)
    optimizer = getattr(gt.optim, args.optimizer)(learning_rate=RATES[args.optimizer])

    losses, accuracies = train(model, optimizer, data, args.epochs, random)

    _, labels, held_out, truth = data
    read = predict(model, held_out)
    wrong = int(np.sum(read != truth))
    seconds = time.perf_counter() - started
    print(
        f"{len(labels)} digits trained on, {len(truth)} held out (every fifth); "
        f"{args.optimizer}, {args.epochs} epochs, seed {args.seed}, {seconds:.1f} s"
    )
    print(f"held-out accuracy {accuracies[-1]:.4f}: {wrong} of {len(truth)} misread")

    args.output.mkdir(parents=True, exist_ok=True)
    curve, sheet = args.output / "loss.png", args.output / "misread.png"
    draw_curve(losses, accuracies, curve)
    draw_misread(held_out, truth, read, sheet)
    print(f"pictures: {curve} and {sheet}")


if __name__ == "__main__":
    main()
