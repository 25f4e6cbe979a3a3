"""A question about pictures or a video, for a model that writes answers, and its answer."""

from typing import TYPE_CHECKING

import streamlit as st

from models.request import File, Question, Source, TraceRequest
from viz.pages import compute
from viz.pages.explore import pictures
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, entry

if TYPE_CHECKING:
    from models.model import Model

QUESTION = "What is in this picture?"
EVERY = {"one": "This picture", "every": "All your pictures", "video": "As a video"}
PARAMS = (
    link.text("question", QUESTION),
    link.text("answer", ""),
    link.choice("asked_about", "one", EVERY),
)
LABELS = {
    "question": "Ask about the picture",
    "answer": "Answer (leave empty to let the model write)",
}


def row() -> None:
    """Draws the question and the answer."""
    for name, label in LABELS.items():
        entry.text(PAGE, name, label, placeholder=label, bare=True)


def options(model: "Model") -> None:
    """Draws which pictures are asked about, and what the model reads.

    Args:
        model: that is asked.
    """
    if len(offered := _offered(model)) > 1:
        help = "One picture, or all that you opened, in order: one by one, or as frames"
        controls.choice(PAGE, "asked_about", "Pictures", offered, help)
    st.caption("What the model reads; each <image> expands into its tokens:")
    st.code(_written(model), language=None, wrap_lines=True)


def request(chosen: Source) -> TraceRequest | None:
    """What the entries ask for; None without a question."""
    asked = session.get(PAGE, "question").strip()
    if not asked:
        return None
    answer = session.get(PAGE, "answer").strip()
    frames = film()
    return TraceRequest(
        chosen, Question(asked, frames or _pictures(), bool(frames)), answer or None
    )


def _offered(model: "Model") -> dict[str, str]:
    """What can be asked about; the choice that was made is always among it."""
    several, animated = len(pictures.uploads()) > 1, pictures.animation() is not None
    possible = {
        "one": True,
        "every": several,
        "video": (several or animated) and compute.reads_videos(model),
    }
    now = session.get(PAGE, "asked_about")
    return {name: label for name, label in EVERY.items() if possible[name] or name == now}


def film() -> tuple[File, ...]:
    """The animation that is asked about, or the frames of a video; () for pictures."""
    if session.get(PAGE, "asked_about") != "video":
        return ()
    animated = pictures.animation()
    return (animated,) if animated is not None else tuple(pictures.uploads().values())


def _pictures() -> tuple[File, ...]:
    """The pictures that are asked about, in order."""
    uploads = pictures.uploads()
    if session.get(PAGE, "asked_about") == "every" and len(uploads) > 1:
        return tuple(uploads.values())
    return (pictures.current(),)


def _written(model: "Model") -> str:
    """The question in the model's chat template, or why it cannot be written."""
    try:
        text, frames = session.get(PAGE, "question"), film()
        images = [] if frames else [file.data for file in _pictures()]
        video = compute.Video([file.data for file in frames]) if frames else None
        return compute.in_template(model, compute.Prompt(text, images, video=video))
    except ValueError as error:
        return str(error)
