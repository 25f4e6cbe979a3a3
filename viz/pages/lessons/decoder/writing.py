"""The part of the lesson on decoders that writes, a token at a time."""

from collections.abc import Iterable

import streamlit as st

from viz.pages import settings, shared
from viz.pages.lessons import cells, frame, tables, writing
from viz.pages.lessons.prose import plain
from viz.pages.text import reading
from viz.pages.widgets import controls

NAME = "decoder"
BEGUN = {"grammar-next": "prompt", "dates": "date", "untrained": "start"}


def draw() -> None:
    """The controls, what was written so far, and what comes next."""
    from viz.figures import bars

    controls.choice(NAME, "writer", "A decoder that knows", writing.WRITERS, "Which network writes")
    writer = _said("writer")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        told = {"dates": "A date to write out", "untrained": "Words to go on from"}
        label = told.get(writer, "Words to go on from")
        st.text_input(label, key=f"{NAME}_{BEGUN[writer]}", persist_state="session")
        span = (0, writing.LIMIT)
        controls.slider(NAME, "written", "Tokens written", span, "How far the writing has come")
    text, at = _said(BEGUN[writer]), int(_said("written"))
    if not writing.there(writer):
        shared.notice(writing.missing(writer))
        writer, text = "untrained", _said("start")
    found = writing.written(writer, text)
    reading.tell(found.read)
    at = min(at, len(found.steps))
    if not frame.printing(NAME):
        ended = at == len(found.steps)
        st.button("Write the next token", key=f"{NAME}_next", on_click=_next, disabled=ended)
    told = _listed(found.word(n) for n in range(at)) or "nothing yet"
    frame.show(tables.facts(("read", _listed(found.read)), ("written", told)))
    if at:
        _table(found, at)
    if at < len(found.steps):
        names, shares = zip(*found.best(at, 8), strict=True)
        drawn = bars(names, shares, title=f"Step {at + 1}: what comes next", x="probability")
        frame.figure(NAME, drawn, "next", "Probabilities of the next token")
    else:
        st.caption(_ended(found))
    told = "keys and values kept or made anew at each step: probabilities differ by at most"
    frame.shapes((told, f"{found.difference:.1e} (rounding)"))
    if writer != "untrained":
        frame.explore("Open this in the explorer", model=writer, input=text)


def _listed(tokens: Iterable[str]) -> str:
    return plain(" ".join(map(reading.visible, tokens)))


def _next() -> None:
    settings.say(NAME, {"written": int(_said("written")) + 1})


def _table(found: writing.Written, count: int) -> None:
    """What was chosen at each step, and the three likeliest."""
    best = [found.best(n) for n in range(count)]
    frame.show(
        cells.cells(
            [[name for name, _ in row] for row in best],
            [[share for _, share in row] for row in best],
            title="What was written, and what was likely",
            rows=[f"step {n + 1}: {found.word(n)}" for n in range(count)],
            cols=("likeliest", "second", "third"),
            digits=4,
        )
    )


def _ended(found: writing.Written) -> str:
    chosen = int(found.steps[-1].ids[0])
    if chosen == found.end:
        return f"The end: “{found.names[chosen]}” was the likeliest."
    return f"Stopped after {len(found.steps)} tokens; the end symbol was never the likeliest."


def _said(name: str) -> str:
    return st.session_state[f"{NAME}_{name}"]
