"""Norms of what tokens add against plain loops, and against the network's own output."""

from functools import cache
from typing import Any

import pytest
import torch

from analysis.norms import alti, contributions, value_norms
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.vit import ViTConfig
from tests.models.pretrained.tiny import BY_NAME

IDS = torch.randint(3, 31, (1, 7), generator=torch.Generator().manual_seed(2))
SIZES: dict[str, Any] = {"dim": 10, "heads": 2, "depth": 2, "mlp": 13, "seed": 1}
OURS = {
    "post": EncoderConfig(**SIZES, vocab=31, value_dim=3),
    "pre, rotary": EncoderConfig(**{**SIZES, "heads": 1}, vocab=31, norm="pre", positions="rotary"),
    "decoder": DecoderConfig(**SIZES, vocab=31),
    "image": ViTConfig(image=12, patch=4, dim=20, heads=2, depth=2, mlp=13),
}
LIBRARY = ("BERT", "GPT-2", "Llama", "BART", "T5", "ViT")


@cache
def traced(name: str) -> Any:
    if name not in OURS:
        inputs = {key: value[:1] for key, value in BY_NAME[name].inputs().items()}
        return trace(load(BY_NAME[name].build()), inputs, hidden=True)
    model = load(OURS[name])
    with torch.no_grad():
        for number, (path, parameter) in enumerate(model.network.named_parameters()):
            if path.endswith("bias"):
                parameter.normal_(0, 0.5, generator=torch.Generator().manual_seed(number))
    pixels = torch.randn(1, 3, 12, 12, generator=torch.Generator().manual_seed(4))
    return trace(model, pixels if name == "image" else IDS, hidden=True)


def added(t, site):
    """y_ij by loops, before the norm: `query key dim`."""
    maps, weights = t.projections(site), t.weights(site)
    heads, queries, keys = weights.shape
    found = torch.zeros(queries, keys, maps.output.shape[-1])
    for head in range(heads):
        value = t.pattern(site).v[0, maps.kv_head(head)]
        for i in range(queries):
            for j in range(keys):
                found[i, j] += weights[head, i, j] * (value[j] @ maps.output[head].detach())
    if site.kind == "cross":
        return found
    stream = t.hidden(site.layer, tower=site.tower)
    for i in range(queries):
        found[i, i] += stream[i]
    return found


def normed(norm, part, whole):
    return part if norm is None else norm.linear(part, whole).detach()


@pytest.mark.parametrize("name", [*OURS, *LIBRARY])
def test_value_norms_by_loops(name):
    t = traced(name)
    for site in t.sites:
        maps, weights = t.projections(site), t.weights(site)
        found = value_norms(t, site)
        for head in range(site.heads):
            value = t.pattern(site).v[0, maps.kv_head(head)]
            for i in range(2):
                for j in range(weights.shape[-1]):
                    vector = weights[head, i, j] * (value[j] @ maps.output[head].detach())
                    assert float(found[head, i, j]) == pytest.approx(
                        float(vector.norm()), rel=1e-4, abs=1e-6
                    )


@pytest.mark.parametrize("name", [*OURS, *LIBRARY])
def test_contributions_sum_to_the_layer_s_output_and_are_those_of_loops(name):
    t = traced(name)
    tower = "encoder" if name in ("BART", "T5") else None
    for site in [site for site in t.sites if site.kind != "cross" and site.tower == tower]:
        maps = t.projections(site)
        assert maps.residual is not None
        bias = 0 if maps.output_bias is None else maps.output_bias.detach()
        parts = added(t, site)
        whole = parts.sum(1) + bias
        norm = maps.residual.norm
        shares = normed(norm, parts, whole[:, None].expand_as(parts))
        y = whole if norm is None else norm(whole).detach()
        after = 0 if norm is None or norm.bias is None else norm.bias.detach()
        # Σ_j y_ij and the biases are the output
        total = shares.sum(1) + normed(norm, torch.as_tensor(bias) + 0 * whole, whole) + after
        torch.testing.assert_close(total, y, rtol=1e-4, atol=1e-4)
        nearer = y.abs().sum(-1)[:, None] - (y[:, None] - shares).abs().sum(-1)
        expected = nearer.clamp(min=0)
        expected = expected / expected.sum(-1, keepdim=True)
        torch.testing.assert_close(contributions(t, site), expected, rtol=1e-3, atol=1e-4)


def test_alti_multiplies_the_layers():
    t = traced("post")
    expected = contributions(t, 1) @ contributions(t, 0)
    torch.testing.assert_close(alti(t), expected)
    torch.testing.assert_close(alti(t).sum(-1), torch.ones(7))


def test_where_the_rule_does_not_hold_one_sentence_says_why():
    t = traced("post")
    plain = trace(load(OURS["post"]), IDS)
    with pytest.raises(ValueError, match="hidden=True"):
        alti(plain)
    parallel = load(BY_NAME["GPT-NeoX"].build())
    inputs = {key: value[:1] for key, value in BY_NAME["GPT-NeoX"].inputs().items()}
    with pytest.raises(ValueError, match="does not just add its attention to its input"):
        alti(trace(parallel, inputs, hidden=True))
    with pytest.raises(ValueError, match="layer: expected one of"):
        contributions(t, 5)
    pair = Seq2SeqConfig(source_vocab=31, target_vocab=31, dim=10, heads=2, d_k=5, d_v=3, depth=2)
    crossed = trace(load(pair), IDS, IDS[:, :3], hidden=True)
    with pytest.raises(ValueError, match="expected self-attention, received cross"):
        contributions(crossed, crossed.site(0, "cross"))
    assert alti(crossed, tower="encoder").shape == (7, 7)
