"""Texts that models of the catalogue have read, as the API holds them."""

from typing import Any

from models.request import TraceRequest
from viz.api import tracing
from viz.api.entries import TraceEntry

TEXT = "the cat saw the dog"


def entry_of(
    name: str = "grammar-next", text: Any = TEXT, *, edits: Any = (), words: bool = False
) -> TraceEntry:
    request = TraceRequest(tracing.of_catalogue(name), text, edits=edits)
    return tracing.entry_for(request, words=words).value
