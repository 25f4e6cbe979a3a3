"""Starts a run from the page: a model, and texts or pictures."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st
from headscope_views import view

from models import catalogue
from models.whole_file import write_whole
from viz.api import runs
from viz.pages import Lazy, shared
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

docstrings = Lazy("analysis.corpus.docstrings")
texts = Lazy("analysis.corpus.texts")

PAGE = "corpus"
FIRST = "minilm"  # the run that is shown first, and the model that reads
FOLDER = "folder"  # in place of a model: a folder that is typed
SOURCES = {"docstrings": "Python’s docstrings", "path": "A path on this machine"}
MOST_SENTENCES = 20_000
PARAMS = (
    link.text("reader", FIRST),
    link.text("reader_folder", ""),
    link.choice("corpus", "docstrings", SOURCES),
    link.text("corpus_path", ""),
    link.text("column", ""),
    link.number("sentences", 1_000, 10, MOST_SENTENCES),
)
UNDER_WAY = f"{PAGE}_runs"
PROBLEM = f"{PAGE}/begin_problem"
STARTED = f"{PAGE}/started"


def draw() -> None:
    """What is under way, and the form of a new run, folded."""
    if not runs.allowed():
        return
    state, follow = st.session_state, session.callback(_follow)
    props = {"serial": state.get(STARTED, 0)}
    view("runs", props, key=UNDER_WAY, on={"open": follow, "complete": follow})
    box = st.expander("Read a corpus", key=f"{PAGE}_begin", on_change="rerun")
    if box.open:
        row = box.container(horizontal=True, gap="medium", vertical_alignment="bottom")
        with row:
            _form()
    if state.get(PROBLEM):
        shared.error_line(state[PROBLEM])


def _follow() -> None:
    """Opens the run whose results were asked for, or which has just been completed."""
    events = st.session_state.get(UNDER_WAY) or {}
    run = f"{runs.USERS}{events.get('open') or events.get('complete')}"
    if run in runs.choices():
        session.assign(PAGE, {"run": run}, {})


def _form() -> None:
    """What is read, and by which model."""
    models = {each.name: each.title for each in catalogue.catalogue() if each.reads != "sound"}
    models[FOLDER] = "A folder on this machine …"
    if session.get(PAGE, "reader") not in models:
        session.edit(PAGE, {"reader": FIRST})
    text, help = controls.text_input, "Which model reads the corpus"
    if controls.select(PAGE, "reader", "Model", models, help, width=260) == FOLDER:
        text(PAGE, "reader_folder", "Folder of the model", placeholder="/path/to/model", width=260)
    help = "The docstrings are the English sentences of Python’s own library"
    if controls.select(PAGE, "corpus", "Corpus", SOURCES, help, width=230) == "docstrings":
        most = (10, MOST_SENTENCES)
        controls.number(PAGE, "sentences", "Sentences", most, "How many are read")
    else:
        help = "A file or folder: .txt (one text a line), .jsonl, .csv, .parquet, or pictures"
        text(PAGE, "corpus_path", "Path", help, placeholder="/path", width=260)
        help = "Of .csv, .jsonl and .parquet, the one with the text; empty for the usual one"
        text(PAGE, "column", "Column", help, placeholder="text", width=130)
    controls.button("Start", f"{PAGE}_start", _start, chosen=True)


def _start() -> None:
    """Starts the run that the form describes; a mistake becomes one line."""
    state = st.session_state
    session.fold(PAGE)
    state.pop(PROBLEM, None)
    try:
        _begin()
        state[STARTED] = state.get(STARTED, 0) + 1
    except (OSError, ValueError) as error:
        state[PROBLEM] = str(error)


def _begin() -> None:
    model = session.get(PAGE, "reader")
    if model == FOLDER:
        path = _typed("reader_folder", "Model", Path.is_dir, "expected a folder with config.json")
        model, name = str(path), path.name
    else:
        name = catalogue.entry(model).title
    if session.get(PAGE, "corpus") == "docstrings":
        count = int(session.get(PAGE, "sentences"))
        about = f"{count:,} sentences of Python’s docstrings"
        folder = runs.new_folder(f"{name} docstrings")
        source = folder / "work" / "corpus"
        source.mkdir(parents=True)
        write_whole(source / "docstrings.txt", "\n".join(docstrings.sentences(count)))
        kind, column = "--texts", ""
    else:
        source = _typed("corpus_path", "Path", Path.exists, "there is no such file or folder")
        about, folder = source.name, runs.new_folder(f"{name} {source.name}")
        kind, column = "--texts", session.get(PAGE, "column").strip()
        if _first_suffix(source) in texts.PICTURES:
            kind, column = "--images", ""
    arguments = ["--model", model, "--about", about, kind, str(source)]
    runs.start(folder, f"{name} · {about}", [*arguments, *(["--column", column] if column else [])])


def _typed(setting: str, name: str, is_right: Callable[[Path], bool], expected: str) -> Path:
    """A path that was typed; ValueError for one that is not right."""
    text = session.get(PAGE, setting).strip()
    path = runs.path_of(text)
    if not text or not is_right(path):
        raise ValueError(f"{text or name}: {expected}")
    return path.resolve()


def _first_suffix(source: Path) -> str:
    """That of the first file that a run can read."""
    every = [source] if source.is_file() else sorted(source.rglob("*"))
    suffixes = (path.suffix.lower() for path in every)
    return next((each for each in suffixes if each in {*texts.PICTURES, *texts.READERS}), "")
