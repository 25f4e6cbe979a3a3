"""The loop: it repeats itself, goes on where it stopped, and stops at what is not a number."""

from collections.abc import Iterator
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
from train.dates import SOURCE, TARGET, Dates
from train.induction import SIGNS, Induction
from train.loop import Progress, Settings, train
from train.sequences import LETTERS, Rearrange
from train.shapes import Shapes
from train.store import open_snapshot, save_snapshot
from train.task import Task

SMALL: dict[str, Any] = {"dim": 15, "heads": 3, "depth": 2, "mlp": 17, "dropout": 0.2, "seed": 3}
WORDS = len(LETTERS)
CASES: dict[str, tuple[Task, Any]] = {
    "encoder": (Rearrange(), lambda: Encoder(EncoderConfig(WORDS, **SMALL, classes=WORDS))),
    "decoder": (Induction(), lambda: Decoder(DecoderConfig(len(SIGNS), **SMALL))),
    "seq2seq": (
        Dates(),
        lambda: Seq2Seq(
            Seq2SeqConfig(len(SOURCE), len(TARGET), **SMALL, d_k=5, d_v=7, share_source=False)
        ),
    ),
    "vit": (Shapes(), lambda: ViT(ViTConfig(64, 16, classes=12, **SMALL))),
}
SETTINGS = Settings(steps=7, batch=5, every=3, tested=11, seed=5)


def losses(progress: Iterator[Progress]) -> list[float]:
    return [each.loss for each in progress]


@pytest.mark.parametrize("name", CASES)
def test_every_network_goes_on_exactly_where_it_stopped(name: str, tmp_path: Path) -> None:
    task, make = CASES[name]
    whole = list(train(make(), task, SETTINGS))
    assert [each.step for each in whole] == [1, 2, 3, 4, 5, 6, 7]
    assert [each.snapshot is not None for each in whole] == [False, False, True] * 2 + [True]
    assert whole[2].snapshot is not None
    save_snapshot(whole[2].snapshot, tmp_path / "snapshot.pt")
    other = make()
    nn.init.zeros_(next(other.parameters()))  # whatever it was before
    rest = list(train(other, task, SETTINGS, start=open_snapshot(tmp_path / "snapshot.pt")))
    assert [each.loss for each in rest] == [each.loss for each in whole[3:]]  # to the last bit
    assert [each.score for each in rest] == [each.score for each in whole[3:]]
    assert rest[-1].snapshot is not None
    assert whole[-1].snapshot is not None
    for key, tensor in whole[-1].snapshot.weights.items():
        assert tensor.equal(rest[-1].snapshot.weights[key])


def test_a_snapshot_of_another_network_is_one_line() -> None:
    task, make = CASES["encoder"]
    *_, last = train(make(), task, SETTINGS)
    with pytest.raises(ValueError, match="start: expected a snapshot of this network") as caught:
        next(train(CASES["decoder"][1](), CASES["decoder"][0], SETTINGS, start=last.snapshot))
    assert "\n" not in str(caught.value)


def test_it_keeps_nothing_outside() -> None:
    task, make = CASES["encoder"]
    before = torch.random.get_rng_state()
    alone = losses(train(make(), task, SETTINGS))
    assert torch.random.get_rng_state().equal(before)
    first, second = train(make(), task, SETTINGS), train(make(), task, replace(SETTINGS, seed=7))
    mixed = [(a.loss, b.loss) for a, b in zip(first, second, strict=True)]
    assert [a for a, _ in mixed] == alone
    assert [b for _, b in mixed] != alone
    torch.rand(3)
    assert losses(train(make(), task, SETTINGS)) == alone


def test_snapshots_do_not_change_afterwards() -> None:
    task, make = CASES["encoder"]
    run = train(make(), task, SETTINGS)
    third = [next(run) for _ in range(3)][2].snapshot
    assert third is not None
    before = {key: tensor.clone() for key, tensor in third.weights.items()}
    list(run)
    assert all(third.weights[key].equal(tensor) for key, tensor in before.items())


