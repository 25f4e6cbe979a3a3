"""Perturbation curves against passes and equations written out, and a planted cause."""

import math
from dataclasses import replace

import pytest
import torch

from analysis.faithfulness import faithfulness
from analysis.perturbation import area, blur, perturbation
from models.run import load, trace
from models.vit import ViT, ViTConfig
from tests.models.tensors import noise

CONFIG = ViTConfig(image=(8, 12), patch=4, dim=20, heads=2, depth=1, mlp=13, classes=5)


def test_deletion_is_the_value_less_comprehensiveness() -> None:
    model, pixels, relevance = load(CONFIG), noise(1, 3, 8, 12), noise(7, seed=2)
    found = perturbation(
        model, pixels, relevance, "deletion", target=2, levels=(0.0, 1 / 3, 2 / 3, 1.0)
    )
    other = faithfulness(model, pixels, relevance, target=2, levels=(1 / 3, 2 / 3, 1.0))
    assert found.counts.tolist() == [0, 2, 4, 6]
    assert float(found.curve[0]) == pytest.approx(found.value, abs=1e-6)
    torch.testing.assert_close(found.curve[1:], found.value - other.comprehensiveness)
    torch.testing.assert_close(found.reverse[1:3].flip(0), found.value - other.sufficiency[:2])


def test_insertion_starts_blurred_and_ends_whole() -> None:
    model, pixels, relevance = load(CONFIG), noise(1, 3, 8, 12), torch.arange(7.0)
    found = perturbation(model, pixels, relevance, "insertion", target=1, levels=(0.0, 0.17, 1.0))
    mixed = blur(pixels)
    mixed[..., 4:, 8:] = pixels[..., 4:, 8:]  # the last patch
    for place, given in enumerate((blur(pixels), mixed, pixels)):
        expected = torch.softmax(trace(model, given).output.values[0], -1)[1]
        assert float(found.curve[place]) == pytest.approx(float(expected), abs=1e-6)


def test_blur_is_a_gaussian_of_eleven_pixels() -> None:
    pixels = noise(1, 2, 13, 12)
    weights = [math.exp(-(step**2) / 50) for step in range(-5, 6)]
    mirrored = [
        [abs(at) if at < size else 2 * size - 2 - at for at in range(-5, size + 5)]
        for size in (13, 12)
    ]
    expected = torch.zeros(2, 3, 4)  # of a corner
    for row in range(3):
        for col in range(4):
            for down, vertical in enumerate(weights):
                for across, flat in enumerate(weights):
                    y, x = mirrored[0][row + down], mirrored[1][col + across]
                    expected[:, row, col] += vertical * flat * pixels[0, :, y, x]
    torch.testing.assert_close(blur(pixels)[0, :, :3, :4], expected / sum(weights) ** 2)


@pytest.fixture(scope="module")
def planted() -> ViT:
    """A network that answers 1 where a patch has stripes, by the mean of patches, and else 0."""
    config = ViTConfig(image=24, patch=4, dim=4, heads=1, depth=1, mlp=3, classes=2, head="mean")
    network = ViT(replace(config, eps=100.0))  # little noise stays little
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.fill_(1.0 if "norm" in name and name.endswith("weight") else 0.0)
        for name, parameter in network.named_parameters():
            if name.startswith("patches") and parameter.ndim > 1:
                parameter[0] = torch.tensor([1.0, -1.0]).repeat_interleave(3).repeat(8)
            if name.startswith("head") and parameter.ndim > 1:
                parameter[1, 0] = 40.0
            if name.startswith("head") and parameter.ndim == 1:
                parameter[0] = 1.0
    return network.eval()


@pytest.mark.parametrize("kind", ["deletion", "insertion"])
def test_a_planted_cause_is_found_and_its_curve_tells(planted: ViT, kind) -> None:
    pixels = torch.zeros(1, 3, 27, 25)
    pixels[..., 24:, :] = pixels[..., 24:] = 9.0  # which is not read, and blurs into nothing
    pixels[..., 8:12, 16:20] = torch.tensor([2.0, -2.0]).repeat(2)  # row 2, column 4
    cause, wrong = torch.zeros(36), noise(36, seed=5)
    cause[2 * 6 + 4] = 1.0
    wrong[2 * 6 + 4] = -9.0
    right = perturbation(planted, pixels, cause, kind, target=1, orders=4)
    other = perturbation(planted, pixels, wrong, kind, target=1, orders=4)
    assert right.value > 0.6
    assert right.score > 0.05 > -0.05 > other.score
    sign = 1 if kind == "insertion" else -1
    mine, random = (sign * area(curve, right.counts) for curve in (right.curve, right.random))
    assert mine > random.max()


def test_the_answer_is_one_among_the_classes_of_its_question() -> None:
    model, pixels = load(CONFIG), noise(1, 3, 8, 12)
    found = perturbation(model, pixels, torch.zeros(7), "deletion", target=3, among=range(2, 5))
    logits = trace(model, pixels).output.values[0]
    assert found.value == pytest.approx(float(torch.softmax(logits[2:], -1)[1]), abs=1e-6)


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a picture"):
        perturbation(load("reverse"), "abc", torch.zeros(4), "deletion")
    with pytest.raises(ValueError, match="relevance: expected 7 numbers, received 2"):
        perturbation(load(CONFIG), noise(1, 3, 8, 12), torch.zeros(2), "deletion")
