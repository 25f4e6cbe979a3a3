"""Servers as child processes of a benchmark."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
START_SECONDS = 60
STOP_SECONDS = 10


@dataclass(frozen=True)
class Server:
    """A server that listens.

    Attributes:
        url: where.
        began: when its process was started, in seconds since 1970.
        listened: how many seconds later it listened.
    """

    url: str
    began: float
    listened: float


def app(port: int) -> tuple[list[str], Path]:
    """The command of the real app, and where it runs."""
    return [sys.executable, "serve.py", "--port", str(port)], ROOT


def page(folder: Path, name: str, port: int) -> tuple[list[str], Path]:
    """The command of a plain Streamlit page, and where it runs."""
    options = ["--server.port", str(port), "--server.headless", "true"]
    return [sys.executable, "-m", "streamlit", "run", name, *options], folder


@contextlib.contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[Server]:
    """Starts a server and stops it at the end, whatever happens in between.

    Raises:
        RuntimeError: with what the server said, if it does not listen in time.
    """
    with tempfile.TemporaryFile() as said:
        began = time.time()
        child = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        try:
            while not _listens(port):
                if child.poll() is not None or time.time() - began > START_SECONDS:
                    said.seek(0)
                    words = said.read().decode(errors="replace").strip()
                    raise RuntimeError(f"{' '.join(command[1:])} does not answer:\n{words}")
                time.sleep(0.01)
            yield Server(f"http://127.0.0.1:{port}", began, time.time() - began)
        finally:
            _stop(child)


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _stop(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
