"""The graph that the README shows is the one that its example prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import gtape as gt

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_graph_of_the_example(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = README.read_text(encoding="utf-8")
    found = re.search(
        r"```python\n(@gt.function\n.*?)```.*?```text\n(.*?)```", text, re.S
    )
    assert found is not None
    code, shown = found.groups()
    file = tmp_path / "example.py"
    file.write_text(code, encoding="utf-8")
    names: dict[str, Any] = {"gt": gt}
    exec(compile(code, str(file), "exec"), names)
    printed = capsys.readouterr().out
    assert printed.endswith(shown)
    assert shown.startswith("graph(%0: float32[]):")
