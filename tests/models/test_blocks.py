"""Feed-forward, Add & Norm and the blocks: hand numbers, then torch's own layer."""

import math

import pytest
import torch
from torch import nn

from models.attention import Mask, MultiHeadAttentionConfig
from models.blocks import AddNorm, DropPath, FeedForward, PostNormBlock, PreNormBlock
from tests.models.devices import DEVICES

BATCH, TOKENS, DIM, HEADS, HIDDEN = 2, 11, 35, 5, 53
ROUNDING = 1e-6  # relative to the largest: a few dozen float32 products, then a norm


def test_feed_forward_by_hand() -> None:
    """x = (1, 2) → up (1 − 2 + 0.5, 2·1 + 2 − 3) = (−0.5, 1) → relu (0, 1) → down."""
    layer = FeedForward(2, 2)
    layer.load_state_dict(
        {
            "up.weight": torch.tensor([[1.0, -1.0], [2.0, 1.0]]),
            "up.bias": torch.tensor([0.5, -3.0]),
            "down.weight": torch.tensor([[7.0, 3.0], [5.0, -2.0]]),
            "down.bias": torch.tensor([0.25, 0.0]),
        }
    )
    assert layer(torch.tensor([[[1.0, 2.0]]])).tolist() == [[[3.25, -2.0]]]


def _normal_cdf(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


BY_HAND = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * _normal_cdf(x),
    "gelu_tanh": lambda x: (
        0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
}


@pytest.mark.parametrize("activation", BY_HAND)
def test_activations_by_hand(activation: str) -> None:
    layer = FeedForward(1, 1, activation=activation).requires_grad_(False)
    one, zero = torch.ones(1, 1), torch.zeros(1)
    layer.load_state_dict(
        {"up.weight": one, "up.bias": zero, "down.weight": one, "down.bias": zero}
    )
    for x in (-3.0, -0.7, 0.0, 0.4, 2.0):
        found = float(layer(torch.full((1, 1, 1), x)))
        assert abs(found - BY_HAND[activation](x)) < 1e-6  # float32 below 3


def test_unknown_activation() -> None:
    with pytest.raises(ValueError, match="expected one of relu, gelu, gelu_tanh, received 'tanh'"):
        FeedForward(2, 2, activation="tanh")


def test_add_norm_by_hand() -> None:
    """(1, 2, 3, 4) + (0, 0, 0, 2) = (1, 2, 3, 6): mean 3, variance 3.5."""
    norm = AddNorm(4, eps=0.5)
    x, y = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]]), torch.tensor([[[0.0, 0.0, 0.0, 2.0]]])
    found = norm(x, y)[0, 0].tolist()
    assert found == pytest.approx([-1.0, -0.5, 0.0, 1.5], abs=1e-6)  # deviation √(3.5 + 0.5) = 2


def twins(kind: str, activation: str, eps: float = 1e-5) -> tuple[nn.Module, nn.Module]:
    """One of our blocks and torch's layer with the same weights."""
    with torch.random.fork_rng():
        torch.manual_seed(19)
        theirs = nn.TransformerEncoderLayer(
            DIM,
            HEADS,
            HIDDEN,
            activation=activation,
            batch_first=True,
            norm_first=kind == "pre",
            layer_norm_eps=eps,
        ).eval()
        for parameter in theirs.parameters():
            nn.init.normal_(parameter, std=0.3)
    attention = MultiHeadAttentionConfig(dim=DIM, heads=HEADS)
    block = PostNormBlock if kind == "post" else PreNormBlock
    ours = block(attention, HIDDEN, activation=activation, eps=eps).eval()
    ours.load_state_dict(_renamed(theirs.state_dict(), kind))
    return ours, theirs


