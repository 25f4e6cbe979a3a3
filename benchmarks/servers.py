"""Servers as child processes of a benchmark or a test, always stopped at the end."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
START_SECONDS = 60
STOP_SECONDS = 10


class Server(NamedTuple):
    """A server that is healthy."""

    url: str
    began: float  # when its process was started, in seconds since 1970
    pid: int


@contextlib.contextmanager
def served(port: int = 0, **environment: str) -> Iterator[Server]:
    """The real app, on a free port unless one is given."""
    port = port or free_port()
    options = ["--server.port", str(port), "--server.headless", "true"]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
    with running(command, ROOT, port, **environment) as server:
        yield server


@contextlib.contextmanager
def running(command: list[str], folder: Path, port: int, **environment: str) -> Iterator[Server]:
    """Starts a server that listens on a port, and stops it at the end, whatever happens.

    Args:
        command: of the server.
        folder: where it runs.
        port: that it listens on.
        environment: variables that it gets besides those of this process.

    Raises:
        RuntimeError: with the server's output, if it is not healthy in time.
    """
    with tempfile.TemporaryFile() as output:
        began = time.time()
        child = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            while not healthy(port):
                if child.poll() is not None or time.time() - began > START_SECONDS:
                    output.seek(0)
                    words = output.read().decode(errors="replace").strip()
                    raise RuntimeError(f"{' '.join(command[1:])} does not answer:\n{words}")
                time.sleep(0.01)
            yield Server(f"http://127.0.0.1:{port}", began, child.pid)
        finally:
            child.terminate()
            try:
                child.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def free_port() -> int:
    """A port nobody listens on, chosen by the system: two who ask at once get different ones."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def healthy(port: int) -> bool:
    """Whether a server on that port says it is well."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
