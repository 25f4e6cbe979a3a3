"""Checkpoint folders from outside, read safely; every refusal is one line.

Nothing in a folder is trusted: no code of it runs, no file outside it is read, and a safetensors
header is checked against the size of its file before any number is read.
"""

import os
import pickle
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.files.errors import CheckpointError
from models.files.objects import read_object

CONFIG = "config.json"
SINGLE, SHARDED = "model.safetensors", "model.safetensors.index.json"
PICKLED, PICKLED_SHARDS = "pytorch_model.bin", "pytorch_model.bin.index.json"
MOST_SHARED = 8  # times that a pickle may hold the same numbers under several names


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
            stated = self.json(index)
            if stated is None:
                continue
            names = stated.get("weight_map")
            if not (names and isinstance(names, dict) and {*map(type, names.values())} == {str}):
                raise CheckpointError(f"{index}: expected a weight_map from tensors to file names")
            files = []
            for name in sorted({*names.values()}):
                file = self.file(name) if name.endswith(Path(single).suffix) else None
                if file is None:
                    raise CheckpointError(
                        f"{index} names {name!r}, which is missing: download it again"
                    )
                files.append(file)
            return tuple(files)
        raise CheckpointError(
            f"{SINGLE} is missing: there are no weights here (nor {SHARDED}, nor {PICKLED})"
        )


def bytes_as(file: Path, dtype: torch.dtype) -> int:
    """Bytes of the weights in a file once they are of this type, whole numbers apart.

    Read from the header of a safetensors file alone. The types in a pickle are unknown until it is
    read: half precision is assumed.
    """
    if file.suffix != ".safetensors":
        return file.stat().st_size * dtype.itemsize // 2

    def size(part: Any) -> int:
        return prod(part.get_shape()) * (dtype.itemsize if "F" in part.get_dtype() else 8)

    return sum(_safetensors(file, lambda opened, name: size(opened.get_slice(name))).values())


def tensors(file: Path) -> dict[str, Tensor]:
    """The tensors of a weights file. A pickle is read with torch's restricted unpickler.

    Raises:
        CheckpointError: for a file that is damaged, asks to run code, or holds what is no number.
    """
    if file.suffix == ".safetensors":
        state = _safetensors(file, lambda opened, name: opened.get_tensor(name))
    else:
        state = _unpickled(file)
    for name, tensor in state.items():  # the sum is tested first, which needs no copy
        if not tensor.sum(dtype=torch.float32).isfinite() and not tensor.isfinite().all():
            raise CheckpointError(f"{name} holds NaN or infinity: the weights are damaged")
    return state


def check_names(
    network: str,
    lacking: Iterable[str],
    unknown: Iterable[str],
    shapes: Mapping[str, tuple[Sequence[int], Sequence[int]]],
) -> None:
    """Raises CheckpointError for names of weights that a network or a checkpoint has alone.

    Args:
        network: name of its class.
        lacking: that the checkpoint lacks.
        unknown: that the network lacks.
        shapes: of weights whose shapes differ, those of the checkpoint first.
    """
    wrong = (
        f"{name} ({' in place of '.join(' × '.join(map(str, shape)) for shape in both)})"
        for name, both in shapes.items()
    )
    said = {"lacks": lacking, "has wrong shapes for": wrong}
    for what, names in {**said, f"has weights with no place in {network}:": unknown}.items():
        if some := sorted(names):
            more = f" and {len(some) - 3} more" if len(some) > 3 else ""
            listed = ", ".join(some[:3]) + more
            raise CheckpointError(f"the checkpoint {what} {listed}: download it again")


def dtype_holding(state: Mapping[str, Tensor], dtype: torch.dtype) -> torch.dtype:
    """The dtype, or a wider one where weights that are finite are beyond its range."""
    most = torch.finfo(dtype).max
    for tensor in state.values():
        if tensor.is_floating_point() and tensor.numel() and torch.finfo(tensor.dtype).max > most:
            largest = max(abs(float(end)) for end in tensor.aminmax())
            if most < largest < inf:
                return torch.bfloat16 if dtype == torch.float16 else torch.float64
    return dtype


def _safetensors(file: Path, read: Callable[[Any, str], Any]) -> dict[str, Any]:
    """What is read of each tensor, once the header is checked against the size of the file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as opened:
            return {name: read(opened, name) for name in opened.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError, ValueError) as error:
        reason = str(error).rpartition("header: ")[2].splitlines()[0]
        raise CheckpointError(
            f"unreadable checkpoint: {file.name} is damaged ({reason:.100}): download it again"
        ) from error


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
