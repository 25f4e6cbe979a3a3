"""The encoder–decoder: torch's own, what is shared and scaled, and what must not matter."""

import math
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.attention import Mask, attend
from models.edits import Ablate, Cut
from models.positional import POSITIONS, sinusoidal
from models.seeding import Undrawn
from models.seq2seq import Seq2Seq, Seq2SeqConfig, Seq2SeqOutput
from tests.models.devices import DEVICES
from tests.models.torch_weights import block_weights, decoder_block_weights, part_of

SMALL = Seq2SeqConfig(
    source_vocab=101,
    target_vocab=101,
    dim=70,
    depth=3,
    heads=5,
    d_k=14,
    d_v=11,
    mlp=53,
    max_tokens=31,
    seed=2,
)
APART = {"share_source": False, "target_vocab": 89}
BATCH, SOURCE, TARGET = 2, 13, 11
ROUNDING = 1e-5  # float32 through six blocks: hidden states up to 4


def ids_of(tokens: int, batch: int = BATCH, seed: int = 7) -> Tensor:
    """Words: no padding, begin or end among them."""
    return torch.randint(3, 89, (batch, tokens), generator=torch.Generator().manual_seed(seed))


def pair(batch: int = BATCH) -> tuple[Tensor, Tensor]:
    """A source and a target, which begins with the begin symbol."""
    target = ids_of(TARGET, batch, seed=5)
    target[:, 0] = 1
    return ids_of(SOURCE, batch), target


def built(**changes: Any) -> Seq2Seq:
    return Seq2Seq(replace(SMALL, **changes)).eval()


# --- config and weights -----------------------------------------------------------------------


def test_defaults_are_the_base_model() -> None:
    config = Seq2SeqConfig()
    assert (config.dim, config.mlp, config.depth, config.heads) == (512, 2048, 6, 8)
    assert (config.d_k, config.d_v, config.dropout, config.max_tokens) == (64, 64, 0.1, 200)
    assert (config.share_target, config.share_source, config.scaling) == (True, True, "prj")
    assert (config.eps, config.padding) == (1e-6, 0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"source_vocab": 0}, "source_vocab: expected at least 1, received 0"),
        ({"target_vocab": 0}, "target_vocab: expected at least 1, received 0"),
        ({"heads": 0}, "heads: expected at least 1, received 0"),
        ({"d_k": 0}, "d_k: expected at least 1, received 0"),
        ({"d_v": 0}, "d_v: expected at least 1, received 0"),
        (
            {"key_dim": 3},
            "key_dim: expected 14, the width of the queries, with dot scores, received",
        ),
        ({"key_dim": 0}, "key_dim: expected at least 1, received 0"),
        ({"max_tokens": 0}, "max_tokens: expected at least 1, received 0"),
        ({"scaling": "both"}, "scaling: expected one of emb, prj, none, received 'both'"),
        ({"norm": "rms"}, "norm: expected one of post, pre, received 'rms'"),
        ({"activation": "swish"}, "activation: expected one of relu, .*, received 'swish'"),
        ({"positions": "rotary", "d_k": 7}, "rotary: expected an even head width, received 7"),
        ({"dropout": 1.0}, "dropout: expected 0 up to 1, received 1.0"),
        ({"eps": 0.0}, "eps: expected a number above 0, received 0.0"),
        ({"padding": 101}, "padding: expected 0 to 100, received 101"),
        ({"begin": -1}, "begin: expected 0 to 100, received -1"),
        ({"end": 0}, "padding: expected an id other than begin and end, received 0, 1 and 0"),
        (
            {"target_vocab": 89},
            "share_source: expected source_vocab = target_vocab, received 101 and 89",
        ),
    ],
)
def test_config_errors(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **wrong)


def test_keys_narrower_than_queries() -> None:
    """Weights of every kind of attention against loops, from the layers' own parameters."""
    network = built(scoring="bilinear", key_dim=3)
    out = network(*pair())
    encoder, decoder = network.encoder.blocks[0], network.blocks[0]
    cases: tuple[Any, ...] = (
        (encoder.attention, out.encoder.patterns[0], out.encoder.states[0]),
        (decoder.attention, out.blocks[0].causal, out.states[0]),
        (decoder.cross, out.blocks[0].cross, out.encoder.hidden),
    )
    for layer, pattern, read in cases:
        assert (pattern.q.shape[-1], pattern.k.shape[-1]) == (14, 3)
        for item, head in product(range(BATCH), range(5)):
            part = slice(3 * head, 3 * head + 3)
            k = read[item] @ layer.key.weight[part].T + layer.key.bias[part]
            scores = pattern.q[item, head] @ layer.scoring.matrix[head] @ k.T
            if pattern is out.blocks[0].causal:
                scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
            expected = scores.softmax(-1)
            assert (pattern.weights(head)[item] - expected).abs().max() < ROUNDING


