"""The Architecture page: what it shows for possible and impossible settings, without a browser."""

import dataclasses
import inspect
import re
import textwrap

import pytest
from streamlit.testing.v1 import AppTest

import start
from models.cost.count import parts, total, walk
from models.presets import PRESETS, config_of
from viz.pack import unpack
from viz.pages.architecture import blueprint
from viz.pages.architecture import cost as blueprint_cost
from viz.pages.architecture.fields import FIELDS, shown
from viz.pages.image import memory

PAGE = "viz/pages/architecture/page.py"
SMALL = {"encoder": "small", "decoder": "small-decoder", "seq2seq": "small-seq2seq"}


def run(**query):
    app = AppTest.from_file(str(start.ROOT / "app.py"), default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    return app.switch_page(PAGE).run()


def base(app):
    """What the diagram was sent."""
    found = [unpack(element.proto.bytes)[0] for element in app.get("bidi_component")]
    return next(header["base"] for header in found if "parts" in (header["base"] or {}))


def traces(app):
    """What the explorer was sent."""
    found = [unpack(element.proto.bytes)[0] for element in app.get("bidi_component")]
    return [header for header in found if header.get("trace")]


def lines(app):
    return [e.value.replace("\\", "").replace("\u200b", "") for e in (*app.error, *app.info)]


def named(told):
    for part in told:
        yield part["name"], part
        yield from named(part["parts"])


@pytest.fixture(autouse=True)
def no_stack_trace(monkeypatch):
    """Every page run in this file must end without an exception in the page."""
    seen, original = [], AppTest._run

    def watched(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        seen.extend(result.exception)
        return result

    monkeypatch.setattr(AppTest, "_run", watched)
    yield
    assert not seen, [element.message for element in seen]


@pytest.mark.parametrize("name", PRESETS)
def test_the_controls_of_a_preset_stand_for_its_config(name):
    assert blueprint.config(name, blueprint.preset_values(name)) == PRESETS[name].config


@pytest.mark.parametrize("kind", FIELDS)
def test_the_controls_begin_where_the_configs_do(kind):
    config = config_of(kind, {})
    for field in FIELDS[kind]:
        if field.name != "classes":  # None there, for the last of the head's own layers or 10
            assert shown(field, dataclasses.asdict(config)) == field.default, field.name


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_drawn(name):
    app, preset = run(preset=name), PRESETS[name]
    found = parts(preset.config, preset.tokens, preset.target)
    told = base(app)["parts"]
    assert [name for name, _ in named(told)] == [part.name for _, _, part in walk(found)]
    assert f"{total(found, 'parameters'):,}" in " ".join(
        each.proto.body for each in app.get("html")
    )
    assert lines(app) == []
    assert dict(app.query_params) == ({"preset": name} if name != blueprint.FIRST else {})


@pytest.mark.parametrize("name", [*SMALL.values(), "small-vit", "smallest", "vit-raw-head"])
def test_the_lines_that_are_shown_are_those_that_run(name):
    app, preset = run(preset=name), PRESETS[name]
    for path, _, part in walk(parts(preset.config, preset.tokens, preset.target)):
        said = {"select": path, "said": abs(hash(path))}
        app.session_state["architecture_diagram"] = {"view": said}
        app.run()
        assert app.code[0].value == textwrap.dedent(inspect.getsource(part.source)).rstrip()
        assert base(app)["select"] == path


def test_a_control_changes_the_diagram_and_the_link():
    app = run()
    app.slider("architecture_heads").set_value(8).run()
    app.run()  # a changed control only shows what follows from it
    app.selectbox("architecture_positions").set_value("rotary").run()
    app.run()
    app.button_group("architecture_norm").set_value("pre").run()
    told = dict(named(base(app)["parts"]))
    assert told["attend"]["takes"][0] == ["heads", 8]
    assert "relation" in told
    assert "before_attention" in told
    assert dict(app.query_params)["heads"] == "8"
    app.button("architecture_reset").click().run()
    assert "before_attention" not in dict(named(base(app)["parts"]))
    assert set(app.query_params) <= {"part"}


def test_another_kind_begins_with_its_first_preset():
    app = run(preset="bert-base", heads="6")
    app.button_group("architecture_kind").set_value("seq2seq").run()
    assert app.selectbox("architecture_preset").value == "small-seq2seq"
    assert [part["kind"] for part in base(app)["parts"]] == ["tower", "tower"]
    app.selectbox("architecture_preset").set_value("transformer").run()
    assert app.number_input("architecture_dim").value == 512
    assert app.query_params["preset"] == "transformer"


@pytest.mark.parametrize(
    ("query", "says", "fix"),
    [
        ({"heads": "5"}, "heads must divide dim", "Heads 4"),
        ({"heads": "5"}, "heads must divide dim", "Dim 65"),
        ({"positions": "rotary", "head_dim": "7"}, "expected an even head width", "Head width 6"),
        ({"preset": "small-vit", "patch": "7"}, "patch 7 does not divide", "Patch 8"),
        ({"preset": "small-vit", "patch": "7"}, "patch 7 does not divide", "Image 63"),
        ({"preset": "small-vit", "dim": "0", "patches": "conv"}, "linear", "Patches by linear"),
        ({"preset": "small-seq2seq", "source_vocab": "7"}, "share_source", "Share source no"),
        ({"preset": "bert-base", "tokens": "600"}, "expected 1 to 512", "Tokens 512"),
    ],
)
def test_impossible_settings_say_why_and_offer_the_nearest(query, says, fix):
    app = run(**query)
    assert [says in line for line in lines(app)] == [True]
    assert base(app)["stale"]
    button = next(button for button in app.button if button.label == fix)
    button.click().run()
    assert lines(app) == []
    assert not base(app)["stale"]
    kept = {name: value for name, value in query.items() if name in app.query_params}
    assert len(kept) >= len(query) - 1


def test_the_last_possible_settings_stay_in_view():
    app = run(depth="3")
    app.slider("architecture_heads").set_value(5).run()
    told = dict(named(base(app)["parts"]))
    assert told["attend"]["takes"][0] == ["heads", 4]
    assert told["blocks"]["times"] == 3


@pytest.mark.parametrize("quantity", ["parameters", "flops", "memory"])
def test_shares_are_shown_as_areas(quantity):
    app = run(preset="small-seq2seq", look=quantity)
    assert len(app.get("plotly_chart")) == 1
    assert base(app)["quantity"] == quantity
    assert len(app.code) == 0


@pytest.mark.parametrize(
    ("query", "sites", "labels"),
    [
        ({"text": "one two three"}, 2, ["one", "two", "three"]),
        ({"reads": "ids", "ids": "3, 5 7"}, 2, ["3", "5", "7"]),
        ({"preset": "small-decoder", "text": "one two"}, 2, ["one", "two"]),
        ({"preset": "small-seq2seq", "text": "a b c", "answer": "x y"}, 6, ["a", "b", "c"]),
        ({"preset": "smallest", "text": "one two"}, 1, ["one", "two"]),
        ({"preset": "small-vit", "image": "16"}, 2, ["class", *(f"patch {i},{j}" for i in (0, 1)
        for j in (0, 1))]),
        ({"preset": "pixels", "image": "3"}, 2, [f"patch {i},{j}" for i in range(3)
        for j in range(3)]),
        ({"preset": "small-vit", "image": "16", "channels": "4", "pool": "mean"}, 2, None),
    ],
)  # fmt: skip
def test_a_network_is_run(query, sites, labels):
    app = run(run="yes", **query)
    (header,) = traces(app)
    assert lines(app) == []
    assert len(header["base"]["sites"]) == sites
    assert header["base"]["note"] == "untrained: random weights"
    assert labels is None or header["base"]["texts"][0]["labels"] == labels


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"text": " "}, "there is no text to read"),
        ({"reads": "ids", "ids": "1 two"}, "expected numbers such as"),
        ({"reads": "ids", "ids": "1 1000"}, "expected 0 to 999"),
        ({"text": "word " * 1030}, "expected 1 to 1024, received 1030"),
    ],
)
def test_an_input_that_cannot_be_read_gets_one_line(query, says):
    app = run(run="yes")
    for name, value in query.items():
        if name == "reads":
            app.button_group("architecture_reads").set_value(value).run()
        else:
            app.text_input(f"architecture_{name}").set_value(value).run()
    assert [says in line for line in lines(app)] == [True]
    assert traces(app) == []


