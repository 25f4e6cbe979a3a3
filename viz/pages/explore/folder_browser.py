"""Folders of the machine the app runs on, for choosing one.

Only where the app listens on the loopback interface and the browser is on the same machine: a
hosted server shows nobody its disk.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from models.files.checkpoints import by_number, is_checkpoint

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOST = 300  # folders listed


class Folder(NamedTuple):
    """A folder in the list.

    Attributes:
        path: of the folder.
        name: for display.
        model: whether it has a config.json.
    """

    path: Path
    name: str
    model: bool


def are_listed() -> bool:
    """Whether this browser may see the folders of the machine."""
    return is_local(st.get_option("server.address") or "", st.context.headers)


def is_local(address: str, headers: Mapping[str, str]) -> bool:
    """Whether a request came from this machine, and not through a proxy.

    Args:
        address: that the server listens on; empty for all interfaces.
        headers: of the request.
    """
    host = headers.get("Host", LOOPBACK[0])
    name = host.rsplit(":", 1)[0].strip("[]") if host.count(":") == 1 or "]" in host else host
    forwarded = any(headers.get(each) for each in ("Forwarded", "X-Forwarded-For", "Via"))
    return address in LOOPBACK and name in LOOPBACK and not forwarded


def listed(path: Path) -> tuple[Folder, ...]:
    """The folders in a folder, by name and number, without hidden ones; () if it cannot be read."""
    try:
        with os.scandir(path) as entries:
            names = [each.name for each in entries if not each.name.startswith(".") and _is(each)]
    except OSError:
        return ()
    paths = [path / name for name in sorted(names, key=by_number)[:MOST]]
    return tuple(Folder(each, each.name, is_checkpoint(each)) for each in paths)


def _is(entry: os.DirEntry) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
