"""Options that the networks share: scoring, scale, shortcut, biases, dropouts, kind of norm."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from analysis.circuits import MATCHING, circuit_scores
from analysis.pair import pair
from models.attention import Mask, MultiHeadAttentionConfig
from models.blocks import DECODER_BLOCKS, NORMS, drop_path_of, norm_of
from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.projections import Norm
from models.run import load, trace
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.vit import ViT, ViTConfig

SIZES: dict[str, Any] = {"dim": 35, "heads": 5, "depth": 3, "mlp": 47, "dropout": 0.25}
NETWORKS: dict[str, tuple[Any, Any]] = {
    "encoder": (Encoder, EncoderConfig(vocab=53, **SIZES)),
    "decoder": (Decoder, DecoderConfig(vocab=53, **SIZES)),
    "seq2seq": (
        Seq2Seq,
        Seq2SeqConfig(source_vocab=53, target_vocab=53, d_k=7, d_v=7, **SIZES),
    ),
    "vit": (ViT, ViTConfig(image=21, patch=7, **SIZES)),
}
LAYERS = {"encoder": 3, "decoder": 3, "seq2seq": 9, "vit": 3}


def attentions(network: nn.Module) -> list[Any]:
    return [part for part in network.modules() if type(part).__name__ == "MultiHeadAttention"]


def output(name: str, network: Any) -> torch.Tensor:
    dice = torch.Generator().manual_seed(5)
    if name == "vit":
        return network(torch.randn(2, 3, 21, 21, generator=dice)).result[1]
    ids = torch.randint(3, 53, (2, 11), generator=dice)
    return network(*[ids] * (2 if name == "seq2seq" else 1)).result[1]


@pytest.mark.parametrize("name", NETWORKS)
def test_every_layer_is_given_the_options(name: str) -> None:
    kind, config = NETWORKS[name]
    given = {"scoring": "dot", "scale": 0.4, "out_bias": False, "projection_dropout": 0.1}
    given |= {"output_dropout": 0.3, "value_shortcut": True}
    layers = attentions(kind(replace(config, attention_dropout=0.0, **given)))
    assert len(layers) == LAYERS[name]
    for number, layer in enumerate(layers):
        # the last three blocks of an encoder–decoder have a causal and a cross-attention each
        cross = name == "seq2seq" and number in (4, 6, 8)
        expected = given | ({"value_shortcut": False} if cross else {})
        assert {field: getattr(layer.config, field) for field in given} == expected
        assert layer.config.dropout == 0
        assert layer.out.bias is None
    assert attentions(kind(config))[0].config.dropout == 0.25


@pytest.mark.parametrize("scoring", ["bilinear", "additive"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_learned_score_trains_in_every_layer(name: str, scoring: str) -> None:
    kind, config = NETWORKS[name]
    network = kind(replace(config, scoring=scoring))
    output(name, network).square().sum().backward()
    weights = [next(layer.scoring.parameters()) for layer in attentions(network)]
    assert len(weights) == LAYERS[name]
    assert all(each.grad is not None and each.grad.abs().max() > 0 for each in weights)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_norm_is_of_the_kind(name: str) -> None:
    kind, config = NETWORKS[name]
    more = {"patch_norm": True} if name == "vit" else {}
    for norm in ("pre", "post"):
        network = kind(replace(config, norm=norm, norm_kind="rms", **more))
        found = [type(part) for part in network.modules() if type(part) in NORMS.values()]
        assert set(found) == {nn.RMSNorm}
        assert output(name, network).isfinite().all()


def test_a_norm_by_hand() -> None:
    """(3, 4): the mean of squares is 12.5; the mean is 3.5 and the deviation 0.5."""
    x = torch.tensor([[3.0, 4.0]])
    rms, layer = norm_of("rms", 2, eps=0.0), norm_of("layer", 2, eps=0.0)
    assert rms(x)[0].tolist() == pytest.approx([3 / 12.5**0.5, 4 / 12.5**0.5], rel=1e-6)
    assert layer(x)[0].tolist() == pytest.approx([-1.0, 1.0], rel=1e-5)
    for each in (rms, layer):
        nn.init.normal_(each.weight)
        assert Norm.of(each)(x).allclose(each(x), atol=1e-6)
    with pytest.raises(ValueError, match="norm_kind: expected one of layer, rms, received 'batch'"):
        norm_of("batch", 2)


@pytest.mark.parametrize("name", NETWORKS)
def test_layers_are_skipped_more_often_the_deeper_they_are(name: str) -> None:
    kind, config = NETWORKS[name]
    network = kind(replace(config, drop_path=0.4))
    blocks = network.blocks
    if name == "seq2seq":
        assert [block.drop_path.probability for block in network.encoder.blocks] == [0, 0.2, 0.4]
    assert [block.drop_path.probability for block in blocks] == [0, 0.2, 0.4]
    assert drop_path_of(0.4, 0, 1) == 0


@pytest.mark.parametrize("name", NETWORKS)
def test_defaults_are_the_networks_they_were(name: str) -> None:
    """No option takes a random number unless it is chosen: the weights of a seed stay the same."""
    kind, config = NETWORKS[name]
    first, second = kind(config), kind(replace(config, scale=0.3, attention_dropout=0.5))
    pairs = zip(first.parameters(), second.parameters(), strict=True)
    assert all(one.equal(other) for one, other in pairs)


@pytest.mark.parametrize("scoring", ["bilinear", "additive"])
def test_a_trace_of_a_learned_score(scoring: str) -> None:
    """A pair's steps end at its weight; what needs a dot product says that there is none."""
    config = EncoderConfig(vocab=53, scoring=scoring, value_shortcut=False, **SIZES)
    found = trace(load(config), torch.tensor([[5, 9, 2, 7, 11]]))
    steps = pair(found, found.sites[1], 3, 1, 4).steps
    assert steps[-1].value == pytest.approx(float(found.weights(1, 3)[1, 4]), rel=1e-4)
    assert "learned score" in circuit_scores(found, found.sites[0], {})[1][MATCHING]


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("encoder", {"scoring": "cosine"}, "scoring: expected one of dot, bilinear, additive"),
        ("decoder", {"value_shortcut": True, "head_dim": 6}, "value_shortcut: expected heads"),
        ("seq2seq", {"value_shortcut": True, "d_v": 6}, "value_shortcut: expected heads"),
        ("seq2seq", {"drop_path": 1.0}, "drop_path: expected 0 up to 1, received 1.0"),
        ("seq2seq", {"norm_kind": "batch"}, "norm_kind: expected one of layer, rms"),
        ("vit", {"attention_dropout": 1.5}, "attention_dropout: expected 0 up to 1, received 1.5"),
        ("vit", {"norm_kind": "batch"}, "norm_kind: expected one of layer, rms"),
        ("encoder", {"drop_path": 1.0}, "drop_path: expected 0 up to 1, received 1.0"),
    ],
)
def test_config_errors(name: str, wrong: dict, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        replace(NETWORKS[name][1], **wrong)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_decoder_block_that_skips_its_branches(norm: str) -> None:
    """Pre-norm leaves the target as it is; post-norm leaves three norms, here with β = 0, γ = 1."""
    attention = MultiHeadAttentionConfig(dim=21, heads=3)
    block = DECODER_BLOCKS[norm](attention, 17, drop_path=0.999)
    dice = torch.Generator().manual_seed(29)
    x, context = torch.randn(2, 5, 21, generator=dice), torch.randn(2, 7, 21, generator=dice)
    assert (block.eval()(x, context)[0] - x).abs().max() > 0.01
    with torch.random.fork_rng():
        torch.manual_seed(1)
        found = block.train()(x, context)[0]
    once = nn.LayerNorm(21)
    expected = x if norm == "pre" else once(once(once(x)))
    assert (found - expected).abs().max() < 1e-6  # rounding


def test_an_encoder_decoder_with_shortcuts() -> None:
    """With an output projection of zeros, self-attention gives its values, cross-attention none."""
    kind, config = NETWORKS["seq2seq"]
    network = kind(replace(config, value_shortcut=True)).eval()
    block, x = network.blocks[0], torch.randn(2, 5, config.dim)
    for each in (block.attention, block.cross):
        nn.init.zeros_(each.out.weight)
        nn.init.zeros_(each.out.bias)
    found, _ = block.attention(x, mask=Mask(causal=True))
    assert found.allclose(block.attention.value(x))
    assert not block.cross(x, x)[0].any()
    assert output("seq2seq", network).isfinite().all()
