"""Sentences about heads, from numbers set by hand."""

import math

import pytest

from analysis.corpus.claims import claim


def number(mean: float, half: float = 0.01, count: int = 2_000, holds: float = 0.9) -> dict:
    return {"count": count, "mean": mean, "low": mean - half, "high": mean + half, "holds": holds}


NUMBERS = {
    "confidence": number(0.5),
    "broad": number(0.3),
    "effective keys": number(6.2),
    "previous token": number(0.1),
    "induction": number(0.2, count=700),
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"previous token": number(0.712)},
            "Over 2,000 texts, 71 ± 1.0 % of its weight goes to the token before; that share is"
            " 40 % or more in 90 % of them.",
        ),
        (
            {"induction": number(0.61, 0.02, 700, 0.8)},
            "Over 2,000 texts (in the 700 where it is defined), 61 ± 2.0 % of its weight goes to"
            " what followed the same token earlier, where it occurred before; that share is 40 %"
            " or more in 80 % of them.",
        ),
        (
            {"previous token": number(1.0) | {"low": 0.981, "high": 1.0, "holds": 1.0}},
            "Over 2,000 texts, 100.0 % (98.1 to 100.0 %) of its weight goes to the token before;"
            " that share is 40 % or more in 100 % of them.",
        ),
        (
            {"broad": number(0.9)},
            "Over 2,000 texts, it spreads its weight almost evenly, over 6 tokens.",
        ),
        (
            {},
            "Over 2,000 texts, no one habit takes 40 % of its weight; the largest weight of a"
            " token is 50 ± 1.0 % on average.",
        ),
        (
            {"previous token": number(0.7, math.nan)},
            "Over 2,000 texts, 70 % of its weight goes to the token before; that share is 40 % or"
            " more in 90 % of them.",
        ),
    ],
)
def test_a_sentence_says_what_and_how_sure(changed: dict, said: str) -> None:
    assert claim(NUMBERS | changed, pictures=False) == said.replace(" %", "\u00a0%")


def test_nothing_is_said_of_a_head_that_was_not_read() -> None:
    assert claim({}, pictures=True) is None
