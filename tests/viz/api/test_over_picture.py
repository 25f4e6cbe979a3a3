"""All layers over a picture: what the API answers equals the analyses, class by class."""

from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.methods import names_of
from analysis.relevance import explain
from analysis.rollout import rollout
from models.catalogue import entry as in_catalogue
from models.catalogue import folder
from tests.viz.api.asking import ask
from tests.viz.api.pictured import CLASSES, entry_of
from viz.api.endpoint import QuestionError
from viz.api.entries import TraceEntry

THREE = folder(in_catalogue("digits")) / "a-three.png"
CLOSE: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-5}


@pytest.fixture(scope="module")
def digit() -> TraceEntry:
    return entry_of("digits", THREE)


def near(values: list[float], expected: Tensor) -> None:
    torch.testing.assert_close(torch.tensor(values), expected.detach().float(), **CLOSE)


def given(entry: TraceEntry) -> tuple[Any, Any]:
    assert entry.opened is not None
    return entry.opened()[:2]


@pytest.mark.parametrize("name", ["vit", "deit", "dinov2"])
def test_a_class_goes_by_its_name(name: str, own: dict[str, TraceEntry]) -> None:
    answer = ask(own[name], "relevance", "chefer", "fish")
    near(answer["values"], explain(*given(own[name]), target=2).tokens)
    assert answer["name"] == "fish"
    outputs = ask(own[name], "outputs", 0, "out", token=3, output="fish")
    assert (outputs["kind"], outputs["chosen"]) == ("classes", "fish")
    assert {each["label"] for each in outputs["options"]} == set(CLASSES)
    logits = own[name].trace.output.values[0].softmax(-1)
    for each in outputs["options"]:
        assert each["probability"] == pytest.approx(
            float(logits[CLASSES.index(each["value"])]), rel=1e-3
        )


# ---- from what the answer is read from


@pytest.mark.parametrize(
    ("name", "shares", "words"),
    [
        ("vit", [1.0] + 25 * [0.0], "the class token"),
        ("deit", [0.5, 0.5] + 25 * [0.0], "the class and distillation tokens (their mean)"),
        (
            "dinov2",
            [0.5] + 25 * [0.02],
            "the class token and the mean of the patches (half and half)",
        ),
        ("bare", [1.0] + 25 * [0.0], "the class token"),
    ],
)
def test_rollout_is_read_where_the_answer_is(
    name: str, shares: list[float], words: str, own: dict[str, TraceEntry]
) -> None:
    answer = ask(own[name], "model_row", 0, "mean", "rollout")
    near(answer["values"], torch.tensor(shares) @ rollout(own[name].trace))
    assert answer["reads"] == words


def test_what_does_not_apply_says_why(own: dict[str, TraceEntry]) -> None:
    for method in names_of("relevance"):
        assert "no logits" in ask(own["bare"], "relevance", method)["why"]
    assert "different numbers" in ask(own["swin"], "model_row", 0, "mean", "rollout")["why"]
    assert "differ in their patches" in ask(own["swin"], "components")["why"]
    assert "patch: expected 0 to 24" in ask(own["vit"], "similar", 0)["why"]
    text = TraceEntry(own["vit"].trace)
    with pytest.raises(QuestionError, match="expected an index"):
        ask(text, "model_row", 0, "mean", "rollout")
