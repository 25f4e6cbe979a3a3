"""The Text page: what it shows for good and for bad input, without a browser."""

import hashlib

import pytest
from streamlit.testing.v1 import AppTest

import start
from analysis.view import View
from models.run import load, trace
from viz.pack import unpack
from viz.pages import settings
from viz.pages.shared import Choice, opened, traced
from viz.pages.text.examples import EXAMPLES, of
from viz.pages.widgets import snippet


def run(**query):
    app = AppTest.from_file(str(start.ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def blobs(app):
    return [unpack(element.proto.bytes) for element in app.get("bidi_component")]


def lines(app):
    return [literal(element.value) for element in (*app.error, *app.info)]


def literal(markdown):
    return markdown.replace("\\", "").replace("\u200b", "")


@pytest.fixture(autouse=True)
def no_stack_trace():
    """Every page run in this file must end without an exception in the page."""
    seen = []
    original = AppTest._run

    def watched(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        seen.extend(result.exception)
        return result

    AppTest._run = watched
    yield
    AppTest._run = original
    assert not seen, [element.message for element in seen]


def test_the_first_screen_is_a_sentence_in_minilm():
    app = run()
    ((header, _),) = blobs(app)
    assert header["base"]["model"] == "all-MiniLM-L6-v2"
    assert header["base"]["note"] == ""
    assert header["base"]["texts"][0]["labels"] == trace(load("minilm"), EXAMPLES[0].input).labels
    assert header["base"]["select"] == {
        "site": 3,
        "head": 1,
        "token": 10,
        "direction": "out",
        "scale": "fixed",
    }
    assert dict(app.query_params) == {}
    assert lines(app) == []


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_is_one_click_away(number):
    app = run(model="built")
    app.button(f"text_example_{number}").click().run()
    ((header, _),) = blobs(app)
    example = EXAMPLES[number]
    select = header["base"]["select"]
    assert app.text_input("text_input").value == example.input
    assert (select["site"], select["head"]) == (example.layer, example.head)
    assert any(example.hint in literal(caption.value) for caption in app.caption)


def test_a_built_encoder_says_untrained_and_obeys_its_controls():
    app = run(model="built", input="one two three")
    ((before, _),) = blobs(app)
    assert before["base"]["note"] == "untrained: random weights"
    assert [site["heads"] for site in before["base"]["sites"]] == [4] * 4
    app.slider("text_heads").set_value(8).run()
    app.slider("text_depth").set_value(2).run()
    ((after, _),) = blobs(app)
    assert [site["heads"] for site in after["base"]["sites"]] == [8] * 2
    assert after["trace"] != before["trace"]
    assert dict(app.query_params) == {
        "model": "built",
        "input": "one two three",
        "heads": "8",
        "depth": "2",
    }


def test_heads_that_do_not_divide_dim_get_one_line_and_nothing_is_lost():
    app = run(model="built", input="kept text", heads="5")
    assert lines(app) == [
        "heads must divide dim: expected one of 1, 2, 4, 8, 16, 32, 64 for dim 64, received 5"
    ]
    assert app.text_input("text_input").value == "kept text"
    app.slider("text_heads").set_value(2).run()
    assert lines(app) == []
    assert len(blobs(app)) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "There is no text to read"),
        ("  \t ", "There is no text to read"),
        ("\x00\x07\x1b", "There is no text to read"),
        ("word " * 600, "This text has 602 tokens and the model reads at most 512"),
    ],
)
def test_text_that_cannot_be_read_gets_one_line(text, says):
    app = run()
    app.text_input("text_input").set_value(text).run()
    assert sum(says in line for line in lines(app)) == 1
    assert blobs(app) == []
    assert app.text_input("text_input").value == text
    app.text_input("text_input").set_value("better").run()
    assert len(blobs(app)) == 1
    assert lines(app) == []


