"""Rows, columns and items of attention layers: by their sources, never by their lengths."""

import pytest
import torch
import transformers

from models.inputs.layout import Layout
from models.inputs.sequences import layout_sequence
from models.picture_grid import Box
from models.pretrained.axes import axis_of, cells_axis
from models.run import Trace, trace
from models.trace import PatchGrid
from models.verify import verify
from tests.models.architectures import (
    BY_NAME,
    normal,
    padded,
    text,
)

EXACT = 1e-5  # float32 through two layers whose scores reach 50


@pytest.mark.parametrize("name", ["BERT decoder", "GPT-2 decoder"])
def test_as_many_encoder_states_as_tokens(name: str) -> None:
    """They are no tokens: their labels are their own, and so is their padding."""
    model = BY_NAME[name].build()
    shown = torch.ones(2, 11, dtype=torch.long)
    shown[0, 8:] = 0
    given = {**padded(2, 11, 4, left=True), "encoder_hidden_states": normal(2, 11, 30)}
    given["encoder_attention_mask"] = shown
    found = trace(model, given)
    for layer in range(2):
        site = found.site(layer, "cross")
        assert found.key_labels(site)[:2] == ["encoder state 0", "encoder state 1"]
        shapes = [found.weights(site, item=item).shape[1:] for item in range(2)]
        assert shapes == [(11, 8), (7, 11)]
    assert verify(model, given).problems(1e-4) == ()


@pytest.mark.parametrize("name", ["BART", "T5"])
def test_a_source_as_long_as_the_target(name: str) -> None:
    """The same tensor twice is a source and a target still."""
    given = padded(2, 11, 4, left=False)
    given["decoder_input_ids"] = given["input_ids"]
    found = trace(BY_NAME[name].build(), given)
    cross = found.site(0, "cross")
    assert len(found.query_labels(cross, 1)) == 11
    assert len(found.key_labels(cross, 1)) == 7
    assert found.weights(0, 0, kind="cross", item=1).shape == (11, 7)


# --- items ----------------------------------------------------------------------------------------


def clip(texts: int, images: int) -> Trace:
    given = text()
    rows = torch.arange(texts) % 2
    given = {name: value[rows] for name, value in given.items()}
    return trace(BY_NAME["CLIP"].build(), {**given, "pixel_values": normal(images, 3, 20, 20)})


@pytest.mark.parametrize(("texts", "images"), [(1, 3), (3, 1), (2, 3)])
def test_texts_and_images_are_counted_apart(texts: int, images: int) -> None:
    found = clip(texts, images)
    vision, words = found.site(0, tower="vision"), found.site(0, tower="text")
    assert [len(found.queries(site)) for site in (vision, words)] == [images, texts]
    for item in range(images):
        assert found.weights(1, 0, tower="vision", item=item).shape == (26, 26)
    for item in range(texts):
        assert found.weights(1, 0, tower="text", item=item).shape[0] == (7 if item % 2 else 11)
    with pytest.raises(ValueError, match=rf"item: expected 0 to {images - 1}, received"):
        found.weights(0, tower="vision", item=images)


def test_prompts_of_several_images() -> None:
    model = BY_NAME["SAM"].build()
    given = {"pixel_values": normal(2, 3, 32, 32), "input_points": normal(2, 3, 1, 2).abs() * 16}
    found = trace(model, given)
    assert all(len(found.queries(site)) == 2 * 3 for site in found.sites)
    assert [site.layer for site in found.sites] == [0, 0, 0, 1, 1, 1, 2]  # one behind the blocks
    alone = {name: value[1:] for name, value in given.items()}
    alone["input_points"] = alone["input_points"][:, 2:]
    expected = trace(model, alone)
    for site, other in zip(found.sites, expected.sites, strict=True):
        mine = found.weights(site.layer, module=site.module, item=5)
        assert (mine - expected.weights(other.layer, module=other.module)).abs().max() < EXACT
    assert "SamVisionSdpaAttention" in found.notes[0]


# --- axes by themselves ---------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [-1, 0, 1, 5, 64, 65])
def test_the_patches_of_an_image_after_other_tokens(extra: int) -> None:
    """A tower may drop its class token, or add registers; 64 tokens at most."""
    sequence = layout_sequence(Layout(3, 4, before=("class",)), 1)
    found = axis_of("image", {"image": sequence}, 12 + extra, 2, transformers.ViTConfig())
    if extra == 1:  # as many as the sequence has
        assert found is not None
        assert found.tokens == sequence.tokens * 2
        assert found.grid == PatchGrid(3, 4, 1)
    elif extra in (0, 5, 64):
        assert found is not None
        assert [len(each) for each in found.tokens] == [12 + extra] * 2
        assert found.grid == PatchGrid(3, 4, extra)
    else:
        assert found is None
    assert axis_of("text", {"image": sequence}, 12, 2, transformers.ViTConfig()) is None


@pytest.mark.parametrize(
    ("high", "wide", "length", "grid", "box"),
    [
        (64, 96, 6, (2, 3), Box()),  # a stride of 32
        (64, 96, 24, (4, 6), Box()),
        (64, 100, 28, (4, 7), Box(right=1.12)),  # a stride of 16, the last cells half empty
        (64, 96, 7, None, Box()),
        (20, 20, 1, None, Box()),  # strides of 32 and of 64 both make one cell
    ],
)
def test_cells_of_a_backbone(
    high: int, wide: int, length: int, grid: tuple[int, int] | None, box: Box
) -> None:
    pixels = torch.zeros(2, 3, high, wide)
    found = cells_axis({"pixel_values": pixels}, length, 4, overlapping=False)
    assert (found and found.grid) == (grid and PatchGrid(*grid, box=box))
    if found is not None and grid is not None:
        assert found.tokens[0].labels[-1] == f"cell {grid[0] - 1},{grid[1] - 1}"
        assert len(found.tokens) == 4
        assert not any(found.tokens[0].special)
    assert cells_axis({"pixel_values": pixels}, length, 3) is None
    assert cells_axis({"pixel_values": pixels[0]}, length, 3) is None
    assert cells_axis({"pixel_values": pixels[None]}, length, 1) is None
    assert cells_axis({}, length, 4) is None
