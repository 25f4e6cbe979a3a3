"""Position: the printed table, words in another order, and the slip."""

import re

import pytest

from models.lessons.order import SLIPS, misread, permuted
from models.positional import sinusoidal
from tests.viz.pages.helpers import choose
from tests.viz.pages.lessons.pages import errors, whole, words
from viz.pages.lessons.tables import number

PRINTED = {  # (position, feature): as a course has printed 60 places of 32 numbers
    (1, 0): 0.84147,
    (1, 1): 0.54030,
    (1, 2): 0.53317,
    (59, 0): 0.63674,
    (59, 1): -0.77108,
    (59, 30): 0.010492,
    (59, 31): 0.99994,
}
ROWS, COLS = (0, 1, 2, 3, 56, 57, 58, 59), (0, 1, 2, 3, 28, 29, 30, 31)


def corners(app) -> list[float]:
    """The table of corners, small numbers as a tensor prints them."""
    said = words(app).split("first and last positions and features")[1].replace("−", "-")
    found = re.findall(r"-?\d\.\d{5}(?!\d)|-?\d\.\d{4}e-\d\d", said)
    return [float(number) for number in found[:64]]


def test_the_printed_corners() -> None:
    shown = corners(whole("position"))
    for (position, feature), value in PRINTED.items():
        assert shown[8 * ROWS.index(position) + COLS.index(feature)] == value


def test_small_numbers_are_shown_as_printed() -> None:
    said = words(whole("position"))
    assert "1.7783e-04" in said  # position 1, feature 30
    assert "1.0136e-02" in said  # position 57, feature 30


@pytest.mark.parametrize(("name", "other"), [("length", 50), ("dim", 64)])
def test_the_table_is_the_models(name: str, other: int) -> None:
    app = whole("position")
    before = corners(app)
    choose(app, "position", name, other)
    sizes = {"length": 60, "dim": 32} | {name: other}
    table = sinusoidal(sizes["length"], sizes["dim"])
    rows = [*range(4), *range(sizes["length"] - 4, sizes["length"])]
    cols = [*range(4), *range(sizes["dim"] - 4, sizes["dim"])]
    assert corners(app) == pytest.approx(table[rows][:, cols].flatten().tolist(), abs=6e-6)
    assert corners(app) != before


@pytest.mark.parametrize(("at", "pair"), [(1, 0), (59, 15), (20, 3)])
def test_the_position_that_is_followed(at: int, pair: int) -> None:
    said = words(whole("position", at=at, pair=pair))
    sine, cosine = sinusoidal(60, 32)[at, 2 * pair : 2 * pair + 2].tolist()
    assert f"feature {2 * pair} is its sine, {number(sine, 5)}" in said
    assert f"feature {2 * pair + 1} its cosine, {number(cosine, 5)}" in said


@pytest.mark.parametrize(
    ("order", "taken"), [("reverse", (4, 3, 2, 1, 0)), ("turn", (1, 2, 3, 4, 0))]
)
def test_words_in_another_order(order: str, taken: tuple[int, ...]) -> None:
    said = words(whole("position", words="the dog saw the cat", order=order))
    found = permuted(["the", "dog", "saw", "the", "cat"], taken, positions=True)
    for value in found.moved.tolist():
        assert number(value) in said
    (without,) = re.findall(r"Largest move without positions: ([\d.e+-]+)", said)
    assert float(without) < 1e-6


@pytest.mark.parametrize(("name", "slip"), [*zip(("right", "kind", "literal"), SLIPS, strict=True)])
def test_the_slip(name: str, slip: str) -> None:
    said = words(whole("position", slip=name))
    assert f"position 1, feature 1 {number(float(misread(60, 32, slip)[1, 1]), 5)}" in said
    (spread,) = re.findall(r"widest spread at one distance ([\d.]+)", said)
    assert (float(spread) < 0.001) == (name == "right")


def test_learned_positions_are_minilms() -> None:
    said = words(whole("position", token=0))
    assert "512 × 384 = 196,608" in said
    assert "MiniLM, learned: cosine of positions 0 and 1" in said


@pytest.mark.parametrize("typed", [" ", "a " * 13, "x" * 10_000])
def test_words_that_cannot_be_shown_are_told(typed: str) -> None:
    app = whole("position", words=typed)
    (line,) = errors(app)
    assert line.startswith("words: expected")
    assert "To take away" in words(app)
