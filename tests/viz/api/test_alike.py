"""Heads of another model most like one of this: the answer against the analysis."""

import pytest

from analysis.alike import alike as compared
from models.edits import Ablate
from models.run import load, trace
from tests.viz.api.catalogue import TEXT, entry_of
from viz.api import alike
from viz.api.requests import QuestionError


def test_the_heads_of_another_model_by_their_overlap() -> None:
    entry = entry_of(edits=(Ablate(1, 0),))
    answer = alike.alike(entry, "", 0, 1, "catalogue:minilm")
    expected = compared(entry.trace, entry.trace.sites[0], 1, trace(load("minilm"), TEXT))
    assert answer["pieces"] == list(expected.pieces)
    found = [(each["layer"], each["head"]) for each in answer["heads"]]
    assert found == expected.best(6)
    for each, place in zip(answer["heads"], found, strict=True):
        assert each["overlap"] == pytest.approx(float(expected.overlap[place]), abs=1e-4)
        assert each["weights"][1] == pytest.approx(expected.others[place][1].tolist(), abs=1e-5)


@pytest.mark.parametrize(
    ("entry", "model", "why"),
    [
        ({}, "folder:/nowhere", "there is no folder"),
        ({}, "hub:nobody/nothing", "not on this machine yet"),
        ({"name": "reverse", "text": "stream"}, "catalogue:digits", "reads no text"),
    ],
)
def test_what_cannot_be_compared_is_said(entry, model: str, why: str) -> None:
    answer = alike.alike(entry_of(**entry), "", 0, 0, model)
    assert why in answer["why"]


@pytest.mark.parametrize("model", ["minilm", "built:encoder", "catalogue:"])
def test_other_names_are_refused(model: str) -> None:
    with pytest.raises(QuestionError, match="catalogue"):
        alike.alike(entry_of(), "", 0, 0, model)
