"""A second picture or model beside the first, and the strip of uploaded pictures."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from models.edits import Ablate
from models.run import load, trace
from tests.models.loading.test_adapter import llama, matrices, written
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import (
    ask,
    choose,
    drop,
    file_of,
    forget,
    opened,
    press,
    same,
    small,
    view,
)
from viz.api import registry


def several(app, *files):
    """Uploads files together."""
    return helpers.upload(
        app, "explore_upload", {f"{number}.png": data for number, data in enumerate(files)}
    )


def digest(data):
    return hashlib.sha256(data).hexdigest()


def weights(id):
    return registry.get(id).value.view.weights(1)


def options(app):
    return [title for _, title in view(app)["beside"]["titles"]]


def test_the_same_picture_through_another_network():
    app = opened(model="objects", compare="catalogue:digits")
    props = view(app)
    first, second = (registry.get(id).value for id in (props["trace"], props["second"]["trace"]))
    assert first.view.model != second.view.model
    answers = [each.value for each in app.markdown if each.value.startswith(props["title"])]
    assert len(answers) == 1
    ask(app, "compare", "built:preset=small-vit")
    assert "untrained" in view(app)["second"]["title"]
    ask(app, "compare", "")
    assert "second" not in view(app)
    ask(app, "compare", "catalogue:digits")
    assert view(app)["second"] == props["second"]


def test_several_pictures_make_a_strip_to_choose_from():
    files = [file_of(size=(side, side)) for side in (40, 50, 60)]
    app = several(small(), *files)
    assert helpers.lines(app) == []
    assert helpers.link(app)["upload"] == digest(files[0])
    assert ["upload:" + digest(files[1]), "Picture: Your picture 2"] in [
        [*each] for each in view(app)["beside"]["titles"]
    ]
    strip = helpers.view(app, "choices")
    assert [item["id"] for item in strip["items"]] == [digest(each) for each in files]
    assert [item["chosen"] for item in strip["items"]] == [True, False, False]
    assert all(item["picture"].startswith("data:image/png;base64,") for item in strip["items"])
    last = digest(files[2])
    ask(app, "compare", f"upload:{last}")
    props = view(app)
    assert (props["title"], props["second"]["title"]) == ("Your picture 1", "Your picture 3")
    again = small(**props["link"] | {"uploads": helpers.link(app)["uploads"]})
    assert view(again)["second"] == props["second"]
    press(app, "photo_remove")
    assert [item["id"] for item in helpers.view(app, "choices")["items"]] == [
        digest(each) for each in files[1:]
    ]
    more = file_of(size=(70, 70))
    app = drop(app, more)
    strip = helpers.view(app, "choices")["items"]
    assert [item["id"] for item in strip] == [digest(each) for each in (*files[1:], more)]
    forget()
    lost = small(compare=f"upload:{last}")
    assert sum("beside the first" in line for line in helpers.lines(lost)) == 1
    assert "second" not in view(lost)


SIZES: dict[str, Any] = {"hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 2}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """Two vision transformers of different grids, and a text encoder."""
    found = []
    for name, size, patch in (("first", 30, 6), ("second", 28, 7)):
        folder = tmp_path_factory.mktemp("runs") / name
        config = transformers.ViTConfig(
            **SIZES, image_size=size, patch_size=patch, intermediate_size=24
        )
        transformers.ViTModel(config).eval().save_pretrained(folder)
        shape = {"height": size, "width": size}
        transformers.ViTImageProcessor(size=shape).save_pretrained(folder)
        found.append(str(folder))
    text = tmp_path_factory.mktemp("runs") / "text"
    config = transformers.BertConfig(**SIZES, intermediate_size=24, vocab_size=40)
    transformers.BertModel(config).save_pretrained(text)
    first, second = found
    return first, second, str(text)


def of_folder(folder: str, **query: str):
    return opened(place="folder", folder=folder, **query)


def title(folder: str) -> str:
    return "/".join(Path(folder).parts[-2:])


def test_what_cannot_stand_beside_is_one_line(folders, monkeypatch) -> None:
    first, second, text = folders
    for other, words in (
        (f"folder:{text}", "expected a model that reads pictures alone"),
        ("folder:/nowhere", "there is no folder"),
        ("nonsense", "expected a picture or model of “Compare”"),
    ):
        app = of_folder(first, compare=other)
        (line,) = helpers.lines(app)
        assert words in line
        assert "second" not in view(app)
    monkeypatch.setenv("PUBLIC", "1")
    app = opened(model="shapes", compare=f"folder:{second}")
    assert "second" not in view(app)
    assert f"Model: {title(second)}" not in options(app)


def traces(app):
    """The traces of both models of a text."""
    props = view(app)
    return [registry.get(id).value for id in (props["trace"], props["second"]["trace"])]


TEXT = "the cats near the cabinet"


def test_a_text_through_another_model():
    app = opened(compare="catalogue:grammar-next", input=TEXT)
    first, second = traces(app)
    assert (first.view.model, second.view.model) == ("all-MiniLM-L6-v2", "Grammar, next word")
    assert same(second.view.weights(1), trace(load("grammar-next"), TEXT).weights(1))
    props = view(app)
    assert (props["title"], props["second"]["title"]) == (first.view.model, second.view.model)
    assert props["second"]["predicts"]
    assert props["link"]["compare"] == "catalogue:grammar-next"
    choose(app, "words", True)
    assert traces(app)[1].view.words
    ask(app, "compare", "")
    assert "second" not in view(app)


@pytest.mark.parametrize("model", ["grammar-next", "minilm"])
def test_a_model_beside_itself_untrained(model):
    app = opened(model=model, compare="weights:random", input=TEXT)
    first, second = traces(app)
    assert (first.view.trained, second.view.trained) == (True, False)
    assert first.view.labels == second.view.labels
    assert same(second.view.weights(1), trace(load(model).untrained(), TEXT).weights(1))
    assert view(app)["second"]["title"].endswith(", untrained")
    assert view(app)["second"]["predicts"] is False


def test_our_code_beside_that_of_the_library():
    app = opened(compare="door:transformers", input=TEXT)
    first, second = traces(app)
    assert same(first.view.weights(3), second.view.weights(3))
    model, *_ = second.opened()
    assert (model.door, type(model.network).__name__) == ("transformers", "BertModel")
    assert not [each for each in options(opened(model="grammar-next")) if each.endswith(" code")]


def test_a_checkpoint_beside_its_adapter(tmp_path):
    network = llama()
    network.save_pretrained(tmp_path / "base")
    state = matrices(network, ["model.layers.0.self_attn.q_proj"])
    saved = written(tmp_path / "adapter", tmp_path / "base", state)
    app = opened(place="folder", folder=str(saved), compare="adapter:none", ids="1 5 9 2")
    first, second = traces(app)
    assert not same(first.view.weights(0), second.view.weights(0))
    base = load(tmp_path / "base", door="transformers")
    assert same(second.view.weights(0), trace(base, torch.tensor([[1, 5, 9, 2]])).weights(0))
    ask(app, "compare", "weights:random")
    assert not traces(app)[1].view.trained


def test_two_networks_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("viz.pages.explore.beside.MAX_NETWORK_BYTES", 10_000_000)
    app = opened(compare="catalogue:grammar-next", input=TEXT)
    assert any("the two networks take" in line for line in helpers.lines(app))


OFF = "Ablate(0, 1)"


def edited_too(app):
    return ask(app, "edits_in", "both")


def test_edits_change_the_first_alone_or_both():
    app = opened(model="grammar-next", compare="catalogue:minilm", input=TEXT, edits=OFF)
    first, second = traces(app)
    edits = [Ablate(0, 1)]
    assert same(first.view.weights(1), trace(load("grammar-next"), TEXT, edits=edits).weights(1))
    assert same(second.view.weights(1), trace(load("minilm"), TEXT).weights(1))
    first, second = traces(edited_too(app))
    assert same(second.view.weights(1), trace(load("minilm"), TEXT, edits=edits).weights(1))
    again = opened(**view(app)["link"])
    assert view(again)["second"] == view(app)["second"]
    assert not view(again)["second"]["difference"]
    ask(again, "edited", "difference")
    assert view(again)["second"]["difference"]
