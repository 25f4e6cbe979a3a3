"""Runs over a corpus that the user has started here, in processes of their own.

They lie in the user's data folder. A server with PUBLIC=1 in its environment has none.
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz.api import tracing
from viz.api.endpoint import QuestionError, UnknownError
from viz.api.routes import NO_STORE, guarded

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PATH = "/api/runs"
NO_RUN = "there is no such run"
NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,99}")
LONGEST = 200  # characters of a title
SHARD = 256  # texts between two savings: a run that is stopped loses no more
MODULE = __name__.removesuffix("viz.api.runs") + "analysis.corpus"
ROOT = Path(__file__).parents[2]
FINISHED = ROOT / "analysis" / "corpus" / "finished"  # runs that come with the app
USERS = "mine/"  # in a link before the name of a run of the user
FOLDER = "folder"  # in place of a name: a folder that is typed


def allowed() -> bool:
    """Whether this server starts runs and opens those of the user."""
    return not tracing.public()


def home() -> Path:
    """The folder of the user's runs."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "headscope" / "runs"


def folder_of(name: str) -> Path:
    """The folder of a run of the user.

    Raises:
        UnknownError: if there is none of that name.
    """
    if not allowed() or not NAME.fullmatch(name) or not (home() / name).is_dir():
        raise UnknownError(NO_RUN)
    return home() / name


def folders() -> dict[str, Path]:
    """The folders of what this server opens, by name in a link: with the app, and the user's."""
    ours = {path.parent.name: path.parent for path in sorted(FINISHED.glob("*/manifest.json"))}
    users = sorted(home().glob("*/heads.parquet")) if allowed() else ()
    return ours | {f"{USERS}{path.parent.name}": path.parent for path in users}


def choices() -> dict[str, str]:
    """The titles of what this server opens, by name in a link, read without PyTorch."""
    named: dict[str, str] = {}
    for name, folder in folders().items():
        with suppress(ValueError, OSError):
            named[name] = title_of(folder)
    return named | ({FOLDER: "A folder on this machine …"} if allowed() else {})


def chosen(run: str, folder: str) -> Path:
    """The folder of a run by its name in a link, or of one that is typed.

    Raises:
        ValueError: without a folder, or where this server opens none.
    """
    if (known := folders().get(run)) is not None:
        return known
    if not allowed():
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


def title_of(folder: Path) -> str:
    """Model and corpus of a run, from its manifest.

    Raises:
        ValueError: in one line, for a manifest that is not of a run.
    """
    from analysis.corpus.files import manifest_of

    manifest = manifest_of(folder)
    first = next(iter(manifest["corpora"]), {})
    about = first.get("about") or f"{manifest['texts']:,} texts"
    return f"{manifest['model']['name']} · {about}"[:LONGEST]


# ---- processes


def new_folder(words: str) -> Path:
    """An empty folder for a run that is called so."""
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:60] or "run"
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(100):
        folder = home() / f"{name}-{stamp}{f'-{number}' if number else ''}"
        if not folder.exists():
            folder.mkdir(parents=True)
            return folder
    raise ValueError(f"{home()}: too many runs began in this second")


def start(folder: Path, title: str, arguments: Sequence[str]) -> None:
    """Starts a run in a process of its own, by the arguments of `python -m analysis.corpus`."""
    from analysis.corpus.files import write_json

    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    write_json(work / "command.json", {"title": title, "arguments": list(arguments)})
    resume(folder.name)


def resume(name: str) -> None:
    """Starts the process of a run, or starts it again."""
    from analysis.corpus import watched

    folder = folder_of(name)
    report, options = watched.report_of(folder), _command(folder)["arguments"]
    watched.begin(folder)
    if report is not None and report.going:
        return
    more = ["--out", str(folder), "--shard", str(SHARD), "--watched"]
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, *options, *more],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # the run goes on when the app ends
    )
    threading.Thread(target=process.wait, daemon=True).start()  # no zombie stays


def _command(folder: Path) -> dict[str, Any]:
    from models.files.objects import read_object

    try:
        command = read_object(folder / "work" / "command.json")
        return {"title": str(command["title"]), "arguments": [*map(str, command["arguments"])]}
    except (ValueError, LookupError, TypeError) as error:
        raise UnknownError(NO_RUN) from error


def reports() -> list[dict[str, Any]]:
    """How far each run is that was started here, the newest first; finished ones are left out."""
    from analysis.corpus import watched

    if not allowed():
        return []
    known = []
    for path in home().glob("*/work/command.json"):
        folder = path.parents[1]
        report = watched.report_of(folder)
        if report is None or report.status == "complete":
            continue
        try:
            about = {"name": folder.name, "title": _command(folder)["title"]}
        except UnknownError:  # none of ours
            continue
        opens = {"opens": (folder / "heads.parquet").exists(), "began": path.stat().st_mtime}
        known.append(vars(report) | about | opens)
    return sorted(known, key=lambda each: -each["began"])


def command(name: str, what: str) -> None:
    """Stops or resumes a run, or removes one that does not go on.

    Raises:
        QuestionError: for another command.
        UnknownError: if there is no such run.
    """
    from analysis.corpus import watched

    folder = folder_of(name)
    if what == "resume":
        resume(name)
    elif what == "stop":
        watched.stop(folder)
    elif what == "remove":
        report = watched.report_of(folder)
        if report is None or report.going:
            raise QuestionError("expected a run that does not go on: stop it first")
        shutil.rmtree(folder)
    else:
        raise QuestionError("expected stop, resume or remove")


def route() -> "list[Route]":
    """The routes, for the app's server: reports of all runs, and commands to one."""
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def listing(request: "Request") -> "Response":
        return JSONResponse(await asyncio.to_thread(reports), headers=NO_STORE)

    async def commanding(request: "Request") -> "Response":
        name, what = request.path_params["name"], request.path_params["what"]
        await asyncio.to_thread(command, name, what)
        return JSONResponse(await asyncio.to_thread(reports), headers=NO_STORE)

    return [
        Route(PATH, guarded(listing), methods=["GET"]),
        Route(f"{PATH}/{{name}}/{{what}}", guarded(commanding), methods=["POST"]),
    ]
