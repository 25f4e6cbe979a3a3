"""Vision transformers as courses build them: every shape, every number, every option."""

from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from models.blocks import ACTIVATIONS, PreNormBlock
from models.classifier import Classifier
from models.cost.count import parts, total
from models.cost.memory import peak_memory
from models.patches import cut
from models.vit import ViT, ViTConfig
from tests.models.devices import DEVICES
from tests.models.tensors import noise

SMALL = ViTConfig(image=(15, 20), patch=(3, 5), dim=28, depth=3, heads=7, mlp=53, classes=11)


def built(config: ViTConfig = SMALL, **changes: Any) -> Any:
    return ViT(replace(config, **changes)).eval()


# --- patches as they are, into a head that reads them all --------------------------------------

UNPROJECTED = ViTConfig(
    image=256,
    patch=16,
    dim=None,
    depth=6,
    heads=6,
    mlp=100,
    activation="relu",
    norm="post",
    positions="sinusoidal",
    order="c p1 p2",
    head="flatten",
    neurons=(1000, 1000, 10),
    head_activation="relu",
    head_dropout=0.1,
)


def test_patches_channel_first() -> None:
    """As unfolding rows and then columns gives them."""
    pixels = noise(2, 3, 256, 256)
    found = cut(pixels, 16, "c p1 p2")
    assert found.shape == (2, 256, 768)
    unfolded = pixels.unfold(2, 16, 16).unfold(3, 16, 16)  # batch c row col p1 p2
    assert found.equal(unfolded.permute(0, 2, 3, 1, 4, 5).reshape(2, 256, 768))


def test_encoder_without_a_projection() -> None:
    out = built(UNPROJECTED, neurons=(), classes=0)(noise(2, 3, 256, 256))
    assert out.hidden.shape == (2, 256, 768)
    assert len(out.patterns) == 6
    assert out.patterns[5].weights(3, slice(0, 1)).shape == (2, 1, 256)
    assert out.logits is None


@pytest.mark.parametrize(
    "activation", ["relu", "tanh", "sigmoid", "silu", "softplus", "leaky_relu"]
)
def test_a_head_for_all_patches(activation: str) -> None:
    """The same at a quarter of the image, whose head is a sixteenth as large."""
    network = built(UNPROJECTED, image=64, depth=1, head_activation=activation)
    assert network(noise(2, 3, 64, 64)).logits.shape == (2, 10)
    assert [layer.weight.shape for layer in network.head.layers] == [
        (1000, 16 * 768),
        (1000, 1000),
        (10, 1000),
    ]
    assert network.head.dropout.p == 0.1
    assert network.head.activation is ACTIVATIONS[activation]
    assert network.blocks[0].feed_forward.activation is ACTIVATIONS["relu"]


def test_the_head_is_counted_and_not_built() -> None:
    first = prod(UNPROJECTED.grid) * UNPROJECTED.width * UNPROJECTED.layers[0]
    assert first == 196_608_000
    bodies = total(parts(replace(UNPROJECTED, neurons=(), classes=0)), "parameters")
    rest = 1000 + 2 * 1000 + 1001 * 1000 + 2 * 1000 + 1001 * 10
    assert total(parts(UNPROJECTED), "parameters") - bodies == first + rest
    assert peak_memory(parts(UNPROJECTED)) > 4 * first


def test_an_unknown_activation_lists_the_known() -> None:
    known = "relu.*tanh.*sigmoid.*silu.*softplus.*leaky_relu"
    with pytest.raises(ValueError, match=f"activation: expected one of {known}.*'swish'"):
        Classifier(7, (5, 3), activation="swish")
    with pytest.raises(ValueError, match=f"head_activation: expected one of {known}.*'swish'"):
        replace(UNPROJECTED, head_activation="swish")


THEIRS: dict[str, nn.Module] = {
    "relu": nn.ReLU(),
    "tanh": nn.Tanh(),
    "sigmoid": nn.Sigmoid(),
    "silu": nn.SiLU(),
    "softplus": nn.Softplus(),
    "leaky_relu": nn.LeakyReLU(),
}


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("activation", THEIRS)
def test_a_head_equals_torch(activation: str, training: bool) -> None:
    """Linear, batch norm by the batch's own numbers while training, activation; then linear."""
    ours = Classifier(7, (13, 11, 5), activation=activation).train(training)
    theirs = nn.Sequential(
        *(nn.Linear(7, 13), nn.BatchNorm1d(13), THEIRS[activation]),
        *(nn.Linear(13, 11), nn.BatchNorm1d(11), THEIRS[activation]),
        nn.Linear(11, 5),
    ).train(training)
    parts = [ours.layers[0], ours.norms[0], ours.layers[1], ours.norms[1], ours.layers[2]]
    for place, part in zip((0, 1, 3, 4, 6), parts, strict=True):
        theirs[place].load_state_dict(part.state_dict())
    x = noise(19, 7)
    # Batch norm divides by deviations down to 0.1: a digit of seven
    assert (ours(x) - theirs(x)).abs().max() < 1e-5


