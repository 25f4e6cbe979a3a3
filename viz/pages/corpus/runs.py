"""The runs that the page can open: those that come with the app, the user's, and any folder."""

from functools import cache
from pathlib import Path

from viz.api import runs, tracing

FINISHED = runs.FINISHED
FIRST = "minilm"
FOLDER = "folder"  # instead of the name of a run
USERS = runs.USERS
NONE = "none"  # no second run


@cache
def titles() -> dict[str, str]:
    """The runs that come with the app, by name, read without PyTorch."""
    paths = sorted(FINISHED.glob("*/manifest.json"))
    return {path.parent.name: runs.title_of(path.parent) for path in paths}


def choices() -> dict[str, str]:
    """What can be chosen on this server, with titles."""
    users = {f"{USERS}{name}": title for name, title in runs.titles().items()}
    folder = {FOLDER: "A folder on this machine …"} if runs.allowed() else {}
    return titles() | users | folder


def folder_of(run: str, folder: str) -> Path:
    """The folder of a run.

    Raises:
        ValueError: without a folder, or where this server opens none.
    """
    known = runs.every_folder()
    if run in known:
        return known[run]
    if not runs.allowed():
        raise ValueError(tracing.CLOSED)
    if run != FOLDER:
        raise ValueError("This run is no longer on this machine.")
    if not folder.strip():
        raise ValueError("Type the folder of a run: it has a manifest.json.")
    return path_of(folder)


def path_of(text: str) -> Path:
    """A path that was typed.

    Raises:
        ValueError: for the home of nobody.
    """
    try:
        return Path(text.strip()).expanduser()
    except RuntimeError as error:  # "~name" of nobody
        raise ValueError(f"{text.strip()}: there is no such folder") from error
