"""The decoder: its config, GPT-2, what must not matter to it, and keys and values kept."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from analysis.outputs import likeliest
from models.decoder import Decoder, DecoderConfig
from models.edits import Ablate, Cut
from models.positional import POSITIONS
from models.run import load, trace
from models.seeding import Undrawn
from tests.models.devices import DEVICES

SMALL = DecoderConfig(vocab=101, dim=70, depth=3, heads=5, mlp=53, max_tokens=31, seed=2)
ROUNDING = 1e-5  # logits up to 6 after three layers of float32
GPT2 = DecoderConfig(
    vocab=50257,
    dim=768,
    depth=12,
    heads=12,
    mlp=3072,
    activation="gelu_tanh",
    positions="learned",
    max_tokens=1024,
    embed_scale=False,
)


def ids_of(batch: int = 2, tokens: int = 11, seed: int = 7) -> Tensor:
    return torch.randint(101, (batch, tokens), generator=torch.Generator().manual_seed(seed))


def built(**changes: Any) -> Decoder:
    return Decoder(replace(SMALL, **changes)).eval()


# --- config and weights -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"vocab": 0}, "vocab: expected at least 1, received 0"),
        ({"depth": 0}, "depth: expected at least 1, received 0"),
        ({"mlp": 0}, "mlp: expected at least 1, received 0"),
        ({"max_tokens": 0}, "max_tokens: expected at least 1, received 0"),
        ({"heads": 4}, r"heads must divide dim: expected one of .* for dim 70, received 4"),
        ({"head_dim": -1}, "received 70, 5 and -1"),
        ({"activation": "swish"}, "activation: expected one of relu, .*, received 'swish'"),
        ({"norm": "rms"}, "norm: expected one of post, pre, received 'rms'"),
        ({"positions": "random"}, "positions: expected one of sinusoidal.*, received 'random'"),
        ({"positions": "rotary", "head_dim": 7}, "rotary: expected an even head width, received 7"),
        ({"dot_scaling": "cube"}, "dot_scaling: expected one of sqrt, .*, received 'cube'"),
        ({"dropout": 1.0}, "dropout: expected 0 up to 1, received 1.0"),
        ({"eps": 0.0}, "eps: expected a number above 0, received 0.0"),
    ],
)
def test_config_errors(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **wrong)


def test_gpt2_has_as_many_weights_as_published() -> None:
    with Undrawn():
        network = Decoder(GPT2)
    assert sum(weights.numel() for weights in network.parameters()) == 124_439_808


def test_tied_and_untied() -> None:
    tied, untied = built(), built(tied=False)
    counts = [sum(weights.numel() for weights in n.parameters()) for n in (tied, untied)]
    assert counts[1] - counts[0] == 101 * 70
    for network in (tied, untied):
        out = network(ids_of())
        weight = network.embedding.tokens.weight if network is tied else network.output.weight
        assert weight is not None
        assert out.logits.equal(out.hidden @ weight.T)
        assert out.result == ("logits", out.logits)


def test_untrained_logits_are_about_one() -> None:
    """The embedding suits both of its uses: as wide as the positions, and logits of size 1."""
    out = built().requires_grad_(False)(ids_of())
    assert 0.5 < float(out.logits.std()) < 2
    assert 0.9 < float(built(positions="none").embedding(ids_of()).detach().std()) < 1.1
    for scale in (False, True):
        network = built(positions="learned", embed_scale=scale).requires_grad_(False)
        embedding = network.embedding
        spread = [
            float(each.std())
            for each in (embedding.tokens.weight, *embedding.positions.parameters())
        ]
        assert spread[0] * embedding.factor == pytest.approx(spread[1], rel=0.1)


def test_a_seed_repeats_and_another_differs() -> None:
    first, again, other = (dict(built(seed=s).named_parameters()) for s in (2, 2, 3))
    for name, weights in first.items():
        assert weights.equal(again[name])
        if weights.ndim == 2:
            assert not weights.equal(other[name])


def test_layers_and_heads_differ() -> None:
    network = built()
    weights = [pattern.weights() for pattern in network(ids_of()).patterns]
    for layer in (1, 2):
        assert (weights[layer] - weights[0]).abs().max() > 0.05
        for name in ("attention.query.weight", "feed_forward.up.weight"):
            mine, first = (dict(network.blocks[n].named_parameters())[name] for n in (layer, 0))
            assert not mine.equal(first)
    for head in range(1, 5):
        assert (weights[0][:, head] - weights[0][:, 0]).abs().max() > 0.05


# --- GPT-2 of another library -----------------------------------------------------------------


def gpt2_twins(*, tied: bool = True) -> tuple[Decoder, Any]:
    """A small GPT-2 and ours with the same weights.

    Untied, the output is the embedding dealt to other ids, so that no id is followed by itself.
    """
    from transformers import GPT2Config, GPT2LMHeadModel

    with torch.random.fork_rng():
        torch.manual_seed(3)
        sizes: dict[str, Any] = {
            "n_embd": 70,
            "n_layer": 3,
            "n_head": 5,
            "n_inner": 53,
            "n_positions": 31,
        }
        theirs = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=101,
                bos_token_id=None,
                eos_token_id=None,
                tie_word_embeddings=tied,
                **sizes,
            )
        )
        for name, parameter in theirs.named_parameters():
            nn.init.normal_(parameter, mean=float("ln_" in name and "weight" in name), std=0.3)
        if not tied:
            tokens = nn.init.normal_(theirs.transformer.wte.weight, std=10).detach()
            theirs.lm_head.weight = nn.Parameter(tokens[torch.randperm(101)])
    ours = built(activation="gelu_tanh", positions="learned", embed_scale=False, tied=tied)
    state = theirs.state_dict()
    ours.load_state_dict(
        ({} if tied else {"output.weight": state["lm_head.weight"]})
        | {
            "embedding.tokens.weight": state["transformer.wte.weight"],
            "embedding.positions.table": state["transformer.wpe.weight"],
            "norm.weight": state["transformer.ln_f.weight"],
            "norm.bias": state["transformer.ln_f.bias"],
        }
        | {
            name: each
            for layer in range(3)
            for name, each in _gpt2_block(state, f"transformer.h.{layer}.", f"blocks.{layer}.")
        }
    )
    return ours, theirs.eval()


def _gpt2_block(state: dict[str, Tensor], old: str, new: str) -> list[tuple[str, Tensor]]:
    """One block's weights; their matrices stand the other way round."""
    pairs = {
        "before_attention": "ln_1",
        "before_feed_forward": "ln_2",
        "attention.out": "attn.c_proj",
        "feed_forward.up": "mlp.c_fc",
        "feed_forward.down": "mlp.c_proj",
    }
    found = []
    for part in ("weight", "bias"):
        for mine, name in pairs.items():
            found.append((f"{new}{mine}.{part}", _turned(state[f"{old}{name}.{part}"])))
        thirds = _turned(state[f"{old}attn.c_attn.{part}"]).chunk(3)
        for mine, third in zip(("query", "key", "value"), thirds, strict=True):
            found.append((f"{new}attention.{mine}.{part}", third))
    return found


