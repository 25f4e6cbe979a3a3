"""Whether weights fit the memory of this machine, told from their headers before any is read."""

import os
from collections.abc import Sequence
from pathlib import Path

import torch

from models.files.errors import CheckpointError
from models.files.folder import FLOATS, SIZES, header

GIB = 2**30
SHARE = 0.8  # of what is free


def weights_bytes(files: Sequence[Path], dtype: torch.dtype) -> int:
    """Bytes of the weights in these files once floating-point ones have this type."""
    total = 0
    for file in files:
        if file.suffix != ".safetensors":
            total += file.stat().st_size * dtype.itemsize // 2  # unknown: taken for half precision
            continue
        for entry in header(file).values():
            size = dtype.itemsize if entry.dtype in FLOATS else SIZES[entry.dtype]
            total += entry.numbers * size
    return total


def available_memory(device: str = "cpu") -> int | None:
    """Free memory in bytes, as far as the system tells."""
    if torch.device(device).type == "cuda":
        return torch.cuda.mem_get_info(torch.device(device))[0]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def check_fits(files: Sequence[Path], dtype: torch.dtype, device: str = "cpu") -> None:
    """Raises CheckpointError if the weights would not fit."""
    room, wanted = available_memory(device), weights_bytes(files, dtype)
    if room is None or wanted <= SHARE * room:
        return
    half = weights_bytes(files, torch.bfloat16)
    way = "; dtype=torch.bfloat16 would fit" if half <= SHARE * room and half < wanted else ""
    raise CheckpointError(
        f"the weights need about {wanted / GIB:.1f} GiB of memory and {room / GIB:.1f} GiB are"
        f" free{way}"
    )