def test_what_is_shared() -> None:
    matrix = 101 * 70
    for target in (False, True):
        for source in (False, True):
            network = built(share_target=target, share_source=source)
            encoder, decoder = network.encoder.tokens.weight, network.embedding.tokens.weight
            assert (encoder is decoder) == source
            assert (network.output.weight is None) == target
            count = sum(weights.numel() for weights in network.parameters())
            alone = sum(weights.numel() for weights in built().parameters())
            assert count - alone == ((not target) + (not source)) * matrix
    apart = built(**APART)
    assert apart(*pair()).logits.shape == (BATCH, TARGET, 89)


@pytest.mark.parametrize("assign", [False, True])
def test_sharing_outlives_loading_and_moving(assign: bool) -> None:
    network = built()
    state = {name: weights.clone() for name, weights in built(seed=3).state_dict().items()}
    network.load_state_dict(state, assign=assign)
    network.to(torch.float64)
    assert network.encoder.tokens.weight is network.embedding.tokens.weight
    source, target = pair()
    off = network(source, target).logits - built(seed=3)(source, target).logits
    assert off.abs().max() < ROUNDING


def test_shared_weights_learn_together() -> None:
    network = built()
    network(*pair()).logits.square().sum().backward()
    gradient = network.embedding.tokens.weight.grad
    assert gradient is not None
    assert gradient is network.encoder.tokens.weight.grad
    apart = built(share_target=False, share_source=False)
    apart(*pair()).logits.square().sum().backward()
    for part in (apart.embedding.tokens, apart.encoder.tokens, apart.output):
        (weight,) = part.parameters()
        assert weight.grad is not None
        assert weight.grad.abs().max() > 0


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("scaling", ["emb", "prj", "none"])
def test_scaling_acts_only_with_target_sharing(scaling: str, shared: bool) -> None:
    network = built(scaling=scaling, share_target=shared, embed_norm=False)
    source, target = pair()
    out = network(source, target)
    factor = math.sqrt(70) if shared and scaling == "emb" else 1.0
    weight = network.embedding.tokens.weight
    for ids, state in ((source, out.encoder.states[0]), (target, out.states[0])):
        assert (state - factor * weight[ids] - sinusoidal(ids.shape[1], 70)).abs().max() < 1e-6
    divided = math.sqrt(70) if shared and scaling == "prj" else 1.0
    last = weight if shared else network.output.weight
    assert last is not None
    assert (out.logits - out.hidden @ last.T / divided).abs().max() < ROUNDING


