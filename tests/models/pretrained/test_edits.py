"""Edits of windows of an image, and of one tower of two."""

import pytest
import torch
from torch import Tensor

from models.edits import Ablate, Cut, UsePattern
from models.run import trace
from tests.models.tiny_models import Built, model, plain, source

NETWORK, GIVEN = model("Swin"), source("Swin")[0]


def test_windows_of_an_image() -> None:
    """Patterns of the image's own tokens; what a window does not reach is not seen."""
    uniform = trace(NETWORK, GIVEN, edits=[UsePattern(0, 1, "uniform")])
    seen = plain("Swin").weights(0, 1) > 0
    expected = seen / seen.sum(-1, keepdim=True)
    torch.testing.assert_close(uniform.weights(0, 1), expected, rtol=0, atol=1e-6)
    shift = trace(NETWORK, GIVEN, edits=[UsePattern(0, 1, "shift", 4)]).weights(0, 1)
    assert shift[5].argmax() == 5  # the token 4 before it is in another window
    assert float(shift.sum()) == len(shift)


def test_a_cut_within_a_window() -> None:
    """Tokens by their place in the image, not in their window."""

    def cut(scores: Tensor) -> Tensor:
        # tokens (0, 5) and (1, 6) of 12 × 12: slots 1 and 6 of the second window
        scores[1::9, 1, 1, 6] = -torch.inf
        return scores

    found = trace(NETWORK, GIVEN, edits=[Cut(0, 1, 5, 18)]).output.values
    with torch.no_grad():
        expected = Built("Swin", 0, {"scores": cut}).run((GIVEN, None)).output
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    assert (found - plain("Swin").output.values).abs().max() > 1e-3


def test_an_edit_of_one_tower() -> None:
    network, given = model("SigLIP"), source("SigLIP")[0]
    before = plain("SigLIP")
    found = trace(network, given, edits=[Ablate(0, 1, tower="vision")])
    assert found.weights(1, tower="text").equal(before.weights(1, tower="text"))
    assert not found.weights(1, tower="vision").allclose(before.weights(1, tower="vision"))
    path = str(before.site(0, tower="text").module)
    found = trace(network, given, edits=[Cut(None, 1, 2, 0, module=path)])
    assert found.weights(0, 1, tower="text")[2, 0] == 0
    assert (found.weights(1, 1, tower="text") > 0).all()
    assert found.weights(0, 1, tower="vision")[2, 0] > 0
    found = trace(network, given, edits=[Cut(0, 1, 2, 0, module="vision_model")])
    assert found.weights(0, 1, tower="vision")[2, 0] == 0
    with pytest.raises(
        ValueError, match=r"tower: layer 0 has \['vision', 'text'\], received 'audio'"
    ):
        trace(network, given, edits=[Ablate(0, 1, tower="audio")])