def _turned(weights: Tensor) -> Tensor:
    return weights.T if weights.ndim == 2 else weights


def test_equals_gpt2() -> None:
    ours, theirs = gpt2_twins()
    with torch.no_grad():
        expected = theirs(ids_of(), output_hidden_states=True)
        found = ours(ids_of())
    top = expected.logits.abs().max()
    assert (found.logits - expected.logits).abs().max() < 5e-6 * top  # float32, three layers
    for mine, state in zip(found.states[:-1], expected.hidden_states, strict=False):
        assert (mine - state).abs().max() < 5e-6 * state.abs().max()
    assert (found.hidden - expected.hidden_states[-1]).abs().max() < ROUNDING


# --- what must not matter ---------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_later_tokens_change_nothing(positions: str, norm: str) -> None:
    network, ids = built(positions=positions, norm=norm), ids_of()
    out = network(ids)
    for token in range(10):
        other = torch.cat([ids[:, : token + 1], ids_of(seed=13)[:, token + 1 :]], 1)
        moved = network(other).logits
        assert (moved[:, : token + 1] - out.logits[:, : token + 1]).abs().max() < ROUNDING
        assert (moved[:, token + 1 :] - out.logits[:, token + 1 :]).abs().max() > 0.1
    for pattern in out.patterns:
        weights = pattern.weights()
        assert weights.triu(1).eq(0).all()
        assert (weights.sum(-1) - 1).abs().max() < 1e-6  # float32 sums of at most 11


@pytest.mark.parametrize("left", [False, True])
def test_padding_changes_nothing(left: bool) -> None:
    """An item in a padded batch is what it is alone: in front only without positions."""
    network, ids = built(positions="none" if left else "sinusoidal"), ids_of()
    padding = torch.zeros(2, 11, dtype=torch.bool)
    own = slice(4, 11) if left else slice(0, 7)
    padding[1] = True
    padding[1, own] = False
    together, alone = network(ids, padding=padding), network(ids[1:, own])
    assert (together.logits[1:, own] - alone.logits).abs().max() < ROUNDING
    assert (together.logits[:1] - network(ids[:1]).logits).abs().max() < ROUNDING
    other = torch.where(padding, 0, ids)
    assert network(other, padding=padding).logits[1, own].equal(together.logits[1, own])


def test_a_row_without_keys_is_empty_not_even() -> None:
    """Under −∞ the first padding token attends to nothing; under −10⁹ to every token alike."""
    padding = torch.zeros(2, 11, dtype=torch.bool)
    padding[1, :3] = True
    out = built()(ids_of(), padding=padding)
    assert torch.isfinite(out.logits).all()
    assert out.patterns[0].weights()[1, :, :3].eq(0).all()
    assert out.patterns[0].empty_rows() == 3 * 5
    even = built(mask_fill=-1e9)(ids_of(), padding=padding)
    assert (even.patterns[0].weights()[1, :, :3] - 1 / 11).abs().max() < 1e-6
    assert (even.logits[0] - out.logits[0]).abs().max() < ROUNDING
    assert (even.logits[1, 3:] - out.logits[1, 3:]).abs().max() < ROUNDING


