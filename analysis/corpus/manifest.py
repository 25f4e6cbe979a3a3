"""The manifest of a run: what was read, by which model, and how."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from models.files.objects import read_object

FORMAT = "headscope corpus 1"
SHAPE = {  # what is read of it, with its types
    "status": str,
    "model": {"name": str, "digest": str},
    "settings": {"pictures": bool},
    "texts": int,
    "tokens": int,
    "corpora": [{"texts": int}],
}


def open_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder; empty if it has none.

    Raises:
        ValueError: for one that is not of a run.
    """
    if not (folder / "manifest.json").exists():
        return {}
    try:
        manifest = read_object(folder / "manifest.json")
    except ValueError as error:
        raise ValueError(f"{folder.name}: {error}") from error
    if manifest.get("format") != FORMAT:
        raise ValueError(f"{folder.name}: expected a run of this program ({FORMAT})")
    misfit = _misfit(manifest, SHAPE, "")
    if misfit:
        raise ValueError(f"{folder.name}: manifest.json: {misfit}")
    return manifest


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of the folder of a run.

    Raises:
        ValueError: for a folder without one, and for one that is not of a run.
    """
    manifest = open_manifest(folder)
    if not manifest:
        raise ValueError(f"{folder.name}: expected the folder of a run, with a manifest.json")
    return manifest


def _misfit(value: Any, shape: Any, name: str) -> str:
    """What does not have the shape, with what was expected; "" if all has."""
    kind = shape if isinstance(shape, type) else type(shape)
    if not isinstance(value, kind):
        return f"{name}: expected {kind.__name__}, received {type(value).__name__}"
    if isinstance(shape, Mapping):
        parts = ((value.get(key), each, f"{name}.{key}") for key, each in shape.items())
    else:
        parts = ((each, shape[0], name) for each in value) if isinstance(shape, list) else ()
    return next(filter(None, (_misfit(*part) for part in parts)), "").removeprefix(".")