# --- step by step -----------------------------------------------------------------------------

STEPS = ViTConfig(
    image=224,
    patch=14,
    dim=128,
    depth=6,
    heads=8,
    head_dim=64,
    mlp=2048,
    qkv_bias=False,
    out_projection="needed",
    dropout=0.1,
    embed_dropout=0.2,
    classes=1000,
)


def test_every_step() -> None:
    network, pixels = built(STEPS), noise(1, 3, 224, 224)
    patches = cut(pixels, STEPS.patch, STEPS.order)
    assert patches.shape == (1, 256, 588)
    assert network.patches(pixels)[0].shape == (1, 256, 128)
    assert network.prefix.shape == (1, 128)
    assert network.positions.table.shape == (257, 128)
    x = network.embed(pixels)
    assert x.shape == (1, 257, 128)
    assert x[:, 1:].equal(network.patches(pixels)[0] + network.positions.table[1:])
    assert x[:, 0].equal(network.prefix + network.positions.table[:1])
    out = network(pixels)
    assert out.hidden.shape == (1, 257, 128)
    assert out.patterns[0].q.shape == (1, 8, 257, 64)
    assert out.logits.shape == (1, 1000)
    assert [type(block) for block in network.blocks] == [PreNormBlock] * 6


def test_a_block_in_six_lines() -> None:
    """Norm, attention head by head, add; norm, feed-forward, add."""
    block, x = built(STEPS).blocks[0], noise(1, 257, 128)
    layer, y = block.attention, block.before_attention(x)
    parts = (part(y).unflatten(-1, (8, -1)) for part in (layer.query, layer.key, layer.value))
    q, k, v = (each.transpose(1, 2) for each in parts)
    mixed = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v
    z = x + layer.out(mixed.transpose(1, 2).flatten(2))
    fed = block.feed_forward.up(block.before_feed_forward(z))
    expected = z + block.feed_forward.down(F.gelu(fed))
    # Two sums of up to 2,048 products each
    assert (block(x)[0] - expected).abs().max() < 5e-6 * expected.abs().max()


def test_its_dropouts() -> None:
    network = built(STEPS)
    assert network.dropout.p == 0.2
    block = network.blocks[3]
    assert block.attention.config.dropout == block.feed_forward.dropout.p == block.dropout.p == 0.1
    assert built(STEPS, embed_dropout=None).dropout.p == 0.1
    assert built(STEPS, embed_dropout=0.0).dropout.p == 0.0
    assert network.head.dropout.p == 0.1
    assert built(STEPS, head_dropout=0.0).head.dropout.p == 0.0


def test_one_wide_head_has_no_output_projection() -> None:
    assert isinstance(built(STEPS, heads=1, head_dim=128).blocks[0].attention.out, nn.Identity)
    assert isinstance(built(STEPS, heads=1, head_dim=64).blocks[0].attention.out, nn.Linear)
    assert isinstance(built(STEPS).blocks[0].attention.out, nn.Linear)
    removed = 6 * (128 * 128 + 128)
    one = replace(STEPS, heads=1, head_dim=128)
    assert (
        total(parts(replace(one, out_projection="always")), "parameters")
        - total(parts(one), "parameters")
        == removed
    )


# --- convolution, positions, stochastic depth --------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("positions", ["learned", "sincos2d", "sinusoidal"])
def test_convolution_class_token_and_stochastic_depth(positions: str, device: str) -> None:
    network = built(patches="conv", positions=positions, drop_path=0.4, qkv_bias=False)
    pixels = noise(2, 3, 15, 20)
    convolved = network.patches.project(pixels)
    assert convolved.shape == (2, 28, 5, 4)
    tokens = convolved.flatten(2).transpose(1, 2)
    assert (network.patches(pixels)[0] - tokens).abs().max() < 1e-6
    assert network(pixels).hidden.shape == (2, 21, 28)
    network = network.to(device).train()
    kept = network(pixels.to(device)).hidden
    assert kept.isfinite().all()
    assert not kept.equal(network(pixels.to(device)).hidden)
    assert [block.drop_path.probability for block in network.blocks] == [0, 0.2, 0.4]


def test_norm_of_patches() -> None:
    network, plain, pixels = built(patch_norm=True, positions="none"), built(), noise(2, 3, 15, 20)
    patches = network.patches(pixels)[0]
    expected = F.layer_norm(patches, (28,), eps=1e-6)
    assert (network.embed(pixels)[:, 1:] - expected).abs().max() < 1e-6
    assert isinstance(plain.patch_norm, nn.Identity)
    assert total(parts(network.config), "parameters") == sum(
        p.numel() for p in network.parameters()
    )


