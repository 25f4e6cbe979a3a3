"""What the model answers to the page's input, and what it goes on with."""

from dataclasses import replace
from typing import Any

import pytest

from analysis.outputs import likeliest
from analysis.target import target_in as choose
from models.card import card
from models.catalogue import CHECKPOINTS, bundled
from models.catalogue import entry as catalogue_entry
from models.edits import Ablate
from models.request import TraceRequest
from models.run import load, trace
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import (
    drop,
    file_of,
    opened,
)
from viz.api import tracing
from viz.api.predictions import predictions

KINDS = {known.name: known.kind for known in bundled()}
TRAINED = {
    known.name: found for known in bundled() if known.reads == "text" and (found := card(known))
}


@pytest.mark.parametrize("name", TRAINED)
def test_the_panel_has_the_probabilities_at_the_chosen_token(name: str) -> None:
    example, known = TRAINED[name].examples[0], TRAINED[name]
    source = tracing.of_catalogue(name)
    entry = tracing.entry_for(TraceRequest(source, example.input, example.target)).value
    site = next(
        place
        for place, site in enumerate(entry.view.sites)
        if (site.layer, site.kind) == (example.layer, example.kind)
    )
    told: Any = predictions(entry, site, "out", example.query)
    found = trace(load(name), example.input, example.target or None)
    expected = likeliest(found, example.query)
    names = known.target_tokens or known.tokens
    assert told.labels == [names[id] for id in expected.ids]
    # two passes, whose sums in float32 may be taken in another order
    assert told.probabilities == pytest.approx(expected.probabilities, rel=1e-4)
    assert f"(position {expected.place})" in told.title
    explained = [choose(load(name), found, value) for value in told.values]
    assert [(each.id, each.position) for each in explained] == [
        (id, expected.place) for id in expected.ids
    ]


@pytest.mark.parametrize("name", [name for name in TRAINED if KINDS[name] == "decoder"])
def test_edits_are_compared_with_the_pass_before_them(name: str) -> None:
    """The line above the view: probabilities of both passes, and their divergence in nats."""
    example, known = TRAINED[name].examples[0], TRAINED[name]
    edit = Ablate(0, 0)
    request = TraceRequest(tracing.of_catalogue(name), example.input, edits=(edit,))
    told: Any = predictions(tracing.entry_for(request).value, 0, "out", example.query)
    assert told.lead[0] == "What comes after"
    passes = [trace(load(name), example.input, edits=edits) for edits in ([], [edit])]
    before, after = (
        each.output.values[0, example.query].detach().double().softmax(-1) for each in passes
    )
    change = told.change
    ids = [known.tokens.index(label) for label in change.labels]
    assert set(ids) == {*before.topk(3).indices.tolist(), *after.topk(3).indices.tolist()}
    assert change.before == pytest.approx(before[ids].tolist(), rel=1e-4)
    assert change.after == pytest.approx(after[ids].tolist(), rel=1e-4)
    expected = float((before * (before / after).log()).sum())
    assert change.kl == pytest.approx(expected, rel=1e-3, abs=1e-9)
    plain = tracing.entry_for(replace(request, edits=())).value
    told = predictions(plain, 0, "out", 0)
    assert told.change is None


def test_the_masked_word_is_answered() -> None:
    """“the keys near the cabinet [MASK] dusty .”: one word for each token of the text."""
    app = opened(model="grammar")
    answer = next(text.value for text in app.markdown if text.value.startswith("The model"))
    assert (
        answer.replace("\\", "") == "The model answers: **the keys near the cabinet are dusty .**"
    )


def test_a_target_that_is_given_is_read_instead_of_generated() -> None:
    source, text = tracing.of_catalogue("dates"), TRAINED["dates"].examples[0].input
    entry = tracing.entry_for(TraceRequest(source, text, "1998-03-04")).value
    told: Any = predictions(entry, 0, "out")
    best = trace(load("dates"), text, "1998-03-04").output.values[0].argmax(-1).tolist()
    known = TRAINED["dates"].target_tokens
    wanted = "".join(known[id] for id in best if known[id] != "[END]")
    assert told.written == ("Given that target, the likeliest tokens are", wanted)
    assert told.position == len("1998-03-04")


TEXT = "the cat saw the dog"
WHOLE = f"{TEXT} because it was"
DECODER = {"model": "grammar-next", "input": TEXT}


def told(app):
    props = helpers.view(app, "text")
    return props.get("writes"), props.get("given")


def send(app, id, text, written):
    app.session_state["explore_view"] = {"write": {"id": id, "text": text, "written": written}}
    return helpers.checked(app.run())


def test_a_written_text_is_the_input_until_it_is_typed_anew() -> None:
    app = helpers.run("explore", DECODER)
    assert told(app) == (True, None)
    send(app, "1", WHOLE, len(WHOLE) - len(TEXT))
    assert helpers.setting(app, "explore", "input") == WHOLE
    assert told(app) == (True, 6)
    link = helpers.link(app)
    assert (link["input"], link["written"]) == (WHOLE, str(len(WHOLE) - len(TEXT)))
    assert told(helpers.run("explore", DECODER | link)) == (True, 6)
    helpers.checked(app.run())  # the same message is still there
    helpers.choose(app, "explore", "input", "the dog")
    assert told(app) == (True, None)
    assert "written" not in helpers.link(app)


def test_what_is_no_text_of_a_decoder_is_not_gone_on_with() -> None:
    assert told(helpers.run("explore", {"model": "grammar", "input": "the cat"})) == (None, None)
    app = helpers.run("explore", DECODER)
    for id, (text, count) in enumerate([("", 3), (WHOLE, 0), (WHOLE, 99), (4, 2)]):
        send(app, str(id), text, count)
        assert helpers.setting(app, "explore", "input") == TEXT


OF_PICTURES = {
    each.name: about for each in bundled() if each.reads == "image" and (about := card(each))
}


def answers(app):
    return " ".join(element.value.replace("\\", "") for element in app.markdown)


def file(name, example):
    return CHECKPOINTS / catalogue_entry(name).folder / example.input


@pytest.mark.parametrize("name", OF_PICTURES)
def test_it_shows_what_the_network_answers(name):
    about = OF_PICTURES[name]
    for example in about.examples:
        app = opened(model=name, photo=f"{name}/{example.input}")
        logits = trace(load(name), file(name, example)).output.values[0]
        sizes = [len(question.classes) for question in about.questions]
        for question, part in zip(about.questions, logits.split(sizes), strict=True):
            share, best = part.softmax(-1).max(-1)
            percent = f"{100 * float(share):.1f}\N{NO-BREAK SPACE}%"
            answer = f"{question.title} **{question.classes[best]}** ({percent}"
            assert answer in answers(app)


def test_the_truth_stands_beside_the_answer_and_a_guess_is_called_one():
    app = opened(model="digits", photo="digits/a-three.png")
    assert "Truth: **3**" in answers(app)
    app = drop(app, file_of())
    assert "Truth" not in answers(app)
    assert any("is a guess" in each.value for each in app.info)
