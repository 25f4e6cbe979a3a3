"""Recordings, as the feature extractor of each model makes them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from scipy.io import wavfile

from analysis.alignment import align, heads_of
from benchmarks.coverage import tiny
from models.inputs.prepare import prepare_inputs
from models.inputs.prompt import Prompt
from models.inputs.sound import Recording, frame_stride, read_recording, resampled
from models.run import Model, load, trace
from models.trace import Sound
from tests.models.architectures import build

RATE = 16_000
CONVOLUTIONS = {"conv_dim": (8, 8), "conv_stride": (5, 2), "conv_kernel": (10, 3)}
WAVES = {"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}
WAVES |= {"hidden_size": 34, "num_hidden_layers": 2, "num_attention_heads": 2}
WAVES |= {"intermediate_size": 20, "num_feat_extract_layers": 2, **CONVOLUTIONS}
WHISPER: dict[str, Any] = {"d_model": 22, "encoder_layers": 2, "decoder_layers": 1}
WHISPER |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "num_mel_bins": 8}
WHISPER |= {"encoder_ffn_dim": 13, "decoder_ffn_dim": 13, "vocab_size": 53, "pad_token_id": 0}
WHISPER |= {"max_source_positions": 50, "bos_token_id": 1, "decoder_start_token_id": 1}
SPEECH: dict[str, tuple[str, Any, str, Any]] = {  # network, sizes, extractor, its settings
    "wav2vec 2.0": ("Wav2Vec2", WAVES, "Wav2Vec2", {"return_attention_mask": False}),
    "HuBERT, unnormalised": ("Hubert", WAVES, "Wav2Vec2", {"do_normalize": False}),
    "Whisper": ("Whisper", WHISPER, "Whisper", {"feature_size": 8, "chunk_length": 1}),
}


def saved(name: str, folder: Path) -> Any:
    """Writes the checkpoint of a tiny model of sound, and gives its feature extractor."""
    network, sizes, reader, settings = SPEECH[name]
    build(f"{network}Model", f"{network}Config", sizes).save_pretrained(folder)
    extractor = getattr(transformers, f"{reader}FeatureExtractor")(**settings)
    extractor.save_pretrained(folder)
    return extractor


def wave(samples: int = 6_400, seed: int = 3) -> np.ndarray:
    dice = np.random.default_rng(seed)
    tone = np.sin(np.arange(samples) * 0.11)
    return (0.4 * tone + 0.05 * dice.standard_normal(samples)).astype(np.float32)


@pytest.fixture(params=SPEECH)
def checkpoint(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Model, Any, str]:
    """A model from a folder, the extractor of the same folder, and the name of the input."""
    extractor = saved(request.param, tmp_path)
    return load(tmp_path, door="transformers"), extractor, extractor.model_input_names[0]


def target_of(model: Model) -> torch.Tensor | None:
    return torch.tensor([[1, 4, 9]]) if model.network.config.is_encoder_decoder else None


def traced_inputs(model: Model, source: Any) -> dict[str, torch.Tensor]:
    return prepare_inputs(model, source, target_of(model)).arguments


def test_a_recording_is_extracted_as_by_the_library(
    checkpoint: tuple[Model, Any, str], tmp_path: Path
) -> None:
    """Samples, a file of them, and a row of a data set at half the rate."""
    model, extractor, name = checkpoint
    levels = (wave() * 32767).astype(np.int16)
    wavfile.write(tmp_path / "tone.wav", RATE, levels)
    half = {"array": wave(3_200), "sampling_rate": RATE // 2}
    sources: list[tuple[Any, np.ndarray]] = [
        (torch.tensor(wave()), wave()),
        (str(tmp_path / "tone.wav"), levels.astype(np.float32) / 32768),
        (half, resampled(Recording(wave(3_200), RATE // 2), RATE).samples),
    ]
    for source, samples in sources:
        expected = extractor(samples, sampling_rate=RATE, return_tensors="pt")[name]
        assert torch.equal(traced_inputs(model, source)[name], expected)


def test_weights_of_a_recording_are_those_of_its_features(
    checkpoint: tuple[Model, Any, str],
) -> None:
    """And frames begin where the convolutions begin: 6,400 samples, of which Whisper makes 1 s."""
    model, extractor, name = checkpoint
    found, features = trace(model, wave(), target_of(model)), extractor(wave(), sampling_rate=RATE)
    same = trace(model, features.convert_to_tensors("pt"), target_of(model))
    assert found.sites == same.sites
    for site in found.sites:
        assert torch.equal(found.weights(site), same.weights(site))
    assert same.labels[0] == "frame 0"
    starts = [float(label.removesuffix(" s")) for label in found.labels]
    step = 10 / RATE if name == "input_values" else 0.02  # strides 5 · 2; two frames of 10 ms
    assert starts == pytest.approx([index * step for index in range(len(starts))], abs=0.0051)


def test_recordings_of_unequal_length_are_padded(tmp_path: Path) -> None:
    extractor, both = saved("wav2vec 2.0", tmp_path), [wave(), wave(4_000, seed=5)]
    expected = extractor(both, sampling_rate=RATE, return_tensors="pt", padding=True).input_values
    assert torch.equal(traced_inputs(load(tmp_path), both)["input_values"], expected)
    assert len(trace(load(tmp_path), np.stack(both[:1] * 2)).tokens) == 2  # rows are a batch


@pytest.mark.parametrize(
    ("kind", "factor", "offset"),
    [(np.uint8, 128, 128), (np.int16, 2**15, 0), (np.int32, 2**31, 0), (np.float32, 1, 0)],
)
def test_formats_of_a_wav_file(kind: type, factor: int, offset: int, tmp_path: Path) -> None:
    values = np.tile([-0.5, 0.0, 0.25, 0.5], 100)
    wavfile.write(tmp_path / "a.wav", RATE, (values * factor + offset).astype(kind))
    found = read_recording(tmp_path / "a.wav")
    assert found.rate == RATE
    assert found.samples.dtype == np.float32
    np.testing.assert_array_equal(found.samples, values)


def test_channels_are_averaged_and_the_rate_is_changed(tmp_path: Path) -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(44_100) / 44_100).astype(np.float32)
    wavfile.write(tmp_path / "a.wav", 44_100, np.stack([tone, 0.5 * tone], axis=1))
    found = resampled(read_recording(tmp_path / "a.wav"), RATE)
    assert found.notes == ("mean of 2 channels", "resampled from 44,100 to 16,000 Hz")
    assert len(found.samples) == RATE
    exact = 0.75 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)
    inner = slice(200, -200)  # the filter has no samples beyond the ends
    # SciPy's default filter ripples by up to 0.3 % in its pass band
    np.testing.assert_allclose(found.samples[inner], exact[inner], atol=3e-3)


@pytest.mark.parametrize(
    ("named", "used"),
    [
        ([], [(0, 0), (0, 1)]),
        ([[0, 1]], [(0, 1)]),
        ([[0, 1], [7, 1]], [(0, 0), (0, 1)]),  # of a decoder of more layers
        ([[0, 2]], [(0, 0), (0, 1)]),  # of more heads
    ],
)
def test_whisper_pads_and_is_timed_by_heads_that_are_there(
    named: list[list[int]], used: list[tuple[int, int]], tmp_path: Path
) -> None:
    saved("Whisper", tmp_path)
    (tmp_path / "generation_config.json").write_text(json.dumps({"alignment_heads": named}))
    found = trace(load(tmp_path, door="transformers"), wave(), torch.tensor([[1, 4, 5, 6]]))
    assert "padded from 0.4 to 1 seconds" in found.notes
    assert sorted(heads_of(found)) == used
    assert [word.text for word in align(found)]


TONE = wave(1_000)
BAD: dict[str, tuple[Any, str]] = {
    "no sound": (b"no sound at all", "the recording: expected a WAV file, which this is not"),
    "no samples": (TONE[:0], r"at least 25 milliseconds, received 0\.0"),
    "NaN": (TONE * np.nan, "the recording has samples that are no numbers of at most 4.3e"),
    "too loud": (Recording(TONE * 1e30, RATE), "that are no numbers of at most 4.3e"),
    "five samples": (wave(5), r"at least 25 milliseconds, received 0\.3"),
    "channels last": (
        {"array": np.stack([TONE, TONE], 1), "sampling_rate": RATE},
        r"of one channel, received float32 of the shape \(1000, 2\)",
    ),
    "whole numbers": ((TONE * 9_000).astype(np.int16), "samples as floats, .*, received int16"),
    "ids": (torch.arange(1_000), "expected samples as floats, .*, received int64"),
    "a list of numbers": ([0.1] * 1_000, "expected a recording: .*, received float"),
    "nothing": (None, "expected a recording: .*, received NoneType"),
    "no rate": (Recording(TONE, 0), "rate: expected samples a second, 1 or more, received 0"),
    "an hour": (np.zeros(3_600 * RATE, np.float32), "at most 10 minutes, received 60"),
    "no such file": ("missing.wav", "missing.wav: no such file"),
    "a sentence": ("a sentence", "a sentence: no such file"),
    "a text": ("text.wav", "text.wav: expected a WAV file, which this is not"),
    "a short file": ("click.wav", r"at least 25 milliseconds, received 24\.9"),
    "half an MP3": ("half.mp3", "half.mp3: expected a WAV file, which this is not: convert"),
    "a prompt": (Prompt("hello"), "reads sound alone: expected a recording, not a prompt"),
}


@pytest.mark.parametrize("checkpoint", ["Whisper"], indirect=True)
@pytest.mark.parametrize("case", BAD)
def test_bad_recordings_are_refused_in_one_line(
    case: str, checkpoint: tuple[Model, Any, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is given to a model that reads nothing but sound."""
    monkeypatch.chdir(tmp_path)
    Path("text.wav").write_text("this is no sound")
    wavfile.write("click.wav", RATE, wave(399))
    Path("half.mp3").write_bytes(b"\xff\xfb\x90\x00" * 9)
    model, _, _ = checkpoint
    source, message = BAD[case]
    with pytest.raises(ValueError, match=message) as refused:
        trace(model, source)
    assert "\n" not in str(refused.value)


