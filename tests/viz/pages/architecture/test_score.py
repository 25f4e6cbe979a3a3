"""Loss and accuracy at several k on the Architecture page, without a browser."""

import re

import pytest
import torch
from sklearn.metrics import top_k_accuracy_score

from models.output import target_ranks
from tests.viz.pages import helpers
from viz.pages.architecture import score
from viz.pages.architecture.presets import PAGE


def opened(**query):
    return helpers.run(PAGE, {"run": "score"} | query, timeout=120)


def test_a_trained_network_is_measured_on_held_out_items_of_its_task():
    app = opened(preset="trained-shapes", weight="2.5")
    bars, curve = helpers.specs(app)
    assert "held-out items of its task" in curve["layout"]["title"]["text"]
    assert float(bars["data"][0]["text"][0]) > 0.9  # its card says so of every held-out item
    words = " ".join(element.value for element in app.markdown)
    assert "chance: ln 6 = 1.792" in words
    loss, weighted = (float(text) for text in re.findall(r"\*\*(\d\.\d{3})\*\*", words))
    assert weighted == pytest.approx(2.5 * loss, abs=2e-3)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({}, "This network is untrained"),
        ({"preset": "trained-shapes", "ks": "one"}, "expected up to 6 whole numbers"),
        ({"preset": "trained-shapes", "ks": "0 3"}, "expected up to 6 whole numbers"),
    ],
)
def test_what_cannot_be_measured_gets_one_line(query, says):
    app = opened(**query)
    (line,) = helpers.lines(app)
    assert says in line
    assert helpers.link(app) == {"run": "score"} | query


def test_ks_in_order_and_never_more_than_there_are_classes():
    assert score.chosen("5, 1 3 3", 4) == (1, 3, 4)


def test_ranks_give_scikit_learns_accuracy_at_every_k():
    dice = torch.Generator().manual_seed(3)
    logits = torch.randn(211, 7, generator=dice)
    target = torch.randint(7, (211,), generator=dice)
    ranks = target_ranks(logits, target)
    for k in range(1, 7):
        theirs = top_k_accuracy_score(target, logits.numpy(), k=k, labels=list(range(7)))
        assert float((ranks <= k).double().mean()) == pytest.approx(theirs)
    assert int(ranks.max()) <= 7
