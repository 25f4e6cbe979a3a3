"""Requests about a result: `@endpoint` makes a function the answer to one."""

import inspect
import json
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, Literal, TypeVar, Union, get_args, get_origin
from urllib.parse import parse_qsl, quote, urlencode

from viz.api.entries import Download, Kind
from viz.api.requests import Parse, QuestionError, UnknownError, parse_query
from viz.selection import OF_FILES
from viz.values import FLAG, HEAD, NUMBER, SPAN, TEXT, Head, real, words

BINARY = "application/octet-stream"
KINDS: Mapping[Any, Parse] = {
    int: NUMBER,
    float: real(0, 100),
    bool: FLAG,
    str: TEXT,
    range: SPAN,
    Head: HEAD,
    int | str: HEAD,
}
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One kind of request about a result.

    Attributes:
        name: the last segment of its path.
        function: maps the result and the parameters to bytes, bytes with a media type, or what
            `plain` makes data of. A `ValueError` that it raises is an answer, too: {"why": one
            sentence}.
        slow: whether it runs the model, or reads every weight: it has threads of its own, and
            holds nothing else up.
        explains: whether the view shows such a sentence; else it is a failure.
        required: parsers of the parameters that must be there.
        optional: of those that may be.
    """

    name: str
    function: Callable[..., Any]
    slow: bool
    explains: bool
    required: Mapping[str, Parse]
    optional: Mapping[str, Parse]

    def answer(self, value: Any, *given: Any, **asked: Any) -> Any:
        """What answers a request with these parameters."""
        try:
            return self.function(value, *given, **asked)
        except QuestionError:
            raise
        except ValueError as error:
            if not self.explains:
                raise
            return {"why": " ".join(str(error).split())}


ENDPOINTS: dict[tuple[Kind, str], Endpoint] = {}
"""By the kind of result and the name; `viz.routes` imports all of them."""


def endpoint(
    name: str, *kinds: Kind, slow: bool = False, explains: bool = True, **parsers: Parse
) -> Callable[[F], F]:
    """Makes a function the answer to a request; parameters are read by its annotations.

    Args:
        name: of the request.
        kinds: of results that have it; those of a trace if none are named.
        slow: see `Endpoint`.
        explains: see `Endpoint`.
        parsers: of parameters that are read otherwise. A function with keywords takes all of
            these, and the options of files.
    """

    def declare(function: F) -> F:
        signature = inspect.signature(function)
        required, optional = dict[str, Parse](), dict[str, Parse]()
        for each in [*signature.parameters.values()][1:]:
            if each.kind is each.VAR_KEYWORD:
                more = {name: option.kind for name, option in OF_FILES.items()} | parsers
                optional |= {n: parse for n, parse in more.items() if n not in required}
            else:
                kept = required if each.default is each.empty else optional
                kept[each.name] = parsers.get(each.name) or _parser(each.name, each.annotation)
        said = explains and signature.return_annotation not in (bytes, tuple[bytes, str], Download)
        declared = Endpoint(name, function, slow, said, required, optional)
        ENDPOINTS.update({(kind, name): declared for kind in kinds or ("text", "image")})
        return function

    return declare


def _parser(name: str, annotation: Any) -> Parse:
    """How a parameter is read: by its words, as the option of this name, or by its type."""
    if get_origin(annotation) is Literal:
        return words(*get_args(annotation))
    if types.NoneType in (inner := get_args(annotation)):
        annotation = Union[*(each for each in inner if each is not types.NoneType)]
    return OF_FILES[name].kind if name in OF_FILES else KINDS[annotation]


def path_of(name: str, **asked: Any) -> str:
    """The last segment of the path of a request, with its parameters; None and "" are left out."""
    query = {key: _held(key, value) for key, value in asked.items() if value not in (None, "")}
    return f"{name}?{urlencode(query, quote_via=quote)}" if query else name


def _held(name: str, value: Any) -> Any:
    """A value as the browser writes it: of numbers the shortest text."""
    held = OF_FILES[name].held(value) if name in OF_FILES else value
    return int(held) if isinstance(held, float) and held.is_integer() else held


def work_of(
    value: Any, name: str, query: Sequence[tuple[str, str]]
) -> tuple[bool, Callable[[], Any]]:
    """Whether a response is slow and the function that computes it, after validation.

    Raises:
        UnknownError: there is no such route for this result.
        QuestionError: for invalid parameters.
    """
    known = ENDPOINTS.get((getattr(value, "kind", "text"), name))
    if known is None:
        raise UnknownError("there is no such route")
    asked = parse_query(query, known.required, known.optional)
    return known.slow, partial(known.answer, value, **asked)


def answered(value: Any, path: str) -> bytes:
    """The response to a path such as "map?site=0&head=3"."""
    name, _, query = path.partition("?")
    return body_of(work_of(value, name, parse_qsl(query))[1]())[0]


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
