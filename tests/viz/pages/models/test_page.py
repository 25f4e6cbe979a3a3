"""The Models page: what it opens, says and refuses, without a browser."""

import json
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
import transformers
from streamlit.testing.v1 import AppTest

import start
from benchmarks.architectures import ARCHITECTURES, TEXT, redraw
from models.catalogue import catalogue
from models.files import hub
from models.files.hub import CancelledError
from models.run import load, trace
from tests.models.files.test_folder import HOSTILE
from tests.models.files.test_hub import NAME, files, server
from viz.pack import unpack
from viz.pages.models import card as checkpoint_card
from viz.pages.models import checkpoint
from viz.pages.models import fetch as checkpoint_fetch
from viz.pages.models import view as checkpoint_view
from viz.pages.models.checkpoint import Source

__all__ = ["files", "server"]  # fixtures
SCRIPT = str(start.ROOT / "viz/pages/models/page.py")
BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}


def run(**query: str) -> AppTest:

    app = AppTest.from_file(SCRIPT, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception, [element.message for element in app.exception]
    return app


def blobs(app: AppTest) -> list[Any]:
    return [unpack(element.proto.bytes) for element in app.get("bidi_component")]


def literal(markdown: str) -> str:
    return markdown.replace("\\", "").replace("\u200b", "")


def lines(app: AppTest) -> list[str]:
    return [literal(element.value) for element in app.error]


def told(app: AppTest) -> str:
    return " ".join(literal(element.value) for element in app.caption)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory):
    """Folders of tiny models, by the architecture's name."""
    known: dict[str, Path] = {}

    def of(name: str) -> Path:
        if name not in known:
            known[name] = tmp_path_factory.mktemp("saved") / name.lower().replace(" ", "-")
            model: Any = BY_NAME[name].build()
            model.save_pretrained(known[name])
        return known[name]

    return of


def test_the_first_screen_is_a_model_that_comes_with_the_app() -> None:
    app = run()
    ((header, _),) = blobs(app)
    assert header["base"]["model"] == "all-MiniLM-L6-v2"
    assert "6 layers of 12 heads, width 384, our network" in told(app)
    assert "computed by PyTorch’s fused kernel · float32 · mask: none" in told(app)
    assert lines(app) == []
    assert dict(app.query_params) == {}


@pytest.mark.parametrize("known", catalogue(), ids=lambda known: known.name)
def test_every_model_of_the_catalogue_opens(known) -> None:
    app = run(model=known.name)
    assert lines(app) == []
    ((header, _),) = blobs(app)
    assert header["base"]["model"] == known.title


def test_a_folder_without_a_tokenizer_reads_ids(saved) -> None:
    folder = saved("Llama")
    app = run(place="folder", folder=str(folder), ids="3 4 5 6", layer="1", head="2")
    ((header, _),) = blobs(app)
    assert lines(app) == []
    assert header["base"]["texts"][0]["labels"] == ["3", "4", "5", "6"]
    assert header["base"]["sites"][1]["kind"] == "causal"
    assert header["base"]["select"]["head"] == 2
    assert "6 heads" in told(app)
    assert "mask: causal" in told(app)


@pytest.mark.parametrize("name", ["T5", "BART"])
def test_an_encoder_decoder_has_three_kinds(name: str, saved) -> None:
    app = run(place="folder", folder=str(saved(name)), ids="3 4 5", target_ids="6 7")
    ((header, _),) = blobs(app)
    assert {site["kind"] for site in header["base"]["sites"]} == {"self", "causal", "cross"}
    assert {site["tower"] for site in header["base"]["sites"]} == {"encoder", "decoder"}


@pytest.mark.parametrize("name", ["DINOv2", "ViT", "SigLIP vision"])
def test_a_vision_model_has_the_picture_s_view(name: str, saved) -> None:
    app = run(place="folder", folder=str(saved(name)), scale="layer")
    assert lines(app) == []
    ((header, _),) = blobs(app)
    assert header["base"]["grid"] == [5, 5]
    assert header["picture"]["kind"] == "image/png"


def test_windows_have_the_explorer_with_patches(saved) -> None:
    app = run(place="folder", folder=str(saved("Swin")))
    ((header, _),) = blobs(app)
    assert lines(app) == []
    assert "patch 0,0" in header["base"]["texts"][0]["labels"]


@pytest.mark.parametrize("name", ["CLIP", "SigLIP"])
def test_two_towers_read_ids_and_a_picture(name: str, saved) -> None:
    query = {"place": "folder", "folder": str(saved(name)), "ids": "3 4 5 2", "layer": "1"}
    app = run(**query, tower="vision")
    ((header, _),) = blobs(app)
    assert lines(app) == []
    site = header["base"]["sites"][header["base"]["select"]["site"]]
    assert (site["tower"], site["layer"], site["kind"]) == ("vision", 1, "self")
    assert {each["tower"] for each in header["base"]["sites"]} == {"text", "vision"}


