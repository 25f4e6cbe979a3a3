"""Edits of the page: in the link, from the view, listed in words, undone; what the view is told."""

import pytest

from models.edits import Ablate, Patch
from models.run import load, trace
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import same as alike
from viz.api import registry

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


def ask(app, text, second="", id="1"):
    """What the view sends for an edit."""
    app.session_state["explore_view"] = {
        "edit": {"sent": [{"id": id, "text": text, "second": second}]}
    }
    return helpers.checked(app.run())


def sentences(app):
    return [
        each.label.replace("\\", "").replace("&#58;", ":")
        for each in app.toggle
        if (each.key or "").startswith("explore_edit_")
    ]


def press(app, name):
    return helpers.checked(app.button(f"explore_edits_{name}").click().run())


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
    props = helpers.view(app, "text")
    assert (props["edits"], props["difference"]) == (["Ablate(0, 0)"], False)
    lines = held(app).code(1, 0).splitlines()
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
    ask(app, "Ablate(0, 1)")
    assert sentences(app) == [Ablate(0, 1).describe()]
    assert helpers.link(app)["edits"] == "Ablate(0, 1)"
    helpers.checked(app.run())  # the same message is still there
    assert len(sentences(app)) == 1
    ask(app, "Temperature(0.5, layer=1)", id="2")
    assert helpers.link(app)["edits"] == "Ablate(0, 1), Temperature(0.5, layer=1)"
    ask(app, "Ablate(0, 1)", id="3")
    assert helpers.link(app)["edits"] == "Temperature(0.5, layer=1)"
    ask(app, "nonsense", id="4")
    assert len(helpers.lines(app)) == 1


def test_edits_are_switched_off_removed_undone_and_made_again() -> None:
    app = opened(edits="Ablate(0, 0), Ablate(0, 1)")
    both, plain = weights(app), weights(opened())
    app.toggle("explore_edit_0_on").set_value(False)
    helpers.checked(app.run())
    assert helpers.link(app)["off"] == "0"
    assert same(weights(app), weights(opened(edits="Ablate(0, 1)")))
    again = opened(**{name: helpers.link(app)[name] for name in ("edits", "off")})
    assert [
        each.value for each in again.toggle if (each.key or "").startswith("explore_edit_")
    ] == [False, True]
    helpers.checked(app.button("explore_edit_0_remove").click().run())
    assert helpers.link(app)["edits"] == "Ablate(0, 1)"
    assert "off" not in helpers.link(app)
    press(app, "undo")
    press(app, "undo")
    assert same(weights(app), both)
    press(app, "redo")
    assert helpers.link(app)["off"] == "0"
    press(app, "remove")
    assert same(weights(app), plain)
    assert "edits" not in helpers.link(app)
    press(app, "undo")
    assert len(sentences(app)) == 2


def test_activations_of_a_second_input_are_patched() -> None:
    app = ask(opened(), "Patch(1, 'hidden', 'second', token=1)", "the dogs run")
    model = load(DECODER["model"])
    source = trace(model, "the dogs run", hidden=True)
    expected = traced(app, [Patch(1, "hidden", source, token=1)])
    assert alike(held(app).trace.output.values, expected.output.values)
    assert helpers.link(app)["second"] == "the dogs run"
    code = held(app).code(0, 0)
    assert "other = hs.trace(model, 'the dogs run', hidden=True)" in code
    assert "Patch(1, 'hidden', other, token=1)" in code
    names: dict[str, object] = {}
    exec(code, names)
    assert alike(names["t"].output.values, expected.output.values)  # pyright: ignore


def test_before_after_and_difference() -> None:
    app, plain = opened(edits="Ablate(0, 0)"), opened()
    after = weights(app)
    helpers.choose(app, "explore", "edited", "before")
    assert same(weights(app), weights(plain))
    assert helpers.link(app)["edited"] == "before"
    helpers.choose(app, "explore", "edited", "difference")
    assert same(weights(app), after)
    assert helpers.view(app, "text")["difference"] is True
    assert "predictions" in helpers.view(app, "text")["panels"]


def test_another_value_of_a_weight_takes_the_place_of_the_first() -> None:
    app = opened(edits="Ablate(0, 0), SetWeights(1, 0, 3, 1, 0.2)")
    ask(app, "SetWeights(1, 0, 3, 1, 0.3)")
    assert helpers.link(app)["edits"] == "Ablate(0, 0), SetWeights(1, 0, 3, 1, 0.3)"
    ask(app, "SetWeights(1, 0, 3, 2, 0.3)", id="2")
    assert helpers.link(app)["edits"].count("SetWeights") == 2
    ask(app, "SetWeights(1, 0, 3, 1, 0.3)", id="3")
    assert helpers.link(app)["edits"] == "Ablate(0, 0), SetWeights(1, 0, 3, 2, 0.3)"


def kept_runs(app):
    return [each.label for each in app.button if (each.key or "").startswith("explore_edits_run")]


def keep(app, name):
    app.text_input("explore_edits_name").set_value(name)
    press(app, "keep_this")


def test_runs_are_kept_by_name_and_shown_again() -> None:
    app = opened(edits="Ablate(0, 0), Ablate(0, 1)", off="1")
    first = weights(app)
    keep(app, "one *head*")
    press(app, "remove")
    keep(app, "")
    assert kept_runs(app) == ["one \\*head\\*", "Run 1"]
    press(app, "run_0")
    assert same(weights(app), first)
    assert helpers.link(app)["off"] == "1"
    press(app, "run_1")
    assert "edits" not in helpers.link(app)
    again = opened(kept=helpers.link(app)["kept"])  # a reload
    assert kept_runs(again) == kept_runs(app)
    press(again, "run_0")
    assert same(weights(again), first)
    press(again, "forget_0")
    assert kept_runs(again) == ["Run 1"]
    press(again, "forget_0")
    assert not kept_runs(again)
    assert "kept" not in helpers.link(again)


def test_runs_are_compared_side_by_side() -> None:
    text = "the cat saw the dog"
    app = opened(model="grammar-next", input=text, edits="Ablate(1, 0)")
    keep(app, "without a head")
    press(app, "remove")
    keep(app, "as it is")
    press(app, "compare")
    assert helpers.link(app)["compared"] == "yes"
    (table,) = app.table
    frame = table.value
    assert list(frame.columns) == ["", "as it is", "without a head"]
    rows = {row[""].strip("*"): row for row in frame.to_dict("records")}
    assert rows["Input"]["without a head"] == rows["Input"]["as it is"] == f"“{text}”"
    assert rows["Edits"]["as it is"] == "none"
    assert rows["Edits"]["without a head"].startswith("Layer 1, head 0")
    model = load("grammar-next")
    plain, without = (
        trace(model, text, edits=edits).output.values[0, -1].double().log_softmax(-1)
        for edits in ((), (Ablate(1, 0),))
    )
    kl = float((plain.exp() * (plain - without)).sum())
    assert rows["From the first"]["without a head"] == f"KL {kl:.3g} nats"
    for name, logs in (("as it is", plain), ("without a head", without)):
        assert f"{100 * float(logs.exp().max()):.1f}\N{NO-BREAK SPACE}%" in rows["Prediction"][name]