def _renamed(theirs: dict[str, torch.Tensor], kind: str) -> dict[str, torch.Tensor]:
    norms = {
        "post": ("after_attention.norm", "after_feed_forward.norm"),
        "pre": ("before_attention", "before_feed_forward"),
    }[kind]
    names = {
        "self_attn.out_proj": "attention.out",
        "linear1": "feed_forward.up",
        "linear2": "feed_forward.down",
        "norm1": norms[0],
        "norm2": norms[1],
    }
    ours = {}
    for part in ("weight", "bias"):
        for old, new in names.items():
            ours[f"{new}.{part}"] = theirs[f"{old}.{part}"]
        thirds = theirs[f"self_attn.in_proj_{part}"].chunk(3)
        for name, third in zip(("query", "key", "value"), thirds, strict=True):
            ours[f"attention.{name}.{part}"] = third
    return ours


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("eps", [1e-5, 0.1])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("kind", ["post", "pre"])
def test_block_equals_torch(
    kind: str, activation: str, eps: float, padded: bool, device: str
) -> None:
    ours, theirs = twins(kind, activation, eps)
    x = torch.randn(BATCH, TOKENS, DIM, generator=torch.Generator().manual_seed(23))
    padding = torch.zeros(BATCH, TOKENS, dtype=torch.bool)
    if padded:
        padding[1, 7:] = True
    # Gradients on: torch's layer takes its plain path, which pads nothing away
    expected = theirs(x, src_key_padding_mask=padding if padded else None)
    mask = Mask(padding=padding.to(device) if padded else None)
    found, _ = ours.to(device)(x.to(device), mask=mask)
    allowed = ROUNDING if device == "cpu" else 10 * ROUNDING  # a GPU adds up in another order
    assert (found.cpu() - expected).abs().max() < allowed * expected.abs().max()


@pytest.mark.parametrize("kind", ["post", "pre"])
def test_dropout_of_blocks(kind: str) -> None:
    """Only while training, and on both branches: with all dropped, a pre-norm block passes x."""
    attention = MultiHeadAttentionConfig(dim=DIM, heads=HEADS)
    block = (PostNormBlock if kind == "post" else PreNormBlock)(attention, HIDDEN, dropout=1.0)
    x = torch.randn(BATCH, TOKENS, DIM, generator=torch.Generator().manual_seed(29))
    dropped, _ = block.train()(x)
    kept, _ = block.eval()(x)
    assert (dropped - kept).abs().max() > 0.01
    if kind == "pre":
        assert dropped.equal(x)
    else:
        norm = nn.LayerNorm(DIM)
        # Twice normed, and nothing added: once more rounded
        assert (dropped - norm(norm(x))).abs().max() < 1e-6


@pytest.mark.parametrize("kind", ["post", "pre"])
def test_stochastic_depth(kind: str) -> None:
    """A block without its branches: an item passes as a pre-norm block leaves it."""
    attention = MultiHeadAttentionConfig(dim=DIM, heads=HEADS)
    block = (PostNormBlock if kind == "post" else PreNormBlock)(attention, HIDDEN, drop_path=0.99)
    x = torch.randn(BATCH, TOKENS, DIM, generator=torch.Generator().manual_seed(29))
    kept, _ = block.eval()(x)
    assert (kept - x).abs().max() > 0.01
    with torch.random.fork_rng():
        torch.manual_seed(1)
        dropped, _ = block.train()(x)
    norm = nn.LayerNorm(DIM)
    expected = x if kind == "pre" else norm(norm(x))
    assert (dropped - expected).abs().max() < 1e-6


def test_dropped_paths_keep_the_mean() -> None:
    x = torch.ones(4001, 3, 5)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        found = DropPath(0.25).train()(x)
    whole = found.amax((1, 2))
    assert found.amin((1, 2)).equal(whole)  # all of an item, or nothing
    assert set(whole.tolist()) == {0.0, float(torch.tensor(1 / 0.75))}
    assert abs(float(found.mean()) - 1) < 4 * (0.25 / 0.75 / 4001) ** 0.5  # standard errors
    with pytest.raises(ValueError, match=r"drop_path: expected 0 up to 1, received 1"):
        DropPath(1.0)
