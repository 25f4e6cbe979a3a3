"""Trained networks of pictures: their own pictures, what they answer, and how sure."""

import pytest
from PIL import Image

from models.card import card
from models.catalogue import CHECKPOINTS, bundled
from models.catalogue import entry as known
from models.run import load, trace
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import (
    captions,
    drop,
    file_of,
    opened,
    setting,
    shown,
    view,
)
from viz.pages.explore import sizes

TRAINED = {
    each.name: about for each in bundled() if each.reads == "image" and (about := card(each))
}


def answers(app):
    return " ".join(element.value.replace("\\", "") for element in app.markdown)


def file(name, example):
    return CHECKPOINTS / known(name).folder / example.input


@pytest.mark.parametrize("name", TRAINED)
def test_choosing_a_network_shows_its_first_picture(name):
    app, example = opened(model="built-vit"), TRAINED[name].examples[0]
    helpers.take(app, name)
    assert helpers.lines(app) == []
    start = view(app)["start"]
    assert (start["layer"], start["head"]) == (example.layer, example.head)
    assert start["token"] == example.query
    assert not helpers.views(app, "slider")
    assert example.hint in captions(app)
    assert TRAINED[name].task in helpers.about(app)
    expected = Image.open(file(name, example)).convert("RGB")
    assert shown(app).tobytes() == expected.resize(shown(app).size).tobytes()


@pytest.mark.parametrize("name", TRAINED)
def test_it_shows_what_the_network_answers(name):
    about = TRAINED[name]
    for example in about.examples:
        app = opened(model=name, photo=f"{name}/{example.input}")
        logits = trace(load(name), file(name, example)).output.values[0]
        sizes = [len(question.classes) for question in about.questions]
        for question, part in zip(about.questions, logits.split(sizes), strict=True):
            share, best = part.softmax(-1).max(-1)
            percent = f"{100 * float(share):.1f}\N{NO-BREAK SPACE}%"
            answer = f"{question.title} **{question.classes[best]}** ({percent}"
            assert answer in answers(app)


def test_the_truth_stands_beside_the_answer_and_a_guess_is_called_one():
    app = opened(model="digits", photo="digits/a-three.png")
    assert "Truth: **3**" in answers(app)
    app = drop(app, file_of())
    assert "Truth" not in answers(app)
    assert any("is a guess" in each.value for each in app.info)


@pytest.mark.parametrize("example", TRAINED["objects"].examples, ids=lambda each: each.name)
def test_places_are_counted_as_the_view_counts_patches(example):
    """The hint's patch lies on the object whose column and row the network answers."""
    side = 8
    _, column, row = example.answers
    classes = [each.classes for each in TRAINED["objects"].questions[1:]]
    assert classes == [tuple(map(str, range(side)))] * 2
    patch_row, patch_column = divmod(example.key - 1, side)
    assert abs(patch_row - int(row)) <= 1
    assert abs(patch_column - int(column)) <= 1


def test_a_dropped_picture_stays_when_the_network_changes():
    app = drop(opened(model="built-vit", size="64"), file_of())
    upload = helpers.link(app)["upload"]
    for name in ("digits", "built-vit"):
        helpers.take(app, name)
        assert [line for line in helpers.lines(app) if "is a guess" not in line] == []
        assert (helpers.link(app)["upload"], helpers.link(app)["model"]) == (upload, name)
        assert app.button("explore_photo_own").proto.type == "primary"


def test_back_to_one_that_is_built_a_photo_takes_its_place():
    app = opened(model="digits", photo="digits/a-four.png")
    helpers.take(app, sizes.VIT)
    assert helpers.lines(app) == []
    assert helpers.link(app) == {"model": sizes.VIT}
    assert [p["value"] for p in helpers.views(app, "slider") if p["label"] == "Heads"] == [6]


@pytest.mark.parametrize("name", TRAINED)
def test_a_link_that_names_only_the_network_shows_its_first_picture(name):
    example = TRAINED[name].examples[0]
    app = opened(model=name)
    assert helpers.link(app) == {"model": name}
    assert view(app)["start"]["layer"] == example.layer
    assert example.hint in captions(app)
    assert app.button(f"explore_photo_{name}_{example.input[:-4]}").proto.type == "primary"


def test_a_link_to_a_picture_of_another_network_shows_one_of_its_own():
    app = opened(model="digits", photo="china")
    assert setting(app, "photo").startswith("digits/")


def test_what_is_said_of_an_example_holds_for_its_own_preprocessing_only():
    hint = TRAINED["digits"].examples[0].hint
    assert hint in captions(opened(model="digits"))
    assert hint not in captions(opened(model="digits", resize="pad"))
