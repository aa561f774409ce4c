"""Modules imported when they are first used, so that `import gtape` stays light."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class Lazy:
    """Stands for a third-party module until one of its names is asked for.

    Args:
        name: The module's full name.
        needed_for: What needs it and how to install it, for the message where it is
            missing.
    """

    __slots__ = ("_module", "_name", "_needed_for")

    def __init__(self, name: str, needed_for: str = "") -> None:
        self._name = name
        self._needed_for = needed_for
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        module = self._module
        if module is None:
            try:
                module = self._module = importlib.import_module(self._name)
            except ImportError as error:
                raise ImportError(
                    f"{self._needed_for or 'this operation'} needs the module "
                    f"{self._name}, "
                    f"which cannot be imported: {error}"
                ) from error
        return getattr(module, attribute)


scipy_special = Lazy("scipy.special")
scipy_linalg = Lazy("scipy.linalg")
opt_einsum = Lazy("opt_einsum")
difflib = Lazy("difflib")
