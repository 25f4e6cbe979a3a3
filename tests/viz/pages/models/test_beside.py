"""A second checkpoint beside the first on the Models page."""

from pathlib import Path
from typing import Any

import pytest
import transformers

from tests.viz.pages import helpers
from viz.api import registry

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


def run(folder: str, **query: str):
    return helpers.run("models", {"place": "folder", "folder": folder, **query})


def open_another(app, folder: str) -> None:
    """Types a folder into the chooser."""
    helpers.checked(app.button("models_choose").click().run())
    helpers.choose(app, "models", "folder", folder)


def title(folder: str) -> str:
    return "/".join(Path(folder).parts[-2:])


def options(app) -> list[str]:
    (found,) = (box for box in app.selectbox if box.label == "Compare with")
    return found.options


def test_two_folders_show_the_same_picture_side_by_side(folders) -> None:
    """The second's weights are those that it has when it is opened alone."""
    first, second, _ = folders
    app = run(first)
    assert "second" not in helpers.view(app, "image")
    assert title(second) not in options(app)
    open_another(app, second)
    assert title(first) in options(app)
    alone = helpers.view(app, "image")
    open_another(app, first)
    helpers.choose(app, "models", "compare", f"folder:{second}")
    assert helpers.lines(app) == []
    props = helpers.view(app, "image")
    assert (props["title"], props["second"]["title"]) == (title(first), title(second))
    beside, own = (registry.get(id).value for id in (props["second"]["trace"], alone["trace"]))
    assert beside.shown.weights(1).equal(own.shown.weights(1))
    assert (registry.get(props["trace"]).value.shown.grid, beside.shown.grid) == ((5, 5), (4, 4))
    assert props["link"]["compare"] == f"folder:{second}"
    again = run(first, compare=f"folder:{second}")
    assert helpers.view(again, "image")["second"] == props["second"]
    helpers.choose(again, "models", "compare", "")
    assert "second" not in helpers.view(again, "image")


def test_another_picture_changes_in_both(folders) -> None:
    first, second, _ = folders
    app = run(first, compare=f"folder:{second}")
    before = helpers.view(app, "image")
    helpers.checked(app.button("models_photo_china").click().run())
    after = helpers.view(app, "image")
    assert after["trace"] != before["trace"]
    assert after["second"]["trace"] != before["second"]["trace"]


def test_what_cannot_stand_beside_is_one_line(folders, monkeypatch) -> None:
    first, second, text = folders
    for other, words in (
        (f"folder:{text}", "expected a model that reads pictures alone"),
        ("folder:/nowhere", "there is no folder"),
        ("nonsense", "expected catalogue:, folder: or hub:"),
    ):
        app = run(first, compare=other)
        (line,) = helpers.lines(app)
        assert words in line
        assert "second" not in helpers.view(app, "image")
    monkeypatch.setenv("PUBLIC", "1")
    app = helpers.run("models", {"model": "shapes", "compare": f"folder:{second}"})
    assert "second" not in helpers.view(app, "image")
    assert title(second) not in options(app)


def test_a_model_that_comes_with_the_app_stands_beside_another(folders) -> None:
    app = helpers.run("models", {"model": "shapes", "compare": "catalogue:digits"})
    props = helpers.view(app, "image")
    assert props["second"]["trace"] != props["trace"]
    helpers.choose(app, "models", "compare", "")
    helpers.choose(app, "models", "compare", "catalogue:digits")
    assert helpers.view(app, "image")["second"] == props["second"]
