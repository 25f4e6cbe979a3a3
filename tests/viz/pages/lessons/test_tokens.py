"""Tokens and embeddings: the library's own tokens, and rows of the file's table."""

import pytest
from sklearn.metrics.pairwise import cosine_similarity
from transformers import AutoTokenizer

from models.catalogue import entry, folder
from models.run import load
from tests.viz.pages.lessons.pages import errors, numbers, run, words

TEXT = "The bank reopened unexpectedly."


@pytest.mark.parametrize("text", [TEXT, "zyzzyva", "naïve cafés"])
def test_the_ids_are_the_librarys(text: str) -> None:
    said = words(run("tokens", text=text))
    reader = AutoTokenizer.from_pretrained(folder(entry("minilm")))
    for id in reader(text)["input_ids"]:
        assert f": {id}" in said
    for code in text.encode("utf-8"):
        assert f" {code} " in said


def test_the_rows_are_those_of_the_table() -> None:
    table = load("minilm").network.get_parameter("tokens.weight").detach()
    found = numbers(run("tokens"), 3)
    expected = [round(value, 3) for value in table[2924, :6].tolist()]  # “bank”
    assert found[12:18] == expected
    assert "30,522 × 384 = 11,720,448 parameters" in words(run("tokens"))


def test_the_neighbours_are_scikit_learns() -> None:
    table = load("minilm").network.get_parameter("tokens.weight").detach().numpy()
    similar = cosine_similarity(table[2924:2925], table)[0]
    best = sorted(similar, reverse=True)[1:7]
    assert numbers(run("tokens"))[-6:] == pytest.approx(best, abs=6e-5)


def test_one_id_one_row() -> None:
    text = "the bank of the river and the bank with my money"
    app = run("tokens", text=text, token=2)
    found, other = numbers(app, 3), numbers(run("tokens", text=text, token=8), 3)
    assert found[12:18] == found[48:54]
    assert found[-1] == other[-1]


def test_texts_that_are_too_short_or_too_long() -> None:
    assert any("received none" in line for line in errors(run("tokens", text=" ")))
    assert any("at most 24 tokens" in line for line in errors(run("tokens", text="a " * 40)))
