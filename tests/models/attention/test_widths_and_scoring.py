"""Inputs of three widths, and scores with learned weights, in MultiHeadAttention."""

from typing import Any

import pytest
import torch
from einops import rearrange
from torch import Tensor, nn

from models.attention import Mask, MultiHeadAttention, MultiHeadAttentionConfig
from tests.models.tensors import noise

BATCH, HEADS, TOKENS, KEYS, DIM, KEY_DIM, VALUE_DIM = 2, 5, 7, 11, 35, 13, 17
ROUNDING = 1e-6  # relative to the largest output: 35 products in float32


def built(**options: Any) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(13)
        options = {"dim": DIM, "heads": HEADS} | options
        return MultiHeadAttention(MultiHeadAttentionConfig(**options)).eval()


def off(found: Tensor, expected: Tensor) -> float:
    return float(((found - expected).abs().max() / expected.abs().max()).detach())


# --- three widths -----------------------------------------------------------------------------


def inputs() -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, each of its own width."""
    x, keys = noise(BATCH, TOKENS, DIM), noise(BATCH, KEYS, KEY_DIM, seed=19)
    return x, keys, noise(BATCH, KEYS, VALUE_DIM, seed=23)


def three() -> Any:
    return built(key_input_dim=KEY_DIM, value_input_dim=VALUE_DIM)


@pytest.mark.parametrize("padded", [False, True])
def test_three_widths_equal_torch(padded: bool) -> None:
    theirs = nn.MultiheadAttention(DIM, HEADS, kdim=KEY_DIM, vdim=VALUE_DIM, batch_first=True)
    with torch.no_grad():
        for number, parameter in enumerate(theirs.parameters()):
            parameter.copy_(0.3 * noise(*parameter.shape, seed=number))
    ours, thirds = three(), theirs.in_proj_bias.chunk(3)
    copied = {
        "query.weight": theirs.q_proj_weight,
        "key.weight": theirs.k_proj_weight,
        "value.weight": theirs.v_proj_weight,
        "out.weight": theirs.out_proj.weight,
        "out.bias": theirs.out_proj.bias,
    }
    copied |= dict(zip(["query.bias", "key.bias", "value.bias"], thirds, strict=True))
    ours.load_state_dict(copied)
    padding = torch.arange(KEYS).expand(BATCH, KEYS) >= 8 if padded else None
    out, pattern = ours(*inputs(), mask=Mask(padding=padding))
    expected, weights = theirs.eval()(
        *inputs(), key_padding_mask=padding, average_attn_weights=False
    )
    assert off(out, expected) < ROUNDING
    assert (pattern.weights() - weights).abs().max() < ROUNDING


@pytest.mark.parametrize(
    ("which", "says"),
    [
        (0, "queries: expected vectors of width 35, received 36"),
        (1, "keys: expected vectors of width 13, received 14"),
        (2, "values: expected vectors of width 17, received 18"),
    ],
)
def test_a_wrong_width_is_named(which: int, says: str) -> None:
    given = [nn.functional.pad(x, (0, int(which == n))) for n, x in enumerate(inputs())]
    with pytest.raises(ValueError, match=says):
        three()(*given)


# --- learned scores ---------------------------------------------------------------------------


def test_an_additive_score_is_written_out() -> None:
    layer, x = built(scoring="additive"), noise(BATCH, TOKENS, DIM)
    out, pattern = layer(x, mask=Mask(causal=True))
    q, k, v = (
        rearrange(part(x), "b t (h d) -> b h t d", h=HEADS)
        for part in (layer.query, layer.key, layer.value)
    )
    hidden = torch.tanh(q[:, :, :, None] + k[:, :, None])
    scores = torch.einsum("bhqkd,hd->bhqk", hidden, layer.scoring.vector)
    later = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)
    assert (pattern.weights() - weights).abs().max() < ROUNDING
    assert off(out, layer.out(rearrange(weights @ v, "b h t d -> b t (h d)"))) < ROUNDING
    assert pattern.path == "explicit"


def test_bilinear_scores_lead_from_queries_to_keys_of_another_width() -> None:
    """Weights and output against one loop over heads, from the layer's own parameters."""
    width, key_width, value_width = 7, 3, 4
    layer = built(scoring="bilinear", key_dim=key_width, value_dim=value_width)
    x = noise(BATCH, TOKENS, DIM)
    out, pattern = layer(x)
    assert (pattern.q.shape[-1], pattern.k.shape[-1]) == (width, key_width)
    outputs = []
    for head in range(HEADS):
        part = slice(head * width, (head + 1) * width)
        q = x @ layer.query.weight[part].T + layer.query.bias[part]
        part = slice(head * key_width, (head + 1) * key_width)
        k = x @ layer.key.weight[part].T + layer.key.bias[part]
        part = slice(head * value_width, (head + 1) * value_width)
        v = x @ layer.value.weight[part].T + layer.value.bias[part]
        weights = torch.softmax(q @ layer.scoring.matrix[head] @ k.transpose(1, 2), -1)
        assert (pattern.weights(head) - weights).abs().max() < ROUNDING
        outputs.append(weights @ v)
    assert off(out, layer.out(torch.cat(outputs, -1))) < ROUNDING


@pytest.mark.parametrize("scoring", ["dot", "additive"])
def test_other_scores_need_keys_as_wide_as_queries(scoring: str) -> None:
    assert built(scoring=scoring, key_dim=DIM // HEADS).config.key_width == DIM // HEADS
    said = f"key_dim: expected 7, the width of the queries, with {scoring} scores, received 3"
    with pytest.raises(ValueError, match=said):
        built(scoring=scoring, key_dim=3)
