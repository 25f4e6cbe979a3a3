"""A recording over its time: its words, its spectrogram, the sound, and where heads listen."""

import base64
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from viz.api.endpoint import Download, QuestionError, endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.text import length_of
from viz.colours import INK, Scale, weight_scale
from viz.selection import Form
from viz.values import words as words_of
from viz.views.answer import Answer, Table
from viz.views.request import Request, name_of, weights_of

if TYPE_CHECKING:
    from analysis.alignment import Word
    from models.inputs.sound import Recording
    from viz.paper import Page

VIEW = Form(
    "sound",
    "Over time",
    "When each word of a recording is spoken, and where a head listens while it is written",
    place=4,
    options=("scale", "token", "timing"),
    module="sound",
    texts=False,
    heard=True,
)
COLUMNS = 1200  # the most of a spectrogram
# What the times of words can be made from.
Timing = Literal["named", "found"]
METHODS: dict[Timing, str] = {
    "named": "the heads that the checkpoint names",
    "found": "the heads that follow time best",
}
FILES = {"json": "application/json", "srt": "application/x-subrip"}  # of times


@dataclass(frozen=True)
class SpokenWord:
    """A word of the transcript, its seconds, and the rows of the decoder that write it.

    Row r writes token r + 1.
    """

    text: str
    start: float
    end: float
    rows: list[int]


@dataclass(frozen=True)
class SpokenWords:
    """The words of the transcript, what their times are made from, and could be."""

    words: list[SpokenWord]
    method: Timing
    methods: list[Timing]


@endpoint("words", "text", method=words_of(*METHODS))
def words(entry: TraceEntry, method: str = "") -> SpokenWords:
    """The words of the transcript with their seconds. The method is of `METHODS`; "" the first."""
    from analysis.alignment import spoken, transcript

    tokens, first = transcript(entry.trace)
    pairs = zip(_times(entry, method), spoken(tokens), strict=True)
    methods = _methods(entry)
    chosen: Any = method or methods[0]
    return SpokenWords(
        [
            SpokenWord(word.text, word.start, word.end, [first + place - 1 for place in places])
            for word, (_, places) in pairs
        ],
        chosen,
        methods,
    )


def _methods(entry: TraceEntry) -> list[Timing]:
    """Those of `METHODS` that the times of this trace can be made by."""
    return [*METHODS] if entry.trace.aligning else ["found"]


def _times(entry: TraceEntry, method: str) -> "list[Word]":
    """The words with their seconds, aligned once by each method."""
    from analysis.alignment import align, aligning_heads

    trace, methods = entry.trace, _methods(entry)
    if method and method not in methods:
        raise ValueError("the checkpoint names no heads that follow time")

    def compute() -> "list[Word]":
        return align(trace, heads=None if chosen == "named" else aligning_heads(trace))

    chosen = method or methods[0]
    return entry.answers.once(("word times", chosen), compute)


@endpoint("times", "text", format=words_of(*FILES), method=words_of(*METHODS))
def times(entry: TraceEntry, format: str, method: str = "") -> Download:
    """The times of the words as a file."""
    from analysis.alignment import as_json, as_srt

    try:
        words = _times(entry, method)
    except ValueError as error:
        raise QuestionError(str(error)) from error
    text = as_json(words) if format == "json" else as_srt(words)
    return Download(text.encode(), FILES[format], f"words.{format}")


@dataclass(frozen=True)
class Spectrogram:
    """What the model reads of a recording, padding left out: the lowest frequency first.

    Of a model that reads samples it is a single row, the largest amplitude of each column. Levels
    are from 0 for the smallest number to 255 for the largest, in base64.
    """

    rows: int
    cols: int
    levels: str


@endpoint("spectrogram", "text")
def spectrogram(entry: TraceEntry) -> Spectrogram:
    """The spectrogram."""
    image = entry.answers.once("spectrogram", lambda: _image(entry))
    levels = np.rint(255 * (image - image.min()) / (np.ptp(image) or 1)).astype(np.uint8)
    rows, cols = levels.shape
    return Spectrogram(rows, cols, base64.b64encode(levels.tobytes()).decode())


@endpoint("recording", "text")
def recording(entry: TraceEntry) -> tuple[bytes, str]:
    """The recording as a WAV file of 16-bit samples."""
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
    """The recording of the trace."""
    from models.inputs.sound import is_sound, read_recording

    given: Any = None if entry.opened is None else entry.opened()[1]
    if not isinstance(given, bytes) and not is_sound(given):
        raise ValueError("the recording itself is not in this trace")
    return read_recording(given)


