"""Atomic writing of training snapshots and finished checkpoints.

A file is written beside its place first and moved there when all of it is on the disk, so that a
full disk, or the end of the power, leaves the last good one.
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import nn

from train.loop import Snapshot

LIBRARIES = ("torch", "numpy", "safetensors", "tokenizers")


def save_snapshot(snapshot: Snapshot, path: Path) -> None:
    """Writes a snapshot; if that fails, what was there before is still there.

    Raises:
        OSError: if there is no room, or no permission.
    """
    packed = BytesIO()
    torch.save(asdict(snapshot), packed)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(packed.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def open_snapshot(path: Path) -> Snapshot:
    """A snapshot from its file.

    Raises:
        ValueError: if there is no readable one.
    """
    try:
        return Snapshot(**torch.load(path, weights_only=True))
    except Exception as error:  # a damaged archive can make the reader raise anything
        raise ValueError(f"{path.name}: expected a snapshot, received: {error}") from error


def save_checkpoint(
    network: nn.Module,
    config: Mapping[str, Any],
    folder: Path,
    *,
    files: Mapping[str, Callable[[Path], None]],
) -> None:
    """Writes a folder that `load` opens, in place of the one that was there.

    Args:
        network: whose weights to keep.
        told: the contents of config.json, to which the weights' SHA-256 is added.
        folder: where.
        files: what else belongs there: a name, and what writes it.

    Raises:
        OSError: if there is no room, or no permission; the old folder is still there.
    """
    new, old = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    if old.exists() and not folder.exists():  # the power went in between
        old.rename(folder)
    try:
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        new.mkdir(parents=True)
        weights = save({name: t.contiguous().cpu() for name, t in network.state_dict().items()})
        whole = {**config, "sha256": sha256(weights).hexdigest()}
        (new / "model.safetensors").write_bytes(weights)
        text = json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
        (new / "config.json").write_text(text, encoding="utf-8")
        for name, write in files.items():
            write(new / name)
        if folder.exists():
            folder.rename(old)
        try:
            new.rename(folder)
        except OSError:
            old.rename(folder)
            raise
    finally:
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)


def libraries() -> dict[str, str]:
    """The versions of the libraries that a checkpoint depends on."""
    return {name: version(name).partition("+")[0] for name in LIBRARIES}
