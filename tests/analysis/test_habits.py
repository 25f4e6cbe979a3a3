"""Habits of heads: the names of their largest numbers."""

import pytest
import torch

from analysis.habits import BROAD, FROM, HABITS, NUMBERS, habits
from analysis.heads import heads
from models.run import load, trace
from tests.models.architectures import ARCHITECTURES

SENTENCE = "The animal didn't cross the street because it was too tired."


def test_habits_are_numbers_of_the_head() -> None:
    done = trace(load("minilm"), SENTENCE)
    found, numbers = habits(done), heads(done)
    assert found.scores.shape == (len(HABITS), 6, 12)
    for score, key in zip(found.scores, NUMBERS.values(), strict=True):
        assert score.equal(numbers[key])
    assert found.spread.equal(numbers["broad"])
    assert found.names[0][2] == "previous"


def test_the_largest_score_names_a_head() -> None:
    found = habits(trace(load("minilm"), SENTENCE))
    best, which = found.scores.max(0)
    for layer in range(6):
        for head in range(12):
            name = HABITS[int(which[layer, head])]
            if best[layer, head] < FROM:
                name = "broad" if found.spread[layer, head] >= BROAD else "mixed"
            assert found.names[layer][head] == name
    assert {name for row in found.names for name in row} >= {"previous", "first", "broad", "mixed"}


def test_without_the_special_tokens_the_rest_is_shared_anew() -> None:
    done = trace(load("minilm"), "The animal didn't cross the street.")
    found = habits(done, words=True)
    assert found.scores[HABITS.index("first")].max() == 0
    assert found.scores[HABITS.index("last")].max() == 0
    weights, last = done.weights(layer=3, head=1), len(done.labels) - 1
    rows = weights[1:last, 1:last] / weights[1:last, 1:last].sum(-1, keepdim=True)
    expected = float(rows.diagonal().mean())
    assert float(found.scores[HABITS.index("itself"), 3, 1]) == pytest.approx(expected, abs=1e-5)


def test_too_few_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 4 tokens, received 3"):
        habits(trace(load("minilm"), "word"))


def test_each_tower_of_an_encoder_decoder_has_its_own() -> None:
    """Source and target are of different lengths; neither is read by the other's labels."""
    model = next(each for each in ARCHITECTURES if each.name == "T5").build()
    given = {
        "input_ids": torch.arange(3, 14)[None],
        "decoder_input_ids": torch.arange(20, 27)[None],
    }
    done = trace(model, given)
    for tower, kind, count in (("encoder", "self", 11), ("decoder", "causal", 7)):
        found = habits(done, tower=tower)
        assert found.scores.shape == (len(HABITS), 2, 5)
        weights = done.weights(1, 3, kind=kind)
        slow = sum(float(weights[row, 0]) for row in range(1, count)) / (count - 1)
        assert float(found.scores[HABITS.index("first"), 1, 3]) == pytest.approx(slow, abs=1e-5)
    assert habits(done).scores.equal(habits(done, tower="encoder").scores)
    with pytest.raises(ValueError, match=r"one of \['decoder', 'encoder'\], received 'eye'"):
        habits(done, tower="eye")
