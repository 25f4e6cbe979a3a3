"""Projections of our networks: what they give is what the layer computed."""

from typing import Any, Literal

import pytest
import torch

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.decoder import Decoder, DecoderConfig
from models.encoder import EncoderConfig
from models.model import Config
from models.own_origin import OwnOrigin, attention_at
from models.projections import Norm
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.smallest import SmallestConfig
from models.trace import Site, Trace
from models.vit import ViTConfig

SIZES: dict[str, Any] = {"dim": 21, "depth": 2, "heads": 3, "mlp": 17}
IDS = torch.tensor([[5, 9, 2, 9, 7]])
CLOSE = 1e-5  # rounding of float32 sums over a few dozen numbers
OWN: dict[str, Config] = {
    "post": EncoderConfig(**SIZES, norm="post"),
    "pre, fourth root": EncoderConfig(**SIZES, norm="pre", dot_scaling="fourth root"),
    "decoder": DecoderConfig(**SIZES, value_dim=5),
    "rotary": DecoderConfig(**SIZES, head_dim=4, positions="rotary", qkv_bias=False),
    "pair": Seq2SeqConfig(dim=21, depth=2, heads=3, d_k=4, d_v=5, mlp=17),
    "image": ViTConfig(image=16, patch=8, dim=21, heads=3, depth=1),
    "one head": SmallestConfig(dim=5),
}


def traced(name: str) -> Trace:
    config = OWN[name]
    given = torch.randn(1, 3, 16, 16) if isinstance(config, ViTConfig) else IDS
    target = IDS[:, :4] if isinstance(config, Seq2SeqConfig) else None
    model, dice = load(config), torch.Generator().manual_seed(5)
    with torch.no_grad():
        for path, parameter in model.network.named_parameters():
            if path.endswith("bias"):  # which begins at 0
                parameter.normal_(0, 0.5, generator=dice)
    return trace(model, given, target, hidden=True)


def states(done: Trace, site: Site) -> torch.Tensor:
    """What the layer reads, after its norm."""
    x, norm = done.hidden(site.layer, tower=site.tower), done.projections(site).norm
    return x if norm is None else norm(x)


@pytest.mark.parametrize("name", OWN)
def test_heads_are_the_projected_input(name: str) -> None:
    done = traced(name)
    for site in (site for site in done.sites if site.kind != "cross"):
        found, pattern, x = done.projections(site), done.pattern(site), states(done, site)
        for head in range(site.heads):
            one = found.head(head)
            value = x @ one.value + (0 if one.value_bias is None else one.value_bias)
            assert value.allclose(pattern.v[0, head], atol=CLOSE)
            if not found.rotated:
                query = x @ one.query + (0 if one.query_bias is None else one.query_bias)
                key = x @ one.key + (0 if one.key_bias is None else one.key_bias)
                assert query.allclose(pattern.q[0, head], atol=CLOSE)
                assert key.allclose(pattern.k[0, head], atol=CLOSE)


@pytest.mark.parametrize("name", OWN)
def test_heads_sum_to_the_output_of_the_layer(name: str) -> None:
    done = traced(name)
    for site in (site for site in done.sites if site.kind == "self"):
        found, pattern = done.projections(site), done.pattern(site)
        written = (done.weights(site) @ pattern.v[0] @ found.output).sum(0)
        written = written if found.output_bias is None else written + found.output_bias
        assert isinstance(done.origin, OwnOrigin)
        layer = attention_at(done.origin.network, site)
        assert written.allclose(layer(states(done, site)[None])[0][0], atol=CLOSE)


def test_rotary_positions_are_said() -> None:
    assert traced("rotary").projections(1).rotated
    assert not traced("decoder").projections(1).rotated


def test_vocabulary_of_each_tower() -> None:
    done = traced("pair")
    encoder, decoder = (done.projections(done.site(0, kind)) for kind in ("self", "causal"))
    assert encoder.embedding is not None
    assert encoder.unembedding is None
    assert decoder.embedding is decoder.unembedding  # shared
    assert traced("image").projections(0).embedding is None
    separate = trace(load(DecoderConfig(**SIZES, tied=False)), IDS).projections(0)
    assert separate.embedding is not separate.unembedding


def test_a_layer_that_adds_its_values_is_refused() -> None:
    config = MultiHeadAttentionConfig(dim=21, heads=3, value_shortcut=True)
    network = Decoder(DecoderConfig(**SIZES)).eval()
    network.blocks[0].register_module("attention", MultiHeadAttention(config))
    with pytest.raises(ValueError, match=r"layer 0: .*value_shortcut"):
        trace(network, IDS).projections(0)


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_shares_of_parts_sum_to_the_norm(kind: Literal["layer", "rms"]) -> None:
    weight, bias, parts = torch.randn(7), torch.randn(7), torch.randn(5, 3, 7)
    norm, whole = Norm(kind, weight, bias, 1e-5), parts.sum(0)
    if kind == "layer":
        expected = torch.nn.functional.layer_norm(whole, (7,), weight, bias, 1e-5)
    else:
        expected = torch.nn.functional.rms_norm(whole, (7,), weight, 1e-5) + bias
    assert norm(whole).allclose(expected, atol=CLOSE)
    shares = norm.linear(parts, whole.expand(5, -1, -1))
    assert (shares.sum(0) + bias).allclose(expected, atol=CLOSE)
