"""The choice of a recording: an example, an uploader, and the microphone.

The browser decodes files that are no WAV files, so that any format opens that it plays.
"""

from dataclasses import replace

from models.request import File
from viz.api import samples
from viz.pages.explore import compute
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls
from viz.pages.widgets.uploads import Upload

UPLOAD = link.sha256("recording")
RECORDING = replace(link.choice("sound", "speech", ("speech",)), replaced={"notes": "speech"})
PARAMS = (UPLOAD, RECORDING)
RATE = 16_000  # samples a second of what the browser decodes
NAME = "recording.wav"  # in Python code
UPLOADED = Upload(PAGE, UPLOAD.name, "recording", lambda digest, data: compute.read_recording(data))


def row() -> None:
    """Draws the recording's name, where another is dropped or chosen, and the microphone."""
    is_own = UPLOADED.data is not None
    name = "Your recording" if is_own else "A sentence"
    UPLOADED.draw(name, "drop WAV, MP3, FLAC, OGG …, or choose a file", "audio/*", rate=RATE)
    if is_own:
        controls.button("Remove", f"{PAGE}_recording_remove", _show_example)
    UPLOADED.microphone()


def problems() -> list[str]:
    """A message if the link's recording is missing, and one if the last file was refused."""
    digest, lines = session.get(PAGE, UPLOAD.name), []
    if digest and UPLOADED.data is None:
        lines.append(
            f"This link refers to an uploaded recording (SHA-256 {digest[:12]}…): upload the same"
            " file to see it. An example is shown instead."
        )
    return [*lines, UPLOADED.refused] if UPLOADED.refused else lines


def current() -> File:
    """The recording."""
    data = UPLOADED.data
    return samples.speech() if data is None else File(session.get(PAGE, UPLOAD.name), data, NAME)


def _show_example() -> None:
    UPLOADED.forget_refusal()
    session.assign(PAGE, {UPLOAD.name: ""})
