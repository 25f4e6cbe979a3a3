"""The choice of a picture: examples one click away, and a place to drop a file of one's own.

A dropped file stands in the page's settings, and in the link, by its SHA-256 (`upload`); its bytes
are kept among the attachments, so that a reload finds them again.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from models.files.card import Example
from viz.pages import shared
from viz.pages.image.picture import PICTURES, TITLES, opened_image
from viz.pages.state import attachments, session
from viz.pages.state import params as link
from viz.pages.widgets import controls

UPLOAD = link.sha256("upload")


def take(page: str) -> None:
    """Makes a file that was dropped the picture; to be called after `session.enter`.

    Every run looks at the uploader: a callback would be lost with a run that another one replaced.
    It is mounted anew after each file, so that it never holds one: a file dropped over another
    would arrive as an empty uploader first, as if the picture had been taken away.
    """
    state = st.session_state
    count = state.get(f"{page}/files", 0)
    key = session.element(page, "file", count)
    file = state.get(key)
    if file is not None:
        refusal = _refusal(page, file.getvalue())
        state[f"{page}/refused"] = refusal, session.current(page).settings
        state[f"{page}/files"] = count + 1
        key = session.element(page, "file", count + 1)
    state[f"{page}/uploader"] = key


def _refusal(page: str, data: bytes) -> str:
    """Makes a file the page's picture; one that cannot be read changes nothing, and why is said."""
    digest = link.digest_of(data)
    try:
        opened_image(digest, data)
    except ValueError as error:
        return str(error)
    attachments.keep(data)
    session.edit(page, {"upload": digest})
    return ""


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
        photo = session.get(page, "photo")
        again = photo, examples.get(photo)
        controls.button("✕", f"{page}_photo_remove", show, page, *again, help="Remove your picture")
    key = st.session_state[f"{page}/uploader"]
    st.file_uploader("Or drop a PNG, JPEG, WebP, GIF or BMP", key=key, width=360)


def show(page: str, name: str, example: Example | None = None) -> None:
    """Makes an example the page's picture, and selects what it is there to show."""
    st.session_state.pop(f"{page}/refused", None)
    selection = None if example is None else selection_of(example)
    session.assign(page, {"photo": name, "upload": ""}, selection)


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
    lines, upload = [], session.get(page, "upload")
    refused, settings = st.session_state.get(f"{page}/refused", ("", {}))
    if upload and not has_upload(page):
        lines.append(
            f"This link was made with a picture of somebody's own (SHA-256 {upload[:12]}…): drop"
            " that file to see the same. Here is a photo instead."
        )
    if refused and settings == session.current(page).settings:
        lines.append(f"{refused}. The picture before it is still here.")
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
