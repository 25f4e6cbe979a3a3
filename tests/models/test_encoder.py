"""The encoder: its config, its seed, and what must not matter to it."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from models.encoder import Encoder, EncoderConfig
from models.positional import sinusoidal
from tests.models.devices import DEVICES
from tests.models.reference import plain_encoder

SMALL = EncoderConfig(vocab=101, dim=35, depth=3, heads=5, mlp=53, max_tokens=31, seed=2)
ROUNDING = 5e-6  # hidden states up to 4 after three layers of float32


def ids_of(batch: int = 2, tokens: int = 11) -> Tensor:
    return torch.randint(101, (batch, tokens), generator=torch.Generator().manual_seed(7))


def built(**changes: Any) -> Encoder:
    return Encoder(replace(SMALL, **changes)).eval()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"vocab": 0}, "vocab: expected at least 1, received 0"),
        ({"depth": 0}, "depth: expected at least 1, received 0"),
        ({"mlp": 0}, "mlp: expected at least 1, received 0"),
        ({"max_tokens": 0}, "max_tokens: expected at least 1, received 0"),
        ({"dim": 0}, "expected positive dim, heads and head_dim, received 0, 5 and None"),
        ({"heads": 0}, "received 35, 0 and None"),
        ({"head_dim": -1}, "received 35, 5 and -1"),
        ({"heads": 4}, r"heads must divide dim: expected one of .* for dim 35, received 4"),
        ({"activation": "swish"}, "activation: expected one of relu, gelu.*, received 'swish'"),
        ({"norm": "rms"}, "norm: expected one of post, pre, received 'rms'"),
        ({"positions": "random"}, "positions: expected one of sinusoidal.*, received 'random'"),
        ({"positions": "rotary"}, "rotary: expected an even head width, received 7"),
        ({"dropout": 1.0}, "dropout: expected 0 up to 1, received 1.0"),
        ({"dropout": -0.1}, "dropout: expected 0 up to 1, received -0.1"),
        ({"segments": -1}, "segments: expected at least 0, received -1"),
        ({"eps": 0.0}, "eps: expected a number above 0, received 0.0"),
    ],
)
def test_config_errors(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **{"segments": 2} | wrong)


def test_published_shape() -> None:
    config = EncoderConfig(vocab=1000, dim=300, depth=6, heads=5, mlp=100)
    ids = torch.randint(1000, (2, 100), generator=torch.Generator().manual_seed(1))
    out = Encoder(config).eval()(ids)
    assert out.hidden.shape == (2, 100, 300)
    assert len(out.patterns) == 6
    assert [state.shape for state in out.states] == [(2, 100, 300)] * 7
    assert all(pattern.weights(0).shape == (2, 100, 100) for pattern in out.patterns)


@pytest.mark.parametrize("device", DEVICES)
def test_equals_the_written_out_encoder(device: str) -> None:
    network = built()
    expected = plain_encoder(network, ids_of())
    found = network.to(device)(ids_of().to(device))
    allowed = ROUNDING if device == "cpu" else 10 * ROUNDING  # a GPU adds up in another order
    assert (found.hidden.cpu() - expected.hidden).abs().max() < allowed
    for pattern, weights in zip(found.patterns, expected.weights, strict=True):
        assert (pattern.weights().cpu() - weights).abs().max() < allowed


# --- seeds ------------------------------------------------------------------------------------


def test_a_seed_repeats_and_another_differs() -> None:
    first, again, other = (dict(built(seed=s).named_parameters()) for s in (2, 2, 3))
    for name, weights in first.items():
        assert weights.equal(again[name])
        if weights.ndim == 2:
            assert not weights.equal(other[name])


def test_blocks_differ_from_each_other() -> None:
    blocks = [dict(block.named_parameters()) for block in built().blocks]
    for name in ("attention.query.weight", "attention.out.weight", "feed_forward.up.weight"):
        assert not blocks[0][name].equal(blocks[1][name])
        assert not blocks[1][name].equal(blocks[2][name])


def test_building_leaves_the_global_dice_alone() -> None:
    before = torch.get_rng_state()
    built()
    assert torch.get_rng_state().equal(before)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        first = built()
        torch.manual_seed(2)
        assert built().tokens.weight.equal(first.tokens.weight)


def test_untrained_heads_differ() -> None:
    weights = built()(ids_of()).patterns[0].weights()
    for head in range(1, 5):
        assert (weights[:, head] - weights[:, 0]).abs().max() > 0.05


# --- what must not matter ---------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_padding_changes_nothing(norm: str) -> None:
    """An item in a padded batch is what it is alone, whatever stands in the padding."""
    network = built(norm=norm)
    ids = ids_of()
    padding = torch.zeros(2, 11, dtype=torch.bool)
    padding[1, 7:] = True
    together, alone = network(ids, padding=padding), network(ids[1:, :7])
    assert (together.hidden[1:, :7] - alone.hidden).abs().max() < ROUNDING
    for batched, single in zip(together.patterns, alone.patterns, strict=True):
        weights = batched.weights()[1:]
        assert (weights[:, :, :7, :7] - single.weights()).abs().max() < ROUNDING
        assert weights[..., 7:].eq(0).all()
    other = ids.clone()
    other[1, 7:] = 0
    assert network(other, padding=padding).hidden[1, :7].equal(together.hidden[1, :7])


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned"])
def test_order_matters_only_by_position(kind: str) -> None:
    network = built(positions=kind)
    ids = ids_of(1)
    order = torch.randperm(11, generator=torch.Generator().manual_seed(3))
    plain, permuted = network(ids).hidden[:, order], network(ids[:, order]).hidden
    if kind == "none":
        assert (permuted - plain).abs().max() < ROUNDING
    else:
        assert (permuted - plain).abs().max() > 0.1


def test_dropout_only_while_training() -> None:
    network = built(dropout=0.5)
    assert network(ids_of()).hidden.equal(network(ids_of()).hidden)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        noisy = network.train()(ids_of()).hidden
    assert (noisy - network.eval()(ids_of()).hidden).abs().max() > 0.1


# --- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [False, True])
def test_embedding(factor: bool) -> None:
    network = built(embed_scale=factor, segments=3, embed_norm=True, eps=0.1)
    segments = torch.tensor([[0, 1, 2] * 3, [2, 2, 0] * 3])
    ids = ids_of(2, 9)
    x = network.tokens.weight[ids] * (35**0.5 if factor else 1.0)
    assert network.segments is not None
    x = x + network.segments.weight[segments] + sinusoidal(9, 35)
    centred = x - x.mean(-1, keepdim=True)
    expected = centred / (centred.square().mean(-1, keepdim=True) + 0.1).sqrt()
    found = network(ids, segments=segments)
    assert (found.states[0] - expected).abs().max() < ROUNDING
    first = network(ids, segments=torch.zeros_like(ids)).hidden
    assert network(ids).hidden.equal(first)
    assert not found.hidden.equal(first)


def test_learned_positions_are_added() -> None:
    network = built(positions="learned")
    ids = torch.full((1, 5), 13)
    table = dict(network.named_parameters())["positions.table"]
    assert network.embed(ids).equal(network.tokens.weight[ids] + table[:5])


def test_head_dim_is_free() -> None:
    out = built(head_dim=11)(ids_of())
    assert out.patterns[0].q.shape == (2, 5, 11, 11)
    assert out.hidden.shape == (2, 11, 35)


def test_pre_norm_ends_on_a_norm() -> None:
    out = built(norm="pre")(ids_of())
    last = out.states[-1]
    centred = last - last.mean(-1, keepdim=True)
    expected = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    assert (out.hidden - expected).abs().max() < ROUNDING
    post = built()(ids_of())
    assert post.hidden.equal(post.states[-1])


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned"])
def test_too_many_tokens(kind: str) -> None:
    network = built(positions=kind)
    assert network(ids_of(1, 31)).hidden.shape == (1, 31, 35)
    with pytest.raises(ValueError, match="expected at most 31 tokens, received 32"):
        network(ids_of(1, 32))
