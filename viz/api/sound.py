"""Responses about a recording: the times of its words, its spectrogram, and the sound itself."""

import base64
import io
from typing import TYPE_CHECKING, Any

from viz.api.entries import Download, TraceEntry
from viz.api.model import Answer, or_why
from viz.api.requests import QuestionError
from viz.api.text import length_of

if TYPE_CHECKING:
    import numpy as np

    from analysis.alignment import Word
    from models.inputs.sound import Recording

COLUMNS = 1200  # the most of a spectrogram
KINDS = {
    "json": "application/json",
    "srt": "application/x-subrip",
    "textgrid": "text/plain; charset=utf-8",
}
SUFFIXES = {"json": "json", "srt": "srt", "textgrid": "TextGrid"}


@or_why
def words(entry: TraceEntry, id: str) -> Answer:
    """The words of the transcript with their seconds, and the rows of the decoder that write them.

    Row r attends while it writes token r + 1.
    """
    from analysis.alignment import spoken, transcript

    tokens, first = transcript(entry.trace)
    pairs = zip(times_of(entry), spoken(tokens), strict=True)
    stated = entry.trace.sound is not None and bool(entry.trace.sound.aligning)
    return {
        "words": [
            {
                "text": word.text,
                "start": round(word.start, 3),
                "end": round(word.end, 3),
                "rows": [first + place - 1 for place in places],
            }
            for word, (_, places) in pairs
        ],
        "heads": "that the checkpoint names" if stated else "that follow time best",
    }


def times_of(entry: TraceEntry) -> "list[Word]":
    """The words with their seconds, aligned once."""
    from analysis.alignment import align

    return entry.answers.once("word times", lambda: align(entry.trace))


def times(entry: TraceEntry, id: str, format: str) -> Download:
    """The times of the words as a file."""
    from analysis.word_times import as_json, as_srt, as_textgrid

    words = times_of(entry)
    length = length_of(entry.trace)
    if format == "textgrid":
        text = as_textgrid(words, 0.0 if length is None else length["heard"])
    else:
        text = as_json(words) if format == "json" else as_srt(words)
    return Download(text.encode(), KINDS[format], f"words.{SUFFIXES[format]}")


@or_why
def spectrogram(entry: TraceEntry, id: str) -> Answer:
    """What the model reads of the recording, padding left out, as levels from 0 to 255.

    Returns:
        Rows (frequencies, the lowest first) and columns of levels, in base64; of a model that reads
        samples a single row, the largest amplitude of each column.
    """
    import numpy as np

    image = np.asarray(entry.answers.once("spectrogram", lambda: _image(entry)))
    low, high = float(image.min()), float(image.max())
    levels = np.rint(255 * (image - low) / (high - low or 1)).astype(np.uint8)
    rows, cols = levels.shape
    return {"rows": rows, "cols": cols, "levels": base64.b64encode(levels.tobytes()).decode()}


def recording(entry: TraceEntry, id: str) -> tuple[bytes, str]:
    """The recording as a WAV file of 16-bit samples."""
    import numpy as np
    from scipy.io import wavfile

    try:
        heard = _recording(entry)
    except ValueError as error:
        raise QuestionError(str(error)) from error
    if heard.rate is None:
        raise QuestionError("the recording states no rate")
    file = io.BytesIO()
    samples = np.clip(heard.samples, -1, 1) * 32767
    wavfile.write(file, heard.rate, samples.astype("<i2"))
    return file.getvalue(), "audio/wav"


def _recording(entry: TraceEntry) -> "Recording":
    """The recording of the trace.

    Raises:
        ValueError: where it is not there.
    """
    from models.inputs.sound import is_sound, read_recording

    given: Any = None if entry.opened is None else entry.opened()[1]
    given = getattr(given, "audio", given)
    if not isinstance(given, bytes) and not is_sound(given):
        raise ValueError("the recording itself is not in this trace")
    return read_recording(given)


def _image(entry: TraceEntry) -> "np.ndarray":
    """Frequencies by columns of the part that was heard."""
    import numpy as np

    from models.inputs.sound import extracted

    heard = _recording(entry)
    if entry.opened is None or (settings := entry.opened()[0].sound) is None:
        raise ValueError("the model states no feature extractor")
    extraction = extracted(settings, heard)
    features = extraction.arguments.get("input_features")
    if (
        features is None
        or features.ndim != 3
        or extraction.step is None
        or extraction.seconds is None
    ):
        return _columns(np.abs(extraction.arguments["input_values"][0].numpy(force=True))[None])
    image = features[0].numpy(force=True)
    count = round(extraction.seconds / extraction.step)
    image = image.T if image.shape[1] != count else image
    return _columns(image[:, : max(1, round(extraction.heard[0] / extraction.step))])


def _columns(image: "np.ndarray") -> "np.ndarray":
    """The same in at most `COLUMNS` columns, each with the largest value of those it replaces."""
    import numpy as np

    count = image.shape[1]
    if count <= COLUMNS:
        return image
    return np.maximum.reduceat(image, np.arange(COLUMNS) * count // COLUMNS, axis=1)
