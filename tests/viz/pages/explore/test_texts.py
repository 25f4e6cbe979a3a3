"""Texts on the page: what it shows for good and for bad input, without a browser."""

from typing import Any

import pytest

from models.request import TraceRequest, built
from models.run import load, trace
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import (
    base,
    choose,
    labels,
    opened,
    result_of,
    same,
    setting,
    view,
)
from tests.viz.pages.helpers import lines, link, take
from viz.api import registry, snippet, tracing
from viz.api.registry import GoneError
from viz.pages.explore.examples import texts

EXAMPLES = texts("minilm")


def test_the_first_screen_is_a_sentence_in_minilm() -> None:
    app = opened()
    assert app.markdown[0].value == "#### Which words does each word look at?"
    found = base(app)
    assert found["model"] == "all-MiniLM-L6-v2"
    assert found["note"] == ""
    assert labels(app) == trace(load("minilm"), EXAMPLES[0].input).labels
    props = view(app)
    chosen = {
        "layer": 3,
        "attention": "self",
        "head": 1,
        "token": 10,
        "direction": "out",
        "scale": "fixed",
        "form": "text",
        "shown": "",
    }
    assert chosen.items() <= props["start"].items()
    assert (props["link"], props["busy"], props["path"]) == ({"model": "minilm"}, False, ["/"])
    assert lines(app) == []


@pytest.mark.parametrize("text", ["", "  \t ", "\x00\x07\x1b"])
def test_an_empty_text_leaves_the_last_picture_dimmed_and_says_what_to_do(text: str) -> None:
    app = opened()
    before = view(app)["trace"]
    choose(app, "input", text)
    assert not app.error
    assert "Type a sentence, or choose an example." in lines(app)
    assert view(app)["trace"] == before
    assert view(app)["busy"] is True
    choose(app, "input", "better")
    assert lines(app) == []
    assert view(app)["busy"] is False
    assert labels(app) == ["[CLS]", "better", "[SEP]"]


@pytest.mark.parametrize(
    ("text", "found", "says"),
    [
        ("a\x00b\x07c", ["abc"], "2 control characters were removed"),
        ("שלום עולם", ["ש", "ל", "ו", "ם", "ע", "ו", "ל", "ם"], "Right-to-left text"),
        ("hi 🙂", ["hi", "🙂 [UNK]"], "no piece for “🙂”"),
        ("<script>x</script>", ["<", "script", ">", "x", "<", "/", "script", ">"], None),
    ],
)
def test_awkward_text_is_read_with_a_remark(text: str, found: list[str], says: str | None) -> None:
    app = opened(input=text)
    assert labels(app) == ["[CLS]", *found, "[SEP]"]
    assert [says in line for line in lines(app) if says] == ([True] if says else [])


@pytest.mark.parametrize("head", [1, "mean", "max"])
@pytest.mark.parametrize("model", ["built", "minilm"])
def test_the_code_on_the_page_gives_the_numbers_of_the_picture(model: str, head: int | str) -> None:
    source = built("encoder", {"vocab": 4096, "heads": 2, "depth": 2})
    source = source if model == "built" else tracing.of_catalogue(model)
    given = TraceRequest(source, 'it\'s "quoted"')
    held = tracing.entry_for(given)
    weights = result_of(snippet.code(held.value, 1, head))
    whole = trace(tracing.opened(source), str(given.input)).weights(1)
    shown = {"mean": whole.mean(0), "max": whole.amax(0)}.get(str(head), whole[1])
    assert same(weights, shown)


def test_a_missing_checkpoint_is_one_line_and_the_other_model_still_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import models.catalogue

    registry.evict(tracing.model_of(tracing.of_catalogue("minilm")).id)
    monkeypatch.setattr(models.catalogue, "distribution", _missing)
    app = opened(input="still here")
    (line,) = lines(app)
    assert "all-MiniLM-L6-v2 is not installed" in line
    assert "pip install" in line
    take(app, "reverse")
    assert not any("not installed" in line for line in lines(app))
    assert view(app)["trace"]
    assert setting(app, "input") == "still here"
    monkeypatch.undo()
    take(app, "minilm")
    assert lines(app) == []
    assert labels(app) == ["[CLS]", "still", "here", "[SEP]"]


def _missing(name: str) -> None:
    from importlib.metadata import PackageNotFoundError

    raise PackageNotFoundError(name)


def test_words_are_joined_and_say_which_tokens_they_are() -> None:
    app = opened(input="An unbelievable hippopotamus", layer="2", head="3", token="5")
    tokens = labels(app)
    choose(app, "words", True)
    (text,) = base(app)["texts"]
    assert text["labels"] == ["[CLS]", "An", "unbelievable", "hippopotamus", "[SEP]"]
    assert tokens[5] in text["labels"][next(n for n, o in enumerate(text["origins"]) if 5 in o)]
    assert base(app)["note"] == "whole words"
    assert link(app)["words"] == "yes"


@pytest.mark.parametrize(("text", "token"), [(EXAMPLES[0].input, 10), ("Hi there", None)])
def test_a_text_of_one_s_own_pins_no_token_of_the_example(text: str, token: int | None) -> None:
    props = view(opened(input=text))
    assert props["start"]["token"] == token
    assert props["defaults"]["token"] == token


@pytest.mark.parametrize("model", ["minilm", "reverse", "dates", "induction"])
def test_a_link_that_names_a_model_alone_shows_its_first_example(model: str) -> None:
    app = opened(model=model)
    first, start = texts(model)[0], view(app)["start"]
    assert setting(app, "input") == first.input
    assert setting(app, "target") == (first.target or "")
    wanted = {"layer": first.layer, "head": first.head, "attention": first.kind}
    assert {name: start[name] for name in wanted} == wanted
    assert not app.error
    assert link(app) == {"model": model}


def test_a_trace_that_was_evicted_is_made_again() -> None:
    app = opened(input="a river")
    before = view(app)
    registry.evict(before["trace"])
    helpers.checked(app.run())
    after = view(app)
    assert after["trace"] != before["trace"]
    assert labels(app) == ["[CLS]", "a", "river", "[SEP]"]


def test_two_sentences_are_one_input_of_two_segments() -> None:
    app = opened(input="A cat sat.", pair="It was tired.", layer="1")
    (text,) = base(app)["texts"]
    expected = trace(load("minilm"), ("A cat sat.", "It was tired."))
    assert text["labels"] == list(expected.labels)
    assert text["second"] == expected.tokens[0].segments.index(1)
    assert "second" not in base(opened(input="A cat sat."))["texts"][0]


def test_a_pass_that_fails_leaves_the_last_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(model="grammar")
    first = app.session_state["explore/drawn"]
    with monkeypatch.context() as patched:

        def fail(*_: Any) -> None:
            raise ValueError("a pass that fails")

        patched.setattr("models.tracing.run", fail)
        choose(app, "input", "the keys are near")
        assert "a pass that fails" in lines(app)[0]
        told = view(app)
        assert told["trace"] != first[1]["trace"]
        with pytest.raises(GoneError):
            registry.get(told["trace"])
        assert app.session_state["explore/drawn"] == first
    choose(app, "input", "the key is here")
    assert lines(app) == []
    assert app.session_state["explore/drawn"][1]["trace"] == view(app)["trace"]
