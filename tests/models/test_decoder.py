"""The decoder: its config, its output, and keys and values kept."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from analysis.outputs import likeliest
from models.decoder import Decoder, DecoderConfig
from models.edits import Ablate
from models.positional import POSITIONS
from models.run import load, trace
from tests.models.devices import DEVICES
from tests.models.tensors import ids_of

SMALL = DecoderConfig(vocab=101, dim=70, depth=3, heads=5, mlp=53, max_tokens=31, seed=2)
ROUNDING = 1e-5  # logits up to 6 after three layers of float32


def built(**changes: Any) -> Decoder:
    return Decoder(replace(SMALL, **changes)).eval()


# --- config and weights -----------------------------------------------------------------------


def test_tied_and_untied() -> None:
    tied, untied = built(), built(tied=False)
    counts = [sum(weights.numel() for weights in n.parameters()) for n in (tied, untied)]
    assert counts[1] - counts[0] == 101 * 70
    for network in (tied, untied):
        out = network(ids_of())
        weight = network.embedding.tokens.weight if network is tied else network.output.weight
        assert weight is not None
        assert out.logits.equal(out.hidden @ weight.T)
        assert out.result == ("logits", out.logits)


def test_untrained_logits_are_about_one() -> None:
    """The embedding suits both of its uses: as wide as the positions, and logits of size 1."""
    out = built().requires_grad_(False)(ids_of())
    assert 0.5 < float(out.logits.std()) < 2
    assert 0.9 < float(built(positions="none").embedding(ids_of()).detach().std()) < 1.1
    for scale in (False, True):
        network = built(positions="learned", embed_scale=scale).requires_grad_(False)
        embedding = network.embedding
        spread = [
            float(each.std())
            for each in (embedding.tokens.weight, *embedding.positions.parameters())
        ]
        assert spread[0] * embedding.factor == pytest.approx(spread[1], rel=0.1)


# --- keys and values of earlier tokens --------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_a_past_changes_nothing(positions: str, norm: str, device: str) -> None:
    """Seven tokens, then three, then one: the rows of all eleven at once."""
    network, ids = built(positions=positions, norm=norm).to(device), ids_of().to(device)
    padding = torch.zeros(2, 11, dtype=torch.bool, device=device)
    padding[1, :2] = True
    whole, past = network(ids, padding=padding), None
    for start, end in ((0, 7), (7, 10), (10, 11)):
        past = network(ids[:, :end], padding=padding[:, :end], past=past)
        rows = slice(start, end)
        assert past.logits.shape == (2, end - start, 101)
        assert (past.logits - whole.logits[:, rows]).abs().max() < ROUNDING
        for mine, pattern in zip(past.patterns, whole.patterns, strict=True):
            expected = pattern.weights()[:, :, rows, :end]
            assert (mine.weights() - expected).abs().max() < ROUNDING


def test_a_past_refuses() -> None:
    network = built()
    past = network(ids_of(2, 7))
    with pytest.raises(
        ValueError, match="past: expected fewer than the 7 tokens given, received 7"
    ):
        network(ids_of(2, 7), past=past)
    with pytest.raises(ValueError, match="edits: expected none with a past"):
        network(ids_of(), past=past, edits=[Ablate(0, 1)])


# --- edits ------------------------------------------------------------------------------------


def test_logits_of_the_last_tokens_alone() -> None:
    model = load(DecoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13))
    ids = torch.randint(53, (1, 11), generator=torch.Generator().manual_seed(5))
    whole, last = trace(model, ids), trace(model, ids, logits_to_keep=2)
    assert last.output.values.shape == (1, 2, 53)
    assert last.output.first == 9
    assert torch.allclose(last.output.values, whole.output.values[:, 9:], rtol=0, atol=1e-5)
    assert likeliest(last, -1).ids == likeliest(whole, -1).ids
    with pytest.raises(ValueError, match="logits were kept from token 9 on, received 3"):
        likeliest(last, 3)
    with pytest.raises(ValueError, match="logits_to_keep: expected 1 or more, received 0"):
        trace(model, ids, logits_to_keep=0)
