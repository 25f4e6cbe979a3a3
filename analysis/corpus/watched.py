"""How far a run is, as its callback is told, and in a file for whoever watches its process.

A page, or any other process, starts `python -m analysis.corpus --watched …`, reads the report, and
leaves a file that stops it. Both lie in the folder of the run, so that they outlive the one who
started it.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from analysis.corpus.files import FOLDER, reason_of, write_json
from models.files.objects import read_object


class StoppedError(Exception):
    """Raised by a progress callback to end a run; what was done stays, and can be gone on from."""


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        done: texts that are read.
        total: texts of the corpus; None while it is being planned.
        left: seconds that the rest will take at this speed; None before that is known.
    """

    done: int
    total: int | None
    left: float | None = None


Control = Callable[[Progress], None]


def no_control(progress: Progress) -> None:
    """The default callback: does nothing."""


Status = Literal["running", "stopped", "complete", "failed", "killed"]
EVERY = 0.5  # seconds between two reports
SILENCE = 20.0  # seconds without a report after which a process is gone


@dataclass(frozen=True)
class Report:
    """How far a watched run is.

    Attributes:
        status: "killed" for one that has not reported for a while.
        done: texts that are read.
        total: texts of the corpus; None until they are counted.
        left: seconds that the rest will take; None before that is known.
        problem: of a run that failed, why.
    """

    status: Status = "running"
    done: int = 0
    total: int | None = None
    left: float | None = None
    problem: str = ""

    @property
    def going(self) -> bool:
        """Whether a process works on it."""
        return self.status == "running"


def report_of(folder: Path) -> Report | None:
    """The last report of the run in a folder; None if no process has watched it."""
    path = _report(folder)
    try:
        report = Report(**read_object(path))
        silent = time.time() - path.stat().st_mtime
    except (OSError, ValueError, TypeError):
        return None
    if report.going and silent > SILENCE:
        return Report("killed", report.done, report.total)
    return report if report.status in get_args(Status) else None


def stop(folder: Path) -> None:
    """Stops the run in a folder after its next batch."""
    _stop(folder).touch()


def begin(folder: Path) -> None:
    """Prepares a folder for a process that is about to start, or is not to stop after all."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    _stop(folder).unlink(missing_ok=True)
    write_json(_report(folder), asdict(Report()))


@contextmanager
def watched(folder: Path) -> Iterator[Control]:
    """A `control` of `corpus` that reports while a run goes on, and stops it when it is told to."""
    now, ended = Report(), threading.Event()
    last: Status = "complete"

    def control(progress: Progress) -> None:
        nonlocal now, last
        now = Report("running", progress.done, progress.total, progress.left)
        if _stop(folder).exists() and progress.total != progress.done:
            last = "stopped"
            raise StoppedError

    def write(report: Report) -> None:
        with suppress(OSError):  # a full disk ends the run itself
            write_json(_report(folder), asdict(report))

    def keep_writing() -> None:
        write(now)
        while not ended.wait(EVERY):
            write(now)

    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    thread, problem = threading.Thread(target=keep_writing, daemon=True), ""
    thread.start()
    try:
        yield control
    except StoppedError:
        raise
    except BaseException as error:
        last, problem = "failed", reason_of(error)
        raise
    finally:
        ended.set()
        thread.join()
        write(Report(last, now.done, now.total, problem=problem))


def be_nice() -> None:
    """Lets other processes of this machine go first, where the system can."""
    if hasattr(os, "nice"):
        os.nice(10)


def _report(folder: Path) -> Path:
    return folder / FOLDER / "progress.json"


def _stop(folder: Path) -> Path:
    return folder / FOLDER / "stop"