def test_embedding_norm_comes_after_the_dropout() -> None:
    """So that what goes into the first block has mean 0 and deviation 1, also in training."""
    network = built(dropout=0.5).train()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        out = network(*pair())
    for state in (out.encoder.states[0], out.states[0]):
        assert state.mean(-1).abs().max() < 1e-6
        assert (state.square().mean(-1) - 1).abs().max() < 1e-4  # eps against a variance near 1
    source, target = pair()
    states = built()(source, target).encoder.states
    x = built().embedding.tokens.weight[source] + sinusoidal(SOURCE, 70)
    centred = x - x.mean(-1, keepdim=True)
    expected = centred / (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    assert (states[0] - expected).abs().max() < ROUNDING


def test_xavier() -> None:
    """Every matrix, embeddings included, is uniform up to √(6 / (rows + columns))."""
    for name, weights in built(share_target=False, share_source=False).named_parameters():
        if weights.ndim > 1:
            bound = math.sqrt(6 / sum(weights.shape))
            assert 0.95 * bound < weights.abs().max() <= bound, name
            assert abs(float(weights.detach().std()) - bound / math.sqrt(3)) < 0.05 * bound, name
        else:
            assert weights.eq(1 if name.endswith("norm.weight") else weights[0]).all(), name


def test_seeds_layers_and_towers_differ() -> None:
    first, again, other = (dict(built(seed=s).named_parameters()) for s in (2, 2, 3))
    for name, weights in first.items():
        assert weights.equal(again[name])
        if weights.ndim > 1:
            assert not weights.equal(other[name])
    matrices = [each for name, each in first.items() if name.endswith("query.weight")]
    assert len(matrices) == 9
    for index, matrix in enumerate(matrices):
        assert not any(matrix.equal(later) for later in matrices[index + 1 :])
    weights = [pattern.weights() for pattern in built()(*pair()).patterns]
    for layer in (1, 2):
        assert (weights[layer] - weights[0]).abs().max() > 0.05
        assert (weights[3 + 2 * layer] - weights[3]).abs().max() > 0.05
        assert (weights[4 + 2 * layer] - weights[4]).abs().max() > 0.05


def test_the_base_model_with_a_published_vocabulary() -> None:
    """Vaswani et al. 2017, table 3: 65 million with about 37,000 shared byte pairs.

    Per block of the encoder 4 projections and a feed-forward network, of the decoder 8, each with
    biases; two norms or three; one matrix of tokens; a norm before either stack.
    """
    with Undrawn():
        network = Seq2Seq(Seq2SeqConfig(source_vocab=37000, target_vocab=37000))
    projections, feed_forward = 4 * (512 * 512 + 512), 2 * 512 * 2048 + 2048 + 512
    encoder, decoder = projections + feed_forward + 2048, 2 * projections + feed_forward + 3072
    expected = 6 * (encoder + decoder) + 37000 * 512 + 2 * 1024
    assert sum(weights.numel() for weights in network.parameters()) == expected
    assert 60e6 < expected < 66e6


# --- torch's own ------------------------------------------------------------------------------


def torch_twins(norm: str, last: bool) -> tuple[Seq2Seq, nn.Module]:
    """Ours, and torch's Transformer with the same weights."""
    ours = built(norm=norm, last_norm=last, d_v=14, embed_norm=False, eps=1e-5)
    sizes: dict[str, Any] = {"batch_first": True, "norm_first": norm == "pre"}
    with torch.random.fork_rng():
        torch.manual_seed(19)
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(70, 5, 53, **sizes),
            3,
            nn.LayerNorm(70) if last else None,
            enable_nested_tensor=False,
        )
        decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(70, 5, 53, **sizes), 3, nn.LayerNorm(70) if last else None
        )
        theirs = nn.Transformer(
            70, 5, custom_encoder=encoder, custom_decoder=decoder, batch_first=True
        ).eval()
        for parameter in theirs.parameters():
            nn.init.normal_(parameter, std=0.2)
    state = theirs.state_dict()
    for layer in range(3):
        block = block_weights(part_of(state, f"encoder.layers.{layer}."), norm)
        ours.encoder.blocks[layer].load_state_dict(block)
        block = decoder_block_weights(part_of(state, f"decoder.layers.{layer}."), norm)
        ours.blocks[layer].load_state_dict(block)
    if last:
        ours.encoder.norm.load_state_dict(part_of(state, "encoder.norm."))
        ours.norm.load_state_dict(part_of(state, "decoder.norm."))
    return ours, theirs


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_equals_torch(norm: str, last: bool, padded: bool, device: str) -> None:
    ours, theirs = torch_twins(norm, last)
    source, target = pair()
    if padded:
        source[0, 8:] = 0
        target[1, 6:] = 0
    expected = theirs(
        ours.encoder.embed(source),
        ours.embedding(target),
        tgt_mask=torch.ones(TARGET, TARGET, dtype=torch.bool).triu(1),
        src_key_padding_mask=source == 0,
        tgt_key_padding_mask=target == 0,
        memory_key_padding_mask=source == 0,
    )
    found = ours.to(device)(source.to(device), target.to(device)).hidden.cpu()
    allowed = 1e-6 if device == "cpu" else 1e-5  # a GPU adds up in another order
    assert (found - expected).abs().max() < allowed * expected.abs().max()


