"""The numbers of a head: what each is called, its formula, source and range (measures.toml)."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NEAR = 5  # tokens on either side that count as local
VOCABULARY = 16_384  # tokens over which the copying score with embeddings is taken, at most


@dataclass(frozen=True)
class Measure:
    """One number per head.

    Attributes:
        key: its name in `heads`.
        formula: A is the weight, i the query, j the key; the mean is over queries.
        source: where it comes from.
        about: what it says, in one sentence.
        title: for a control; that of "" is the key.
        low: its smallest possible value.
        high: its largest; None if that depends on the text.
    """

    key: str
    formula: str
    source: str
    about: str
    title: str = ""
    low: float = 0.0
    high: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.key.capitalize())


def _stated(table: dict[str, dict[str, Any]]) -> tuple[Measure, ...]:
    """The numbers of a table, with the sizes above in their texts."""

    def filled(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return value.format(near=NEAR, vocabulary=VOCABULARY)

    return tuple(
        Measure(key, **{name: filled(value) for name, value in stated.items()})
        for key, stated in table.items()
    )


TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MEASURES = _stated(TABLES["every"])
PICTURE_MEASURES = _stated(TABLES["pictures"])  # of patches, beside those above
