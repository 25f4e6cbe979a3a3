"""The last states of the patches over the picture: components and cosines by NumPy."""

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from models.run import load, trace
from models.vit import ViTConfig
from tests.viz.api.asking import ask
from viz.api.entries import TraceEntry

SIZES: dict[str, Any] = {"image": 64, "patch": 16, "dim": 32, "heads": 2, "depth": 3, "mlp": 13}


@pytest.fixture(scope="module")
def entry() -> TraceEntry:
    torch.manual_seed(2)
    model = load(ViTConfig(**SIZES))
    image = Image.fromarray(np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8))
    given = (model, image, None)
    return TraceEntry(trace(model, image), opened=lambda: given, pictures=(image,), patches=True)


@pytest.fixture(scope="module")
def states(entry: TraceEntry) -> np.ndarray:
    """Patch by feature, from a pass of its own."""
    assert entry.opened is not None
    model, image, _ = entry.opened()
    t = trace(model, image, hidden=True)
    return t.final()[t.prefix :].double().numpy(force=True)


def test_colours_are_the_first_three_components(entry: TraceEntry, states: np.ndarray) -> None:
    answer = ask(entry, "components")
    centred = states - states.mean(0)
    _, sizes, axes = np.linalg.svd(centred)
    levels = np.array(answer["colours"]).reshape(16, 3)
    for colour in range(3):
        along = centred @ axes[colour]
        expected = 255 * (along - along.min()) / (along.max() - along.min())
        mirrored = 255 - expected  # the sign of a component is arbitrary
        distance = min(np.abs(levels[:, colour] - each).max() for each in (expected, mirrored))
        assert distance < 1
    shares = sizes**2 / (sizes**2).sum()
    np.testing.assert_allclose(answer["explained"], shares[:3], rtol=1e-3)


def test_likeness_is_a_cosine(entry: TraceEntry, states: np.ndarray) -> None:
    token = entry.trace.prefix + 6
    lengths = np.linalg.norm(states, axis=1)
    expected = states @ states[6] / (lengths * lengths[6])
    np.testing.assert_allclose(ask(entry, "similar", token)["values"], expected, atol=1e-5)


def test_what_is_not_there_says_why(entry: TraceEntry, own: dict[str, TraceEntry]) -> None:
    assert "differ in their patches" in ask(own["swin"], "components")["why"]
    assert "patch: expected 0 to 15" in ask(entry, "similar", 0)["why"]
