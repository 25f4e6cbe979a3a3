"""Every example says what the model really does."""

import re

import pytest

from models.run import load, trace
from viz.pages.explore.examples import EXAMPLES, of_text


@pytest.fixture(scope="module")
def minilm():
    return load("minilm")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_weight_is_the_one_that_is_told(example, minilm):
    weights = trace(minilm, example.input).weights(example.layer, example.head)
    found = weights[example.query, example.key].item()
    assert found == pytest.approx(example.weight, abs=0.005)  # told to two digits
    assert weights[example.query].argmax() == example.key
    layer, head = re.findall(r"[Ll]ayer (\d+), head (\d+)", example.hint)[0]
    assert (int(layer), int(head)) == (example.layer, example.head)


def test_there_are_eight_and_each_is_found_by_its_text():
    assert len(EXAMPLES) == 8
    assert [of_text("minilm", example.input) for example in EXAMPLES] == list(EXAMPLES)
    assert of_text("minilm", "something else") is None


def test_the_numbers_in_the_words(minilm):
    """What the texts say beyond the one weight."""
    wide = trace(minilm, EXAMPLES[0].input.replace("tired", "wide")).weights(3, 1)
    assert wide[10, 2].item() == pytest.approx(0.28, abs=0.005)
    back = trace(minilm, EXAMPLES[2].input).weights(0, 2)
    assert back[1:].diagonal().min() > 0.97  # every token looks at the one before it
    banks = trace(minilm, EXAMPLES[3].input).weights(2, 9)
    assert banks[10].argmax() == 1
    film = trace(minilm, EXAMPLES[4].input)
    assert film.labels[film.weights(3, 1)[film.labels.index("it")].argmax()] == "film"
    same = trace(minilm, EXAMPLES[5].input).weights(2, 4)
    assert same[9].argmax() == 2
    rest = trace(minilm, EXAMPLES[6].input).weights(4, 5)
    assert rest[:, 0].min() > 0.8  # nearly all tokens rest on [CLS]
    pieces = trace(minilm, EXAMPLES[7].input)
    assert "🙂 [UNK]" in pieces.labels
    assert pieces.labels[4:10] == ["super", "cal", "if", "rag", "ilis", "tic"]
    assert pieces.weights(0, 2)[1:].diagonal().min() > 0.97
