"""Link parameters: parsing, validation and serialisation of a page's settings.

A link contains the values that differ from the default, and those that are always named. Invalid
values are reported in one line and replaced by the default; unknown parameters are reported and
dropped.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from models.request import digest_of
from viz.values import SHA256, Kind, real, whole, wholes, words

MAX_TEXT = 2000  # characters; a link represents longer texts by their SHA-256
HASH = "_sha256"
MOST_FILES = 8  # uploaded files that one link names together
OPENED_AS_USUAL = (
    "This link chooses a precision or an implementation of the model. Headscope has no such choice"
    " any more; the model opens in float32, in the implementation that suits it."
)
PREPARED_AS_STATED = (
    "This link changes the mean, deviation or size of a prepared picture. Headscope has no such"
    " choice any more; the checkpoint’s own are used."
)
GONE = {  # what is said of a setting that older links have, by its name
    "dtype": OPENED_AS_USUAL,
    "door": OPENED_AS_USUAL,
    "average": "This link showed a mean over all tokens, which no longer exists: choose a token.",
    "figure": "This link showed a figure of a paper that is not drawn any more: see “Numbers”.",
    "arrangement": "This link arranged thumbnails by a number, by which a table is sorted now.",
    "print": "This link showed a lesson on paper: print the page, and all steps are on it.",
    "room": "This link led to a live classroom, which no longer exists: the page opens on its own.",
    **dict.fromkeys(("mean", "std", "rows_px", "cols_px"), PREPARED_AS_STATED),
    "chooser": "This link opened the list of models: it opens from the model’s name now.",
    "column": "This link chose a column of a table; now each line of the text is a prompt.",
    **dict.fromkeys(
        ("beside", "beside_fusion", "beside_discard"),
        "This link shows two methods beside each other. One is shown at a time now.",
    ),
    "generic": "This link divides a map by that of another question. The weights are shown now.",
    "paint": "This link drew weights smoothly or as a mask: each patch has its colour now.",
    **dict.fromkeys(
        ("view", "newrows", "newcols"),
        "This link chose a view of the Positions page, which shows each scheme at once now.",
    ),
    **dict.fromkeys(
        ("look", "ks", "weight", "reads", "ids", "answer_ids", "fit"),
        "This link drew parts as areas, counted right answers or read token ids. The page shows the"
        " parts of a network and its heads on a text now.",
    ),
    "special": "This link hid special tokens: one switch ignores those on which heads rest now.",
    "tree": "This link opened the tree of a score, which no longer exists: the pair opens alone.",
}


@dataclass(frozen=True)
class Param:
    """One link parameter.

    Attributes:
        name: in the link.
        default: value if the link does not contain it.
        parse: converts the link's text to a value; raises ValueError.
        expected: description of valid values.
        gone: what is said of a value that a link names by its digest alone and that is not stored.
        replaced: values of older links that no longer exist, and what each opens instead.
        named: whether a link names the default too: another default would change what it shows.
    """

    name: str
    default: Any
    parse: Callable[[str], Any]
    expected: str
    gone: str = (
        "This link refers to a text that is too long for a link: paste the text to see the same"
        " picture"
    )
    replaced: Mapping[str, str] = field(default_factory=dict)
    named: bool = False


def _of(name: str, default: Any, kind: Kind) -> Param:
    return Param(name, default, kind.read, kind.expected)


def choice(name: str, default: str, options: Iterable[str]) -> Param:
    """One of several strings."""
    return _of(name, default, words(*options))


def number(name: str, default: int | None, low: int, high: int, step: int = 1) -> Param:
    """An integer from low to high, in steps."""
    return _of(name, default, whole(low, high, step))


def decimal(name: str, default: float | None, low: float, high: float) -> Param:
    """A float from low to high."""
    return _of(name, default, real(low, high))


def one_of(name: str, default: int, options: Iterable[int]) -> Param:
    """One of several integers."""
    kind = words(*map(str, options))
    return Param(name, default, lambda text: int(kind.read(text)), kind.expected)


def number_or(name: str, default: int | str, high: int, others: Iterable[str]) -> Param:
    """An integer from 0 to high, or one of several strings."""
    kind, known = whole(0, high), tuple(others)
    return Param(
        name,
        default,
        lambda text: text if text in known else kind.read(text),
        f"{kind.expected}, or {' or '.join(known)}",
    )


def sha256(name: str) -> Param:
    """The SHA-256 of data too large for a link; empty if there is none."""
    return _of(name, "", SHA256)


def sha256s(name: str) -> Param:
    """The SHA-256 of up to `MOST_FILES` files, joined by dots; empty for none."""

    def parse(text: str) -> str:
        parts = text.split(".") if text else []
        if len(parts) > MOST_FILES:
            raise ValueError
        return ".".join(map(SHA256.read, parts))

    return Param(name, "", parse, f"at most {MOST_FILES} SHA-256, joined by dots")


def numbers(name: str, high: int) -> Param:
    """Whole numbers from 0 to high, each once, joined by dots; empty for none."""
    kind = wholes(high)
    return Param(name, "", lambda text: kind.held(kind.read(text)), kind.expected)


def text(name: str, default: str) -> Param:
    """Free text."""
    return Param(name, default, str, "text")


def retired(name: str) -> Param:
    """A parameter of older links that is accepted and ignored."""
    return Param(name, None, lambda text: None, "text")


def read(params: Iterable[Param], query: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The settings in a link, and one message for each invalid part of it.

    Args:
        params: the settings of the page.
        query: of the link.
    """
    by_name = {param.name: param for param in params}
    values = {name: param.default for name, param in by_name.items()}
    wanted = {text + HASH for text in by_name}
    problems = []
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
                values[name] = param.parse(now)
            except ValueError:
                problems.append(
                    f"The link says {name} = {_short(raw)}; expected {param.expected}."
                    f" Using {_worded(param.default)} instead."
                )
        elif name in GONE:
            problems.append(GONE[name])
        elif name not in wanted:
            problems.append(f"The link has a setting called {_short(name)}, which does not exist.")
    return values, [*dict.fromkeys(problems)]


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
