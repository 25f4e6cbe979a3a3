"""A second picture or model beside the first, and the strip of uploaded pictures."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import transformers

from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import (
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
    (found,) = (box for box in app.selectbox if box.label == "Compare with")
    return found.options


def test_another_picture_through_the_same_network():
    app = small(compare="photo:china")
    props = view(app)
    assert (props["title"], props["second"]["title"]) == ("A flower", "A temple")
    alone = view(small(photo="china"))
    assert same(weights(props["second"]["trace"]), weights(alone["trace"]))
    assert props["link"]["compare"] == "photo:china"
    assert "Picture: A flower" not in options(app)
    press(app, "photo_china")
    assert "second" not in view(app)
    assert "compare" not in helpers.link(app)


def test_the_same_picture_through_another_network():
    app = opened(model="objects", compare="catalogue:digits")
    props = view(app)
    first, second = (registry.get(id).value for id in (props["trace"], props["second"]["trace"]))
    assert first.view.model != second.view.model
    answers = [each.value for each in app.markdown if each.value.startswith(props["title"])]
    assert len(answers) == 1
    choose(app, "compare", "built:vit")
    assert "untrained" in view(app)["second"]["title"]
    choose(app, "compare", "")
    assert "second" not in view(app)
    choose(app, "compare", "catalogue:digits")
    assert view(app)["second"] == props["second"]


@pytest.mark.parametrize("compare", ["photo:cat", "catalogue:own", "upload:1", "nonsense"])
def test_a_link_with_nonsense_beside_shows_one_picture(compare):
    app = small(compare=compare)
    assert "second" not in view(app)
    assert len(helpers.lines(app)) == 1


def test_several_pictures_make_a_strip_to_choose_from():
    files = [file_of(size=(side, side)) for side in (40, 50, 60)]
    app = several(small(), *files)
    assert helpers.lines(app) == []
    assert helpers.link(app)["upload"] == digest(files[0])
    strip = helpers.view(app, "choices")
    assert [item["id"] for item in strip["items"]] == [digest(each) for each in files]
    assert [item["chosen"] for item in strip["items"]] == [True, False, False]
    assert all(item["picture"].startswith("data:image/png;base64,") for item in strip["items"])
    last = digest(files[2])
    choose(app, "compare", f"upload:{last}")
    props = view(app)
    assert (props["title"], props["second"]["title"]) == ("Your picture 1", "Your picture 3")
    again = small(**props["link"] | {"uploads": helpers.link(app)["uploads"]})
    assert view(again)["second"] == props["second"]
    press(app, "photo_remove")
    assert [item["id"] for item in helpers.view(app, "choices")["items"]] == [
        digest(each) for each in files[1:]
    ]
    forget()
    lost = small(compare=f"upload:{last}")
    assert sum("beside the first" in line for line in helpers.lines(lost)) == 1
    assert "second" not in view(lost)


def test_a_bad_file_among_good_ones_is_named():
    app = several(small(), b"no picture", file_of())
    (line,) = helpers.lines(app)
    assert line.startswith("0.png: ")
    assert "still shown" not in line
    assert helpers.link(app)["upload"] == digest(file_of())


def test_the_strip_stays_while_an_example_is_shown():
    app = drop(small(), file_of())
    assert helpers.views(app, "choices") == []
    press(app, "photo_china")
    (item,) = helpers.view(app, "choices")["items"]
    assert (item["id"], item["chosen"]) == (digest(file_of()), False)


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


def open_another(app, folder: str) -> None:
    """Types a folder into the chooser."""
    press(app, "choose")
    choose(app, "folder", folder)


def title(folder: str) -> str:
    return "/".join(Path(folder).parts[-2:])


def test_two_folders_show_the_same_picture_side_by_side(folders) -> None:
    """The second's weights are those that it has when it is opened alone."""
    first, second, _ = folders
    app = of_folder(first)
    assert "second" not in view(app)
    assert f"Model: {title(second)}" not in options(app)
    open_another(app, second)
    assert f"Model: {title(first)}" in options(app)
    alone = view(app)
    open_another(app, first)
    choose(app, "compare", f"folder:{second}")
    assert helpers.lines(app) == []
    props = view(app)
    assert (props["title"], props["second"]["title"]) == (title(first), title(second))
    beside, own = (registry.get(id).value for id in (props["second"]["trace"], alone["trace"]))
    assert same(beside.view.weights(1), own.view.weights(1))
    assert (registry.get(props["trace"]).value.view.grid, beside.view.grid) == ((5, 5), (4, 4))
    assert props["link"]["compare"] == f"folder:{second}"
    again = of_folder(first, compare=f"folder:{second}")
    assert view(again)["second"] == props["second"]
    choose(again, "compare", "")
    assert "second" not in view(again)


def test_another_picture_changes_in_both(folders) -> None:
    first, second, _ = folders
    app = of_folder(first, compare=f"folder:{second}")
    before = view(app)
    press(app, "photo_china")
    after = view(app)
    assert after["trace"] != before["trace"]
    assert after["second"]["trace"] != before["second"]["trace"]


def test_what_cannot_stand_beside_is_one_line(folders, monkeypatch) -> None:
    first, second, text = folders
    for other, words in (
        (f"folder:{text}", "expected a model that reads pictures alone"),
        ("folder:/nowhere", "there is no folder"),
        ("nonsense", "expected photo:, upload:, catalogue:, built:, hub: or folder:"),
    ):
        app = of_folder(first, compare=other)
        (line,) = helpers.lines(app)
        assert words in line
        assert "second" not in view(app)
    monkeypatch.setenv("PUBLIC", "1")
    app = opened(model="shapes", compare=f"folder:{second}")
    assert "second" not in view(app)
    assert f"Model: {title(second)}" not in options(app)
