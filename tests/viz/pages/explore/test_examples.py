"""Every example says what the model really does."""

import re

import pytest

from analysis.outputs import likeliest
from analysis.target import name_of
from models.run import load, trace
from tests.fetched import fetched
from viz.api.samples import PHOTOS
from viz.pages.explore.example_photos import EXAMPLES as PHOTO_EXAMPLES
from viz.pages.explore.example_texts import EXAMPLES as ALL
from viz.pages.explore.example_texts import MINILM as EXAMPLES
from viz.pages.explore.examples import begin
from viz.pages.explore.page import params


@pytest.fixture(scope="module")
def minilm():
    return load("minilm")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_weight_is_the_one_that_is_told(example, minilm):
    weights = trace(minilm, example.input).weights(example.layer, example.head)
    found = weights[example.query, example.key].item()
    assert found == pytest.approx(example.weight, abs=0.005)  # told to two digits
    assert weights[example.query].argmax() == example.key
    layer, head = re.findall(r"[Ll]ayer (\d+), head (\d+)", example.hint)[0]
    assert (int(layer), int(head)) == (example.layer, example.head)


def test_the_numbers_in_the_words(minilm):
    """What the texts say beyond the one weight."""
    wide = trace(minilm, EXAMPLES[0].input.replace("tired", "wide")).weights(3, 1)
    assert wide[10, 2].item() == pytest.approx(0.28, abs=0.005)
    back = trace(minilm, EXAMPLES[2].input).weights(0, 2)
    assert back[1:].diagonal().min() > 0.97  # every token looks at the one before it
    banks = trace(minilm, EXAMPLES[3].input).weights(2, 9)
    assert banks[10].argmax() == 1
    film = trace(minilm, EXAMPLES[4].input)
    assert film.labels[film.weights(3, 1)[film.labels.index("it")].argmax()] == "film"
    same = trace(minilm, EXAMPLES[5].input).weights(2, 4)
    assert same[9].argmax() == 2
    rest = trace(minilm, EXAMPLES[6].input).weights(4, 5)
    assert rest[:, 0].min() > 0.8  # nearly all tokens rest on [CLS]
    pieces = trace(minilm, EXAMPLES[7].input)
    assert "🙂 [UNK]" in pieces.labels
    assert pieces.labels[4:10] == ["super", "cal", "if", "rag", "ilis", "tic"]
    assert pieces.weights(0, 2)[1:].diagonal().min() > 0.97


REAL = [(name, each) for name in ("smollm2", "translate", "translate-pt") for each in ALL[name]]


@pytest.mark.long
@pytest.mark.parametrize(("name", "example"), REAL, ids=lambda each: getattr(each, "name", each))
def test_the_weights_of_fetched_models_are_those_that_are_told(name: str, example) -> None:
    fetched(name)
    found = trace(load(name), example.input)
    row = found.weights(example.layer, example.head, kind=example.kind)[example.query]
    assert row[example.key].item() == pytest.approx(example.weight, abs=0.005)
    assert row.argmax() == example.key
    assert f"{example.weight:.2f}" in example.hint


@pytest.mark.long
@pytest.mark.parametrize("example", PHOTO_EXAMPLES["dinov2"], ids=lambda each: each.name)
def test_the_numbers_of_photos_are_those_that_are_told(example) -> None:
    fetched("dinov2")
    row = trace(load("dinov2"), PHOTOS[example.input]).weights(example.layer, example.head)[0]
    assert row[example.key].item() == pytest.approx(example.weight, abs=0.005)
    assert row[1:].argmax() + 1 == example.key
    times = re.findall(r"(\d+) times an even share", example.hint)
    assert [round(float(row[example.key] / row[1:].mean()))] == [int(each) for each in times]
    assert f"{example.weight:.2f}" in example.hint
    assert f"Layer {example.layer}, head {example.head}" in example.hint


@pytest.mark.long
def test_the_words_beside_those_weights() -> None:
    """The second weight of the translator, and what SmolLM2 continues with."""
    fetched("translate")
    fetched("smollm2")
    found = trace(load("translate"), ALL["translate"][0].input)
    row = found.weights(1, 0, kind="cross")[8]
    assert (round(row[5].item(), 2), int(row.argmax())) == (0.93, 5)
    fetched("translate-pt")
    found = trace(load("translate-pt"), ALL["translate-pt"][0].input)
    row = found.weights(1, 0, kind="cross")[5]
    assert (round(row[8].item(), 2), int(row.argmax())) == (0.94, 8)
    mary = trace(load("smollm2"), ALL["smollm2"][0].input)
    assert mary.weights(24, 4)[13][[3, 9]].max() == pytest.approx(0.07, abs=0.005)
    best = likeliest(mary, -1, count=1)
    assert name_of(load("smollm2"), mary.output, best.ids[0]).strip() == "Mary"


def test_a_translation_opens_as_lines_that_cross_at_every_token() -> None:
    chosen = begin("translate", {})
    assert chosen is not None
    assert (chosen["form"], chosen["token"], chosen["attention"]) == ("lines", None, "cross")
    defaults = {param.name: param.default for param in params("translate", {})}
    assert (defaults["form"], defaults["token"], defaults["head"]) == ("lines", None, 0)
    defaults = {param.name: param.default for param in params("minilm", {})}
    assert (defaults["form"], defaults["token"], defaults["least"]) == ("matrix", 10, 0.0)
