"""Words of an answer on a picture: a planted model, hand numbers, and every family."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from analysis.contrast import captions, contrast
from analysis.grounding import ranked, rows_of, sites_on_pictures, split
from analysis.masking import ids_of, masked, need, painted, probability, read_whole
from models.inputs.prompt import Prompt
from models.model import Model
from models.picture_grid import Box
from models.run import as_model, load, trace
from models.text import Tokens
from models.trace import Trace
from tests.analysis.planted import planted_folder, scene
from tests.models.architectures import BY_NAME
from tests.models.vision_language import FAMILIES, NAMES, photo

ROW, COL = 1, 3
DOG, SITS = 0, 1  # places of the answer
QUESTION = "what is it ?"
CELL = Box(COL / 5, ROW / 5, (COL + 1) / 5, (ROW + 1) / 5)
ON_PICTURES = [family for family in FAMILIES if family.grids is not None]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return load(planted_folder(tmp_path_factory.mktemp("planted")))


@pytest.fixture(scope="module")
def asked() -> Prompt:
    return Prompt(QUESTION, (scene(ROW, COL),), most_written=2)


@pytest.fixture(scope="module")
def found(model: Model, asked: Prompt) -> Trace:
    return trace(model, asked)


# --- the planted model ----------------------------------------------------------------------------


def test_shares_of_the_planted_word(found: Trace) -> None:
    (site,) = sites_on_pictures(found)
    word, rest = (split(found, site, rows_of(found, [place])) for place in (DOG, SITS))
    assert float(word.image[0]) == pytest.approx(1, abs=1e-4)
    assert float(rest.sinks[0]) == pytest.approx(1, abs=1e-4)  # "User" is the first token
    for shares in (word, rest):
        assert torch.allclose(sum(shares, torch.zeros(site.heads)), torch.ones(site.heads))


def test_masking_the_patch_changes_the_word_and_masking_elsewhere_does_not(
    model: Model, asked: Prompt, found: Trace
) -> None:
    word = need(model, asked, ids_of(found), [DOG], CELL, controls=3)
    assert word.before > 0.99
    assert word.after < 0.05
    assert len(word.elsewhere) == 3
    assert min(word.elsewhere) > 0.99
    other = need(model, asked, ids_of(found), [SITS], CELL, controls=1)
    assert other.after == pytest.approx(other.before, abs=1e-5)


def test_the_patch_speaks_for_the_word_and_against_its_rival(model: Model, asked: Prompt) -> None:
    pair = NAMES["dog"], NAMES["cat"]
    for_word = contrast(model, asked, "dog sits", DOG, *pair)
    (site,) = for_word.keys
    (grid,) = for_word.trace.key_pictures(site)
    signed = for_word.on(grid)
    assert divmod(int(signed.argmax()), grid.cols) == (ROW, COL)
    against = contrast(model, asked, "dog sits", DOG, *pair[::-1])
    torch.testing.assert_close(against.on(grid), -signed)
    assert against.difference == pytest.approx(-for_word.difference)
    row = for_word.trace.output.row(rows_of(for_word.trace, [DOG])[0])
    assert for_word.difference == pytest.approx(float(row[pair[0]] - row[pair[1]]))


def test_the_planted_head_comes_first(found: Trace) -> None:
    first, *others = ranked(found, rows_of(found, [DOG]))
    assert (first.head, first.mass) == (0, pytest.approx(1, abs=1e-4))
    assert all(head.mass < 0.9 for head in others)


# --- hand numbers ---------------------------------------------------------------------------------


def test_the_sink_of_a_softmax_is_among_the_sinks() -> None:
    known = BY_NAME["GPT-OSS"]
    t, rows = trace(known.build(), known.inputs()), [4, 2]
    for site in t.sites:
        text = t.weights(site)[:, rows, 1:].sum(-1).mean(-1)  # behind the first token
        shares = split(t, site, rows)
        torch.testing.assert_close(shares.text, text)
        torch.testing.assert_close(shares.sinks, 1 - text)


def test_a_painted_area_is_the_mean_colour_and_the_rest_stays() -> None:
    image = scene(ROW, COL)
    levels = painted(image, CELL)
    mean = round((127 * 24 + 255) / 25)
    assert levels.getpixel((13, 5)) == (mean,) * 3
    assert levels.getpixel((0, 0)) == image.getpixel((0, 0))


# --- what cannot be asked -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"area": Box(0.5, 0, 0.5, 1)}, "area: expected shares of the picture"),
        ({"area": Box(0, 0, 1.2, 1)}, "area: expected shares of the picture"),
        ({"picture": 1}, "picture: expected 0 to 0, received 1"),
        ({"places": [2]}, "places: expected some of 0 to 1"),
    ],
)
def test_what_cannot_be_masked_is_refused(
    changed: dict[str, Any], why: str, model: Model, asked: Prompt, found: Trace
) -> None:
    given: dict[str, Any] = {"places": [DOG], "area": CELL, "controls": 0} | changed
    with pytest.raises(ValueError, match=why):
        need(model, asked, ids_of(found), given.pop("places"), given.pop("area"), **given)


# --- every family ---------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ON_PICTURES, ids=lambda family: family.name)
def test_every_family_can_be_asked(family: Any, tmp_path: Any) -> None:
    """Shares sum to 1, and the same area twice gives the same number."""
    other = load(str(family.save(tmp_path)))
    asked = Prompt("what is on", (photo(),), most_written=3)
    t = trace(other, asked)
    for site in sites_on_pictures(t):
        shares = split(t, site, rows_of(t, [1]))
        total = shares.image + shares.sinks + shares.text
        torch.testing.assert_close(total, torch.ones(site.heads), rtol=1e-5, atol=1e-5)
    assert len(ranked(t, rows_of(t, [0, 1]))) == sum(site.heads for site in sites_on_pictures(t))
    area = Box(0.3, 0.3, 0.75, 0.75)
    target = read_whole(other, ids_of(t))
    last = len(ids_of(t)) - 1
    told = need(other, asked, ids_of(t), [last], area, controls=1)
    assert told.before == pytest.approx(probability(t, [last]), rel=1e-3)
    again = probability(trace(other, masked(asked, 0, area), target), [last])
    assert told.after == pytest.approx(again, rel=1e-3)


# --- captions -------------------------------------------------------------------------------------


class Ids:
    """Reads numbers."""

    def encode(self, text: str, pair: str | None = None) -> Tokens:
        return Tokens.of_ids([int(each) for each in text.split()])


@pytest.mark.parametrize("name", ["CLIP", "SigLIP"])
def test_captions_have_the_library_s_similarities_and_a_map_each(name: str) -> None:
    known = BY_NAME[name]
    model = replace(as_model(known.build()), tokenizer=Ids())
    texts, pixels = ("5 7 2", "9 11 2"), known.inputs()["pixel_values"][:1]
    found = captions(model, pixels, texts)
    most = model.network.config.text_config.max_position_embeddings if name == "SigLIP" else 3
    pad = model.network.config.text_config.pad_token_id
    ids = torch.tensor([[5, 7, 2] + [pad] * (most - 3), [9, 11, 2] + [pad] * (most - 3)])
    with torch.no_grad():
        expected = model.network(
            input_ids=ids, pixel_values=pixels, interpolate_pos_encoding=True
        ).logits_per_image[0]
    assert [each.similarity for each in found] == pytest.approx(expected.tolist(), rel=1e-4)
    first, second = (each.relevance for each in found)
    assert first.shape == second.shape
    assert float(first.min()) >= 0
    assert not torch.allclose(first / first.sum(), second / second.sum(), rtol=1e-2)
    with pytest.raises(ValueError, match="captions: expected at least one"):
        captions(model, pixels, [])
