"""A second picture or network beside the first, and the strip of uploaded pictures."""

import hashlib

import pytest

from tests.viz.pages import helpers
from tests.viz.pages.image.pictures import drop, file_of, forget, opened, small
from viz.api import registry


def several(app, *files):
    """Uploads files together."""
    return helpers.upload(
        app, "image_upload", {f"{number}.png": data for number, data in enumerate(files)}
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
    helpers.checked(app.button("image_photo_china").click().run())
    assert "second" not in helpers.view(app, "image")
    assert "compare" not in helpers.link(app)


def test_the_same_picture_through_another_network():
    app = opened(model="objects", compare="model:digits")
    props = helpers.view(app, "image")
    first, second = (registry.get(id).value for id in (props["trace"], props["second"]["trace"]))
    assert first.shown.model != second.shown.model
    answers = [each.value for each in app.markdown if each.value.startswith(props["title"])]
    assert len(answers) == 1
    helpers.choose(app, "image", "compare", "model:built")
    assert "untrained" in helpers.view(app, "image")["second"]["title"]
    helpers.choose(app, "image", "compare", "")
    assert "second" not in helpers.view(app, "image")


@pytest.mark.parametrize("compare", ["photo:cat", "model:own", "upload:1", "nonsense"])
def test_a_link_with_nonsense_beside_shows_one_picture(compare):
    app = small(compare=compare)
    assert "second" not in helpers.view(app, "image")
    assert len(helpers.lines(app)) == (compare != "model:own")


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
    helpers.choose(app, "image", "compare", f"upload:{last}")
    props = helpers.view(app, "image")
    assert (props["title"], props["second"]["title"]) == ("Your picture 1", "Your picture 3")
    again = small(**props["link"] | {"uploads": helpers.link(app)["uploads"]})
    assert helpers.view(again, "image")["second"] == props["second"]
    helpers.checked(app.button("image_photo_remove").click().run())
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
    helpers.checked(app.button("image_photo_china").click().run())
    (item,) = helpers.view(app, "choices")["items"]
    assert (item["id"], item["chosen"]) == (digest(file_of()), False)
