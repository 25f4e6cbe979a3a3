"""Folders that come from anywhere: read with care, refused in one line.

Nothing in a folder is believed before it is checked, no code of it runs, and no file outside it is
read. What a safetensors file holds is told from its header, which is held against the size of the
file before a single number is read.
"""

import json
import os
import pickle
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from models.files.errors import CheckpointError

MAX_JSON = 2**25  # bytes
MAX_HEADER = 100 * 2**20  # bytes; the format's own limit
SINGLE, SHARDED = "model.safetensors", "model.safetensors.index.json"
PICKLED, PICKLED_SHARDS = "pytorch_model.bin", "pytorch_model.bin.index.json"
SIZES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2} | {
    "I16": 2,
    "U16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
}
FLOATS = ("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2")


class Entry(NamedTuple):
    """One tensor as a header describes it."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def numbers(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Folder:
    """A folder, and how far its links may reach.

    Attributes:
        path: where it is.
        root: every file has to lie in here once its links are followed; the folder itself, unless
            it is part of something larger (the hub's cache links to its own store).
    """

    path: Path
    root: Path

    @staticmethod
    def at(path: Path, root: Path | None = None) -> "Folder":
        return Folder(path, (path if root is None else root).resolve())

    def file(self, name: str) -> Path | None:
        """The file of that name; None if there is none.

        Raises:
            CheckpointError: if it is not in the folder, or is no plain file.
        """
        found = self.path / name
        if Path(name).name != name or name in ("", ".", ".."):
            raise CheckpointError(f"{name!r} is no name of a file in the folder: not opened")
        if not os.path.lexists(found):
            return None
        try:
            real = found.resolve()
        except (OSError, RuntimeError) as error:
            raise CheckpointError(f"{name} is a link that leads nowhere") from error
        if not real.is_relative_to(self.root):
            raise CheckpointError(
                f"{name} is a link to a place outside the folder: not followed; copy the file here"
            )
        if not real.is_file():
            raise CheckpointError(f"{name}: expected a file, received something else")
        return found

    def json(self, name: str) -> dict[str, Any] | None:
        """A JSON object of the folder; None if there is no such file.

        Raises:
            CheckpointError: for a file that is too large, is not JSON or holds no object.
        """
        file = self.file(name)
        if file is None:
            return None
        if file.stat().st_size > MAX_JSON:
            raise CheckpointError(f"{name} is larger than {MAX_JSON // 2**20} MiB: not read")
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (ValueError, RecursionError, OSError) as error:
            what = str(error) or type(error).__name__
            raise CheckpointError(
                f"unreadable checkpoint: {name} is broken ({what:.80}): get it again, or repair it"
            ) from error
        if not isinstance(found, dict):
            raise CheckpointError(f"{name}: expected an object, received {found!r:.40}")
        return found

    def weights(self) -> tuple[Path, ...]:
        """The files that hold the weights: safetensors where there are any, else pickles.

        Raises:
            CheckpointError: if there are none, or an index names a file that is not there.
        """
        for single, index in ((SINGLE, SHARDED), (PICKLED, PICKLED_SHARDS)):
            whole = self.file(single)
            if whole is not None:
                return (whole,)
            shards = self.json(index)
            if shards is not None:
                return self._shards(index, shards, Path(single).suffix)
        raise CheckpointError(
            f"{SINGLE} is missing: there are no weights here (nor {SHARDED}, nor {PICKLED})"
        )

    def _shards(self, index: str, settings: Mapping[str, Any], suffix: str) -> tuple[Path, ...]:
        names = settings.get("weight_map")
        if not isinstance(names, dict) or not all(isinstance(n, str) for n in names.values()):
            raise CheckpointError(f"{index}: expected a weight_map of names of files")
        files = []
        for name in sorted(set(names.values())):
            file = self.file(name) if name.endswith(suffix) else None
            if file is None:
                raise CheckpointError(f"{index} names {name!r}, which is missing: get it again")
            files.append(file)
        if not files:
            raise CheckpointError(f"{index} names no files")
        return tuple(files)


def header(file: Path) -> dict[str, Entry]:
    """What a safetensors file holds, by name.

    Raises:
        CheckpointError: if what the header says cannot be true of a file of this size.
    """
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if size < 8 or length > min(size - 8, MAX_HEADER):
            raise CheckpointError(
                f"unreadable checkpoint: {file.name} is cut off or damaged: its header claims"
                f" {length:,} bytes and the file has {size:,}: get it again"
            )
        raw = opened.read(length)
    try:
        found = json.loads(raw)
        if not isinstance(found, dict):
            raise ValueError("expected an object")
        found.pop("__metadata__", None)
        entries = {name: _entry(name, value, size - 8 - length) for name, value in found.items()}
    except (ValueError, RecursionError) as error:
        if isinstance(error, CheckpointError):
            raise CheckpointError(f"unreadable checkpoint: {file.name} has {error}") from error
        raise CheckpointError(
            f"unreadable checkpoint: {file.name} has a broken header: get it again"
        ) from error
    spans = sorted(tuple(value["data_offsets"]) for value in found.values())
    if any(end > start for (_, end), (start, _) in pairwise(spans)):
        raise CheckpointError(
            f"unreadable checkpoint: {file.name} has a lying header: its tensors overlap"
        )
    return entries


def _entry(name: str, value: Any, room: int) -> Entry:
    """One tensor of a header, if it fits into the file."""
    try:
        dtype, shape, (start, end) = value["dtype"], value["shape"], value["data_offsets"]
        whole = all(type(number) is int and number >= 0 for number in (*shape, start, end))
    except (KeyError, TypeError, ValueError):
        whole = False
        dtype, shape, start, end = None, (), 0, 0
    if not whole or dtype not in SIZES:
        raise CheckpointError(f"a broken header: {name:.60} has no type, shape and place")
    entry = Entry(dtype, tuple(shape))
    wanted = entry.numbers * SIZES[dtype]
    if end - start != wanted or end > room:
        raise CheckpointError(
            f"a lying header: {name:.60} claims {wanted:,} bytes and the file has"
            f" {max(0, min(end, room) - start):,} for it"
        )
    return entry


def tensors(file: Path) -> dict[str, Tensor]:
    """The tensors of a weights file; a pickle is read without running anything it asks for.

    Raises:
        CheckpointError: for a file that is damaged or asks to run code.
    """
    if file.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        header(file)
        try:
            return load_file(file)
        except (SafetensorError, OSError, ValueError) as error:
            raise CheckpointError(f"unreadable checkpoint: {file.name}: {error}") from error
    return _unpickled(file)


def finite(tensor: Tensor) -> bool:
    """Whether all numbers are; one pass over them and no copy, unless their sum is not."""
    return bool(tensor.sum(dtype=torch.float32).isfinite()) or bool(tensor.isfinite().all())


def _unpickled(file: Path) -> dict[str, Tensor]:
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as packed:
            if sum(part.file_size for part in packed.infolist()) > 2 * file.stat().st_size + 2**20:
                raise CheckpointError(f"{file.name} is packed to grow when it is read: not opened")
    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{file.name} asks to run code when it is read, or is damaged: not opened; get a"
            " .safetensors file of these weights"
        ) from error
    except Exception as error:  # a damaged file can make the reader raise anything
        raise CheckpointError(
            f"unreadable checkpoint: {file.name} is damaged: get it again"
        ) from error
    if not isinstance(found, dict) or not all(isinstance(t, Tensor) for t in found.values()):
        raise CheckpointError(f"{file.name}: expected tensors by name, received something else")
    return {str(name): tensor for name, tensor in found.items()}
