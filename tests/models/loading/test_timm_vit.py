"""timm's vision transformer in memory, against one written here as timm writes it."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.run import load, trace

SIZE, PATCH, DIM, DEPTH, HEADS, CLASSES = (10, 15), 5, 21, 2, 3, 7
ROUNDING = 1e-5  # sums over 21 features in float32, twice two blocks


class Attention(nn.Module):
    def __init__(self, bias: bool) -> None:
        super().__init__()
        self.num_heads = HEADS
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM, bias=bias), nn.Linear(DIM, DIM)
        self.softmax = nn.Softmax(-1)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        weights = self.softmax(q @ k.mT * (DIM // HEADS) ** -0.5)
        return self.proj((weights @ v).transpose(1, 2).flatten(2))


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.rand(DIM) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gamma


class Mlp(nn.Module):
    def __init__(self, act: nn.Module) -> None:
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Linear(DIM, 11), act, nn.Linear(11, DIM)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(self.act(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, bias: bool, scaled: bool, act: nn.Module) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM, eps=1e-6), nn.LayerNorm(DIM, eps=1e-6)
        self.attn, self.mlp = Attention(bias), Mlp(act)
        self.ls1, self.ls2 = (Scale() if scaled else nn.Identity() for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.mlp(self.norm2(x)))


class Patches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.grid_size = (SIZE[0] // PATCH, SIZE[1] // PATCH)
        self.proj = nn.Conv2d(3, DIM, PATCH, PATCH)


class VisionTransformer(nn.Module):
    """Names, order of calls and attributes are those of timm 1.0."""

    def __init__(
        self,
        *,
        bias: bool = True,
        scaled: bool = False,
        classes: int = CLASSES,
        act: nn.Module | None = None,
        extra: dict[str, nn.Module] | None = None,
        parallel: bool = False,
    ) -> None:
        super().__init__()
        self.patch_embed = Patches()
        self.cls_token = nn.Parameter(torch.randn(1, 1, DIM))
        self.pos_embed = nn.Parameter(torch.randn(1, 7, DIM))
        blocks = [Block(bias, scaled, act or nn.GELU()) for _ in range(DEPTH)]
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(DIM, eps=1e-6)
        self.head = nn.Linear(DIM, classes) if classes else nn.Identity()
        self.pretrained_cfg = {"mean": (0.4, 0.5, 0.6), "std": (0.2, 0.3, 0.25)}
        self.parallel = parallel
        for name, each in (extra or {}).items():
            self.add_module(name, each)

    def forward_features(self, pixels: Tensor) -> Tensor:
        x = self.patch_embed.proj(pixels).flatten(2).mT
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed
        x = F.relu(self.blocks(x)) if self.parallel else self.blocks(x)
        return self.norm(x)

    def forward(self, pixels: Tensor) -> Tensor:
        return self.head(self.forward_features(pixels)[:, 0])


VisionTransformer.__module__ = "timm.models.vision_transformer"


def built(**options: Any) -> VisionTransformer:
    torch.manual_seed(3)
    network = VisionTransformer(**options)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return network.eval()


@pytest.mark.parametrize(
    "options",
    [{}, {"bias": False}, {"scaled": True}, {"classes": 0}, {"act": nn.ReLU()}],
    ids=["plain", "no bias", "LayerScale", "no head", "another activation"],
)
@torch.no_grad()
def test_weights_and_output_are_those_of_the_module(options: dict[str, Any]) -> None:
    network, pixels = built(**options), torch.randn(1, 3, *SIZE)
    t = trace(load(network), pixels)
    expected: list[Tensor] = []
    for part in network.modules():
        if isinstance(part, nn.Softmax):
            part.register_forward_hook(lambda _, __, weights: expected.append(weights[0]))
    logits = network(pixels)
    assert [tuple(t.weights(site).shape) for site in t.sites] == [(HEADS, 7, 7)] * DEPTH
    for site, weights in zip(t.sites, expected, strict=True):
        torch.testing.assert_close(t.weights(site), weights, atol=ROUNDING, rtol=0)
    output = network.forward_features(pixels) if options.get("classes") == 0 else logits
    torch.testing.assert_close(t.output.values, output, atol=ROUNDING, rtol=ROUNDING)


def test_pictures_are_read_as_the_module_states() -> None:
    reads = load(built()).preprocessing
    assert reads is not None
    assert (reads.size, reads.mean, reads.std) == (SIZE, (0.4, 0.5, 0.6), (0.2, 0.3, 0.25))


def test_positions_of_other_tokens_are_refused() -> None:
    network = built()
    network.pos_embed = nn.Parameter(torch.randn(1, 6, DIM))  # none for the class token
    with pytest.raises(ValueError, match="timm: pos_embed has another shape than in our ViT"):
        load(network)


def test_the_module_stays_as_it_was() -> None:
    network = built().train()
    before = {name: each.clone() for name, each in network.state_dict().items()}
    model = load(network)
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.zero_()
    assert network.training
    assert all(each.equal(before[name]) for name, each in network.state_dict().items())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"extra": {"norm_pre": nn.LayerNorm(DIM)}}, "no place in our ViT.*norm_pre.weight"),
        ({"extra": {"fc_norm": nn.LayerNorm(DIM)}}, "no place in our ViT.*fc_norm.weight"),
        ({"act": nn.SiLU()}, "its output differs by"),
        ({"parallel": True}, "its output differs by"),
    ],
    ids=["a norm before", "a norm after pooling", "another activation", "another order"],
)
def test_what_is_not_the_same_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"VisionTransformer of timm.*{reason}"):
        load(built(**options))
