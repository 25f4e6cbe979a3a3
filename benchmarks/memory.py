"""Peak memory of one forward pass or one reading of its trace, in its own process.

    python -m benchmarks.memory traced --tokens 2048

The baseline is taken after the model was loaded and run once on one token, and freed memory was
returned to the system. The peak is reset there (Linux: /proc/self/clear_refs; elsewhere `ru_maxrss`
keeps the peak of loading, which hides smaller peaks). The result is the rise of the peak above the
baseline, including the outputs and all intermediate results.
On a GPU it is the peak of PyTorch's allocator.
"""

import argparse
import contextlib
import ctypes
import gc
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks import subjects

ROOT = Path(__file__).parents[1]
CASES = (*subjects.CASES, *subjects.READINGS)
MIB = 2**20
CHILD_SECONDS = 600


def main(arguments: list[str] | None = None) -> int:
    """Measure one case here and now; print it as one line of JSON."""
    parser = argparse.ArgumentParser(description="Peak memory of one case.")
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--layers", type=int, default=subjects.LAYERS)
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args(arguments)
    rise = measure(chosen.case, chosen.tokens, chosen.layers, chosen.device)
    print(json.dumps({"case": chosen.case, "tokens": chosen.tokens, "mib": round(rise / MIB, 1)}))
    return 0


def in_fresh_process(case: str, tokens: int, layers: int, device: str) -> float:
    """MiB the peak rises by, measured in a new process.

    Raises:
        RuntimeError: if that process fails.
    """
    command = [sys.executable, "-m", "benchmarks.memory", case]
    command += ["--tokens", str(tokens), "--layers", str(layers), "--device", device]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=CHILD_SECONDS)
    if ran.returncode:
        raise RuntimeError(f"measuring the memory of {case} failed:\n{ran.stderr.strip()}")
    return float(json.loads(ran.stdout.splitlines()[-1])["mib"])


def measure(case: str, tokens: int, layers: int, device: str) -> int:
    """Bytes the peak rises by when the case runs."""
    forms = subjects.build(device, layers=layers)
    run = forms[case if case in forms else "traced"]
    del forms
    run(subjects.draw_ids(1, device))
    ids = subjects.draw_ids(tokens, device)
    if case not in subjects.READINGS:
        return rise_of(lambda: run(ids), device)
    trace = run(ids)
    return rise_of(lambda: subjects.read(trace, case), device)


def rise_of(work: Callable[[], object], device: str = "cpu") -> int:
    """How far the peak of this process, or of its GPU, rises above the present."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    _give_back()
    before = _reset_peak()
    work()
    return max(0, _peak() - before)


def _give_back() -> None:
    """Returns freed memory to the system, so that it is not reused unnoticed."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
        if trim:
            trim(0)


def _reset_peak() -> int:
    """Sets the peak back to the present where the system can; what the peak is then, in bytes."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """The most memory this process has held, in bytes."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    sys.exit(main())
