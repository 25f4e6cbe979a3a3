"""Binary checkpoints of other programs: what is written is read, and damage is refused."""

import contextlib
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from models.files.ctranslate2 import read_ctranslate2
from models.files.errors import CheckpointError
from models.files.marian import INTGEMM8, read_marian
from tests.models.files.binaries import ctranslate2_bytes, marian_bytes

DICE = np.random.default_rng(5)
CT2 = {
    "encoder/layer_0/weight": DICE.standard_normal((3, 5)).astype(np.float16),
    "encoder/scale": np.float32(DICE.standard_normal(7)),
    "encoder/num_heads": np.array(2, np.int16),
    "encoder/counts": DICE.integers(-9, 9, (2, 2)).astype(np.int8),
}
MARIAN = {
    "encoder_l1_b": DICE.standard_normal((1, 5)).astype(np.float32),
    "Wemb": DICE.standard_normal((11, 3)).astype(np.float32),
    "encoder_l1_W": DICE.standard_normal((3, 5)).astype(np.float32),
}
SETTINGS = "dim-emb: 3\n"


def ct2_file(path: Path, **changes: Any) -> Path:
    path.write_bytes(ctranslate2_bytes(CT2, {"encoder/again": "encoder/scale"}, **changes))
    return path


def marian_file(path: Path) -> Path:
    path.write_bytes(marian_bytes(MARIAN, {"Wemb", "encoder_l1_W"}, SETTINGS))
    return path


def read_ct2(file: Path) -> object:
    return read_ctranslate2(file, "WhisperSpec")


READERS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], object]]] = {
    "CTranslate2": (ct2_file, read_ct2),
    "Marian": (marian_file, read_marian),
}


def test_ctranslate2(tmp_path: Path) -> None:
    found = read_ctranslate2(ct2_file(tmp_path / "model.bin"), "WhisperSpec")
    assert set(found) == {*CT2, "encoder/again"}
    for name, array in CT2.items():
        assert torch.equal(found[name], torch.from_numpy(array))
    assert torch.equal(found["encoder/again"], found["encoder/scale"])


def test_marian(tmp_path: Path) -> None:
    found, settings = read_marian(marian_file(tmp_path / "model.bin"))
    assert settings == SETTINGS
    assert set(found) == set(MARIAN)
    assert torch.equal(found["encoder_l1_b"], torch.from_numpy(MARIAN["encoder_l1_b"]))
    for name in ("Wemb", "encoder_l1_W"):
        step = np.abs(MARIAN[name]).max() / 127  # of rounding to 8 bits
        assert found[name].shape == MARIAN[name].shape
        assert np.abs(found[name].numpy() - MARIAN[name]).max() <= step / 2 + 1e-6


@pytest.mark.parametrize("reader", READERS)
def test_every_beginning_of_a_file_is_refused(reader: str, tmp_path: Path) -> None:
    write, read = READERS[reader]
    whole = write(tmp_path / "whole.bin").read_bytes()
    cut = tmp_path / "cut.bin"
    for end in range(0, len(whole), 1 if len(whole) < 1000 else 37):
        cut.write_bytes(whole[:end])
        with pytest.raises(CheckpointError, match=r"cut.bin is damaged") as caught:
            read(cut)
        assert "\n" not in str(caught.value)
    cut.write_bytes(whole + b"\0")
    with pytest.raises(CheckpointError, match="1 bytes too many"):
        read(cut)


@pytest.mark.parametrize("reader", READERS)
def test_random_damage_is_refused_or_changes_numbers_alone(reader: str, tmp_path: Path) -> None:
    """The reader raises nothing else, and takes no memory for sizes that are not there."""
    write, read = READERS[reader]
    whole = write(tmp_path / "whole.bin").read_bytes()
    broken, dice, refused = tmp_path / "broken.bin", np.random.default_rng(3), 0
    for _ in range(100):
        data = bytearray(whole)
        data[dice.integers(min(len(data), 600))] = dice.integers(256)
        broken.write_bytes(data)
        with contextlib.suppress(CheckpointError):
            read(broken)
            refused -= 1
        refused += 1
    assert refused > 7


def test_another_version_or_specification(tmp_path: Path) -> None:
    file = tmp_path / "model.bin"
    with pytest.raises(CheckpointError, match="expected version 6, received 5"):
        read_ct2(ct2_file(file, version=5))
    with pytest.raises(CheckpointError, match="expected WhisperSpec, received 'TransformerSpec'"):
        read_ct2(ct2_file(file, specification="TransformerSpec"))
    data = bytearray(marian_file(file).read_bytes())
    data[0] = 2
    file.write_bytes(data)
    with pytest.raises(CheckpointError, match="expected version 1, received 2"):
        read_marian(file)


def test_an_8_bit_matrix_without_a_factor(tmp_path: Path) -> None:
    file = marian_file(tmp_path / "model.bin")
    data = file.read_bytes()
    factor = np.float32(127 / np.abs(MARIAN["Wemb"]).max())
    place = data.index(struct.pack("<f", factor))
    file.write_bytes(data[:place] + struct.pack("<f", float("nan")) + data[place + 4 :])
    with pytest.raises(CheckpointError, match="Wemb has the factor nan"):
        read_marian(file)
    assert INTGEMM8 == 0x4101  # of Marian's types.h
