"""Chat: the text is the user's turn in the model's template, and what is written its answer."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from models.catalogue import entry
from models.catalogue import folder as folder_of
from models.inputs.prompt import Prompt, in_template
from models.request import Chat, Source, TraceRequest
from models.run import load, trace
from models.tracing import run
from tests.fetched import fetched
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import result_of
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
    shutil.copytree(folder_of(entry("grammar-next")), place)
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
