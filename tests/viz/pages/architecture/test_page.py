"""The Architecture page: what it shows for possible and impossible settings, without a browser."""

import inspect
import json
import re
import textwrap

import pytest

from models.cost.count import parts, total, walk
from models.presets import PRESETS
from tests.viz.pages import helpers
from viz.api import snippet
from viz.api.endpoint import answered
from viz.api.registry import registry
from viz.pack import unpack
from viz.pages.architecture import network, presets, run
from viz.pages.architecture.presets import PAGE

SMALL = {"encoder": "small", "decoder": "small-decoder", "seq2seq": "small-seq2seq"}
SMALL |= {"layer": "layer"}


def opened(**query):
    return helpers.run(PAGE, query, timeout=120)


def choose(app, name, value):
    return helpers.choose(app, PAGE, name, value)


def clicked(app, key):
    return helpers.checked(app.button(key).click().run())


def diagram(app):
    """The diagram's props."""
    return helpers.view(app, "architecture")


def drawn(app):
    """The attention views that show the network of now."""
    views = [*helpers.views(app, "text"), *helpers.views(app, "image")]
    return [props for props in views if not props["busy"]]


def overview(props):
    """What the browser is told of a trace first."""
    value = registry.get(props["trace"]).value
    return unpack(answered(value, "overview"))[0]["base"]


lines = helpers.lines


def named(told):
    for part in told:
        yield part["name"], part
        yield from named(part["parts"])


def by_path(told, above=""):
    for part in told:
        yield above + part["name"], part
        yield from by_path(part["parts"], f"{above}{part['name']}/")


@pytest.mark.parametrize("name", PRESETS)
def test_the_controls_of_a_preset_stand_for_its_config(name):
    assert network.config(name, presets.values(name)) == PRESETS[name].config


@pytest.mark.parametrize("name", {each.kind: name for name, each in PRESETS.items()}.values())
def test_a_preset_of_every_kind_is_drawn(name):
    app, preset = opened(preset=name), PRESETS[name]
    found = parts(preset.config, preset.tokens, preset.target)
    props = diagram(app)
    told = props["base"]["parts"]
    assert [name for name, _ in named(told)] == [part.name for _, _, part in walk(found)]
    assert f"{total(found, 'parameters'):,}" in " ".join(
        each.proto.body for each in app.get("html")
    )
    assert lines(app) == []
    assert props["link"] == ({"preset": name} if name != presets.FIRST else {})
    assert props["start"] == props["defaults"]
    assert len(json.dumps(props)) < 50_000


@pytest.mark.parametrize("name", [*SMALL.values(), "small-vit", "smallest", "vit-raw-head"])
def test_the_lines_that_are_shown_are_those_that_run(name):
    base, preset = diagram(opened(preset=name))["base"], PRESETS[name]
    told = dict(by_path(base["parts"]))
    for path, times, part in walk(parts(preset.config, preset.tokens, preset.target)):
        code = base["sources"][told[path]["source"]]["code"]
        assert code.rstrip() == textwrap.dedent(inspect.getsource(part.source)).rstrip()
        assert told[path]["heading"] == part.title + (f" × {times}" if times > 1 else "")
        assert told[path]["sentence"]
        assert ["Formula", part.formula] in told[path]["rows"]


def test_a_control_changes_the_diagram_and_the_link():
    app = opened()
    choose(app, "heads", 8)
    choose(app, "positions", "rotary")
    choose(app, "norm", "pre")
    told = dict(named(diagram(app)["base"]["parts"]))
    assert told["attend"]["takes"][0] == ["heads", 8]
    assert "relation" in told
    assert "before_attention" in told
    assert helpers.link(app)["heads"] == "8"
    clicked(app, "architecture_reset")
    assert "before_attention" not in dict(named(diagram(app)["base"]["parts"]))
    assert helpers.link(app) == {}


def test_the_inputs_of_one_layer_have_three_widths():
    told = dict(by_path(diagram(opened(preset="layer", key_input_dim="7"))["base"]["parts"]))
    names = ("query", "key", "value")
    shapes = {name: told[f"target/attention/{name}"]["takes"][1][1] for name in names}
    assert shapes == {"query": 24, "key": 7, "value": 32}
    assert told["target/attention/key"]["parameters"] == 7 * 64 + 64


