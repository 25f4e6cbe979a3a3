"""Heads worth seeing on one input: a few links that no other word makes, between telling words."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.percent import percent
from analysis.sinks import sinks_of
from analysis.words import Group, joined, joined_tokens, words_of
from models.picture_grid import PictureGrid
from models.trace import Site, Tokens, Trace

Vocabulary = Mapping[int, str] | None
APART = 2  # words, or patches: nearer ones are explained by their places alone
LEAST = 0.1  # of a weight
LONG = 5  # bytes; in every language the commonest words are shorter
MOST = 8  # rows of one head
FIRST = 3  # rows that are told
LAST = 1.5  # times the score of the last word of a decoder: what it reads becomes the next word
AGAIN = 0.7  # times the score of a link to a word that another row is linked to
ACROSS = 3.0  # in place of the distance, of links to another text, to patches and to moments
PIECE = re.compile(r"(##|Ġ|▁| )?[^\W\d_]{2,}")  # entries of a vocabulary that are parts of words
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Worth:
    """A head, and a row of it that is worth seeing.

    Attributes:
        site: its layer.
        head: its index.
        query: the tokens of the word that looks; of cross-attention, those that write it.
        key: the tokens of the word that it looks at, or the patch or moment.
        words: what the two are called.
        reason: why, in at most 22 letters.
    """

    site: Site
    head: int
    query: Group
    key: Group
    words: tuple[str, str]
    reason: str


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of an axis, and what is not a word: patches and moments.

    Attributes:
        groups: the tokens of each word.
        names: what they are called.
        rare: of each, 0 to 1.
        area: a place for each token that is a patch or moment, NaN for others; None without any.
    """

    groups: Sequence[Group]
    names: Sequence[str]
    rare: Float[Tensor, " word"]
    area: Float[Tensor, "token axis"] | None


class _Link(NamedTuple):
    score: float
    row: Worth


def worth(
    trace: Trace, vocabulary: Vocabulary = None, target_vocabulary: Vocabulary = None
) -> list[Worth]:
    """The rows of heads that are worth seeing first, the best first: at most `FIRST`, one for each
    word, and for each pair of words.

    A link from word i to word j in one head scores

        (w_ij − the mean weight that other words give to j)
        · rare(j)² · (1 + rare(i)) / 2 · log2(1 + how many words apart they are)

    The first factor is the weight times its specificity (1 − that mean / w_ij), so that the column
    of a token on which heads rest scores nothing. `rare` tells words from function words in any
    language: log(1 + r) / log(1 + n / 4), at most 1, of the rank r of a word's pieces among the n
    of the vocabulary, which tokenizers number by frequency; times the word's length up to five
    bytes, as frequent words are short in every language (Zipf 1935). Words less than two apart,
    special tokens and the first token of self-attention are left out.

    Patches and moments are not told apart: a row scores the weight that it gives, above the mean of
    the other rows, to those more than two away. Of cross-attention, a row is of the word it writes.

    Args:
        trace: of a trained network; the first item of its batch.
        vocabulary: the string of each token id; without it, only lengths tell words apart.
        target_vocabulary: that of the decoder, where it has one of its own.

    Raises:
        ValueError: for random weights, and where no two words, patches or moments are linked.

    Source: benchmarks/worth.py, which judges the rule on sentences in three languages.
    """
    if not trace.trained:
        raise ValueError("the weights are random: no head is worth seeing before the others")
    ranks = [_ranks(each) for each in (vocabulary, target_vocabulary or vocabulary)]
    alike = {_texts(trace, site): site for site in trace.sites}  # layers that read the same texts
    read = {texts: _sides(trace, site, ranks) for texts, site in alike.items()}
    sides = [(site, *read[_texts(trace, site)]) for site in trace.sites]
    worded = [each for each in sides if each[1].groups]
    links = [link for each in worded or sides for link in _Layer(trace, *each).links()]
    first: list[Worth] = []
    while links and len(first) < FIRST:
        keys = [row.key for row in first]
        best = max(links, key=lambda link: link.score * AGAIN ** keys.count(link.row.key))
        first.append(best.row)
        links = [link for link in links if not _repeats(link.row, best.row)]
    if not first:
        raise ValueError("no two words of this input are far enough apart to link them")
    return first


