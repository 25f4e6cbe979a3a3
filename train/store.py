"""Atomic writing of training snapshots and finished checkpoints.

A file is written to a temporary name, flushed to disk and then renamed, so that a full disk or a
power failure leaves the previous version intact.
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

from models.whole_file import whole
from train.loop import Snapshot

LIBRARIES = ("torch", "numpy", "safetensors", "tokenizers")


def save_snapshot(snapshot: Snapshot, path: Path) -> None:
    """Writes a snapshot; on failure the previous one is kept.

    Raises:
        OSError: if there is no space or no permission.
    """
    packed = BytesIO()
    torch.save(asdict(snapshot), packed)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as beside, beside.open("wb") as file:
        file.write(packed.getbuffer())
        file.flush()
        os.fsync(file.fileno())


def open_snapshot(path: Path) -> Snapshot:
    """Reads a snapshot.

    Raises:
        ValueError: if there is none, or it is unreadable.
    """
    try:
        return Snapshot(**torch.load(path, weights_only=True))
    except Exception as error:  # a damaged archive can raise anything
        raise ValueError(f"{path.name}: expected a snapshot, received: {error}") from error


def save_checkpoint(
    network: nn.Module,
    config: Mapping[str, Any],
    folder: Path,
    *,
    files: Mapping[str, Callable[[Path], None]],
) -> None:
    """Writes a folder that `load` opens, replacing an existing one.

    Args:
        network: whose weights to save.
        config: the contents of config.json; the SHA-256 of the weights is added.
        folder: destination.
        files: additional files: name and writer.

    Raises:
        OSError: if there is no space or no permission; the old folder is kept.
    """
    new, old = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    if old.exists() and not folder.exists():  # interrupted between the two renames
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
