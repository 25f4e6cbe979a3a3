"""Pictures and sound in a dict that are not what a network reads are refused in one line."""

import re
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.coverage.tiny import build
from models.inputs.features import check_features
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
    ("name", "key", "shape", "line"),
    [
        (
            "Whisper",
            "input_features",
            (MELS, FRAMES),
            "expected batch × 16 mel bins × 26 frames, received 16 × 26; add an axis for the batch"
            " in front",
        ),
        (
            "Whisper",
            "input_features",
            (1, 80, FRAMES),
            "expected batch × 16 mel bins × 26 frames, received 1 × 80 × 26",
        ),
        (
            "Whisper",
            "input_features",
            (1, MELS, 3),
            "expected batch × 16 mel bins × 26 frames, received 1 × 16 × 3",
        ),
        (
            "wav2vec 2.0",
            "input_values",
            (4000,),
            "expected batch × samples, received 4,000; add an axis for the batch in front",
        ),
        (
            "ViT",
            "pixel_values",
            (1, 20, 20, 3),
            "expected batch × 3 channels × rows × columns, received 1 × 20 × 20 × 3",
        ),
        (
            "CLIP vision",
            "pixel_values",
            (3, 20, 20),
            "expected batch × 3 channels × rows × columns, received 3 × 20 × 20; add an axis for"
            " the batch in front",
        ),
        ("ViT", "pixel_values", (0, 3, 20, 20), "expected at least one number, received 0 × 3"),
    ],
)
@pytest.mark.parametrize("target", [None, torch.tensor([[1, 2, 3]])])
def test_a_shape_is_refused_with_what_is_expected(
    name: str, key: str, shape: Shape, line: str, target: Any
) -> None:
    target = target if name == "Whisper" else None
    with pytest.raises(ValueError, match=f"^{re.escape(f'{key}: {line}')}[^\n]*$"):
        trace(opened(name), {key: torch.zeros(shape)}, target)


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


@pytest.mark.parametrize(
    ("name", "features"),
    [
        ("dac", {"input_values": torch.zeros(2, 1, 1600)}),
        ("mllama_vision_model", {"pixel_values": torch.zeros(2, 1, 4, 3, 32, 32)}),
        ("qwen2_5_omni_audio_encoder", {"input_features": torch.zeros(128, 112)}),
    ],
)
def test_other_axes_of_other_networks_are_left_to_them(
    name: str, features: dict[str, torch.Tensor]
) -> None:
    """A codec has channels, a tower of tiles has tiles, and a tower of packed sound no batch."""
    check_features(build(name), features)


def test_samples_far_above_1_are_refused() -> None:
    loud = np.full(4000, 1e38, dtype=np.float32)
    with pytest.raises(ValueError, match=r"samples of 1e\+38: expected at most 4.3e\+09, usually"):
        read_recording(loud)
