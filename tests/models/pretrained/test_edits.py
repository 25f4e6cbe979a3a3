"""Edits and gradients through the second door, against attention written out."""

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from benchmarks.architectures import ARCHITECTURES, BATCH
from models.edits import Ablate, Cut, Temperature
from models.run import Trace, trace
from tests.models.library import eager, written

EXACT = 1e-5  # float32 through two layers whose scores reach 50
BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}
WHERE = [  # grouped heads, windows, caps, sinks, biases, three kinds of attention
    ("BERT", "self"),
    ("GPT-2", "causal"),
    ("Llama", "causal"),
    ("Mistral", "causal"),
    ("Gemma 2", "causal"),
    ("GPT-OSS", "causal"),
    ("DeepSeek-V3", "causal"),
    ("T5", "self"),
    ("T5", "causal"),
    ("T5", "cross"),
    ("BART", "cross"),
    ("DINOv2 with registers", "self"),
    ("BEiT", "self"),
]
HEADS = (0, 2)


@cache
def model(name: str) -> Any:
    return BY_NAME[name].build()


def inputs(name: str) -> dict[str, Tensor]:
    """Without padding: what an edit does to it has a test of its own."""
    given = BY_NAME[name].inputs()
    given.pop("attention_mask", None)
    return given


def call_of(found: Trace, layer: int, kind: str) -> int:
    return next(i for i, s in enumerate(found.sites) if (s.layer, s.kind) == (layer, kind))


def agree(name: str, edit: Any, kind: str, **change: Any) -> Trace:
    """The edited trace is the pass written out with the same change in one call."""
    given = inputs(name)
    found = trace(model(name), given, edits=[edit])
    call = call_of(found, 1, kind)
    where, do = next(iter(change.items()))
    changes = {where: lambda index, x: do(x.clone()) if index == call else x}
    with torch.no_grad():
        expected = written(model(name), given, **changes)
    for site, theirs in zip(found.sites, expected.weights, strict=True):
        for item in range(BATCH):
            mine = found.weights(site.layer, kind=site.kind, item=item)
            assert (mine - theirs[item]).abs().max() < EXACT
    largest = float(expected.output[0].abs().max())
    assert (found.output.values - expected.output[0]).abs().max() < EXACT * max(1.0, largest)
    plain = trace(model(name), given).output.values
    assert (found.output.values - plain).abs().max() > 1e-3, "the edit changed nothing"
    return found


@pytest.mark.parametrize(("name", "kind"), WHERE)
def test_temperature(name: str, kind: str) -> None:
    def change(scores: Tensor) -> Tensor:
        scores[:, HEADS] /= 0.3
        return scores

    agree(name, Temperature(0.3, 1, HEADS, kind), kind, scores=change)


@pytest.mark.parametrize(("name", "kind"), WHERE)
def test_cut(name: str, kind: str) -> None:
    def change(scores: Tensor) -> Tensor:
        for query in (3, 5):
            for head in HEADS:
                scores[:, head, query, 2] = -torch.inf
        return scores

    agree(name, Cut(1, HEADS, (3, 5), 2, kind), kind, scores=change)


@pytest.mark.parametrize(("name", "kind"), WHERE)
@pytest.mark.parametrize("how", ["zero", "mean"])
def test_ablate(name: str, kind: str, how: Any) -> None:
    def change(values: Tensor) -> Tensor:
        mine = values[:, HEADS]
        values[:, HEADS] = 0.0 if how == "zero" else mine.mean(2, keepdim=True).expand_as(mine)
        return values

    agree(name, Ablate(1, HEADS, how, kind), kind, values=change)


def test_an_edit_of_windows() -> None:
    """Swin: heads by their number, tokens by their place in the image, not in their window."""
    given = inputs("Swin")

    def hot(call: int, scores: Tensor) -> Tensor:
        return torch.cat([scores[:, :1], scores[:, 1:] / 0.3], 1) if call == 1 else scores

    def cut(call: int, scores: Tensor) -> Tensor:
        if call == 0:  # tokens (0, 5) and (1, 6) of 12 × 12: slots 1 and 6 of the second window
            scores = scores.clone()
            scores[1::9, 1, 1, 6] = -torch.inf
        return scores

    for edit, change in ((Temperature(0.3, 1, 1), hot), (Cut(0, 1, 5, 18), cut)):
        found = trace(model("Swin"), given, edits=[edit])
        with torch.no_grad():
            expected = written(model("Swin"), given, scores=change).output.last_hidden_state
        assert (found.output.values - expected).abs().max() < EXACT
        plain = trace(model("Swin"), given).output.values
        assert (found.output.values - plain).abs().max() > 1e-3


def test_the_mean_leaves_padding_out() -> None:
    given = BY_NAME["BERT"].inputs()
    found = trace(model("BERT"), given, edits=[Ablate(1, 0, "mean")])
    alone = {name: value[1:, :7] for name, value in given.items()}
    expected = trace(model("BERT"), alone, edits=[Ablate(1, 0, "mean")])
    assert (found.output.values[1, :7] - expected.output.values[0]).abs().max() < EXACT


@pytest.mark.parametrize("name", ["BERT", "Llama", "T5", "BEiT", "Swin"])
def test_gradients(name: str) -> None:
    """By the weights of every site, as the library's own weights have them."""
    given = inputs(name)
    expected = eager(model(name), given)
    number = expected.output[0].square().sum()
    gradients = torch.autograd.grad(number, expected.weights)
    found = trace(model(name), given, gradient=lambda out: out.values.square().sum())
    for site, theirs in zip(found.sites, gradients, strict=True):
        if name == "Swin":
            mine = found.pattern(site.layer).gradient()
            assert torch.isfinite(mine).all()
            # each block keeps its own cells: the sums over all of them are the same
            weights = found.pattern(site.layer).weights()
            assert float((mine * weights).sum()) == pytest.approx(
                float((theirs * expected.weights[site.layer]).sum().detach()), rel=1e-3, abs=1e-2
            )
            continue
        for item in range(BATCH):
            mine = found.gradient(site.layer, kind=site.kind, item=item)
            off = (mine - theirs[item]).abs().max()
            assert off < 1e-4 * theirs.abs().max()  # backwards through two layers of float32