def test_recordings_are_left_to_notebooks(saved) -> None:
    app = run(place="folder", folder=str(saved("HuBERT")))
    assert lines(app) == [
        "hubert reads recordings, which have no page yet: trace it in a notebook with"
        " trace(model, {'input_features': …})"
    ]


def test_half_precision_and_either_door(saved) -> None:
    app = run(place="folder", folder=str(saved("BERT")), ids="3 4 5", dtype="bfloat16")
    assert "bfloat16" in told(app)
    assert "our network" in told(app)
    app = run(place="folder", folder=str(saved("BERT")), ids="3 4 5", door="transformers")
    assert "transformers’ code" in told(app)
    app = run(place="folder", folder=str(saved("Llama")), door="own")
    assert "there is no converter for model_type 'llama'" in lines(app)[0]


# --- what is wrong with a folder ------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole")
    sizes: Any = {**TEXT, "hidden_size": 36, "num_hidden_layers": 1}
    model = transformers.LlamaModel(transformers.LlamaConfig(**sizes))
    redraw(model)
    model.save_pretrained(path)
    return path


def test_hostile_folders_get_one_line_each_and_nothing_is_lost(llama: Path, tmp_path: Path) -> None:
    app = run(place="folder", folder=str(llama), ids="3 4 5")
    assert lines(app) == []
    ((good, _),) = blobs(app)
    for number, (change, _) in enumerate(HOSTILE.values()):
        folder = shutil.copytree(llama, tmp_path / str(number) / "odd-llama")
        change(folder)
        app.text_input("models_folder").set_value(str(folder))
        checked(app.run())
        assert len(lines(app)) == 1, list(HOSTILE)[number]
        assert "\n" not in lines(app)[0]
        assert len(lines(app)[0]) < 500
        assert f"Still open: {llama}." in told(app)
    ((still, _),) = blobs(app)
    assert still["trace"] == good["trace"]
    app.text_input("models_folder").set_value(str(llama))
    assert lines(checked(app.run())) == []


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("", "type the path of a folder"),
        ("no/such/place", "there is no folder 'no/such/place'"),
        ("x" * 5000, "there is no folder"),
        ("a\0b", "there is no folder"),
    ],
)
def test_a_folder_that_is_none(folder: str, says: str) -> None:
    assert says in lines(run(place="folder", folder=folder))[0]


