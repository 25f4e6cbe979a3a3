"""Words and hidden tokens, against plain loops over single weights."""

import re

import pytest
import torch

from analysis.view import View
from analysis.words import joined, joined_tokens, text_numbers, words_of
from models.run import load, trace
from models.trace import Tokens

ROUNDING = 1e-6  # float32 sums of a few weights in another order
TEXT = "The unbelievable animal didn't cross O'Brien's streets."


def drawn(heads: int, queries: int, keys: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(3)
    return torch.randn(heads, queries, keys, generator=draw).softmax(-1)


def test_keys_are_summed_and_queries_averaged() -> None:
    weights = drawn(3, 5, 7)
    rows, columns = [(0,), (1, 2, 4)], [(0, 1), (2,), (3, 6)]
    expected = torch.zeros(3, 2, 3)
    for head in range(3):
        for r, row in enumerate(rows):
            for c, column in enumerate(columns):
                for query in row:
                    for key in column:
                        expected[head, r, c] += weights[head, query, key] / len(row)
    assert (joined(weights, rows, columns) - expected).abs().max() < ROUNDING
    whole = joined(weights, rows, [(0, 1, 2), (3,), (4, 5, 6)])
    assert (whole.sum(-1) - 1).abs().max() < ROUNDING


def tokens_of(*parts: tuple[str, tuple[int, int] | None], segments: tuple[int, ...] = ()) -> Tokens:
    count = len(parts)
    labels, spans = zip(*parts, strict=True)
    special = tuple(span is None for span in spans)
    return Tokens((7,) * count, labels, special, segments or (0,) * count, spans)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([("un", (0, 2)), ("believable", (2, 12)), ("cat", (13, 16))], [(0, 1), (2,)]),
        ([("cat", (0, 3)), (".", (3, 4))], [(0,), (1,)]),
        ([("didn", (0, 4)), ("'", (4, 5)), ("t", (5, 6))], [(0, 1, 2)]),
        ([("didn", (0, 4)), ("'t", (4, 6))], [(0, 1)]),
        ([("cats", (0, 4)), ("'", (4, 5)), ("tail", (6, 10))], [(0,), (1,), (2,)]),
        ([("'", (0, 1)), ("quoted", (1, 7)), ("'", (7, 8))], [(0,), (1,), (2,)]),
        ([("🙂 1/3", (0, 1)), ("🙂 2/3", (0, 1)), ("🙂 3/3", (0, 1))], [(0, 1, 2)]),
        ([(" the", (3, 7)), (" cat", (7, 11)), ("s", (11, 12))], [(0,), (1, 2)]),
        ([("中", (0, 1)), ("文", (1, 2))], [(0,), (1,)]),
        ([("[CLS]", None), ("a", (0, 1)), ("b", (1, 2)), ("[SEP]", None)], [(0,), (1, 2), (3,)]),
        ([("well", (0, 4)), ("-", (4, 5)), ("known", (5, 10))], [(0,), (1,), (2,)]),
        ([("x [UNK]", (0, 1)), ("y", (1, 2))], [(0, 1)]),
    ],
)
def test_which_tokens_are_a_word(parts, words) -> None:
    assert list(words_of(tokens_of(*parts))) == words


def test_words_show_their_text() -> None:
    tokens = tokens_of(("🙂 1/2", (0, 1)), ("🙂 2/2", (0, 1)), ("un", (2, 4)), ("like", (4, 8)))
    found = joined_tokens(tokens, words_of(tokens))
    assert found.labels == ("🙂", "unlike")
    assert found.spans == ((0, 1), (2, 8))


@pytest.fixture(scope="module")
def seen():
    return trace(load("minilm"), TEXT)


def test_a_view_by_words(seen) -> None:
    view, site = View(seen), seen.sites[3]
    labels = view.query_labels(site)
    assert labels == ["[CLS]", *TEXT[:-1].split(), ".", "[SEP]"]
    assert len(labels) < len(seen.labels)
    weights = view.weights(3)
    assert weights.shape == (12, len(labels), len(labels))
    assert (weights.sum(-1) - 1).abs().max() < 1e-5  # as exact as the rows of single tokens
    groups = words_of(seen.tokens[0])
    assert (weights - joined(seen.weights(3), groups, groups)).abs().max() < ROUNDING
    assert (view.weights(3, 5, rows=[2, 4]) - weights[5, [2, 4]]).abs().max() < ROUNDING
    assert view.sites[3].queries == len(labels)
    for block in view.blocks(site):
        there = weights[block.heads, block.rows, block.keys]
        assert (block.weights - there).abs().max() < ROUNDING
    assert view.origins(site, "out") == groups


@pytest.mark.parametrize(("first", "second"), [("Hello there", "Hi you two"), ("Yes", "No")])
def test_a_pair_without_segments_is_told_apart_by_its_separators(first: str, second: str) -> None:
    """As RoBERTa writes it: <s> first </s></s> second </s>, all in one segment."""

    def halves(text: str) -> list[tuple[str, tuple[int, int]]]:
        """Every word in two pieces."""
        found = []
        for match in re.finditer(r"\S+", text):
            start, end = match.span()
            middle = start + 1
            found += [(text[start:middle], (start, middle)), (text[middle:end], (middle, end))]
        return found

    one, two = halves(first), halves(second)
    tokens = tokens_of(("<s>", None), *one, ("</s>", None), ("</s>", None), *two, ("</s>", None))
    after = len(one) + 3
    assert text_numbers(tokens) == (0,) * after + (1,) * (len(two) + 1)
    words = joined_tokens(tokens, words_of(tokens))
    expected = ["<s>", *first.split(), "</s>", "</s>", *second.split(), "</s>"]
    assert list(words.labels) == expected
    assert words.segments.index(1) == len(first.split()) + 3
