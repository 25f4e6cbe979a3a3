"""Sweeps: against one whole pass for each head, and gradients times differences in plain loops."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from analysis.effects import Divergence, EmbeddingDistance, Logit, Loss, Probability
from analysis.sweep import checked_sweep, sweep
from models.edits import Ablate, Cut, Temperature
from models.run import trace
from models.trace import Trace
from tests.models.tiny_models import model, plain, source
from tests.turns import by_turns

OWN = ["decoder", "encoder", "encoder–decoder", "vit"]
LIBRARY = ["Llama", "GPT-2", "T5", "BART", "ViT", "Swin"]
KINDS = {"encoder–decoder": "cross", "T5": "cross", "BART": "causal"}
EDITS = ("zero", "mean", "temperature", "cut")


def number(t: Trace) -> Tensor:
    """Of any output."""
    return t.output.values[0].flatten()[-5:].softmax(0)[2]


def of_kind(name: str, edit: str) -> Any:
    kind = KINDS.get(name)
    made: dict[str, Any] = {
        "zero": lambda layer, head: Ablate(layer, head, kind=kind),
        "mean": lambda layer, head: Ablate(layer, head, "mean", kind=kind),
        "temperature": lambda layer, head: Temperature(0.3, layer, head, kind=kind),
        "cut": lambda layer, head: Cut(layer, head, None, 0, kind=kind),
    }
    return made[edit]


def slow_sweep(name: str, edit: Any, measure: Any) -> Tensor:
    """One whole pass for each head."""
    clean = plain(name)
    sites = [site for site in clean.sites if KINDS.get(name) in (None, site.kind)]
    found = torch.full((len(sites), max(site.heads for site in sites)), torch.nan)
    for row, site in enumerate(sites):
        for head in range(site.heads):
            t = trace(model(name), *source(name), edits=[edit(site.layer, head)])
            found[row, head] = float(measure(t)) - float(measure(clean))
    return found


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        *by_turns(zip(OWN, strict=True), EDITS, 2),
        *by_turns(zip(LIBRARY, strict=True), EDITS, len(EDITS)),
    ],
)
def test_an_exact_sweep_is_one_pass_a_head(name: str, edit: str) -> None:
    make = of_kind(name, edit)
    found = sweep(model(name), *source(name), edit=make, measure=number, kind=KINDS.get(name))
    expected = slow_sweep(name, make, number)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6, equal_nan=True)


def test_the_largest_attributions_are_swept_exactly() -> None:
    decoder, (read, _), measure = model("decoder"), source("decoder"), Probability(7)
    found = checked_sweep(decoder, read, edit=Ablate, measure=measure, top=4)
    rough = sweep(decoder, read, edit=Ablate, measure=measure, how="attribution")
    exact = sweep(decoder, read, edit=Ablate, measure=measure)
    assert found.attribution.equal(rough)
    largest = rough.abs().flatten().topk(4).indices
    shown = ~found.exact.isnan()
    assert sorted(shown.flatten().nonzero().flatten().tolist()) == sorted(largest.tolist())
    torch.testing.assert_close(found.exact[shown], exact[shown])


def test_measures_are_those_of_torch() -> None:
    t, both = plain("decoder"), source("decoder")[0]
    logits = t.output.values[1]
    assert Logit(7, 2, item=1)(t) == pytest.approx(float(logits[2, 7]))
    assert Logit(7, 2, versus=3, item=1)(t) == pytest.approx(float(logits[2, 7] - logits[2, 3]))
    assert Probability(7, item=1)(t) == pytest.approx(float(logits[-1].softmax(-1)[7]))
    row = tuple(both[1].tolist())
    expected = F.cross_entropy(logits[:-1], both[1, 1:])
    assert Loss(row, item=1)(t) == pytest.approx(float(expected))
    late = F.cross_entropy(logits[2:-1], both[1, 3:])
    assert Loss(row, 3, item=1)(t) == pytest.approx(float(late))
    other = trace(model("decoder"), both, edits=[Ablate(0, 0)])
    p, q = (x.output.values[1, -1].log_softmax(-1) for x in (t, other))
    expected = F.kl_div(q, p, log_target=True, reduction="sum")
    assert Divergence(t, item=1)(other) == pytest.approx(float(expected), rel=1e-4)
    shown = plain("vit")
    assert Probability(3)(shown) == pytest.approx(float(shown.output.values[0].softmax(-1)[3]))


@pytest.mark.usefixtures("unchecked_shapes")
def test_what_cannot_be_swept_is_refused() -> None:
    read, clean = source("decoder")[0], plain("decoder")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"how": "guess"}, "how: expected one of exact, attribution"),
        ({"measure": Divergence(clean), "how": "attribution"}, "has no slope where it is 0"),
        ({"measure": lambda t: 1.0, "how": "attribution"}, "expected a measure of the output"),
        ({"measure": Logit(31)}, "id: expected 0 to 30"),
        ({"edit": lambda layer, head: Ablate(7, head)}, "layer"),
        ({"kind": "cross"}, "of one of: causal"),
    ]
    for other, line in wrong:
        with pytest.raises(ValueError, match=line):
            sweep(model("decoder"), read, **{"edit": Ablate, "measure": number, **other})
    pair = "encoder–decoder"
    with pytest.raises(ValueError, match="causal of decoder, cross of decoder, self of encoder"):
        sweep(model(pair), *source(pair), edit=Ablate, measure=number)


def embedding(t: Trace, token: int | None) -> Tensor:
    states = t.output.values[0].double()
    return states.mean(0) if token is None else states[token]


@pytest.mark.parametrize(("name", "token"), [("ViT", 0), ("encoder", None)])
def test_how_far_the_embedding_moves_without_each_head(name: str, token: int | None) -> None:
    clean = plain(name)
    assert clean.output.name == "hidden states"
    measure = EmbeddingDistance(clean, token)
    found = sweep(model(name), *source(name), edit=Ablate, measure=measure)
    before = embedding(clean, token)
    for site in clean.sites:
        for head in range(site.heads):
            edited = trace(model(name), *source(name), edits=[Ablate(site.layer, head)])
            apart = 1 - float(F.cosine_similarity(before, embedding(edited, token), dim=0))
            assert float(found[site.layer, head]) == pytest.approx(apart, rel=1e-3, abs=1e-9)
