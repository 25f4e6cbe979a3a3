"""The choice of a recording: examples, an uploader, and the microphone.

The browser decodes files that are no WAV files, so that any format opens that it plays.
"""

from dataclasses import replace

from models.request import File
from viz.api import samples
from viz.pages.explore import compute
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, uploads

UPLOAD = link.sha256("recording")
EXAMPLES = {"speech": "A sentence"}
RECORDING = replace(link.choice("sound", "speech", EXAMPLES), replaced={"notes": "speech"})
PARAMS = (UPLOAD, RECORDING)
RATE = 16_000  # samples a second of what the browser decodes
NAME = "recording.wav"  # in Python code


def take() -> None:
    """Makes an uploaded file the recording; must be called after `link_on_entry.enter`."""
    uploads.take(PAGE, UPLOAD.name, _check)


def choose() -> None:
    """Draws the example and the uploader."""
    uploaded = uploads.data(PAGE, UPLOAD.name) is not None
    for name, title in EXAMPLES.items():
        chosen = not uploaded and session.get(PAGE, RECORDING.name) == name
        controls.button(title, f"{PAGE}_recording_{name}", _show, name, chosen=chosen)
    if uploaded:
        controls.button("Your recording", f"{PAGE}_recording_own", lambda: None, chosen=True)
        key, why = f"{PAGE}_recording_remove", "Remove your recording"
        controls.button("✕", key, _show, session.get(PAGE, RECORDING.name), help=why)
    hint = "or drop WAV, MP3, FLAC, OGG …"
    uploads.uploader(PAGE, UPLOAD.name, "Your recording", hint, "audio/*", rate=RATE)
    uploads.microphone(PAGE, UPLOAD.name)


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


def current() -> File:
    """The recording."""
    data = uploads.data(PAGE, UPLOAD.name)
    if data is not None:
        return File(session.get(PAGE, UPLOAD.name), data, NAME)
    return samples.speech()


def _show(name: str) -> None:
    """Makes an example the recording."""
    uploads.forget_refusal(PAGE, UPLOAD.name)
    session.assign(PAGE, {UPLOAD.name: "", RECORDING.name: name})


def _check(digest: str, data: bytes) -> None:
    """Raises ValueError for a file that is no recording."""
    compute.read_recording(data)
