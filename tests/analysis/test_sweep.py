"""Sweeps: against one whole pass for each head, and gradients times differences in plain loops."""

from functools import cache
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from analysis.effects import Divergence, EmbeddingDistance, Logit, Loss, Probability
from analysis.sweep import checked_sweep, sweep
from models.decoder import DecoderConfig
from models.edits import Ablate, Cut, Temperature
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.trace import Trace
from models.vit import ViTConfig
from tests.models.architectures import BY_NAME
from tests.turns import by_turns

SIZES: dict[str, Any] = {"dim": 21, "depth": 3, "heads": 3, "mlp": 17}
PAIR: dict[str, Any] = {"dim": 21, "depth": 2, "heads": 3, "d_k": 4, "d_v": 5, "mlp": 17}
IDS = torch.tensor([[5, 9, 2, 9, 7, 8]])
PICTURE = torch.rand(1, 3, 8, 8, generator=torch.Generator().manual_seed(1))
OWN: dict[str, tuple[Any, Any, Any]] = {
    "decoder": (DecoderConfig(**SIZES, vocab=31), IDS, None),
    "encoder": (EncoderConfig(**SIZES, vocab=31, classes=31), IDS, None),
    "pair": (Seq2SeqConfig(**PAIR), IDS, IDS[:, :5]),
    "picture": (ViTConfig(**SIZES, image=8, patch=4, classes=31), PICTURE, None),
}
LIBRARY = ["Llama", "GPT-2", "T5", "BART", "ViT", "Swin"]
KINDS: dict[str, str] = {"pair": "cross", "T5": "cross", "BART": "causal"}
EDITS = ("zero", "mean", "temperature", "cut")


@cache
def given(name: str) -> tuple[Any, Any, Any]:
    if name in OWN:
        config, read, target = OWN[name]
        return load(config), read, target
    each = BY_NAME[name]
    return load(each.build()), each.inputs(), None


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
    model, read, target = given(name)
    clean = trace(model, read, target)
    sites = [site for site in clean.sites if KINDS.get(name) in (None, site.kind)]
    found = torch.full((len(sites), max(site.heads for site in sites)), torch.nan)
    for row, site in enumerate(sites):
        for head in range(site.heads):
            t = trace(model, read, target, edits=[edit(site.layer, head)])
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
    model, read, target = given(name)
    make = of_kind(name, edit)
    found = sweep(model, read, target, edit=make, measure=number, kind=KINDS.get(name))
    expected = slow_sweep(name, make, number)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6, equal_nan=True)


def test_the_largest_attributions_are_swept_exactly() -> None:
    model, read, _ = given("decoder")
    measure = Probability(7)
    found = checked_sweep(model, read, edit=Ablate, measure=measure, top=4)
    rough = sweep(model, read, edit=Ablate, measure=measure, how="attribution")
    exact = sweep(model, read, edit=Ablate, measure=measure)
    assert found.attribution.equal(rough)
    largest = rough.abs().flatten().topk(4).indices
    shown = ~found.exact.isnan()
    assert sorted(shown.flatten().nonzero().flatten().tolist()) == sorted(largest.tolist())
    torch.testing.assert_close(found.exact[shown], exact[shown])


def test_measures_are_those_of_torch() -> None:
    model, _, _ = given("decoder")
    both = torch.tensor([[5, 9, 2, 9, 7, 8], [3, 4, 5, 6, 7, 9]])
    t = trace(model, both)
    logits = t.output.values[1]
    assert Logit(7, 2, item=1)(t) == pytest.approx(float(logits[2, 7]))
    assert Logit(7, 2, versus=3, item=1)(t) == pytest.approx(float(logits[2, 7] - logits[2, 3]))
    assert Probability(7, item=1)(t) == pytest.approx(float(logits[-1].softmax(-1)[7]))
    row = tuple(both[1].tolist())
    expected = F.cross_entropy(logits[:-1], both[1, 1:])
    assert Loss(row, item=1)(t) == pytest.approx(float(expected))
    late = F.cross_entropy(logits[2:-1], both[1, 3:])
    assert Loss(row, 3, item=1)(t) == pytest.approx(float(late))
    other = trace(model, both, edits=[Ablate(0, 0)])
    p, q = (x.output.values[1, -1].log_softmax(-1) for x in (t, other))
    expected = F.kl_div(q, p, log_target=True, reduction="sum")
    assert Divergence(t, item=1)(other) == pytest.approx(float(expected), rel=1e-4)
    picture, read, _ = given("picture")
    shown = trace(picture, read)
    assert Probability(3)(shown) == pytest.approx(float(shown.output.values[0].softmax(-1)[3]))


@pytest.mark.usefixtures("unchecked_shapes")
def test_what_cannot_be_swept_is_refused() -> None:
    model, read, _ = given("decoder")
    clean = trace(model, read)
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
            sweep(model, read, **{"edit": Ablate, "measure": number, **other})
    pair, source, target = given("pair")
    with pytest.raises(ValueError, match="causal of decoder, cross of decoder, self of encoder"):
        sweep(pair, source, target, edit=Ablate, measure=number)


STATES: dict[str, tuple[Any, Any, int | None]] = {
    "class token": (ViTConfig(**SIZES, image=8, patch=4, classes=0), PICTURE, 0),
    "mean of a text": (EncoderConfig(**SIZES, vocab=31), IDS, None),
}


def embedding(t: Trace, token: int | None) -> Tensor:
    states = t.output.values[0].double()
    return states.mean(0) if token is None else states[token]


@pytest.mark.parametrize("name", STATES)
def test_how_far_the_embedding_moves_without_each_head(name: str) -> None:
    config, read, token = STATES[name]
    model = load(config)
    clean = trace(model, read)
    assert clean.output.name == "hidden states"
    found = sweep(model, read, edit=Ablate, measure=EmbeddingDistance(clean, token))
    before = embedding(clean, token)
    for layer in range(3):
        for head in range(3):
            after = embedding(trace(model, read, edits=[Ablate(layer, head)]), token)
            apart = 1 - float(F.cosine_similarity(before, after, dim=0))
            assert float(found[layer, head]) == pytest.approx(apart, rel=1e-3, abs=1e-9)
