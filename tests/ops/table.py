"""The table of operations: the records of all modules in `records/`."""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.ops.harness import Record

RECORDS: list[Record] = [
    record
    for path in sorted(Path(__file__).with_name("records").glob("*.py"))
    if path.stem != "__init__"
    for record in importlib.import_module(f"tests.ops.records.{path.stem}").RECORDS
]
