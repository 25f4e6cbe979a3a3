"""A file uploader whose file becomes a setting of the page.

Settings and link represent the file by its SHA-256; its bytes are stored in the attachments, so
that they survive a reload.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz.pages.state import attachments, session
from viz.pages.state import params as link


@dataclass(frozen=True)
class Refusal:
    """What could not be read of an upload.

    Attributes:
        reason: one line; "" if all files could be read.
        whole: whether no file could be read.
    """

    reason: str = ""
    whole: bool = False


def take(page: str, setting: str, read: Callable[[str, bytes], object], *, into: str = "") -> None:
    """Makes an uploaded file the setting; must be called after `session.enter`.

    The uploader is polled in every run: a callback would be lost if another run replaced this one.
    It is remounted after each file, so that it is always empty: replacing a file in the uploader
    would first report an empty uploader, as if the file had been removed.

    Args:
        page: of the uploader.
        setting: that holds the digest, of the first file where several come at once.
        read: reads a file, given its digest and its bytes; raises ValueError.
        into: setting that collects the digests of all files, joined by dots; "" for none.
    """
    state = st.session_state
    count = state.get(f"{page}/{setting}/files", 0)
    keys = _keys(page, setting, count)
    files = next((found for key in keys if (found := _files(state.get(key)))), [])
    if files:
        refusal = _keep(page, setting, files, read, into)
        state[f"{page}/{setting}/refused"] = refusal, session.current(page).settings
        state[f"{page}/{setting}/files"] = count + 1
        keys = _keys(page, setting, count + 1)
    state[f"{page}/{setting}/uploader"], state[f"{page}/{setting}/camera"] = keys


def _files(value: Any) -> list[Any]:
    """The files of an uploader or a camera."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _keys(page: str, setting: str, count: int) -> tuple[str, str]:
    """The keys of the uploader and of the camera."""
    return session.element(page, setting, count), session.element(page, f"{setting}_camera", count)


def _keep(
    page: str,
    setting: str,
    files: Sequence[Any],
    read: Callable[[str, bytes], object],
    into: str,
) -> Refusal:
    """Makes the first file that can be read the page's; returns why others cannot."""
    digests: list[str] = []
    reasons: list[str] = []
    for file in files:
        data = file.getvalue()
        digest = link.digest_of(data)
        try:
            read(digest, data)
        except ValueError as error:
            reasons.append(f"{file.name}: {error}" if len(files) > 1 else str(error))
            continue
        attachments.keep(data)
        digests.append(digest)
    if digests:
        change = {setting: digests[0]}
        if into:
            before = session.get(page, into).split(".")
            every = dict.fromkeys(each for each in (*before, *digests) if each)
            change[into] = ".".join([*every][-link.MOST_FILES :])
        session.edit(page, change)
    return Refusal("; ".join(reasons), not digests)


def uploader(page: str, setting: str, label: str, *, several: bool = False) -> None:
    """Draws the uploader."""
    key = st.session_state[f"{page}/{setting}/uploader"]
    st.file_uploader(label, key=key, width=360, accept_multiple_files=several)


def camera(page: str, setting: str) -> None:
    """Draws the camera, folded: its picture is a file like any other."""
    with st.popover("Camera", key=f"{page}_camera"):
        st.camera_input("Take a picture", key=st.session_state[f"{page}/{setting}/camera"])


def clipboard(page: str, container: str) -> None:
    """Hands pasted files to the uploader in the container of this key."""
    from headscope_views import view

    view("paste", {"container": container}, key=f"{page}_paste", width="content")


def refused(page: str, setting: str, noun: str) -> str:
    """Why a file of the last upload was refused; "" if none was, or another choice was made since.

    Args:
        page: of the uploader.
        setting: that holds the digest.
        noun: what a file is.
    """
    refusal, settings = st.session_state.get(f"{page}/{setting}/refused", (Refusal(), {}))
    if not refusal.reason or settings != session.current(page).settings:
        return ""
    stays = f" The previous {noun} is still shown." if refusal.whole else ""
    return f"{refusal.reason}.{stays}"


def forget_refusal(page: str, setting: str) -> None:
    st.session_state.pop(f"{page}/{setting}/refused", None)


def data(page: str, setting: str) -> bytes | None:
    """The uploaded file; None if there is none, or this server does not have it."""
    digest = session.get(page, setting)
    return attachments.find(digest) if digest else None
