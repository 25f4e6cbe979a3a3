"""The choice of a picture: examples, files, the clipboard, the camera, and a strip of own ones."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st
from headscope_views import view

from models.card import Example
from models.request import File, file_of
from viz.api import samples
from viz.api.pictures import frames, still, thumbnail
from viz.api.samples import TITLES
from viz.pages import compute
from viz.pages.state import attachments, session
from viz.pages.state import params as link
from viz.pages.widgets import controls
from viz.pages.widgets.uploads import Upload

UPLOAD = link.sha256("upload")
FRAME = link.number("frame", 0, 0, 999)
UPLOADS = link.sha256s("uploads")
PARAMS = (UPLOAD, UPLOADS, FRAME)
NAME = "picture.png"  # of an uploaded picture, in Python code


def _upload(page: str) -> Upload:
    return Upload(page, UPLOAD.name, "picture", _check, UPLOADS.name)


def _check(digest: str, data: bytes) -> None:
    """Raises ValueError for a file that is no picture."""
    compute.decoded(File(digest, data, NAME))


def take(page: str) -> None:
    """Makes an uploaded file the picture; must be called after `link_on_entry.enter`."""
    _upload(page).take()


def chip(page: str, name: str, *, still_frame: bool = True) -> None:
    """Draws the picture's name in the place where another is dropped, pasted or chosen.

    Args:
        page: whose settings `photo` and `upload` are set.
        name: of the picture.
        still_frame: whether the network reads a single frame of an animation.
    """
    upload = _upload(page)
    with suppress(ValueError):  # said where the picture is read
        upload.draw(
            name, "drop, paste or choose another", "image/*", picture=thumbnail(current(page))
        )
    upload.camera()
    if (count := _frames(page)) > 1 and still_frame:
        help = "Which frame of the animation the network reads"
        controls.slider(page, FRAME.name, "Frame", (0, count - 1), help)


def buttons(page: str, examples: Mapping[str, Example | None]) -> list[tuple[Any, ...]]:
    """Of a button for each example picture: label, key, whether it is chosen, and what it does.

    Args:
        page: whose picture it becomes.
        examples: by the name of their picture; None for a photo without a hint.
    """
    photo = "" if has_upload(page) else session.get(page, "photo")
    return [
        (
            TITLES[name] if example is None else example.name,
            f"{page}_photo_{name.replace('/', '_').removesuffix('.png')}",
            photo == name,
            *(show, page, name, example),
        )
        for name, example in examples.items()
    ]


def uploads(page: str, examples: Mapping[str, Example | None]) -> list[Callable[[], None]]:
    """What draws the uploaded pictures to choose from, and a button that removes the one shown."""
    files, photo = strip(page), session.get(page, "photo")
    drawn: list[Callable[[], None]] = [partial(_thumbnails, page, files)] if files else []
    if has_upload(page):
        remove, again = f"{page}_photo_remove", (page, photo, examples.get(photo))
        drawn.append(partial(controls.button, "Remove your picture", remove, _drop, *again))
    return drawn


def show(page: str, name: str, example: Example | None = None) -> None:
    """Makes an example the page's picture, and sets its selection."""
    _upload(page).forget_refusal()
    selection = None if example is None else selection_of(example)
    session.assign(page, {"photo": name, "upload": ""}, selection)


def strip(page: str) -> dict[str, File]:
    """The uploaded pictures of the page, the oldest first, by their SHA-256."""
    settings = session.current(page).settings
    digests = dict.fromkeys((*settings[UPLOADS.name].split("."), settings[UPLOAD.name]))
    held = ((digest, attachments.find(digest)) for digest in digests if digest)
    return {digest: File(digest, data, NAME) for digest, data in held if data is not None}


def own_title(number: int, count: int) -> str:
    """Name of an uploaded picture, numbered from 0."""
    return "Your picture" if count == 1 else f"Your picture {number + 1}"


def _thumbnails(page: str, files: Mapping[str, File]) -> None:
    """The uploaded pictures to choose from."""
    items = [
        {
            "id": digest,
            "title": own_title(number, len(files)),
            "picture": thumbnail(file),
            "chosen": digest == session.get(page, UPLOAD.name),
        }
        for number, (digest, file) in enumerate(files.items())
    ]
    props = {"label": "", "name": "Your pictures", "items": items, "layout": "thumbs"}
    taken = session.callback(partial(_take_thumbnail, page))
    view("choices", props, key=f"{page}_own", on={"chosen": taken}, width="content")


def _take_thumbnail(page: str) -> None:
    state = st.session_state.get(f"{page}_own")
    digest = state.get("chosen") if isinstance(state, Mapping) else None
    if digest in strip(page):
        _upload(page).forget_refusal()
        session.assign(page, {UPLOAD.name: digest, FRAME.name: 0})


def _drop(page: str, name: str, example: Example | None) -> None:
    """Takes the uploaded picture off the page, which shows an example instead."""
    left = [digest for digest in strip(page) if digest != session.get(page, UPLOAD.name)]
    show(page, name, example)
    session.assign(page, {UPLOADS.name: ".".join(left)})


def selection_of(example: Example) -> dict[str, Any]:
    """The selection of the view for an example."""
    place = {"layer": example.layer, "head": example.head, "token": example.query}
    return {**place, "direction": "out"}


def problems(page: str) -> list[str]:
    """A message if the link's picture is missing, and one if the last file was refused."""
    lines, upload, refused = [], session.get(page, "upload"), _upload(page).refused
    if upload and not has_upload(page):
        lines.append(
            f"This link refers to an uploaded picture (SHA-256 {upload[:12]}…): upload the same"
            " file to see it. A photo is shown instead."
        )
    return [*lines, refused] if refused else lines


def _uploaded(page: str) -> File | None:
    """The uploaded file; None if there is none, or this server does not have it."""
    data = _upload(page).data
    return None if data is None else File(session.get(page, UPLOAD.name), data, NAME)


def _frames(page: str) -> int:
    """Number of frames of the page's picture."""
    file = _uploaded(page)
    return 1 if file is None else frames(file)


def animation(page: str) -> File | None:
    """The page's picture, if it has several frames."""
    return _uploaded(page) if _frames(page) > 1 else None


def has_upload(page: str) -> bool:
    """Whether the page's picture is an uploaded file."""
    return _uploaded(page) is not None


def current(page: str) -> File:
    """The file of the page's picture, uploaded or shipped with the app.

    A later frame of an animation is a file of its own.

    Raises:
        ValueError: for a frame that cannot be decoded.
    """
    file = _uploaded(page)
    if file is None:
        return samples.file(session.get(page, "photo"))
    frame = min(session.get(page, FRAME.name), frames(file) - 1)
    return file_of(still(file, frame), NAME) if frame else file
