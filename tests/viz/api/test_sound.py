"""What the API says of a recording: words and their rows, the spectrogram, the sound itself."""

import base64
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.io import wavfile

from analysis.alignment import align
from models.inputs.sound import Recording, extracted
from models.run import load, trace
from models.trace import Trace
from tests.analysis.test_alignment import LABELS, STARTS, STEP, planted
from tests.models.inputs.test_sound import saved
from tests.viz.api.asking import ask
from viz.api import text
from viz.api.endpoint import QuestionError
from viz.api.entries import TraceEntry
from viz.pack import unpack
from viz.views.sound import view as sound

RATE = 16_000
SAMPLES = np.sin(np.arange(6_400) * 0.05).astype(np.float32) * 0.5


def entry_of(shown: Trace, opened: Any = None) -> TraceEntry:
    return TraceEntry(shown, opened=opened)


def test_words_come_with_their_times_and_the_rows_that_write_them() -> None:
    t = planted()
    answer = ask(entry_of(t), "words")
    found = [(each["text"], each["start"], each["end"]) for each in answer["words"]]
    assert found == [(text, round(start, 3), round(end, 3)) for text, start, end in align(t)]
    first = LABELS.index(" The")
    rows = [[0], [1, 2], [3], [5], [6]]  # of the transcript; the full stop is no word
    assert [each["rows"] for each in answer["words"]] == [
        [first + place - 1 for place in places] for places in rows
    ]
    starts = [STARTS[places[0]] * STEP for places in rows]
    assert [each["start"] for each in answer["words"]][1:] == pytest.approx(starts[1:], abs=0.021)
    assert (answer["method"], answer["methods"]) == ("named", ["named", "found"])
    assert "nothing to align" in ask(entry_of(empty(t)), "words")["why"]


def empty(t: Trace) -> Trace:
    """The same without a transcript."""
    assert t.target_tokens is not None
    (whole,) = t.target_tokens
    return replace(t, target_tokens=(replace(whole, special=(True,) * len(whole)),))


def test_times_are_files() -> None:
    entry = entry_of(planted())
    told = json.loads(sound.times(entry, "json").data)
    assert [each["word"] for each in told] == ["The", "quick", "fox.", "It", "ran"]
    assert b"00:00:00,720" in sound.times(entry, "srt").data


@pytest.mark.parametrize("name", ["Whisper", "wav2vec 2.0"])
def test_the_spectrogram_is_what_the_extractor_makes_without_padding(
    name: str, tmp_path: Path
) -> None:
    entry = heard(name, tmp_path)
    answer = ask(entry, "spectrogram")
    levels = np.frombuffer(base64.b64decode(answer["levels"]), np.uint8)
    levels = levels.reshape(answer["rows"], answer["cols"])
    assert entry.opened is not None
    model = entry.opened()[0]
    assert model.sound is not None
    made = extracted(model.sound, Recording(SAMPLES, RATE))
    if name == "Whisper":
        features = made.arguments["input_features"][0].numpy()
        features = features[:, : len(SAMPLES) // 160]
    else:
        values = np.abs(made.arguments["input_values"][0].numpy())
        edges = np.arange(sound.COLUMNS) * len(values) // sound.COLUMNS
        ends = [*edges[1:], len(values)]
        features = np.array([[values[a:b].max() for a, b in zip(edges, ends, strict=True)]])
    assert levels.shape == features.shape
    expected = (features - features.min()) / np.ptp(features)
    np.testing.assert_allclose(levels / 255, expected, atol=0.5 / 255 + 1e-6)


def test_frames_of_an_encoder_lie_on_the_time_axis(tmp_path: Path) -> None:
    entry = heard("wav2vec 2.0", tmp_path)
    base = unpack(text.overview(entry))[0]["base"]
    assert base["sound"]["heard"] == pytest.approx(0.4)
    assert all(each["timed"] for each in base["texts"])
    assert "expected the trace of a recording" in ask(entry, "words")["why"]


def test_the_recording_comes_back(tmp_path: Path) -> None:
    data, kind = sound.recording(heard("Whisper", tmp_path))
    rate, samples = wavfile.read(io.BytesIO(data))
    assert (kind, rate) == ("audio/wav", RATE)
    np.testing.assert_allclose(samples / 32767, SAMPLES, atol=1 / 32767)
    bare = entry_of(planted())
    assert "not in this trace" in ask(bare, "spectrogram")["why"]
    with pytest.raises(QuestionError, match="not in this trace"):
        sound.recording(bare)


def heard(name: str, folder: Path) -> TraceEntry:
    """A tiny model's trace of the recording."""
    saved(name, folder)
    given: Any = Recording(SAMPLES, RATE)
    model = load(folder, door="transformers")
    target = torch.tensor([[1, 4, 9]]) if model.network.config.is_encoder_decoder else None
    return entry_of(trace(model, given, target), lambda: (model, given, target))