@pytest.mark.parametrize(
    ("text", "labels", "says"),
    [
        ("a\x00b\x07c", ["abc"], "2 control characters were left out"),
        ("שלום עולם", ["ש", "ל", "ו", "ם", "ע", "ו", "ל", "ם"], "Right-to-left text"),
        ("hi 🙂", ["hi", "🙂 [UNK]"], "no word piece for “🙂”"),
        ("<script>x</script>", ["<", "script", ">", "x", "<", "/", "script", ">"], None),
    ],
)
def test_awkward_text_is_read_and_told_about(text, labels, says):
    app = run(input=text)
    ((header, _),) = blobs(app)
    assert header["base"]["texts"][0]["labels"] == ["[CLS]", *labels, "[SEP]"]
    assert [says in line for line in lines(app)] == ([True] if says else [])


def test_a_text_over_the_limit_can_be_cut():
    app = run(input="word " * 390, model="minilm")
    app.text_input("text_input").set_value("word " * 600).run()
    app.button_group("text_cut").set_value("yes").run()
    ((header, _),) = blobs(app)
    assert len(header["base"]["texts"][0]["labels"]) == 512
    assert app.query_params["cut"] == "yes"


def test_nonsense_in_the_link_is_named_until_something_changes():
    app = run(layer="x", heads="99", colour="red", head="mean")
    assert len(lines(app)) == 3
    ((header, _),) = blobs(app)
    assert header["base"]["select"]["head"] == "mean"
    app.run()
    assert len(lines(app)) == 3
    app.text_input("text_input").set_value("something new").run()
    assert lines(app) == []


def test_a_link_to_a_long_text_waits_for_that_text():
    long = "the river " * 230
    app = run(input_sha256=hashlib.sha256(long.encode()).hexdigest(), layer="5")
    assert len(lines(app)) == 1
    app.text_input("text_input").set_value("not that one").run()
    assert len(lines(app)) == 1
    app.text_input("text_input").set_value(long).run()
    assert lines(app) == []
    assert set(app.query_params) == {"input_sha256", "layer"}


def test_what_is_chosen_in_the_picture_gets_into_the_link():
    app = run()
    chosen = {"site": 5, "head": "max", "token": None, "direction": "in", "scale": "own"}
    app.session_state["text_view"] = {"view": {"select": chosen, "ask": None}}
    app.run()
    told = {"layer": "5", "head": "max", "direction": "in", "scale": "own"}
    assert {name: app.query_params.get(name) for name in told} == told


def test_an_answer_is_small_and_another_text_starts_anew():
    app = run()
    ((header, _),) = blobs(app)
    ask = {
        "id": 3,
        "trace": header["trace"],
        "base": False,
        "maps": [],
        "rows": [[0, 0, "query", 1]],
    }
    app.session_state["text_view"] = {"view": {"select": header["base"]["select"], "ask": ask}}
    app.run()
    ((answer, _),) = blobs(app)
    assert answer["base"] is None
    assert answer["answer"] == 3
    assert len(answer["rows"]) == 1
    app.text_input("text_input").set_value("another text").run()
    ((again, _),) = blobs(app)
    assert again["base"] is not None
    assert again["trace"] != header["trace"]


@pytest.mark.parametrize("head", [1, "mean", "max"])
@pytest.mark.parametrize("model", ["built", "minilm"])
def test_the_code_on_the_page_gives_the_numbers_of_the_picture(model, head):
    choice = Choice(model, heads=2)
    text = 'it\'s "quoted"'
    names: dict = {}
    found = traced(choice, "cpu", text).trace
    select = {"site": 1, "head": head}
    body, last = snippet.code(choice, text, "", found, select).rsplit("\n", 1)
    exec(body, names)
    weights = eval(last.split("  #")[0], names)
    whole = trace(opened(choice, "cpu"), text).weights(1)
    shown = {"mean": whole.mean(0), "max": whole.amax(0)}.get(head, whole[1])
    assert (weights == shown).all()


def test_the_code_is_folded_until_somebody_looks():
    assert len(run().code) == 0


