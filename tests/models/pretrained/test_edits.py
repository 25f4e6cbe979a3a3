"""Edits of windows of an image, and of one tower of two."""

import torch
from torch import Tensor

from models.edits import Cut, UsePattern
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
