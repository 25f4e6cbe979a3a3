"""One kind of request about a result: its path, its parameters, and what answers it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from viz.api import requests
from viz.api.entries import Kind, RunEntry, TraceEntry
from viz.api.registry import UnknownError
from viz.api.requests import Parse, one_of
from viz.selection import OF_FILES


def free(entry: Any, **asked: Any) -> int:
    """The cost of a response that takes no time worth mentioning."""
    return 0


@dataclass(frozen=True)
class Endpoint:
    """One kind of request about a result.

    Attributes:
        name: the last segment of its path.
        kinds: of views that have it.
        answer: maps the result, its id and the parameters to bytes, bytes with a media type, or
            JSON-serialisable data.
        required: required parameters with their parsers.
        optional: optional parameters with their parsers.
        cost: weights that must be computed, given the result and the parameters.
    """

    name: str
    kinds: tuple[Kind, ...]
    answer: Callable[..., Any]
    required: Mapping[str, Parse] = field(default_factory=dict)
    optional: Mapping[str, Parse] = field(default_factory=dict)
    cost: Callable[..., int] = free

    def applies(self, value: Any) -> bool:
        """Whether a result has this kind of request."""
        return isinstance(value, (TraceEntry, RunEntry)) and value.kind in self.kinds


def options(*names: str) -> dict[str, Parse]:
    """Options of the selection, as they are declared."""
    return {name: OF_FILES[name].kind for name in names}


WHOLE = requests.whole
SITE = {"site": WHOLE}
HEAD = {**SITE, "head": requests.head}
AXIS = {"axis": one_of("query", "key"), "index": WHOLE}
PAIR = {"query": WHOLE, "key": WHOLE}
TEXT: tuple[Kind, ...] = ("text",)
IMAGE: tuple[Kind, ...] = ("image",)
CORPUS: tuple[Kind, ...] = ("corpus",)
BOTH = (*TEXT, *IMAGE)


def path_of(name: str, **asked: Any) -> str:
    """The last segment of the path of a request, with its parameters; None and "" are left out."""
    query = {key: _held(key, value) for key, value in asked.items() if value not in (None, "")}
    return f"{name}?{urlencode(query, quote_via=quote)}" if query else name


def _held(name: str, value: Any) -> Any:
    """A value as the browser writes it: of numbers the shortest text."""
    held = OF_FILES[name].held(value) if name in OF_FILES else value
    return int(held) if isinstance(held, float) and held.is_integer() else held


def work_of(
    endpoints: Iterable[Endpoint],
    value: Any,
    id: str,
    name: str,
    query: Sequence[tuple[str, str]],
) -> tuple[int, Callable[[], Any]]:
    """What a response about a result costs and the function that computes it, after validation.

    Raises:
        UnknownError: there is no such route for this result.
        QuestionError: for invalid parameters.
    """
    endpoint = next((each for each in endpoints if each.name == name and each.applies(value)), None)
    if endpoint is None:
        raise UnknownError(name)
    asked = requests.parse_query(query, endpoint.required, endpoint.optional)
    return endpoint.cost(value, **asked), lambda: endpoint.answer(value, id, **asked)
