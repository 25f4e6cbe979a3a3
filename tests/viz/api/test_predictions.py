"""What a network says: predictions at masks, the vector of an input, rows worth seeing."""

import pytest
import torch

from analysis.view import View
from models.edits import Ablate
from models.request import TraceRequest
from models.run import load, trace
from tests.viz.api.asking import TEXT, ask, entry_of
from viz.api import tracing

TWO_MASKS = "the [MASK] near the girls [MASK] happy"


def masked(token: int | None) -> dict:
    request = TraceRequest(tracing.of_catalogue("grammar"), TWO_MASKS)
    entry = tracing.entry_for(request).value
    return ask(entry, "predictions", 0, "out", token)


@pytest.mark.parametrize(
    ("token", "mask", "place"), [(None, 0, 2), (2, 0, 2), (6, 1, 6), (3, None, 3)]
)
def test_the_answer_at_one_of_several_masks_says_which(token, mask, place) -> None:
    answer = masked(token)
    assert (answer["mask"], answer["masks"]) == (mask, [2, 6])
    logits = trace(load("grammar"), TWO_MASKS).output.values[0, place]
    assert answer["probabilities"][0] == pytest.approx(float(logits.softmax(-1).max()), rel=1e-5)


def test_one_mask_needs_no_number() -> None:
    request = TraceRequest(tracing.of_catalogue("grammar"), "the girl [MASK] happy")
    assert ask(tracing.entry_for(request).value, "predictions", 0, "out")["masks"] == []


def with_edits(edits=()):
    return entry_of("minilm", edits=edits)


def mean_state(edits=()) -> torch.Tensor:
    """The mean over the tokens, with length 1, in double precision."""
    states = trace(load("minilm"), TEXT, edits=edits).output.values[0].double()
    return states.mean(0) / states.mean(0).norm()


def test_the_vector_is_the_mean_of_the_states_and_edits_turn_it() -> None:
    plain, edits = ask(with_edits(), "vector"), (Ablate(1, 0),)
    expected = mean_state()
    assert len(expected) == 384
    torch.testing.assert_close(torch.tensor(plain["values"]).double(), expected, rtol=0, atol=1e-6)
    assert plain["of"] == "sentence"
    assert plain["like"] is None
    edited = ask(with_edits(edits), "vector")
    assert edited["like"] == pytest.approx(float(expected @ mean_state(edits)), abs=1e-6)


def test_a_network_with_words_has_none() -> None:
    assert "expected hidden states" in ask(entry_of(), "vector")["why"]


ANIMAL = "The animal didn't cross the street because it was too tired."


@pytest.mark.parametrize("words", [False, True])
def test_the_rows_are_cells_of_the_view(words: bool) -> None:
    entry = entry_of("minilm", ANIMAL, words=words)
    rows = ask(entry, "worth")["rows"]
    assert len(rows) == 3
    for row in rows:
        site = entry.view.sites[row["site"]]
        weight = entry.view.weights(site, row["head"])[row["query"], row["key"]]
        assert row["weight"] == pytest.approx(float(weight), abs=1e-5)
        assert entry.view.query_labels(site)[row["query"]].strip() == row["words"]["query"]
        assert entry.view.key_labels(site)[row["key"]].strip() == row["words"]["key"]
    assert rows[0]["words"] == {"query": "it", "key": "animal"}
    assert rows[0]["reason"] == "six words back"
    assert isinstance(entry.view, View) == words


def test_what_has_no_words_is_refused_in_a_sentence() -> None:
    assert "no two words" in ask(entry_of("minilm", "hi"), "worth")["why"]
