"""A recording as a picture over time, which Whisper's encoder cuts into a sequence of frames."""

import base64
import io
import json
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from viz.course import real
from viz.course.inputs import InputError
from viz.theme import sequential

MODEL = "whisper"
STRIDE = 2  # columns from one token to the next
CUT_OUT = 12  # tokens that are enlarged
SMALL, LARGE = 2, 8  # sides of a number in a picture, in pixels
FAR = 0.5  # seconds
EXTRACTOR = json.dumps({"feature_extractor_type": "WhisperFeatureExtractor"})


@lru_cache(maxsize=1)
def spectrogram() -> tuple[Float[np.ndarray, "band col"], float]:
    """What Whisper reads of the recording, the lowest frequency first, and the seconds of a column.

    Padding is left out. No weights are needed.
    """
    from models.inputs.sound import extracted
    from models.preprocessing import ProcessorSettings
    from models.trace import Sound

    features = extracted(ProcessorSettings(EXTRACTOR, MODEL), str(real.RECORDING))
    step = features.step
    if step is None:
        raise ValueError("expected an extractor that states its frames")
    pixels = features.arguments["input_features"][0].numpy()
    columns = Sound(step * pixels.shape[1], features.heard).frames_heard(pixels.shape[1])
    return pixels[:, :columns], step


@real.of(MODEL)
def shapes() -> dict[str, Any]:
    """What the layers before the encoder's blocks return, and how many columns a token sees."""
    import torch

    encoder = real.opened(MODEL).network.get_submodule("model.encoder")
    first, second = (encoder.get_submodule(name) for name in ("conv1", "conv2"))
    x = torch.zeros(1, int(first.in_channels), 3000)
    with torch.no_grad():
        after = [x, first(x), second(first(x))]
    sees = first.kernel_size[0] + first.stride[0] * (second.kernel_size[0] - 1)
    return {"shapes": [[*each.shape[1:]] for each in after], "sees": sees}


@real.of(MODEL)
def listens(layer: int, head: int, token: int) -> dict[str, Any]:
    """The weights of a token of the encoder on those that were heard, and on the silence after.

    Raises:
        InputError: for a layer, head or token that is not there.
    """
    trace = real.traced(MODEL, str(real.RECORDING))
    sound = trace.sound
    site = next(each for each in trace.sites if each.tower == "encoder")
    layers = sum(each.tower == "encoder" for each in trace.sites)
    if sound is None:
        raise ValueError("expected the trace of a recording")
    frame = sound.seconds / site.keys
    heard = sound.frames_heard(site.keys)
    if layer >= layers or head >= site.heads or token >= heard:
        raise InputError(
            f"expected a layer below {layers}, a head below {site.heads} and a token below"
            f" {heard}, received {layer}, {head} and {token}"
        )
    row = trace.weights(layer, head, kind="self", tower="encoder", rows=range(token, token + 1))[0]
    return {"at": row[:heard].tolist(), "frame": frame, "tokens": site.keys}


def pictures(token: int) -> tuple[list[str], list[str], tuple[int, int]]:
    """The spectrogram, and a cut-out of it token by token, as data: URLs; brighter is louder.

    Returns:
        The third are the first token of the cut-out and the one after its last.
    """
    levels, _ = spectrogram()
    tokens = levels.shape[1] // STRIDE
    first = min(max(0, token - CUT_OUT // 2), tokens - CUT_OUT)
    cuts = [levels[:, STRIDE * at : STRIDE * (at + 1)] for at in range(first, first + CUT_OUT)]
    low, high = float(levels.min()), float(levels.max())
    whole = _file(levels, low, high, SMALL)
    return [whole], [_file(cut, low, high, LARGE) for cut in cuts], (first, first + CUT_OUT)


def _file(levels: Float[np.ndarray, "band col"], low: float, high: float, side: int) -> str:
    from PIL import Image

    shares = np.rint(255 * (levels[::-1] - low) / (high - low or 1)).astype(np.uint8)
    image = Image.fromarray(sequential("dark")[shares])
    file = io.BytesIO()
    size = (image.width * side, image.height * side)
    image.resize(size, Image.Resampling.NEAREST).save(file, "WEBP", lossless=True)
    return f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}"
