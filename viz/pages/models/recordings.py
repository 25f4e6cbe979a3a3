"""The choice of a recording: an example, and an uploader for WAV files."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages.models.source import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, uploads

if TYPE_CHECKING:
    from models.inputs.sound import Recording

UPLOAD = link.sha256("recording")
EXAMPLE = "Three notes"
NOTES, SECONDS, RATE = (262, 330, 392), 0.5, 16_000  # C, E and G in hertz; of each note


def take() -> None:
    """Makes an uploaded file the recording; must be called after `link_on_entry.enter`."""
    uploads.take(PAGE, UPLOAD.name, _opened)


def choose() -> None:
    """Draws the example and the uploader."""
    own = uploads.data(PAGE, UPLOAD.name) is not None
    controls.button(EXAMPLE, f"{PAGE}_recording_example", _show_example, chosen=not own)
    if own:
        controls.button("Your recording", f"{PAGE}_recording_own", lambda: None, chosen=True)
        key, why = f"{PAGE}_recording_remove", "Remove your recording"
        controls.button("✕", key, _show_example, help=why)
    uploads.uploader(PAGE, UPLOAD.name, "Your recording", "or drop a WAV file", ".wav")


def problems() -> list[str]:
    """A message if the link's recording is missing, and one if the last file was refused."""
    lines, digest = [], session.get(PAGE, UPLOAD.name)
    if digest and uploads.data(PAGE, UPLOAD.name) is None:
        lines.append(
            f"This link refers to an uploaded recording (SHA-256 {digest[:12]}…): upload the same"
            " file to see it. An example is shown instead."
        )
    refused = uploads.refused(PAGE, UPLOAD.name, "recording")
    if refused:
        lines.append(refused)
    return lines


def current() -> "tuple[Recording, str]":
    """The recording, and its cache key."""
    data = uploads.data(PAGE, UPLOAD.name)
    if data is None:
        return _example(), EXAMPLE
    digest = session.get(PAGE, UPLOAD.name)
    return _opened(digest, data), digest


def _show_example() -> None:
    uploads.forget_refusal(PAGE, UPLOAD.name)
    session.assign(PAGE, {UPLOAD.name: ""})


@st.cache_resource(max_entries=4, show_spinner=False)
def _opened(digest: str, _data: bytes) -> "Recording":
    """The recording, cached by the digest of its file."""
    from models.inputs.sound import read_recording

    return read_recording(_data)


def _example() -> "Recording":
    """Three notes, one after another."""
    import numpy as np

    from models.inputs.sound import Recording

    time = np.arange(int(SECONDS * RATE)) / RATE
    swell = np.sin(np.pi * time / SECONDS)  # no clicks between the notes
    notes = [0.3 * swell * np.sin(2 * np.pi * hertz * time) for hertz in NOTES]
    return Recording(np.concatenate(notes).astype(np.float32), RATE)
