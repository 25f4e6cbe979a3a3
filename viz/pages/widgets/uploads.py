"""A file uploader whose file becomes a setting of the page.

Settings and link represent the file by its SHA-256; its bytes are stored in the attachments, so
that they survive a reload. The browser sends each file in one request, and then its digest:
Streamlit's own uploader first asks for an address, and loads more code to send a file there.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from headscope_views import view

from viz.pages.state import attachments, session
from viz.pages.state import params as link

LONGEST = 240  # characters of a file name or a reason; the browser may send more
DENIED = "If nothing is recorded, let the browser use the microphone, or upload a file."


@dataclass(frozen=True)
class Refusal:
    """Which files of an upload could not be read.

    Attributes:
        reason: one line; "" if all files could be read.
        whole: whether no file could be read.
    """

    reason: str = ""
    whole: bool = False


@dataclass(frozen=True)
class File:
    """A file that was chosen.

    Attributes:
        name: of the file.
        digest: its SHA-256; "" for one that was not sent.
        reason: why it was not.
    """

    name: str
    digest: str
    reason: str = ""


def take(page: str, setting: str, read: Callable[[str, bytes], object], *, into: str = "") -> None:
    """Makes an uploaded file the setting; must be called after `link_on_entry.enter`.

    The uploader is polled in every run: a callback would be lost if another run replaced this one.

    Args:
        page: of the uploader.
        setting: that holds the digest, of the first file where several come at once.
        read: reads a file, given its digest and its bytes; raises ValueError.
        into: setting that collects the digests of all files, joined by dots; "" for none.
    """
    files = [*_sent(page, setting), *_taken(page, setting)]
    if files:
        refusal = _keep(page, setting, files, read, into)
        state = st.session_state
        state[f"{page}/{setting}/refused"] = refusal, session.current(page).settings


def _sent(page: str, setting: str) -> list[File]:
    """The files that the browser has sent since the last run."""
    state = st.session_state
    value = (state.get(_key(page, setting)) or {}).get("files")
    if not isinstance(value, Mapping) or value.get("id") == state.get(f"{page}/{setting}/taken"):
        return []
    state[f"{page}/{setting}/taken"] = value.get("id")
    return [*_files(value.get("sent"), "digest"), *_files(value.get("refused"), "reason")]


def _files(items: Any, what: str) -> Iterator[File]:
    """The valid entries of a list from the browser."""
    for item in items if isinstance(items, list) else []:
        strings = [item.get(name) for name in ("name", what)] if isinstance(item, Mapping) else []
        texts = [text[:LONGEST] for text in strings if isinstance(text, str)]
        if len(texts) == 2:
            name, text = texts
            yield File(name, text) if what == "digest" else File(name, "", text)


def _taken(page: str, setting: str) -> list[File]:
    """What camera or microphone took; they are then remounted, so that they are always empty."""
    state, number = st.session_state, f"{page}/{setting}/taken_here"
    count = state.get(number, 0)
    key = session.element(page, f"{setting}_device", count)
    photo = state.get(key)
    if photo is not None:
        state[number] = count + 1
        key = session.element(page, f"{setting}_device", count + 1)
    state[f"{page}/{setting}/device"] = key
    return (
        []
        if photo is None
        else [File(photo.name, attachments.keep(photo.getvalue(), session.visitor()))]
    )


def _key(page: str, setting: str) -> str:
    """The key of the uploader."""
    return f"{page}_{setting}_files"


def _keep(
    page: str,
    setting: str,
    files: list[File],
    read: Callable[[str, bytes], object],
    into: str,
) -> Refusal:
    """Makes the first file that can be read the page's; returns why others cannot."""
    digests: list[str] = []
    reasons: list[str] = []
    for file in files:
        try:
            _read(file, read)
        except ValueError as error:
            reasons.append(f"{file.name}: {error}" if len(files) > 1 else str(error))
            continue
        digests.append(file.digest)
    if digests:
        change = {setting: digests[0]}
        if into:
            before = session.get(page, into).split(".")
            every = dict.fromkeys(each for each in (*before, *digests) if each)
            change[into] = ".".join([*every][-link.MOST_FILES :])
        session.edit(page, change)
    return Refusal("; ".join(reasons), not digests)


def _read(file: File, read: Callable[[str, bytes], object]) -> None:
    """Checks that a file can be read.

    Raises:
        ValueError: in one line, for one that cannot.
    """
    if not file.digest:
        raise ValueError(file.reason)
    data = attachments.find(file.digest)
    if data is None:
        held = attachments.MAX_BYTES >> 20
        raise ValueError(f"the server holds at most {held} MB of files: upload fewer at once")
    read(file.digest, data)


def uploader(
    page: str,
    setting: str,
    label: str,
    hint: str,
    accept: str,
    *,
    several: bool = False,
    rate: int = 0,
) -> None:
    """Draws the uploader; a file may be dropped anywhere on the page.

    Args:
        page: of the setting.
        setting: that holds the digest.
        label: names it.
        hint: what it takes.
        accept: the types that the file dialog offers.
        several: whether it takes several files at once, and pictures from the clipboard.
        rate: samples a second of the WAV file that a recording of another format becomes in the
            browser; 0 for files that are no recordings.
    """
    props = {
        "label": label,
        "hint": hint,
        "accept": accept,
        "most": link.MOST_FILES if several else 1,
        "limit": st.get_option("server.maxUploadSize"),
        "pasted": "image/" if several else "",
        "rate": rate,
        "session": session.visitor(),
    }
    view("files", props, key=_key(page, setting), on=("files",), width=270)


def camera(page: str, setting: str) -> None:
    """Draws the camera, folded, also after it took a picture, which is a file like any other."""
    device = st.session_state[f"{page}/{setting}/device"]
    with st.popover("Camera", key=f"{device}_folded"):
        st.camera_input("Take a picture", key=device)


def microphone(page: str, setting: str) -> None:
    """Draws the microphone, folded, also after it recorded: that is a file like any other."""
    device = st.session_state[f"{page}/{setting}/device"]
    with st.popover("Record", key=f"{device}_folded"):
        st.audio_input("Record", key=device)
        st.caption(DENIED)


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
