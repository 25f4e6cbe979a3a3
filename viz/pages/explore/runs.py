"""Runs of the page that are kept by name in its link: opened in one click, forgotten, compared.

A run is the settings of the page; layer, head and form of the view stay as they are when it is
opened. The link holds the runs, so that a reload keeps them; the session does so beside it, as
another link may follow. Requests are noted while they are shown: a run that is compared is not on
the screen.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from analysis.percent import percent
from models.request import (
    Chat,
    Ids,
    Picture,
    Question,
    Recording,
    Several,
    TraceRequest,
    digest_of,
)
from viz.api import tracing
from viz.pages import shared
from viz.pages.explore import compute, source
from viz.pages.explore.names import PAGE
from viz.pages.state import link_on_entry, session
from viz.pages.state import params as link
from viz.pages.widgets import controls

ASIDE = frozenset(("kept", "compared", "edited", "chooser"))  # settings that are none of a run's
KEPT = f"{PAGE}/kept"
MOST = 12  # runs; the oldest goes first
LONGEST = 40  # characters of a name
BESIDE = 4  # runs that are compared at a time
NAMED = 3  # outputs of a run
NOTED = 64  # requests
NOW = "On the screen"
COMPARE = "Inputs, edits and predictions of the kept runs side by side"
SAME = ":gray[the same]"
EXPECTED = "a list of names, each with the settings of a page"


@dataclass(frozen=True)
class Run:
    """A run that is kept.

    Attributes:
        name: typed, or numbered.
        query: its settings, as a link has them.
    """

    name: str
    query: Mapping[str, str]

    @property
    def key(self) -> str:
        """Equal for equal settings."""
        return digest_of(json.dumps(sorted(self.query.items())))


def _parsed(text: str) -> str:
    """The text of a link, if it holds runs."""
    _read(text)
    return text


GONE = "The runs that this link keeps are too long for a link, and no longer on this server"
PARAMS = (
    link.Param("kept", "", _parsed, EXPECTED, GONE),
    link.choice("compared", "no", ("no", "yes")),
)


RequestOf = Callable[[Run], TraceRequest | None]


def kept() -> tuple[Run, ...]:
    """The runs of the link, then others of the session."""
    text, memory = session.get(PAGE, "kept"), st.session_state.get(KEPT, "")
    runs = {run.name: run for each in (memory, text) for run in _readable(each)}
    if text != memory:
        _set(runs.values())
    return tuple(runs.values())


def now(params: Iterable[link.Param], request: TraceRequest) -> Run:
    """The run on the screen; its request is noted."""
    settings = session.current(PAGE).settings
    listed = [each for each in params if each.name in settings and each.name not in ASIDE]
    run = Run(NOW, link.write(listed, settings))
    noted = requests_noted()
    noted[run.key] = request
    noted.move_to_end(run.key)
    while len(noted) > NOTED:
        noted.popitem(last=False)
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
        key, action = f"{PAGE}_edits_run_{number}", partial(become, each)
        is_here = each.query == run.query
        controls.button(shared.plain(each.name), key, action, chosen=is_here, help="Open this run")
    with st.popover("Keep …", key=f"{PAGE}_edits_keep", disabled=not (enabled or runs)):
        st.text_input("Name of this run", key=f"{PAGE}_edits_name", max_chars=LONGEST)
        controls.button("Keep this run", f"{PAGE}_edits_keep_this", partial(_keep, run))
        for number, each in enumerate(runs):
            label = f"Forget {shared.plain(each.name)}"
            action = partial(_forget, each.name)
            controls.button(label, f"{PAGE}_edits_forget_{number}", action)
        if len(runs) > 1:
            controls.button("Forget all runs", f"{PAGE}_edits_forget", partial(_set, ()))
    if runs:
        is_on = session.get(PAGE, "compared") == "yes"
        switched = partial(session.edit, PAGE, {"compared": "no" if is_on else "yes"})
        key = f"{PAGE}_edits_compare"
        controls.button("Compare runs", key, switched, chosen=is_on, help=COMPARE)


def compare(run: Run, request_of: RequestOf) -> None:
    """The kept runs beside the one on the screen, if that is wanted.

    Args:
        run: on the screen.
        request_of: the request of a run that was not shown here yet; None where it is not known.
    """
    runs = kept()
    if not runs or session.get(PAGE, "compared") != "yes":
        return
    others = [each for each in runs if each.query != run.query]
    named = next((each for each in runs if each.query == run.query), run)
    every = {each.name: each for each in (named, *others)}
    names = list(every)
    if len(names) > BESIDE:
        names = st.pills(
            "Runs that are compared",
            names,
            selection_mode="multi",
            default=names[:BESIDE],
            format_func=shared.plain,
            key=f"{PAGE}_edits_compared",
        )
    with st.spinner("Comparing runs …"):
        requests = [_request(every[name], request_of) for name in names]
        columns = [_column(request, requests[0]) for request in requests]
    if columns:
        st.table(_beside(names, columns))
        st.caption(
            "KL is the divergence of each prediction from the first run’s, in nats; 1 − cosine that"
            " of its embedding. It does not say which of the differences between two runs did it."
        )


def _request(run: Run, request_of: RequestOf) -> TraceRequest | None:
    """The request of a run; None where it is not known, or its edits are none."""
    try:
        return requests_noted().get(run.key) or request_of(run)
    except ValueError:
        return None


def _beside(names: list[str], columns: list[dict[str, str]]) -> dict[str, list[str]]:
    """Rows by column; what equals the first run's is not said again."""
    rows = [name for name in columns[0] if any(each[name] for each in columns)]
    first = columns[0]
    differ = {name: len({each[name] for each in columns}) > 1 for name in rows}
    table = {"": [f"**{name}**" if differ[name] else name for name in rows]}
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        cells = [
            SAME if place and column[row] and column[row] == first[row] else column[row]
            for row in rows
        ]
        table[shared.plain(name)] = [cell or "–" for cell in cells]
    return table