def test_a_large_network_is_built_when_asked_for(monkeypatch):
    monkeypatch.setattr(blueprint_cost, "LARGE", 2**19)
    app = run(run="yes")
    assert traces(app) == []
    button = app.button("architecture_build")
    assert re.fullmatch(r"Build it \(7\d\d KiB\)", button.label)
    button.click().run()
    assert len(traces(app)) == 1
    app.slider("architecture_depth").set_value(3).run()
    assert traces(app) == []


def test_the_head_of_197_million_weights_says_its_memory_first():
    app = run(preset="vit-raw-head", run="yes")
    assert app.button("architecture_build").label == "Build it (844 MiB)"
    assert traces(app) == []


def test_a_network_too_large_for_the_machine_is_refused_with_smaller_ones(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    app = run(run="yes", depth="24")
    (line,) = lines(app)
    assert "and 1.00 MiB are free: make it smaller" in line
    offered = [b.label for b in app.button if (b.key or "").startswith("architecture_fit_")]
    assert offered
    app.button("architecture_fit_0").click().run()
    assert lines(app) == []
    assert len(traces(app)) == 1


def test_a_part_that_is_not_there_gives_way_to_the_heads():
    app = run(part="blocks/<script>")
    assert base(app)["select"] == "blocks/attention/attend"


# --- trained here ---------------------------------------------------------------------------------

TRAINED = [name for name, preset in PRESETS.items() if preset.model]


@pytest.mark.parametrize("name", TRAINED)
def test_a_trained_preset_runs_with_its_weights_on_its_own_example(name):
    example = blueprint.examples(name)[0]
    app = run(preset=name, run="yes")
    assert not app.error
    header = traces(app)[0]
    assert header["base"]["note"] == ""
    select = header["base"]["select"]
    site = header["base"]["sites"][select["site"]]
    assert (site["layer"], site["kind"]) == (example.layer, example.kind)
    assert (select["head"], select["token"]) == (example.head, example.query)


def test_a_trained_preset_that_is_changed_says_that_it_forgot():
    app = run(preset=TRAINED[0], run="yes", heads="1")
    assert any("its weights are random now" in line for line in lines(app))
    assert traces(app)[0]["base"]["note"] == "untrained: random weights"


def test_another_preset_does_not_keep_a_trained_ones_input():
    app = run(preset="trained-reverse", run="yes")
    own = blueprint.examples("trained-reverse")
    app.button("architecture_example_1").click().run()
    assert app.text_input("architecture_text").value == own[1].input
    app.selectbox("architecture_preset").set_value("small").run()
    app.run()
    assert app.text_input("architecture_text").value == blueprint.SENTENCE
