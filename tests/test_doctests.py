"""Every example that is printed somewhere runs: in docstrings and in the README."""

import doctest
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gtape as gt

README = Path(__file__).resolve().parents[1] / "README.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# A module may stand on one of these extras; without it, its examples are skipped.
OPTIONAL = {"cuda", "graphviz", "matplotlib", "numba_cuda"}
BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _is_optional(error: ModuleNotFoundError) -> bool:
    return (error.name or "").partition(".")[0] in OPTIONAL


def _pass_by(package: str) -> None:
    """Go on after a package whose extra is missing; show any other fault."""
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if not _is_optional(error):
            raise


def _module_names() -> list[str]:
    found = pkgutil.walk_packages(gt.__path__, f"{gt.__name__}.", onerror=_pass_by)
    return [gt.__name__, *(module.name for module in found)]


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if _is_optional(error):
            pytest.skip(f"{error.name} is not installed")
        raise


def _examples(module: ModuleType) -> Iterator[doctest.DocTest]:
    """Give the examples of a module, each to run with only `gt` and `np` at hand.

    The names of the module itself are left out, so that an example runs for a reader
    exactly as it does here.
    """
    finder = doctest.DocTestFinder(exclude_empty=True)
    globs = {"gt": gt, "np": np}
    seen = set()
    for test in finder.find(module, module.__name__, globs=globs):
        seen.add(test.name)
        yield test
    # The finder passes by callable objects that are neither functions nor classes.
    for name, value in vars(module).items():
        full = f"{module.__name__}.{name}"
        doc = getattr(value, "__doc__", None)
        is_here = getattr(value, "__module__", None) == module.__name__
        if full in seen or not is_here or isinstance(value, type):
            continue
        if isinstance(doc, str) and doc != type(value).__doc__ and ">>>" in doc:
            file = module.__file__
            yield doctest.DocTestParser().get_doctest(doc, globs, full, file, None)


def _run(test: doctest.DocTest, **options: Any) -> None:
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=report.append, **options)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("name", _module_names())
def test_docstrings(name: str) -> None:
    for test in _examples(_import(name)):
        if test.examples:
            _run(test)


def test_readme() -> None:
    """Run the blocks in order in one namespace, as a reader types them."""
    text = README.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = list(BLOCK.finditer(text))
    assert blocks, "README.md shows no Python"
    for block in blocks:
        code, line = block[1], text.count("\n", 0, block.start(1))
        if ">>>" in code:
            parser = doctest.DocTestParser()
            test = parser.get_doctest(code, names, "README.md", str(README), line)
            test.globs = names  # the parser made a copy; later blocks build on this
            _run(test, clear_globs=False)
        else:
            # Blank lines in front: tracebacks then show the lines of the README.
            exec(compile("\n" * line + code, str(README), "exec"), names)
