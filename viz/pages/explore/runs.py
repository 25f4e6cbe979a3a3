"""Runs of the page that are kept by name in its link: opened in one click, forgotten, compared.

A run is the settings of the page; layer, head and form of the view stay as they are when it is
opened. Requests are noted while they are shown: a run that is compared is not on the screen.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from analysis.percent import percent
from models.request import Chat, Ids, Picture, Question, Recording, Several, TraceRequest
from viz.api import tracing
from viz.pages import shared
from viz.pages.explore import compute, source
from viz.pages.explore.names import PAGE
from viz.pages.state import link_on_entry, session
from viz.pages.state import params as link
from viz.pages.widgets import controls

ASIDE = frozenset(("kept", "compared", "edited", "chooser"))  # settings that are none of a run's
MOST = 12  # runs; the oldest goes first
LONGEST = 40  # characters of a name
BESIDE = 4  # runs that are compared at a time
NAMED = 3  # outputs of a run
COMPARE = "Inputs, edits and predictions of the kept runs side by side"
EXPECTED = "a list of names, each with the settings of a page"
GONE = "The runs that this link keeps are too long for a link, and no longer on this server"
ROWS = ("Model", "Input", "Edits", "Prediction", "From the first")


@dataclass(frozen=True)
class Run:
    """A run: its name, and its settings as a link has them."""

    name: str
    query: Mapping[str, str]

    @property
    def key(self) -> str:
        """Equal for equal settings."""
        return json.dumps(sorted(self.query.items()))


def _read(text: str) -> tuple[Run, ...]:
    try:
        pairs = json.loads(text) if text else []
        return tuple(Run(str(name)[:LONGEST], _query(query)) for name, query in pairs[:MOST])
    except (TypeError, AttributeError) as error:
        raise ValueError(f"expected {EXPECTED}") from error


def _query(query: Mapping[str, str]) -> dict[str, str]:
    return source.named({name: str(query[name]) for name in query if name not in ASIDE})


def _checked(text: str) -> str:
    _read(text)
    return text


PARAMS = (
    link.Param("kept", "", _checked, EXPECTED, GONE),
    link.choice("compared", "no", ("no", "yes")),
)


def kept() -> tuple[Run, ...]:
    """The runs of the link; none in a text that holds no such list, as a digest may name."""
    try:
        return _read(session.get(PAGE, "kept"))
    except ValueError:
        return ()


def now(params: Iterable[link.Param], request: TraceRequest) -> Run:
    """The run on the screen; its request is noted."""
    settings = session.current(PAGE).settings
    listed = [each for each in params if each.name in settings and each.name not in ASIDE]
    run = Run("On the screen", link.write(listed, settings))
    _noted()[run.key] = request
    return run


def draw(run: Run, become: Callable[[Run], None], *, enabled: bool) -> None:
    """Draws the kept runs, and the entry that keeps the one on the screen.

    Args:
        run: on the screen.
        become: makes a run the one on the screen.
        enabled: whether there is something to keep.
    """
    runs = kept()
    for number, each in enumerate(runs):
        key, is_here = f"{PAGE}_edits_run_{number}", each.query == run.query
        controls.button(shared.plain(each.name), key, become, each, chosen=is_here)
    with st.popover("Keep …", key=f"{PAGE}_edits_keep", disabled=not (enabled or runs)):
        st.text_input("Name of this run", key=f"{PAGE}_edits_name", max_chars=LONGEST)
        controls.button("Keep this run", f"{PAGE}_edits_keep_this", partial(_keep, run))
        for number, each in enumerate(runs):
            left = [other for other in runs if other is not each]
            label, key = f"Forget {shared.plain(each.name)}", f"{PAGE}_edits_forget_{number}"
            controls.button(label, key, _set, left)
    if runs:
        is_on = session.get(PAGE, "compared") == "yes"
        switched = partial(session.edit, PAGE, {"compared": "no" if is_on else "yes"})
        key = f"{PAGE}_edits_compare"
        controls.button("Compare runs", key, switched, chosen=is_on, help=COMPARE)


def open_run(run: Run, params_of: link_on_entry.ParamsOf) -> None:
    """Makes the settings of a run those of the page."""
    aside = {name: session.get(PAGE, name) for name in ("kept", "compared", "edited")}
    link_on_entry.follow(PAGE, params_of, {**run.query, **aside}, view=False)


def _keep(run: Run) -> None:
    """Keeps a run under the typed name, or the first free number."""
    runs = {each.name: each for each in kept()}
    typed = str(st.session_state.get(f"{PAGE}_edits_name") or "").strip()
    free = (f"Run {number}" for number in range(1, MOST + 2))
    name = typed or next(each for each in free if each not in runs)
    runs.pop(name, None)
    runs[name] = Run(name, run.query)
    _set([*runs.values()][-MOST:])


def _set(runs: Iterable[Run]) -> None:
    """Keeps these runs alone."""
    pairs = [[each.name, dict(each.query)] for each in runs]
    text = json.dumps(pairs, ensure_ascii=False, separators=(",", ":")) if pairs else ""
    session.edit(PAGE, {"kept": text})


def _noted() -> dict[str, TraceRequest]:
    """The requests that were shown in this session, by run."""
    return st.session_state.setdefault(f"{PAGE}/requests", {})


# ---- side by side


def compare(run: Run) -> None:
    """The kept runs beside the one on the screen, if that is wanted."""
    runs = kept()
    if not runs or session.get(PAGE, "compared") != "yes":
        return
    here = next((each for each in runs if each.query == run.query), run)
    every = [here, *(each for each in runs if each.query != run.query)][:BESIDE]
    with st.spinner("Comparing runs …"):
        requests = [_noted().get(each.key) for each in every]
        columns = [_column(request, requests[0]) for request in requests]
    named = {shared.plain(r.name): cells for r, cells in zip(every, columns, strict=True)}
    st.table({"": list(ROWS), **named})
    st.caption(
        "KL is the divergence of each prediction from the first run’s, in nats; 1 − cosine that of"
        " its embedding. It does not say which of the differences between two runs did it."
    )


def _column(request: TraceRequest | None, first: TraceRequest | None) -> list[str]:
    """What is said of one run, and how far it is from the first."""
    if request is None:
        return ["–", "–", "–", "open it once to compare it", "–"]
    model = source.titled(request.model.place, request.model.name)
    edits: tuple[Any, ...] = request.edits
    described = " ".join(edit.describe() for edit in edits) or "none"
    about = [shared.plain(each) for each in (model, _words(request), described)]
    try:
        answer = shared.entry_for(request).value.predict(0, "out", None)
        pairs = zip(answer.get("labels", ()), answer.get("probabilities", ()), strict=True)
        shares = [f"{shared.plain(_legible(name))} {percent(p, '.1f')}" for name, p in pairs]
        apart = "" if first is None or request is first else _apart(first, request)
        return [*about, " · ".join(shares[:NAMED]) or "–", apart or "–"]
    except ValueError as error:
        return [*about, shared.plain(" ".join(str(error).split())), "–"]


def _apart(first: TraceRequest, second: TraceRequest) -> str:
    """How far the output of one run is from that of another."""
    if (first.model.place, first.model.name) != (second.model.place, second.model.name):
        return "another model"
    entries = [shared.entry_for(each).value for each in (first, second)]
    reference, t = (each.trace for each in entries)
    if reference.output.name in compute.EMBEDDINGS:
        distance = compute.EmbeddingDistance(reference, 0 if reference.prefix else None)
        return f"1 − cosine {distance(t):.3g}"
    answers = [each.predict(0, "out", None) for each in entries]
    if not all(answers) or tracing.opened(first.model).multi_label:
        return ""
    before, after = (
        compute.logits_at(each, answer.get("position", -1))
        for each, answer in zip((reference, t), answers, strict=True)
    )
    return f"KL {compute.divergence(before, after):.3g} nats"


def _legible(name: str) -> str:
    """An output without the space before it; of white space alone, signs for it."""
    return name.strip() or name.replace("\n", "↵").replace(" ", "␣")


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
