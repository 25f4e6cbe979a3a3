"""What the app shows before PyTorch is there: as a result answers, and small."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from tests.fetched import fetched
from viz import baked as command
from viz.api import baked, tracing
from viz.api.registry import registry
from viz.pack import unpack
from viz.pages.explore import opening, thumbnails, welcome
from viz.theme import MODES
from viz.web import VIZ

MOST_PICTURE, MOST_SHARE, MOST_ANSWERS = 15_000, 50_000, 1_000_000  # bytes
PICTURES = VIZ / welcome.PICTURES


def numbers(answer: baked.Answer) -> tuple[object, bytes]:
    """What an answer says: its JSON, and the bytes of its sections."""
    if answer.kind == "application/json":
        return json.loads(answer.body), b""
    header, area = unpack(answer.body)
    return header, area


def same(a: object, b: object) -> bool:
    """Whether two JSON values are equal but for the rounding of sums on another number of cores."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-3, atol=1e-5))
    return a == b


@pytest.mark.parametrize("model", opening.MODELS)
def test_the_baked_answers_are_those_of_the_result(model: str) -> None:
    request = opening.of_text(model)
    kept, live = baked.answers(request, tracing.TOKENS), command.answers(model)
    assert kept.keys() == live.keys()
    assert len(live) == len(opening.paths(model))
    for path, answer in live.items():
        assert kept[path].kind == answer.kind
        if kept[path].body == answer.body:
            continue
        header, area = numbers(kept[path])
        live_header, live_area = numbers(answer)
        assert same(header, live_header), path
        assert len(area) == len(live_area), path
        if not area:
            continue
        if path.startswith("row"):
            rows = [np.frombuffer(each, "<f4") for each in (area, live_area)]
            assert np.allclose(*rows, rtol=1e-4, atol=1e-6)
        else:  # a byte a cell
            cells = [np.frombuffer(each, np.uint8).astype(int) for each in (area, live_area)]
            assert np.mean(cells[0] != cells[1]) < 0.02, path


def test_the_first_picture_is_among_what_is_asked_for() -> None:
    for model in opening.MODELS:
        first = opening.paths(model)[: opening.FIRST]
        assert [path.partition("?")[0] for path in first] == ["overview", "row"]


def test_other_requests_have_no_baked_answers() -> None:
    request = opening.of_text("minilm")
    assert baked.answers(request, tracing.Between("yes")) == {}
    assert baked.answers(type(request)(request.model, "Another text."), tracing.TOKENS) == {}


def test_an_answer_carries_the_id_of_the_result() -> None:
    id = registry.id_of("a result")
    assert len(id) == len(baked.ID)
    (overview,) = [
        answer
        for path, answer in baked.answers(opening.of_text("minilm"), tracing.TOKENS).items()
        if path.startswith("overview")
    ]
    assert baked.ID.encode() not in overview.of(id)
    assert unpack(overview.of(id))[0]["trace"] == id


def test_a_question_is_the_same_in_any_order() -> None:
    assert baked.plain("row?site=3&head=1") == baked.plain("row?head=1&site=3")
    assert baked.plain("row?site=3") != baked.plain("row?site=2")


def test_the_files_are_small() -> None:
    assert baked.FILE.stat().st_size <= MOST_ANSWERS
    names = {path.name for path in PICTURES.iterdir()}
    cards = {f"{card.name}-{mode}.png" for card in welcome.CARDS for mode in MODES}
    assert names == {*cards, thumbnails.SHARE}
    assert all((PICTURES / name).stat().st_size <= MOST_PICTURE for name in cards)
    assert (PICTURES / thumbnails.SHARE).stat().st_size <= MOST_SHARE


def differ(kept: bytes, drawn: bytes) -> float:
    """Mean difference of two pictures of one size, of 255."""
    images = [
        np.asarray(Image.open(io.BytesIO(each)).convert("RGB"), int) for each in (kept, drawn)
    ]
    assert images[0].shape == images[1].shape
    return float(np.abs(images[0] - images[1]).mean())


@pytest.mark.parametrize(
    "card",
    [
        pytest.param(card, marks=[pytest.mark.long] if card.model not in ("", "minilm") else [])
        for card in welcome.CARDS
    ],
    ids=lambda card: card.name,
)
def test_the_pictures_of_cards_are_drawn_from_real_weights(card: welcome.Card) -> None:
    if card.model:
        fetched(card.model)
    for name, drawn in thumbnails.files((card,)):
        assert differ((PICTURES / name).read_bytes(), drawn) < 1, name


def test_the_picture_of_a_link_is_drawn_from_real_weights() -> None:
    kept = (PICTURES / thumbnails.SHARE).read_bytes()
    assert Image.open(io.BytesIO(kept)).size == (1200, 630)  # what previews are cut to
    assert differ(kept, thumbnails.of_links()) < 1
