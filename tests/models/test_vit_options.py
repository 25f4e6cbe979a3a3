"""Vision transformers as courses build them: every shape, every number, every option."""

from dataclasses import replace
from typing import Any

import pytest
import torch.nn.functional as F
from torch import nn

from models.blocks import ACTIVATIONS
from models.classifier import Classifier
from models.vit import ViT, ViTConfig
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


def test_a_head_for_all_patches() -> None:
    """The same at a quarter of the image, whose head is a sixteenth as large."""
    network = built(UNPROJECTED, image=64, depth=1, head_activation="tanh")
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


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"token_std": -0.1}, r"token_std, position_std: .*received -0.1 and 1.0"),
        ({"head_dropout": 1.0}, "head_dropout: expected 0 up to 1, received 1.0"),
        ({"head_activation": "swish"}, "head_activation: expected one of relu.*received 'swish'"),
        ({"embed_dropout": -0.5}, "embed_dropout: expected 0 up to 1, received -0.5"),
    ],
)
def test_config_errors(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **wrong)
