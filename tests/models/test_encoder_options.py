"""The encoder's options, and the whole stack against torch's own."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from einops import rearrange
from torch import Tensor, nn

from models.attention import Mask
from models.encoder import Encoder, EncoderConfig
from tests.models.devices import DEVICES

BATCH, TOKENS, DIM, HEADS, DEPTH, HIDDEN = 2, 11, 35, 5, 3, 53
SMALL = EncoderConfig(vocab=101, dim=DIM, depth=DEPTH, heads=HEADS, mlp=HIDDEN, max_tokens=31)
NORMS = {
    "post": ("after_attention.norm", "after_feed_forward.norm"),
    "pre": ("before_attention", "before_feed_forward"),
}


def ids_of(batch: int = BATCH, tokens: int = TOKENS) -> Tensor:
    return torch.randint(101, (batch, tokens), generator=torch.Generator().manual_seed(7))


def built(**changes: Any) -> Any:
    return Encoder(replace(SMALL, **changes)).eval()


# --- torch's own stack ------------------------------------------------------------------------


def twins(norm: str, activation: str) -> tuple[Any, nn.TransformerEncoder]:
    """Our encoder and torch's with the same weights in every block."""
    last = nn.LayerNorm(DIM) if norm == "pre" else None
    with torch.random.fork_rng():
        torch.manual_seed(19)
        layer = nn.TransformerEncoderLayer(
            DIM, HEADS, HIDDEN, activation=activation, batch_first=True, norm_first=norm == "pre"
        )
        theirs = nn.TransformerEncoder(layer, DEPTH, last, enable_nested_tensor=False).eval()
        for parameter in theirs.parameters():
            nn.init.normal_(parameter, std=0.3)
    ours = built(norm=norm, activation=activation)
    copied = {}
    for name, weights in theirs.state_dict().items():
        copied |= _renamed(name, weights, norm)
    missing, unknown = ours.load_state_dict(copied, strict=False)
    assert missing == ["tokens.weight"]
    assert unknown == []
    return ours, theirs


def _renamed(name: str, weights: Tensor, norm: str) -> dict[str, Tensor]:
    names = {"self_attn.out_proj": "attention.out", "linear1": "feed_forward.up"}
    names |= {"linear2": "feed_forward.down", "norm1": NORMS[norm][0], "norm2": NORMS[norm][1]}
    if not name.startswith("layers"):
        return {name: weights}
    layer, _, part = name.removeprefix("layers.").partition(".")
    if "in_proj" in part:
        kind = part.rpartition("_")[2]
        thirds = zip(("query", "key", "value"), weights.chunk(3), strict=True)
        return {f"blocks.{layer}.attention.{which}.{kind}": third for which, third in thirds}
    path, _, kind = part.rpartition(".")
    return {f"blocks.{layer}.{names[path]}.{kind}": weights}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_equals_torch(norm: str, activation: str, padded: bool, device: str) -> None:
    ours, theirs = twins(norm, activation)
    padding = torch.zeros(BATCH, TOKENS, dtype=torch.bool)
    padding[1, 7:] = padded
    # Gradients on: torch's layer takes its plain path, which pads nothing away
    expected = theirs(ours.embed(ids_of()), src_key_padding_mask=padding if padded else None)
    ours, given = ours.to(device), padding.to(device) if padded else None
    found = ours(ids_of().to(device), padding=given).hidden.cpu()
    real = ~padding
    assert (found - expected)[real].abs().max() < 1e-5 * expected.abs().max()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_causal_blocks_equal_torch(norm: str) -> None:
    ours, theirs = twins(norm, "relu")
    x = ours.embed(ids_of())
    later = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    expected = theirs(x, mask=later)
    for block in ours.blocks:
        x, pattern = block(x, mask=Mask(causal=True))
        assert pattern.path == "fused"
    assert (ours.norm(x) - expected).abs().max() < 1e-5 * expected.abs().max()


# --- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"value_dim": 0}, "value_dim: expected at least 1, received 0"),
        ({"padding": 101}, "padding: expected 0 to 100, received 101"),
        ({"padding": -1}, "padding: expected 0 to 100, received -1"),
        ({"dot_scaling": "√d"}, "dot_scaling: expected one of sqrt, none, fourth root, received"),
        ({"mask_fill": 1e9}, "fill: expected a number below 0, received 1000000000.0"),
    ],
)
def test_config_errors(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **wrong)


def test_values_of_their_own_width() -> None:
    out = built(head_dim=13, value_dim=17)(ids_of())
    assert out.hidden.shape == (BATCH, TOKENS, DIM)
    assert out.patterns[2].q.shape == (BATCH, HEADS, TOKENS, 13)
    assert out.patterns[2].v.shape == (BATCH, HEADS, TOKENS, 17)


