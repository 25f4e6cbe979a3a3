"""Modules that are imported when one of their names is first read."""

from importlib import import_module
from typing import Any


class Lazy:
    """Stands for a module: a page's first output does not wait for what it imports.

    Args:
        name: of the module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
