"""Modules imported when they are first used, so that `import gtape` stays light."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class Lazy:
    """Stands for a module until one of its names is asked for.

    Args:
        name: The module's full name.
    """

    __slots__ = ("_module", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # doctest and inspect look for protocols
            raise AttributeError(attribute)
        module = self._module
        if module is None:
            try:
                module = self._module = importlib.import_module(self._name)
            except ImportError as error:
                raise ImportError(
                    f"this operation needs the module {self._name}, which cannot be "
                    f"imported: {error}"
                ) from error
        return getattr(module, attribute)


scipy_special = Lazy("scipy.special")
scipy_linalg = Lazy("scipy.linalg")
opt_einsum = Lazy("opt_einsum")
difflib = Lazy("difflib")
