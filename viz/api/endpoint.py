"""One kind of request about a result: its path, its parameters, and what answers it."""

import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any
from urllib.parse import quote, urlencode

from viz.api import requests
from viz.api.entries import Download, Kind, RunEntry, TraceEntry
from viz.api.registry import UnknownError
from viz.api.requests import Parse, QuestionError, one_of
from viz.selection import OF_FILES
from viz.values import real

WHOLE = requests.whole
NUMBERS = (
    *("site", "index", "token", "query", "key", "row", "number", "frame", "first", "last"),
    *("left", "top", "right", "bottom", "count", "order", "seed", "second_site", "second_token"),
)
PARAMETERS: Mapping[str, Parse] = {  # what has the same name is read in the same way
    **{name: option.kind for name, option in OF_FILES.items()},
    **dict.fromkeys(NUMBERS, WHOLE),
    **dict.fromkeys(("head", "second_head"), requests.head),
    "axis": one_of("query", "key"),
    "temperature": real(0, 100),
    "top_k": WHOLE,
    "top_p": real(0, 1),
}
BINARY = "application/octet-stream"
TEXT: tuple[Kind, ...] = ("text",)
IMAGE: tuple[Kind, ...] = ("image",)
CORPUS: tuple[Kind, ...] = ("corpus",)
BOTH = (*TEXT, *IMAGE)


class Endpoint:
    """One kind of request about a result; its parameters are those of the function that answers.

    Args:
        name: the last segment of its path.
        kinds: of views that have it.
        answer: maps the result and the parameters to bytes, bytes with a media type, or what
            `plain` makes data of. A `ValueError` that it raises is an answer, too: {"why": one
            sentence}.
        slow: whether it runs the model, or reads every weight: it has threads of its own, and
            holds nothing else up.
        explains: whether the view shows such a sentence; else it is a failure.
        parsers: of parameters that are read otherwise than `PARAMETERS` says. A function with
            keywords takes all of these, and the options of files.
    """

    def __init__(
        self,
        name: str,
        kinds: tuple[Kind, ...],
        answer: Callable[..., Any],
        slow: bool = False,
        explains: bool = True,
        **parsers: Parse,
    ) -> None:
        self.name, self.kinds, self.slow, self.function = name, kinds, slow, answer
        signature = inspect.signature(answer)
        files = (bytes, tuple[bytes, str], Download)
        self.explains = explains and signature.return_annotation not in files
        self.required: dict[str, Parse] = {}
        self.optional: dict[str, Parse] = {}
        more = {name: parse for name, parse in parsers.items() if name not in signature.parameters}
        for each in [*signature.parameters.values()][1:]:
            if each.kind is each.VAR_KEYWORD:
                self.optional |= {name: option.kind for name, option in OF_FILES.items()} | more
            else:
                kept = self.required if each.default is each.empty else self.optional
                kept[each.name] = parsers.get(each.name) or PARAMETERS[each.name]

    def applies(self, value: Any) -> bool:
        """Whether a result has this kind of request."""
        return isinstance(value, (TraceEntry, RunEntry)) and value.kind in self.kinds

    def answer(self, value: Any, **asked: Any) -> Any:
        """What answers a request with these parameters."""
        try:
            return self.function(value, **asked)
        except QuestionError:
            raise
        except ValueError as error:
            if not self.explains:
                raise
            return {"why": " ".join(str(error).split())}


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
    name: str,
    query: Sequence[tuple[str, str]],
) -> tuple[bool, Callable[[], Any]]:
    """Whether a response is slow and the function that computes it, after validation.

    Raises:
        UnknownError: there is no such route for this result.
        QuestionError: for invalid parameters.
    """
    endpoint = next((each for each in endpoints if each.name == name and each.applies(value)), None)
    if endpoint is None:
        raise UnknownError(name)
    asked = requests.parse_query(query, endpoint.required, endpoint.optional)
    return endpoint.slow, lambda: endpoint.answer(value, **asked)


def body_of(answer: Any) -> tuple[bytes, str]:
    """An answer as it is sent, and its media type: what is not bytes as JSON."""
    if isinstance(answer, Download):
        return answer.data, answer.kind
    if type(answer) is tuple:
        return answer
    if isinstance(answer, bytes):
        return answer, BINARY
    text = json.dumps(plain(answer), ensure_ascii=False, allow_nan=False)
    return text.encode(), "application/json"


def plain(value: Any) -> Any:
    """A value as JSON has it: objects by their fields, numbers to six digits, None for no number.

    Attributes:
        value: of dataclasses, named tuples, arrays, tensors and what JSON has itself.
    """
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple | range):
        return [plain(each) for each in value]
    return plain(value.tolist())
