"""Edits of the page: in the link, from the view, listed in words, undone; what the view is told."""

import pytest

from models.edits import Ablate
from models.edits.text import edit_values, parse_edits
from models.run import load, trace
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import ask, press
from tests.viz.pages.explore.explorer import same as alike
from viz.api import registry, snippet
from viz.pages.explore.edits import NAMED

DECODER = {"model": "grammar-next"}


def opened(**query):
    return helpers.run("explore", DECODER | query)


def held(app, kind="text"):
    return registry.get(helpers.view(app, kind)["trace"]).value


def weights(app):
    trace = held(app).trace
    return [trace.weights(site) for site in trace.sites]


def same(these, those):
    return all(alike(a, b) for a, b in zip(these, those, strict=True))


def toggle(app, text, second=None):
    (edit,) = parse_edits(text, {"second": NAMED})
    return ask(app, "toggle", edit_values(edit, {"second": NAMED}), second)


def props(app):
    return helpers.view(app, "text")


def sentences(app):
    return [each["said"] for each in props(app)["edits"]]


def traced(app, edits):
    """The same pass without the page."""
    model = load(DECODER["model"])
    text = helpers.setting(app, "explore", "input")
    return trace(model, text, edits=edits)


def test_a_link_with_edits_shows_their_pass() -> None:
    plain, app = opened(), opened(edits="Ablate(0, 0)")
    expected = traced(app, [Ablate(0, 0)])
    assert same(weights(app), [expected.weights(site) for site in expected.sites])
    assert not same(weights(app), weights(plain))
    assert helpers.link(app)["edits"] == "Ablate(0, 0)"
    assert "edits" not in helpers.link(plain)
    (edit,) = props(app)["edits"]
    assert edit == {
        "values": {"edit": "Ablate", "layer": 0, "head": 0},
        "said": Ablate(0, 0).describe(),
        "on": True,
    }
    assert (props(app)["edited"], props(app)["difference"]) == (True, False)
    lines = snippet.code(held(app), 1, 0).splitlines()
    assert any(line.endswith("edits=[hs.Ablate(0, 0)])") for line in lines)


@pytest.mark.parametrize(
    "text",
    ["Ablate(", "__import__('os')", "Ablate(99, 0)", "Patch(0, 'hidden', 'second')", "x" * 5000],
)
def test_a_link_with_bad_edits_says_so_in_a_line_and_the_rest_holds(text: str) -> None:
    app = opened(edits=text, input="the dog", words="yes")
    assert len(helpers.lines(app)) == 1
    assert same(weights(app), weights(opened(input="the dog", words="yes")))
    assert helpers.link(app)["input"] == "the dog"


def test_the_view_asks_for_an_edit_and_takes_it_back() -> None:
    app = opened()
    assert not sentences(app)
    toggle(app, "Ablate(0, 1)")
    assert sentences(app) == [Ablate(0, 1).describe()]
    assert helpers.link(app)["edits"] == "Ablate(0, 1)"
    helpers.checked(app.run())  # the same message is still there
    assert len(sentences(app)) == 1
    toggle(app, "Temperature(0.5, layer=1)")
    assert helpers.link(app)["edits"] == "Ablate(0, 1), Temperature(0.5, layer=1)"
    toggle(app, "Ablate(0, 1)")
    assert helpers.link(app)["edits"] == "Temperature(0.5, layer=1)"
    for bad in (
        "nonsense",
        {"edit": "Ablate", "layer": 1},
        {"edit": "Ablate", "layer": [], "head": 0},
    ):
        assert len(helpers.lines(ask(app, "toggle", bad))) == 1
    assert len(sentences(app)) == 1


def test_edits_are_switched_off_removed_undone_and_made_again() -> None:
    app = opened(edits="Ablate(0, 0), Ablate(0, 1)")
    both, plain = weights(app), weights(opened())
    first = props(app)["edits"][0]["values"]
    ask(app, "switch", first)
    assert helpers.link(app)["off"] == "0"
    assert same(weights(app), weights(opened(edits="Ablate(0, 1)")))
    again = opened(**{name: helpers.link(app)[name] for name in ("edits", "off")})
    assert [each["on"] for each in props(again)["edits"]] == [False, True]
    ask(app, "toggle", first)
    assert helpers.link(app)["edits"] == "Ablate(0, 1)"
    assert "off" not in helpers.link(app)
    ask(app, "undo")
    ask(app, "undo")
    assert same(weights(app), both)
    assert (props(app)["undo"], props(app)["redo"]) == (False, True)
    ask(app, "redo")
    assert helpers.link(app)["off"] == "0"
    ask(app, "clear")
    assert same(weights(app), plain)
    assert "edits" not in helpers.link(app)
    ask(app, "undo")
    assert len(sentences(app)) == 2


def test_before_after_and_difference() -> None:
    app, plain = opened(edits="Ablate(0, 0)"), opened()
    after = weights(app)
    ask(app, "edited", "before")
    assert same(weights(app), weights(plain))
    assert helpers.link(app)["edited"] == "before"
    ask(app, "edited", "difference")
    assert same(weights(app), after)
    assert helpers.view(app, "text")["difference"] is True
    assert helpers.view(app, "text")["predicts"]


def test_an_edit_shows_what_it_does_and_an_example_or_another_model_begins_without_any() -> None:
    app = opened(edits="Ablate(0, 0)", edited="before")
    toggle(app, "Ablate(0, 1)")
    assert props(app)["edited"]
    assert len(sentences(app)) == 2
    press(app, "example_1")
    assert sentences(app) == []
    ask(app, "undo")
    assert len(sentences(app)) == 2
    app.session_state["explore_included"] = {"chosen": "grammar"}
    assert sentences(helpers.checked(app.run())) == []


def test_another_value_of_an_edit_takes_the_place_of_the_first() -> None:
    app = opened(edits="Ablate(0, 0), SetWeights(1, 0, 3, 1, 0.2)")
    toggle(app, "SetWeights(1, 0, 3, 1, 0.3)")
    assert helpers.link(app)["edits"] == "Ablate(0, 0), SetWeights(1, 0, 3, 1, 0.3)"
    toggle(app, "SetWeights(1, 0, 3, 2, 0.3)")
    assert helpers.link(app)["edits"].count("SetWeights") == 2
    toggle(app, "SetWeights(1, 0, 3, 1, 0.3)")
    assert helpers.link(app)["edits"] == "Ablate(0, 0), SetWeights(1, 0, 3, 2, 0.3)"
    toggle(app, "Ablate(0, 0, how='mean')")
    toggle(app, "Ablate(0, 1)")
    written = "Ablate(0, 0, how='mean'), SetWeights(1, 0, 3, 2, 0.3), Ablate(0, 1)"
    assert helpers.link(app)["edits"] == written
