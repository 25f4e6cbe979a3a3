"""A list of prompts: one at a time, and the mean of their weights."""

from typing import Any

import pytest
import torch

from models.averaged import averaged
from models.edits import Temperature
from models.request import Several, Source, TraceRequest
from models.run import load, trace
from models.tracing import run
from tests.viz.api.asking import ask
from tests.viz.pages import helpers
from viz.api import tracing
from viz.api.endpoint import QuestionError
from viz.views.head.view import inside

TEXTS = ("the cat saw the dog", "the dog saw the cat", "the old dog saw it")
LONGER = "the old dog saw the cat"
SOURCE = Source("catalogue", "grammar-next")
ROUNDING = 1e-6  # of sums of three float32 numbers below 1, in another order


def slow_mean(layer: int, head: int, **options: Any) -> torch.Tensor:
    """The mean by a plain loop, in double precision."""
    model = load("grammar-next")
    count = len(trace(model, TEXTS[0]).tokens[0])
    mean = torch.zeros(count, count, dtype=torch.float64)
    for each in TEXTS:
        weights = trace(model, each, **options).weights(layer, head)
        for query in range(count):
            for key in range(count):
                mean[query, key] += float(weights[query, key]) / len(TEXTS)
    return mean


@pytest.mark.parametrize("edits", [(), (Temperature(0.5, 1),)], ids=["plain", "edited"])
def test_the_mean_is_that_of_a_loop(edits: tuple[Any, ...]) -> None:
    request = TraceRequest(SOURCE, Several(TEXTS), edits=edits)
    t = run(request, load("grammar-next"))
    for layer, head in ((0, 1), (1, 0)):
        expected = slow_mean(layer, head, edits=edits)
        torch.testing.assert_close(t.weights(layer, head).double(), expected, atol=ROUNDING, rtol=0)
    whole = [block.weights for block in t.blocks(t.site(1), head=0)]
    torch.testing.assert_close(torch.cat(whole, 1)[0], t.weights(1, 0), atol=ROUNDING, rtol=0)


def test_a_mean_has_no_queries_keys_and_values() -> None:
    entry = tracing.entry_for(
        TraceRequest(tracing.of_catalogue("grammar-next"), Several(TEXTS))
    ).value
    assert {"head", "parts", "lens"} <= ask(entry, "refused").keys()
    with pytest.raises(QuestionError, match="no queries, keys and values"):
        inside(entry, 1, 0, 3, 2)


def opened(lines: str, **query: str) -> Any:
    return helpers.run("explore", {"model": "grammar-next", "input": lines} | query)


def labels(app: Any) -> list[str]:
    entry = helpers.view(app, "text")
    held = tracing.registry.get(entry["trace"])
    return list(held.value.view.labels)


def test_the_page_shows_the_mean_or_says_why_not() -> None:
    app = opened("\n".join(TEXTS), prompts="mean")
    assert labels(app)[2] == "token 2"
    app = opened(f"{TEXTS[0]}\n{LONGER}", prompts="mean")
    assert any("No mean of prompts of 6 to 7 tokens" in line for line in helpers.lines(app))
    assert labels(app)[1:] == f"{TEXTS[0]} {LONGER}".split()


def beside(app: Any, name: str) -> Any:
    """The weights of layer 1 of what stands beside the mean."""
    return tracing.registry.get(helpers.view(app, "text")[name]["trace"]).value.view.weights(1)


def test_a_prompt_or_another_mean_beside_the_mean() -> None:
    app = opened("\n".join(TEXTS), prompts="mean", second=LONGER)
    assert helpers.lines(app) == []
    assert not helpers.view(app, "text")["other"]["mean"]
    assert beside(app, "other").equal(trace(load("grammar-next"), LONGER).weights(1))
    second = TEXTS[1], TEXTS[2]
    app = opened("\n".join(TEXTS), prompts="mean", second="\n".join(second))
    assert helpers.view(app, "text")["other"]["mean"]
    expected = averaged([trace(load("grammar-next"), each) for each in second]).weights(1)
    torch.testing.assert_close(beside(app, "other"), expected, atol=ROUNDING, rtol=0)
    app = opened("\n".join(TEXTS), prompts="mean", second=f"{TEXTS[0]}\n{LONGER}")
    (line,) = helpers.lines(app)
    assert "the same number of tokens, received 6 to 7" in line
    assert "other" not in helpers.view(app, "text")
