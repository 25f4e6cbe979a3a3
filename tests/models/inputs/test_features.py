"""Pictures and sound in a dict that are not what a network reads are refused in one line."""

import re
from functools import lru_cache

import pytest
import torch

from models.model import Model
from models.run import load, trace
from tests.models.architectures import BY_NAME

MELS, FRAMES = 16, 26  # of the tiny Whisper


@lru_cache
def opened(name: str) -> Model:
    return load(BY_NAME[name].build().eval())


SPECTRUM, SAMPLES, PIXELS = "input_features", "input_values", "pixel_values"


@pytest.mark.parametrize(
    ("name", "key", "shape", "line"),
    [
        ("Whisper", SPECTRUM, (MELS, FRAMES), ""),
        ("Whisper", SPECTRUM, (1, 80, FRAMES), ""),
        ("Whisper", SPECTRUM, (1, MELS, 3), "length 26, but found 3"),
        ("wav2vec 2.0", SAMPLES, (4000,), ""),
        ("wav2vec 2.0", SAMPLES, (1, 3), r"on this input: .*\(received input_values 1 × 3\)"),
        ("ViT", PIXELS, (1, 20, 20, 3), ""),
        ("CLIP vision", PIXELS, (3, 20, 20), ""),
        ("ViT", PIXELS, (0, 3, 20, 20), "expected at least one number, received 0 × 3 × 20"),
    ],
)
def test_a_shape_is_refused_in_one_line(
    name: str, key: str, shape: tuple[int, ...], line: str
) -> None:
    with pytest.raises(ValueError, match=rf"^[^\n]*{line}[^\n]*$"):
        trace(opened(name), {key: torch.zeros(shape)})


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (torch.nan, "expected numbers, received 1 NaN of 1,200"),
        (torch.inf, "expected finite numbers of at most 4.3e+09 in size, received inf"),
        (1e38, "expected finite numbers of at most 4.3e+09 in size, received 1e+38"),
    ],
)
def test_features_that_are_no_numbers_or_too_large_are_refused(value: float, line: str) -> None:
    pixels = torch.zeros(1, 3, 20, 20)
    pixels.view(-1)[7] = value
    with pytest.raises(ValueError, match=f"^pixel_values: {re.escape(line)}$"):
        trace(opened("ViT"), {"pixel_values": pixels})


def test_a_mask_may_be_infinite_but_no_nan() -> None:
    mask = torch.zeros(1, 1, 3, 3)
    mask[..., 0] = -torch.inf
    mask[0, 0, 0, 0] = 0
    given = {"input_ids": torch.tensor([[3, 4, 5]]), "attention_mask": mask}
    assert trace(opened("Llama"), given).weights(layer=0)[:, 2, 0].eq(0).all()
    mask[0, 0, 1, 1] = torch.nan
    with pytest.raises(ValueError, match="attention_mask: expected numbers, received 1 NaN of 9"):
        trace(opened("Llama"), given)
