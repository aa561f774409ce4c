"""Every example runs as a reader runs it: as a program of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"

# What a lesson must print, beside keeping its own assertions.
LESSONS = {
    "derivative_at_a_point.py": r"gt\.Tensor\(-4\.0, shape=\(\), dtype=float32\)",
    "linear_layer.py": r"cost = 290\.0",
    "watched_values.py": r"told to watch one: .*'constant': 6\.0",
    "persistent_tape.py": r"a second time: .*GradientTape\(persistent=True\)",
    "control_flow.py": r"256\.0, slope 1024\.0",
    "projectile.py": r"40\.6\d\d m at 39\.\d+ degrees\ntraces: 1,",
    "common_mistakes.py": r"(?s)1\. .*2\. .*3\. .*4\. .*5\. .*a way out",
}


def run(name, *options, folder):
    """Run an example in a folder; return what it printed."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    child = subprocess.run(
        [sys.executable, EXAMPLES / name, *map(str, options)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert child.returncode == 0, child.stderr
    return child.stdout


def accuracy(text):
    return float(re.search(r"held-out accuracy (\d\.\d+)", text)[1])


def test_every_example_is_tested():
    assert {f.name for f in EXAMPLES.glob("*.py")} == {*LESSONS, "digits.py"}


@pytest.mark.parametrize("name", list(LESSONS))
def test_lesson(name, tmp_path):
    text = run(name, folder=tmp_path)
    assert re.search(LESSONS[name], text), text
    assert not list(tmp_path.iterdir())  # a lesson leaves no files behind


def test_common_mistakes_name_the_lines_where_the_chain_ends(tmp_path):
    text = run("common_mistakes.py", folder=tmp_path)
    source = (EXAMPLES / "common_mistakes.py").read_text("utf-8").splitlines()
    found = re.findall(r"common_mistakes\.py:(\d+) in", text)
    assert [source[int(line) - 1].strip() for line in found] == [
        "y = inner**2",
        "y = x**2 + 2.0 * x",
        "y = gt.constant(z.numpy() ** 2) + 1.0",
        "y = x * x",
        "w.assign_add(a)",
    ]


def test_digits_reads_well(tmp_path):
    text = run("digits.py", folder=tmp_path)
    assert accuracy(text) >= 0.97
    assert "1437 digits trained on, 360 held out (every fifth)" in text
    for picture in ("loss.png", "misread.png"):
        data = (tmp_path / "build" / "digits" / picture).read_bytes()
        assert data.startswith(b"\x89PNG")


def test_digits_is_reproducible(tmp_path):
    options = ["--epochs", 2, "--seed", 3, "--optimizer", "RMSProp"]
    texts = [run("digits.py", *options, folder=tmp_path) for _ in range(2)]
    first, second = [re.sub(r"\d+\.\d s", "", text) for text in texts]
    assert first == second
    assert accuracy(first) > 0.8


@pytest.mark.parametrize("optimizer", ["SGD", "Adagrad", "Adadelta"])
def test_digits_with_every_optimizer(optimizer, tmp_path):
    options = ["--epochs", 3, "--optimizer", optimizer, "--output", tmp_path / "here"]
    text = run("digits.py", *options, folder=tmp_path)
    assert accuracy(text) > 0.8
    assert f"{optimizer}, 3 epochs, seed 0" in text
    assert [f.name for f in tmp_path.iterdir()] == ["here"]
