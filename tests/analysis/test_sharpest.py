"""The sharpest row, against a slow plain loop and on patterns known by construction."""

import math
from typing import Any

import pytest
import torch

from analysis.sharpest import sharpest_row
from analysis.view import View
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.run import load, trace


def gain(row: torch.Tensor) -> float:
    """ln(n) − H of a row, number by number."""
    weights = [float(weight) / float(row.sum()) for weight in row if weight > 0]
    return math.log(len(weights)) + sum(weight * math.log(weight) for weight in weights)


@pytest.mark.parametrize("config", [EncoderConfig(seed=3), DecoderConfig(seed=3)])
@pytest.mark.parametrize("head", [0, 1, "mean", "max"])
def test_it_is_the_row_furthest_from_uniform(
    config: EncoderConfig | DecoderConfig, head: Any
) -> None:
    found = trace(load(config), "the river bank was muddy after the rain")
    site = found.sites[1]
    weights = found.weights(site)
    weights = weights[head] if isinstance(head, int) else weights.mean(0)
    best = max(range(len(weights)), key=lambda row: gain(weights[row]))
    assert sharpest_row(found, site, head) == best
    some = [row for row in (1, 3, 6) if row != best]
    best_of_some = max(some, key=lambda row: gain(weights[row]))
    assert sharpest_row(found, site, head, some) == best_of_some


def test_special_tokens_are_left_out_where_there_are_others() -> None:
    found = trace(load("minilm"), "Hi there")
    for site in found.sites[::5]:
        for head in range(0, site.heads, 5):
            assert sharpest_row(found, site, head) in (1, 2)
    alone = trace(load("minilm"), " ")
    assert sharpest_row(alone, alone.sites[0], 0) in (0, 1)


def test_a_causal_row_that_sees_only_itself_is_not_the_sharpest() -> None:
    found = trace(load(DecoderConfig()), "one")
    assert sharpest_row(found, found.sites[0], 0) is None
    longer = trace(load(DecoderConfig()), "one two three")
    assert sharpest_row(longer, longer.sites[0], 0) in (1, 2)


def test_it_is_a_word_where_words_are_shown() -> None:
    whole = View(trace(load("minilm"), "An unbelievable hippopotamus"), True, "hidden")
    weights = whole.weights(whole.sites[2], 3)
    best = max(range(len(weights)), key=lambda row: gain(weights[row]))
    assert sharpest_row(whole, whole.sites[2], 3) == best
