"""How far the memory of a process, or of its GPU, rises while something runs.

On Linux the peak is reset through /proc/self/clear_refs; elsewhere it keeps that of loading, which
hides smaller peaks. On a GPU it is the peak of PyTorch's allocator.
"""

import contextlib
import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

MIB = 2**20


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function of a module, called in a process that does nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def rise_of(work: Callable[[], object], device: str = "cpu") -> int:
    """How many bytes the peak of this process, or of its GPU, rises above the present."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    gc.collect()
    if sys.platform == "linux":  # freed memory goes back to the system, or is reused unnoticed
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
        if trim:
            trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    work()
    return max(0, peak() - before)


def peak() -> int:
    """The most memory this process has held, in bytes."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
