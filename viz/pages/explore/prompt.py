"""A question about pictures or a video, for a model that writes answers, and its answer."""

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
        pictures.choose(PAGE, examples.pictures(source.listed()), still_frame=not _film())
        if len(offered := _offered(model)) > 1:
            help = "One picture, or all that you opened, in order: one by one, or as frames"
            controls.choice(PAGE, "asked_about", "Pictures", offered, help, collapsed=True)
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
    film = _film()
    return TraceRequest(chosen, Question(asked, film or _pictures(), bool(film)), answer or None)


def _offered(model: "Model") -> dict[str, str]:
    """What can be asked about; the choice that was made is always among it."""
    several, animated = len(pictures.strip(PAGE)) > 1, pictures.animation(PAGE) is not None
    possible = {
        "one": True,
        "every": several,
        "video": (several or animated) and compute.reads_videos(model),
    }
    now = session.get(PAGE, "asked_about")
    return {name: label for name, label in EVERY.items() if possible[name] or name == now}


def _film() -> tuple[File, ...]:
    """The animation that is asked about, or the frames of a video; () for pictures."""
    if session.get(PAGE, "asked_about") != "video":
        return ()
    animated = pictures.animation(PAGE)
    return (animated,) if animated is not None else tuple(pictures.strip(PAGE).values())


def _pictures() -> tuple[File, ...]:
    """The pictures that are asked about, in order."""
    uploads = pictures.strip(PAGE)
    if session.get(PAGE, "asked_about") == "every" and len(uploads) > 1:
        return tuple(uploads.values())
    return (pictures.current(PAGE),)


def _written(model: "Model") -> str:
    """The question in the model's chat template, or why it cannot be written."""
    try:
        text, film = session.get(PAGE, "question"), _film()
        images = [] if film else [file.data for file in _pictures()]
        video = compute.Video([file.data for file in film]) if film else None
        return compute.in_template(model, compute.Prompt(text, images, video=video))
    except ValueError as error:
        return str(error)