def test_a_missing_checkpoint_is_one_line_and_the_other_model_still_works(monkeypatch, tmp_path):
    import models.catalogue
    import viz.pages.shared

    viz.pages.shared.opened.clear()
    viz.pages.shared.traced.clear()
    monkeypatch.setattr(models.catalogue, "distribution", _nothing)
    app = run(input="still here")
    (line,) = lines(app)
    assert "all-MiniLM-L6-v2 are missing" in line
    assert "pip install" in line
    app.selectbox("text_model").set_value("built").run()
    assert lines(app) == []
    assert len(blobs(app)) == 1
    assert app.text_input("text_input").value == "still here"


def _nothing(name):
    from importlib.metadata import PackageNotFoundError

    raise PackageNotFoundError(name)


def test_an_address_that_comes_late_undoes_nothing():
    """A click on its way while the address bar changed still carries the old address."""
    app = run(model="built")
    app.slider("text_heads").set_value(8).run()
    del app.query_params["heads"]
    app.slider("text_depth").set_value(3).run()
    assert app.slider("text_heads").value == 8
    assert dict(app.query_params) == {"model": "built", "heads": "8", "depth": "3"}


def test_another_address_is_another_picture():
    app = run(model="built", heads="8")
    app.query_params["heads"] = "2"
    app.run()
    assert app.slider("text_heads").value == 2


def test_words_are_joined_and_the_chosen_one_stays_chosen():
    app = run(input="An unbelievable hippopotamus", layer="2", head="3", token="5")
    ((before, _),) = blobs(app)
    chosen = before["base"]["texts"][0]["labels"][5]
    app.segmented_control("text_words").set_value("yes").run()
    ((after, _),) = blobs(app)
    labels = after["base"]["texts"][0]["labels"]
    assert labels == ["[CLS]", "An", "unbelievable", "hippopotamus", "[SEP]"]
    assert chosen in labels[after["base"]["select"]["token"]]
    assert after["base"]["note"] == "whole words"
    app.segmented_control("text_special").set_value("renormalised").run()
    ((last, _),) = blobs(app)
    assert last["base"]["texts"][0]["labels"] == labels[1:-1]
    assert chosen in labels[1:-1][last["base"]["select"]["token"]]
    assert app.query_params["special"] == "renormalised"


def test_the_lines_of_python_give_a_view_s_numbers():
    choice = Choice("minilm")
    found = traced(choice, "cpu", "An unbelievable hippopotamus")
    view = View(found.trace, words=True, special="hidden")
    code = snippet.code(
        choice, "An unbelievable hippopotamus", "", found.trace, {"site": 2, "head": 3}, view
    )
    *lines_, last = code.splitlines()
    known = {}
    exec("\n".join(lines_), known)
    assert eval(last.partition("  #")[0], known).equal(view.weights(2, 3))


def test_whoever_comes_back_through_the_menu_finds_everything_as_it_was(monkeypatch):
    monkeypatch.setattr(settings, "LATE", 0.0)  # as a while later
    app = run(layer="2", head="4", token="3", input="Two banks")
    for page in ("positions", "text"):
        app.switch_page(f"viz/pages/explore/{page}.py")
        app.query_params.clear()
        app.run()
    said = {name: app.session_state[f"text_{name}"] for name in ("input", "layer", "head", "token")}
    assert said == {"input": "Two banks", "layer": 2, "head": 4, "token": 3}
    assert "4" in app.query_params["head"]


@pytest.mark.parametrize("special", ["shown", "hidden", "renormalised"])
def test_whether_rows_sum_to_one_is_told_to_the_view(special):
    ((header, _),) = blobs(run(special=special))
    assert header["base"]["complete"] == (special != "hidden")


@pytest.mark.parametrize("model", ["minilm", "reverse", "dates", "induction"])
def test_a_link_that_names_a_model_alone_shows_its_first_example(model) -> None:
    app = run(model=model)
    first = of(model)[0]
    said = {
        name: app.session_state[f"text_{name}"] for name in ("input", "target", "layer", "head")
    }
    wanted = {"target": first.target or "", "layer": first.layer, "head": first.head}
    assert said == {"input": first.input} | wanted
    assert app.session_state["text_attention"] == first.kind
    assert not app.error
    assert app.query_params == ({} if model == "minilm" else {"model": model})
