"""Trained networks of pictures: their own pictures, what they answer, and how sure."""

import pytest

from models.card import card
from models.catalogue import CHECKPOINTS, bundled
from models.catalogue import entry as known
from models.run import load, trace
from tests.viz.pages.explore.explorer import (
    drop,
    file_of,
    opened,
)

TRAINED = {
    each.name: about for each in bundled() if each.reads == "image" and (about := card(each))
}


def answers(app):
    return " ".join(element.value.replace("\\", "") for element in app.markdown)


def file(name, example):
    return CHECKPOINTS / known(name).folder / example.input


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
