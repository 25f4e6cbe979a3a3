"""Every example opens on a weight that is there; its tour is walked in test_tours.py."""

import pytest

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


REAL = [(name, each) for name in ("smollm2", "translate", "translate-pt") for each in ALL[name]]


@pytest.mark.long
@pytest.mark.parametrize(("name", "example"), REAL, ids=lambda each: getattr(each, "name", each))
def test_the_weights_of_fetched_models_are_those_that_are_told(name: str, example) -> None:
    fetched(name)
    found = trace(load(name), example.input)
    row = found.weights(example.layer, example.head, kind=example.kind)[example.query]
    assert row[example.key].item() == pytest.approx(example.weight, abs=0.005)
    assert row.argmax() == example.key


@pytest.mark.long
@pytest.mark.parametrize("example", PHOTO_EXAMPLES["dinov2"], ids=lambda each: each.name)
def test_the_numbers_of_photos_are_those_that_are_told(example) -> None:
    fetched("dinov2")
    row = trace(load("dinov2"), PHOTOS[example.input]).weights(example.layer, example.head)[0]
    assert row[example.key].item() == pytest.approx(example.weight, abs=0.005)
    assert row[1:].argmax() + 1 == example.key


def test_a_translation_opens_as_lines_that_cross_at_every_token() -> None:
    chosen = begin("translate", {})
    assert chosen is not None
    assert (chosen["form"], chosen["token"], chosen["attention"]) == ("lines", None, "cross")
    defaults = {param.name: param.default for param in params("translate", {})}
    assert (defaults["form"], defaults["token"], defaults["head"]) == ("lines", None, 0)
    defaults = {param.name: param.default for param in params("minilm", {})}
    assert (defaults["form"], defaults["token"], defaults["least"]) == ("matrix", 10, 0.0)
