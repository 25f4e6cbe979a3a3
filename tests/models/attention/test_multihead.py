"""MultiHeadAttention against torch.nn.MultiheadAttention and a plain loop."""

import math

import pytest
import torch
from einops import rearrange
from torch import Tensor, nn

from models.attention import Mask, MultiHeadAttention, MultiHeadAttentionConfig
from tests.models.devices import DEVICES

BATCH, HEADS, TOKENS, KEYS, DIM = 2, 5, 7, 11, 35
ROUNDING = 1e-6  # of outputs around 1: 35 products in float32

PADDING = torch.zeros(BATCH, KEYS, dtype=torch.bool)
PADDING[0, 8:] = True
PADDING[1, 0] = True
DENSE = torch.rand(TOKENS, KEYS, generator=torch.Generator().manual_seed(1)) > 0.3


def twins(*, bias: bool = True) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Ours and torch's with the same weights, biases included."""
    with torch.random.fork_rng():
        torch.manual_seed(13)
        theirs = nn.MultiheadAttention(DIM, HEADS, bias=bias, batch_first=True).eval()
        for parameter in theirs.parameters():
            nn.init.normal_(parameter, std=0.3)  # torch's own biases are zero
    config = MultiHeadAttentionConfig(dim=DIM, heads=HEADS, qkv_bias=bias, out_bias=bias)
    ours = MultiHeadAttention(config).eval()
    copied = {"out.weight": theirs.out_proj.weight}
    thirds = theirs.in_proj_weight.chunk(3)
    copied |= dict(zip(["query.weight", "key.weight", "value.weight"], thirds, strict=True))
    if bias:
        copied["out.bias"] = theirs.out_proj.bias
        thirds = theirs.in_proj_bias.chunk(3)
        copied |= dict(zip(["query.bias", "key.bias", "value.bias"], thirds, strict=True))
    ours.load_state_dict(copied)
    return ours, theirs


def noise(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(17))


def expect(found: tuple, expected: tuple) -> None:
    (out, pattern), (their_out, their_weights) = found, expected
    assert (out - their_out).abs().max() < ROUNDING * their_out.abs().max()
    assert (pattern.weights() - their_weights).abs().max() < ROUNDING


@pytest.mark.parametrize("bias", [True, False])
def test_self_attention_equals_torch(bias: bool) -> None:
    ours, theirs = twins(bias=bias)
    x = noise(BATCH, TOKENS, DIM)
    expect(ours(x), theirs(x, x, x, average_attn_weights=False))


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


def test_causal_equals_torch() -> None:
    ours, theirs = twins()
    x = noise(BATCH, TOKENS, DIM)
    later = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    expect(
        ours(x, mask=Mask(causal=True)),
        theirs(x, x, x, attn_mask=later, average_attn_weights=False),
    )


def by_hand(layer: MultiHeadAttention, x: Tensor, scale: float) -> Tensor:
    """Head by head and token by token; the heads' values side by side."""
    width = layer.config.width
    q, k, v = layer.query(x), layer.key(x), layer.value(x)
    out = torch.zeros_like(v)
    for item in range(x.shape[0]):
        for head in range(layer.config.heads):
            mine = slice(head * width, (head + 1) * width)
            for i in range(x.shape[1]):
                scores = torch.stack([(q[item, i, mine] * row).sum() for row in k[item, :, mine]])
                out[item, i, mine] = torch.softmax(scores * scale, 0) @ v[item, :, mine]
    return out


@pytest.mark.parametrize("scale", [None, 0.9])
def test_free_widths_and_scale(scale: float | None) -> None:
    config = MultiHeadAttentionConfig(dim=13, heads=3, head_dim=7, input_dim=11, scale=scale)
    layer = MultiHeadAttention(config)
    x = noise(BATCH, TOKENS, 11)
    out, pattern = layer(x)
    assert out.shape == (BATCH, TOKENS, 13)
    assert pattern.q.shape == (BATCH, 3, TOKENS, 7)
    factor = 1 / math.sqrt(7) if scale is None else scale
    expected = layer.out(by_hand(layer, x, factor))
    assert (out - expected).abs().max() < ROUNDING * expected.abs().max()


def test_value_shortcut_adds_the_values() -> None:
    """Past the projection, heads merged."""
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=21, heads=3, value_shortcut=True))
    x = noise(BATCH, TOKENS, 21)
    expected = layer.out(by_hand(layer, x, 1 / math.sqrt(7))) + layer.value(x)
    assert (layer(x)[0] - expected).abs().max() < ROUNDING * expected.abs().max()
    with pytest.raises(ValueError, match="value_shortcut is for self-attention"):
        layer(x, x)


def test_no_biases() -> None:
    layer = MultiHeadAttention(MultiHeadAttentionConfig(qkv_bias=False, out_bias=False))
    assert all(name.endswith("weight") for name, _ in layer.named_parameters())


def test_bias_of_scores_reaches_the_pattern() -> None:
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=HEADS))
    x = noise(BATCH, TOKENS, DIM)
    bias = noise(1, HEADS, TOKENS, TOKENS)
    expected = torch.softmax(layer(x)[1].scores() + bias, -1)
    out, pattern = layer(x, bias=bias)
    assert (pattern.weights() - expected).abs().max() < ROUNDING
    values = rearrange(expected @ pattern.v, "b h t d -> b t (h d)")
    assert (out - layer.out(values)).abs().max() < ROUNDING


def test_dropout_only_while_training() -> None:
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=DIM, heads=HEADS, dropout=0.4))
    x = noise(BATCH, TOKENS, DIM)
    quiet, _ = layer.eval()(x)
    assert quiet.equal(layer(x)[0])
    with torch.random.fork_rng():
        torch.manual_seed(1)
        noisy, pattern = layer.train()(x)
    assert (noisy - quiet).abs().max() > 0.01
    assert (pattern.weights() - layer.eval()(x)[1].weights()).abs().max() < ROUNDING


@pytest.mark.parametrize("device", DEVICES)
def test_devices(device: str) -> None:
    ours, theirs = twins()
    x = noise(BATCH, TOKENS, DIM)
    out, pattern = ours.to(device)(x.to(device))
    expected, weights = theirs(x, x, x, average_attn_weights=False)
    assert (out.cpu() - expected).abs().max() < 1e-5 * expected.abs().max()  # a GPU's own order
    assert (pattern.weights().cpu() - weights).abs().max() < 1e-5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dim": 0}, "expected positive dim, heads and head_dim, received 0, 4 and None"),
        ({"heads": 0}, "received 64, 0 and None"),
        ({"head_dim": 0}, "received 64, 4 and 0"),
        ({"dim": 35, "heads": 4}, "expected one of 1, 5, 7, 35 for dim 35, received 4"),
        ({"head_dim": 7, "value_shortcut": True}, "received 4 × 7 and 64"),
    ],
)
def test_config_errors(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultiHeadAttentionConfig(**wrong)


def test_the_smallest_config() -> None:
    layer = MultiHeadAttention(MultiHeadAttentionConfig(dim=1, heads=1, head_dim=1))
    out, pattern = layer(torch.ones(1, 1, 1))
    assert out.shape == (1, 1, 1)
    assert pattern.weights().tolist() == [[[[1.0]]]]
