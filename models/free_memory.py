"""Memory check: whether weights fit into free memory, before any are read."""

from collections.abc import Sequence
from pathlib import Path

import psutil
import torch
from torch import Tensor

from models.files.errors import CheckpointError
from models.files.folder import Folder, bytes_as, tensors

GIB = 2**30
SHARE = 0.8  # of free memory that weights may take


def weights_bytes(files: Sequence[Path], dtype: torch.dtype) -> int:
    """Bytes of the weights in these files after conversion to this type."""
    return sum(bytes_as(file, dtype) for file in files)


def available_memory(device: str | torch.device = "cpu") -> int | None:
    """Free memory in bytes; None where the system does not report it."""
    if torch.device(device).type == "cuda":
        return torch.cuda.mem_get_info(torch.device(device))[0]
    try:
        return psutil.virtual_memory().available
    except (OSError, RuntimeError, NotImplementedError):
        return None


def read_weights(
    folder: Folder, dtype: torch.dtype, device: str | torch.device = "cpu"
) -> dict[str, Tensor]:
    """The weights of a folder, read once they are known to fit into free memory as this type.

    Raises:
        CheckpointError: if they do not fit, are missing, or cannot be read.
    """
    files = folder.weights()
    free, needed = available_memory(device), weights_bytes(files, dtype)
    if free is not None and needed > SHARE * free:
        half = weights_bytes(files, torch.bfloat16)
        fits = half <= SHARE * free and half < needed
        raise CheckpointError(
            f"the weights need about {needed / GIB:.1f} GiB of memory and {free / GIB:.1f} GiB are"
            f" free{'; dtype=torch.bfloat16 would fit' if fits else ''}"
        )
    return {name: tensor for file in files for name, tensor in tensors(file).items()}
