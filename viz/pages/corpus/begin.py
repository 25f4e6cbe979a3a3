"""Starts a run from the page: a model, and texts or pictures; opens runs made elsewhere."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from headscope_views import view

from models import catalogue
from models.whole_file import write_whole
from viz.api import runs
from viz.pages import shared
from viz.pages.corpus import runs as known
from viz.pages.corpus.names import PAGE
from viz.pages.lazy import Lazy
from viz.pages.state import attachments, session
from viz.pages.state import params as link
from viz.pages.widgets import controls

docstrings = Lazy("analysis.corpus.docstrings")
texts = Lazy("analysis.corpus.texts")

MODEL_FOLDER = "folder"
SOURCES = {
    "docstrings": "Python’s docstrings",
    "path": "A path on this machine",
    "files": "Uploaded files",
}
ACCEPT = ".txt,.jsonl,.csv,.parquet,.zip,.json,image/*"
MOST_FILES = 500
MOST_SENTENCES = 20_000
PARAMS = (
    link.text("reader", known.FIRST),
    link.text("reader_folder", ""),
    link.choice("corpus", "docstrings", tuple(SOURCES)),
    link.text("corpus_path", ""),
    link.text("column", ""),
    link.number("sentences", 1_000, 10, MOST_SENTENCES),
)
FILES = f"{PAGE}_files"
UNDER_WAY = f"{PAGE}_runs"
PROBLEM = f"{PAGE}/begin_problem"
STARTED = f"{PAGE}/started"
TAKEN = f"{PAGE}/files_taken"
UPLOADED = f"{PAGE}/uploaded"


def take() -> None:
    """Opens a run that was uploaded, or makes the uploaded files the corpus of the next run."""
    state = st.session_state
    value = (state.get(FILES) or {}).get("files")
    if not isinstance(value, Mapping) or value.get("id") == state.get(TAKEN):
        return
    state[TAKEN] = value.get("id")
    state.pop(PROBLEM, None)
    try:
        files = _received(value)
        if runs.is_run(files):
            session.edit(PAGE, {"run": f"{known.USERS}{runs.keep(files)}"})
        else:
            state[UPLOADED] = {
                name: attachments.keep(data, session.visitor()) for name, data in files.items()
            }
            session.edit(PAGE, {"corpus": "files"})
    except (OSError, ValueError) as error:
        state[PROBLEM] = str(error)


def _received(value: Mapping[str, Any]) -> dict[str, bytes]:
    """Files of an upload by name.

    Raises:
        ValueError: in one line, if one was not received.
    """
    for each in value.get("refused") or ():
        raise ValueError(f"{each['name']}: {each['reason']}")
    files = {}
    for each in value.get("sent") or ():
        data = attachments.find(str(each["digest"]))
        if data is None:
            raise ValueError(f"{each['name']}: the files are too large together; type their path")
        files[str(each["name"])] = data
    return files


def draw() -> None:
    """What is under way, an uploader, and the form of a new run, folded."""
    if not runs.allowed():
        return
    state = st.session_state
    follow = session.callback(_follow)
    props = {"serial": state.get(STARTED, 0)}
    view("runs", props, key=UNDER_WAY, on={"open": follow, "complete": follow})
    if left_out := runs.unreadable():
        shared.notice(f"Runs that cannot be read are left out: {'; '.join(left_out)}")
    box = st.expander("Read a corpus, or open a run", key=f"{PAGE}_begin", on_change="rerun")
    if box.open:
        with box:
            _form()
    if state.get(PROBLEM):
        shared.error_line(state[PROBLEM])


def _follow() -> None:
    """Opens the run whose results were asked for, or which has just been completed."""
    events = st.session_state.get(UNDER_WAY) or {}
    run = f"{known.USERS}{events.get('open') or events.get('complete')}"
    if run in known.choices():
        session.assign(PAGE, {"run": run}, {})


def _form() -> None:
    props = {
        "label": "A corpus, or a run made elsewhere",
        "hint": "Texts, pictures, or the folder or .zip of a run: drop them anywhere",
        "accept": ACCEPT,
        "most": MOST_FILES,
        "limit": st.get_option("server.maxUploadSize"),
        "pasted": "",
        "folders": True,
        "session": session.visitor(),
    }
    view("files", props, key=FILES, on=("files",), width=520)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        _choose_model()
        _choose_corpus()
        controls.button("Start", f"{PAGE}_start", _start, chosen=True)


def _choose_model() -> None:
    entries = (each for each in catalogue.catalogue() if each.reads != "sound")
    models = {each.name: each.title for each in entries}
    models[MODEL_FOLDER] = "A folder on this machine …"
    if session.get(PAGE, "reader") not in models:
        session.edit(PAGE, {"reader": known.FIRST})
    help = "Which model reads the corpus"
    if controls.select(PAGE, "reader", "Model", models, help, width=260) == MODEL_FOLDER:
        controls.text_input(
            PAGE, "reader_folder", "Folder of the model", placeholder="/path/to/model", width=260
        )


def _choose_corpus() -> None:
    help = "The docstrings are the English sentences of Python’s own library"
    chosen = controls.select(PAGE, "corpus", "Corpus", SOURCES, help, width=230)
    if chosen == "docstrings":
        most = (10, MOST_SENTENCES)
        controls.number(PAGE, "sentences", "Sentences", most, "How many are read")
        return
    if chosen == "path":
        help = "A file or folder: .txt (one text a line), .jsonl, .csv, .parquet, or pictures"
        controls.text_input(PAGE, "corpus_path", "Path", help, placeholder="/path", width=260)
    else:
        names = list(st.session_state.get(UPLOADED, {}))
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        st.caption(shared.plain(f"{names[0]}{more}") if names else "Upload or drop them first.")
    help = "Of .csv, .jsonl and .parquet, the one with the text; empty for the usual one"
    controls.text_input(PAGE, "column", "Column", help, placeholder="text", width=130)


def _start() -> None:
    """Starts the run that the form describes; a mistake becomes one line."""
    state = st.session_state
    session.fold(PAGE)
    state.pop(PROBLEM, None)
    try:
        _begin()
    except (OSError, ValueError) as error:
        state[PROBLEM] = str(error)
        return
    state[STARTED] = state.get(STARTED, 0) + 1


def _begin() -> None:
    model, words = _model()
    about, sources, folder = _corpus(words)
    pictures = _are_pictures(sources)
    column = session.get(PAGE, "column").strip()
    arguments = ["--model", model, "--about", about]
    arguments += ["--images" if pictures else "--texts", *map(str, sources)]
    if column and not pictures and session.get(PAGE, "corpus") != "docstrings":
        arguments += ["--column", column]
    runs.start(folder, f"{words} · {about}", arguments)


def _model() -> tuple[str, str]:
    """What `load` takes, and what people call it."""
    chosen = session.get(PAGE, "reader")
    if chosen != MODEL_FOLDER:
        return chosen, catalogue.entry(chosen).title
    text = session.get(PAGE, "reader_folder")
    path = known.path_of(text)
    if not text.strip() or not path.is_dir():
        raise ValueError(f"{text.strip() or 'Model'}: expected a folder with config.json")
    return str(path.resolve()), path.name


def _corpus(model: str) -> tuple[str, list[Path], Path]:
    """What the corpus is, its files, and a new folder for the run."""
    chosen = session.get(PAGE, "corpus")
    if chosen == "path":
        text = session.get(PAGE, "corpus_path")
        path = known.path_of(text)
        if not text.strip() or not path.exists():
            raise ValueError(f"{text.strip() or 'Path'}: there is no such file or folder")
        about = path.name
        return about, [path.resolve()], runs.new_folder(f"{model} {about}")
    if chosen == "docstrings":
        count = int(session.get(PAGE, "sentences"))
        about = f"{count:,} sentences of Python’s docstrings"
        folder = runs.new_folder(f"{model} docstrings")
        lines = "\n".join(docstrings.sentences(count))
        return about, _written(folder, {"docstrings.txt": lines.encode()}), folder
    digests: Mapping[str, str] = st.session_state.get(UPLOADED, {})
    if not digests:
        raise ValueError("Upload or drop a corpus first.")
    files = {name: attachments.find(digest) for name, digest in digests.items()}
    held = {name: data for name, data in files.items() if data is not None}
    if len(held) < len(files):
        raise ValueError("The uploaded files are no longer held: upload them again.")
    first, *others = held
    about = f"{first} and {len(others)} more" if others else first
    folder = runs.new_folder(f"{model} {first}")
    return about, _written(folder, held), folder


def _written(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """The folder of the corpus inside that of the run, with these files in it."""
    into = folder / "work" / "corpus"
    try:
        for name, data in files.items():
            path = into.joinpath(*(part for part in Path(name).parts if part not in ("..", "/")))
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
    except OSError:
        shutil.rmtree(folder)
        raise
    return [into]


def _are_pictures(sources: list[Path]) -> bool:
    """Whether the first file that a run can read is a picture."""
    suffixes = {*texts.PICTURES, *texts.READERS}
    for source in sources:
        every = [source] if source.is_file() else sorted(source.rglob("*"))
        for path in every:
            if path.suffix.lower() in suffixes:
                return path.suffix.lower() in texts.PICTURES
    return False
