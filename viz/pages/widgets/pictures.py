"""The choice of a picture: example buttons, a file uploader, and the camera.

Settings and link represent an uploaded file by its SHA-256 (`upload`); its bytes are stored in the
attachments, so that they survive a reload.
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
WAYS = ("file", "camera")


def take(page: str) -> None:
    """Makes an uploaded file the picture; must be called after `session.enter`.

    The uploader is polled in every run: a callback would be lost if another run replaced this one.
    It is remounted after each file, so that it is always empty: replacing a file in the uploader
    would first report an empty uploader, as if the picture had been removed.
    """
    state = st.session_state
    count = state.get(f"{page}/files", 0)
    keys = {way: session.element(page, way, count) for way in WAYS}
    file = next((state[key] for key in keys.values() if state.get(key) is not None), None)
    if file is not None:
        refusal = _refusal(page, file.getvalue())
        state[f"{page}/refused"] = refusal, session.current(page).settings
        state[f"{page}/files"] = count + 1
        keys = {way: session.element(page, way, count + 1) for way in WAYS}
    state[f"{page}/uploaders"] = keys


def _refusal(page: str, data: bytes) -> str:
    """Makes a file the page's picture; returns the reason if it cannot be read."""
    digest = link.digest_of(data)
    try:
        opened_image(digest, data)
    except ValueError as error:
        return str(error)
    attachments.keep(data)
    session.edit(page, {"upload": digest})
    return ""


def choose(page: str, examples: Mapping[str, Example | None]) -> None:
    """Draws the examples and the uploader; the container must have the key `{page}_pictures`.

    Args:
        page: whose settings `photo` and `upload` are set.
        examples: by the name of their picture; None for a photo without a hint.
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
    keys = st.session_state[f"{page}/uploaders"]
    st.file_uploader("Or drop a PNG, JPEG, WebP, GIF or BMP", key=keys["file"], width=360)
    with st.popover("Camera", key=f"{page}_camera"):
        st.camera_input("Take a picture", key=keys["camera"])


def show(page: str, name: str, example: Example | None = None) -> None:
    """Makes an example the page's picture, and sets its selection."""
    st.session_state.pop(f"{page}/refused", None)
    selection = None if example is None else selection_of(example)
    session.assign(page, {"photo": name, "upload": ""}, selection)


def selection_of(example: Example) -> dict[str, Any]:
    """The selection of the view for an example."""
    return {
        "layer": example.layer,
        "head": example.head,
        "token": example.query,
        "direction": "out",
    }


def problems(page: str) -> list[str]:
    """A message if the link's picture is missing, and one if the last file was refused."""
    lines, upload = [], session.get(page, "upload")
    refused, settings = st.session_state.get(f"{page}/refused", ("", {}))
    if upload and not has_upload(page):
        lines.append(
            f"This link refers to an uploaded picture (SHA-256 {upload[:12]}…): upload the same"
            " file to see it. A photo is shown instead."
        )
    if refused and settings == session.current(page).settings:
        lines.append(f"{refused}. The previous picture is still shown.")
    return lines


def has_upload(page: str) -> bool:
    """Whether the page's picture is an uploaded file."""
    upload = session.get(page, "upload")
    return bool(upload) and attachments.find(upload) is not None


def current(page: str) -> tuple[bytes, str]:
    """The file of the page's picture, uploaded or shipped with the app, and its SHA-256."""
    upload = session.get(page, "upload")
    data = attachments.find(upload) if upload else None
    if data is not None:
        return data, upload
    data = PICTURES[session.get(page, "photo")].read_bytes()
    return data, link.digest_of(data)


def name_in_code(page: str) -> str:
    """File name of the page's picture in Python code."""
    if has_upload(page):
        return "picture.png"
    return PICTURES[session.get(page, "photo")].relative_to(shared.ROOT).as_posix()