@pytest.mark.parametrize("scaling", ["none", "fourth root"])
def test_scaling_reaches_every_block(scaling: str) -> None:
    pixels = noise(2, 3, 15, 20)
    plain, changed = built()(pixels), built(dot_scaling=scaling)(pixels)
    scores = changed.patterns[0].scores() * (0.5 if scaling == "none" else 1)  # heads of width 4
    assert (scores - plain.patterns[0].scores()).abs().max() < 1e-5
    same = (changed.hidden - plain.hidden).abs().max() < 5e-6
    assert bool(same) is (scaling == "fourth root")


@pytest.mark.parametrize("std", [0.0, 0.02, 1.0])
def test_where_class_token_and_positions_start(std: float) -> None:
    """The numbers that are drawn are the same ones, made smaller; no other weight moves."""
    plain, changed = built(), built(token_std=std, position_std=std, registers=0)
    assert (changed.prefix - std * plain.prefix).abs().max() < 1e-7
    assert (changed.positions.table - std * plain.positions.table).abs().max() < 1e-7
    spread = float(plain.positions.table.detach().std())
    assert spread == pytest.approx(1, abs=0.1)  # of 588 numbers
    ours, theirs = dict(changed.named_parameters()), dict(plain.named_parameters())
    for name in ours.keys() - {"prefix", "positions.table"}:
        assert ours[name].equal(theirs[name])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"token_std": -0.1}, r"token_std, position_std: .*received -0.1 and 1.0"),
        ({"position_std": -1.0}, r"token_std, position_std: .*received 1.0 and -1.0"),
        ({"head_dropout": 1.0}, "head_dropout: expected 0 up to 1, received 1.0"),
        ({"embed_dropout": -0.5}, "embed_dropout: expected 0 up to 1, received -0.5"),
        ({"dot_scaling": "cube"}, "dot_scaling: expected one of sqrt, none, fourth root, received"),
        (
            {"key_dim": 3},
            "key_dim: expected 4, the width of the queries, with dot scores, received",
        ),
        ({"out_projection": "never"}, "out_projection: expected one of always, needed, received"),
    ],
)
def test_config_errors(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **wrong)


def test_keys_narrower_than_queries() -> None:
    """Weights of each head and image against loops, from the block's own parameters."""
    network = built(scoring="bilinear", key_dim=3, norm="post")
    out = network(noise(2, 3, 15, 20))
    x, layer, pattern = out.states[0], network.blocks[0].attention, out.patterns[0]
    assert (pattern.q.shape[-1], pattern.k.shape[-1]) == (4, 3)
    for image, head in product(range(2), range(7)):
        of_query, of_key = slice(4 * head, 4 * head + 4), slice(3 * head, 3 * head + 3)
        q = x[image] @ layer.query.weight[of_query].T + layer.query.bias[of_query]
        k = x[image] @ layer.key.weight[of_key].T + layer.key.bias[of_key]
        expected = (q @ layer.scoring.matrix[head] @ k.T).softmax(-1)
        assert (pattern.weights(head)[image] - expected).abs().max() < 1e-6


# --- pixels as tokens --------------------------------------------------------------------------


def test_pixels_as_tokens_make_patches_necessary() -> None:
    """28 × 28 pixels: a 784 × 784 matrix a head, 2,401 times what patches of 7 need."""
    pixels = ViTConfig(image=28, patch=1, channels=1, dim=16, depth=1, heads=2, mlp=32, head="mean")
    patches = replace(pixels, patch=7)
    image = noise(1, 1, 28, 28)
    whole, coarse = (built(config)(image).patterns[0] for config in (pixels, patches))
    assert whole.weights(0).shape == (1, 784, 784)
    assert coarse.weights(0).shape == (1, 16, 16)
    assert whole.weights(0).numel() == 614_656 == 2_401 * coarse.weights(0).numel()
    assert (whole.weights(0).sum(-1) - 1).abs().max() < 1e-6
    assert built(replace(pixels, head="class"))(image).patterns[0].keys == 785


# --- half precision ---------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "digit"), [(torch.float16, 2**-10), (torch.bfloat16, 2**-7)])
@pytest.mark.parametrize("patches", ["linear", "conv"])
def test_half_precision(patches: str, dtype: torch.dtype, digit: float, device: str) -> None:
    network, pixels = built(patches=patches), noise(2, 3, 15, 20)
    expected = network(pixels)
    found = network.to(device, dtype)(pixels.to(device, dtype))
    assert found.logits.dtype == dtype
    # A dozen roundings of half a digit a block: 10 digits after three blocks and a norm
    off = (found.hidden.float().cpu() - expected.hidden).abs().max()
    assert off < 10 * digit * expected.hidden.abs().max()
    for rounded, pattern in zip(found.patterns, expected.patterns, strict=True):
        assert (rounded.weights().cpu() - pattern.weights()).abs().max() < 10 * digit
