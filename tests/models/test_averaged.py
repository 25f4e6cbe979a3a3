"""The mean of the weights over prompts of one length."""

from typing import Any

import pytest
import torch

from models.averaged import averaged
from models.edits import Temperature
from models.run import load, trace
from tests.viz.api.asking import ask
from viz.api.endpoint import QuestionError
from viz.api.entries import TraceEntry
from viz.views.head.view import inside

TEXTS = ("the cat saw the dog", "the dog saw the cat", "the old dog saw it")
ROUNDING = 1e-6  # of sums of three float32 numbers below 1, in another order


@pytest.mark.parametrize("edits", [(), (Temperature(0.5, 1),)], ids=["plain", "edited"])
def test_the_mean_is_that_of_a_loop(edits: tuple[Any, ...]) -> None:
    model = load("grammar-next")
    each = [trace(model, text, edits=edits) for text in TEXTS]
    t = averaged(each)
    for layer, head in ((0, 1), (1, 0)):
        expected = sum(one.weights(layer, head).double() for one in each) / len(TEXTS)
        torch.testing.assert_close(t.weights(layer, head).double(), expected, atol=ROUNDING, rtol=0)
    whole = [block.weights for block in t.blocks(t.site(1), head=0)]
    torch.testing.assert_close(torch.cat(whole, 1)[0], t.weights(1, 0), atol=ROUNDING, rtol=0)


def test_a_mean_has_no_queries_keys_and_values() -> None:
    model = load("grammar-next")
    entry = TraceEntry(averaged([trace(model, text) for text in TEXTS]))
    assert {"head", "parts", "lens"} <= ask(entry, "refused").keys()
    with pytest.raises(QuestionError, match="no queries, keys and values"):
        inside(entry, 1, 0, 3, 2)
