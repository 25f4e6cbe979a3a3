"""Trained networks behind figures, loaded once."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.run import Model


@cache
def network(name: str) -> "Model":
    """A network of the catalogue, on the CPU."""
    from models.run import load

    return load(name, device="cpu")
