"""How far a run is, as its callback is told, and in a file for whoever watches its process.

A page, or any other process, starts `python -m analysis.corpus --watched …`, reads the report, and
leaves a file that stops it. Both lie in the folder of the run, so that they outlive the one who
started it.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from analysis.corpus.files import FOLDER, reason_of, write_json
from models.files.objects import read_object

Status = Literal["running", "stopped", "complete", "failed", "killed"]
EVERY = 0.5  # seconds between two reports
SILENCE = 20.0  # seconds without a report after which a process is gone


class StoppedError(Exception):
    """Raised by a progress callback to end a run; what was done stays, and can be gone on from."""


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        done: texts that are read.
        total: texts of the corpus; None while it is being planned.
        left: seconds that the rest will take at this speed; None before that is known.
        status: "killed" for one that has not reported for a while.
        problem: of a run that failed, why.
    """

    done: int = 0
    total: int | None = None
    left: float | None = None
    status: Status = "running"
    problem: str = ""

    @property
    def going(self) -> bool:
        """Whether a process works on it."""
        return self.status == "running"


Control = Callable[[Progress], None]


def report_of(folder: Path) -> Progress | None:
    """The last report of the run in a folder; None if no process has watched it."""
    path = _report(folder)
    try:
        report = Progress(**read_object(path))
        silent = time.time() - path.stat().st_mtime
    except (OSError, ValueError, TypeError):
        return None
    if report.going and silent > SILENCE:
        return Progress(report.done, report.total, status="killed")
    return report if report.status in get_args(Status) else None


def stop(folder: Path) -> None:
    """Stops the run in a folder after its next batch."""
    _stop(folder).touch()


def begin(folder: Path) -> None:
    """Prepares a folder for a process that is about to start, or is not to stop after all."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    _stop(folder).unlink(missing_ok=True)
    write_json(_report(folder), asdict(Progress()))


@contextmanager
def watched(folder: Path) -> Iterator[Control]:
    """A `control` of `corpus` that reports while a run goes on, and stops it when it is told to."""
    now, last, ended = Progress(), Progress(status="complete"), threading.Event()

    def control(progress: Progress) -> None:
        nonlocal now, last
        now = progress
        if _stop(folder).exists() and progress.total != progress.done:
            last = Progress(status="stopped")
            raise StoppedError

    def write(report: Progress) -> None:
        with suppress(OSError):  # a full disk ends the run itself
            write_json(_report(folder), asdict(report))

    def keep_writing() -> None:
        write(now)
        while not ended.wait(EVERY):
            write(now)

    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    thread = threading.Thread(target=keep_writing, daemon=True)
    thread.start()
    try:
        yield control
    except StoppedError:
        raise
    except BaseException as error:
        last = Progress(status="failed", problem=reason_of(error))
        raise
    finally:
        ended.set()
        thread.join()
        write(replace(last, done=now.done, total=now.total))


def _report(folder: Path) -> Path:
    return folder / FOLDER / "progress.json"


def _stop(folder: Path) -> Path:
    return folder / FOLDER / "stop"
