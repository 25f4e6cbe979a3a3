"""Analyses of edited passes: against plain loops over matrices of the edit."""

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.flow import flow, maximum_flows
from analysis.norms import alti, mixing, value_norms
from analysis.rollout import rollout
from analysis.stages import stages
from models.decoder import DecoderConfig
from models.edits import Ablate, Cut, Temperature
from models.encoder import EncoderConfig
from models.run import load, trace
from tests.models.pretrained.tiny import BY_NAME

IDS = torch.randint(3, 31, (1, 7), generator=torch.Generator().manual_seed(2))
SIZES: dict[str, Any] = {"dim": 10, "heads": 2, "depth": 3, "mlp": 13, "seed": 1, "vocab": 31}
NETWORKS = {
    "encoder": lambda: load(EncoderConfig(**SIZES)),
    "decoder": lambda: load(DecoderConfig(**SIZES)),
    "Llama": lambda: load(BY_NAME["Llama"].build()),
}
LAYER, HEAD = 1, 1
SHUFFLED = torch.randperm(7, generator=torch.Generator().manual_seed(0))
EDITS: dict[str, tuple[Any, Tensor]] = {  # each with the matrix that makes the head's values
    "zero": (Ablate(LAYER, HEAD), torch.zeros(7, 7)),
    "mean": (Ablate(LAYER, HEAD, "mean"), torch.full((7, 7), 1 / 7)),
    "shuffled": (Ablate(LAYER, HEAD, "shuffled"), torch.eye(7)[SHUFFLED]),
    "cut": (Cut(LAYER, HEAD, 3, (0, 2)), torch.eye(7)),
    "temperature": (Temperature(0.3, LAYER, HEAD), torch.eye(7)),
}
EVERY = pytest.mark.parametrize(("name", "edit"), [(n, e) for n in NETWORKS for e in EDITS])


@cache
def network(name: str) -> Any:
    return NETWORKS[name]()


@cache
def traced(name: str, edit: str) -> Any:
    return trace(network(name), IDS, hidden=True, edits=[EDITS[edit][0]])


def summed_with(t: Any, site: Any, edit: str) -> Tensor:
    """The weights with which values were summed, by the matrix of the edit."""
    weights = t.weights(site).clone()
    if site.layer == LAYER:
        weights[HEAD] = EDITS[edit][1] @ weights[HEAD]
    return weights


def added(t: Any, site: Any, edit: str) -> Tensor:
    """What each key adds to each query in each head, `head query key dim`."""
    maps, weights = t.projections(site), summed_with(t, site, edit)
    values = [t.pattern(site).v[0, maps.kv_head(head)] for head in range(site.heads)]
    written = [v @ maps.output[head].detach() for head, v in enumerate(values)]
    return weights[..., None] * torch.stack(written)[:, None]


@EVERY
def test_what_keys_add_sums_to_what_the_pass_added(name: str, edit: str) -> None:
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
    assert made.edited == (edit in ("zero", "mean", "shuffled"))
    assert not stages(t, site, 0, 4).edited


@EVERY
def test_mixing_and_alti_are_of_the_edited_layer(name: str, edit: str) -> None:
    t = traced(name, edit)
    product = torch.eye(7)
    for site in t.sites:
        maps = t.projections(site)
        parts = added(t, site, edit).sum(0)
        parts[range(7), range(7)] += t.hidden(site.layer)
        bias = torch.zeros(parts.shape[-1])
        bias = bias if maps.output_bias is None else maps.output_bias.detach()
        whole, norm = parts.sum(1) + bias, maps.residual.norm
        y, shares = whole, parts
        if norm is not None:
            y = norm(whole).detach()
            shares = norm.linear(parts, whole[:, None].expand_as(parts)).detach()
        found = mixing(t, site).norms
        torch.testing.assert_close(found, shares.norm(dim=-1), rtol=1e-3, atol=1e-4)
        nearer = (y.abs().sum(-1)[:, None] - (y[:, None] - shares).abs().sum(-1)).clamp(min=0)
        product = nearer / nearer.sum(-1, keepdim=True) @ product
    torch.testing.assert_close(alti(t), product, rtol=1e-3, atol=1e-4)


@EVERY
@pytest.mark.parametrize("fusion", ["mean", "max", "min"])
def test_rollout_and_flow_follow_the_edited_layer(name: str, edit: str, fusion: Any) -> None:
    t = traced(name, edit)
    product, layers = torch.eye(7), []
    for site in t.sites:
        weights = summed_with(t, site, edit)
        fused = {"mean": weights.mean(0), "max": weights.amax(0), "min": weights.amin(0)}[fusion]
        whole = fused + torch.eye(7)
        layers.append(whole / whole.sum(-1, keepdim=True))
        product = layers[-1] @ product
    torch.testing.assert_close(rollout(t, fusion=fusion), product)
    torch.testing.assert_close(flow(t, 4, fusion=fusion), maximum_flows(layers, 4, range(7)))


@pytest.mark.parametrize("name", NETWORKS)
def test_without_attention_tokens_keep_to_themselves(name: str) -> None:
    t = trace(network(name), IDS, hidden=True, edits=[Ablate(None, None)])
    alone = torch.eye(7)
    for site in t.sites:
        assert not value_norms(t, site).any()
        norms = mixing(t, site).norms
        assert not (norms - norms.diag().diag()).any()
    torch.testing.assert_close(alti(t), alone)
    torch.testing.assert_close(rollout(t), alone)


def test_an_edit_that_does_not_say_what_it_makes_is_refused() -> None:
    class Doubled:
        layer = kind = None

        def edit_values(self, values: Tensor, pattern: Any) -> Tensor:
            return 2 * values

    t = trace(network("encoder"), IDS, hidden=True, edits=[Doubled()])
    for analysis in (rollout, alti):
        with pytest.raises(ValueError, match="changes values: expected an edit that says"):
            analysis(t)
