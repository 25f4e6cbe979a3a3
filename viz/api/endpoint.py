"""Requests about a result: `@endpoint` makes a function the answer to one."""

import inspect
import json
import math
import types
from collections.abc import Callable, Container, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin
from urllib.parse import parse_qsl, quote, urlencode

from viz.selection import OF_FILES
from viz.values import FLAG, HEAD, NUMBER, SPAN, TEXT, Head, Kind, real, wholes, words

if TYPE_CHECKING:
    from models.trace import Site

ResultKind = Literal["text", "image", "corpus", "build"]  # kinds of results

MAX_QUERY = 1024  # characters
BINARY = "application/octet-stream"
KINDS: Mapping[Any, Kind] = {
    int: NUMBER,
    float: real(0, 100),
    bool: FLAG,
    str: TEXT,
    range: SPAN,
    Head: HEAD,
    int | str: HEAD,
    tuple[int, ...]: wholes(999),
}
F = TypeVar("F", bound=Callable[..., Any])


class QuestionError(ValueError):
    """An invalid request; the message says what was expected."""


class UnknownError(LookupError):
    """Nothing has this name."""


@dataclass(frozen=True, eq=False)
class Download:
    """A file to be saved, not shown.

    Attributes:
        data: its contents.
        kind: media type.
        name: suggested to the user; letters, digits, dots and hyphens.
    """

    data: bytes
    kind: str
    name: str


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One kind of request about a result.

    Attributes:
        function: maps the result and the parameters to bytes, bytes with a media type, or what
            `plain` makes data of. A `ValueError` that it raises is an answer, too: {"why": one
            sentence}.
        slow: whether it runs the model, or reads every weight: it has threads of its own, and
            holds nothing else up.
        explains: whether the view shows such a sentence; else it is a failure.
        kinds: of its parameters.
        optional: those that may be left out.
    """

    function: Callable[..., Any]
    slow: bool
    explains: bool
    kinds: Mapping[str, Kind]
    optional: Set[str]

    def answer(self, value: Any, *given: Any, **asked: Any) -> Any:
        """What answers a request with these parameters.

        Raises:
            QuestionError: for a site or head that the result does not have, or as the function.
        """
        named = inspect.signature(self.function).bind(value, *given, **asked).arguments
        if (site := named.get("site")) is not None:
            check_place(value.sites, site, named.get("head"))
        try:
            return self.function(value, *given, **asked)
        except QuestionError:
            raise
        except ValueError as error:
            if not self.explains:
                raise
            return {"why": " ".join(str(error).split())}


ENDPOINTS: dict[tuple[ResultKind, str], Endpoint] = {}
"""By the kind of result and the name; `viz.routes` imports all of them."""


def check_place(sites: "Sequence[Site]", site: int, head: object = None) -> None:
    """Raises QuestionError for a site or head that is not there."""
    if site >= len(sites):
        raise QuestionError(f"expected site 0 to {len(sites) - 1}")
    if isinstance(head, int) and head >= sites[site].heads:
        raise QuestionError(f"expected head 0 to {sites[site].heads - 1}, mean or max")


def endpoint(
    name: str,
    *of: ResultKind,
    slow: bool = False,
    explains: bool = True,
    keywords: Callable[..., Any] | None = None,
    **kinds: Kind,
) -> Callable[[F], F]:
    """Makes a function the answer to a request; parameters are read by its annotations.

    The result has a site that is named `site`, and a head of it that is named `head`.

    Args:
        name: of the request.
        of: the kinds of results that have it; those of a trace if none are named.
        slow: see `Endpoint`.
        explains: see `Endpoint`.
        keywords: another function, whose keywords it passes on: the options of files among them.
        kinds: of parameters that are read otherwise.
    """

    def declare(function: F) -> F:
        signature = inspect.signature(function)
        parameters = [*signature.parameters.values()][1:]
        files = {name: option.kind for name, option in OF_FILES.items()} if keywords else {}
        if keywords is not None:
            passed = inspect.signature(keywords).parameters.values()
            parameters += [each for each in passed if each.kind is each.KEYWORD_ONLY]
        named = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
        taken = {e.name: kinds.get(e.name) or _kind(e.name, e.annotation) for e in named}
        optional = {each.name for each in named if each.default is not each.empty} | files.keys()
        said = explains and signature.return_annotation not in (bytes, tuple[bytes, str], Download)
        declared = Endpoint(function, slow, said, files | taken, optional)
        ENDPOINTS.update({(kind, name): declared for kind in of or ("text", "image")})
        return function

    return declare


def _kind(name: str, annotation: Any) -> Kind:
    """What a parameter is: one of its words, the option of this name, or by its type."""
    if get_origin(annotation) is Literal:
        return words(*get_args(annotation))
    if types.NoneType in (inner := get_args(annotation)):
        annotation = Union[*(each for each in inner if each is not types.NoneType)]
    return OF_FILES[name].kind if name in OF_FILES else KINDS[annotation]


# ---- from the text of a request to an answer as it is sent


def parse_query(
    pairs: Sequence[tuple[str, str]], kinds: Mapping[str, Kind], optional: Container[str] = ()
) -> dict[str, Any]:
    """The parsed and validated parameters of a query.

    Args:
        pairs: names and texts as they came.
        kinds: of the parameters, by name.
        optional: those that may be left out.

    Raises:
        QuestionError: a parameter is missing, unknown, repeated or invalid.
    """
    values: dict[str, Any] = {}
    if sum(len(name) + len(text) for name, text in pairs) > MAX_QUERY:
        raise QuestionError(f"expected at most {MAX_QUERY} characters of parameters")
    for name, text in pairs:
        kind = kinds.get(name)
        if kind is None:
            expected = f"the parameters {', '.join(kinds)}" if kinds else "no parameters"
            raise QuestionError(f"expected {expected}")
        if name in values or len(text) > kind.longest:
            raise QuestionError(f"expected {name} once, in at most {kind.longest} characters")
        try:
            values[name] = kind(text)
        except ValueError as error:
            raise QuestionError(str(error)) from error
    for name in kinds:
        if name not in values and name not in optional:
            raise QuestionError(f"expected the parameter {name}")
    return values


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
    asked = parse_query(query, known.kinds, known.optional)
    return known.slow, partial(known.answer, value, **asked)


def response_to(value: Any, path: str) -> tuple[bytes, str]:
    """The response to a path such as "map?site=0&head=3", and its media type."""
    name, _, query = path.partition("?")
    return body_of(work_of(value, name, parse_qsl(query))[1]())


def answered(value: Any, path: str) -> bytes:
    """The response to a path."""
    return response_to(value, path)[0]


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
