"""Sound as a model reads it: a recording, resampled and prepared by its own feature extractor."""

import inspect
import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import gcd, prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from models.inputs.named import LARGEST
from models.inputs.processor import called, feature_extractor
from models.inputs.sequences import ModelInputs
from models.preprocessing import ProcessorSettings
from models.trace import Sound

MOST_SECONDS = 600
LEAST_SECONDS = 0.025  # a frame of the usual encoders
SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".aac")  # the first is read


@dataclass(frozen=True, eq=False)
class Recording:
    """A mono recording.

    Attributes:
        samples: usually between −1 and 1.
        rate: samples a second; None for samples that are at the model's own rate.
        notes: how the file was changed, for display.
    """

    samples: Float[np.ndarray, " sample"]
    rate: int | None = None
    notes: tuple[str, ...] = ()


def is_sound(source: Any) -> bool:
    """Whether an input looks like a recording: a file of sound, samples, or a list of either."""
    if isinstance(source, list | tuple):
        return bool(source) and all(is_sound(each) for each in source)
    if isinstance(source, str | Path):
        return Path(source).suffix.lower() in SUFFIXES
    array = isinstance(source, Tensor | np.ndarray) and source.ndim == 1
    return isinstance(source, Recording) or (array and torch.as_tensor(source).is_floating_point())


def extracted(settings: ProcessorSettings, source: Any) -> ModelInputs:
    """What the model's own feature extractor makes of a recording, or a list of recordings.

    Its `sound` has the stride of the samples or frames that the extractor returns, and is None if
    it does not state them.

    Args:
        settings: of the extractor.
        source: see `read_recording`, or a list of these; samples are at the model's own rate.

    Raises:
        ValueError: see `read_recording`, and for an extractor that does not run here or refuses
            the recording.
    """
    extractor = feature_extractor(settings)
    if extractor is None:
        raise ValueError("the model's feature extractor does not run here: pass its own inputs")
    rate = int(extractor.sampling_rate)
    sources = source if isinstance(source, list | tuple) else [source]
    recordings = [resampled(read_recording(each), rate) for each in sources]
    samples = [each.samples for each in recordings]
    default = inspect.signature(type(extractor).__call__).parameters.get("padding")
    unpadded = default is not None and default.default is False
    padding = {"padding": True} if unpadded and len(samples) > 1 else {}
    arguments = called(extractor, samples, sampling_rate=rate, **padding)
    heard = tuple(len(each) / rate for each in samples)
    notes = [note for each in recordings for note in each.notes]
    whole = getattr(extractor, "n_samples", 0) / rate
    for seconds in heard:
        if whole and seconds != whole:
            done = "padded" if seconds < whole else "cut"
            notes.append(f"{done} from {seconds:.1f} to {whole:.0f} seconds")
    count, step = _frames(extractor, arguments)
    sound = None if step is None else Sound(count * step, heard, step)
    return ModelInputs(arguments, notes=tuple(dict.fromkeys(notes)), sound=sound)


def read_recording(source: Any) -> Recording:
    """A recording from a WAV file, its bytes, a `Recording`, or an array of samples.

    Raises:
        ValueError: in one line, for a file that cannot be read, for samples that are not of one
            channel, no finite floats, or of no rate, and for less than `LEAST_SECONDS` or more
            than `MOST_SECONDS`.
    """
    if isinstance(source, str | Path | bytes):
        recording = _read_wav(source)
    elif isinstance(source, Recording):
        recording = replace(source, samples=samples_of(source.samples))
    elif isinstance(source, Tensor | np.ndarray):
        recording = Recording(samples_of(source))
    else:
        raise ValueError(
            "expected a recording: the path of a WAV file, its bytes, an array of samples, or a"
            f" Recording, received {type(source).__name__}"
        )
    if len(recording.samples) and not np.abs(recording.samples).max() <= LARGEST:  # nor NaN
        raise ValueError(
            f"the recording has samples that are no numbers of at most {LARGEST:.2g}, usually 1"
        )
    rate = recording.rate
    if rate is not None and (isinstance(rate, bool) or rate != int(rate) or rate < 1):
        raise ValueError(f"rate: expected samples a second, 1 or more, received {rate}")
    return recording if rate is None else resampled(recording, int(rate))


