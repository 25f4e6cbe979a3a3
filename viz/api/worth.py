"""The heads worth seeing first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from viz.api.endpoint import endpoint
from viz.api.entries import TraceEntry, tokens_of

if TYPE_CHECKING:
    from analysis.worth import Worth


@dataclass(frozen=True)
class Words:
    """What a row and a column are called."""

    query: str
    key: str


@dataclass(frozen=True)
class WorthRow:
    """A row of a head that is worth seeing.

    Attributes:
        site: the number of its layer in the view.
        head: its index.
        query: the row.
        key: the column.
        weight: that the row gives the column.
        reason: why, in at most 22 letters.
        words: what the two are called.
    """

    site: int
    head: int
    query: int
    key: int
    weight: float
    reason: str
    words: Words


@dataclass(frozen=True)
class WorthSeeing:
    """At most three rows, the best first."""

    rows: list[WorthRow]


@endpoint("worth", slow=True)
def worth(entry: TraceEntry) -> WorthSeeing:
    """The rows of heads that are worth seeing first on this input."""
    sites = [site.where for site in entry.view.sites]
    return WorthSeeing([_row(entry, sites.index(row.site.where), row) for row in rows(entry)])


def rows(entry: TraceEntry) -> "list[Worth]":
    """The rows, by the tokens of the trace; computed once."""
    from analysis.worth import worth

    def compute() -> "list[Worth]":
        model = entry.opened()[0] if entry.opened and entry.trace.trained else None
        readers = (getattr(model, name, None) for name in ("tokenizer", "target_tokenizer"))
        return worth(entry.trace, *(getattr(reader, "words", None) for reader in readers))

    return entry.answers.once("worth", compute)


def _row(entry: TraceEntry, number: int, worth: "Worth") -> WorthRow:
    """A row as the view has it: of the words' tokens, the two with the largest weight."""
    queries = _holding(tokens_of(entry.view, number, "out"), worth.query)
    keys = _holding(tokens_of(entry.view, number, "in"), worth.key)
    weights = entry.view.weights(entry.view.sites[number], worth.head, rows=queries)[:, keys]
    row, column = divmod(int(weights.argmax()), len(keys))
    words = Words(*worth.words)
    place = queries[row], keys[column], float(weights[row, column])
    return WorthRow(number, worth.head, *place, worth.reason, words)


def _holding(groups: Sequence[Sequence[int]], tokens: Sequence[int]) -> list[int]:
    return [place for place, group in enumerate(groups) if not {*tokens}.isdisjoint(group)]
