"""The loop: it repeats itself, goes on where it stopped, and stops at what is not a number."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.vit import ViT, ViTConfig
from tests.full_disk import disk_with_room_for
from train import loop
from train.dates import SOURCE, TARGET, Dates
from train.letters import LETTERS, SIGNS, Induction, Reverse
from train.loop import Settings, Training
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
SETTINGS = Settings(steps=7, batch=5, every=3, tested=11, seed=5)


def training(name: str = "encoder", settings: Settings = SETTINGS) -> Training:
    task, make = CASES[name]
    return Training(make(), task, settings)


@pytest.mark.parametrize("name", CASES)
def test_every_network_goes_on_exactly_where_it_stopped(name: str, tmp_path: Path) -> None:
    whole, losses = training(name), []
    for loss in whole.run():
        losses.append(loss)
        if whole.step == 3:
            whole.save(tmp_path / "deep" / "snapshot.pt")
    assert len(losses) == 7
    rest = training(name)
    nn.init.zeros_(next(rest.network.parameters()))  # whatever it was before
    rest.resume(tmp_path / "deep" / "snapshot.pt")
    assert list(rest.run()) == losses[3:]  # to the last bit
    assert rest.score() == whole.score()
    state = whole.network.state_dict()
    assert all(tensor.equal(state[key]) for key, tensor in rest.network.state_dict().items())
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["snapshot.pt"]


def test_no_snapshot_and_one_of_another_network_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pt"
    training("decoder").save(tmp_path / "other.pt")
    for data in (None, b"", b"no archive", (tmp_path / "other.pt").read_bytes()):
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(ValueError, match=r"snapshot\.pt: expected a snapshot of") as caught:
            training().resume(path)
        assert "\n" not in str(caught.value)


def test_a_full_disk_leaves_the_last_good_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pt"
    training().save(path)
    good = path.read_bytes()
    with disk_with_room_for(10_000), pytest.raises(OSError, match="File too large"):
        training("vit").save(path)
    assert path.read_bytes() == good


def test_it_keeps_nothing_outside() -> None:
    before = torch.random.get_rng_state()
    alone = list(training().run())
    assert torch.random.get_rng_state().equal(before)
    other = training(settings=replace(SETTINGS, seed=7))
    mixed = list(zip(training().run(), other.run(), strict=True))
    assert [a for a, _ in mixed] == alone
    assert [b for _, b in mixed] != alone


@pytest.mark.parametrize("steps", [0, 4])
def test_what_is_not_a_number_ends_it_before_it_changes_a_weight(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = training()
    run = found.run()
    for _ in range(steps):
        next(run)
    good = {key: tensor.clone() for key, tensor in found.network.state_dict().items()}
    monkeypatch.setattr(loop, "loss_of", lambda logits, batch: logits.sum() * torch.nan)
    with pytest.raises(ValueError, match=f"is not a finite number at step {steps + 1}"):
        next(run)
    assert all(tensor.equal(good[key]) for key, tensor in found.network.state_dict().items())


def test_time_is_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Training, "seconds", (1000.0, 500.0))
        training().save(tmp_path / "snapshot.pt")
    rest = training()
    rest.resume(tmp_path / "snapshot.pt")
    assert 1000 < rest.seconds[0] < 1100
    assert 500 <= rest.seconds[1] < 600
