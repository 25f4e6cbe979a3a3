"""All layers over a picture: what the API answers equals the analyses, class by class."""

from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.faithfulness import REMOVED, Kind, perturbation
from analysis.methods import names_of
from analysis.relevance import METHODS, Method, explain
from analysis.rollout import rollout
from models.catalogue import entry as in_catalogue
from models.catalogue import folder
from tests.viz.api.asking import ask
from tests.viz.api.pictured import CLASSES, entry_of
from viz.api.entries import TraceEntry
from viz.api.requests import QuestionError

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


# ---- for a class


@pytest.mark.parametrize("method", METHODS)
def test_the_relevance_of_the_likeliest_class(method: Method, digit: TraceEntry) -> None:
    answer = ask(digit, "relevance", method)
    expected = explain(*given(digit), method=method)
    near(answer["values"], expected.tokens)
    assert (answer["name"], answer["position"], answer["similarity"]) == ("3", None, False)
    assert answer["value"] == pytest.approx(expected.value, rel=1e-4)


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


def test_classes_of_several_questions_are_named_and_shared_out_by_question() -> None:
    """Softmax over the classes of its own question; the likeliest is of the first."""
    star = entry_of("objects", folder(in_catalogue("objects")) / "a-star.png")
    logits = star.trace.output.values[0].split([12, 8, 8])
    options = ask(star, "outputs", 0, "out")["options"]
    shares = {each["value"]: each["probability"] for each in options}
    expected = torch.cat([part.softmax(-1) for part in logits])
    names = given(star)[0].classes
    assert (len(options), names[12]) == (28, "0 (In which column?)")
    for name, share in zip(names, expected.tolist(), strict=True):
        assert shares[name] == pytest.approx(share, rel=1e-3, abs=1e-6)
    likeliest = ask(star, "relevance", "gradient")
    assert likeliest["name"] == names[int(logits[0].argmax())] == "star"
    column = int(logits[1].argmax())
    answer = ask(star, "relevance", "gradient", names[12 + column])
    near(answer["values"], explain(*given(star), target=12 + column, method="gradient").tokens)


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
    text = TraceEntry(own["vit"].trace, lambda *_: "")
    with pytest.raises(QuestionError, match="expected an index"):
        ask(text, "model_row", 0, "mean", "rollout")


# ---- tests


@pytest.mark.parametrize("kind", [*REMOVED])
def test_perturbations_are_those_of_the_analysis(kind: Kind, digit: TraceEntry) -> None:
    rolled = rollout(digit.trace, fusion="max")[0]
    expected = perturbation(*given(digit), rolled, kind, target=8)
    answer = ask(digit, "perturbation", "rollout", kind, "8", fusion="max")
    near(answer["most"], expected.curve)
    near(answer["least"], expected.reverse)
    near(answer["random"][4], expected.random[4])
    assert answer["score"] == pytest.approx(expected.score, abs=1e-5)
    assert answer["counts"] == expected.counts.tolist()
