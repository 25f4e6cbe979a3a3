"""Validation of untrusted requests: origin, host, and parameters."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from viz.values import TEXT, real, words
from viz.values import whole as whole_to

MAX_VALUE = 64  # characters of a parameter about a trace
MAX_WORD = 40  # characters of a word
LARGEST = 1e4  # absolute value of a number
MAX_QUERY = 1024

Parse = Callable[[str], Any]


class QuestionError(ValueError):
    """An invalid request; the message says what was expected."""


class ForeignError(PermissionError):
    """A request for another host, or from a page of another origin."""


def check_origin(headers: Mapping[str, str], allowed_hosts: Iterable[str]) -> None:
    """Refuses requests with a foreign Host header, or from a page of another origin.

    With DNS rebinding, a foreign page can point its own host name at this machine; its requests
    then carry that name as Host.

    Args:
        headers: of the request, with lower-case names.
        allowed_hosts: host names without ports, as in Streamlit's `server.allowedHosts`: the prefix
            `*.` allows subdomains; `*` or an empty list allows all.

    Raises:
        ForeignError: for a foreign host, an Origin that differs from the Host, or a request from a
            page of another site or port.
    """
    host = headers.get("host", "").lower()
    allowed = [name.strip().lower().rstrip(".") for name in allowed_hosts]
    if allowed and not any(_matches(_name(host), pattern) for pattern in allowed):
        raise ForeignError("this host is not allowed")
    origin = headers.get("origin")
    origins = f"http://{host.removesuffix(':80')}", f"https://{host.removesuffix(':443')}"
    if origin is not None and not (host and origin.lower() in origins):
        raise ForeignError("this origin is not allowed")
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise ForeignError("requests from other sites are not allowed")


def _name(host: str) -> str:
    """A Host header without its port; empty if it is malformed."""
    match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", host, re.ASCII)
    return match[1].strip("[]").rstrip(".") if match else ""


def _matches(name: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return name.endswith(pattern[1:])
    return bool(name) and pattern in ("*", name)


def parse_query(
    pairs: Sequence[tuple[str, str]],
    required: Mapping[str, Parse],
    optional: Mapping[str, Parse],
    longest: int = MAX_VALUE,
) -> dict[str, Any]:
    """The parsed and validated parameters of a query.

    Args:
        pairs: names and texts as they came.
        required: parsers of the parameters that must be there.
        optional: of those that may be.
        longest: characters of a parameter that says nothing else.

    Raises:
        QuestionError: a parameter is missing, unknown, repeated or invalid.
    """
    parsers = {**required, **optional}
    values: dict[str, Any] = {}
    if sum(len(name) + len(value) for name, value in pairs) > MAX_QUERY:
        raise QuestionError(f"expected at most {MAX_QUERY} characters of parameters")
    for name, text in pairs:
        if name not in parsers:
            expected = f"the parameters {', '.join(parsers)}" if parsers else "no parameters"
            raise QuestionError(f"expected {expected}")
        limit = max(longest, getattr(parsers[name], "longest", 0))
        if name in values or len(text) > limit:
            raise QuestionError(f"expected {name} once, in at most {limit} characters")
        try:
            values[name] = parsers[name](text)
        except ValueError as error:
            raise QuestionError(str(error)) from error
    missing = [name for name in required if name not in values]
    if missing:
        raise QuestionError(f"expected the parameter {missing[0]}")
    return values


whole = whole_to(0, 999_999_999)
sentence = TEXT


def word(text: str) -> str:
    """A short text of the user's, without control characters."""
    line = sentence(text).strip()
    if not 1 <= len(line) <= MAX_WORD:
        raise QuestionError(f"expected 1 to {MAX_WORD} characters")
    return line


def reals(size: int, most: float = LARGEST) -> Parse:
    """Numbers from −most to most joined by semicolons, as many as `size`."""
    number = real(-most, most)

    def parse(text: str) -> list[float]:
        parts = text.split(";")
        if len(parts) != size:
            raise QuestionError(f"expected {size} numbers joined by semicolons")
        return [number(part) for part in parts]

    return parse


def head(text: str) -> int | str:
    """The index of a head, or a combination of all heads."""
    if text in ("mean", "max"):
        return text
    try:
        return whole(text)
    except ValueError:
        raise QuestionError("expected the number of a head, mean or max") from None


one_of = words
