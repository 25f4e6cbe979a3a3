"""Other tools' pages of the same attention, made in an environment of their own.

    python -m benchmarks.peers bertviz 512 page.html

The environment is a folder of the user's cache that pip fills once; the project's own packages
stay as they are. BertViz loads three libraries from a public server: they come from the npm
registry once, and are served from here.
"""

import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

HOME = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "headscope-benchmarks"
PACKAGES = ("bertviz==1.4.1", "circuitsvis==1.43.3")
NEEDED = ("ipython", "importlib-metadata")  # by both; torch and the rest are the project's
LIBRARIES = {  # by what the address of the public server contains
    "d3": ("d3@5.7.0", "package/dist/d3.min.js"),
    "jquery": ("jquery@2.2.4", "package/dist/jquery.min.js"),
    "require": ("requirejs@2.3.6", "package/require.js"),
}
TOOLS = ("BertViz", "CircuitsVis")
LAYERS, HEADS = 12, 12


def environment() -> Path:
    """The folder of the tools' packages, filled by pip if it is not there.

    Raises:
        RuntimeError: if pip cannot install them.
    """
    folder = HOME / "packages"
    if not (folder / "circuitsvis").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder)]
        for more in (["--no-deps", *PACKAGES], list(NEEDED)):
            done = subprocess.run([*pip, *more], capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"pip cannot install {' '.join(more)}: {_last(done.stderr)}")
    return folder


def libraries() -> dict[str, bytes]:
    """The libraries that BertViz loads, by what their address contains.

    Raises:
        RuntimeError: if npm cannot fetch them.
    """
    folder = HOME / "libraries"
    folder.mkdir(parents=True, exist_ok=True)
    sources = {}
    for name, (package, member) in LIBRARIES.items():
        file = folder / f"{package.replace('@', '-')}.tgz"
        if not file.exists():
            pack = ["npm", "pack", package]
            done = subprocess.run(pack, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode or not file.exists():
                raise RuntimeError(f"npm cannot fetch {package}: {_last(done.stderr)}")
        with tarfile.open(file) as archive:
            read = archive.extractfile(member)
            sources[name] = b"" if read is None else read.read()
    return sources


def make(tool: str, tokens: int, file: Path, *, limit: float = 240) -> float:
    """Writes a tool's page of 12 × 12 heads; the seconds the tool itself took.

    Raises:
        RuntimeError: if it fails, or takes longer than `limit` seconds.
    """
    command = [sys.executable, "-m", "benchmarks.peers", tool, str(tokens), str(file)]
    paths = os.pathsep.join([str(environment()), os.environ.get("PYTHONPATH", "")])
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"{tool} took over {limit:.0f} s") from error
    if done.returncode:
        raise RuntimeError(f"{tool}: {_last(done.stderr)}")
    return float(done.stdout.split()[-1])


def _last(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1][:200]


def _write(tool: str, tokens: int, file: Path) -> float:
    """Makes the page from random weights; runs in the tools' environment."""
    import torch

    generator = torch.Generator().manual_seed(0)
    attention = [
        torch.softmax(3 * torch.randn(1, HEADS, tokens, tokens, generator=generator), -1)
        for _ in range(LAYERS)
    ]
    labels = [f"token{place}" for place in range(tokens)]
    began = time.perf_counter()
    if tool == "BertViz":
        from bertviz import model_view  # pyright: ignore[reportMissingImports]

        page = model_view(attention, labels, html_action="return").data
    else:
        from circuitsvis.attention import (  # pyright: ignore[reportMissingImports]
            attention_heads,
        )

        page = attention_heads(torch.cat(attention)[:, :].flatten(0, 1), labels).local_src
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{page}", encoding="utf-8")
    return time.perf_counter() - began


if __name__ == "__main__":
    print(_write(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
