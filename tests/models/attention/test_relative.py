"""Order inside attention: plain loops, the libraries that made the schemes known, and `attend`."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, T5Config
from transformers.models.bloom.modeling_bloom import _get_alibi_slopes, build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.t5.modeling_t5 import T5Attention

from models.attention import Mask, MultiHeadAttention, MultiHeadAttentionConfig, attend
from models.attention.relative import AlibiBias, Relation, Relative, check_rotary
from models.encoder import Encoder, EncoderConfig
from models.positional import (
    alibi,
    alibi_slopes,
    distances,
    relation_of,
    relative_buckets,
    rotary_angles,
    rotate,
)
from tests.models.reference import plain_encoder
from tests.models.tensors import ids_of, noise

BATCH, HEADS, TOKENS, DIM = 2, 5, 11, 6


# --- rotary -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "base"), [(6, 10_000.0), (2, 10_000.0), (14, 97.0)])
def test_rotary_equals_the_loop(dim: int, base: float) -> None:
    angles = rotary_angles(TOKENS, dim, base=base)
    x = noise(BATCH, HEADS, TOKENS, dim)
    turned = rotate(x, angles)
    for p in range(TOKENS):
        for i in range(dim // 2):
            angle = p / base ** (2 * i / dim)
            assert abs(float(angles[p, i]) - angle) < 1e-12
            a, b = x[1, 3, p, i].item(), x[1, 3, p, i + dim // 2].item()
            expected = (
                a * math.cos(angle) - b * math.sin(angle),
                b * math.cos(angle) + a * math.sin(angle),
            )
            found = turned[1, 3, p, i].item(), turned[1, 3, p, i + dim // 2].item()
            assert max(abs(f - e) for f, e in zip(found, expected, strict=True)) < 1e-6  # float32


def test_the_first_position_is_not_rotated() -> None:
    assert rotary_angles(1, 6).equal(torch.zeros(1, 3, dtype=torch.float64))
    with pytest.raises(ValueError, match="expected at least 1 position, received 0"):
        rotary_angles(0, 6)


def test_rotary_equals_llama() -> None:
    config = LlamaConfig(hidden_size=HEADS * DIM, num_attention_heads=HEADS)
    cos, sin = LlamaRotaryEmbedding(config)(noise(1), torch.arange(TOKENS)[None])
    q, k = noise(BATCH, HEADS, TOKENS, DIM), noise(BATCH, HEADS, TOKENS, DIM, seed=5)
    theirs = apply_rotary_pos_emb(q, k, cos, sin)
    angles = rotary_angles(TOKENS, DIM)
    for ours, expected in zip((rotate(q, angles), rotate(k, angles)), theirs, strict=True):
        assert (ours - expected).abs().max() < 1e-5  # theirs are float32 angles up to 10


def test_rotated_dots_know_only_the_distance() -> None:
    q, k = (noise(1, 1, 1, DIM, seed=s).expand(1, 1, 40, DIM) for s in (1, 2))
    angles = rotary_angles(40, DIM)
    dots = (rotate(q, angles) @ rotate(k, angles).mT)[0, 0]
    assert (dots[:-1, :-1] - dots[1:, 1:]).abs().max() < 1e-5
    assert rotate(q, angles).norm(dim=-1).sub(q.norm(dim=-1)).abs().max() < 1e-6
    assert (dots[0] - dots[0, 0]).abs().max() > 0.5


def test_rotary_positions_of_ones_own() -> None:
    chosen = torch.tensor([3, 0, 7])
    assert rotary_angles(chosen, DIM).equal(rotary_angles(8, DIM)[chosen])
    far = rotary_angles(torch.tensor([100_003]), 2)
    assert abs(float(far.sin()) - math.sin(100_003)) < 1e-9  # float32 would be off by 4e-3


@pytest.mark.parametrize("width", [0, 1, 7])
def test_rotary_refuses_odd_widths(width: int) -> None:
    with pytest.raises(ValueError, match=f"expected an even head width, received {width}"):
        rotary_angles(TOKENS, width)
    with pytest.raises(ValueError, match=f"expected an even head width, received {width}"):
        relation_of("rotary", HEADS, width)


# --- ALiBi ------------------------------------------------------------------------------------


def test_slopes_of_the_paper() -> None:
    assert alibi_slopes(8).tolist() == [2.0**-n for n in range(1, 9)]
    with pytest.raises(ValueError, match="expected at least 1 head, received 0"):
        alibi_slopes(0)


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 7, 8, 12, 16, 20, 33])
def test_slopes_equal_bloom(heads: int) -> None:
    theirs = _get_alibi_slopes(heads, torch.device("cpu"))
    assert (alibi_slopes(heads) - theirs).abs().max() < 1e-7


def test_alibi_equals_the_loop() -> None:
    slopes, bias = alibi_slopes(HEADS).tolist(), alibi(HEADS, 7, TOKENS)
    for h in range(HEADS):
        for i in range(7):
            for j in range(TOKENS):
                assert float(bias[h, i, j]) == pytest.approx(-slopes[h] * abs(i - j))
    rows = torch.tensor([4, 1])
    assert alibi(HEADS, rows, TOKENS).equal(bias[:, rows])


def test_causal_alibi_equals_bloom() -> None:
    """Theirs grows with the position of the key; softmax cannot tell the difference."""
    q, k, v = (noise(BATCH, HEADS, TOKENS, DIM, seed=s) for s in (1, 2, 3))
    shape = (BATCH, HEADS, 1, TOKENS)
    theirs = build_alibi_tensor(torch.ones(BATCH, TOKENS), HEADS, torch.float32).reshape(shape)
    scores = q @ k.mT / math.sqrt(DIM) + theirs
    hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    expected = torch.softmax(scores.masked_fill(hidden, -torch.inf), -1)
    bias = relation_of("alibi", HEADS, DIM)(TOKENS).bias
    values, pattern = attend(q, k, v, mask=Mask(causal=True), bias=bias)
    assert (pattern.weights() - expected).abs().max() < 1e-6
    assert (values - expected @ v).abs().max() < 1e-5
    assert pattern.path == "fused"
    assert (pattern.weights(3, [2, 7]) - expected[:, 3, [2, 7]]).abs().max() < 1e-6


@pytest.mark.parametrize("first", [0, 1, 4])
def test_a_relation_from_a_position_on(first: int) -> None:
    """Of queries behind cached ones: the later rows of its angles and of its bias."""
    angles, table = noise(TOKENS, 3), noise(1, HEADS, TOKENS, TOKENS)

    def rows(head: int | None, rows: Tensor) -> Tensor:
        return table[0, :, rows] if head is None else table[0, head, rows]

    nothing = Relation().since(first)
    assert (nothing.angles, nothing.bias) == (None, None)
    turned = Relation(angles=angles).since(first)
    assert turned.angles is not None
    assert turned.angles.equal(angles[first:])
    for bias in (table, table[:, :, :1], rows):
        found = Relation(angles, bias).since(first)
        assert found.angles is not None
        assert found.angles.equal(angles[first:])
        if isinstance(found.bias, Tensor):
            whole = table if bias is table else table[:, :, :1].expand_as(table)
            assert found.bias.expand_as(whole[:, :, first:]).equal(whole[:, :, first:])
        else:
            assert found.bias is not None
            own = torch.tensor([0, 2])
            assert found.bias(None, own).equal(table[0, :, own + first])
            assert found.bias(3, own).equal(table[0, 3, own + first])


def test_only_rotary_positions_need_queries_and_keys_of_one_width() -> None:
    for kind in ("alibi", "relative", "learned"):
        check_rotary(kind, 8, 4)
    check_rotary("rotary", 8, 8)
    with pytest.raises(ValueError, match="queries and keys of one width, received 8 and 4"):
        check_rotary("rotary", 8, 4)


def test_from_the_first_position_on_a_bias_stays_what_it_is() -> None:
    """Its class says where it comes from."""
    whole = relation_of("alibi", HEADS, DIM)(TOKENS)
    assert isinstance(whole.since(0).bias, AlibiBias)


# --- T5 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_as_many_and_as_far_as_t5_has_them(bidirectional: bool) -> None:
    usual, distance = T5Config(), distances(601, 607)
    theirs = T5Attention._relative_position_bucket(
        distance,
        bidirectional,
        usual.relative_attention_num_buckets,
        usual.relative_attention_max_distance,
    )
    ours = relative_buckets(distance, bidirectional=bidirectional)
    assert ours.equal(theirs)
    assert (int(ours.min()), int(ours.max())) == (0, 31)


def test_near_buckets_by_hand() -> None:
    near = torch.arange(-9, 10)
    both = relative_buckets(near, bidirectional=True).tolist()
    assert both == [8, 8, 7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24]
    one = relative_buckets(near, bidirectional=False).tolist()
    assert one == [9, 8, 7, 6, 5, 4, 3, 2, 1] + [0] * 10


@pytest.mark.parametrize("causal", [False, True])
def test_relative_bias_equals_t5(causal: bool) -> None:
    config = T5Config(d_model=35, d_kv=7, num_heads=HEADS, is_decoder=causal)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = relation_of("relative", HEADS, DIM, causal=causal)
    assert isinstance(ours, Relative)
    assert ours.table.shape == theirs.relative_attention_bias.weight.shape
    ours.table.data = theirs.relative_attention_bias.weight.data
    bias: Any = ours(TOKENS).bias
    rows = torch.tensor([2, 7])
    expected = theirs.compute_bias(TOKENS, TOKENS)[0]
    assert bias(None, torch.arange(TOKENS)).equal(expected)
    assert bias(3, rows).equal(expected[3, rows])


# --- through attend, in networks --------------------------------------------------------------


def encoder(positions: str) -> Any:
    config = EncoderConfig(vocab=101, dim=30, depth=3, heads=HEADS, mlp=53, positions=positions)
    return Encoder(config).eval()


@pytest.mark.parametrize("positions", ["alibi", "relative"])
def test_a_bias_reaches_every_layer(positions: str) -> None:
    """One table for all layers, added to the scaled scores."""
    network = encoder(positions)
    if positions == "alibi":
        bias = alibi(HEADS, TOKENS, TOKENS)
    else:
        buckets = relative_buckets(distances(TOKENS, TOKENS), bidirectional=True)
        bias = network.relation.table.detach()[buckets].permute(2, 0, 1)
    expected = plain_encoder(network, ids_of(), scores=lambda layer, scores: scores + bias)
    with torch.no_grad():
        found = network(ids_of())
    assert (found.hidden - expected.hidden).abs().max() < 5e-6  # as without a bias
    for pattern, weights in zip(found.patterns, expected.weights, strict=True):
        assert (pattern.weights() - weights).abs().max() < 5e-6


def test_rotary_reaches_every_layer() -> None:
    network = encoder("rotary")
    angles = rotary_angles(TOKENS, 6)
    with torch.no_grad():
        found = network(ids_of())
    for state, block, pattern in zip(found.states, network.blocks, found.patterns, strict=False):
        layer = block.attention
        split = [
            part(state).unflatten(-1, (HEADS, 6)).transpose(1, 2)
            for part in (layer.query, layer.key)
        ]
        q, k = (rotate(part, angles) for part in split)
        expected = torch.softmax(q @ k.mT / math.sqrt(6), -1)
        assert (pattern.weights() - expected).abs().max() < 1e-5
        assert pattern.path == "fused"


def test_the_learned_bias_gets_its_gradient() -> None:
    network = encoder("relative")
    network(ids_of()).hidden.square().sum().backward()
    gradient = network.relation.table.grad
    assert gradient is not None
    used = relative_buckets(distances(TOKENS, TOKENS), bidirectional=True).unique()
    assert set(gradient.abs().sum(1).nonzero().flatten().tolist()) == set(used.tolist())


def test_distances_go_in_both_directions_by_default() -> None:
    both, plain = Relative(HEADS, bidirectional=True), Relative(HEADS)
    plain.table = both.table
    found, expected = (each(TOKENS).bias(None, torch.arange(TOKENS)) for each in (plain, both))
    assert found.equal(expected)


def test_angles_need_self_attention() -> None:
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=30, heads=HEADS))
    x = noise(BATCH, TOKENS, 30)
    with pytest.raises(ValueError, match="angles are for self-attention"):
        layer(x, noise(BATCH, 7, 30), angles=rotary_angles(TOKENS, 6))
