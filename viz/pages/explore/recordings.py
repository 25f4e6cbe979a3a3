"""The choice of a recording: an example, an uploader, and the microphone.

The browser decodes files that are no WAV files, so that any format opens that it plays.
"""

from models.request import File
from viz.api import samples
from viz.pages import compute
from viz.pages.explore.names import PAGE
from viz.pages.explore.uploads import Upload
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

UPLOAD = link.sha256("recording")
RECORDING = link.choice("sound", "speech", ("speech",))
PARAMS = (UPLOAD, RECORDING)
RATE = 16_000  # samples a second of what the browser decodes
NAME = "recording.wav"  # in Python code
UPLOADED = Upload(UPLOAD.name, "recording", lambda digest, data: compute.read_recording(data))


def row() -> None:
    """Draws the recording's name, where another is dropped or chosen, and the microphone."""
    is_own = UPLOADED.data is not None
    name = "Your recording" if is_own else "A sentence"
    UPLOADED.draw(name, "drop WAV, MP3, FLAC, OGG …, or choose a file", "audio/*", rate=RATE)
    if is_own:
        controls.button("Remove", f"{PAGE}_recording_remove", _show_example)
    UPLOADED.microphone()


def current() -> File:
    """The recording."""
    data = UPLOADED.data
    return samples.speech() if data is None else File(session.get(PAGE, UPLOAD.name), data, NAME)


def _show_example() -> None:
    UPLOADED.forget_refusal()
    session.assign(PAGE, {UPLOAD.name: ""})
