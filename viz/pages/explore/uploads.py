"""A file uploader whose file becomes a setting of the page.

Settings and link represent the file by its SHA-256; its bytes are stored in the attachments, so
that they survive a reload. The browser sends each file in one request, and then its digest:
Streamlit's own uploader first asks for an address, and loads more code to send a file there.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import streamlit as st
from headscope_views import view

from viz.pages.explore.names import PAGE
from viz.pages.state import attachments, session
from viz.pages.state import params as link

LONGEST = 240  # characters of a file name or a reason; the browser may send more
DENIED = "If nothing is recorded, let the browser use the microphone, or upload a file."


class File(NamedTuple):
    """A file that was chosen: its name, and its SHA-256, or why it was not sent."""

    name: str
    digest: str
    reason: str = ""


@dataclass(frozen=True)
class Upload:
    """The file of a setting.

    Attributes:
        setting: that holds the digest, of the first file where several come at once.
        noun: what a file is.
        read: reads a file, given its digest and its bytes; raises ValueError.
        into: setting that collects the digests of all files, joined by dots; "" for one file alone.
    """

    setting: str
    noun: str
    read: Callable[[str, bytes], object]
    into: str = ""

    @property
    def _name(self) -> str:
        return f"{PAGE}/{self.setting}"

    @property
    def _key(self) -> str:
        return f"{PAGE}_{self.setting}_files"

    @property
    def data(self) -> bytes | None:
        """The uploaded file; None if there is none, or this server does not have it."""
        digest = session.get(PAGE, self.setting)
        return attachments.find(digest) if digest else None

    def take(self) -> None:
        """Makes an uploaded file the setting; must be called after `link_on_entry.enter`.

        The uploader is polled in every run: a callback would be lost if another run replaced it.
        """
        if files := [*self._sent(), *self._taken()]:
            refusal = self._keep(files)
            now = session.current(PAGE).settings
            st.session_state[f"{self._name}/refused"] = refusal, now

    def _sent(self) -> list[File]:
        """The files that the browser has sent since the last run."""
        state, taken = st.session_state, f"{self._name}/taken"
        value = (state.get(self._key) or {}).get("files")
        if not isinstance(value, Mapping) or value.get("id") == state.get(taken):
            return []
        state[taken] = value.get("id")
        refused = (File(name, "", why) for name, why in _pairs(value.get("refused"), "reason"))
        return [*(File(*pair) for pair in _pairs(value.get("sent"), "digest")), *refused]

    def _taken(self) -> list[File]:
        """What camera or microphone took; they are then remounted, so that they stay empty."""
        state, number = st.session_state, f"{self._name}/taken_here"
        count, device = state.get(number, 0), f"{self.setting}_device"
        key = session.element(PAGE, device, count)
        photo = state.get(key)
        if photo is not None:
            state[number] = count + 1
            key = session.element(PAGE, device, count + 1)
        state[f"{self._name}/device"] = key
        if photo is None:
            return []
        return [File(photo.name, attachments.keep(photo.getvalue(), session.visitor()))]

    def _keep(self, files: list[File]) -> str:
        """Makes the first file that can be read the page's; returns why others cannot."""
        digests: list[str] = []
        reasons: list[str] = []
        for file in files:
            try:
                self._read(file)
                digests.append(file.digest)
            except ValueError as error:
                reasons.append(f"{file.name}: {error}" if len(files) > 1 else str(error))
        if digests:
            change = {self.setting: digests[0]}
            if self.into:
                before = session.get(PAGE, self.into).split(".")
                every = dict.fromkeys(each for each in (*before, *digests) if each)
                change[self.into] = ".".join([*every][-link.MOST_FILES :])
            session.edit(PAGE, change)
        stays = "" if digests else f" The previous {self.noun} is still shown."
        return f"{'; '.join(reasons)}.{stays}" if reasons else ""

    def _read(self, file: File) -> None:
        if not file.digest:
            raise ValueError(file.reason)
        data = attachments.find(file.digest)
        if data is None:
            held = attachments.MAX_BYTES >> 20
            raise ValueError(f"the server holds at most {held} MB of files: upload fewer at once")
        self.read(file.digest, data)

    @property
    def refused(self) -> str:
        """Why a file of the last upload was refused; "" if another choice was made since."""
        refusal, settings = st.session_state.get(f"{self._name}/refused", ("", {}))
        return refusal if settings == session.current(PAGE).settings else ""

    def problems(self, instead: str) -> list[str]:
        """A message if the link's file is missing, and one if the last file was refused.

        Args:
            instead: what is shown where the file is missing.
        """
        digest, lines = session.get(PAGE, self.setting), []
        if digest and self.data is None:
            lines.append(
                f"This link refers to an uploaded {self.noun} (SHA-256 {digest[:12]}…): upload the"
                f" same file to see it. {instead} is shown instead."
            )
        return [*lines, self.refused] if self.refused else lines

    def forget_refusal(self) -> None:
        """Says no more why a file was refused."""
        st.session_state.pop(f"{self._name}/refused", None)

    def draw(self, label: str, hint: str, accept: str, *, rate: int = 0, picture: str = "") -> None:
        """Draws the uploader; a file may be dropped anywhere on the page.

        Args:
            label: of the file that is there.
            hint: what may take its place.
            accept: the types that the file dialog offers.
            rate: samples a second of the WAV file that a recording of another format becomes in
                the browser; 0 for files that are no recordings.
            picture: URL of a thumbnail of the file; "" for none.
        """
        props = {
            "label": label,
            "hint": hint,
            "chip": True,
            "picture": picture,
            "accept": accept,
            "most": link.MOST_FILES if self.into else 1,
            "limit": st.get_option("server.maxUploadSize"),
            "pasted": "image/" if self.into else "",
            "rate": rate,
            "session": session.visitor(),
        }
        view("files", props, key=self._key, on=("files",))

    def camera(self) -> None:
        """Draws the camera, folded, also after it took a picture, which is a file like others."""
        device = st.session_state[f"{self._name}/device"]
        with st.popover("Camera", key=f"{device}_folded"):
            st.camera_input("Take a picture", key=device)

    def microphone(self) -> None:
        """Draws the microphone, folded, also after it recorded."""
        device = st.session_state[f"{self._name}/device"]
        with st.popover("Record", key=f"{device}_folded"):
            st.audio_input("Record", key=device)
            st.caption(DENIED)


def _pairs(items: Any, what: str) -> Iterator[tuple[str, str]]:
    """Name and one more text of the valid entries of a list from the browser."""
    for item in items if isinstance(items, list) else []:
        strings = [item.get(name) for name in ("name", what)] if isinstance(item, Mapping) else []
        texts = [text[:LONGEST] for text in strings if isinstance(text, str)]
        if len(texts) == 2:
            yield texts[0], texts[1]
