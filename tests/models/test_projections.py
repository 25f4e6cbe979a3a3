"""Projections: what they make of a layer's input is what the layer computed, in every network."""

from functools import cache
from typing import Any, Literal

import pytest
import torch
from torch import Tensor

from models.attention import MultiHeadAttention, MultiHeadAttentionConfig
from models.decoder import Decoder, DecoderConfig
from models.encoder import EncoderConfig
from models.model import Config
from models.own_origin import attention_at
from models.projections import Norm, Projections
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.smallest import SmallestConfig
from models.trace import Site, Trace
from models.vit import ViTConfig
from tests.models.architectures import ARCHITECTURES, BY_NAME, GROUPED, build, ids

SIZES: dict[str, Any] = {"dim": 21, "depth": 2, "heads": 3, "mlp": 17}
IDS = torch.tensor([[5, 9, 2, 9, 7]])
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}  # of float32 states through two layers
OWN: dict[str, Config] = {
    "post": EncoderConfig(**SIZES, norm="post"),
    "pre, fourth root": EncoderConfig(**SIZES, norm="pre", dot_scaling="fourth root"),
    "decoder": DecoderConfig(**SIZES, value_dim=5),
    "rotary": DecoderConfig(**SIZES, head_dim=4, positions="rotary", qkv_bias=False),
    "pair": Seq2SeqConfig(dim=21, depth=2, heads=3, d_k=4, d_v=5, mlp=17),
    "image": ViTConfig(image=16, patch=8, dim=21, heads=3, depth=1),
    "one head": SmallestConfig(dim=5),
}
REFUSED = ("DeepSeek-V3", "Qwen3-Next", "Swin")
LIBRARY = [each.name for each in ARCHITECTURES if each.name not in REFUSED]


@cache
def traced(name: str) -> tuple[Any, Trace]:
    """A network, and a trace of one item without padding."""
    if name in OWN:
        config, dice = OWN[name], torch.Generator().manual_seed(5)
        given = torch.randn(1, 3, 16, 16) if isinstance(config, ViTConfig) else IDS
        target = IDS[:, :4] if isinstance(config, Seq2SeqConfig) else None
        network: Any = load(config).network
        with torch.no_grad():
            for path, parameter in network.named_parameters():
                if path.endswith("bias"):  # which begins at 0
                    parameter.normal_(0, 0.5, generator=dice)
        return network, trace(network, given, target, hidden=True)
    if name == "Phi-3":  # one matrix of grouped heads
        network = build("Phi3ForCausalLM", "Phi3Config", GROUPED)
        return network, trace(network, ids(1, 11), hidden=True)
    inputs = {key: value[:1] for key, value in BY_NAME[name].inputs().items()}
    network = BY_NAME[name].build()
    return network, trace(network, inputs, hidden=True)


def read(t: Trace, site: Site, found: Projections) -> Tensor:
    """What keys and values are made of: the layer's normed input, or the encoder's output."""
    if site.kind == "cross":
        return t.final(tower="encoder")
    x = t.hidden(site.layer, tower=site.tower)
    return x if found.norm is None else found.norm(x)


@pytest.mark.parametrize("name", [*OWN, *LIBRARY, "Phi-3"])
@torch.no_grad()
def test_heads_are_the_projected_input(name: str) -> None:
    """Rotated queries and keys keep their lengths, which a constant factor changes."""
    _, t = traced(name)
    for site in t.sites:
        if name == "YOLOS" and site.layer:
            continue  # it adds positions between its blocks
        found, pattern = t.projections(site), t.pattern(site)
        x = read(t, site, found)
        assert found.heads == site.heads
        for head in range(site.heads):
            one, kv = found.head(head), found.kv_head(head)
            assert kv == head * pattern.k.shape[1] // site.heads
            made = {
                "q": (x @ one.query, one.query_bias, pattern.q[0, head], found.query_norm),
                "k": (x @ one.key, one.key_bias, pattern.k[0, kv], found.key_norm),
                "v": (x @ one.value, one.value_bias, pattern.v[0, kv], None),
            }
            for part, (vectors, bias, expected, norm) in made.items():
                vectors = vectors if bias is None else vectors + bias
                if (part == "q" and site.kind == "cross") or norm is not None:
                    continue
                if part != "v" and found.rotated:
                    vectors, expected = vectors.norm(dim=-1), expected.norm(dim=-1)
                torch.testing.assert_close(vectors, expected, **CLOSE)


@pytest.mark.parametrize("name", OWN)
def test_heads_sum_to_the_output_of_the_layer(name: str) -> None:
    network, t = traced(name)
    for site in (site for site in t.sites if site.kind == "self"):
        found, pattern = t.projections(site), t.pattern(site)
        written = (t.weights(site) @ pattern.v[0] @ found.output).sum(0)
        written = written if found.output_bias is None else written + found.output_bias
        layer = attention_at(network, site)
        torch.testing.assert_close(written, layer(read(t, site, found)[None])[0][0], **CLOSE)


@pytest.mark.parametrize(("family", "size"), [("Qwen3", 8), ("Olmo2", 48)])
def test_norms_of_queries(family: str, size: int) -> None:
    network = build(f"{family}ForCausalLM", f"{family}Config", {**GROUPED, "head_dim": 8})
    found = trace(network, ids(1, 11)).projections(1)
    weight = network.model.layers[1].self_attn.q_norm.weight
    assert found.query_norm is not None
    assert found.query_norm.weight is weight
    assert weight.shape == (size,)
    assert found.key_norm is not None


def test_rotary_positions_are_said() -> None:
    rotated = {name: traced(name)[1].projections(-1).rotated for name in ("rotary", "decoder")}
    assert rotated == {"rotary": True, "decoder": False}


@pytest.mark.parametrize("name", ["pair", "T5", "BART"])
def test_only_a_decoder_s_sites_end_in_logits(name: str) -> None:
    """The encoder reads the same table of vectors, and predicts nothing."""
    _, t = traced(name)
    encoding, own = (t.projections(t.site(0, kind)) for kind in ("self", "causal"))
    assert encoding.embedding is not None
    assert encoding.unembedding is None
    assert own.embedding is own.unembedding  # shared
    assert traced("image")[1].projections(0).embedding is None
    separate = trace(load(DecoderConfig(**SIZES, tied=False)), IDS).projections(0)
    assert separate.embedding is not separate.unembedding


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_linear_map_makes_is_refused_by_name(name: str) -> None:
    """Low-rank keys, values that pass a gate, windows."""
    t = trace(BY_NAME[name].build(), BY_NAME[name].inputs())
    for site in t.sites:
        with pytest.raises(ValueError, match=str(site.module)):
            t.projections(site)


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
    shares = norm.linear(parts, whole.expand(5, -1, -1)).sum(0)
    torch.testing.assert_close(shares + bias, norm(whole), **CLOSE)