# --- what must not matter ---------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_later_tokens_of_the_target_change_nothing(positions: str, norm: str) -> None:
    network, (source, target) = built(positions=positions, norm=norm), pair()
    logits = network(source, target).logits
    for token in (0, 4, 9):
        other = torch.cat([target[:, : token + 1], ids_of(TARGET)[:, token + 1 :]], 1)
        moved = (network(source, other).logits - logits).abs()
        assert moved[:, : token + 1].max() < ROUNDING
        assert moved[:, token + 1 :].max() > 1e-3


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("side", ["source", "target", "both"])
def test_padding_changes_nothing(side: str, norm: str) -> None:
    """An item in a padded batch is what it is alone."""
    network, (source, target) = built(norm=norm), pair()
    read = 6 if side != "target" else SOURCE
    written = 7 if side != "source" else TARGET
    source[1, read:] = 0
    target[1, written:] = 0
    together = network(source, target)
    alone = network(source[1:, :read], target[1:, :written])
    assert (together.logits[1:, :written] - alone.logits).abs().max() < ROUNDING
    assert (together.logits[:1] - network(source[:1], target[:1]).logits).abs().max() < ROUNDING
    for layer in range(3):
        cross = together.blocks[layer].cross.weights()[1]
        assert cross[:, :, read:].eq(0).all()
        assert (cross[:, :written].sum(-1) - 1).abs().max() < 1e-6  # sums of at most 13


def test_the_source_is_a_set_without_positions() -> None:
    source, target = pair()
    order = torch.randperm(SOURCE, generator=torch.Generator().manual_seed(3))
    for positions in POSITIONS:
        network = built(positions=positions)
        out, moved = network(source, target), network(source[:, order], target)
        if positions == "none":
            change = moved.encoder.hidden - out.encoder.hidden[:, order]
            assert change.abs().max() < ROUNDING
            assert (moved.logits - out.logits).abs().max() < ROUNDING
            cross = moved.blocks[2].cross.weights() - out.blocks[2].cross.weights()[..., order]
            assert cross.abs().max() < ROUNDING
        else:
            assert (moved.logits - out.logits).abs().max() > 1e-3


def test_an_item_alone_is_its_row_in_a_batch() -> None:
    network, (source, target) = built(), pair(3)
    together = network(source, target)
    for item in range(3):
        alone = network(source[item : item + 1], target[item : item + 1])
        assert (together.logits[item] - alone.logits[0]).abs().max() < ROUNDING


def test_a_source_of_padding_gives_empty_rows_not_even_ones() -> None:
    """Under −∞ there is nothing to attend to; −10⁹ would attend to all the padding alike."""
    source, target = pair()
    source[1] = 0
    out = built()(source, target)
    assert torch.isfinite(out.logits).all()
    assert out.blocks[0].cross.weights()[1].eq(0).all()
    assert out.blocks[0].cross.empty_rows() == 5 * TARGET
    even = built(mask_fill=-1e9)(source, target)
    assert (even.blocks[0].cross.weights()[1] - 1 / SOURCE).abs().max() < 1e-6
    assert (even.logits[0] - out.logits[0]).abs().max() < ROUNDING  # nothing changes elsewhere


