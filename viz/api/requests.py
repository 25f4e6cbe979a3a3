"""Checks what a stranger sends: who asks, and whether the question makes sense."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

MAX_VALUE = 64  # characters of a parameter
MAX_QUERY = 1024

Parse = Callable[[str], Any]


class QuestionError(ValueError):
    """A question that makes no sense; its text says what was expected."""


class ForeignError(PermissionError):
    """A request for another host, or from a page of another origin."""


def check_origin(headers: Mapping[str, str], allowed_hosts: Iterable[str]) -> None:
    """Refuses requests that reach this server under a foreign name, or from a foreign page.

    A page elsewhere can point a name of its own at this machine (DNS rebinding); its requests
    then carry that name as Host.

    Args:
        headers: of the request, with lower-case names.
        allowed_hosts: host names without ports; empty allows all.

    Raises:
        ForeignError: for another host, an Origin other than the Host, or a cross-site request.
    """
    host = headers.get("host", "")
    name = urlsplit(f"//{host}").hostname or ""
    allowed = {allowed.lower().strip("[]") for allowed in allowed_hosts}
    if allowed and name.lower() not in allowed:
        raise ForeignError("this host is not allowed")
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        raise ForeignError("this origin is not allowed")
    if headers.get("sec-fetch-site") == "cross-site":
        raise ForeignError("cross-site requests are not allowed")


def parse_query(
    pairs: Sequence[tuple[str, str]], required: Mapping[str, Parse], optional: Mapping[str, Parse]
) -> dict[str, Any]:
    """The values of a query, checked.

    Raises:
        QuestionError: a parameter is missing, unknown, given twice, or makes no sense.
    """
    known = {**required, **optional}
    values: dict[str, Any] = {}
    if sum(len(name) + len(value) for name, value in pairs) > MAX_QUERY:
        raise QuestionError(f"expected at most {MAX_QUERY} characters of parameters")
    for name, text in pairs:
        if name not in known:
            raise QuestionError(f"expected the parameters {', '.join(known) or 'of none'}")
        if name in values or len(text) > MAX_VALUE:
            raise QuestionError(f"expected {name} once, in at most {MAX_VALUE} characters")
        values[name] = known[name](text)
    missing = [name for name in required if name not in values]
    if missing:
        raise QuestionError(f"expected the parameter {missing[0]}")
    return values


def whole(text: str) -> int:
    """A whole number of at most nine digits."""
    if not re.fullmatch("[0-9]{1,9}", text, re.ASCII):
        raise QuestionError("expected a whole number")
    return int(text)


def head(text: str) -> int | str:
    """The number of a head, or a combination of all heads."""
    return text if text in ("mean", "max") else whole(text)


def span(text: str) -> range:
    """Positions `start-stop`, stop left out."""
    start, dash, stop = text.partition("-")
    found = range(whole(start), whole(stop)) if dash else range(0)
    if not found:
        raise QuestionError("expected positions such as 0-512")
    return found


def one_of(*words: str) -> Parse:
    """One of a few words."""

    def parse(text: str) -> str:
        if text not in words:
            raise QuestionError(f"expected one of {', '.join(words)}")
        return text

    return parse