def samples_of(values: Any) -> Float[np.ndarray, " sample"]:
    """Samples that are no file, as they are given."""
    if isinstance(values, Tensor):
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() else values
    array = np.asarray(values)
    if array.dtype.kind != "f" or array.ndim != 1:
        raise ValueError(
            "expected samples as floats, usually between −1 and 1, of one channel, received"
            f" {array.dtype.name} of the shape {array.shape}"
        )
    return array.astype(np.float32)


def resampled(recording: Recording, rate: int) -> Recording:
    """The recording at another rate, by a polyphase filter (SciPy's `resample_poly`).

    Raises:
        ValueError: for less than a frame, or more than `MOST_SECONDS`.
    """
    given = recording.rate or rate
    seconds = len(recording.samples) / given
    if seconds < LEAST_SECONDS:
        least = f"at least {1000 * LEAST_SECONDS:.0f} milliseconds, received {1000 * seconds:.1f}"
        raise ValueError(f"the recording is too short: expected {least}")
    if seconds > MOST_SECONDS:
        most = f"at most {MOST_SECONDS // 60} minutes, received {seconds / 60:.1f}"
        raise ValueError(f"the recording is too long: expected {most}")
    if given == rate:
        return replace(recording, rate=rate)
    from scipy.signal import resample_poly

    common = gcd(given, rate)
    samples = resample_poly(recording.samples, rate // common, given // common)
    note = f"resampled from {given:,} to {rate:,} Hz"
    return Recording(samples.astype(np.float32), rate, (*recording.notes, note))


def _read_wav(source: str | Path | bytes) -> Recording:
    from scipy.io import wavfile

    name = "the recording" if isinstance(source, bytes) else Path(source).name
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise ValueError(f"{name or source}: no such file")
    try:
        file = io.BytesIO(source) if isinstance(source, bytes) else source
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", wavfile.WavFileWarning)
            rate, values = wavfile.read(file)
    except Exception as error:  # the reader raises errors of many kinds for damaged files
        raise ValueError(
            f"{name}: expected a WAV file, which this is not: convert the recording to one"
        ) from error
    notes = ["the file is cut off"] * any("EOF" in str(each.message) for each in warned)
    if not rate or len(values) > MOST_SECONDS * rate:
        raise ValueError(f"{name}: expected at most {MOST_SECONDS // 60} minutes of sound")
    samples: np.ndarray = values.astype(np.float32)
    if values.dtype.kind != "f":  # whole numbers are divided by the largest of their format
        largest = -float(np.iinfo(values.dtype).min) or 128.0
        samples = (samples - 128 * (values.dtype == np.uint8)) / largest
    if samples.ndim == 2:
        notes += [f"mean of {samples.shape[1]} channels"] * (samples.shape[1] > 1)
        samples = samples.mean(axis=1, dtype=np.float32)
    return Recording(samples, int(rate), tuple(notes))


def _frames(extractor: Any, arguments: Mapping[str, Tensor]) -> tuple[int, float | None]:
    """Number of samples or of frames that the extractor returns, and the seconds of each."""
    rate, hop = extractor.sampling_rate, getattr(extractor, "hop_length", None)
    samples, features = arguments.get("input_values"), arguments.get("input_features")
    if samples is not None and samples.ndim == 2:
        return samples.shape[1], 1 / rate
    if features is None or features.ndim != 3 or not isinstance(hop, int):
        return 0, None
    size = getattr(extractor, "feature_size", None)  # of bins, on either axis
    counts = [features.shape[3 - axis] for axis in (1, 2) if features.shape[axis] == size]
    return (counts[0], hop / rate) if counts else (0, None)


def frame_stride(network: nn.Module) -> int | None:
    """The network's stride in samples or frames of its input: that of its convolutions.

    None if it has none.
    """
    strides = [x.stride[0] for x in network.modules() if isinstance(x, nn.Conv1d | nn.Conv2d)]
    return prod(strides) if strides else None
