"""Norms, ALTI, rollout and flow of plain and edited passes, against sums of what keys add."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.flow import flow
from analysis.norms import alti, contributions, value_norms
from analysis.rollout import rollout
from analysis.stages import stages
from models.decoder import DecoderConfig
from models.edits import (
    Ablate,
    AblateMLP,
    Cut,
    Patch,
    Reference,
    SetWeights,
    Temperature,
    UsePattern,
)
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from tests.models.architectures import BY_NAME
from tests.turns import by_turns

TOKENS = 5
IDS = torch.randint(3, 31, (1, TOKENS), generator=torch.Generator().manual_seed(2))
SIZES: dict[str, Any] = {"dim": 10, "heads": 2, "depth": 3, "mlp": 13, "seed": 1, "vocab": 31}
NETWORKS: dict[str, Callable[[], Any]] = {
    "encoder": lambda: EncoderConfig(**SIZES, value_dim=3),
    "rotary": lambda: EncoderConfig(**SIZES, head_dim=4, norm="pre", positions="rotary"),
    "decoder": lambda: DecoderConfig(**SIZES),
    **{name: BY_NAME[name].build for name in ("BERT", "GPT-2", "Llama")},
}
LAYER, HEAD = 1, 1
SHUFFLED = torch.randperm(TOKENS, generator=torch.Generator().manual_seed(0))
OTHER = IDS.roll(2, 1)
VALUES: dict[str, tuple[Any, Tensor]] = {  # each with the matrix that makes the head's values
    "zero": (Ablate(LAYER, HEAD), torch.zeros(TOKENS, TOKENS)),
    "mean": (Ablate(LAYER, HEAD, "mean"), torch.full((TOKENS, TOKENS), 1 / TOKENS)),
    "shuffled": (Ablate(LAYER, HEAD, "shuffled"), torch.eye(TOKENS)[SHUFFLED]),
}
# of which the weights, or what they are made of, are edited: values are their sums as ever
REST: dict[str, Any] = {
    "cut": lambda t: Cut(LAYER, HEAD, 3, (0, 2)),
    "temperature": lambda t: Temperature(0.3, LAYER, HEAD),
    "cell": lambda t: SetWeights(LAYER, HEAD, (3, 4), 2, 0.5),
    "row that does not sum to 1": lambda t: SetWeights(LAYER, HEAD, 4, 2, 0.5, False),
    "another head": lambda t: UsePattern(LAYER, HEAD, 0),
    "uniform": lambda t: UsePattern(LAYER, HEAD, "uniform"),
    "shift": lambda t: UsePattern(LAYER, HEAD, "shift"),
    "queries": lambda t: Patch(LAYER, "q", t, (2, 3), head=HEAD),
    "values": lambda t: Patch(LAYER, "v", t, (2, 3)),
    "hidden state": lambda t: Patch(LAYER, "hidden", t, (2, 3)),
    "MLP": lambda t: AblateMLP(0),
    "MLP at its mean": lambda t: AblateMLP(LAYER, "mean"),
}
CONSTANT: dict[str, Any] = {  # the new values are no sums of this pass's own
    "noise": lambda t: Ablate(LAYER, HEAD, "noise"),
    "reference": lambda t: Ablate(LAYER, HEAD, "mean", over=Reference.of("other", t)),
    "patched head": lambda t: Patch(LAYER, "head", t, (2, 3), head=HEAD),
}
EDITS = ["none", *VALUES, *REST]
EVERY = pytest.mark.parametrize(("name", "edit"), by_turns(zip(NETWORKS, strict=True), EDITS, 4))


@cache
def network(name: str) -> Any:
    model = load(NETWORKS[name]())
    with torch.no_grad():
        for number, (path, parameter) in enumerate(model.network.named_parameters()):
            if path.endswith("bias"):
                parameter.normal_(0, 0.5, generator=torch.Generator().manual_seed(number))
    return model


@cache
def traced(name: str, edit: str) -> Any:
    edits = [VALUES[edit][0]] if edit in VALUES else []
    if make := {**REST, **CONSTANT}.get(edit):
        edits = [make(trace(network(name), OTHER, hidden=True))]
    return trace(network(name), IDS, hidden=True, edits=edits)


def summed_with(t: Any, site: Any, edit: str) -> Tensor:
    """The weights with which values were summed, by the matrix of the edit."""
    weights = t.weights(site).clone()
    if site.layer == LAYER and edit in VALUES:
        weights[HEAD] = VALUES[edit][1] @ weights[HEAD]
    return weights


def added(t: Any, site: Any, edit: str) -> Tensor:
    """What each key adds to each query in each head, `head query key dim`."""
    maps, weights = t.projections(site), summed_with(t, site, edit)
    values = [t.pattern(site).v[0, maps.kv_head(head)] for head in range(site.heads)]
    written = [v @ maps.output[head].detach() for head, v in enumerate(values)]
    return weights[..., None] * torch.stack(written)[:, None]


@EVERY
def test_value_norms_are_those_of_what_keys_add(name: str, edit: str) -> None:
    """The sum over heads and keys is what the network itself read and wrote: no recipe is used."""
    t = traced(name, edit)
    site = t.sites[LAYER]
    norms = value_norms(t, site)
    torch.testing.assert_close(norms, added(t, site, edit).norm(dim=-1), rtol=1e-4, atol=1e-5)
    made = stages(t, site, HEAD, 4)
    v = t.pattern(site).v[0, t.projections(site).kv_head(HEAD)]
    expected = summed_with(t, site, edit)[HEAD] @ v
    torch.testing.assert_close(made.output, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(made.weights, t.weights(site, HEAD))
    assert made.edited == (edit in VALUES)
    assert not stages(t, site, 0, 4).edited


@EVERY
def test_alti_multiplies_the_layers(name: str, edit: str) -> None:
    t = traced(name, edit)
    product = torch.eye(TOKENS)
    for site in t.sites:
        maps = t.projections(site)
        parts = added(t, site, edit).sum(0)
        parts[range(TOKENS), range(TOKENS)] += t.hidden(site.layer)
        bias = torch.zeros(parts.shape[-1])
        bias = bias if maps.output_bias is None else maps.output_bias.detach()
        whole, norm = parts.sum(1) + bias, maps.residual.norm
        y, shares = whole, parts
        if norm is not None:
            y = norm(whole).detach()
            shares = norm.linear(parts, whole[:, None].expand_as(parts)).detach()
        nearer = (y.abs().sum(-1)[:, None] - (y[:, None] - shares).abs().sum(-1)).clamp(min=0)
        product = nearer / nearer.sum(-1, keepdim=True) @ product
    torch.testing.assert_close(alti(t), product, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("edit", CONSTANT)
@pytest.mark.parametrize("name", NETWORKS)
def test_values_that_are_no_sums_are_refused(name: str, edit: str) -> None:
    """By name, where the head or its layer is asked for; other heads are answered."""
    t = traced(name, edit)
    site = t.sites[LAYER]
    for analysis in (rollout, alti, lambda t: value_norms(t, site), lambda t: flow(t, 4)):
        with pytest.raises(ValueError, match="changes values: they are"):
            analysis(t)
    with pytest.raises(ValueError, match="changes values: they are"):
        stages(t, site, HEAD, 4)
    assert not stages(t, site, 0, 4).edited
    plain = traced(name, "none")
    assert value_norms(t, t.sites[0]).equal(value_norms(plain, plain.sites[0]))


def test_where_the_rule_does_not_hold_one_sentence_says_why() -> None:
    with pytest.raises(ValueError, match="hidden=True"):
        alti(trace(network("encoder"), IDS))
    with pytest.raises(ValueError, match="does not just add its attention to its input"):
        alti(trace(load(BY_NAME["GPT-NeoX"].build()), IDS, hidden=True))
    pair = Seq2SeqConfig(source_vocab=31, target_vocab=31, dim=10, heads=2, d_k=5, d_v=3, depth=2)
    crossed = trace(load(pair), IDS, IDS[:, :3], hidden=True)
    with pytest.raises(ValueError, match="expected self-attention, received cross"):
        contributions(crossed, crossed.site(0, "cross"))
    torch.testing.assert_close(alti(crossed, tower="encoder").sum(-1), torch.ones(TOKENS))
    site = crossed.site(1, "cross")
    expected = added(crossed, site, "none").norm(dim=-1)
    torch.testing.assert_close(value_norms(crossed, site), expected, rtol=1e-4, atol=1e-5)
