"""Runs of the page that are kept by name in its link: opened in one click, forgotten, compared.

A run is the settings of the page; layer, head and form of the view stay as they are when it is
opened. Requests are noted while they are shown: a run that is compared is not on the screen.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from analysis.percent import percent
from models.request import TraceRequest
from viz.api.predictions import predictions
from viz.pages import shared
from viz.pages.explore import source
from viz.pages.explore.names import PAGE
from viz.pages.state import link_on_entry, session
from viz.pages.state import params as link
from viz.values import Kind
from viz.views.request import input_of

Runs = dict[str, dict[str, str]]  # by name, the settings as a link has them

ASIDE = ("kept", "compared", "edited")  # settings that are none of a run's
MOST = 12  # runs; the oldest goes first
LONGEST = 40  # characters of a name
BESIDE = 4  # runs that are compared at a time
NAMED = 3  # outputs of a run
NOW, NOTED = f"{PAGE}/run", f"{PAGE}/requests"  # in the session: the run shown, requests by run
EXPECTED = "a list of names, each with the settings of a page"
GONE = "The runs that this link keeps are too long for a link, and no longer on this server"
ROWS = ("Model", "Input", "Edits", "Prediction")


def _read(text: str) -> Runs:
    def settings(query: Mapping[str, str]) -> dict[str, str]:
        return source.named({name: str(query[name]) for name in query if name not in ASIDE})

    try:
        pairs = json.loads(text) if text else []
        return {str(name)[:LONGEST]: settings(query) for name, query in pairs[:MOST]}
    except (TypeError, AttributeError) as error:
        raise ValueError(f"expected {EXPECTED}") from error


PARAMS = (
    link.Param("kept", "", Kind(EXPECTED, lambda text: _read(text) and text), GONE),
    link.choice("compared", "no", ("no", "yes")),
)


def _kept() -> Runs:
    """The runs of the link; none in a text that holds no such list."""
    try:
        return _read(session.get(PAGE, "kept"))
    except ValueError:
        return {}


def props(params: Iterable[link.Param], request: TraceRequest) -> dict[str, Any]:
    """Props of the view: the kept runs, which of them is on the screen, and all side by side.

    Args:
        params: of the page now.
        request: of the run on the screen, which is noted.
    """
    settings, runs, state = session.current(PAGE).settings, _kept(), st.session_state
    listed = [each for each in params if each.name in settings and each.name not in ASIDE]
    now = state[NOW] = link.write(listed, settings)
    requests = state.setdefault(NOTED, {})
    requests[_key(now)] = request
    compared = None
    if runs and session.get(PAGE, "compared") == "yes":
        here = next((name for name, query in runs.items() if query == now), "On the screen")
        every = [(here, now), *(each for each in runs.items() if each[1] != now)][:BESIDE]
        columns = [_column(requests.get(_key(query))) for _, query in every]
        rows = {name: [*cells] for name, *cells in zip(ROWS, *columns, strict=True)}
        compared = {"names": [name for name, _ in every], "rows": rows}
    kept = [{"name": name, "here": query == now} for name, query in runs.items()]
    return {"kept": kept, "compared": compared}


def keep(name: str) -> None:
    """Keeps the run on the screen under a name, or the first free number."""
    runs = _kept()
    free = (f"Run {number}" for number in range(1, MOST + 2))
    name = name.strip()[:LONGEST] or next(each for each in free if each not in runs)
    runs.pop(name, None)
    _set(dict([*runs.items(), (name, st.session_state[NOW])][-MOST:]))


def forget(name: str) -> None:
    """Forgets a kept run."""
    _set({each: query for each, query in _kept().items() if each != name})


def open_run(name: str, params_of: link_on_entry.ParamsOf) -> None:
    """Makes the settings of a kept run those of the page."""
    if query := _kept().get(name):
        aside = {name: session.get(PAGE, name) for name in ASIDE}
        link_on_entry.follow(PAGE, params_of, {**query, **aside})


def _set(runs: Runs) -> None:
    """Keeps these runs alone."""
    pairs = [*runs.items()]
    text = json.dumps(pairs, ensure_ascii=False, separators=(",", ":")) if pairs else ""
    session.edit(PAGE, {"kept": text})


def _key(query: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Equal for equal settings."""
    return frozenset(query.items())


def _column(request: TraceRequest | None) -> list[str]:
    """What is said of one run."""
    if request is None:
        return ["–", "–", "–", "open it once to compare it"]
    edits: tuple[Any, ...] = request.edits
    model, described = source.title(request.model), " ".join(each.describe() for each in edits)
    try:
        entry = shared.entry_for(request).value
        answer = predictions(entry, 0, "out")
    except ValueError as error:
        return [model, "–", described or "none", " ".join(str(error).split())]
    pairs = zip(answer.labels, answer.probabilities, strict=True) if answer else ()
    named = [(name.strip() or repr(name), percent(share, ".1f")) for name, share in pairs]
    said = " · ".join(map(" ".join, named[:NAMED])) or "–"
    return [model, input_of(entry.view), described or "none", said]
