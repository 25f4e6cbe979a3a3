"""The translator: its recurrent unit by hand, and what every encoder–decoder here does."""

import math

import pytest
import torch

from models.edits import Ablate, Cut
from models.run import load, trace
from models.ssru import SSRU, Translator, TranslatorConfig, halves

SMALL = TranslatorConfig(vocab=31, dim=14, depth=3, decoder_depth=2, heads=7, mlp=11, seed=5)
SOURCE = torch.tensor([[3, 14, 15, 9, 2], [6, 5, 3, 32, 32]])  # the second is shorter
TARGET = torch.tensor([[31, 8, 9, 7], [31, 9, 4, 1]])


@pytest.fixture(scope="module")
def network() -> Translator:
    return Translator(SMALL).eval()


def test_the_recurrent_unit_by_hand() -> None:
    """σ(ln 3) = 3/4 keeps so much of the cell and adds a quarter of 8, −10 and 6."""
    unit = SSRU(1)
    with torch.no_grad():
        unit.input.weight.fill_(2.0)
        unit.forget.weight.zero_()
        unit.forget.bias.fill_(math.log(3))
        out = unit(torch.tensor([[[4.0], [-5.0], [3.0]]]))
    assert out[0, :, 0].tolist() == pytest.approx([2.0, 0.0, 0.75])  # cells 2, −1 and 0.75


def test_positions_by_hand() -> None:
    table, slow = halves(3, 4)[1:], 1e-4
    expected = torch.tensor([1.0, slow, 2.0, 2 * slow]).reshape(2, 2)
    assert torch.allclose(table[:, :2], expected.sin())
    assert torch.allclose(table[:, 2:], expected.cos())


@torch.no_grad()
def test_padding_changes_nothing(network: Translator) -> None:
    both = network(SOURCE, TARGET)
    alone = network(SOURCE[1:, :3], TARGET[1:])
    assert torch.allclose(both.logits[1], alone.logits[0], atol=1e-6)
    assert torch.allclose(both.blocks[1][0].weights(item=1)[..., :3], alone.blocks[1][0].weights())


def test_traces_and_edits() -> None:
    model = load(SMALL)
    found = trace(model, SOURCE[:1], TARGET[:1, 1:], hidden=True)
    kinds = [(site.tower, site.kind, site.layer) for site in found.sites]
    assert kinds == [("encoder", "self", layer) for layer in range(3)] + [
        ("decoder", "cross", layer) for layer in range(2)
    ]
    assert found.weights(1, 4, kind="cross").shape == (3, 5)
    assert found.hidden(2, tower="decoder").shape == (3, 14)
    edited = trace(
        model, SOURCE[:1], TARGET[:1, 1:], edits=[Cut(1, 4, query=2, key=0, kind="cross")]
    )
    assert edited.weights(1, 4, kind="cross")[2, 0] == 0
    assert torch.equal(edited.weights(2, kind="self"), found.weights(2, kind="self"))
    less = trace(model, SOURCE[:1], TARGET[:1, 1:], edits=[Ablate(2, 0, tower="encoder")])
    assert not torch.allclose(less.output.values, found.output.values)
    with pytest.raises(ValueError, match="kind"):
        trace(model, SOURCE[:1], edits=[Ablate(0, 0, kind="causal")])