def test_a_model_without_an_extractor_names_its_input() -> None:
    network = build("Wav2Vec2Model", "Wav2Vec2Config", WAVES)
    with pytest.raises(ValueError, match="states no feature extractor: pass a dict with input_v"):
        trace(network, wave())


@pytest.mark.parametrize(
    ("sound", "frames", "expected"),
    [
        (Sound(30.0), 1_500, {0: "0.00 s", 1: "0.02 s", 1_499: "29.98 s"}),
        (
            Sound(0.4, stride=0.02),
            19,
            {0: "0.00 s", 18: "0.36 s"},
        ),  # wav2vec 2.0's last frame is cut
        (Sound(0.4, stride=0.02), 10, {1: "0.04 s", 9: "0.36 s"}),  # halved again by an adapter
        (Sound(1.0, stride=0.024), 40, {1: "0.02 s", 39: "0.94 s"}),  # Moonshine leaves out two
        (
            Sound(1.01, stride=0.08),
            13,
            {1: "0.08 s", 12: "0.96 s"},
        ),  # Parakeet's last is half empty
        (Sound(0.1), 40, {1: "0.003 s", 39: "0.098 s"}),
    ],
)
def test_labels_of_time(sound: Sound, frames: int, expected: dict[int, str]) -> None:
    labels = sound.labels(frames)
    assert len(labels) == frames
    assert {index: labels[index] for index in expected} == expected


@pytest.mark.parametrize(
    ("name", "stride"),
    [
        ("moonshine", 384),
        ("parakeet_ctc", 8),
        ("whisper", 2),
        ("speech_to_text", 4),
        ("bert", None),
    ],
)
def test_the_stride_of_a_network_s_frames(name: str, stride: int | None) -> None:
    """Products of the strides of their convolutions: 64 · 3 · 2, 2 · 2 · 2, 1 · 2, 2 · 2."""
    assert frame_stride(tiny.build(name)) == stride


def test_a_file_that_ends_early_says_so(tmp_path: Path) -> None:
    file = tmp_path / "tone.wav"
    wavfile.write(file, RATE, (wave() * 32767).astype(np.int16))
    whole = file.read_bytes()
    assert read_recording(whole).notes == ()
    cut = read_recording(whole[: 44 + 2 * 1_600])
    assert (len(cut.samples), cut.notes) == (1_600, ("the file is cut off",))
