"""Edits of windows of an image, and what edits leave behind in transformers models."""

from typing import Any

import pytest
import torch
from torch import Tensor

from models.edits import UsePattern
from models.run import trace
from tests.models.edits.architectures import NAMES, WHERE, inputs, model, plain
from tests.models.edits.plain import CASES, LAYER


def test_windows_of_an_image() -> None:
    """Swin: patterns of the image's own tokens; what a window does not reach is not seen."""
    network = model("Swin")
    given = inputs("Swin")
    uniform = trace(network, given, edits=[UsePattern(0, 1, "uniform")])
    seen = plain("Swin").weights(0, 1) > 0
    expected = seen / seen.sum(-1, keepdim=True)
    torch.testing.assert_close(uniform.weights(0, 1), expected, rtol=0, atol=1e-6)
    shift = trace(network, given, edits=[UsePattern(0, 1, "shift", 4)]).weights(0, 1)
    assert shift[5].argmax() == 5  # the token 4 before it is in another window
    assert float(shift.sum()) == len(shift)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_behind(name: str) -> None:
    """The next trace, and the library's own model, are what they were before."""
    before: list[Tensor] = []
    kind = dict(WHERE)[name]
    edits: list[Any] = [case.make(LAYER, kind) for case in CASES.values() if not case.square]
    for given in ((), edits, ()):
        traced = trace(model(name), inputs(name), edits=given).output.values
        with torch.no_grad():
            own = model(name)(**inputs(name))[0]
        before += [traced, own]
    assert before[0].equal(before[4])
    assert before[1].equal(before[3])
    assert before[1].equal(before[5])
    assert not before[0].equal(before[2])
