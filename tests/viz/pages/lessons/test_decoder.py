"""The decoder: what masks hide, number by number, and writing to the end."""

import math
import re

import pytest

from tests.viz.pages.helpers import choose, specs
from tests.viz.pages.lessons.pages import errors, numbers, whole, words
from viz.pages.lessons import generation
from viz.pages.lessons.tables import number

COUNT = 5  # four words and one padding, at first
WRITERS = [name for name in generation.WRITERS if generation.available(name)]


def tables(app) -> list[list[list[float]]]:
    """Products, scaled, masked and weights: −∞ is a number here too."""
    said = words(app).replace("−∞", "−999.000").replace("−1e9", "−999.000")
    said = said[said.index("Q Kᵀ") : said.index("Result")]
    found = [float(x.replace("−", "-")) for x in re.findall(r"−?\d+\.\d{3}(?!\d)", said)]
    side = math.isqrt(len(found) // 4)
    assert len(found) == 4 * side * side
    rows = [found[n : n + side] for n in range(0, len(found), side)]
    return [rows[n : n + side] for n in range(0, len(rows), side)]


@pytest.mark.parametrize("mask", ["none", "causal", "padding", "both"])
@pytest.mark.parametrize("fill", ["inf", "large"])
def test_every_number_follows_from_the_one_before(mask: str, fill: str) -> None:
    products, scaled, masked, weights = tables(whole("decoder", mask=mask, fill=fill))
    for query in range(COUNT):
        for key in range(COUNT):
            later = mask in ("causal", "both") and key > query
            hidden = later or (mask in ("padding", "both") and key == COUNT - 1)
            assert scaled[query][key] == pytest.approx(products[query][key] / 2, abs=1.1e-3)
            assert masked[query][key] == (-999 if hidden else scaled[query][key])
        exps = [0 if x == -999 else math.exp(x) for x in masked[query]]
        for key in range(COUNT):
            assert weights[query][key] == pytest.approx(exps[key] / sum(exps), abs=2e-3)


def test_only_padding() -> None:
    """Under −1e9 every weight is equal, under −∞ all are 0: nothing is there to attend to."""
    for fill, weight in (("large", 0.25), ("inf", 0.0)):
        app = whole("decoder", words="", mask="padding", pads=4, fill=fill)
        *_, weights = tables(app)
        assert all(value == weight for row in weights for value in row)
        assert f"rows that see no key {4}" in words(app)


def test_a_row_that_sees_nothing_four_ways() -> None:
    said = words(whole("decoder"))
    assert "−∞, as here 0.0000 0.0000 0.0000 0.0000" in said
    assert "−∞, a plain softmax NaN NaN NaN NaN" in said
    assert "−1e9 0.2500 0.2500 0.2500 0.2500" in said
    assert "−1e9 in half precision NaN NaN NaN NaN" in said


def test_all_numbers_move_with_the_seed() -> None:
    app = whole("decoder")
    before = tables(app)[0]
    choose(app, "decoder", "seed", 5)
    pairs = zip(before, tables(app)[0], strict=True)
    assert all(a != b for old, new in pairs for a, b in zip(old, new, strict=True))


def test_nothing_to_read_is_told() -> None:
    app = whole("decoder", words="", pads=0)
    assert any("expected at least one word" in line for line in errors(app))
    assert "To take away" in words(app)


@pytest.mark.parametrize("writer", WRITERS)
def test_writing_shows_what_the_model_writes(writer: str) -> None:
    text = {"dates": "March the third, '98", "untrained": "the dog"}.get(writer, "the keys")
    found = generation.generated(writer, text)
    setting = {"dates": "date", "untrained": "start"}.get(writer, "prompt")
    app = whole("decoder", writer=writer, written=generation.LIMIT, **{setting: text})
    said = words(app)
    for step in range(len(found.steps)):
        name, share = found.best(step)[0]
        assert f"step {step + 1}: {found.word(step)} {name} {number(share)}" in said
    assert found.difference < 1e-5  # the same sums in another order
    if writer != "untrained":
        assert int(found.steps[-1].ids[0]) == found.end
    assert len(numbers(app)) > 3 * len(found.steps)


def test_one_more_token() -> None:
    app = whole("decoder", writer="untrained", written=1)
    assert "Step 2: what comes next" in specs(app)[0]["layout"]["title"]["text"]
    choose(app, "decoder", "written", 2)
    assert "Step 3: what comes next" in specs(app)[0]["layout"]["title"]["text"]


def test_a_word_it_does_not_know() -> None:
    app = whole("decoder", writer="untrained", start="the zebra")
    assert any("received 'zebra'" in line for line in errors(app))


def test_a_model_that_is_missing_is_told_in_one_line(monkeypatch) -> None:
    monkeypatch.setattr(generation, "available", lambda name: name == "untrained")
    app = whole("decoder", writer="dates")
    (line,) = [element.value for element in app.info]
    assert "python" in line
    assert "train dates" in line
    assert "read the dog" in words(app)
