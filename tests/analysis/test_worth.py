"""The rows worth seeing, against a slow plain loop over planted weights, and on real sentences."""

import math
from dataclasses import replace
from itertools import product
from string import ascii_lowercase
from typing import Any

import pytest
import torch

from analysis.words import words_of
from analysis.worth import AGAIN, LAST, LEAST, worth
from models.attention import Mask, Pattern
from models.inputs.layout import Layout
from models.run import load, trace
from models.text import Tokens
from models.trace import Output, Site, TokenAxis, Trace
from tests.analysis.test_alignment import planted

HEADS, LONG = 3, 5
PIECES = [
    "the",
    "and",
    "of",
    *map("".join, product("wv", "o", ascii_lowercase[:23], ascii_lowercase)),
]
VOCABULARY = {100 + id: text for id, text in enumerate(PIECES)} | {1: "[CLS]", 2: "."}
WORDS = ["the", "woab", "and", "wocd", ".", "of", "woef", "the", "wogh", "woij", "Woef", "of"]


def tokens(words: list[str], first: bool = True) -> Tokens:
    """[CLS] and words of one token each, but for the second, which has two."""
    texts = ["wo", "ab"] if "woab" in words else []
    cut = [piece for word in words for piece in (texts if word == "woab" else [word])]
    numbers = {text: id for id, text in VOCABULARY.items()}
    spans, place = [], 0
    for word in words:
        for piece in texts if word == "woab" else [word]:
            spans.append((place, place + len(piece)))
            place += len(piece)
        place += 1
    ids = [numbers.get(piece.lower(), 100 + 900 + n) for n, piece in enumerate(cut)]
    lead = int(first)
    return Tokens(
        (*(1,) * lead, *ids),
        (*("[CLS]",) * lead, *cut),
        (*(True,) * lead, *(False,) * len(cut)),
        (0,) * (lead + len(cut)),
        (*(None,) * lead, *spans),
    )


def found(kind: str, seed: int, *, trained: bool = True) -> Trace:
    rows, columns = tokens(WORDS), tokens(WORDS[::-1] if kind == "cross" else WORDS)
    drawn = torch.Generator().manual_seed(seed)
    scores = 4 * torch.randn(1, HEADS, len(rows), len(columns), generator=drawn)
    k = torch.eye(len(columns)).expand(1, HEADS, -1, -1).contiguous()
    mask = Mask(causal=True) if kind == "causal" else Mask()
    pattern = Pattern(scores * len(columns) ** 0.5, k, k, mask)
    tower = "decoder" if kind == "cross" else None
    site = Site(0, kind, HEADS, len(rows), len(columns), tower)
    axes = {site: (TokenAxis((rows,)), TokenAxis((columns,)))}
    output = Output("hidden states", torch.zeros(1))
    return Trace("planted", trained, (columns,), (site,), output, (pattern,), axes=axes)


