"""Trained models of texts: their own examples, what they answer, and how likely."""

import pytest
import torch

from analysis.outputs import likeliest
from models.card import card
from models.catalogue import bundled
from models.request import TraceRequest
from models.run import load, trace
from tests.viz.pages.explore.explorer import (
    opened,
    setting,
    view,
)
from tests.viz.pages.helpers import lines, take
from viz.api import tracing

KINDS = {known.name: known.kind for known in bundled()}
TRAINED = {
    known.name: found for known in bundled() if known.reads == "text" and (found := card(known))
}


@pytest.mark.parametrize("name", TRAINED)
def test_choosing_a_model_shows_its_first_example(name: str) -> None:
    app = opened()
    take(app, name)
    example, start = TRAINED[name].examples[0], view(app)["start"]
    assert lines(app) == []
    assert setting(app, "input") == example.input
    assert (start["layer"], start["attention"]) == (example.layer, example.kind)
    assert start["head"] == example.head
    captions = "\n".join(caption.value.replace("\\", "") for caption in app.caption)
    assert example.hint in captions.replace("&#58;", ":")


@pytest.mark.parametrize("name", TRAINED)
def test_the_panel_has_the_probabilities_at_the_chosen_token(name: str) -> None:
    example, known = TRAINED[name].examples[0], TRAINED[name]
    source = tracing.of_catalogue(name)
    entry = tracing.shown(TraceRequest(source, example.input, example.target)).value
    site = next(
        place
        for place, site in enumerate(entry.shown.sites)
        if (site.layer, site.kind) == (example.layer, example.kind)
    )
    told = entry.predict(site, "out", example.query)
    found = trace(load(name), example.input, example.target or None)
    expected = likeliest(found, example.query)
    names = known.target_tokens or known.tokens
    assert told["labels"] == [names[id] for id in expected.ids]
    assert told["probabilities"] == pytest.approx(expected.probabilities)
    assert f"(position {expected.place})" in told["title"]


@pytest.mark.parametrize("name", TRAINED)
def test_what_stands_around_a_text_is_not_predicted(name: str) -> None:
    """Neither a word at [BEGIN] and [END], nor the sign that ends an answer."""
    app = opened(model=name)
    (answer,) = [text.value for text in app.markdown if text.value.startswith("The model")]
    if KINDS[name] == "decoder":
        known, example = TRAINED[name], TRAINED[name].examples[0]
        with torch.no_grad():
            logits = trace(load(name), example.input).output.values[0, -1]
        shares, ids = logits.softmax(-1).topk(3)
        words = answer.removeprefix("The model continues with ").replace("\\", "").split(", ")
        assert [word.split("**")[1] for word in words] == [known.tokens[id] for id in ids.tolist()]
        percents = [float(word.split()[-2]) for word in words]
        assert percents == pytest.approx((100 * shares).tolist(), rel=0.06)
        return
    assert "END" not in answer
    assert "BEGIN" not in answer


def test_the_masked_word_is_answered() -> None:
    """“the keys near the cabinet [MASK] dusty .”: one word for each token of the text."""
    app = opened(model="grammar")
    answer = next(text.value for text in app.markdown if text.value.startswith("The model"))
    assert (
        answer.replace("\\", "") == "The model answers: **the keys near the cabinet are dusty .**"
    )


def test_a_reversed_word_and_a_date_are_written_without_signs() -> None:
    for name, told in (
        ("reverse", "The model answers: **maerts**"),
        ("dates", "The model writes: **1998-03-03**"),
    ):
        app = opened(model=name)
        texts = [text.value.replace("\\", "") for text in app.markdown]
        assert told in texts


def test_a_target_that_is_given_is_read_instead_of_generated() -> None:
    app = opened(model="dates", target="1998-03-04")
    texts = [text.value for text in app.markdown]
    assert any(text.startswith("Given that target") for text in texts)


def test_what_the_user_wrote_stays_when_the_model_changes() -> None:
    app = opened(model="built", input="my own words")
    take(app, "minilm")
    assert setting(app, "input") == "my own words"
