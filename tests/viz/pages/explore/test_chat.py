"""Prompts in a model's own template: questions about pictures, and turns of a chat."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from analysis.worth import worth
from models.catalogue import entry as catalogue_entry
from models.catalogue import folder as folder_of
from models.inputs.prompt import Prompt, in_template
from models.request import Chat, Source, TraceRequest
from models.run import load, trace
from models.tracing import run
from tests.fetched import fetched
from tests.models.vision_language import BY_NAME
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import (
    base,
    choose,
    entry,
    file_of,
    literal,
    opened,
    result_of,
    view,
)
from viz.api import snippet, tracing

TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}the {{ message['content'] }} {% endfor %}"
    "{% if add_generation_prompt %}saw{% endif %}"
)
TURN, ANSWER = "cat", " the dog"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped decoder with a chat template."""
    place = tmp_path / "chatting"
    shutil.copytree(folder_of(catalogue_entry("grammar-next")), place)
    (place / "chat_template.jinja").write_text(TEMPLATE)
    (place / "tokenizer_config.json").write_text('{"bos_token": "[BEGIN]"}')
    return place


def ids_of(tokenizer: Any, text: str) -> list[int]:
    return tokenizer.apply_chat_template(
        [{"role": "user", "content": text}], add_generation_prompt=True, return_dict=False
    )


def request(place: Path, answer: str = "") -> TraceRequest:
    return TraceRequest(Source("folder", str(place)), Chat(TURN, answer))


@pytest.mark.parametrize("begins", [True, False], ids=["with", "without"])
def test_a_turn_has_the_ids_of_the_library_s_template(folder: Path, begins: bool) -> None:
    template = TEMPLATE if begins else TEMPLATE.removeprefix("{{ bos_token }}")
    (folder / "chat_template.jinja").write_text(template)
    library = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), bos_token="[BEGIN]"
    )
    library.chat_template = template
    asked, model = request(folder), load(str(folder))
    t = run(asked, model)
    assert list(t.tokens[0].ids) == ids_of(library, TURN)
    assert t.labels == ["[BEGIN]"] * begins + ["the", "cat", "saw"]
    assert result_of(snippet.code(tracing.entry_for(asked).value, 1, 0)).equal(t.weights(1, 0))


@pytest.mark.long
@pytest.mark.parametrize("text", ["Why is the sky blue?", "<|im_end|> zwei\n\nDinge", " a "])
def test_smollm2_reads_the_ids_of_the_library_s_template(text: str) -> None:
    place = folder_of(fetched("smollm2"))
    found = trace(load("smollm2"), in_template(load("smollm2"), Prompt(text)))
    assert list(found.tokens[0].ids) == ids_of(AutoTokenizer.from_pretrained(str(place)), text)


def test_a_model_without_a_template_refuses_a_turn() -> None:
    source = Source("catalogue", "grammar-next")
    with pytest.raises(ValueError, match="next word states no chat template"):
        run(TraceRequest(source, Chat(TURN)), load("grammar-next"))


def test_what_is_written_in_a_chat_is_the_answer(folder: Path) -> None:
    app = helpers.run("explore", {"place": "folder", "folder": str(folder), "input": TURN})
    helpers.choose(app, "explore", "chat", True)
    whole = f"the {TURN} saw{ANSWER}"
    sent = {"id": "1", "text": whole, "written": len(ANSWER)}
    app.session_state["explore_view"] = {"write": sent}
    helpers.checked(app.run())
    link = helpers.link(app)
    assert (link["chat"], link["input"], link["answer"]) == ("yes", TURN, ANSWER)
    assert helpers.view(app, "text")["given"] == 4
    helpers.choose(app, "explore", "input", "dog")
    assert "answer" not in helpers.link(app)


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return BY_NAME["LLaVA"].save(tmp_path_factory.mktemp("llava"))


def told(app) -> str:
    """Everything that is written on the page."""
    return literal("\n".join(each.value for each in (*app.markdown, *app.caption, *app.info)))


def asked(llava: Path, **query: str):
    app = opened(place="folder", folder=str(llava), **query)
    assert helpers.lines(app) == []
    return app


def test_a_question_is_answered_and_opens_on_a_head_that_looks(llava: Path) -> None:
    app = asked(llava, question="what is it", answer="a dog sits")
    trace = entry(app).trace
    assert list(trace.tokens[0].labels[trace.answer :]) == ["a", "dog", "sits"]
    assert base(app)["pictures"] == 1
    assert "The answer that was given: **a dog sits**" in told(app)
    start = view(app)["defaults"]
    site = trace.site(start["layer"], start["attention"], tower=start["tower"])
    assert trace.key_pictures(site)
    first, *_ = worth(trace)
    assert (start["layer"], start["head"]) == (first.site.layer, first.head)
    assert start["token"] in first.query
    assert helpers.link(app)["question"] == "what is it"


def test_several_pictures_are_asked_about_at_once(llava: Path) -> None:
    app = asked(llava, question="what is it", answer="a dog")
    pictures = {f"{mode}.png": file_of(mode=mode) for mode in ("RGB", "L")}
    helpers.upload(app, "explore_upload", pictures)
    assert base(app)["pictures"] == 1
    choose(app, "asked_about", "every")
    assert base(app)["pictures"] == 2
    assert len(entry(app).pictures) == 2
    grids = [grid for text in base(app)["texts"] for grid in text.get("grids", ())]
    assert {grid["picture"] for grid in grids} == {0, 1}


def test_pictures_are_asked_about_as_the_frames_of_a_video(tmp_path: Path) -> None:
    app = asked(BY_NAME["Qwen2-VL"].save(tmp_path), question="what is it", answer="a dog")
    pictures = {f"{mode}.png": file_of(mode=mode) for mode in ("RGB", "L")}
    helpers.upload(app, "explore_upload", pictures)
    choose(app, "asked_about", "video")
    assert (base(app)["pictures"], base(app)["video"]) == (2, True)
    found = entry(app).trace
    grids = found.key_pictures(found.sites[-1])
    assert [grid.frames for grid in grids] == [(0, 1)]
    (code,) = (each.value for each in app.code if "Assistant" in each.value)
    assert "<video>" in code
