"""Runs of the page that are kept by name in its link: opened in one click, forgotten, compared.

A run is the settings of the page; layer, head and form of the view stay as they are when it is
opened. Requests are noted while they are shown: a run that is compared is not on the screen.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import streamlit as st

from analysis.percent import percent
from models.request import Chat, Ids, Picture, Question, Recording, Several, TraceRequest
from viz.api.predictions import predictions
from viz.pages import shared
from viz.pages.explore import source
from viz.pages.explore.names import PAGE
from viz.pages.state import link_on_entry, session
from viz.pages.state import params as link
from viz.values import Kind

ASIDE = ("kept", "compared", "edited")  # settings that are none of a run's
MOST = 12  # runs; the oldest goes first
LONGEST = 40  # characters of a name
BESIDE = 4  # runs that are compared at a time
NOW = f"{PAGE}/run"  # in the session, that on the screen
NAMED = 3  # outputs of a run
EXPECTED = "a list of names, each with the settings of a page"
GONE = "The runs that this link keeps are too long for a link, and no longer on this server"
ROWS = ("Model", "Input", "Edits", "Prediction")


class Run(NamedTuple):
    """A run: its name, and its settings as a link has them."""

    name: str
    query: Mapping[str, str]

    @property
    def key(self) -> str:
        """Equal for equal settings."""
        return json.dumps(sorted(self.query.items()))


def _read(text: str) -> list[Run]:
    def settings(query: Mapping[str, str]) -> dict[str, str]:
        return source.named({name: str(query[name]) for name in query if name not in ASIDE})

    try:
        pairs = json.loads(text) if text else []
        return [Run(str(name)[:LONGEST], settings(query)) for name, query in pairs[:MOST]]
    except (TypeError, AttributeError) as error:
        raise ValueError(f"expected {EXPECTED}") from error


PARAMS = (
    link.Param("kept", "", Kind(EXPECTED, lambda text: _read(text) and text), GONE),
    link.choice("compared", "no", ("no", "yes")),
)


def _kept() -> dict[str, Run]:
    """The runs of the link by name; none in a text that holds no such list."""
    try:
        return {each.name: each for each in _read(session.get(PAGE, "kept"))}
    except ValueError:
        return {}


def props(params: Iterable[link.Param], request: TraceRequest) -> dict[str, Any]:
    """Props of the view: the kept runs, which of them is on the screen, and all side by side.

    Args:
        params: of the page now.
        request: of the run on the screen, which is noted.
    """
    settings = session.current(PAGE).settings
    listed = [each for each in params if each.name in settings and each.name not in ASIDE]
    run, runs = Run("On the screen", link.write(listed, settings)), [*_kept().values()]
    st.session_state[NOW], _noted()[run.key] = run, request
    names = [{"name": each.name, "here": each.query == run.query} for each in runs]
    compared = None
    if runs and session.get(PAGE, "compared") == "yes":
        here = next((each for each in runs if each.query == run.query), run)
        every = [here, *(each for each in runs if each.query != run.query)][:BESIDE]
        columns = [_column(_noted().get(each.key)) for each in every]
        rows = {name: [*cells] for name, *cells in zip(ROWS, *columns, strict=True)}
        compared = {"names": [each.name for each in every], "rows": rows}
    return {"kept": names, "compared": compared}


def keep(name: str) -> None:
    """Keeps the run on the screen under a name, or the first free number."""
    runs = _kept()
    free = (f"Run {number}" for number in range(1, MOST + 2))
    name = name.strip()[:LONGEST] or next(each for each in free if each not in runs)
    runs.pop(name, None)
    _set([*runs.values(), Run(name, st.session_state[NOW].query)][-MOST:])


def forget(name: str) -> None:
    """Forgets a kept run."""
    _set(each for each in _kept().values() if each.name != name)


def open_run(name: str, params_of: link_on_entry.ParamsOf) -> None:
    """Makes the settings of a kept run those of the page."""
    if run := _kept().get(name):
        aside = {name: session.get(PAGE, name) for name in ASIDE}
        link_on_entry.follow(PAGE, params_of, {**run.query, **aside})


def _set(runs: Iterable[Run]) -> None:
    """Keeps these runs alone."""
    pairs = [[each.name, dict(each.query)] for each in runs]
    text = json.dumps(pairs, ensure_ascii=False, separators=(",", ":")) if pairs else ""
    session.edit(PAGE, {"kept": text})


def _noted() -> dict[str, TraceRequest]:
    """The requests that were shown in this session, by run."""
    return st.session_state.setdefault(f"{PAGE}/requests", {})


def _column(request: TraceRequest | None) -> list[str]:
    """What is said of one run."""
    if request is None:
        return ["–", "–", "–", "open it once to compare it"]
    edits: tuple[Any, ...] = request.edits
    described = " ".join(edit.describe() for edit in edits) or "none"
    about = [source.title(request.model), _words(request), described]
    try:
        answer = predictions(shared.entry_for(request).value, 0, "out")
    except ValueError as error:
        return [*about, " ".join(str(error).split())]
    pairs = zip(answer.labels, answer.probabilities, strict=True) if answer else ()
    named = [(name.strip() or repr(name), percent(share, ".1f")) for name, share in pairs]
    return [*about, " · ".join(map(" ".join, named[:NAMED])) or "–"]


def _words(request: TraceRequest) -> str:
    """An input in words."""
    match request.input:
        case Chat(text) | Question(text) | (str() as text):
            words = f"“{text}”"
        case tuple() as texts:
            words = " and ".join(f"“{text}”" for text in texts)
        case Ids(values):
            words = f"ids {' '.join(map(str, values))}"
        case Picture(file) | Recording(file):
            words = file.name
        case Several(texts):
            words = f"{len(texts)} texts"
    if request.language:
        words += f" into {request.language}"
    return f"{words} → “{request.target}”" if isinstance(request.target, str) else words
