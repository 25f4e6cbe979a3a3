"""The manifest of a run: what was read, by which model, and how."""

import json
from pathlib import Path
from typing import Any

FORMAT = "headscope corpus 1"


def open_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder; empty if it has none.

    Raises:
        ValueError: for one that is not of a run.
    """
    path = folder / "manifest.json"
    if not path.exists():
        return {}
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{folder.name}: manifest.json is not readable: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{folder.name}: expected a run of this program ({FORMAT})")
    return manifest
