"""Files are whole or as they were: snapshots and checkpoints, on a disk that has run full."""

import json
from pathlib import Path

import pytest
import torch

from models.encoder import Encoder, EncoderConfig
from models.files.errors import CheckpointError
from models.loading.convert.own import settings_of
from models.run import load, trace
from tests.full_disk import disk_with_room_for
from train.loop import Settings, Snapshot, train
from train.sequences import LETTERS, Rearrange
from train.store import libraries, open_snapshot, save_checkpoint, save_snapshot

CONFIG = EncoderConfig(len(LETTERS), dim=15, heads=3, depth=2, mlp=17, classes=5, dropout=0.0)
OTHER = EncoderConfig(len(LETTERS), dim=15, heads=3, depth=2, mlp=17, classes=5, seed=7)


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    settings = Settings(steps=2, batch=3, tested=3)
    network = Encoder(EncoderConfig(len(LETTERS), dim=15, heads=3, classes=len(LETTERS)))
    *_, last = train(network, Rearrange(), settings)
    assert last.snapshot is not None
    return last.snapshot


def write(folder: Path, config: EncoderConfig) -> None:
    files = {"tokenizer.json": LETTERS.save}
    save_checkpoint(Encoder(config), settings_of(config), folder, files=files)


def test_a_snapshot_comes_back(snapshot: Snapshot, tmp_path: Path) -> None:
    save_snapshot(snapshot, tmp_path / "deep" / "snapshot.pt")
    found = open_snapshot(tmp_path / "deep" / "snapshot.pt")
    assert found.step == 2
    assert all(tensor.equal(found.weights[key]) for key, tensor in snapshot.weights.items())
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["snapshot.pt"]


def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    write(folder, CONFIG)
    good = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(good) == {"config.json", "model.safetensors", "tokenizer.json"}
    with disk_with_room_for(10_000), pytest.raises(OSError, match="File too large"):
        write(folder, OTHER)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == good
    assert [path.name for path in tmp_path.iterdir()] == ["small"]
    write(folder, OTHER)
    assert (folder / "model.safetensors").read_bytes() != good["model.safetensors"]


def test_power_that_went_in_between_is_made_good(tmp_path: Path) -> None:
    """The old folder was moved aside, and the new one not yet in its place."""
    folder = tmp_path / "small"
    write(folder, CONFIG)
    folder.rename(tmp_path / ".small.old")
    with disk_with_room_for(10_000), pytest.raises(OSError, match="File too large"):
        write(folder, OTHER)
    assert [path.name for path in tmp_path.iterdir()] == ["small"]


@pytest.mark.parametrize("text", [b"", b"no archive", None])
def test_no_snapshot_is_one_line(tmp_path: Path, text: bytes | None) -> None:
    if text is not None:
        (tmp_path / "snapshot.pt").write_bytes(text)
    with pytest.raises(ValueError, match=r"snapshot\.pt: expected a snapshot"):
        open_snapshot(tmp_path / "snapshot.pt")


def test_what_was_written_opens(tmp_path: Path) -> None:
    folder, network = tmp_path / "small", Encoder(CONFIG).eval()
    save_checkpoint(network, settings_of(CONFIG), folder, files={"tokenizer.json": LETTERS.save})
    model = load(folder)
    assert model.trained
    assert model.network.config == CONFIG
    found = trace(model, "stream")
    assert found.labels == [*"stream", "[END]"]
    expected = network(torch.tensor([LETTERS.ids("stream")]))
    assert found.output.name == "logits"
    assert found.output.values.equal(expected.logits)


def test_a_checkpoint_that_does_not_fit_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    write(folder, CONFIG)
    good = json.loads((folder / "config.json").read_text())
    for change, message in (
        ({"depth": 3}, "missing are .*blocks.2"),
        ({"classes": 0}, "no place for .*head"),
        ({"mlp": 19}, r"expected \(19, 15\), received \(17, 15\)"),
        ({"width": 3}, r"config: expected only .*, received \['width'\]"),
        ({"heads": "three"}, "config: "),
        ({"norm": "both"}, "norm: expected one of"),
    ):
        told = {**good, "config": {**good["config"], **change}}
        (folder / "config.json").write_text(json.dumps(told))
        with pytest.raises(CheckpointError, match=message) as caught:
            load(folder)
        assert "\n" not in str(caught.value)


def test_the_versions_are_told() -> None:
    assert libraries()["torch"] == torch.__version__.partition("+")[0]
