"""The vector that stands for an input, against the model's own output."""

import pytest
import torch

from models.edits import Ablate
from models.run import load, trace
from tests.viz.api.asking import ask
from tests.viz.api.catalogue import TEXT, entry_of


def entry(edits=()):
    return entry_of("minilm", edits=edits)


def mean_state(edits=()) -> torch.Tensor:
    """The mean over the tokens, with length 1, in double precision."""
    states = trace(load("minilm"), TEXT, edits=edits).output.values[0].double()
    return states.mean(0) / states.mean(0).norm()


def test_the_vector_is_the_mean_of_the_states_and_edits_turn_it() -> None:
    plain, edits = ask(entry(), "vector"), (Ablate(1, 0),)
    expected = mean_state()
    assert len(expected) == 384
    torch.testing.assert_close(torch.tensor(plain["values"]).double(), expected, rtol=0, atol=1e-6)
    assert plain["of"] == "sentence"
    assert plain["like"] is None
    edited = ask(entry(edits), "vector")
    assert edited["like"] == pytest.approx(float(expected @ mean_state(edits)), abs=1e-6)


def test_a_network_with_words_has_none() -> None:
    assert "expected hidden states" in ask(entry_of(), "vector")["why"]