def _repeats(one: Worth, other: Worth) -> bool:
    """Whether two rows are of one word, or link the same two words."""
    same = {name.casefold() for name in one.words} == {name.casefold() for name in other.words}
    return same or one.query == other.query


# --- which words ----------------------------------------------------------------------------------


def _ranks(vocabulary: Vocabulary) -> list[int] | None:
    """The ids of parts of words, in order; None if too few have any order."""
    ids = sorted(id for id, text in (vocabulary or {}).items() if PIECE.fullmatch(text))
    return ids if len(ids) > 1000 else None


def _texts(trace: Trace, site: Site) -> tuple[object, ...]:
    return id(trace.queries(site)), id(trace.keys(site)), site.kind, site.tower


def _sides(trace: Trace, site: Site, ranks: Sequence[list[int] | None]) -> tuple[_Words, _Words]:
    """What the rows and the columns of a site are."""
    (queries, *_), (keys, *_) = trace.queries(site), trace.keys(site)
    rows = _area(trace, trace.query_pictures(site), queries)
    columns = _area(trace, trace.key_pictures(site), keys)
    crosses, decodes = site.kind == "cross", site.tower == "decoder"
    sinks = () if crosses else sinks_of(trace, site)
    return (
        _words(queries, rows, ranks[decodes], ()),
        _words(keys, columns, ranks[decodes and not crosses], sinks),
    )


def _area(
    trace: Trace, grids: Sequence[PictureGrid], tokens: Tokens
) -> Float[Tensor, "token axis"] | None:
    """Where patches and moments lie: number of the grid, row, column; or the time."""
    count = len(tokens)
    if trace.sound is not None and tokens not in (trace.target_tokens or ()):
        times = torch.arange(count).float()
        times[trace.sound.frames_heard(count) :] = math.nan
        return times[:, None]
    if not grids:
        return None
    area = torch.full((count, 3), math.nan)
    for number, grid in enumerate(grids):
        rows, cols = torch.meshgrid(*map(torch.arange, grid.places.shape), indexing="ij")
        area[grid.places] = torch.stack([torch.full_like(rows, 9 * number), rows, cols], -1).float()
    return area


def _words(
    tokens: Tokens, area: Tensor | None, ranks: list[int] | None, without: Sequence[int]
) -> _Words:
    """The words of an axis that have a letter or a digit."""
    groups = [] if area is not None and area.shape[1] == 1 else words_of(tokens)
    placed = set() if area is None else {*(~area[:, 0].isnan()).nonzero().flatten().tolist()}
    groups = [g for g in groups if not tokens.special[g[0]] and placed.isdisjoint(g)]
    named = zip(groups, joined_tokens(tokens, groups).labels, strict=True)
    words = [(group, name.strip()) for group, name in named if re.search(r"\w", name)]
    rare = [
        0.0 if {*without}.intersection(group) else _rare(tokens, group, name, ranks)
        for group, name in words
    ]
    groups, names = [group for group, _ in words], [name for _, name in words]
    return _Words(groups, names, torch.tensor(rare), area)


def _rare(tokens: Tokens, group: Group, name: str, ranks: list[int] | None) -> float:
    """0 to 1: how rare a word is, by the ranks of its pieces and its length."""
    length = min(1.0, len(re.sub(r"\W", "", name).encode()) / LONG)
    if ranks is None:
        return length
    bits = sum(math.log1p(bisect_left(ranks, tokens.ids[place])) for place in group)
    return length * min(1.0, bits / math.log1p(len(ranks) / 4))


# --- which links ----------------------------------------------------------------------------------


def _above(weights: Float[Tensor, "row key"]) -> Float[Tensor, "row key"]:
    """Weights less the mean of the other rows that see the key."""
    seen = (weights > 0).float()
    others = (seen.sum(0) - seen).clamp_min(1)
    return weights - (weights.sum(0) - weights) / others


