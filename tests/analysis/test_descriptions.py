"""What is said of heads: sentences, from numbers set by hand, and the names of their habits."""

import pytest

from analysis.descriptions import EVEN, HABITS, MOST, NUMBERS, claim, corpus_of, habits
from analysis.heads import heads
from models.run import load, trace

SENTENCE = "The animal didn't cross the street because it was too tired."


def number(mean: float, count: int = 2_000) -> dict:
    return {"count": count, "mean": mean}


SET = {
    "confidence": number(0.5),
    "broad": number(0.3),
    "effective keys": number(6.2),
    "previous token": number(0.1),
    "induction": number(0.2, count=700),
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"previous token": number(0.712)}, ", 71 % of its weight goes to the token before."),
        (
            {"induction": number(0.61, 700)},
            " (in the 700 where it is defined), 61 % of its weight goes to what followed the same"
            " token earlier, where it occurred before.",
        ),
        ({"broad": number(0.9)}, ", it spreads its weight almost evenly, over 6 tokens."),
        ({}, ", the largest weight of a token is 50 % on average."),
    ],
)
def test_a_sentence_names_its_corpus_and_one_number(changed: dict, said: str) -> None:
    found = claim(SET | changed, "two books")
    assert found == f"Over two books{said}".replace(" %", "\u00a0%")


def test_a_corpus_is_called_by_its_name_or_its_size() -> None:
    manifest = {"corpora": [{"about": "two books"}], "texts": 3_000, "settings": {"pictures": True}}
    assert corpus_of(manifest) == "two books"
    both = [*manifest["corpora"], {"about": "a letter"}]
    assert corpus_of(manifest | {"corpora": both}) == "two books and a letter"
    assert corpus_of(manifest | {"corpora": [{"about": ""}]}) == "3,000 pictures"


def test_the_largest_number_names_a_head() -> None:
    done = trace(load("minilm"), SENTENCE)
    found, numbers = habits(done), heads(done)
    for score, key in zip(found.scores, NUMBERS.values(), strict=True):
        assert score.equal(numbers[key])
    best, which = found.scores.max(0)
    for layer in range(6):
        for head in range(12):
            name = HABITS[int(which[layer, head])]
            if best[layer, head] < MOST:
                name = "broad" if numbers["broad"][layer, head] >= EVEN else "mixed"
            assert found.names[layer][head] == name
    assert {name for row in found.names for name in row} >= {"previous", "first", "broad", "mixed"}
