"""The part of the lesson on decoders that writes, a token at a time."""

import streamlit as st

from viz.pages import controls, shared
from viz.pages.lesson import cells, frame, tables, writing
from viz.pages.lesson.tables import number

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
    at = min(at, len(found.steps))
    rows = [
        [str(n + 1), found.word(n), *(f"{name} {number(p)}" for name, p in found.best(n))]
        for n in range(at)
    ]
    told = " ".join(found.word(n) for n in range(at)) or "nothing yet"
    frame.show(tables.facts(("read", " ".join(found.read)), ("written", told)))
    if rows:
        titles = ("step", "chosen", "likeliest", "second", "third")
        frame.show(cells.table(titles, rows, title="What was written, and what was likely"))
    if at < len(found.steps):
        names, shares = zip(*found.best(at, 8), strict=True)
        drawn = bars(names, shares, title=f"Step {at + 1}: what comes next", x="probability")
        frame.figure(NAME, drawn, "next", "Probabilities of the next token")
    else:
        st.caption(_ended(found))
    said = f"{found.difference:.1e}"
    frame.shapes(("difference of probabilities with and without kept keys and values", said))
    if writer != "untrained":
        frame.explore("Open this in the explorer", model=writer, input=text)


def _ended(found: writing.Written) -> str:
    chosen = int(found.steps[-1].ids[0])
    if chosen == found.end:
        return f"The end: “{found.names[chosen]}” was the likeliest."
    return f"Stopped after {len(found.steps)} tokens; the end symbol was never the likeliest."


def _said(name: str) -> str:
    return st.session_state[f"{NAME}_{name}"]
