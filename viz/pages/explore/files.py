"""Files of the page, dropped, chosen, pasted or taken: pictures, and a recording.

Settings and link represent a file by its SHA-256; its bytes are stored in the attachments, so that
they survive a reload. The browser sends each file in one request, and then its digest: Streamlit's
own uploader first asks for an address, and loads more code to send a file there.
"""

import base64
import io
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import streamlit as st
from headscope_views import view

from models.request import File
from viz.api import samples
from viz.pages import compute
from viz.pages.explore.names import PAGE
from viz.pages.state import attachments, session
from viz.pages.state import params as link
from viz.pages.widgets import controls
from viz.values import SHA256, Kind

MOST = 8  # uploaded pictures that one link names together


def _digests(text: str) -> str:
    parts = text.split(".") if text else []
    if len(parts) > MOST:
        raise ValueError
    return ".".join(map(SHA256.read, parts))


PARAMS = (
    link.Param("upload", "", SHA256),
    link.Param("uploads", "", Kind(f"at most {MOST} SHA-256, joined by dots", _digests)),
    link.Param("recording", "", SHA256),
    link.choice("sound", "speech", ("speech",)),
)
RATE = 16_000  # samples a second of the WAV file that a recording of another format becomes
THUMBNAIL = 96  # pixels of the longer side
LONGEST = 240  # characters of a file name or a reason; the browser may send more
DENIED = "If nothing is recorded, let the browser use the microphone, or upload a file."
FULL = f"the server holds at most {attachments.MAX_BYTES >> 20} MB of files: upload fewer at once"


@dataclass(frozen=True)
class Upload:
    """The file of a setting.

    Attributes:
        setting: that holds the digest, of the first file where several come at once.
        noun: what a file is.
        name: of the file in Python code.
        instead: what is shown where a link's file is missing.
        read: reads a file; raises ValueError.
        into: setting that collects the digests of all files, joined by dots; "" for one file alone.
    """

    setting: str
    noun: str
    name: str
    instead: str
    read: Callable[[File], object]
    into: str = ""

    @property
    def _key(self) -> str:
        return f"{PAGE}_{self.setting}_files"

    @property
    def _device(self) -> str:
        """The key of camera or microphone, another one once it took a file."""
        return f"{PAGE}_{self.setting}_device_{st.session_state.get(f'{self._key}/taken', 0)}"

    def file(self, digest: str = "") -> File | None:
        """The uploaded file; None if there is none, or this server does not have it."""
        digest = digest or session.get(PAGE, self.setting)
        data = attachments.find(digest) if digest else None
        return None if data is None else File(digest, data, self.name)

    def take(self) -> None:
        """Makes what was uploaded or taken the setting; after `link_on_entry.enter`."""
        state = st.session_state
        session.take(self._key, [(state.get(self._key) or {}).get("files")], self._sent)
        if taken := state.get(self._device):
            taken_before = f"{self._key}/taken"
            state[taken_before] = state.get(taken_before, 0) + 1
            digest = attachments.keep(taken.getvalue(), session.visitor())
            self._keep([(taken.name, digest)], [])

    def _sent(self, message: Mapping[str, Any]) -> None:
        refused = [(name, reason) for name, reason in _pairs(message.get("refused"), "reason")]
        self._keep(_pairs(message.get("sent"), "digest"), refused)

    def _keep(self, files: list[tuple[str, str]], refused: list[tuple[str, str]]) -> None:
        """Makes the first file that can be read the page's; notes why others are refused."""
        count, digests = len(files) + len(refused), list[str]()
        for name, digest in files:
            try:
                if (file := self.file(digest)) is None:
                    raise ValueError(FULL)
                self.read(file)
                digests.append(digest)
            except ValueError as error:
                refused.append((name, str(error)))
        if digests:
            change = {self.setting: digests[0]}
            if self.into:
                every = dict.fromkeys([*session.get(PAGE, self.into).split("."), *digests])
                change[self.into] = ".".join([*filter(None, every)][-MOST:])
            session.edit(PAGE, change)
        reasons = "; ".join(f"{name}: {why}" if count > 1 else why for name, why in refused)
        stays = "" if digests else f" The previous {self.noun} is still shown."
        words = f"{reasons}.{stays}" if reasons else ""
        st.session_state[f"{self._key}/refused"] = words, session.current(PAGE)

    def problems(self) -> list[str]:
        """A message if the link's file is missing, and one if the last file was refused."""
        digest, lines = session.get(PAGE, self.setting), []
        if digest and self.file() is None:
            lines.append(
                f"This link refers to an uploaded {self.noun} (SHA-256 {digest[:12]}…): upload the"
                f" same file to see it. {self.instead} is shown instead."
            )
        refused, since = st.session_state.get(f"{self._key}/refused", ("", None))
        return [*lines, refused] if refused and since == session.current(PAGE) else lines

    def draw(self, label: str, hint: str, accept: str, **props: Any) -> None:
        """Draws the uploader; a file may be dropped anywhere on the page.

        Args:
            label: of the file that is there.
            hint: what may take its place.
            accept: the types that the file dialog offers.
            props: others of the view.
        """
        given = {
            "label": label,
            "hint": hint,
            "accept": accept,
            "most": MOST if self.into else 1,
            "limit": st.get_option("server.maxUploadSize"),
            "pasted": "image/" if self.into else "",
            "session": session.visitor(),
        }
        view("files", given | props, key=self._key, on=("files",))

    def device(self, label: str, draw: Callable[..., object], words: str = "") -> None:
        """Draws camera or microphone, folded, also after it took a file, which is as any other."""
        key = self._device
        with st.popover(label, key=f"{key}_folded"):
            draw(label, key=key)
            if words:
                st.caption(words)


