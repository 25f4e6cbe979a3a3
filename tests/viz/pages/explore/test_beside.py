"""A second picture or model beside the first, and the strip of uploaded pictures."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import transformers

from tests.viz.pages import helpers
from tests.viz.pages.explore.pictures import drop, file_of, forget, opened, small
from viz.api import registry


def several(app, *files):
    """Uploads files together."""
    return helpers.upload(
        app, "explore_upload", {f"{number}.png": data for number, data in enumerate(files)}
    )


def digest(data):
    return hashlib.sha256(data).hexdigest()


def weights(id):
    return registry.get(id).value.shown.weights(1)


def options(app):
    (found,) = (box for box in app.selectbox if box.label == "Compare with")
    return found.options


def test_another_picture_through_the_same_network():
    app = small(compare="photo:china")
    props = helpers.view(app, "image")
    assert (props["title"], props["second"]["title"]) == ("A flower", "A temple")
    alone = helpers.view(small(photo="china"), "image")
    assert (weights(props["second"]["trace"]) == weights(alone["trace"])).all()
    assert props["link"]["compare"] == "photo:china"
    assert "Picture: A flower" not in options(app)
    helpers.checked(app.button("explore_photo_china").click().run())
    assert "second" not in helpers.view(app, "image")
    assert "compare" not in helpers.link(app)


def test_the_same_picture_through_another_network():
    app = opened(model="objects", compare="catalogue:digits")
    props = helpers.view(app, "image")
    first, second = (registry.get(id).value for id in (props["trace"], props["second"]["trace"]))
    assert first.shown.model != second.shown.model
    answers = [each.value for each in app.markdown if each.value.startswith(props["title"])]
    assert len(answers) == 1
    helpers.choose(app, "explore", "compare", "built:vit")
    assert "untrained" in helpers.view(app, "image")["second"]["title"]
    helpers.choose(app, "explore", "compare", "")
    assert "second" not in helpers.view(app, "image")


@pytest.mark.parametrize("compare", ["photo:cat", "catalogue:own", "upload:1", "nonsense"])
def test_a_link_with_nonsense_beside_shows_one_picture(compare):
    app = small(compare=compare)
    assert "second" not in helpers.view(app, "image")
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
    helpers.choose(app, "explore", "compare", f"upload:{last}")
    props = helpers.view(app, "image")
    assert (props["title"], props["second"]["title"]) == ("Your picture 1", "Your picture 3")
    again = small(**props["link"] | {"uploads": helpers.link(app)["uploads"]})
    assert helpers.view(again, "image")["second"] == props["second"]
    helpers.checked(app.button("explore_photo_remove").click().run())
    assert [item["id"] for item in helpers.view(app, "choices")["items"]] == [
        digest(each) for each in files[1:]
    ]
    forget()
    lost = small(compare=f"upload:{last}")
    assert sum("beside the first" in line for line in helpers.lines(lost)) == 1
    assert "second" not in helpers.view(lost, "image")


def test_a_bad_file_among_good_ones_is_named():
    app = several(small(), b"no picture", file_of())
    (line,) = helpers.lines(app)
    assert line.startswith("0.png: ")
    assert "still shown" not in line
    assert helpers.link(app)["upload"] == digest(file_of())


def test_the_strip_stays_while_an_example_is_shown():
    app = drop(small(), file_of())
    assert helpers.views(app, "choices") == []
    helpers.checked(app.button("explore_photo_china").click().run())
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
    return helpers.run("explore", {"place": "folder", "folder": folder, **query})


def open_another(app, folder: str) -> None:
    """Types a folder into the chooser."""
    helpers.checked(app.button("explore_choose").click().run())
    helpers.choose(app, "explore", "folder", folder)


def title(folder: str) -> str:
    return "/".join(Path(folder).parts[-2:])


def test_two_folders_show_the_same_picture_side_by_side(folders) -> None:
    """The second's weights are those that it has when it is opened alone."""
    first, second, _ = folders
    app = of_folder(first)
    assert "second" not in helpers.view(app, "image")
    assert f"Model: {title(second)}" not in options(app)
    open_another(app, second)
    assert f"Model: {title(first)}" in options(app)
    alone = helpers.view(app, "image")
    open_another(app, first)
    helpers.choose(app, "explore", "compare", f"folder:{second}")
    assert helpers.lines(app) == []
    props = helpers.view(app, "image")
    assert (props["title"], props["second"]["title"]) == (title(first), title(second))
    beside, own = (registry.get(id).value for id in (props["second"]["trace"], alone["trace"]))
    assert beside.shown.weights(1).equal(own.shown.weights(1))
    assert (registry.get(props["trace"]).value.shown.grid, beside.shown.grid) == ((5, 5), (4, 4))
    assert props["link"]["compare"] == f"folder:{second}"
    again = of_folder(first, compare=f"folder:{second}")
    assert helpers.view(again, "image")["second"] == props["second"]
    helpers.choose(again, "explore", "compare", "")
    assert "second" not in helpers.view(again, "image")


def test_another_picture_changes_in_both(folders) -> None:
    first, second, _ = folders
    app = of_folder(first, compare=f"folder:{second}")
    before = helpers.view(app, "image")
    helpers.checked(app.button("explore_photo_china").click().run())
    after = helpers.view(app, "image")
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
        assert "second" not in helpers.view(app, "image")
    monkeypatch.setenv("PUBLIC", "1")
    app = helpers.run("explore", {"model": "shapes", "compare": f"folder:{second}"})
    assert "second" not in helpers.view(app, "image")
    assert f"Model: {title(second)}" not in options(app)


def test_a_model_that_comes_with_the_app_stands_beside_another(folders) -> None:
    app = helpers.run("explore", {"model": "shapes", "compare": "catalogue:digits"})
    props = helpers.view(app, "image")
    assert props["second"]["trace"] != props["trace"]
    helpers.choose(app, "explore", "compare", "")
    helpers.choose(app, "explore", "compare", "catalogue:digits")
    assert helpers.view(app, "image")["second"] == props["second"]
