"""Sentences, against the boundaries of another implementation of UAX #29 (ICU's, in Node)."""

import json
import random
import subprocess

import pytest
import torch

from analysis.sentences import boundaries, sentences_of
from analysis.view import View
from analysis.words import joined
from models.run import load, trace
from models.trace import Tokens

PIECES = [*'aAbZ..?! \u00a0)",3\u0301\u200b\n\r\u2028字א。:;-—(“”’', "Mr. ", "e.g. ", "3.4", "..."]
SEGMENT = """
const texts = JSON.parse(require("fs").readFileSync(0));
const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
const ends = (text) =>
  [...segmenter.segment(text)].map((p) => [...text.slice(0, p.index + p.segment.length)].length);
console.log(JSON.stringify(texts.map(ends)));
"""


def test_boundaries_are_those_of_another_implementation() -> None:
    draw = random.Random(5)
    texts = ["".join(draw.choices(PIECES, k=draw.randint(1, 14))) for _ in range(2000)]
    texts += ["He said “Are you going?” John shook.", "Mr. Smith. Etc., they went (so.) Yes?! No."]
    node = subprocess.run(
        ["node", "-e", SEGMENT], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    for text, expected in zip(texts, json.loads(node.stdout), strict=True):
        found = boundaries(text)
        assert found + ([] if found[-1:] == [len(text)] else [len(text)]) == expected, repr(text)


def tokens_of(*spans: tuple[int, int] | None, text: str, segments: tuple[int, ...] = ()) -> Tokens:
    labels = tuple("[SEP]" if span is None else text[slice(*span)] for span in spans)
    special = tuple(span is None for span in spans)
    return Tokens((7,) * len(spans), labels, special, segments or (0,) * len(spans), spans)


@pytest.mark.parametrize(
    ("text", "spans", "groups"),
    [
        ("A b. C", [None, (0, 1), (2, 3), (3, 4), (5, 6), None], [(0,), (1, 2, 3), (4,), (5,)]),
        ("A. B c", [(0, 1), (1, 2), (2, 4), (4, 6)], [(0, 1), (2, 3)]),  # " B": blank in front
        ("3.4 m", [(0, 1), (1, 2), (2, 3), (4, 5)], [(0, 1, 2, 3)]),
        ("א! 字。字", [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6)], [(0, 1), (2, 3), (4,)]),
    ],
)
def test_which_tokens_are_a_sentence(text, spans, groups) -> None:
    assert list(sentences_of(tokens_of(*spans, text=text))) == groups


def test_sentences_of_a_pair_stay_apart_and_ids_alone() -> None:
    pair = tokens_of((0, 1), (0, 1), text="a", segments=(0, 1))
    assert sentences_of(pair) == ((0,), (1,))
    assert sentences_of(Tokens.of_ids([4, 5])) == ((0,), (1,))


def test_a_view_by_sentences_sums_keys_and_averages_queries() -> None:
    seen = trace(load("minilm"), "It rained. The street got wet, of course! Why?")
    view = View(seen, sentences=True)
    labels = view.query_labels(seen.sites[0])
    assert [label.strip() for label in labels[1:-1]] == [
        *("It rained.", "The street got wet, of course!", "Why?")
    ]
    assert view.note == "whole sentences"
    groups = sentences_of(seen.tokens[0])
    whole = seen.weights(3, 5)
    expected = torch.tensor(
        [
            [sum(float(whole[q, k]) for q in row for k in column) / len(row) for column in groups]
            for row in groups
        ]
    )
    assert (view.weights(3, 5) - expected).abs().max() < 1e-5  # sums of float32 in another order
    assert (joined(whole, groups, groups) - expected).abs().max() < 1e-5
