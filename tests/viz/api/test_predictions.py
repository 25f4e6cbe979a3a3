"""What is predicted at each of several masks."""

import pytest

from models.request import TraceRequest
from models.run import load, trace
from tests.viz.api.asking import ask
from viz.api import tracing

TWO_MASKS = "the [MASK] near the girls [MASK] happy"


def masked(token: int | None) -> dict:
    request = TraceRequest(tracing.of_catalogue("grammar"), TWO_MASKS)
    entry = tracing.entry_for(request).value
    return ask(entry, "predictions", 0, "out", token)


@pytest.mark.parametrize(
    ("token", "mask", "place"), [(None, 0, 2), (2, 0, 2), (6, 1, 6), (3, None, 3)]
)
def test_the_answer_at_one_of_several_masks_says_which(token, mask, place) -> None:
    answer = masked(token)
    assert (answer["mask"], answer["masks"]) == (mask, [2, 6])
    logits = trace(load("grammar"), TWO_MASKS).output.values[0, place]
    assert answer["probabilities"][0] == pytest.approx(float(logits.softmax(-1).max()), rel=1e-5)


def test_one_mask_needs_no_number() -> None:
    request = TraceRequest(tracing.of_catalogue("grammar"), "the girl [MASK] happy")
    assert ask(tracing.entry_for(request).value, "predictions", 0, "out")["masks"] == []
