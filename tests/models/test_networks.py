"""What every network here does, and the options that they share."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.blocks import NORMS, drop_path_of
from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.positional import POSITIONS
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.vit import ViT, ViTConfig
from tests.models.devices import DEVICES
from tests.models.torch_weights import block_weights, decoder_block_weights, part_of

SIZES: dict[str, Any] = {"dim": 70, "heads": 5, "depth": 3, "mlp": 53, "dropout": 0.25, "seed": 2}
TEXT: dict[str, Any] = {"max_tokens": 31, **SIZES}
NETWORKS: dict[str, tuple[Any, Any]] = {
    "encoder": (Encoder, EncoderConfig(vocab=101, **TEXT)),
    "decoder": (Decoder, DecoderConfig(vocab=101, **TEXT)),
    "seq2seq": (
        Seq2Seq,
        Seq2SeqConfig(source_vocab=101, target_vocab=101, d_k=14, d_v=14, **TEXT),
    ),
    "vit": (ViT, ViTConfig(image=(15, 20), patch=(3, 5), classes=11, **SIZES)),
}
TEXTS = ("encoder", "decoder", "seq2seq")
LAYERS = {"encoder": 3, "decoder": 3, "seq2seq": 9, "vit": 3}
ROUNDING = 1e-5  # float32 through six blocks: hidden states up to 4
EPS = 1e-3


def built(name: str, **changes: Any) -> Any:
    kind, config = NETWORKS[name]
    return kind(replace(config, **changes)).eval()


def inputs_of(name: str, batch: int = 2) -> tuple[Tensor, ...]:
    """Pixels; or eleven ids, after a source of thirteen; 0, 1 and 2 are not among them."""
    dice = torch.Generator().manual_seed(5)
    if name == "vit":
        return (torch.randn(batch, 3, 15, 20, generator=dice),)
    lengths = (13, 11) if name == "seq2seq" else (11,)
    return tuple(torch.randint(3, 101, (batch, length), generator=dice) for length in lengths)


def result(network: Any, inputs: tuple[Tensor, ...]) -> Tensor:
    """Its logits; of an encoder its last states. Ids of 0 are padding."""
    return passed(network, inputs).result[1]


def passed(network: Any, inputs: tuple[Tensor, ...]) -> Any:
    if isinstance(network, (Encoder, Decoder)):
        return network(*inputs, padding=inputs[0] == 0)
    return network(*inputs)


def attentions(network: nn.Module) -> list[Any]:
    return [part for part in network.modules() if type(part).__name__ == "MultiHeadAttention"]


# --- seeds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_a_seed_repeats_and_another_differs(name: str) -> None:
    """Whatever the global state, which is left as it is."""
    first = dict(built(name).named_parameters())
    with torch.random.fork_rng():
        torch.manual_seed(1)
        before = torch.get_rng_state()
        again, other = (dict(built(name, seed=seed).named_parameters()) for seed in (2, 3))
        assert torch.get_rng_state().equal(before)
    for key, weights in first.items():
        assert weights.equal(again[key])
        if weights.ndim == 2 and not key.startswith("head"):
            assert not weights.equal(other[key])


@pytest.mark.parametrize("name", NETWORKS)
def test_dropout_only_while_training(name: str) -> None:
    network, inputs = built(name, dropout=0.5), inputs_of(name)
    quiet = result(network, inputs)
    assert quiet.equal(result(network, inputs))
    assert (result(network.train(), inputs) - quiet).abs().max() > 0.05


# --- torch's own stacks -----------------------------------------------------------------------


def torch_stack(layer: Any, stack: Any, last: bool, norm: str, activation: str) -> Any:
    """A stack of torch's layers with random weights."""
    sizes = {"batch_first": True, "norm_first": norm == "pre", "layer_norm_eps": EPS}
    more = {"enable_nested_tensor": False} if stack is nn.TransformerEncoder else {}
    one = layer(70, 5, 53, activation=activation, **sizes)
    found = stack(one, 3, nn.LayerNorm(70, EPS) if last else None, **more).eval()
    for parameter in found.parameters():
        nn.init.normal_(parameter, std=0.2)
    return found


