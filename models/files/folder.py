"""Checkpoint folders from outside, read safely; every refusal is one line.

Nothing in a folder is trusted: no code of it runs, no file outside it is read, and a safetensors
header is checked against the size of its file before any number is read.
"""

import os
import pickle
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, prod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.files.errors import CheckpointError
from models.files.objects import read_object

SINGLE, SHARDED = "model.safetensors", "model.safetensors.index.json"
PICKLED, PICKLED_SHARDS = "pytorch_model.bin", "pytorch_model.bin.index.json"
MOST_SHARED = 8  # times that a pickle may hold the same numbers under several names
WIDER = {  # the next dtype that holds larger numbers
    torch.float16: torch.bfloat16,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
}


@dataclass(frozen=True)
class Folder:
    """A folder, and the root that its links may not leave.

    Attributes:
        path: of the folder.
        root: every resolved file has to lie in here: the folder itself, or the repository of the
            hub's cache whose blobs its files link to.
        trusted: whether its files are published ones of the catalogue, pinned by their digests.
    """

    path: Path
    root: Path
    trusted: bool = False

    @staticmethod
    def at(path: Path, root: Path | None = None, *, trusted: bool = False) -> "Folder":
        return Folder(path, (path if root is None else root).resolve(), trusted)

    def file(self, name: str) -> Path | None:
        """The path of a file in the folder; None if it is missing.

        Raises:
            CheckpointError: if it lies outside the folder or is not a regular file.
        """
        path = self.path / name
        if Path(name).name != name or name in ("", ".", ".."):
            raise CheckpointError(f"{name!r} is not a file name: not opened")
        if not os.path.lexists(path):
            return None
        try:
            real = path.resolve()
        except (OSError, RuntimeError) as error:
            raise CheckpointError(f"{name} is a broken link") from error
        if not real.is_relative_to(self.root):
            raise CheckpointError(
                f"{name} is a link out of the folder: not followed; copy the file here"
            )
        if not real.is_file():
            raise CheckpointError(f"{name}: expected a regular file")
        return path

    def json(self, name: str) -> dict[str, Any] | None:
        """A JSON object from a file of the folder; None if the file is missing.

        Raises:
            CheckpointError: see `read_object`.
        """
        file = self.file(name)
        return None if file is None else read_object(file)

    def weights(self) -> tuple[Path, ...]:
        """The files that hold the weights: safetensors if present, else pickles.

        Raises:
            CheckpointError: if there are none, or an index names a missing file.
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
            raise CheckpointError(f"{index}: expected a weight_map from tensors to file names")
        files = []
        for name in sorted(set(names.values())):
            file = self.file(name) if name.endswith(suffix) else None
            if file is None:
                raise CheckpointError(
                    f"{index} names {name!r}, which is missing: download it again"
                )
            files.append(file)
        if not files:
            raise CheckpointError(f"{index} names no files")
        return tuple(files)


@contextmanager
def open_safetensors(file: Path) -> Iterator[Any]:
    """A safetensors file, its header checked against the size of the file.

    Raises:
        CheckpointError: for a file that is damaged or holds types that torch lacks.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as opened:
            yield opened
    except (SafetensorError, OSError, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        reason = str(error).rpartition("header: ")[2].splitlines()[0]
        raise CheckpointError(
            f"unreadable checkpoint: {file.name} is damaged ({reason:.100}): download it again"
        ) from error


def bytes_as(file: Path, dtype: torch.dtype) -> int:
    """Bytes of the weights in a file once they are of this type, whole numbers apart.

    Read from the header of a safetensors file alone. The types in a pickle are unknown until it is
    read: half precision is assumed.
    """
    if file.suffix != ".safetensors":
        return file.stat().st_size * dtype.itemsize // 2
    with open_safetensors(file) as opened:
        parts = [opened.get_slice(name) for name in opened.keys()]  # noqa: SIM118 (no mapping)
        sizes = (dtype.itemsize if "F" in part.get_dtype() else 8 for part in parts)
        shapes = (prod(part.get_shape()) for part in parts)
        return sum(size * count for size, count in zip(sizes, shapes, strict=True))


def tensors(file: Path) -> dict[str, Tensor]:
    """The tensors of a weights file. A pickle is read with torch's restricted unpickler.

    Raises:
        CheckpointError: for a file that is damaged or asks to run code.
    """
    if file.suffix == ".safetensors":
        with open_safetensors(file) as opened:
            return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    return _unpickled(file)


def dtype_holding(state: Mapping[str, Tensor], dtype: torch.dtype) -> torch.dtype:
    """The dtype, or the next wider one whose range holds the weights that are finite."""
    for tensor in state.values():
        floats = tensor.is_floating_point() and tensor.numel() > 0
        if not floats or torch.finfo(tensor.dtype).max <= torch.finfo(dtype).max:
            continue
        most = max(abs(float(end)) for end in tensor.aminmax())
        while torch.finfo(dtype).max < most < inf:
            dtype = WIDER[dtype]
    return dtype


def finite(tensor: Tensor) -> bool:
    """Whether all numbers are finite. The sum is tested first, which needs no copy."""
    return bool(tensor.sum(dtype=torch.float32).isfinite()) or bool(tensor.isfinite().all())


def _unpickled(file: Path) -> dict[str, Tensor]:
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as packed:
            if sum(part.file_size for part in packed.infolist()) > 2 * file.stat().st_size + 2**20:
                raise CheckpointError(
                    f"{file.name} expands far beyond its size when read: not opened"
                )
    try:
        state = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{file.name} asks to run code when read, or is damaged: not opened; use a"
            " .safetensors file instead"
        ) from error
    except Exception as error:  # a damaged file can make the reader raise anything
        raise CheckpointError(
            f"unreadable checkpoint: {file.name} is damaged: download it again"
        ) from error
    if not isinstance(state, dict) or not all(isinstance(t, Tensor) for t in state.values()):
        raise CheckpointError(f"{file.name}: expected a mapping from names to tensors")
    stated = sum(tensor.numel() * tensor.element_size() for tensor in state.values())
    if stated > MOST_SHARED * file.stat().st_size + 2**20:
        raise CheckpointError(f"{file.name} states tensors far beyond its size: not opened")
    return {str(name): tensor for name, tensor in state.items()}
