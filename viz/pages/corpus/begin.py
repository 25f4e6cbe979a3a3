"""Starts a run from the page: a model, and texts or pictures."""

from pathlib import Path
from typing import Any

import streamlit as st
from headscope_views import view

from models import catalogue
from models.whole_file import write_whole
from viz.api import runs
from viz.pages import shared
from viz.pages.corpus.names import FIRST, PAGE
from viz.pages.lazy import Lazy
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

docstrings = Lazy("analysis.corpus.docstrings")
texts = Lazy("analysis.corpus.texts")

MODEL_FOLDER = "folder"
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
    state = st.session_state
    follow = session.callback(_follow)
    props = {"serial": state.get(STARTED, 0)}
    view("runs", props, key=UNDER_WAY, on={"open": follow, "complete": follow})
    box = st.expander("Read a corpus", key=f"{PAGE}_begin", on_change="rerun")
    if box.open:
        with box:
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
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        _choose_model()
        _choose_corpus()
        controls.button("Start", f"{PAGE}_start", _start, chosen=True)


def _choose_model() -> None:
    entries = (each for each in catalogue.catalogue() if each.reads != "sound")
    models = {each.name: each.title for each in entries}
    models[MODEL_FOLDER] = "A folder on this machine …"
    if session.get(PAGE, "reader") not in models:
        session.edit(PAGE, {"reader": FIRST})
    help = "Which model reads the corpus"
    if controls.select(PAGE, "reader", "Model", models, help, width=260) == MODEL_FOLDER:
        controls.text_input(
            PAGE, "reader_folder", "Folder of the model", placeholder="/path/to/model", width=260
        )


def _choose_corpus() -> None:
    help = "The docstrings are the English sentences of Python’s own library"
    if controls.select(PAGE, "corpus", "Corpus", SOURCES, help, width=230) == "docstrings":
        most = (10, MOST_SENTENCES)
        controls.number(PAGE, "sentences", "Sentences", most, "How many are read")
        return
    help = "A file or folder: .txt (one text a line), .jsonl, .csv, .parquet, or pictures"
    controls.text_input(PAGE, "corpus_path", "Path", help, placeholder="/path", width=260)
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
    model, name = _model()
    arguments = ["--model", model]
    if session.get(PAGE, "corpus") == "docstrings":
        count = int(session.get(PAGE, "sentences"))
        about = f"{count:,} sentences of Python’s docstrings"
        folder = runs.new_folder(f"{name} docstrings")
        source = folder / "work" / "corpus" / "docstrings.txt"
        source.parent.mkdir(parents=True)
        write_whole(source, "\n".join(docstrings.sentences(count)))
        arguments += ["--about", about, "--texts", str(source.parent)]
    else:
        source = _typed("corpus_path", "Path", Path.exists, "there is no such file or folder")
        about, folder = source.name, runs.new_folder(f"{name} {source.name}")
        pictures, column = _are_pictures(source), session.get(PAGE, "column").strip()
        arguments += ["--about", about, "--images" if pictures else "--texts", str(source)]
        if column and not pictures:
            arguments += ["--column", column]
    runs.start(folder, f"{name} · {about}", arguments)


def _model() -> tuple[str, str]:
    """What `load` takes, and what people call it."""
    chosen = session.get(PAGE, "reader")
    if chosen != MODEL_FOLDER:
        return chosen, catalogue.entry(chosen).title
    path = _typed("reader_folder", "Model", Path.is_dir, "expected a folder with config.json")
    return str(path), path.name


def _typed(setting: str, name: str, is_right: Any, expected: str) -> Path:
    """A path that was typed; ValueError for one that is not right."""
    text = session.get(PAGE, setting).strip()
    path = runs.path_of(text)
    if not text or not is_right(path):
        raise ValueError(f"{text or name}: {expected}")
    return path.resolve()


def _are_pictures(source: Path) -> bool:
    """Whether the first file that a run can read is a picture."""
    every = [source] if source.is_file() else sorted(source.rglob("*"))
    suffixes = (path.suffix.lower() for path in every)
    first = next((each for each in suffixes if each in {*texts.PICTURES, *texts.READERS}), "")
    return first in texts.PICTURES
