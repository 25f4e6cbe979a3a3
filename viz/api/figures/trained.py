"""The app's own trained models, each loaded once."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.files.card import Card
    from models.model import Model


@cache
def trained(name: str) -> "tuple[Model, Card]":
    """A model that was trained for the app, and its card.

    Raises:
        ValueError: if it is not installed.
    """
    from models.catalogue import entry
    from models.files.card import card
    from models.run import load

    found = card(entry(name))
    if found is None:
        raise ValueError(f"expected a model that was trained for the app, received {name}")
    model = load(name)
    model.network.eval()
    return model, found
