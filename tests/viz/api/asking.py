"""Requests about a result, answered as the browser receives them."""

import json
from typing import Any

from viz.api.endpoint import body_of
from viz.routes import ENDPOINTS


def ask(entry: Any, name: str, *given: Any, **asked: Any) -> Any:
    """The JSON that a request is answered with; its parameters as values of Python."""
    return json.loads(body_of(ENDPOINTS[entry.kind, name].answer(entry, *given, **asked))[0])
