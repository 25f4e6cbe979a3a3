"""`View`: a trace by whole words or without special tokens, with the interface of `Trace`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.words import Group, joined, joined_tokens, renormalised, words_of
from models.attention import Block, Pattern
from models.attention.blocks import row_blocks
from models.trace import Output, Rows, Site, Tokens, Trace

Special = Literal["shown", "hidden", "renormalised"]
SPECIAL: tuple[Special, ...] = ("shown", "hidden", "renormalised")


@dataclass(frozen=True, eq=False)
class Read:
    """A text grouped by a view: the tokens of each word, and the words."""

    groups: tuple[Group, ...]
    tokens: Tokens


@dataclass(frozen=True, eq=False)
class View:
    """A trace of the first item of the batch, with its tokens grouped.

    Attributes:
        trace: the underlying trace.
        words: whether to join the tokens of each word: keys are summed, queries averaged.
        special: "hidden" drops the tokenizer's special tokens, so rows sum to less than 1;
            "renormalised" also divides each row by its sum.
    """

    trace: Trace
    words: bool = True
    special: Special = "shown"

    def __post_init__(self) -> None:
        if self.special not in SPECIAL:
            raise ValueError(f"special: expected one of {SPECIAL}, received {self.special!r}")

    @property
    def model(self) -> str:
        return self.trace.model

    @property
    def trained(self) -> bool:
        return self.trace.trained

    @property
    def note(self) -> str:
        """How the weights were grouped, for captions."""
        words = "whole words" if self.words else ""
        sums = {"hidden": ": rows sum to less than 1", "renormalised": ", rows made to sum to 1"}
        special = f"special tokens hidden{sums[self.special]}" if self.special in sums else ""
        return "; ".join(part for part in (words, special) if part)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns over single tokens."""
        return self.trace.patterns

    @property
    def output(self) -> Output:
        return self.trace.output

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        return tuple(
            replace(site, queries=len(rows.groups), keys=len(columns.groups))
            for site, rows, columns in self._sides.values()
        )

    @property
    def labels(self) -> list[str]:
        return list(self._read(self.trace.tokens[0]).tokens.labels)

    def queries(self, site: Site) -> tuple[Tokens, ...]:
        """Labels of the rows of a site's weights."""
        return (self._side(site)[1].tokens,)

    def keys(self, site: Site) -> tuple[Tokens, ...]:
        """Labels of the columns of a site's weights."""
        return (self._side(site)[2].tokens,)

    def query_labels(self, site: Site, item: int = 0) -> list[str]:
        return list(self.queries(site)[_first(item)].labels)

    def key_labels(self, site: Site, item: int = 0) -> list[str]:
        return list(self.keys(site)[_first(item)].labels)

    def weights(
        self,
        layer: int | Site,
        head: int | None = None,
        *,
        kind: str | None = None,
        tower: str | None = None,
        rows: Rows = None,
        item: int = 0,
    ) -> Float[Tensor, "*head query key"]:
        """As `Trace.weights`, between words; `rows` are words as well."""
        _first(item)
        site = self.trace.site(layer, kind, tower) if isinstance(layer, int) else layer
        _, row_side, key_side = self._side(site)
        chosen, columns = _chosen(row_side.groups, rows), key_side.groups
        tokens = [place for group in chosen for place in group]
        weights = self.trace.weights(site, head, rows=tokens)
        if self.special == "renormalised":
            kept = [place for group in columns for place in group]
            weights = renormalised(weights[..., kept])
            columns = _in_order(columns)
        return joined(weights, _in_order(chosen), columns)

    def blocks(self, site: Site, *, item: int = 0) -> Iterator[Block]:
        """As `Trace.blocks`, between words."""
        _first(item)
        queries, keys = (len(side.groups) for side in self._side(site)[1:])

        def read(heads: slice, rows: slice) -> Block:
            chosen = range(heads.start, heads.stop)
            weights = [self.weights(site, head, rows=rows) for head in chosen]
            return Block(heads, rows, slice(0, keys), torch.stack(weights))

        yield from row_blocks(read, site.heads, queries, keys)

    def token(self, site: Site, direction: str, word: int) -> int:
        """The last token of a word on a site's rows ("out") or columns ("in")."""
        return self._read_side(site, direction).groups[word][-1]

    def word(self, site: Site, direction: str, token: int) -> int | None:
        """The word that contains a token; None if the token is hidden."""
        groups = self._read_side(site, direction).groups
        return next((n for n, group in enumerate(groups) if token in group), None)

    def origins(self, site: Site, direction: str) -> tuple[Group, ...]:
        """The tokens of each of a site's rows ("out") or columns ("in")."""
        return self._read_side(site, direction).groups

    def _read_side(self, site: Site, direction: str) -> Read:
        _, rows, columns = self._side(site)
        return rows if direction == "out" else columns

    def _side(self, site: Site) -> tuple[Site, Read, Read]:
        return self._sides[_place(site)]

    @cached_property
    def _sides(self) -> dict[tuple, tuple[Site, Read, Read]]:
        """Each site with its grouped rows and columns; each text is grouped once."""
        trace = self.trace
        both = [(site, trace.queries(site)[0], trace.keys(site)[0]) for site in trace.sites]
        read = {id(text): self._read(text) for _, *texts in both for text in texts}
        return {
            _place(site): (site, read[id(rows)], read[id(columns)]) for site, rows, columns in both
        }

    def _read(self, tokens: Tokens) -> Read:
        groups = words_of(tokens) if self.words else tuple((i,) for i in range(len(tokens)))
        if self.special != "shown" and not all(tokens.special):
            groups = tuple(group for group in groups if not tokens.special[group[0]])
        return Read(groups, joined_tokens(tokens, groups))


def _place(site: Site) -> tuple:
    """What tells a site from the others of its trace, whatever its rows and columns are."""
    return site.layer, site.kind, site.tower, site.module, site.part


def _first(item: int) -> int:
    if item:
        raise ValueError(f"item: a view is of the first item, received {item}")
    return item


def _chosen(groups: Sequence[Group], rows: Rows) -> Sequence[Group]:
    if rows is None:
        return groups
    if isinstance(rows, slice):
        return groups[rows]
    return [groups[int(row)] for row in rows]


def _in_order(groups: Sequence[Group]) -> tuple[Group, ...]:
    """The groups as consecutive positions among their own tokens."""
    numbers = iter(range(sum(map(len, groups))))
    return tuple(tuple(next(numbers) for _ in group) for group in groups)