def test_embedding_of_padding_is_zero_and_stays() -> None:
    network = built(share_source=False)
    source, target = pair()
    source[0, 5:] = 0
    target[0, 5:] = 0
    network(source, target).logits.square().sum().backward()
    assert network.encoder.tokens.weight[0].eq(0).all()
    gradient = network.encoder.tokens.weight.grad
    assert gradient is not None
    assert gradient[0].eq(0).all()
    assert network.embedding.tokens.weight[0].eq(0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("device", DEVICES)
def test_half_precision(device: str, dtype: torch.dtype) -> None:
    """Nine attentions and their norms, whose roundings mostly cancel: eight of the largest."""
    network, (source, target) = built().requires_grad_(False), pair()
    expected = network(source, target).hidden
    found = network.to(device, dtype)(source.to(device), target.to(device)).hidden
    assert found.dtype == dtype
    allowed = 8 * torch.finfo(dtype).eps * expected.abs().max()
    assert (found.cpu().float() - expected).abs().max() < allowed


# --- sizes and places -------------------------------------------------------------------------


def test_shapes() -> None:
    out = built(**APART)(*pair())
    assert out.logits.shape == (BATCH, TARGET, 89)
    assert out.result == ("logits", out.logits)
    assert [state.shape for state in out.states] == [(BATCH, TARGET, 70)] * 4
    assert [state.shape for state in out.encoder.states] == [(BATCH, SOURCE, 70)] * 4
    shapes = [(pattern.queries, pattern.keys) for pattern in out.patterns]
    assert shapes == [(SOURCE, SOURCE)] * 3 + [(TARGET, TARGET), (TARGET, SOURCE)] * 3
    for pattern in out.patterns:
        assert (pattern.heads, pattern.q.shape[-1], pattern.v.shape[-1]) == (5, 14, 11)


@pytest.mark.parametrize("positions", POSITIONS)
def test_too_many_tokens(positions: str) -> None:
    network = built(positions=positions)
    for source, target in ((32, 5), (5, 32)):
        with pytest.raises(ValueError, match="expected at most 31 tokens, received 32"):
            network(ids_of(source), ids_of(target))


# --- edits ------------------------------------------------------------------------------------


def _changed(edit: Any) -> list[bool]:
    """Which patterns an edit of the values of layer 1 changes, of nine in their order."""
    source, target = pair()
    before: Seq2SeqOutput = built()(source, target)
    after = built()(source, target, edits=[edit])
    pairs = zip(before.patterns, after.patterns, strict=True)
    return [bool((a.weights() - b.weights()).abs().max() > 1e-6) for a, b in pairs]


def test_edits_name_their_attention() -> None:
    """Encoder 0 1 2, then causal and cross of decoder 0, 1 and 2."""
    no, yes = [False], [True]
    assert _changed(Ablate(2, 1, kind="cross")) == 9 * no
    assert _changed(Ablate(1, 1, kind="self")) == 2 * no + yes + no + 5 * yes
    assert _changed(Ablate(1, 1, kind="causal")) == 6 * no + 3 * yes
    assert _changed(Ablate(1, 1, kind="cross")) == 7 * no + 2 * yes
    assert _changed(Ablate(1, 1, tower="encoder")) == _changed(Ablate(1, 1, kind="self"))
    assert _changed(Ablate(1, 1, tower="decoder")) == _changed(Ablate(1, 1, kind="causal"))
    with pytest.raises(ValueError, match=r"tower: layer 1 has .*, received 'eye'"):
        _changed(Ablate(1, 1, tower="eye"))
    assert _changed(Ablate(1, 1, module="encoder")) == _changed(Ablate(1, 1, kind="self"))
    assert _changed(Ablate(1, 1, module="blocks.1")) == _changed(Ablate(1, 1, tower="decoder"))
    with pytest.raises(ValueError, match=r"tower: layer 1 has \['decoder'\], received 'encoder'"):
        _changed(Ablate(1, 1, kind="causal", tower="encoder"))
    with pytest.raises(ValueError, match=r"part: layer 1 has \[0\], received 1"):
        _changed(Ablate(1, 1, part=1))
    with pytest.raises(ValueError, match="layer: expected 0 to 2, received 3"):
        _changed(Ablate(3, 1, kind="cross"))


def test_cut_edges_from_target_to_source() -> None:
    source, target = pair()
    out = built()(source, target, edits=[Cut(1, 2, 8, (12, 3), kind="cross")])
    assert out.blocks[1].cross.weights()[:, 2, 8, [12, 3]].eq(0).all()
    assert out.blocks[1].causal.weights()[:, 2, 8, 3].gt(0).all()
    with pytest.raises(ValueError, match="key: expected 0 to 10, received 12"):
        built()(source, target, edits=[Cut(1, 2, 8, 12)])  # everywhere: the target has eleven


@pytest.mark.parametrize("kind", ["causal", "cross"])
def test_the_mean_over_an_items_own_tokens(kind: str) -> None:
    """Padding of the target does not count, also where the source is just as long."""
    network, edits = built(), [Ablate(1, 2, "mean", kind=kind)]
    source, target = ids_of(TARGET), pair()[1]
    source[1, 4:] = 0
    target[1, 7:] = 0
    together = network(source, target, edits=edits)
    alone = network(source[1:, :4], target[1:, :7], edits=edits)
    assert (together.logits[1:, :7] - alone.logits).abs().max() < ROUNDING


def test_query_padding_fits_the_queries() -> None:
    q = torch.randn(1, 5, 3, 7)
    with pytest.raises(
        ValueError, match=r"query_padding: expected shape \(1, 3\), received \(1, 4\)"
    ):
        attend(q, q, q, mask=Mask(query_padding=torch.zeros(1, 4, dtype=torch.bool)))
