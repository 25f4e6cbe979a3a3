"""Link parameters: parsing, validation and serialisation of a page's settings.

A link contains the values that differ from the default, and those that are always named. Invalid
values are reported in one line and replaced by the default; unknown parameters are reported and
dropped.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from models.request import digest_of
from viz.values import SHA256, Kind, real, whole, wholes, words

MAX_TEXT = 2000  # characters; a link represents longer texts by their SHA-256
HASH = "_sha256"
MOST_FILES = 8  # uploaded files that one link names together
NAMED = 5  # settings of a link that are named though nothing knows them


@dataclass(frozen=True)
class Param:
    """One link parameter.

    Attributes:
        name: in the link.
        default: value if the link does not contain it.
        kind: of its values.
        gone: what is said of a value that a link names by its digest alone and that is not stored.
        replaced: values of older links that no longer exist, and what each opens instead.
        named: whether a link names the default too: another default would change what it shows.
    """

    name: str
    default: Any
    kind: Kind
    gone: str = (
        "This link refers to a text that is too long for a link: paste the text to see the same"
        " picture"
    )
    replaced: Mapping[str, str] = field(default_factory=dict)
    named: bool = False


def choice(name: str, default: str, options: Iterable[str]) -> Param:
    """One of several strings."""
    return Param(name, default, words(*options))


def number(name: str, default: int | None, low: int, high: int, step: int = 1) -> Param:
    """An integer from low to high, in steps."""
    return Param(name, default, whole(low, high, step))


def decimal(name: str, default: float | None, low: float, high: float) -> Param:
    """A float from low to high."""
    return Param(name, default, real(low, high))


def number_or(name: str, default: int | str, high: int, others: Iterable[str]) -> Param:
    """An integer from 0 to high, or one of several strings."""
    kind, known = whole(0, high), tuple(others)

    def read(text: str) -> int | str:
        return text if text in known else kind.read(text)

    return Param(name, default, Kind(f"{kind.expected}, or {' or '.join(known)}", read))


def sha256(name: str) -> Param:
    """The SHA-256 of data too large for a link; empty if there is none."""
    return Param(name, "", SHA256)


def sha256s(name: str) -> Param:
    """The SHA-256 of up to `MOST_FILES` files, joined by dots; empty for none."""

    def read(text: str) -> str:
        parts = text.split(".") if text else []
        if len(parts) > MOST_FILES:
            raise ValueError
        return ".".join(map(SHA256.read, parts))

    return Param(name, "", Kind(f"at most {MOST_FILES} SHA-256, joined by dots", read))


def numbers(name: str, high: int) -> Param:
    """Whole numbers from 0 to high, each once, joined by dots; empty for none."""
    kind = wholes(high)
    return Param(name, "", Kind(kind.expected, lambda text: kind.held(kind.read(text))))


def text(name: str, default: str) -> Param:
    """Free text."""
    return Param(name, default, Kind("text", str))


def with_defaults(params: Iterable[Param], defaults: Mapping[str, Any]) -> Iterator[Param]:
    """The same parameters, some with another default."""
    return (replace(each, default=defaults.get(each.name, each.default)) for each in params)


def read(params: Iterable[Param], query: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The settings in a link, and one message for each invalid part of it.

    Args:
        params: the settings of the page.
        query: of the link.
    """
    by_name = {param.name: param for param in params}
    values = {name: param.default for name, param in by_name.items()}
    wanted = {text + HASH for text in by_name}
    problems, unknown = [], []
    for name, raw in query.items():
        if name in by_name:
            param = by_name[name]
            now = param.replaced.get(raw, raw)
            if now != raw:
                problems.append(
                    f"The link says {name} = {_short(raw)}, which no longer exists."
                    f" Using {now} instead."
                )
            try:
                values[name] = param.kind.read(now)
            except ValueError:
                problems.append(
                    f"The link says {name} = {_short(raw)}; expected {param.kind.expected}."
                    f" Using {_worded(param.default)} instead."
                )
        elif name not in wanted:
            unknown.append(_short(name))
    if unknown:
        more = ", …" if len(unknown) > NAMED else ""
        listed = ", ".join(unknown[:NAMED]) + more
        problems.append(f"Settings of the link that Headscope does not have: {listed}.")
    return values, problems


def value(param: Param, query: Mapping[str, str]) -> Any:
    """The value of a single parameter of a link; the default if it is invalid."""
    return read((param,), query)[0][param.name]


def wanted(params: Iterable[Param], query: Mapping[str, str]) -> dict[str, str]:
    """The long texts a link refers to: name and SHA-256."""
    names = [param.name for param in params if param.name + HASH in query]
    return {name: query[name + HASH] for name in names}


def write(params: Iterable[Param], values: Mapping[str, Any]) -> dict[str, str]:
    """The query of a link for these settings: those named always or unlike the default."""
    query = {}
    for param in params:
        value = values[param.name]
        if value is None or (value == param.default and not param.named):
            continue
        if isinstance(value, str) and len(value) > MAX_TEXT:
            query[param.name + HASH] = digest_of(value)
        else:
            query[param.name] = str(value)
    return query


def _short(raw: str) -> str:
    excerpt = raw if len(raw) <= 30 else raw[:29] + "…"
    return f"“{excerpt}”"


def _worded(value: object) -> str:
    return "none" if value is None or value == "" else str(value)
