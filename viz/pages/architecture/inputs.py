"""The input of the Architecture page's network: a text, token ids or a picture."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from viz.pages import picture, reading, shared
from viz.pages.architecture import network, presets
from viz.pages.architecture.presets import PAGE
from viz.pages.image import examples
from viz.pages.state import session
from viz.pages.widgets import controls, entry, pictures

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor

    from models.model import Config

READS = {"text": "Text", "ids": "Token ids"}
FITS = {"crop": "Crop", "pad": "Pad", "stretch": "Stretch"}
FIT_HELP = "The network takes square pictures: crop the sides, add grey bars, or stretch"


@dataclass(frozen=True)
class Input:
    """One input of a network.

    Attributes:
        kind: of input.
        first: a text, token ids as typed, or the SHA-256 of a picture.
        second: the decoder's target, or the fit mode of a picture; else "".
        file: file name of a picture, for the Python code.
        data: file contents of a picture.
    """

    kind: Literal["text", "ids", "image"]
    first: str
    second: str = ""
    file: str = ""
    data: bytes = field(default=b"", repr=False, compare=False)


def choose(config: "Config") -> Input:
    """The input controls, and the input they describe."""
    from models.layer import AttentionLayerConfig
    from models.seq2seq import Seq2SeqConfig
    from models.vit import ViTConfig

    if isinstance(config, ViTConfig):
        return _picture(config, presets.trained(network.chosen()))
    layer = isinstance(config, AttentionLayerConfig)
    pair = layer or isinstance(config, Seq2SeqConfig)
    with st.container(key=f"{PAGE}_input", horizontal=True, vertical_alignment="bottom"):
        help = "Words are hashed into the vocabulary; or type the ids"
        if controls.choice(PAGE, "reads", "Input", READS, help) == "ids":
            first = entry.text(PAGE, "ids", "Source ids" if pair else "Token ids")
            second = entry.text(PAGE, "answer_ids", "Target ids") if pair else ""
            return Input("ids", first, second)
        first = entry.text(PAGE, "text", "Source" if pair else "Text")
        label = "Target (leave empty to generate)"
        if layer:
            label = "Target (if empty, the source attends to itself)"
        return Input("text", first, entry.text(PAGE, "answer", label) if pair else "")


def _picture(config: Any, model: str) -> Input:
    """The choice of a picture and its preprocessing."""
    with st.container(key=f"{PAGE}_pictures", horizontal=True, vertical_alignment="bottom"):
        pictures.choose(PAGE, examples.of(model))
        controls.choice(PAGE, "fit", "If the picture is not square", FITS, FIT_HELP)
    for problem in pictures.problems(PAGE):
        shared.error_line(problem)
    data, digest = pictures.current(PAGE)
    request = Input("image", digest, session.get(PAGE, "fit"), pictures.name_in_code(PAGE), data)
    _, notes = fitted(config, request)
    if notes:
        st.caption(shared.plain("Preprocessing: " + "; ".join(notes) + "."))
    return request


def arguments(config: "Config", request: Input) -> "tuple[Any, Any]":
    """Input and target as `trace` takes them."""
    from models.text import clean

    if request.kind == "image":
        return pixels(config, fitted(config, request)[0]), None
    if request.kind == "ids":
        return _ids(request.first), _ids(request.second) if request.second else None
    return clean(request.first)[0], clean(request.second)[0] if request.second.strip() else None


def parts(config: "Config", request: Input) -> tuple[Any, ...]:
    """The parts of the network for this input.

    Raises:
        ValueError: for an input that is empty or too long.
    """
    from models.cost.count import parts
    from models.layer import AttentionLayerConfig
    from models.text import WordTokenizer, clean

    values = [request.first, *([request.second] if request.second else [])]
    if request.kind == "image":
        return parts(config)
    if request.kind == "ids":
        return parts(config, *(max(1, len(reading.numbers_in(text))) for text in values))
    texts = [clean(text)[0] for text in values]
    if not texts[0].strip():
        raise ValueError("the text is empty: type a sentence")
    counts = [len(WordTokenizer(shared.VOCAB).encode(text)) for text in texts]
    if not isinstance(config, AttentionLayerConfig):
        counts[1:] = [count + 1 for count in counts[1:]]  # a target begins with its first symbol
    return parts(config, *counts)


def code(config: Any, request: Input) -> tuple[str, list[str], str]:
    """Python code: imports, lines that make the input, and the arguments of `trace`."""
    if request.kind == "text":
        return "", [], ", ".join(repr(value) for value in arguments(config, request) if value)
    if request.kind == "ids":
        ids = [reading.numbers_in(text) for text in (request.first, request.second) if text]
        return "import torch\n\n", [], ", ".join(f"torch.tensor([{values}])" for values in ids)
    size, channels = config.image, config.channels
    lines = [
        f"picture = open_image(Path({request.file!r}))",
        f"image, note = fit_image(picture, {size}, {size}, {request.second!r})",
        "pixels = to_pixels(image)",
    ]
    imports = "from pathlib import Path\n\n"
    if channels == 1:
        lines.append("pixels = pixels.mean(1, keepdim=True)  # grey")
    elif channels != 3:
        imports += "import torch\n\n"
        lines.append(f"pixels = torch.nn.functional.pad(pixels, (0, 0, 0, 0, 0, {channels - 3}))")
    return f"{imports}from models.image import fit_image, open_image, to_pixels\n", lines, "pixels"


def fitted(config: Any, request: Input) -> "tuple[Image, tuple[str, ...]]":
    """The picture at the network's input size, in colour, with notes on its preprocessing."""
    how: Any = request.second
    return picture.fitted(request.first, config.image, config.image, how, request.data)


def pixels(config: Any, image: "Image") -> "Tensor":
    """The pixels with the network's number of channels: one is grey, extra ones are zero."""
    import torch

    from models.image import to_pixels

    found = to_pixels(image)
    if config.channels == 1:
        return found.mean(1, keepdim=True)
    return torch.nn.functional.pad(found, (0, 0, 0, 0, 0, config.channels - 3))


def _ids(text: str) -> "Tensor":
    import torch

    return torch.tensor([reading.numbers_in(text)])
