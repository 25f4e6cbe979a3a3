"""Trained networks on the Image page: their own pictures, what they answer, and how sure."""

import hashlib

import pytest
from PIL import Image
from tests.viz.pages.test_image import blobs, drop, file_of, lines, literal, run, shown, told

from models.catalogue import CHECKPOINTS, catalogue, entry
from models.files.card import card
from models.run import load, trace

TRAINED = {
    known.name: about for known in catalogue() if known.reads == "image" and (about := card(known))
}


def said(app):
    return " ".join(literal(element.value) for element in app.markdown)


def file(name, example):
    return CHECKPOINTS / entry(name).folder / example.input


@pytest.mark.parametrize("name", TRAINED)
def test_choosing_a_network_shows_its_first_picture(name):
    app, example = run(), TRAINED[name].examples[0]
    app.selectbox("image_model").set_value(name).run()
    assert lines(app) == []
    ((header, _),) = blobs(app)
    base = header["base"]
    assert base["note"] == ""
    assert (base["select"]["site"], base["select"]["head"]) == (example.layer, example.head)
    assert base["select"]["token"] == example.query
    assert not app.slider
    assert example.hint in told(app)
    assert TRAINED[name].task in told(app)
    expected = Image.open(file(name, example)).convert("RGB")
    assert shown(app).tobytes() == expected.resize(shown(app).size).tobytes()


@pytest.mark.parametrize("name", TRAINED)
def test_it_says_what_the_network_answers(name):
    known = TRAINED[name]
    for example in known.examples:
        app = run(model=name, photo=f"{name}/{example.input}")
        logits = trace(load(name), file(name, example)).output.values[0]
        sizes = [len(question.classes) for question in known.questions]
        for question, part in zip(known.questions, logits.split(sizes), strict=True):
            share, best = part.softmax(-1).max(-1)
            answer = f"{question.title} **{question.classes[best]}** ({float(share):.1%}"
            assert answer in said(app)


def test_an_own_picture_stays_when_the_network_changes():
    app = run()
    data = file_of()
    drop(app, data)
    app.selectbox("image_model").set_value("digits").run()
    assert lines(app) == []
    assert app.query_params["upload"] == hashlib.sha256(data).hexdigest()
    app.selectbox("image_model").set_value("built").run()
    assert app.query_params["upload"] == hashlib.sha256(data).hexdigest()
    assert "model" not in app.query_params


def test_back_to_one_that_is_built_a_photo_takes_its_place():
    app = run(model="digits", photo="digits/a-four.png")
    app.selectbox("image_model").set_value("built").run()
    assert lines(app) == []
    assert dict(app.query_params).get("photo") is None
    assert app.slider("image_heads").value == 2


def test_a_link_that_names_only_the_network_shows_its_first_picture():
    app = run(model="digits")
    assert app.query_params["photo"] == f"digits/{TRAINED['digits'].examples[0].input}"
    assert TRAINED["digits"].examples[0].hint in told(app)
