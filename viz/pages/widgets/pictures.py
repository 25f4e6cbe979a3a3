"""The choice of a picture: examples one click away, and a place to drop a file of one's own.

A dropped file stands in the page's settings, and in the link, by its SHA-256 (`upload`); its bytes
are kept among the attachments, so that a reload finds them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from models.files.card import Example
from viz.pages import shared
from viz.pages.image.picture import PICTURES, TITLES, opened_image
from viz.pages.state import attachments, session
from viz.pages.state import params as link
from viz.pages.widgets import controls

UPLOAD = link.sha256("upload")


@dataclass(frozen=True)
class Dropped:
    """The file that the uploader held when it was last looked at.

    Attributes:
        key: of the uploader.
        id: of the file.
        digest: of its bytes; "" if it was refused.
        problem: why it was refused.
    """

    key: str
    id: str
    digest: str
    problem: str = ""


def take(page: str) -> None:
    """Takes over what the uploader holds; to be called after `session.enter`.

    A new file becomes the picture; after ✕ the page's example is the picture again. Every run looks
    at the file's id: a callback would be lost with a run that another one replaced.
    """
    state = st.session_state
    key = session.element(page, "file", state.get(f"{page}/uploaders", 0))
    state[f"{page}/uploader"] = key
    file, before = state.get(key), _dropped(page)
    if file is not None:
        if before is None or (before.key, before.id) != (key, file.file_id):
            state[f"{page}/dropped"] = _opened(page, key, file)
    elif before is not None and before.key == key:
        del state[f"{page}/dropped"]
        if session.get(page, "upload") == before.digest:
            session.edit(page, {"upload": ""})


def _opened(page: str, key: str, file: Any) -> Dropped:
    """Makes a file the page's picture; one that cannot be read changes nothing."""
    data = file.getvalue()
    digest = link.digest_of(data)
    try:
        opened_image(digest, data)
    except ValueError as error:
        return Dropped(key, file.file_id, "", str(error))
    attachments.keep(data)
    session.edit(page, {"upload": digest})
    return Dropped(key, file.file_id, digest)


def choose(page: str, examples: Mapping[str, Example | None]) -> None:
    """The examples and the uploader, to stand in a container whose key is `{page}_pictures`.

    Args:
        page: whose settings `photo` and `upload` they set.
        examples: by the name of their picture; None for a photo without anything to point at.
    """
    uploaded = has_upload(page)
    for name, example in examples.items():
        controls.button(
            TITLES[name] if example is None else example.name,
            f"{page}_photo_{name.replace('/', '_').removesuffix('.png')}",
            show,
            page,
            name,
            example,
            chosen=not uploaded and session.get(page, "photo") == name,
        )
    if uploaded:
        controls.button("Your picture", f"{page}_photo_own", lambda: None, chosen=True)
    key = st.session_state[f"{page}/uploader"]
    st.file_uploader("Or drop a PNG, JPEG, WebP, GIF or BMP", key=key, width=360)


def show(page: str, name: str, example: Example | None = None) -> None:
    """Makes an example the page's picture, and selects what it is there to show."""
    state = st.session_state
    state[f"{page}/uploaders"] = state.get(f"{page}/uploaders", 0) + 1
    state.pop(f"{page}/dropped", None)
    selection = None if example is None else selection_of(example)
    session.give(page, {"photo": name, "upload": ""}, selection)


def selection_of(example: Example) -> dict[str, Any]:
    """What the view selects to show an example."""
    return {
        "layer": example.layer,
        "head": example.head,
        "token": example.query,
        "direction": "out",
    }


def problems(page: str) -> list[str]:
    """One line if the picture of the link is not here, and one if the last file was refused."""
    lines, upload, dropped = [], session.get(page, "upload"), _dropped(page)
    if upload and not has_upload(page):
        lines.append(
            f"This link was made with a picture of somebody's own (SHA-256 {upload[:12]}…): drop"
            " that file to see the same. Here is a photo instead."
        )
    if dropped is not None and dropped.problem:
        lines.append(f"{dropped.problem}. The picture before it is still here.")
    return lines


def has_upload(page: str) -> bool:
    """Whether a dropped file is the page's picture."""
    upload = session.get(page, "upload")
    return bool(upload) and attachments.find(upload) is not None


def current(page: str) -> tuple[bytes, str]:
    """The file of the page's picture and its SHA-256: a dropped one, or one of the app's own."""
    upload = session.get(page, "upload")
    data = attachments.find(upload) if upload else None
    if data is not None:
        return data, upload
    data = PICTURES[session.get(page, "photo")].read_bytes()
    return data, link.digest_of(data)


def name_in_code(page: str) -> str:
    """What Python code calls the file of the page's picture."""
    if has_upload(page):
        return "picture.png"
    return PICTURES[session.get(page, "photo")].relative_to(shared.ROOT).as_posix()


def _dropped(page: str) -> Dropped | None:
    return st.session_state.get(f"{page}/dropped")