def slowly(t: Trace) -> list[tuple[int, str, str]]:
    """Head and words, the best first."""
    (site,) = t.sites
    rows, columns = t.queries(site)[0], t.keys(site)[0]
    cross = site.kind == "cross"

    def words(axis: Tokens) -> list[tuple[tuple[int, ...], str]]:
        named = [(group, "".join(axis.labels[i] for i in group)) for group in words_of(axis)]
        return [(g, name) for g, name in named if name not in ("[CLS]", ".")]

    def rare(axis: Tokens, group: tuple[int, ...], name: str) -> float:
        ids = [i for i in VOCABULARY if i >= 100]
        bits = sum(math.log(1 + sum(i < axis.ids[place] for i in ids)) for place in group)
        return min(1.0, len(name) / LONG) * min(1.0, bits / math.log(1 + len(ids) / 4))

    look, seen = words(rows), words(columns)

    def pair(link: Any) -> set[str]:
        query = rows.labels[link[3][-1] - 1] if cross else link[4]
        return {query.lower(), link[6].lower()}

    links: list[Any] = []
    for head in range(HEADS):
        w = t.weights(0, head).tolist()
        given = [
            [sum(w[i - cross][j] for i in g for j in h) / len(g) for h, _ in seen] for g, _ in look
        ]
        for i, (g, name) in enumerate(look):
            best: Any = None
            for j, (h, other) in enumerate(seen):
                if not cross and abs(i - j) < 2:
                    continue
                others = [given[r][j] for r in range(len(look)) if r != i and given[r][j] > 0]
                above = given[i][j] - (sum(others) / len(others) if others else 0)
                score = above * rare(columns, h, other) ** 2 * (1 + rare(rows, g, name)) / 2
                score *= 3 if cross else math.log2(1 + abs(i - j))
                score *= LAST if site.kind == "causal" and i == len(look) - 1 else 1
                if best is None or score > best[0]:
                    best = score, given[i][j], head, g, name, h, other
            if best is not None and best[0] > 0 and best[1] >= LEAST:
                links.append(best)
    chosen: list[Any] = []
    while links and len(chosen) < 3:
        best = max(links, key=lambda link: link[0] * AGAIN ** sum(c[5] == link[5] for c in chosen))
        chosen.append(best)
        links = [each for each in links if each[3] != best[3] and pair(each) != pair(best)]
    return [(head, name, other) for _, _, head, _, name, _, other in chosen]


@pytest.mark.parametrize("kind", ["self", "causal", "cross"])
@pytest.mark.parametrize("seed", range(5))
def test_the_rows_are_those_of_a_plain_loop(kind: str, seed: int) -> None:
    t = found(kind, seed)
    chosen, rows = worth(t, VOCABULARY), t.queries(t.sites[0])[0]
    expected = slowly(t)
    assert [(each.head, each.words[1]) for each in chosen] == [(h, key) for h, _, key in expected]
    ahead = int(kind == "cross")  # a row of cross-attention is of the word it writes
    names = ["".join(rows.labels[place + ahead] for place in each.query) for each in chosen]
    assert names == [name for _, name, _ in expected]
    assert all(len(each.reason) <= 22 for each in chosen)


def of_patches(rows: int, cols: int, seed: int) -> Trace:
    """Two heads that look near, but for one patch of head 1 that looks at the opposite corner."""
    count = rows * cols
    scores = torch.randn(1, 2, count + 1, count + 1, generator=torch.Generator().manual_seed(seed))
    scores += 9 * torch.eye(count + 1)
    scores[0, 1, 1, count] = 30.0  # the first patch looks at the last
    k = torch.eye(count + 1).expand(1, 2, -1, -1).contiguous()
    site = Site(0, "self", 2, count + 1, count + 1)
    (patches,) = Layout(rows, cols, before=("[CLS]",)).tokens(1)
    output = Output("embedding", torch.zeros(1))
    pattern = Pattern(scores * (count + 1) ** 0.5, k, k)
    return Trace("planted", True, (patches,), (site,), output, (pattern,), (rows, cols), 1)


@pytest.mark.parametrize("seed", range(3))
def test_of_a_picture_it_is_the_patch_that_looks_far_away(seed: int) -> None:
    best, *others = worth(of_patches(5, 7, seed))
    assert (best.head, best.query, best.key) == (1, (1,), (35,))
    assert best.words == ("patch 0,0", "patch 4,6")
    assert best.reason == "100\u00a0% far away"
    assert 1 not in [each.head for each in others]


def test_of_a_recording_it_is_the_head_that_follows_time() -> None:
    chosen = worth(replace(planted(), trained=True))
    assert {each.head for each in chosen} <= {1, 2}  # head 0 stays at one moment
    assert all(each.reason.endswith("on the recording") for each in chosen)


def test_what_has_no_words_or_no_training_is_refused() -> None:
    with pytest.raises(ValueError, match="random"):
        worth(found("self", 0, trained=False))
    with pytest.raises(ValueError, match="no two words"):
        worth(trace(load("minilm"), "hi"))
    with pytest.raises(ValueError, match="no two words"):
        worth(trace(load("minilm"), "? . ! ,"))