def copy(stack: Any, network: Any, block_weights: Any, norm: str) -> None:
    """Gives the blocks and the last norm of a network the weights of torch's stack."""
    state = stack.state_dict()
    for layer, block in enumerate(network.blocks):
        block.load_state_dict(block_weights(part_of(state, f"layers.{layer}."), norm))
    network.norm.load_state_dict(part_of(state, "norm."))


def later_than_each(tokens: int) -> Tensor:
    return torch.ones(tokens, tokens, dtype=torch.bool).triu(1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_one_stack_equals_torchs(name: str, norm: str, activation: str, device: str) -> None:
    network = built(name, norm=norm, activation=activation, eps=EPS)
    last = not isinstance(network.norm, nn.Identity)
    theirs = torch_stack(nn.TransformerEncoderLayer, nn.TransformerEncoder, last, norm, activation)
    copy(theirs, network, block_weights, norm)
    [ids] = inputs_of(name)
    ids[1, 7:] = 0
    x = network.embed(ids) if name == "encoder" else network.embedding(ids)
    mask = later_than_each(11) if name == "decoder" else None
    # Gradients on: torch's layer takes its plain path, which pads nothing away
    expected = theirs(x, mask=mask, src_key_padding_mask=ids == 0)
    found = passed(network.to(device), (ids.to(device),)).hidden.cpu()
    assert (found - expected)[ids != 0].abs().max() < 1e-5 * expected.abs().max()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_two_stacks_equal_torchs(norm: str, last: bool, activation: str, device: str) -> None:
    changes = {"norm": norm, "last_norm": last, "activation": activation, "eps": EPS}
    network = built("seq2seq", embed_norm=False, **changes)
    more = (last, norm, activation)
    encoder = torch_stack(nn.TransformerEncoderLayer, nn.TransformerEncoder, *more)
    decoder = torch_stack(nn.TransformerDecoderLayer, nn.TransformerDecoder, *more)
    copy(encoder, network.encoder, block_weights, norm)
    copy(decoder, network, decoder_block_weights, norm)
    source, target = inputs_of("seq2seq")
    source[0, 8:] = 0
    target[1, 6:] = 0
    expected = decoder(
        network.embedding(target),
        encoder(network.encoder.embed(source), src_key_padding_mask=source == 0),
        tgt_mask=later_than_each(11),
        tgt_key_padding_mask=target == 0,
        memory_key_padding_mask=source == 0,
    )
    found = network.to(device)(source.to(device), target.to(device)).hidden.cpu()
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()


# --- what must not matter ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("norm", "positions"),
    [("post", "sinusoidal"), ("pre", "rotary"), ("post", "alibi"), ("pre", "relative")],
)
@pytest.mark.parametrize("name", TEXTS)
def test_padding_changes_nothing(name: str, norm: str, positions: str) -> None:
    """An item in a padded batch is what it is alone; to padding, every weight is zero."""
    network, inputs = built(name, norm=norm, positions=positions), inputs_of(name)
    lengths = (6, 7)[-len(inputs) :]
    for ids, length in zip(inputs, lengths, strict=True):
        ids[1, length:] = 0
    together = passed(network, inputs)
    own = tuple(ids[1:, :length] for ids, length in zip(inputs, lengths, strict=True))
    alone = passed(network, own)
    assert (together.result[1][1:, : lengths[-1]] - alone.result[1]).abs().max() < ROUNDING
    first = tuple(ids[:1] for ids in inputs)
    assert (together.result[1][:1] - result(network, first)).abs().max() < ROUNDING
    for batched, single in zip(together.patterns, alone.patterns, strict=True):
        weights = batched.weights(item=1)[:, : single.queries]
        assert (weights[..., : single.keys] - single.weights(item=0)).abs().max() < ROUNDING
        assert weights[..., single.keys :].eq(0).all()


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("name", ["decoder", "seq2seq"])
def test_later_tokens_change_nothing(name: str, positions: str, norm: str) -> None:
    network, inputs = built(name, positions=positions, norm=norm), inputs_of(name)
    logits, last = result(network, inputs), inputs[-1]
    for token in (0, 4, 9):
        other = torch.cat([last[:, : token + 1], last[:, token + 1 :].flip(0, 1)], 1)
        moved = (result(network, (*inputs[:-1], other)) - logits).abs()
        assert moved[:, : token + 1].max() < ROUNDING
        assert moved[:, token + 1 :].max() > 1e-3


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("name", TEXTS)
def test_order_matters_only_by_position(name: str, positions: str) -> None:
    """Of what the last token sees: all of the source, or in one layer the tokens before it."""
    network, inputs = built(name, positions=positions, depth=1), inputs_of(name)
    first = inputs[0]
    turned = torch.cat([first[:, :-1].flip(1), first[:, -1:]], 1)
    change = result(network, (turned, *inputs[1:]))[:, -1] - result(network, inputs)[:, -1]
    assert change.abs().max() < ROUNDING if positions == "none" else change.abs().max() > 1e-3


