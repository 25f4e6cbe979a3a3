"""Analyses of edited passes: against plain loops over matrices of the edit."""

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.flow import flow, maximum_flows
from analysis.norms import alti, value_norms
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
from tests.models.pretrained.tiny import BY_NAME
from tests.turns import by_turns

TOKENS = 5
IDS = torch.randint(3, 31, (1, TOKENS), generator=torch.Generator().manual_seed(2))
SIZES: dict[str, Any] = {"dim": 10, "heads": 2, "depth": 3, "mlp": 13, "seed": 1, "vocab": 31}
NETWORKS = {
    "encoder": lambda: load(EncoderConfig(**SIZES)),
    "decoder": lambda: load(DecoderConfig(**SIZES)),
    "Llama": lambda: load(BY_NAME["Llama"].build()),
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
EDITS = [*VALUES, *REST]
EVERY = pytest.mark.parametrize(("name", "edit"), by_turns(zip(NETWORKS, strict=True), EDITS, 3))


@cache
def network(name: str) -> Any:
    return NETWORKS[name]()


@cache
def edit_of(name: str, edit: str) -> Any:
    if edit in VALUES:
        return VALUES[edit][0]
    return {**REST, **CONSTANT}[edit](trace(network(name), OTHER, hidden=True))


@cache
def traced(name: str, edit: str) -> Any:
    return trace(network(name), IDS, hidden=True, edits=[edit_of(name, edit)])


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
    assert made.edited == (edit in VALUES)
    assert not stages(t, site, 0, 4).edited


@EVERY
def test_alti_is_of_the_edited_layer(name: str, edit: str) -> None:
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


@EVERY
def test_rollout_and_flow_follow_the_edited_layer(name: str, edit: str) -> None:
    t = traced(name, edit)
    fusions: dict[Any, Any] = {
        "mean": lambda x: x.mean(0),
        "max": lambda x: x.amax(0),
        "min": lambda x: x.amin(0),
    }
    for fusion, fuse in fusions.items():
        product, layers = torch.eye(TOKENS), []
        for site in t.sites:
            whole = fuse(summed_with(t, site, edit)) + torch.eye(TOKENS)
            layers.append(whole / whole.sum(-1, keepdim=True))
            product = layers[-1] @ product
        torch.testing.assert_close(rollout(t, fusion=fusion), product)
        expected = maximum_flows(layers, 4, range(TOKENS))
        torch.testing.assert_close(flow(t, 4, fusion=fusion), expected)


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
    assert value_norms(t, t.sites[0]).equal(value_norms(plain(name), plain(name).sites[0]))


@cache
def plain(name: str) -> Any:
    return trace(network(name), IDS, hidden=True)