def _column(request: TraceRequest | None, first: TraceRequest | None) -> dict[str, str]:
    """What is said of one run, and how far it is from the first."""
    if request is None:
        return _cells("", "", "", "open it once to compare it", "")
    cells = _model(request), _input(request), _edits(request)
    try:
        entry = shared.entry_for(request).value
        answer = entry.predict(0, "out", None)
        pairs = zip(answer.get("labels", ()), answer.get("probabilities", ()), strict=True)
        shares = [f"{shared.plain(_legible(name))} {percent(p, '.1f')}" for name, p in pairs]
        apart = "" if first is None or request is first else _apart(first, request)
        return _cells(*cells, " · ".join(shares[:NAMED]), apart)
    except ValueError as error:
        return _cells(*cells, shared.plain(" ".join(str(error).split())), "")


def _cells(model: str, input: str, edits: str, prediction: str, apart: str) -> dict[str, str]:
    names = ("Model", "Input", "Edits", "Prediction", "From the first")
    return dict(zip(names, (model, input, edits, prediction, apart), strict=True))


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


def _model(request: TraceRequest) -> str:
    return shared.plain(source.titled(request.model.place, request.model.name))


def _input(request: TraceRequest) -> str:
    """An input in words."""
    match request.input:
        case str() as text:
            words = f"“{text}”"
        case tuple() as texts:
            words = " and ".join(f"“{text}”" for text in texts)
        case Chat(text):
            words = f"“{text}”, as a turn of a chat"
        case Ids(values):
            words = f"ids {' '.join(map(str, values))}"
        case Picture(file) | Recording(file):
            words = file.name
        case Question(text):
            words = f"“{text}”"
        case Several(texts):
            words = f"{len(texts)} texts"
    if request.language:
        words += f" into {request.language}"
    if isinstance(request.target, str):
        words += f" → “{request.target}”"
    return shared.plain(words)


def _edits(request: TraceRequest) -> str:
    """The edits of a run, in words."""
    edits: tuple[Any, ...] = request.edits
    return " ".join(shared.plain(edit.describe()) for edit in edits) or "none"


# ---- what is done to the list


def open_run(run: Run, params_of: link_on_entry.ParamsOf) -> None:
    """Makes the settings of a run those of the page.

    Args:
        run: one that is kept.
        params_of: the page's parameters for a link.
    """
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


def _forget(name: str) -> None:
    _set([each for each in kept() if each.name != name])


def _set(runs: Iterable[Run]) -> None:
    """Keeps these runs alone, in the link and in the session."""
    pairs = [[each.name, dict(each.query)] for each in runs]
    text = json.dumps(pairs, ensure_ascii=False, separators=(",", ":")) if pairs else ""
    st.session_state[KEPT] = text
    session.edit(PAGE, {"kept": text})


def _read(text: str) -> tuple[Run, ...]:
    """The runs of a text.

    Raises:
        ValueError: for one that holds no such list.
    """
    try:
        pairs = json.loads(text) if text else []
        return tuple(Run(str(name)[:LONGEST], _query(query)) for name, query in pairs[:MOST])
    except (TypeError, AttributeError) as error:
        raise ValueError(f"expected {EXPECTED}") from error


def _readable(text: str) -> tuple[Run, ...]:
    """The same; none for a text that holds no such list, as a digest in a link may name."""
    try:
        return _read(text)
    except ValueError:
        return ()


def _query(query: Mapping[Any, Any]) -> dict[str, str]:
    named = {str(name): str(value) for name, value in query.items() if name not in ASIDE}
    return source.named(named)


@st.cache_resource(max_entries=1, show_spinner=False)
def requests_noted() -> "OrderedDict[str, TraceRequest]":
    """The requests that were shown last, by run."""
    return OrderedDict()
