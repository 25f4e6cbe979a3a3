"""Every axis names the part of the input that its tokens are made of, by perturbation.

A model type for each order of tokens; benchmarks.coverage judges all of them.
"""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from benchmarks.coverage import axes, tiny
from benchmarks.coverage.axes import judged
from benchmarks.coverage.model_inputs import Inputs, runnable
from models.run import trace
from models.trace import TokenAxis

PATCH, TEXT, TARGET, FRAME = ("patch",), ("text",), ("target",), ("frame",)
ORDERS = {
    "vit": (PATCH, "a class token, rows"),
    "deit": (PATCH, "class and distillation tokens"),
    "dinov2_with_registers": (PATCH, "registers"),
    "llama4_vision_model": (PATCH, "the class token behind"),
    "vit_mae": (PATCH, "some patches, in the order of the noise"),
    "lw_detr_vit": (PATCH, "windows throughout"),
    "rf_detr_dinov2": (PATCH, "windows with class tokens of their own"),
    "sam3_vit_model": (PATCH, "windows in some layers"),
    "segformer": (PATCH, "cells and areas of four stages"),
    "videomae": (PATCH, "tubes of frames"),
    "idefics3": (PATCH + TEXT, "several images an item"),
    "xclip": (PATCH + TEXT, "a message token behind"),
    "clip": (PATCH + TEXT, "two towers"),
    "audio-spectrogram-transformer": (FRAME, "bands and frames"),
    "wav2vec2": (FRAME, "frames of samples"),
    "whisper": (FRAME + TARGET, "frames of features, hidden states of both towers"),
    "t5": (TEXT + TARGET, "text and target"),
    "gpt2": (TEXT, "text"),
}


def model_of(name: str) -> tuple[Any, Inputs]:
    kind = next(tiny.model_types([name]))
    assert isinstance(kind, tiny.ModelType)
    model, reference = tiny.build(kind)
    inputs, _, _ = runnable(reference, lambda given: reference(**given))
    return model, inputs


@pytest.mark.parametrize("name", ORDERS)
@torch.no_grad()
def test_the_token_that_changes_is_the_one_named(name: str) -> None:
    verdict = judged(*model_of(name), most=5)
    assert verdict.wrong == ()
    assert verdict.kinds == ORDERS[name][0]
    assert verdict.axes > 0


@torch.no_grad()
def test_patches_of_a_masked_autoencoder_that_hides_none() -> None:
    """They stay row by row, although the library shuffles them."""
    model, inputs = model_of("vit_mae")
    model.config.mask_ratio = 0.0
    first, second = (trace(model, inputs) for _ in range(2))
    assert first.grid == (4, 4)
    assert first.labels[:3] == ["[CLS]", "patch 0,0", "patch 0,1"]
    assert first.output.values.equal(second.output.values)
    assert judged(model, inputs, most=5).wrong == ()


@torch.no_grad()
def test_tiles_of_a_picture_are_named_and_not_drawn_as_all_of_it() -> None:
    model, inputs = model_of("idefics3")
    found = trace(model, inputs)
    site = next(site for site in found.sites if "vision" in str(site.module))
    assert found.items(site) == tuple(
        f"image {n}, tile {tile} of text {n}" for n in (0, 1) for tile in (0, 1)
    )
    assert found.query_labels(site)[5] == "patch 1,1"
    assert found.query_grid(site) is None
    assert "4 images or tiles, each traced by itself: views show the first" in found.notes


@pytest.mark.parametrize("name", ["vit", "audio-spectrogram-transformer"])
@torch.no_grad()
def test_a_wrong_order_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels that are moved on by one."""

    def moved(axis: TokenAxis) -> TokenAxis:
        tokens = [
            replace(each, labels=(each.labels[-1], *each.labels[:-1])) for each in axis.tokens
        ]
        return replace(axis, tokens=tuple(tokens))

    def shifted(*args: Any, **options: Any) -> Any:
        found = trace(*args, **options)
        both = {site: (moved(rows), moved(keys)) for site, (rows, keys) in found.axes.items()}
        return replace(found, axes=both)

    model, inputs = model_of(name)
    monkeypatch.setattr(axes, "trace", shifted)
    verdict = judged(model, inputs, most=5)
    assert len(verdict.wrong) >= 4


def test_several_places_change_beside_convolutions() -> None:
    """The named one must be near the largest change, and change with it."""
    labels = tuple(f"patch 0,{col}" for col in range(9))

    def judge(changes: Tensor) -> str:
        x = torch.ones(9, 4)
        before = axes.Axis("here", (labels,), None, (x,))
        after = axes.Axis("here", (labels,), None, (x + changes[:, None],))
        return axes.misplaced(before, after, 0, 4, {2, 3, 4, 5, 6})

    assert judge(torch.eye(9)[4]) == ""
    assert judge(torch.eye(9)[5]) == "of patch 0,4 changes patch 0,5"
    assert judge(torch.eye(9)[5] + 0.5 * torch.eye(9)[4]) == ""
    assert judge(torch.eye(9)[5] + 0.05 * torch.eye(9)[4]) == "of patch 0,4 changes patch 0,5"
    assert judge(torch.eye(9)[8] + 0.5 * torch.eye(9)[4]) == "of patch 0,4 changes patch 0,8"
    assert judge(torch.zeros(9)) == axes.UNREACHED
