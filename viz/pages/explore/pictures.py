"""The choice of a picture: examples, files, the clipboard, the camera, and a strip of own ones."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st
from headscope_views import view

from models.card import Example
from models.request import File
from viz.api import samples
from viz.api.pictures import frames, thumbnail
from viz.api.samples import TITLES
from viz.pages import compute
from viz.pages.explore.names import PAGE
from viz.pages.explore.uploads import Upload
from viz.pages.state import attachments, session
from viz.pages.state import params as link
from viz.pages.widgets import controls

PARAMS = (link.sha256("upload"), link.sha256s("uploads"))
NAME = "picture.png"  # of an uploaded picture, in Python code
# a file that is no picture is refused when it is decoded
UPLOADED = Upload(
    "upload", "picture", lambda digest, data: compute.decoded(File(digest, data, NAME)), "uploads"
)


def chip(name: str) -> None:
    """Draws the picture's name in the place where another is dropped, pasted or chosen."""
    with suppress(ValueError):  # said where the picture is read
        hint = "drop, paste or choose another"
        UPLOADED.draw(name, hint, "image/*", picture=thumbnail(current()))
    UPLOADED.camera()


def buttons(examples: Mapping[str, Example | None]) -> list[tuple[Any, ...]]:
    """Of a button for each example picture: label, key, whether it is chosen, and what it does.

    Args:
        examples: by the name of their picture; None for a photo without a hint.
    """
    photo = "" if has_upload() else session.get(PAGE, "photo")
    return [
        (
            TITLES[name] if example is None else example.name,
            f"{PAGE}_photo_{name.replace('/', '_').removesuffix('.png')}",
            photo == name,
            *(show, name, example),
        )
        for name, example in examples.items()
    ]


def own_pictures(examples: Mapping[str, Example | None]) -> list[Callable[[], None]]:
    """What draws the uploaded pictures to choose from, and a button that removes the one shown."""
    files, photo = uploads(), session.get(PAGE, "photo")
    drawn: list[Callable[[], None]] = [partial(_thumbnails, files)] if files else []
    if has_upload():
        remove, again = f"{PAGE}_photo_remove", (photo, examples.get(photo))
        drawn.append(partial(controls.button, "Remove your picture", remove, _drop, *again))
    return drawn


def show(name: str, example: Example | None = None) -> None:
    """Makes an example the page's picture, and sets its selection."""
    UPLOADED.forget_refusal()
    selection = None if example is None else selection_of(example)
    session.assign(PAGE, {"photo": name, "upload": ""}, selection)


def uploads() -> dict[str, File]:
    """The uploaded pictures of the page, the oldest first, by their SHA-256."""
    settings = session.current(PAGE).settings
    digests = dict.fromkeys((*settings["uploads"].split("."), settings["upload"]))
    held = ((digest, attachments.find(digest)) for digest in digests if digest)
    return {digest: File(digest, data, NAME) for digest, data in held if data is not None}


def own_title(number: int, count: int) -> str:
    """Name of an uploaded picture, numbered from 0."""
    return "Your picture" if count == 1 else f"Your picture {number + 1}"


def _thumbnails(files: Mapping[str, File]) -> None:
    """The uploaded pictures to choose from."""
    items = [
        {
            "id": digest,
            "title": own_title(number, len(files)),
            "picture": thumbnail(file),
            "chosen": digest == session.get(PAGE, "upload"),
        }
        for number, (digest, file) in enumerate(files.items())
    ]
    props = {"label": "", "name": "Your pictures", "items": items, "layout": "thumbs"}
    taken = session.callback(_take_thumbnail)
    view("choices", props, key=f"{PAGE}_own", on={"chosen": taken}, width="content")


def _take_thumbnail() -> None:
    state = st.session_state.get(f"{PAGE}_own")
    digest = state.get("chosen") if isinstance(state, Mapping) else None
    if digest in uploads():
        UPLOADED.forget_refusal()
        session.assign(PAGE, {"upload": digest})


def _drop(name: str, example: Example | None) -> None:
    """Takes the uploaded picture off the page, which shows an example instead."""
    left = [digest for digest in uploads() if digest != session.get(PAGE, "upload")]
    show(name, example)
    session.assign(PAGE, {"uploads": ".".join(left)})


def selection_of(example: Example) -> dict[str, Any]:
    """The selection of the view for an example."""
    place = {"layer": example.layer, "head": example.head, "token": example.query}
    return {**place, "direction": "out"}


def _uploaded() -> File | None:
    """The uploaded file; None if there is none, or this server does not have it."""
    data = UPLOADED.data
    return None if data is None else File(session.get(PAGE, "upload"), data, NAME)


def animation() -> File | None:
    """The page's picture, if it has several frames."""
    file = _uploaded()
    return file if file is not None and frames(file) > 1 else None


def has_upload() -> bool:
    """Whether the page's picture is an uploaded file."""
    return _uploaded() is not None


def current() -> File:
    """The file of the page's picture, uploaded or shipped with the app."""
    return _uploaded() or samples.file(session.get(PAGE, "photo"))
