"""Shared by the converters: binary numbers are read, ordinary checkpoint folders written."""

import json
import re
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from safetensors.torch import save_file
from torch import Tensor

from models.files.folder import SINGLE


def numbers(data: IO[bytes], kind: str, count: int = 1) -> tuple[int, ...]:
    """The next whole numbers, little-endian; `kind` as in `struct`."""
    form = f"<{count}{kind}"
    return struct.unpack(form, data.read(struct.calcsize(form)))


def count(names: Iterable[str], layer: str) -> int:
    """How many layers there are: different numbers that follow a prefix in names."""
    matches = (re.match(rf"{layer}(\d+)", name) for name in names)
    return len({each[1] for each in matches if each})


def write_json(folder: Path, name: str, content: Mapping[str, Any]) -> None:
    """Writes a file of settings."""
    (folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def write_weights(folder: Path, state: Mapping[str, Tensor]) -> None:
    """Writes model.safetensors."""
    save_file(
        {name: tensor.contiguous() for name, tensor in state.items()},
        folder / SINGLE,
        metadata={"format": "pt"},
    )
