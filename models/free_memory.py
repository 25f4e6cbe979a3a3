"""Memory check: whether weights fit into free memory, before any are read."""

from collections.abc import Sequence
from pathlib import Path

import psutil
import torch

from models.files.errors import CheckpointError
from models.files.folder import bytes_as

GIB = 2**30
SHARE = 0.8  # of free memory that weights may take


def weights_bytes(files: Sequence[Path], dtype: torch.dtype) -> int:
    """Bytes of the weights in these files after conversion to this type."""
    return sum(bytes_as(file, dtype) for file in files)


def available_memory(device: str = "cpu") -> int | None:
    """Free memory in bytes; None where the system does not report it."""
    if torch.device(device).type == "cuda":
        return torch.cuda.mem_get_info(torch.device(device))[0]
    try:
        return psutil.virtual_memory().available
    except (OSError, RuntimeError, NotImplementedError):
        return None


def check_fits(files: Sequence[Path], dtype: torch.dtype, device: str = "cpu") -> None:
    """Raises CheckpointError if the weights do not fit into free memory."""
    free, needed = available_memory(device), weights_bytes(files, dtype)
    if free is None or needed <= SHARE * free:
        return
    half = weights_bytes(files, torch.bfloat16)
    advice = "; dtype=torch.bfloat16 would fit" if half <= SHARE * free and half < needed else ""
    raise CheckpointError(
        f"the weights need about {needed / GIB:.1f} GiB of memory and {free / GIB:.1f} GiB are"
        f" free{advice}"
    )
