"""Pictures and sound in a dict that are not what a network reads are refused in one line."""

import re
from functools import lru_cache

import numpy as np
import pytest
import torch

from models.inputs.sound import read_recording
from models.model import Model
from models.run import load, trace
from tests.models.pretrained.tiny import BY_NAME

MELS, FRAMES = 16, 26  # of the tiny Whisper
SPECTROGRAM = torch.zeros(1, MELS, FRAMES)
PICTURE = torch.zeros(1, 3, 20, 20)
SAMPLES = torch.zeros(1, 4000)
Shape = tuple[int, ...]


@lru_cache
def opened(name: str) -> Model:
    return load(BY_NAME[name].build().eval())


@pytest.mark.parametrize(
    ("name", "key", "shape"),
    [
        ("Whisper", "input_features", (MELS, FRAMES)),
        ("Whisper", "input_features", (1, 80, FRAMES)),
        ("Whisper", "input_features", (1, MELS, 3)),
        ("wav2vec 2.0", "input_values", (4000,)),
        ("ViT", "pixel_values", (1, 20, 20, 3)),
        ("CLIP vision", "pixel_values", (3, 20, 20)),
        ("ViT", "pixel_values", (0, 3, 20, 20)),
    ],
)
def test_a_shape_is_refused_in_one_line(name: str, key: str, shape: Shape) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        trace(opened(name), {key: torch.zeros(shape)})


@pytest.mark.parametrize(
    ("name", "key", "features"),
    [
        ("Whisper", "input_features", SPECTROGRAM),
        ("wav2vec 2.0", "input_values", SAMPLES),
        ("ViT", "pixel_values", PICTURE),
    ],
)
def test_features_that_are_no_numbers_or_too_large_are_refused(
    name: str, key: str, features: torch.Tensor
) -> None:
    for value, line in (
        (torch.nan, f"{key}: expected numbers, received 1 NaN of {features.numel():,}"),
        (torch.inf, f"{key}: expected finite numbers of at most 4.3e+09 in size, received inf"),
        (1e38, f"{key}: expected finite numbers of at most 4.3e+09 in size, received 1e+38"),
    ):
        wrong = features.clone()
        wrong.view(-1)[7] = value
        with pytest.raises(ValueError, match=f"^{re.escape(line)}$"):
            trace(opened(name), {key: wrong})


def test_a_mask_may_be_infinite_but_no_nan() -> None:
    model = load(BY_NAME["Llama"].build().eval())
    ids, mask = torch.tensor([[3, 4, 5]]), torch.zeros(1, 1, 3, 3)
    mask[..., 0] = -torch.inf
    mask[0, 0, 0, 0] = 0
    given = {"input_ids": ids, "attention_mask": mask}
    assert trace(model, given).weights(layer=0)[:, 2, 0].eq(0).all()
    mask[0, 0, 1, 1] = torch.nan
    with pytest.raises(ValueError, match="attention_mask: expected numbers, received 1 NaN of 9"):
        trace(model, given)


def test_what_only_the_network_refuses_names_the_shapes() -> None:
    with pytest.raises(ValueError, match=r"on this input: .*\(received input_values 1 × 3\)$"):
        trace(opened("wav2vec 2.0"), {"input_values": torch.zeros(1, 3)})
    given = {"input_ids": torch.tensor([[1, 2]]), "pixel_values": PICTURE[None]}
    with pytest.raises(ValueError, match=r"received pixel_values 1 × 1 × 3 × 20 × 20\)$"):
        trace(opened("CLIP"), given)


def test_samples_far_above_1_are_refused() -> None:
    loud = np.full(4000, 1e38, dtype=np.float32)
    with pytest.raises(ValueError, match=r"samples of 1e\+38: expected at most 4.3e\+09, usually"):
        read_recording(loud)
