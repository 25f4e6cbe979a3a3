"""Results that tests ask about, and requests answered as the browser receives them."""

import json
from typing import Any

from models.request import TraceRequest
from viz.api import tracing
from viz.api.endpoint import body_of
from viz.api.entries import TraceEntry
from viz.routes import ENDPOINTS


def ask(entry: Any, name: str, *given: Any, **asked: Any) -> Any:
    """The JSON that a request is answered with; its parameters as values of Python."""
    return json.loads(body_of(ENDPOINTS[entry.kind, name].answer(entry, *given, **asked))[0])


TEXT = "the cat saw the dog"


def entry_of(
    name: str = "grammar-next", text: Any = TEXT, *, edits: Any = (), words: bool = False
) -> TraceEntry:
    request = TraceRequest(tracing.of_catalogue(name), text, edits=edits)
    return tracing.entry_for(request, words=words).value
