"""Link parameters: parsing, validation and serialisation of a page's settings.

A link contains the values that differ from the default, and those that are always named. Invalid
values are reported in one line and replaced by the default; unknown parameters are reported and
dropped.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from models.request import digest_of
from viz.values import Kind, whole, words

MAX_TEXT = 2000  # characters; a link represents longer texts by their SHA-256
HASH = "_sha256"
NAMED = 5  # settings of a link that are named though nothing knows them


@dataclass(frozen=True)
class Param:
    """One link parameter.

    Attributes:
        name: in the link.
        default: value if the link does not contain it.
        kind: of its values.
        replaced: values of older links that no longer exist, and what each opens instead.
        named: whether a link names the default too: another default would change what it shows.
    """

    name: str
    default: Any
    kind: Kind
    replaced: Mapping[str, str] = field(default_factory=dict)
    named: bool = False

    def read(self, text: str) -> Any:
        """The value of a text, as settings hold it; ValueError for an invalid one."""
        return self.kind.held(self.kind.read(text))


def choice(name: str, default: str, options: Iterable[str], **more: Any) -> Param:
    """One of several strings; `more` as `Param` has it."""
    return Param(name, default, words(*options), **more)


def number(name: str, default: int | None, low: int, high: int) -> Param:
    """A whole number from low to high."""
    return Param(name, default, whole(low, high))


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
    problems, unknown = [], []
    for name, raw in query.items():
        param = by_name.get(name)
        if param is None:
            if name.removesuffix(HASH) not in by_name:
                unknown.append(_short(name))
            continue
        now = param.replaced.get(raw, raw)
        said = f"The link says {name} = {_short(raw)}"
        if now != raw:
            problems.append(f"{said}, which no longer exists. Using {now} instead.")
        try:
            values[name] = param.read(now)
        except ValueError:
            default = "none" if param.default in (None, "") else param.default
            problems.append(f"{said}; expected {param.kind.expected}. Using {default} instead.")
    if unknown:
        listed = ", ".join(unknown[:NAMED]) + (", …" if len(unknown) > NAMED else "")
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
