"""The pages of the app; `compute` has what they take from models and analyses, on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any


class Lazy:
    """Stands for a module: a page's first output does not wait for what it imports.

    Args:
        name: of the module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    from viz.pages import compute as compute
else:
    compute = Lazy("viz.pages.compute")
