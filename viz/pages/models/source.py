"""Model sources of the Models page: where a model comes from, and how it is opened.

With PUBLIC=1 in the environment the server opens catalogue models only. This is enforced here,
where every model is opened, regardless of links and controls.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from models.files.folder import Folder
    from models.model import Model

PAGE = "models"
PLACES = ("catalogue", "hub", "folder")
NAMES = {"catalogue": "model", "hub": "id", "folder": "folder"}  # the setting that names a model
DTYPES = ("float32", "bfloat16", "float16")
DOORS = ("auto", "own", "transformers")
CLOSED = "this server is public: it opens the models of its catalogue only"
MAX_FILES = 100  # files of a folder that are checked for changes


@dataclass(frozen=True)
class Source:
    """Where a model comes from, and how it is opened.

    Attributes:
        place: "catalogue", "hub" or "folder".
        name: in the catalogue, on the hub, or of the folder.
        dtype: of the weights.
        device: on which it runs.
        door: the implementation: "own" (Headscope), "transformers", or "auto" (Headscope if there
            is a converter and its network has a place for the checkpoint's head).
    """

    place: str
    name: str
    dtype: str = "float32"
    device: str = "cpu"
    door: str = "auto"


@dataclass(frozen=True, eq=False)
class Open:
    """An open model; it stays open if its files change or are deleted.

    Attributes:
        source: of the model.
        stamp: digest of its files' names, sizes and times when it was opened.
        model: shared between sessions: it must not be modified.
    """

    source: Source
    stamp: str
    model: "Model"


def public() -> bool:
    """Whether this server opens catalogue models only."""
    return os.environ.get("PUBLIC", "") not in ("", "0")


def places() -> tuple[str, ...]:
    """The kinds of sources this server allows."""
    return PLACES[:1] if public() else PLACES


def check(source: Source) -> None:
    """Raises ValueError for a source this server does not allow."""
    if source.place not in places():
        raise ValueError(CLOSED)


def opened(source: Source) -> Open:
    """The model, opened once and shared.

    Raises:
        ValueError: in one line, if it cannot be opened.
    """
    check(source)
    stamp = _stamp(source)
    return Open(source, stamp, _opened(source, stamp))


def folder(source: Source) -> "Folder":
    """The folder with the files of a source.

    Raises:
        ValueError: if it is not on this machine.
    """
    check(source)
    if source.place == "catalogue":
        from models import catalogue
        from models.files.folder import Folder

        return Folder.at(catalogue.folder(catalogue.entry(source.name)))
    if source.place == "hub":
        return _of_hub(source.name)
    return _of_path(source.name)


def _of_hub(name: str) -> "Folder":
    from models.files import hub

    if not name:
        raise ValueError("type the hub id of a model, such as owner/name")
    if not hub.HUB_ID.fullmatch(name):
        raise ValueError(f"{name!r} is not a hub id: expected owner/name")
    found = hub.cached_folder(name)
    if found is None:
        raise ValueError(f"{name} is not on this machine yet: look it up, then download it")
    return found


def _of_path(name: str) -> "Folder":
    from models.files.folder import Folder

    if not name.strip():
        raise ValueError("type the path of a folder that holds config.json and weights")
    path = Path(name.strip()).expanduser()
    try:
        there = path.is_dir()
    except (OSError, ValueError):  # too long, or not a valid path
        there = False
    if not there:
        raise ValueError(f"there is no folder {name.strip()!r} on the machine this app runs on")
    return Folder.at(path)


@st.cache_resource(max_entries=2, show_spinner=False)
def _opened(source: Source, stamp: str) -> "Model":
    """The model, opened once for each stamp."""
    import torch

    from models.run import load

    options: dict[str, Any] = {
        "device": source.device,
        "dtype": getattr(torch, source.dtype),
        "door": None if source.door == "auto" else source.door,
    }
    if source.place == "folder":
        return load(_of_path(source.name).path, **options)
    return load(source.name, **options)


def _stamp(source: Source) -> str:
    """A digest that changes when a file of the source does."""
    try:
        files = sorted(folder(source).path.iterdir())[:MAX_FILES]
        found = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    except OSError:
        found = []
    return hashlib.sha256(repr(found).encode()).hexdigest()
