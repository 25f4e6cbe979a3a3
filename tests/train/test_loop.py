"""The loop: it repeats itself for any network, and stops at what is not a number."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.vit import ViT, ViTConfig
from train import loop
from train.dates import SOURCE, TARGET, Dates
from train.letters import LETTERS, SIGNS, Induction, Reverse
from train.loop import Settings, fit
from train.shapes import Shapes

SMALL: dict[str, Any] = {"dim": 15, "heads": 3, "depth": 2, "mlp": 17, "dropout": 0.2, "seed": 3}
LETTER, SIGN = len(LETTERS.names), len(SIGNS.names)
DATES = Seq2SeqConfig(
    len(SOURCE.names), len(TARGET.names), **SMALL, d_k=5, d_v=7, share_source=False
)
CASES: dict[str, tuple[Any, Any]] = {
    "encoder": (Reverse(), lambda: Encoder(EncoderConfig(LETTER, **SMALL, classes=LETTER))),
    "decoder": (Induction(), lambda: Decoder(DecoderConfig(SIGN, **SMALL))),
    "seq2seq": (Dates(), lambda: Seq2Seq(DATES)),
    "vit": (Shapes(), lambda: ViT(ViTConfig(64, 16, classes=12, **SMALL))),
}
SETTINGS = Settings(steps=5, batch=5, every=3, tested=11, seed=5)


def training(name: str = "encoder", seed: int = 5) -> tuple[nn.Module, Any]:
    task, make = CASES[name]
    network = make()
    return network, fit(network, task, replace(SETTINGS, seed=seed))


@pytest.mark.parametrize("name", CASES)
def test_two_trainings_at_once_are_what_each_is_alone(name: str) -> None:
    """To the last bit: steps share no state, and leave the global one."""
    before = torch.random.get_rng_state()
    network, steps = training(name)
    alone = list(steps)
    assert torch.random.get_rng_state().equal(before)
    (again, steps), (_, other) = training(name), training(name, seed=7)
    mixed = list(zip(steps, other, strict=True))
    assert [a for a, _ in mixed] == alone
    assert [b for _, b in mixed] != alone
    state = network.state_dict()
    assert all(tensor.equal(state[key]) for key, tensor in again.state_dict().items())
    assert not network.training


@pytest.mark.parametrize("steps", [0, 4])
def test_what_is_not_a_number_ends_it_before_it_changes_a_weight(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, run = training()
    for _ in range(steps):
        next(run)
    good = {key: tensor.clone() for key, tensor in network.state_dict().items()}
    monkeypatch.setattr(loop, "loss_of", lambda logits, batch: logits.sum() * torch.nan)
    with pytest.raises(ValueError, match=f"is not a finite number at step {steps + 1}"):
        next(run)
    assert all(tensor.equal(good[key]) for key, tensor in network.state_dict().items())
