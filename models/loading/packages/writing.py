"""Shared by the converters: binary numbers are read, ordinary checkpoint folders written."""

import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from safetensors.torch import save_file
from torch import Tensor

from models.files.folder import SINGLE

SETTINGS = Path(__file__).parent / "settings"


def numbers(data: IO[bytes], kind: str, count: int = 1) -> tuple[int, ...]:
    """The next whole numbers, little-endian; `kind` as in `struct`."""
    form = f"<{count}{kind}"
    return struct.unpack(form, data.read(struct.calcsize(form)))


def write(name: str, state: Mapping[str, Tensor], folder: Path) -> None:
    """Writes the settings of a model, which lie ready, and its weights."""
    shutil.copytree(SETTINGS / name, folder, dirs_exist_ok=True)
    write_weights(folder, state)


def write_weights(folder: Path, state: Mapping[str, Tensor]) -> None:
    """Writes model.safetensors."""
    save_file(
        {name: tensor.contiguous() for name, tensor in state.items()},
        folder / SINGLE,
        metadata={"format": "pt"},
    )
