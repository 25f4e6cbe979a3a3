"""A label names the part of the input that its token is made of: change it, and that token changes.

With all attention ablated, the queries of a token depend on nothing but what it is made of.
"""

from typing import Any

import pytest
import torch
from torch import Tensor

from benchmarks.coverage import tiny
from benchmarks.coverage.inputs import Inputs, runnable
from models.edits import Ablate
from models.run import trace
from models.trace import Trace

PICTURES = {  # and what stands beside the patches
    "vit": "a class token",
    "deit": "a class and a distillation token",
    "yolos": "detections behind",
    "dinov2_with_registers": "registers",
    "llama4_vision_model": "the class token behind",
    "clip": "a text",
}


def ablated(model: Any, inputs: Inputs) -> Trace:
    return trace(model, inputs, edits=[Ablate(None, None)])


def built(name: str) -> tuple[Any, Inputs]:
    model = tiny.build(name)
    return model, runnable(model)


def changes(before: Trace, after: Trace, site: Any) -> Tensor:
    """How much the queries of each token of the first item change."""
    one, other = (each.pattern(site).q[0].float() for each in (before, after))
    return (other - one).norm(dim=(0, 2))


@pytest.mark.parametrize("name", PICTURES)
@torch.no_grad()
def test_the_patch_that_changes_is_the_one_named(name: str) -> None:
    model, inputs = built(name)
    before, checked = ablated(model, inputs), 0
    for site in before.sites:
        grid, labels = before.query_grid(site), before.query_labels(site)
        if grid is None:
            continue
        pixels = inputs["pixel_values"]
        high, wide = pixels.shape[-2] // grid.rows, pixels.shape[-1] // grid.cols
        for row, col in ((0, grid.cols - 1), (grid.rows - 1, 0)):
            other = pixels.clone()
            place = slice(row * high, (row + 1) * high), slice(col * wide, (col + 1) * wide)
            other[0, :, place[0], place[1]] += 2
            moved = changes(before, ablated(model, {**inputs, "pixel_values": other}), site)
            assert labels[int(moved.argmax())].endswith(f" {row},{col}")
            checked += 1
    assert checked >= 4


@torch.no_grad()
def test_packed_patches_are_named_in_squares() -> None:
    model, inputs = built("qwen2_vl")
    before = ablated(model, inputs)
    site = next(each for each in before.sites if "visual" in str(each.module))
    squares = ["0,0", "0,1", "1,0", "1,1", "0,2", "0,3", "1,2", "1,3"]
    assert before.query_labels(site)[:8] == [f"patch {place}" for place in squares]
    for place in (2, 4):
        pixels = inputs["pixel_values"].clone()
        pixels[place] += 2
        moved = changes(before, ablated(model, {**inputs, "pixel_values": pixels}), site)
        assert moved.nonzero().flatten().tolist() == [place]


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("gpt2", "input_ids"),
        ("bert", "input_ids"),
        ("t5", "input_ids"),
        ("t5", "decoder_input_ids"),
    ],
)
@torch.no_grad()
def test_the_word_that_changes_is_the_one_named(name: str, argument: str) -> None:
    model, inputs = built(name)
    ids = inputs[argument].clone()
    ids[0, 4] = 71
    before, after = ablated(model, inputs), ablated(model, {**inputs, argument: ids})
    tower = {"t5 input_ids": "encoder", "t5 decoder_input_ids": "decoder"}.get(f"{name} {argument}")
    sites = [site for site in before.sites if site.tower == tower]
    assert sites
    for site in sites:
        assert after.query_labels(site)[4] == "71"
        assert changes(before, after, site).nonzero().flatten().tolist() == [4]
