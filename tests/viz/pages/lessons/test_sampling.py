"""Sampling and the cache: probabilities of the network itself, and costs in closed form."""

import re

import pytest
import torch

from models.run import load
from tests.viz.pages.lessons.pages import errors, run, words


def columns(said: str) -> tuple[list[float], list[float], list[int]]:
    """The three charts: the network's probabilities, those that are drawn from, and draws."""
    first, second, third = re.findall(
        r"The network (.*?) Drawn from (.*?) 1,000 draws (.*?) tokens that", said
    )[0]
    floats = [[float(n) for n in re.findall(r"\d\.\d{4}", part)] for part in (first, second)]
    return floats[0], floats[1], [int(n) for n in re.findall(r"(?<![\d.])\d+(?![\d.])", third)]


@pytest.mark.parametrize("temperature", [0.2, 1.0, 3.0])
def test_the_probabilities_are_the_networks(temperature: float) -> None:
    model = load("grammar-next")
    assert model.tokenizer is not None
    ids = torch.tensor([model.tokenizer.encode("the king saw the queen because").ids])
    with torch.no_grad():
        logits = model.network.eval()(ids).logits[0, -1].double()
    order = logits.argsort(descending=True)[:10]
    before, after, drawn = columns(words(run("sampling", temperature=temperature)))
    assert before == pytest.approx(logits.softmax(-1)[order].tolist(), abs=6e-5)
    assert after == pytest.approx((logits / temperature).softmax(-1)[order].tolist(), abs=6e-5)
    assert len(drawn) == 10
    assert sum(drawn) <= 1000


def test_top_k_and_top_p_cut_the_tail_off() -> None:
    before, after, drawn = columns(words(run("sampling", k=3)))
    assert after[:3] == pytest.approx([each / sum(before[:3]) for each in before[:3]], abs=2e-4)
    assert after[3:] == [0] * 7
    assert sum(drawn[:3]) == 1000
    said = words(run("sampling", p=0.9))
    kept = next(n for n in range(1, 11) if sum(before[:n]) >= 0.9)
    assert f"tokens that can be drawn {kept} of 155" in said


@pytest.mark.parametrize(("tokens", "dim", "depth"), [(512, 768, 12), (2, 8, 1)])
def test_costs(tokens: int, dim: int, depth: int) -> None:
    said = words(run("sampling", tokens=tokens, dim=dim, depth=depth))
    row = 12 * dim**2 + 2 * tokens * dim  # 4 d² of attention, 8 d² of the feed-forward network
    without, cached = (depth * new * row + 50_000 * dim for new in (tokens, 1))
    assert f"without a cache {without:,} 0" in said
    assert f"with a cache {cached:,} {2 * depth * tokens * dim:,}" in said
    (apart,) = re.findall(r"differ by at most ([\d.e+-]+)", said)
    assert float(apart) < 1e-5


def test_nothing_to_go_on_from() -> None:
    assert any("received none" in line for line in errors(run("sampling", start=" ")))
