"""The picture the app opens with, kept from one start to the next.

PyTorch takes seconds to import. Until it is there, the page shows the picture it showed the last
time, if everything that was made from is as it was then: the code, the checkpoint, the libraries.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import streamlit as st

from models import catalogue

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".cache"
CODE = ("models", "analysis", "viz")
LIBRARIES = ("torch", "numpy", "tokenizers")
DIGEST = hashlib.sha256().digest_size


def kept() -> bytes | None:
    """The explorer's first message; None if none was kept, or things have changed since."""
    try:
        whole = _file().read_bytes()
    except (OSError, ValueError):
        return None
    digest, message = whole[:DIGEST], whole[DIGEST:]
    return message if hashlib.sha256(message).digest() == digest else None


@st.cache_resource(show_spinner=False)
def keep(_make: Callable[[], bytes]) -> None:
    """Keeps what this makes, once a process; where nothing can be written, the next start waits."""
    if kept() is not None:
        return
    with contextlib.suppress(OSError, ValueError):
        FOLDER.mkdir(exist_ok=True)
        _replace(_file(), _make())


def _replace(file: Path, message: bytes) -> None:
    """Writes the file whole or not at all, and removes those of earlier code."""
    for old in FOLDER.glob("opening-*"):
        old.unlink(missing_ok=True)
    with tempfile.NamedTemporaryFile(dir=FOLDER, prefix="opening-", delete=False) as new:
        new.write(hashlib.sha256(message).digest() + message)
    os.replace(new.name, file)


def _file() -> Path:
    """Where the message lies, by what it is made from; ValueError without the checkpoint."""
    return FOLDER / f"opening-{_made_from()}.bin"


@cache
def _made_from() -> str:
    """A name for the code, the checkpoint and the libraries there are now."""
    digest = hashlib.sha256()
    for name in LIBRARIES:
        digest.update(f"{name} {version(name)}\n".encode())
    for path in _files():
        stat = path.stat()
        digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _files() -> Iterator[Path]:
    for name in CODE:
        yield from sorted((ROOT / name).rglob("*.py"))
    yield from sorted(catalogue.folder(catalogue.MINILM).iterdir())