class Poisoned:
    """A task whose answers make the loss infinite from one batch on."""

    def __init__(self, network: nn.Module, batches: int) -> None:
        self.network, self.left = network, batches
        self.inner = Rearrange()

    def draw(self, dice: Any) -> str:
        return self.inner.draw(dice)

    def key(self, item: str) -> str:
        return self.inner.key(item)

    def batch(self, items: Any) -> Any:
        if len(items) == SETTINGS.batch:
            self.left -= 1
            if self.left < 0:
                with torch.no_grad():
                    next(self.network.parameters())[1:].fill_(torch.nan)
        return self.inner.batch(items)


@pytest.mark.parametrize(("batches", "back"), [(0, 0), (4, 3), (6, 6)])
def test_what_is_not_a_number_ends_it_at_the_last_good_snapshot(batches: int, back: int) -> None:
    network = CASES["encoder"][1]()
    start = {key: tensor.clone() for key, tensor in network.state_dict().items()}
    found = list(train(network, Poisoned(network, batches), SETTINGS))
    assert len(found) == batches + 1
    assert found[-1].problem == (
        "the loss or its gradient is not a finite number"
        f" at step {batches + 1}: back at step {back}"
    )
    assert all(each.problem is None for each in found[:-1])
    good = found[back - 1].snapshot if back else None
    expected = start if good is None else good.weights
    assert all(tensor.equal(expected[key]) for key, tensor in network.state_dict().items())
    assert not network.training


def test_the_rate_rises_and_falls() -> None:
    task, make = CASES["encoder"]
    settings = replace(SETTINGS, steps=20, warmup=0.25, every=20)
    rates = [each.rate for each in train(make(), task, settings)]
    top = rates.index(max(rates))
    assert rates[top] == pytest.approx(settings.rate, rel=0.05)
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert rates[-1] < settings.rate / 50


def test_time_left() -> None:
    task, make = CASES["encoder"]
    for each in train(make(), task, SETTINGS):
        assert each.left == pytest.approx(each.seconds / each.step * (7 - each.step))


def test_time_is_added_up() -> None:
    task, make = CASES["encoder"]
    third = list(train(make(), task, SETTINGS))[2].snapshot
    assert third is not None
    assert 0 < third.processor
    long = replace(third, seconds=1000.0, processor=500.0)
    rest = list(train(make(), task, SETTINGS, start=long))
    assert 1000 < rest[0].seconds < 1000 + rest[-1].seconds
    assert rest[0].left < 100  # judged by this run alone
    assert rest[-1].snapshot is not None
    assert 500 < rest[-1].snapshot.processor < 600


def test_a_tiny_task_is_learned() -> None:
    """Three letters copied: seconds, and all of it right."""
    task = Rearrange("copy", shortest=2, longest=3)
    config = EncoderConfig(WORDS, dim=23, heads=1, depth=1, mlp=29, dropout=0.0, classes=WORDS)
    *_, last = train(Encoder(config), task, Settings(steps=150, batch=32, rate=1e-2, every=150))
    assert last.score is not None
    assert last.score.share == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"steps": 0}, "steps: expected at least 1, received 0"),
        ({"rate": -1.0}, "rate: expected above 0, received -1.0"),
        ({"warmup": 1.0}, "warmup: expected between 0 and 1, received 1.0"),
    ],
)
def test_settings_that_cannot_be(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**wrong)


@pytest.mark.cuda
def test_it_goes_on_exactly_on_a_gpu() -> None:
    task, make = CASES["encoder"]
    whole = list(train(make().cuda(), task, SETTINGS))
    rest = losses(train(make().cuda(), task, SETTINGS, start=whole[2].snapshot))
    assert rest == [each.loss for each in whole[3:]]