@pytest.mark.parametrize("name", TEXTS)
def test_rows_without_a_key(name: str) -> None:
    """−∞ leaves them without weight; under −10⁹ they are rows of equal scores."""
    inputs = inputs_of(name)
    inputs[0][1] = 0
    empty, even = (passed(built(name, mask_fill=fill), inputs) for fill in (None, -1e9))
    rows = 13 if name == "seq2seq" else 11
    assert empty.patterns[-1].weights(item=1).eq(0).all()
    assert (even.patterns[-1].weights(item=1) - 1 / rows).abs().max() < 1e-6
    assert empty.patterns[-1].empty_rows() == 5 * 11
    assert empty.result[1].isfinite().all()
    assert (even.result[1][0] - empty.result[1][0]).abs().max() < ROUNDING


@pytest.mark.parametrize("name", ["encoder", "seq2seq"])
def test_the_embedding_of_padding_stays_zero(name: str) -> None:
    """Through training, too; every other embedding is what it is without a padding id."""
    network = built(name, **({"padding": 0} if name == "encoder" else {"share_source": False}))
    parts = [part for part in network.modules() if isinstance(part, nn.Embedding)]
    before = [part.weight.detach().clone() for part in parts]
    inputs = inputs_of(name)
    for ids in inputs:
        ids[0, 5:] = 0
    result(network.train(), inputs).square().sum().backward()
    torch.optim.SGD(network.parameters(), lr=0.1).step()
    for part, old, ids in zip(parts, before, inputs, strict=True):
        assert part.weight[0].eq(0).all()
        assert not part.weight[ids[1, 0]].equal(old[ids[1, 0]])
    if name == "encoder":
        assert before[0][1:].equal(built(name).tokens.weight[1:])


# --- shared options ---------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", NETWORKS)
def test_every_norm_is_of_the_kind(name: str) -> None:
    kind, config = NETWORKS[name]
    more = {"patch_norm": True} if name == "vit" else {}
    for norm in ("pre", "post"):
        network = kind(replace(config, norm=norm, norm_kind="rms", **more))
        found = [type(part) for part in network.modules() if type(part) in NORMS.values()]
        assert set(found) == {nn.RMSNorm}
        assert result(network, inputs_of(name)).isfinite().all()


@pytest.mark.parametrize("name", NETWORKS)
def test_layers_are_skipped_more_often_the_deeper_they_are(name: str) -> None:
    kind, config = NETWORKS[name]
    network = kind(replace(config, drop_path=0.4))
    blocks = network.blocks
    if name == "seq2seq":
        assert [block.drop_path.probability for block in network.encoder.blocks] == [0, 0.2, 0.4]
    assert [block.drop_path.probability for block in blocks] == [0, 0.2, 0.4]
    assert drop_path_of(0.4, 0, 1) == 0
