"""Loss and accuracy at several k on the Architecture page, without a browser."""

import math
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


def words(app):
    return " ".join(element.value for element in app.markdown)


def test_a_trained_network_is_measured_on_held_out_items_of_its_task():
    bars, curve = helpers.specs(opened(preset="trained-shapes"))
    assert "held-out items of its task" in curve["layout"]["title"]["text"]
    assert float(bars["data"][0]["text"][0]) > 0.9  # its card says so of every held-out item


def test_an_untrained_one_is_as_good_as_chance():
    app = opened(preset="small-vit", image="16", weight="2.5", ks="1 3 5")
    assert "chance: ln 10 = 2.303" in words(app)
    bars, curve = helpers.specs(app)
    shares = [float(text) for text in bars["data"][0]["text"]]
    count = int(re.findall(r"(\d+) answers", curve["layout"]["title"]["text"])[0])
    for share, k in zip(shares, (1, 3, 5), strict=True):
        assert abs(share - k / 10) < 5 * math.sqrt(k / 10 * (1 - k / 10) / count)
    loss, weighted = (float(text) for text in re.findall(r"\*\*(\d\.\d{3})\*\*", words(app)))
    assert weighted == pytest.approx(2.5 * loss, abs=2e-3)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({}, "This network has no classes"),
        ({"preset": "small-vit", "classes": "0"}, "This network has no classes"),
        ({"preset": "small-vit", "image": "16", "ks": "one"}, "expected up to 6 whole numbers"),
        ({"preset": "small-vit", "image": "16", "ks": "0 3"}, "expected up to 6 whole numbers"),
    ],
)
def test_what_cannot_be_measured_gets_one_line(query, says):
    app = opened(**query)
    (line,) = helpers.lines(app)
    assert says in line
    assert helpers.link(app) == {"run": "score"} | query


@pytest.mark.parametrize("preset", ["small-decoder", "small-seq2seq"])
def test_language_models_are_measured_on_every_next_token(preset):
    app = opened(preset=preset, tokens="5")
    assert not helpers.lines(app)
    assert len(helpers.specs(app)) == 2


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
