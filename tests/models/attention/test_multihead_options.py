"""Every option of MultiHeadAttention: widths, scores, projections, dropouts, cached keys."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from models.attention import Mask, MultiHeadAttention, MultiHeadAttentionConfig
from models.attention.relative import rotary_angles
from tests.models.tensors import noise

BATCH, HEADS, TOKENS, KEYS, DIM, KEY_DIM, VALUE_DIM = 2, 5, 7, 11, 35, 13, 17
ROUNDING = 1e-6  # relative to the largest output: 35 products in float32


def built(**options: Any) -> Any:
    options = {"dim": DIM, "heads": HEADS} | options
    with torch.random.fork_rng():
        torch.manual_seed(13)
        return MultiHeadAttention(MultiHeadAttentionConfig(**options)).eval()


def written(
    layer: MultiHeadAttention, x: Tensor, scale: float, seen: Tensor | None = None
) -> Tensor:
    """The layer's values before its output projection, written out."""
    split = [
        rearrange(part(x), "b t (h d) -> b h t d", h=layer.config.heads)
        for part in (layer.query, layer.key, layer.value)
    ]
    q, k, v = split
    scores = scale * q @ k.mT
    scores = scores if seen is None else scores.masked_fill(~seen, -torch.inf)
    return rearrange(torch.softmax(scores, -1) @ v, "b h t d -> b t (h d)")


def off(found: Tensor, expected: Tensor) -> float:
    return float(((found - expected).abs().max() / expected.abs().max()).detach())


# --- widths -----------------------------------------------------------------------------------


def test_every_option_at_once() -> None:
    """The widths, scale, biases and shortcut of Yuan et al. 2021's layer, with many heads."""
    layer = built(
        dim=39,
        heads=3,
        head_dim=7,
        value_dim=13,
        input_dim=11,
        qkv_bias=False,
        out_bias=False,
        scale=0.9,
        value_shortcut=True,
    )
    x = noise(BATCH, TOKENS, 11)
    expected = written(layer, x, 0.9) @ layer.out.weight.T + x @ layer.value.weight.T
    assert off(layer(x)[0], expected) < ROUNDING
    assert all(name.endswith("weight") for name, _ in layer.named_parameters())


# --- scaling ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scaling", "factor"), [("sqrt", 7**-0.5), ("none", 1.0), ("fourth root", 7**-0.5)]
)
def test_scaling_is_written_out(scaling: str, factor: float) -> None:
    layer, x = built(dot_scaling=scaling), noise(BATCH, TOKENS, DIM)
    assert off(layer(x)[0], layer.out(written(layer, x, factor))) < ROUNDING


def test_a_fourth_root_each_is_the_root_of_the_product() -> None:
    config = {"dim": 10, "heads": 20, "head_dim": 10, "qkv_bias": False, "out_bias": False}
    once, twice = built(**config), built(**config, dot_scaling="fourth root")
    x = noise(8, 5, 10)
    (out, pattern), (same, split) = once(x), twice(x)
    assert out.shape == same.shape == (8, 5, 10)
    assert off(same, out) < ROUNDING
    assert off(split.scores(), pattern.scores()) < ROUNDING
    assert off(split.q, pattern.q / 10**0.25) < ROUNDING
    assert off(split.k, pattern.k / 10**0.25) < ROUNDING


# --- output projection ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heads", "head_dim", "projects"),
    [(1, None, False), (1, DIM, False), (1, 7, True), (5, None, True), (5, DIM, True)],
)
def test_one_head_as_wide_as_the_model_needs_none(
    heads: int, head_dim: int | None, projects: bool
) -> None:
    layer = built(heads=heads, head_dim=head_dim, out_projection="needed")
    x = noise(BATCH, TOKENS, DIM)
    assert isinstance(layer.out, nn.Linear) is projects
    values = written(layer, x, layer.config.width**-0.5)
    assert off(layer(x)[0], layer.out(values) if projects else values) < ROUNDING
    assert isinstance(built(heads=heads, head_dim=head_dim).out, nn.Linear)
    assert MultiHeadAttentionConfig(dim=6, heads=2, out_projection="needed").has_projection


# --- dropouts ---------------------------------------------------------------------------------


def test_where_each_dropout_acts() -> None:
    """Weights; then the projected numbers, twice; then the shortcut, of which nothing is lost."""
    layer = built(dim=DIM, value_shortcut=True, projection_dropout=0.4, output_dropout=0.3).train()
    x = noise(1, 401, DIM)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        found = layer(x)[0]
    values = layer.value(x)
    whole = layer.eval()(x)[0] - values
    kept = ((found - values) / whole).detach()
    # What is left is scaled up by both: 1 / 0.6 / 0.7; a quotient of small numbers loses digits
    nothing, all_of_it = kept.abs() < 1e-3, (kept - 1 / 0.42).abs() < 0.01
    assert (nothing | all_of_it).float().mean() > 0.99
    share = float(all_of_it.float().mean())
    assert abs(share - 0.42) < 5 * math.sqrt(0.42 * 0.58 / kept.numel()) + 0.01

    weights = built(dropout=0.4).train()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        out, pattern = weights(x)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        dropped = F.dropout(pattern.weights(), 0.4)
    merged = rearrange(dropped @ pattern.v, "b h t d -> b t (h d)")
    assert off(out, weights.out(merged)) < ROUNDING


# --- cached keys and values -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "value width", "rotary", "fourth root", "shortcut"])
@pytest.mark.parametrize("first", [1, 3, 6])
def test_a_past_stands_in_front(kind: str, first: int) -> None:
    """Causal attention in two passes is what it is in one, to the last rows of its weights."""
    options = {
        "value width": {"value_dim": 13},
        "rotary": {"heads": 5, "head_dim": 6},
        "fourth root": {"dot_scaling": "fourth root"},
        "shortcut": {"value_shortcut": True},
    }
    layer, x = built(**options.get(kind, {})), noise(BATCH, TOKENS, DIM)
    angles = rotary_angles(TOKENS, 6) if kind == "rotary" else None
    whole, pattern = layer(x, mask=Mask(causal=True), angles=angles)
    turned = (None, None) if angles is None else (angles[:first], angles[first:])
    _, past = layer(x[:, :first], mask=Mask(causal=True), angles=turned[0])
    rest, added = layer(
        x[:, first:], mask=Mask(causal=True, offset=first), angles=turned[1], past=past
    )
    assert off(rest, whole[:, first:]) < 2 * ROUNDING
    assert (added.queries, added.keys) == (TOKENS - first, TOKENS)
    rows = pattern.weights(rows=slice(first, None))
    assert (added.weights() - rows).abs().max() < ROUNDING
    assert added.k.allclose(pattern.k, atol=1e-6)


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


def test_a_shortcut_needs_a_value_for_every_query() -> None:
    layer = built(value_shortcut=True)
    with pytest.raises(ValueError, match="value_shortcut is for self-attention"):
        layer(noise(BATCH, TOKENS, DIM), noise(BATCH, TOKENS, DIM))


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
