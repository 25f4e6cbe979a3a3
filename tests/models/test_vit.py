"""The vision transformer: its patches against loops, its size against the papers, its parts."""

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.blocks import ACTIVATIONS
from models.positional import GRID_POSITIONS
from models.vit import Classifier, Patches, ViT, ViTConfig, cut
from tests.models.tensors import noise

SMALL = ViTConfig(image=(15, 20), patch=(3, 5), dim=28, depth=3, heads=7, mlp=53, classes=11)
GRID, TOKENS = (5, 4), 21


def built(**changes: Any) -> Any:
    return ViT(replace(SMALL, **changes)).eval()


def pixels_of(rows: int = 15, cols: int = 20, channels: int = 3) -> Tensor:
    return torch.randn(2, channels, rows, cols, generator=torch.Generator().manual_seed(11))


# --- patches ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["p1 p2 c", "c p1 p2"])
def test_patches_equal_the_loop(order: str) -> None:
    pixels = pixels_of()
    found = cut(pixels, (3, 5), order)
    assert found.shape == (2, 20, 45)
    for row in range(5):
        for col in range(4):
            patch = pixels[1, :, 3 * row : 3 * row + 3, 5 * col : 5 * col + 5]
            numbers = []
            if order == "c p1 p2":
                numbers = [patch[c, i, j] for c in range(3) for i in range(3) for j in range(5)]
            else:
                numbers = [patch[c, i, j] for i in range(3) for j in range(5) for c in range(3)]
            assert found[1, 4 * row + col].tolist() == [float(number) for number in numbers]


@pytest.mark.parametrize("order", ["p1 p2 c", "c p1 p2"])
def test_a_convolution_is_the_same_sum(order: str) -> None:
    conv: Any = Patches((3, 5), 3, 28, "conv")
    linear: Any = Patches((3, 5), 3, 28, "linear", order)
    linear.project.weight.data = cut(conv.project.weight.data, (3, 5), order)[:, 0]
    linear.project.bias.data = conv.project.bias.data
    expected, grid = conv(pixels_of())
    found, same = linear(pixels_of())
    assert grid == same == GRID
    assert (found - expected).abs().max() < 1e-5


def test_without_a_width_patches_stay_as_they_are() -> None:
    network = built(dim=None, heads=5, head="mean", positions="none", order="c p1 p2")
    assert network.config.width == 45
    assert network.embed(pixels_of()).equal(cut(pixels_of(), (3, 5), "c p1 p2"))


# --- what goes in and comes out ---------------------------------------------------------------


@pytest.mark.parametrize("positions", GRID_POSITIONS)
@pytest.mark.parametrize("head", ["class", "mean"])
def test_any_size_its_patches_divide(positions: str, head: str) -> None:
    network = built(positions=positions, head=head, registers=2)
    first = 3 if head == "class" else 2
    for rows, cols in ((15, 20), (21, 5), (3, 35)):
        patches = rows * cols // 15
        out = network(pixels_of(rows, cols))
        assert out.logits.shape == (2, 11)
        assert out.hidden.shape == (2, first + patches, 28)
        assert [state.shape for state in out.states] == [out.hidden.shape] * 4
        assert [pattern.queries for pattern in out.patterns] == [first + patches] * 3


def test_sizes_that_do_not_fit() -> None:
    odd = pixels_of(17, 24)
    assert built()(odd).hidden.equal(built()(odd[..., :15, :20]).hidden)
    with pytest.raises(ValueError, match=r"smaller than a patch: .* 5 × 3 pixels, received 4 × 15"):
        built()(pixels_of(15, 4))
    with pytest.raises(ValueError, match=r"expected an image of 3 channels, received \(2, 4"):
        built()(pixels_of(channels=4))
    with pytest.raises(ValueError, match=r"bound to its grid: expected \(5, 4\).*\(4, 4\)"):
        built(head="flatten")(pixels_of(12, 20))


def test_what_the_head_reads() -> None:
    hidden = torch.randn(2, 22, 28)
    assert built().pool(hidden).equal(hidden[:, 0])
    assert built(head="mean", registers=2).pool(hidden).equal(hidden[:, 2:].mean(1))
    flat = built(head="flatten", registers=2).pool(hidden)
    assert flat.equal(hidden[:, 2:].reshape(2, 560))


def test_order_of_the_tokens() -> None:
    """Class, registers, patches row by row; registers have no position."""
    network = built(registers=2)
    assert network.config.prefix == ("class", "register 0", "register 1")
    assert network.config.tokens == TOKENS + 2
    x, table = network.embed(pixels_of()), network.positions.table
    patches, _ = network.patches(pixels_of())
    assert x[1, 0].equal(network.prefix[0] + table[0])
    assert x[:, 1:3].equal(network.prefix[1:].expand(2, -1, -1))
    assert x[:, 3:].equal(patches + table[1:])


def test_without_a_head() -> None:
    out = built(classes=0)(pixels_of())
    assert out.logits is None
    assert out.result == ("hidden states", out.hidden)
    assert built().head is not None


# --- patches as they are, into a head that reads them all --------------------------------------

UNPROJECTED = ViTConfig(
    image=64,
    patch=16,
    dim=None,
    depth=1,
    heads=6,
    mlp=100,
    activation="relu",
    norm="post",
    positions="sinusoidal",
    order="c p1 p2",
    head="flatten",
    neurons=(1000, 1000, 10),
    head_activation="tanh",
    head_dropout=0.1,
)


def test_a_head_for_all_patches() -> None:
    network: Any = ViT(UNPROJECTED).eval()
    assert network(noise(2, 3, 64, 64)).logits.shape == (2, 10)
    shapes = [layer.weight.shape for layer in network.head.layers]
    assert shapes == [(1000, 16 * 768), (1000, 1000), (10, 1000)]
    assert network.head.dropout.p == 0.1
    assert network.head.activation is ACTIVATIONS["tanh"]
    assert network.blocks[0].feed_forward.activation is ACTIVATIONS["relu"]


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


# --- norms and where weights start ---------------------------------------------------------------


def test_norm_of_patches() -> None:
    network, plain, pixels = built(patch_norm=True, positions="none"), built(), noise(2, 3, 15, 20)
    patches = network.patches(pixels)[0]
    expected = F.layer_norm(patches, (28,), eps=1e-6)
    assert (network.embed(pixels)[:, 1:] - expected).abs().max() < 1e-6
    assert isinstance(plain.patch_norm, nn.Identity)


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
