"""A file uploader whose file becomes a setting of the page.

Settings and link represent the file by its SHA-256; its bytes are stored in the attachments, so
that they survive a reload.
"""

from collections.abc import Callable

import streamlit as st

from viz.pages.state import attachments, session
from viz.pages.state import params as link


def take(page: str, setting: str, read: Callable[[str, bytes], object]) -> None:
    """Makes an uploaded file the setting; must be called after `session.enter`.

    The uploader is polled in every run: a callback would be lost if another run replaced this one.
    It is remounted after each file, so that it is always empty: replacing a file in the uploader
    would first report an empty uploader, as if the file had been removed.

    Args:
        page: of the uploader.
        setting: that holds the digest.
        read: reads a file, given its digest and its bytes; raises ValueError.
    """
    state = st.session_state
    count = state.get(f"{page}/{setting}/files", 0)
    keys = _keys(page, setting, count)
    file = next((state[key] for key in keys if state.get(key) is not None), None)
    if file is not None:
        refusal = _refusal(page, setting, file.getvalue(), read)
        state[f"{page}/{setting}/refused"] = refusal, session.current(page).settings
        state[f"{page}/{setting}/files"] = count + 1
        keys = _keys(page, setting, count + 1)
    state[f"{page}/{setting}/uploader"], state[f"{page}/{setting}/camera"] = keys


def _keys(page: str, setting: str, count: int) -> tuple[str, str]:
    """The keys of the uploader and of the camera."""
    return session.element(page, setting, count), session.element(page, f"{setting}_camera", count)


def _refusal(page: str, setting: str, data: bytes, read: Callable[[str, bytes], object]) -> str:
    """Makes a file the page's; returns the reason if it cannot be read."""
    digest = link.digest_of(data)
    try:
        read(digest, data)
    except ValueError as error:
        return str(error)
    attachments.keep(data)
    session.edit(page, {setting: digest})
    return ""


def uploader(page: str, setting: str, label: str) -> None:
    """Draws the uploader."""
    st.file_uploader(label, key=st.session_state[f"{page}/{setting}/uploader"], width=360)


def camera(page: str, setting: str) -> None:
    """Draws the camera, folded: its picture is a file like any other."""
    with st.popover("Camera", key=f"{page}_camera"):
        st.camera_input("Take a picture", key=st.session_state[f"{page}/{setting}/camera"])


def refused(page: str, setting: str) -> str:
    """Why the last file was refused; "" if it was not, or another choice was made since."""
    reason, settings = st.session_state.get(f"{page}/{setting}/refused", ("", {}))
    return reason if reason and settings == session.current(page).settings else ""


def forget_refusal(page: str, setting: str) -> None:
    st.session_state.pop(f"{page}/{setting}/refused", None)


def data(page: str, setting: str) -> bytes | None:
    """The uploaded file; None if there is none, or this server does not have it."""
    digest = session.get(page, setting)
    return attachments.find(digest) if digest else None