def test_the_embedding_of_padding_stays_zero() -> None:
    """Through training, too; every other embedding is what it is without a padding id."""
    network = built(padding=13).train()
    table = network.tokens.weight
    assert table[13].eq(0).all()
    others = [i for i in range(101) if i != 13]
    assert table[others].equal(built().tokens.weight[others])
    ids = torch.full((1, 5), 13)
    ids[0, 0] = 7
    before = table.detach().clone()
    network(ids, padding=ids == 13).hidden.square().sum().backward()
    torch.optim.SGD(network.parameters(), lr=0.1).step()
    assert table[13].eq(0).all()
    assert not table[7].equal(before[7])


@pytest.mark.parametrize("scaling", ["none", "fourth root"])
def test_scaling_reaches_every_block(scaling: str) -> None:
    plain, changed = built()(ids_of()), built(dot_scaling=scaling)(ids_of())
    first = changed.patterns[0].scores() * (7**-0.5 if scaling == "none" else 1)
    assert (first - plain.patterns[0].scores()).abs().max() < 1e-5  # scores up to 5
    same = (changed.hidden - plain.hidden).abs().max() < 5e-6  # three layers, outputs up to 4
    assert bool(same) is (scaling == "fourth root")


def test_without_query_key_and_value_biases() -> None:
    names = {
        name.split(".", 2)[2]
        for name, _ in built(qkv_bias=False).blocks.named_parameters(prefix="blocks")
        if "bias" in name
    }
    assert not names & {"attention.query.bias", "attention.key.bias", "attention.value.bias"}
    assert "attention.out.bias" in names


# --- hidden keys: nothing, or a large negative number ------------------------------------------


@pytest.mark.parametrize("fill", [None, -1e9])
def test_a_row_with_no_key(fill: float | None) -> None:
    """−∞ leaves it without weight; −10⁹ in every place is a row of equal scores."""
    padding = torch.zeros(BATCH, TOKENS, dtype=torch.bool)
    padding[1] = True
    out = built(mask_fill=fill)(ids_of(), padding=padding)
    weights, pattern = out.patterns[0].weights(item=1), out.patterns[0]
    if fill is None:
        assert weights.eq(0).all()
    else:
        assert (weights - 1 / TOKENS).abs().max() < 1e-7  # one rounding of float32
    assert pattern.empty_rows() == HEADS * TOKENS
    assert out.hidden.isfinite().all()


def test_elsewhere_the_two_agree() -> None:
    padding = torch.zeros(BATCH, TOKENS, dtype=torch.bool)
    padding[1, 7:] = True
    there, here = (built(mask_fill=f)(ids_of(), padding=padding) for f in (None, -1e9))
    for old, new in zip(there.patterns, here.patterns, strict=True):
        assert (old.weights() - new.weights()).abs().max() < 5e-6  # fused against explicit
        assert new.weights(item=1)[..., 7:].eq(0).all()  # exp(−10⁹) is nothing in float32
    assert (there.hidden - here.hidden).abs().max() < 5e-6


def test_half_precision_would_lose_the_number() -> None:
    """−10⁹ is beyond float16, and is −∞ there; scores are compared in float32."""
    assert torch.tensor(-1e9).half().isneginf()
    padding = torch.ones(BATCH, TOKENS, dtype=torch.bool)
    pattern = built(mask_fill=-1e9).half()(ids_of(), padding=padding).patterns[0]
    assert (pattern.weights() - 1 / TOKENS).abs().max() < 1e-7


# --- half precision ---------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "digit"), [(torch.float16, 2**-10), (torch.bfloat16, 2**-7)])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_half_precision(norm: str, dtype: torch.dtype, digit: float, device: str) -> None:
    network = built(norm=norm)
    expected = network(ids_of())
    found = network.to(device, dtype)(ids_of().to(device))
    assert found.hidden.dtype == dtype
    # A dozen roundings of half a digit a block, of states up to 4: 10 digits after three blocks
    off = (found.hidden.float().cpu() - expected.hidden).abs().max()
    assert off < 10 * digit * expected.hidden.abs().max()
    for rounded, pattern in zip(found.patterns, expected.patterns, strict=True):
        assert rounded.weights().dtype == torch.float32
        assert (rounded.weights().cpu() - pattern.weights()).abs().max() < 10 * digit


def test_a_batch_of_one_equals_its_row() -> None:
    network, ids = built(), ids_of(7)
    together = network(ids)
    for item in (0, 3, 6):
        alone = network(ids[item : item + 1])
        # The processor's kernels may add up in another order for other sizes
        assert (alone.hidden[0] - together.hidden[item]).abs().max() < 5e-6
        weights = rearrange(alone.patterns[2].weights(), "1 head query key -> head query key")
        assert (weights - together.patterns[2].weights(item=item)).abs().max() < 5e-6