def _image(entry: TraceEntry) -> np.ndarray:
    """Frequencies by columns of the part that was heard."""
    from models.inputs.sound import extracted

    heard = _recording(entry)
    if entry.opened is None or (settings := entry.opened()[0].sound) is None:
        raise ValueError("the model states no feature extractor")
    extraction = extracted(settings, heard)
    features, sound = extraction.arguments.get("input_features"), extraction.sound
    if features is None or features.ndim != 3 or sound is None or sound.stride is None:
        return _columns(np.abs(extraction.arguments["input_values"][0].numpy(force=True))[None])
    image = features[0].numpy(force=True)
    count = round(sound.seconds / sound.stride)
    image = image.T if image.shape[1] != count else image
    return _columns(image[:, : max(1, round(sound.heard[0] / sound.stride))])


def _columns(image: np.ndarray) -> np.ndarray:
    """The same in at most `COLUMNS` columns, each with the largest value of those it replaces."""
    count = image.shape[1]
    if count <= COLUMNS:
        return image
    return np.maximum.reduceat(image, np.arange(COLUMNS) * count // COLUMNS, axis=1)


# ---- a figure


@dataclass(frozen=True, eq=False, kw_only=True)
class OverTime(Answer):
    """The words, and a token's weights with their colours, over the seconds that were heard."""

    seconds: float
    scale: Scale


def answer(request: Request) -> OverTime:
    """When words are spoken, and the weights of one token where the layer reads the recording."""
    entry, chosen = request.entry, request.selection
    length = length_of(entry.trace)
    if length is None:
        raise ValueError("sound: expected the trace of a recording, received one without")
    tables, about, scale = [], [], weight_scale(1.0)
    if entry.trace.target_tokens is not None:
        spoken = words(entry, chosen.timing)
        times = np.array([[each.start, each.end] for each in spoken.words])
        named = {"word": [each.text for each in spoken.words], "bound": ["start", "end"]}
        tables.append(Table("seconds", ("word", "bound"), times, named))
        about.append(f"Times of words are from {METHODS[spoken.method]}.")
    keys = request.view.key_labels(request.site)
    if keys == [*entry.trace.tokens[0].labels]:
        heard = math.ceil(len(keys) * length["heard"] / length["seconds"] - 1e-6)
        token = chosen.token or 0
        rows = [weights_of(request, head)[token, :heard] for head in request.heads]
        named = {"head": [name_of(head) for head in request.heads], "moment": keys[:heard]}
        at = [request.site.where.coordinates | {"head": h, "query": token} for h in request.heads]
        tables.append(Table("weight", ("head", "moment"), np.stack(rows), named, at))
        label = request.view.query_labels(request.site)[token]
        about.append(f"The weight that “{label}” ({token}) gives to each moment.")
        scale = weight_scale(float(np.max(rows)) if chosen.scale == "own" else 1.0)
    if not tables:
        raise ValueError("sound: the recording has no words, and this layer does not read it")
    return OverTime(
        description=" ".join(about), tables=tables, seconds=length["heard"], scale=scale
    )


def figure(answer: OverTime, page: "Page") -> None:
    """A strip of weights for each head, and below each other the words where they begin."""
    from viz.letters import visible, width
    from viz.paper import BODY, MARGIN, SMALL

    tables = {table.name: table for table in answer.tables}
    if (weights := tables.get("weight")) is not None:
        for name, row in zip(weights.labels["head"], weights.values, strict=True):
            page.heading(name)
            colours = answer.scale.colours(row[None])
            page.image(MARGIN, page.y, page.room, 18, colours)
            page.box(MARGIN, page.y, page.room, 18)
            page.y += 22
    lanes: list[float] = []  # where the last word of each ends
    if (times := tables.get("seconds")) is not None:
        for label, (start, end) in zip(times.labels["word"], times.values, strict=True):
            x, text = MARGIN + page.room * start / answer.seconds, visible(label)
            left = min(x, MARGIN + page.room - width(text, BODY))
            lane = next((i for i, last in enumerate(lanes) if last < left), len(lanes))
            lanes[lane : lane + 1] = [left + width(text, BODY) + 3]
            y = page.y + lane * (BODY + 7)
            page.box(x, y, page.room * (end - start) / answer.seconds, 2, facecolor=INK.primary)
            page.text(left, y + BODY + 2, text, BODY)
    page.y += len(lanes) * (BODY + 7) + SMALL
    page.text(MARGIN, page.y, "0 s", SMALL, INK.muted)
    page.text(MARGIN + page.room, page.y, f"{answer.seconds:.2f} s", SMALL, INK.muted, "right")
    page.y += 6
    if weights is not None:
        page.bar(answer.scale)


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """The words, the spectrogram, and the weights of the token."""
    chosen = request.selection
    place = {"site": request.index, "axis": "query", "index": chosen.token or 0}
    return [
        path_of("words", method=chosen.timing),
        path_of("spectrogram"),
        *(path_of("row", head=head, **place) for head in request.heads),
    ]
