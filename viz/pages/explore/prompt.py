"""A question about pictures, for a model that writes answers: its text, pictures and answer."""

from typing import TYPE_CHECKING

import streamlit as st

from models.request import File, Question, Source, TraceRequest
from viz.pages import shared
from viz.pages.explore import compute, examples, source
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, entry, pictures

if TYPE_CHECKING:
    from models.model import Model

QUESTION = "What is in this picture?"
EVERY = {"one": "This picture", "every": "All your pictures"}
PARAMS = (
    link.text("question", QUESTION),
    link.text("answer", ""),
    link.choice("asked_about", "one", EVERY),
)
LABELS = {
    "question": "Ask about the picture",
    "answer": "Answer (leave empty to let the model write)",
}


def draw(model: "Model") -> None:
    """Draws the entries.

    Args:
        model: that is asked.
    """
    with st.container(key=f"{PAGE}_input", horizontal=True, gap="small"):
        for name, label in LABELS.items():
            entry.text(PAGE, name, label, placeholder=label, bare=True)
    key = f"{PAGE}_pictures"
    with st.container(key=key, horizontal=True, vertical_alignment="bottom"):
        pictures.choose(PAGE, examples.pictures(source.listed()))
        if len(pictures.strip(PAGE)) > 1:
            help = "One picture, or all that you opened, in order"
            controls.choice(PAGE, "asked_about", "Pictures", EVERY, help, collapsed=True)
        with st.popover("Chat template", key=f"{PAGE}_template"):
            st.caption("What the model reads; each <image> expands into its tokens.")
            st.code(_written(model), language=None, wrap_lines=True)
    for problem in pictures.problems(PAGE):
        shared.error_line(problem)


def request(chosen: Source) -> TraceRequest | None:
    """What the entries ask for; None without a question."""
    asked = session.get(PAGE, "question").strip()
    if not asked:
        return None
    answer = session.get(PAGE, "answer").strip()
    return TraceRequest(chosen, Question(asked, _pictures()), answer or None)


def _pictures() -> tuple[File, ...]:
    """The pictures that are asked about, in order."""
    uploads = pictures.strip(PAGE)
    if session.get(PAGE, "asked_about") == "every" and len(uploads) > 1:
        return tuple(uploads.values())
    return (pictures.current(PAGE),)


def _written(model: "Model") -> str:
    """The question in the model's chat template, or why it cannot be written."""
    try:
        images = [file.data for file in _pictures()]
        return compute.in_template(model, compute.Prompt(session.get(PAGE, "question"), images))
    except ValueError as error:
        return str(error)
