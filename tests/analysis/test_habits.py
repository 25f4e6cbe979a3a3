"""Habits of heads: found in patterns that are known by construction, and in a trained model."""

import math

import pytest
import torch

from analysis.habits import HABITS, _names, _scores, habits
from benchmarks.architectures import ARCHITECTURES
from models.run import load, trace

LABELS = ("[CLS]", "The", "dog", "saw", "the", "dog", "[SEP]")
COUNT = len(LABELS)


def looking_at(keys: list[int]) -> torch.Tensor:
    """One head whose rows put all weight on one key each."""
    return torch.eye(COUNT)[keys][None]


@pytest.mark.parametrize(
    ("habit", "keys"),
    [
        ("previous", [0, 1, 2, 3, 4]),
        ("itself", [1, 2, 3, 4, 5]),
        ("next", [2, 3, 4, 5, 6]),
        ("first", [0] * 5),
        ("last", [6] * 5),
    ],
)
def test_a_head_that_does_one_thing_scores_one(habit: str, keys: list[int]) -> None:
    found = _scores(looking_at(keys), LABELS)[:, 0]
    assert found[HABITS.index(habit)] == 1


def test_the_same_word_counts_where_there_is_one() -> None:
    """ "The", "dog", "the", "dog" have a twin, "saw" has none."""
    found = _scores(looking_at([4, 5, 3, 1, 2]), LABELS)[:, 0]
    assert found[HABITS.index("same word")] == 1
    assert found[HABITS.index("itself")] == pytest.approx(0.2)


def test_even_weights_are_broad() -> None:
    even = torch.full((1, 5, COUNT), 1 / COUNT)
    found = _scores(even, LABELS)
    assert found.max() == pytest.approx(1 / COUNT)
    assert _names(found[:, None], torch.ones(1, 1)) == (("broad",),)
    assert _names(found[:, None], torch.full((1, 1), 0.5)) == (("mixed",),)


def test_minilm_has_a_head_that_looks_one_back() -> None:
    sentence = "The animal didn't cross the street because it was too tired."
    done = trace(load("minilm"), sentence)
    found = habits(done)
    assert found.scores.shape == (len(HABITS), 6, 12)
    assert found.names[0][2] == "previous"
    weights, last = done.weights(layer=0, head=2), len(done.labels) - 1
    slow = sum(float(weights[row, row - 1]) for row in range(1, last)) / (last - 1)
    assert float(found.scores[0, 0, 2]) == pytest.approx(slow, abs=1e-5)
    rows = [float(-(row * row.clamp_min(1e-38).log()).sum()) for row in weights[1:last]]
    expected = sum(rows) / len(rows) / math.log(last + 1)
    assert float(found.spread[0, 2]) == pytest.approx(expected, abs=1e-5)


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
        slow = sum(float(weights[row, 0]) for row in range(1, count - 1)) / (count - 2)
        assert float(found.scores[HABITS.index("first"), 1, 3]) == pytest.approx(slow, abs=1e-5)
    assert habits(done).scores.equal(habits(done, tower="encoder").scores)
    with pytest.raises(ValueError, match=r"one of \['decoder', 'encoder'\], received 'eye'"):
        habits(done, tower="eye")