def test_a_model_whose_folder_goes_stays_open(llama: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(llama, tmp_path / "odd-llama")
    app = run(place="folder", folder=str(folder), ids="3 4 5")
    shutil.rmtree(folder)
    app.text_input("models_ids").set_value("3 4 5 6")
    checked(app.run())
    assert "there is no folder" in lines(app)[0]
    ((header, _),) = blobs(app)
    assert header["base"]["texts"][0]["labels"] == ["3", "4", "5", "6"]


def test_a_folder_that_was_mended_opens(llama: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(llama, tmp_path / "odd-llama")
    kept = (folder / "config.json").read_text()
    (folder / "config.json").write_text("{")
    app = run(place="folder", folder=str(folder))
    assert "config.json is broken" in lines(app)[0]
    (folder / "config.json").write_text(kept)
    assert lines(checked(app.run())) == []


# --- the hub -------------------------------------------------------------------------------------


@pytest.fixture
def hub_page(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page with a hub of its own and an empty cache."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    for name in ("plan", "download"):
        monkeypatch.setattr(hub, name, partial(getattr(hub, name), endpoint=server))
    checkpoint_fetch._downloads().clear()
    return run(place="hub", id=NAME, ids="3 4 5", door="transformers")


def until(app: AppTest, done: Callable[[], bool]) -> None:
    for _ in range(100):
        if done():
            return
        time.sleep(0.05)
        checked(app.run())
    raise TimeoutError(lines(app))


def test_a_model_is_looked_up_then_fetched_then_open(hub_page: AppTest) -> None:
    app = hub_page
    assert lines(app) == []
    assert not blobs(app)
    checked(app.button("models_look_up").click().run())
    assert f"{NAME}: 66.1 KiB in 3 files, licence apache-2.0." in told(app)
    checked(app.button("models_fetch").click().run())
    until(app, lambda: bool(blobs(app)))
    ((header, _),) = blobs(app)
    assert header["base"]["model"] == NAME
    box = app.selectbox("models_cached")
    assert box.options[0].startswith(NAME)


def test_a_download_can_be_stopped(hub_page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(plan: Any, *, progress: Any, cancelled: Any) -> None:
        progress(plan.size // 2, plan.size)
        while not cancelled():
            time.sleep(0.01)
        raise CancelledError("the download was stopped")

    monkeypatch.setattr(hub, "download", slow)
    app = hub_page
    checked(app.button("models_look_up").click().run())
    checked(app.button("models_fetch").click().run())
    until(app, lambda: bool([each for each in app.button if each.key == "models_stop"]))
    checked(app.button("models_stop").click().run())
    until(app, lambda: lines(app) == ["the download was stopped"])
    assert app.button("models_fetch")


@pytest.mark.parametrize(
    ("name", "says"),
    [("someone/else", "is not on the hub"), ("someone/gated", "is gated: accept its terms")],
)
def test_what_the_hub_does_not_give(hub_page: AppTest, name: str, says: str) -> None:
    app = hub_page
    app.text_input("models_id").set_value(name)
    checked(app.run())
    checked(app.button("models_look_up").click().run())
    assert says in lines(app)[0]


def test_no_network_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    app = run(place="hub", id=NAME)
    checked(app.button("models_look_up").click().run())
    assert "the hub cannot be reached" in lines(app)[0]
    assert "is no model id" in lines(run(place="hub", id="a b"))[0]
    assert "type the id of a model" in lines(run(place="hub"))[0]


# --- a public server ------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["folder", "hub"])
def test_a_public_server_opens_its_catalogue_only(
    place: str, llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBLIC", "1")
    app = run(place=place, folder=str(llama), id="owner/name")
    assert lines(app) == ["this server is public: it opens the models of its catalogue only"]
    assert not [box for box in app.text_input if box.key in ("models_folder", "models_id")]
    for source in (Source("folder", str(llama)), Source("hub", "owner/name")):
        for ask in (checkpoint.opened, checkpoint.folder):
            with pytest.raises(ValueError, match="this server is public"):
                ask(source)
    assert lines(run(model="minilm")) == []


# --- the card, the tensors, the badge -------------------------------------------------------------


def test_the_card_says_what_the_model_is(saved) -> None:
    folder = saved("Llama")
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
    source = Source("folder", str(folder))
    model = checkpoint.opened(source).model
    count = sum(weights.numel() for weights in model.network.parameters())
    card = checkpoint_card.facts_of(source, model, count)
    assert card["Family"] == "llama (LlamaForCausalLM)"
    assert card["Heads"] == "6 of queries, 2 of keys and values"
    assert card["Positions"] == "rotary"
    assert card["Licence"] == "apache-2.0"
    assert card["Tokenizer"] == "none here: it reads ids"
    assert "of weights; a pass keeps about" in card["Memory"]


def test_tensors_have_their_numbers(saved) -> None:
    source = Source("folder", str(saved("Llama")))
    model = checkpoint.opened(source).model
    rows = checkpoint_card.numbers(source, model)
    named = dict(model.network.named_parameters())
    assert set(named) <= {row.name for row in rows}
    for row in rows:
        if row.name in named:
            assert row.shape == " × ".join(map(str, named[row.name].shape))
            assert row.mean == pytest.approx(float(named[row.name].detach().mean()), abs=1e-6)


def test_the_button_runs_the_model_by_its_weights(saved) -> None:
    app = run(place="folder", folder=str(saved("Llama")), ids="3 4 5 6")
    checked(app.button("models_verify").click().run())
    assert "Yes, up to the rounding of float32. With the values of all 2 attention" in told(app)


# --- words ----------------------------------------------------------------------------------------


def test_words_are_joined_and_special_tokens_hidden() -> None:
    text = "An unbelievable animal"
    app = run(input=text, words="yes", special="hidden")
    ((header, _),) = blobs(app)
    assert header["base"]["texts"][0]["labels"] == text.split()
    app = run(input=text, special="renormalised")
    ((header, _),) = blobs(app)
    assert header["base"]["texts"][0]["labels"] == trace(load("minilm"), text).labels[1:-1]


# --- the lines of Python --------------------------------------------------------------------------


def test_the_lines_of_python_run(saved) -> None:
    from viz.pages.models.input import Looked
    from viz.pages.text import words

    source = Source("folder", str(saved("T5")), dtype="bfloat16", door="transformers")
    ids, target = torch.tensor([[3, 4, 5]]), torch.tensor([[6, 7]])
    looked = Looked((ids, target), ("ids", 3, 4, 5))
    found = checkpoint.look(checkpoint.opened(source), looked.given, looked.argument)
    select = {"site": 3, "head": 2, "token": None, "direction": "out"}
    code = checkpoint_view.code(source, looked, found, select)
    *lines_, last = code.splitlines()
    known: dict[str, Any] = {}
    exec("\n".join(lines_), known)  # the very lines that the page shows
    site = found.trace.sites[3]
    weights = eval(last.partition("  #")[0], known)
    expected = found.trace.weights(site.layer, 2, kind=site.kind, tower=site.tower)
    assert weights.equal(expected)
    assert words.by_token(found, select) == select


def test_every_control_is_in_the_link(saved) -> None:
    query = {
        "place": "folder",
        "folder": str(saved("Llama")),
        "ids": "3 4 5 6",
        "dtype": "bfloat16",
        "door": "transformers",
        "layer": "1",
        "attention": "causal",
        "head": "mean",
        "token": "2",
        "direction": "in",
        "scale": "own",
        "special": "hidden",
        "find": "norm",
    }
    app = run(**query)
    assert json.loads(json.dumps(dict(app.query_params))) == query
