"""Page Build: what it shows for settings that make a network, and for those that make none."""

from urllib.parse import parse_qsl

import pytest
import torch

from models.presets import PRESETS, config_of
from tests.viz.pages import helpers
from viz.api.registry import registry
from viz.build.answers import picture_of
from viz.pages.build import networks, page
from viz.pages.build.settings import PAGE

ONE_OF_EACH = {each.kind: name for name, each in reversed(PRESETS.items())}.values()


def opened(**query):
    return helpers.run(PAGE, query, timeout=120)


def choose(app, name, value):
    return helpers.choose(app, PAGE, name, value)


def clicked(app, key):
    return helpers.checked(app.button(key).click().run())


def whole(app):
    """The card of the whole network that the browser is sent to."""
    entry = registry.get(helpers.view(app, "build")["trace"]).value
    return picture_of(entry).card("")


lines = helpers.lines


@pytest.mark.parametrize("name", PRESETS)
def test_the_controls_of_a_preset_stand_for_its_config(name):
    fields = networks.fields_of(name, networks.values(name))
    assert config_of(PRESETS[name].kind, fields) == PRESETS[name].config


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_network_of_every_kind_is_drawn_with_its_numbers(name):
    app = opened(preset=name)
    assert lines(app) == []
    card = whole(app)
    assert card.rows
    totals = " ".join(each.proto.body for each in app.get("html"))
    assert f"{card.parameters:,}" in totals
    assert not helpers.view(app, "build")["busy"]
    names = {}
    exec(app.code[0].value, names)  # the lines that the page shows
    trace = registry.get(helpers.view(app, "build")["trace"]).value.trace
    assert torch.allclose(names["weights"], trace.weights(trace.sites[0], 0), atol=1e-6)


def test_a_control_changes_the_network_and_the_link():
    app = opened()
    before = whole(app).parameters
    choose(app, "depth", 3)
    choose(app, "norm", "pre")
    card = whole(app)
    layers = next(item for item in card.items if item.kind == "layers")
    assert len(layers.inner) == 3
    assert card.parameters > before
    assert helpers.link(app) == {"depth": "3", "norm": "pre"}
    clicked(app, "build_reset")
    assert whole(app).parameters == before
    assert helpers.link(app) == {}


def test_an_empty_width_follows_from_the_others():
    app = opened()
    box = app.number_input(helpers.key(app, PAGE, "head_dim"))
    assert (box.value, box.proto.placeholder) == (None, "auto")
    choose(app, "heads", 8)
    choose(app, "head_dim", 24)
    assert helpers.link(app) == {"heads": "8", "head_dim": "24"}
    choose(app, "head_dim", None)
    assert helpers.link(app) == {"heads": "8"}
    assert opened(head_dim="0", value_dim="0").error == []


def test_the_inputs_of_one_layer_have_three_widths():
    app = opened(preset="layer", key_input_dim="7")
    entry = registry.get(helpers.view(app, "build")["trace"]).value
    card = picture_of(entry).card("m:attention")
    widths = {
        item.title: picture_of(entry).card(item.opens).matrices[0].values.shape[1]
        for item in card.items
        if item.title in ("Query", "Key", "Value")
    }
    assert widths == {"Query": 24, "Key": 7, "Value": 32}


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"heads": "5"}, "heads must divide dim"),
        ({"preset": "small-vit", "patch": "7"}, "patch 7 does not divide"),
        ({"preset": "small-vit", "neurons": "64 wide"}, "hidden layers"),
    ],
)
def test_impossible_settings_say_why_and_lead_back(query, says):
    app = opened(**query)
    assert [says in line for line in lines(app)] == [True]
    assert helpers.view(app, "build")["busy"]
    clicked(app, "build_back")
    assert lines(app) == []
    assert not helpers.view(app, "build")["busy"]
    assert set(helpers.link(app)) <= {"preset"}


@pytest.mark.parametrize(
    ("text", "says"),
    [(" ", "the text is empty"), ("word " * 1030, "expected 1 to 1024, received 1030")],
)
def test_an_input_that_cannot_be_read_gets_one_line_and_the_last_picture_stays(text, says):
    app = opened()
    before = helpers.view(app, "build")["trace"]
    choose(app, "text", text)
    assert [says in line for line in lines(app)] == [True]
    after = helpers.view(app, "build")
    assert (after["trace"], after["busy"]) == (before, True)


def test_a_large_network_shows_shapes_and_runs_when_asked(monkeypatch):
    monkeypatch.setattr(page, "LIVE", 100_000)
    app = opened()
    entry = registry.get(helpers.view(app, "build")["trace"]).value
    assert entry.kind == "build"
    assert whole(app).parameters == 163_968
    clicked(app, "build_run")
    entry = registry.get(helpers.view(app, "build")["trace"]).value
    assert entry.kind == "text"
    assert helpers.link(app)["run"] == "yes"


def test_a_network_too_large_for_the_machine_is_refused(monkeypatch):
    monkeypatch.setattr("viz.pages.compute.available_memory", lambda device: 2**20)
    (line,) = lines(opened(depth="24"))
    assert "only 1.00 MiB are free: make it smaller" in line


def test_a_preset_that_was_trained_here_leads_to_its_weights():
    app = opened(preset="trained-reverse")
    links = [each.proto.query_string for each in app.get("page_link")]
    assert f"model={PRESETS['trained-reverse'].model}" in links


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_its_heads_open_in_explore_with_the_same_numbers(name):
    app = opened(preset=name, seed="7")
    first, *_ = (each.proto.query_string for each in app.get("page_link"))
    mine = registry.get(helpers.view(app, "build")["trace"]).value.trace
    explore = helpers.run("explore", dict(parse_qsl(first)), timeout=120)
    assert lines(explore) == []
    (view,) = (*helpers.views(explore, "text"), *helpers.views(explore, "image"))
    theirs = registry.get(view["trace"]).value.trace
    assert [site.kind for site in theirs.sites] == [site.kind for site in mine.sites]
    kind = mine.sites[-1].kind
    assert torch.equal(theirs.weights(0, kind=kind), mine.weights(0, kind=kind))
    (back,) = (each.proto.query_string for each in explore.get("page_link"))
    assert dict(parse_qsl(back)) == {"preset": name, "seed": "7"}
