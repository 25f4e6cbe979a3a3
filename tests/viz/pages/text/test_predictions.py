"""Trained models on the Text page: their own examples, what they answer, and how likely."""

import pytest
from tests.viz.pages.test_text import blobs, lines, literal, run

from analysis.outputs import top_tokens
from models.catalogue import catalogue
from models.files.card import card
from models.run import load, trace

TRAINED = {
    known.name: told for known in catalogue() if known.reads == "text" and (told := card(known))
}


@pytest.mark.parametrize("name", TRAINED)
def test_choosing_a_model_shows_its_first_example(name):
    app = run()
    app.selectbox("text_model").set_value(name).run()
    example = TRAINED[name].examples[0]
    assert lines(app) == []
    assert app.text_input("text_input").value == example.input
    ((header, _),) = blobs(app)
    site = header["base"]["sites"][header["base"]["select"]["site"]]
    assert (site["layer"], site["kind"]) == (example.layer, example.kind)
    assert header["base"]["select"]["head"] == example.head
    assert any(example.hint in literal(caption.value) for caption in app.caption)


@pytest.mark.parametrize("name", TRAINED)
def test_the_bars_are_the_probabilities_at_the_chosen_token(name):
    example = TRAINED[name].examples[0]
    given = {"layer": str(example.layer), "attention": example.kind, "token": str(example.query)}
    app = run(model=name, input=example.input, **given)
    (figure,) = (chart.proto.spec for chart in app.get("plotly_chart"))
    found = trace(load(name), example.input)
    told = top_tokens(found, example.query)
    names = TRAINED[name].target_tokens or TRAINED[name].tokens
    for number, share in zip(told.ids, told.probabilities, strict=True):
        assert f'"{share:.3f}"' in figure
        assert names[number].replace('"', '\\"').replace("<", "&lt;").replace(">", "&gt;") in figure


def test_what_the_user_wrote_stays_when_the_model_changes():
    app = run(model="built", input="my own words")
    app.selectbox("text_model").set_value("minilm").run()
    assert app.text_input("text_input").value == "my own words"
