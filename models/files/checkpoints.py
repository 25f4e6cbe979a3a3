"""Folders that hold checkpoints, by name; nothing in them is read."""

from pathlib import Path

CONFIG = "config.json"
ADAPTER = "adapter_config.json"  # of small matrices beside a base model, see models.loading.adapter


def checkpoints_in(path: Path) -> tuple[str, ...]:
    """Names of the checkpoints in a folder, short ones first: "step-500" before "step-1000".

    () for a folder that is a checkpoint itself, or cannot be read.
    """
    try:
        if _is_checkpoint(path):
            return ()
        names = [each.name for each in path.iterdir() if _is_checkpoint(each)]
    except (OSError, ValueError):  # not readable, or not a valid path
        return ()
    return tuple(sorted(names, key=lambda name: (len(name), name)))


def _is_checkpoint(path: Path) -> bool:
    return (path / CONFIG).is_file() or (path / ADAPTER).is_file()
