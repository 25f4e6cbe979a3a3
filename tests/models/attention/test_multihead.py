"""MultiHeadAttention against torch.nn.MultiheadAttention and a plain loop."""

import pytest
import torch
from torch import nn

from models.attention import Mask, MultiHeadAttention, MultiHeadAttentionConfig
from tests.models.tensors import noise

BATCH, HEADS, TOKENS, KEYS, DIM = 2, 5, 7, 11, 35
ROUNDING = 1e-6  # of outputs around 1: 35 products in float32

PADDING = torch.zeros(BATCH, KEYS, dtype=torch.bool)
PADDING[0, 8:] = True
PADDING[1, 0] = True
DENSE = torch.rand(TOKENS, KEYS, generator=torch.Generator().manual_seed(1)) > 0.3


def twins() -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Ours and torch's with the same weights, biases included."""
    with torch.random.fork_rng():
        torch.manual_seed(13)
        theirs = nn.MultiheadAttention(DIM, HEADS, batch_first=True).eval()
        for parameter in theirs.parameters():
            nn.init.normal_(parameter, std=0.3)  # torch's own biases are zero
    config = MultiHeadAttentionConfig(dim=DIM, heads=HEADS)
    ours = MultiHeadAttention(config).eval()
    copied = {"out.weight": theirs.out_proj.weight, "out.bias": theirs.out_proj.bias}
    for kind, packed in (("weight", theirs.in_proj_weight), ("bias", theirs.in_proj_bias)):
        names = (f"{part}.{kind}" for part in ("query", "key", "value"))
        copied |= dict(zip(names, packed.chunk(3), strict=True))
    ours.load_state_dict(copied)
    return ours, theirs


def expect(found: tuple, expected: tuple) -> None:
    (out, pattern), (their_out, their_weights) = found, expected
    assert (out - their_out).abs().max() < ROUNDING * their_out.abs().max()
    assert (pattern.weights() - their_weights).abs().max() < ROUNDING


@pytest.mark.parametrize(
    ("mask", "theirs_mask"),
    [
        (Mask(), {}),
        (Mask(padding=PADDING), {"key_padding_mask": PADDING}),
        (Mask(dense=DENSE[None, None]), {"attn_mask": ~DENSE}),
        (
            Mask(dense=DENSE[None, None], padding=PADDING),
            {"attn_mask": ~DENSE, "key_padding_mask": PADDING},
        ),
    ],
    ids=["none", "padding", "dense", "both"],
)
def test_cross_attention_equals_torch(mask: Mask, theirs_mask: dict) -> None:
    ours, theirs = twins()
    x, context = noise(BATCH, TOKENS, DIM), noise(BATCH, KEYS, DIM).flip(1)
    found = ours(x, context, mask=mask)
    expect(found, theirs(x, context, context, average_attn_weights=False, **theirs_mask))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"heads": 0}, "heads: expected at least 1, received 0"),
        ({"dim": 35, "heads": 4}, "expected one of 1, 5, 7, 35 for dim 35, received 4"),
        ({"scoring": "cosine"}, "scoring: expected one of dot, bilinear, additive"),
        ({"dot_scaling": "cube"}, "dot_scaling: expected one of sqrt, none, fourth root, received"),
        ({"out_projection": "never"}, "expected one of always, needed, received 'never'"),
        ({"projection_dropout": -0.1}, "projection_dropout: expected 0 up to 1, received -0.1"),
        ({"key_dim": 0}, "key_dim: expected at least 1, received 0"),
        ({"value_input_dim": 0}, "value_input_dim: expected at least 1, received 0"),
        (
            {"scale": 0.5, "dot_scaling": "none"},
            "expected one of them, .* received 0.5 and 'none' with dot",
        ),
        ({"scoring": "additive", "scale": 0.5}, "received 0.5 and 'sqrt' with additive scores"),
        ({"value_dim": 13, "value_shortcut": True}, "= dim, received 4 × 13 and 64"),
    ],
)
def test_config_errors(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultiHeadAttentionConfig(**wrong)


def test_a_shortcut_needs_a_value_for_every_query() -> None:
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=21, heads=3, value_shortcut=True))
    with pytest.raises(ValueError, match="value_shortcut is for self-attention"):
        layer(noise(BATCH, TOKENS, 21), noise(BATCH, TOKENS, 21))
