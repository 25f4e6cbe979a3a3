"""Folders that hold checkpoints, by name and number; nothing in them is read."""

import re
from pathlib import Path

CONFIG = "config.json"
ADAPTER = "adapter_config.json"  # of small matrices beside a base model, see models.loading.adapter


def is_checkpoint(path: Path) -> bool:
    """Whether a folder looks like a checkpoint."""
    try:
        return (path / CONFIG).is_file() or (path / ADAPTER).is_file()
    except (OSError, ValueError):  # not readable, or not a valid path
        return False


def checkpoints_in(path: Path) -> tuple[str, ...]:
    """Names of the checkpoints in a folder, numbers in their order.

    () for a folder that is a checkpoint itself, or cannot be read.
    """
    try:
        if is_checkpoint(path):
            return ()
        names = [each.name for each in path.iterdir() if is_checkpoint(each)]
    except (OSError, ValueError):
        return ()
    return tuple(sorted(names, key=by_number))


def by_number(name: str) -> list[tuple[int, str]]:
    """A key that sorts "checkpoint-500" before "checkpoint-1000"."""
    parts = re.split(r"(\d+)", name.casefold())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
