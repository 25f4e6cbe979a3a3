"""Trained models, each opened once, and what they do with a text."""

from functools import cache
from typing import TYPE_CHECKING

from models.request import Source, TraceRequest

if TYPE_CHECKING:
    from collections.abc import Hashable

    from models.card import Card
    from models.model import Model
    from models.text import Tokens
    from models.trace import Trace


@cache
def network(name: str) -> "Model":
    """A model of the catalogue."""
    from models.tracing import open_model

    return open_model(Source("catalogue", name))


def traced(name: str, text: str, edits: "tuple[Hashable, ...]" = ()) -> "Trace":
    """The trace of a text."""
    from models.tracing import run

    return run(TraceRequest(Source("catalogue", name), text, edits=edits), network(name))


@cache
def trained(name: str) -> "tuple[Model, Card]":
    """A model that was trained for the app, and its card.

    Raises:
        ValueError: if it is not installed.
    """
    from models.card import card
    from models.catalogue import entry

    model_card = card(entry(name))
    if model_card is None:
        raise ValueError(f"expected a model that was trained for the app, received {name}")
    return network(name), model_card


def encoded(name: str, text: str) -> "Tokens":
    """A text as tokens of a trained model.

    Raises:
        ValueError: if the model reads no text.
    """
    tokenizer = network(name).tokenizer
    if tokenizer is None:
        raise ValueError(f"expected a model that reads text, received {name}")
    return tokenizer.encode(text)