@pytest.mark.parametrize("positions", POSITIONS)
def test_order_matters_only_by_position(positions: str) -> None:
    """One layer of the last token sees a set of tokens, unless positions tell them apart."""
    network, ids = built(positions=positions, depth=1), ids_of(1)
    order = torch.cat(
        [torch.randperm(10, generator=torch.Generator().manual_seed(3)), Tensor([10])]
    )
    moved = network(ids[:, order.long()]).logits[:, -1] - network(ids).logits[:, -1]
    assert moved.abs().max() < ROUNDING if positions == "none" else moved.abs().max() > 0.01


def test_an_item_alone_is_its_row_in_a_batch() -> None:
    network = built()
    together = network(ids_of(3))
    for item in range(3):
        alone = network(ids_of(3)[item : item + 1])
        assert (together.logits[item] - alone.logits[0]).abs().max() < ROUNDING


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("device", DEVICES)
def test_half_precision(device: str, dtype: torch.dtype) -> None:
    """Three layers of roundings, most of which cancel: four of the largest logit."""
    network = built().requires_grad_(False)
    expected = network(ids_of()).logits
    found = network.to(device, dtype)(ids_of().to(device)).logits
    assert found.dtype == dtype
    allowed = 4 * torch.finfo(dtype).eps * expected.abs().max()
    assert (found.cpu().float() - expected).abs().max() < allowed


def test_dropout_only_while_training() -> None:
    network = built(dropout=0.5)
    assert network(ids_of()).logits.equal(network(ids_of()).logits)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        noisy = network.train()(ids_of()).logits
    assert (noisy - network.eval()(ids_of()).logits).abs().max() > 0.1


def test_widths_of_heads_and_values_are_free() -> None:
    out = built(head_dim=6, value_dim=11)(ids_of())
    assert out.patterns[0].q.shape == (2, 5, 11, 6)
    assert out.patterns[0].v.shape == (2, 5, 11, 11)
    assert out.logits.shape == (2, 11, 101)


def test_too_many_tokens() -> None:
    for positions in POSITIONS:
        network = built(positions=positions)
        assert network(ids_of(1, 31)).logits.shape == (1, 31, 101)
        with pytest.raises(ValueError, match="expected at most 31 tokens, received 32"):
            network(ids_of(1, 32))


# --- keys and values of earlier tokens --------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_a_past_changes_nothing(positions: str, norm: str, device: str) -> None:
    """Seven tokens, then three, then one: the rows of all eleven at once."""
    network, ids = built(positions=positions, norm=norm).to(device), ids_of().to(device)
    padding = torch.zeros(2, 11, dtype=torch.bool, device=device)
    padding[1, :2] = True
    whole, past = network(ids, padding=padding), None
    for start, end in ((0, 7), (7, 10), (10, 11)):
        past = network(ids[:, :end], padding=padding[:, :end], past=past)
        rows = slice(start, end)
        assert past.logits.shape == (2, end - start, 101)
        assert (past.logits - whole.logits[:, rows]).abs().max() < ROUNDING
        for mine, pattern in zip(past.patterns, whole.patterns, strict=True):
            expected = pattern.weights()[:, :, rows, :end]
            assert (mine.weights() - expected).abs().max() < ROUNDING


def test_a_past_refuses() -> None:
    network = built()
    past = network(ids_of(2, 7))
    with pytest.raises(
        ValueError, match="past: expected fewer than the 7 tokens given, received 7"
    ):
        network(ids_of(2, 7), past=past)
    with pytest.raises(ValueError, match="edits: expected none with a past"):
        network(ids_of(), past=past, edits=[Ablate(0, 1)])


# --- edits ------------------------------------------------------------------------------------


def test_edits_reach_causal_attention() -> None:
    network, ids = built(), ids_of()
    for kind in (None, "causal"):
        out = network(ids, edits=[Cut(1, 2, 8, (0, 3), kind=kind)])
        assert out.patterns[1].weights()[:, 2, 8, [0, 3]].eq(0).all()
    with pytest.raises(ValueError, match="kind: layer 1 has \\['causal'\\], received 'self'"):
        network(ids, edits=[Cut(1, 2, 8, 0, kind="self")])


def test_logits_of_the_last_tokens_alone() -> None:
    model = load(DecoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13))
    ids = torch.randint(53, (1, 11), generator=torch.Generator().manual_seed(5))
    whole, last = trace(model, ids), trace(model, ids, logits_to_keep=2)
    assert last.output.values.shape == (1, 2, 53)
    assert last.output.first == 9
    assert torch.allclose(last.output.values, whole.output.values[:, 9:], rtol=0, atol=1e-5)
    assert likeliest(last, -1).ids == likeliest(whole, -1).ids
    with pytest.raises(ValueError, match="logits were kept from token 9 on, received 3"):
        likeliest(last, 3)
    with pytest.raises(ValueError, match="logits_to_keep: expected 1 or more, received 0"):
        trace(model, ids, logits_to_keep=0)