@dataclass(frozen=True, eq=False)
class _Layer:
    """A site, what its rows and columns are, and the tokens of each row that looks."""

    trace: Trace
    site: Site
    rows: _Words
    columns: _Words

    @cached_property
    def looks(self) -> list[Group]:
        looks, area = [*self.rows.groups], self.rows.area
        if not looks and area is not None:  # patches that look at patches
            return [(place,) for place in (~area[:, 0].isnan()).nonzero().flatten().tolist()]
        if self.site.kind == "cross":
            return [tuple(max(place - 1, 0) for place in group) for group in looks]
        return looks

    def links(self) -> Iterator[_Link]:
        """The best link of each row in every head: to a word, and to patches or moments."""
        for head in range(self.site.heads if len(self.looks) > 1 else 0):
            weights = self.trace.weights(self.site, head).cpu()
            if self.columns.groups and self.rows.groups:
                yield from self._to_words(head, joined(weights, self.looks, self.columns.groups))
            if self.columns.area is not None:
                single = [(place,) for place in range(weights.shape[1])]
                yield from self._to_places(
                    head, joined(weights, self.looks, single), self.columns.area
                )

    def _to_words(self, head: int, given: Float[Tensor, "row word"]) -> Iterator[_Link]:
        rows, columns, crosses = self.rows, self.columns, self.site.kind == "cross"
        above, far = _above(given), torch.full_like(given, ACROSS)
        if not crosses:
            apart = torch.arange(len(self.looks))[:, None] - torch.arange(len(columns.groups))
            far = torch.log2(1 + apart.abs()).where(apart.abs() >= APART, 0.0)
        score = above * columns.rare**2 * (1 + rows.rare[:, None]) / 2 * far
        if self.site.kind == "causal":
            score[-1] *= LAST
        best, column = score.max(1)
        for row in best.topk(min(MOST, len(best))).indices.tolist():
            key = int(column[row])
            weight = float(given[row, key])
            if best[row] > 0 and weight >= LEAST:
                words = str(rows.names[row]), str(columns.names[key])
                reason = self._reason(row, key, words, 1 - float(above[row, key]) / weight)
                if crosses:
                    words = self._name(row), words[1]
                place = self.looks[row], columns.groups[key]
                yield _Link(float(best[row]), Worth(self.site, head, *place, words, reason))

    def _name(self, row: int) -> str:
        return self.trace.query_labels(self.site)[self.looks[row][-1]].strip()

    def _reason(self, row: int, key: int, words: tuple[str, str], others: float) -> str:
        """Why a link between words is worth seeing; `others` is what the other rows give the key,
        on average, as a share of this weight."""
        writes, apart = f"to write “{words[0]}”", abs(row - key)
        if self.site.kind == "cross":
            return writes if len(writes) <= 22 else "more than others do"
        if words[0].casefold() == words[1].casefold():
            return "same word again"
        if self.site.kind == "causal" and row == len(self.looks) - 1:
            return "from the last word"
        if apart == APART and others <= 0.5:
            return "more than others do"
        number = COUNTS[apart] if apart < len(COUNTS) else str(apart)
        return f"{number} words {'back' if key < row else 'ahead'}"

    def _to_places(
        self, head: int, weights: Float[Tensor, "row key"], area: Float[Tensor, "key axis"]
    ) -> Iterator[_Link]:
        """By the weight that other rows do not give to patches or moments."""
        rows, placed = self.rows, ~area[:, 0].isnan()
        if not rows.groups and rows.area is not None:
            mine = rows.area[[place for place, *_ in self.looks]]
            placed = (mine[:, None] - area).abs().amax(-1) > APART  # of NaN it is false
        far = (_above(weights) * placed).clamp_min(0)
        shares, score = (weights * placed).sum(1), far.sum(1)
        most = MOST if rows.groups else 1  # another head for each patch or moment
        for row in score.topk(min(most, len(score))).indices.tolist():
            if shares[row] < LEAST:
                continue
            key, share = int(far[row].argmax()), percent(float(shares[row]))
            names = self._name(row), self.trace.key_labels(self.site)[key]
            reason = f"{share} far away"
            if rows.groups:
                reason = f"{share} on the {'recording' if self.trace.sound else 'picture'}"
            link = Worth(self.site, head, self.looks[row], (key,), names, reason)
            rare = (1 + float(rows.rare[row])) / 2 if rows.groups else 1.0
            yield _Link(float(score[row]) * ACROSS * rare, link)
