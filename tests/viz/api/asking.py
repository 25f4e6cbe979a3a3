"""Requests about a result, answered as the browser receives them."""

import inspect
import json
from typing import Any

from viz.api.endpoint import body_of
from viz.routes import ENDPOINTS


def ask(entry: Any, name: str, *given: Any, **asked: Any) -> Any:
    """The JSON that a request is answered with; its parameters as values of Python."""
    endpoint = next(each for each in ENDPOINTS if each.name == name and each.applies(entry))
    names = [*inspect.signature(endpoint.function).parameters][1:]
    named = dict(zip(names, given, strict=False)) | asked
    return json.loads(body_of(endpoint.answer(entry, **named))[0])
