"""Encoder and decoder together: three kinds of attention, sharing, and what layers see."""

import re

import pytest

from models.lessons.sharing import shared
from models.run import load, trace
from tests.viz.pages.helpers import choose, specs
from tests.viz.pages.lessons.pages import errors, whole, words
from viz.pages.lessons import generation
from viz.pages.lessons.both import page as both
from viz.pages.lessons.tables import number

TRAINED = generation.available("dates")
INPUT = "March the third, '98"


@pytest.mark.parametrize("kind", both.KINDS)
def test_three_kinds_of_attention(kind: str) -> None:
    app = whole("both", kind=kind, head=1, date=INPUT)
    if TRAINED:
        done = trace(load("dates"), INPUT)
    else:
        done = trace(both._untrained(), "the dog saw the cat", "der Hund sah die Katze")
    weights = done.weights(layer=0, head=1, kind=kind)
    said = words(app)
    for row in weights.max(-1).values.tolist():
        assert number(row) in said
    spec = specs(app)[0]
    assert len(spec["layout"]["yaxis"]["ticktext"]) == weights.shape[0]
    assert len(spec["layout"]["xaxis"]["ticktext"]) == weights.shape[1]
    queries, keys = weights.shape
    assert f"{both.KINDS[kind]} 4 heads × {queries} queries × {keys} keys" in said


def test_without_the_trained_model_a_line_says_so(monkeypatch) -> None:
    monkeypatch.setattr(generation, "available", lambda name: False)
    app = whole("both")
    (line,) = [element.value for element in app.info]
    assert "train dates" in line
    before = words(app)
    choose(app, "both", "read", "a cat saw two dogs")
    assert words(app) != before
    assert "target on source 4 heads × 6 queries × 5 keys" in words(app)


def test_the_year_is_looked_for_where_it_stands() -> None:
    for text, position in ((INPUT, 18), ("1998-3-3", 2)) if TRAINED else ():
        said = words(whole("both", date=text))
        assert re.search(
            rf"“<begin>” predicts “1” and attends most to “9” \(position {position}\)", said
        ), text


@pytest.mark.parametrize("target", ["yes", "no"])
@pytest.mark.parametrize("source", ["yes", "no"])
def test_sharing(target: str, source: str) -> None:
    said = words(whole("both", target=target, source=source, scaling="prj"))
    share = {"share_target": target == "yes", "share_source": source == "yes"}
    one = shared(both._config("prj", vocab=200, **share))
    for name in both.SCALINGS:
        one = shared(both._config(name, vocab=200, **share))
        row = " ".join(map(number, (one.weights, one.embeddings, one.positions, one.logits)))
        assert f"{name} {row}" in said
    assert f"matrices of words × width {one.matrices}" in said
    assert f"{one.parameters:,}" in said


def test_one_vocabulary_is_needed_to_share() -> None:
    app = whole("both", words=300)
    (line,) = errors(app)
    assert "expected source_vocab = target_vocab, received 300 and 200" in line
    assert "To take away" in words(app)
    choose(app, "both", "source", "no")
    assert not errors(app)


def test_what_moved_to_another_lesson_is_no_problem_of_older_links() -> None:
    assert not errors(whole("both", length=64, width=32, kernel=3, layers=2, position=8))


def test_a_space_that_is_looked_at_can_be_seen() -> None:
    said = words(whole("both", date="3 March 1998"))
    assert not TRAINED or re.search(r"attends most to “␣” \(position 1\)", said)
    assert "“ ”" not in said