def test_an_empty_width_follows_from_the_others():
    app = opened()
    box = app.number_input(helpers.key(app, PAGE, "head_dim"))
    assert (box.value, box.proto.placeholder) == (None, "auto")
    choose(app, "heads", 8)
    choose(app, "head_dim", 24)
    assert dict(named(diagram(app)["base"]["parts"]))["attend"]["takes"] == [
        ["heads", 8],
        ["tokens", 16],
        ["width", 24],
    ]
    assert helpers.link(app) == {"heads": "8", "head_dim": "24"}
    choose(app, "head_dim", None)
    assert helpers.link(app) == {"heads": "8"}
    assert opened(head_dim="0", value_dim="0").error == []


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"heads": "5"}, "heads must divide dim"),
        ({"preset": "small-vit", "patch": "7"}, "patch 7 does not divide"),
        ({"preset": "bert-base", "tokens": "600"}, "expected 1 to 512"),
        ({"preset": "small-vit", "neurons": "64 wide"}, "hidden layers"),
    ],
)
def test_impossible_settings_say_why_and_lead_back(query, says):
    app = opened(**query)
    assert [says in line for line in lines(app)] == [True]
    assert diagram(app)["busy"]
    clicked(app, "architecture_back")
    assert lines(app) == []
    assert not diagram(app)["busy"]
    assert set(helpers.link(app)) <= {"preset"}


@pytest.mark.parametrize(
    ("query", "sites", "labels"),
    [
        ({"text": 'one "two" it\'s'}, 2, None),
        ({"preset": "small-decoder", "text": "one two"}, 2, ["one", "two"]),
        ({"preset": "small-seq2seq", "text": "a b c", "answer": "x y"}, 8, ["a", "b", "c"]),
        ({"preset": "smallest", "text": "one two"}, 1, ["one", "two"]),
        ({"preset": "layer", "text": "a b c", "answer": "x y"}, 1, ["x", "y"]),
        ({"preset": "layer-additive", "text": "a b c", "answer": ""}, 1, ["a", "b", "c"]),
        ({"scoring": "bilinear", "norm_kind": "rms", "value_shortcut": "yes", "text": "one two"}, 2,
        ["one", "two"]),
        ({"preset": "small-vit", "image": "16"}, 2, ["class", *(f"patch {i},{j}" for i in (0, 1)
        for j in (0, 1))]),
        ({"preset": "pixels", "image": "3"}, 2, [f"patch {i},{j}" for i in range(3)
        for j in range(3)]),
        ({"preset": "small-vit", "image": "16", "channels": "4", "pool": "mean"}, 2, None),
        ({"preset": "small-vit", "image": "16", "channels": "1"}, 2, None),
    ],
)  # fmt: skip
def test_a_network_is_run(query, sites, labels):
    app = opened(run="yes", **query)
    (props,) = drawn(app)
    base = overview(props)
    assert lines(app) == []
    assert len(base["sites"]) == sites
    assert base["note"] == "untrained: random weights"
    found = base["texts"][0]["labels"]
    assert labels is None or found == labels
    assert_its_code_gives(props)


def assert_its_code_gives(props):
    """The numbers of the picture, by the code on the page."""
    entry = registry.get(props["trace"]).value
    names: dict = {}
    exec(snippet.code(entry, 0, "mean"), names)
    site = entry.view.sites[0]
    expected = entry.view.weights(site.layer, kind=site.kind).mean(0)
    assert float((names["weights"] - expected).abs().max()) < 1e-6


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"text": " "}, "the text is empty"),
        ({"text": "word " * 1030}, "expected 1 to 1024, received 1030"),
    ],
)
def test_an_input_that_cannot_be_read_gets_one_line(query, says):
    app = opened(run="yes")
    for name, value in query.items():
        choose(app, name, value)
    assert [says in line for line in lines(app)] == [True]
    assert drawn(app) == []
    assert helpers.view(app, "text")["busy"]


def test_a_large_network_is_built_when_asked_for(monkeypatch):
    monkeypatch.setattr(run, "LARGE", 2**19)
    app = opened(run="yes")
    assert drawn(app) == []
    button = app.button("architecture_build")
    assert re.fullmatch(r"Build it \(7\d\d KiB\)", button.label)
    clicked(app, "architecture_build")
    assert len(drawn(app)) == 1
    choose(app, "depth", 3)
    assert drawn(app) == []


def test_a_network_too_large_for_the_machine_is_refused(monkeypatch):
    monkeypatch.setattr("viz.pages.compute.available_memory", lambda device: 2**20)
    app = opened(run="yes", depth="24")
    (line,) = lines(app)
    assert "only 1.00 MiB are free: make it smaller" in line
    assert drawn(app) == []


def test_a_preset_that_was_trained_here_leads_to_its_weights():
    app = opened(preset="trained-reverse", run="yes")
    assert overview(drawn(app)[0])["note"] == "untrained: random weights"
    links = [each.proto.query_string for each in app.get("page_link")]
    assert links[-1] == f"model={PRESETS['trained-reverse'].model}"
