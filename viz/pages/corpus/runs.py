"""The runs that the page can open: those that come with the app, and folders of this machine."""

import json
from functools import cache
from pathlib import Path

from viz.api import tracing
from viz.pages import shared

FINISHED = shared.ROOT / "analysis" / "corpus" / "finished"
FIRST = "minilm"
FOLDER = "folder"  # instead of the name of a run


@cache
def titles() -> dict[str, str]:
    """The runs that come with the app, by name, read without PyTorch."""
    titles = {}
    for path in sorted(FINISHED.glob("*/manifest.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        about = manifest["corpora"][0]["about"]
        titles[path.parent.name] = f"{manifest['model']['name']} · {about}"
    return titles


def choices() -> dict[str, str]:
    """What can be chosen on this server, with titles."""
    folder = {FOLDER: "A folder on this machine …"} if "folder" in tracing.places() else {}
    return titles() | folder


def folder_of(run: str, folder: str) -> Path:
    """The folder of a run.

    Raises:
        ValueError: without a folder, or where this server opens none.
    """
    if run != FOLDER:
        return FINISHED / run
    if FOLDER not in choices():
        raise ValueError(tracing.CLOSED)
    if not folder.strip():
        raise ValueError("Type the folder of a run: it has a manifest.json.")
    try:
        return Path(folder.strip()).expanduser()
    except RuntimeError as error:  # "~name" of nobody
        raise ValueError(f"{folder.strip()}: there is no such folder") from error