def _pairs(items: Any, what: str) -> list[tuple[str, str]]:
    """Name and one more text of the valid entries of a list from the browser."""
    valid = [each for each in items if isinstance(each, Mapping)] if isinstance(items, list) else []
    pairs = [(each.get("name"), each.get(what)) for each in valid]
    return [
        (name[:LONGEST], text[:LONGEST])
        for name, text in pairs
        if isinstance(name, str) and isinstance(text, str)
    ]


# a file that is no picture is refused when it is decoded
PICTURE = Upload(
    "upload", "picture", "picture.png", "A photo", lambda file: compute.decoded(file), "uploads"
)
RECORDING = Upload(
    *("recording", "recording", "recording.wav", "An example"),
    lambda file: compute.read_recording(file.data),
)

# ---- pictures


def picture() -> File:
    """The page's picture, uploaded or shipped with the app."""
    return PICTURE.file() or samples.file(session.get(PAGE, "photo"))


def pictures() -> dict[str, File]:
    """The uploaded pictures of the page, the oldest first, by their SHA-256."""
    digests = [*session.get(PAGE, "uploads").split("."), session.get(PAGE, "upload")]
    held = {digest: PICTURE.file(digest) for digest in filter(None, digests)}
    return {digest: file for digest, file in held.items() if file is not None}


def own_titles() -> dict[str, str]:
    """Names of the uploaded pictures."""
    every = pictures()
    name = "Your picture {}" if len(every) > 1 else "Your picture"
    return {digest: name.format(number) for number, digest in enumerate(every, 1)}


def animation() -> File | None:
    """The page's picture, if it has several frames."""
    file = PICTURE.file()
    return file if file is not None and _is_animated(file) else None


@lru_cache(maxsize=32)
def _is_animated(file: File) -> bool:
    try:
        return compute.frame_count(file.data) > 1
    except ValueError:  # said where the picture is read
        return False


@lru_cache(maxsize=64)
def _thumbnail(file: File) -> str:
    """A thumbnail of a picture as a data URL."""
    small, png = compute.decoded(file).image.convert("RGB"), io.BytesIO()
    small.thumbnail((THUMBNAIL, THUMBNAIL))
    small.save(png, "PNG", compress_level=1)
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}"


def picture_chip(name: str) -> None:
    """Draws the picture's name in the place where another is dropped, pasted or chosen."""
    with suppress(ValueError):  # said where the picture is read
        hint = "drop, paste or choose another"
        PICTURE.draw(name, hint, "image/*", picture=_thumbnail(picture()))
    PICTURE.device("Camera", st.camera_input)


def own_pictures(show_example: Callable[[], None]) -> None:
    """Draws the uploaded pictures to choose from, and a button that removes the one shown."""
    files, titles, upload = pictures(), own_titles(), session.get(PAGE, "upload")
    if files:
        items = [
            {"id": digest, "title": titles[digest], "picture": _thumbnail(file)}
            | {"chosen": digest == upload}
            for digest, file in files.items()
        ]
        props = {"label": "", "name": "Your pictures", "items": items, "layout": "thumbs"}
        on = {"chosen": session.callback(_take_thumbnail)}
        view("choices", props, key=f"{PAGE}_own", on=on, width="content")
    if upload in files:
        remove = partial(_drop, show_example)
        controls.button("Remove your picture", f"{PAGE}_photo_remove", remove)


def _take_thumbnail() -> None:
    digest = (st.session_state.get(f"{PAGE}_own") or {}).get("chosen")
    if digest in pictures():
        session.assign(PAGE, {"upload": digest})


def _drop(show_example: Callable[[], None]) -> None:
    """Takes the uploaded picture off the page, which shows an example instead."""
    left = [digest for digest in pictures() if digest != session.get(PAGE, "upload")]
    show_example()
    session.assign(PAGE, {"uploads": ".".join(left)})


# ---- recordings


def recording() -> File:
    """The page's recording, uploaded or shipped with the app."""
    return RECORDING.file() or samples.speech()


def recording_chip() -> None:
    """Draws the recording's name, where another is dropped or chosen, and the microphone.

    The browser decodes files that are no WAV files, so that any format opens that it plays.
    """
    is_own, hint = RECORDING.file() is not None, "drop WAV, MP3, FLAC, OGG …, or choose a file"
    RECORDING.draw("Your recording" if is_own else "A sentence", hint, "audio/*", rate=RATE)
    if is_own:
        remove = partial(session.assign, PAGE, {"recording": ""})
        controls.button("Remove", f"{PAGE}_recording_remove", remove)
    RECORDING.device("Record", st.audio_input, DENIED)
