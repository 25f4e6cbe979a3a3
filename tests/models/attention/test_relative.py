"""Order inside attention: plain loops, the libraries that made the schemes known, and `attend`."""

import math
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, T5Config
from transformers.models.bloom.modeling_bloom import _get_alibi_slopes, build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.t5.modeling_t5 import T5Attention

from models.attention import Mask, MultiHeadAttention, MultiHeadAttentionConfig, attend
from models.attention.relative import (
    RelativePositions,
    alibi,
    alibi_slopes,
    check_rotary,
    distances,
    relative_buckets,
    rotary_angles,
    rotate,
)
from tests.models.tensors import noise

BATCH, HEADS, TOKENS, DIM = 2, 5, 11, 6


# --- rotary -----------------------------------------------------------------------------------


def test_rotary_equals_llama() -> None:
    config = LlamaConfig(hidden_size=HEADS * DIM, num_attention_heads=HEADS)
    cos, sin = LlamaRotaryEmbedding(config)(noise(1), torch.arange(TOKENS)[None])
    q, k = noise(BATCH, HEADS, TOKENS, DIM), noise(BATCH, HEADS, TOKENS, DIM, seed=5)
    theirs = apply_rotary_pos_emb(q, k, cos, sin)
    angles = rotary_angles(TOKENS, DIM)
    for ours, expected in zip((rotate(q, angles), rotate(k, angles)), theirs, strict=True):
        assert (ours - expected).abs().max() < 1e-5  # theirs are float32 angles up to 10


def test_rotary_positions_of_ones_own() -> None:
    chosen = torch.tensor([3, 0, 7])
    assert rotary_angles(chosen, DIM).equal(rotary_angles(8, DIM)[chosen])
    far = rotary_angles(torch.tensor([100_003]), 2)
    assert abs(float(far.sin()) - math.sin(100_003)) < 1e-9  # float32 would be off by 4e-3


@pytest.mark.parametrize("width", [0, 1, 7])
def test_rotary_refuses_odd_widths(width: int) -> None:
    with pytest.raises(ValueError, match=f"expected an even head width, received {width}"):
        rotary_angles(TOKENS, width)


# --- ALiBi ------------------------------------------------------------------------------------


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
    bias = RelativePositions("alibi", HEADS, DIM)(TOKENS).bias
    values, pattern = attend(q, k, v, mask=Mask(causal=True), bias=bias)
    assert (pattern.weights() - expected).abs().max() < 1e-6
    assert (values - expected @ v).abs().max() < 1e-5
    assert pattern.path == "fused"
    assert (pattern.weights(3, [2, 7]) - expected[:, 3, [2, 7]]).abs().max() < 1e-6


def test_only_rotary_positions_need_queries_and_keys_of_one_width() -> None:
    for kind in ("alibi", "relative", "learned"):
        check_rotary(kind, 8, 4)
    check_rotary("rotary", 8, 8)
    with pytest.raises(ValueError, match="queries and keys of one width, received 8 and 4"):
        check_rotary("rotary", 8, 4)


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


@pytest.mark.parametrize("causal", [False, True])
def test_relative_bias_equals_t5(causal: bool) -> None:
    config = T5Config(d_model=35, d_kv=7, num_heads=HEADS, is_decoder=causal)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = RelativePositions("relative", HEADS, DIM, causal=causal)
    assert ours.table.shape == theirs.relative_attention_bias.weight.shape
    ours.table.data = theirs.relative_attention_bias.weight.data
    bias: Any = ours(TOKENS).bias
    rows = torch.tensor([2, 7])
    expected = theirs.compute_bias(TOKENS, TOKENS)[0]
    assert bias(torch.arange(TOKENS)).equal(expected)
    assert bias(rows).equal(expected[:, rows])


# --- through attend, in networks --------------------------------------------------------------


def test_angles_need_self_attention() -> None:
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=30, heads=HEADS))
    x = noise(BATCH, TOKENS, 30)
    with pytest.raises(ValueError, match="angles are for self-attention"):
        layer(x, noise(BATCH, 7, 30), angles=rotary_angles(TOKENS, 6))
