"""What the Architecture page's network reads: a text, token ids or a picture, from the controls."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import streamlit as st

from viz.pages import shared
from viz.pages.architecture import network, presets
from viz.pages.architecture.presets import PAGE
from viz.pages.image import picture
from viz.pages.state import attachments, session
from viz.pages.state.params import digest_of
from viz.pages.text import reading
from viz.pages.widgets import controls, entry

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor

    from models.model import Config
    from viz.pages.image.picture import How

ROOT = Path(__file__).parents[3]
READS = {"text": "Text", "ids": "Token ids"}
PHOTOS = {"flower": "A flower", "china": "A temple"}
FITS = {"crop": "Crop", "pad": "Pad", "stretch": "Stretch"}
FIT_HELP = "The network takes square pictures: cut the sides off, add grey bars, or stretch"
OWN = "Or drop a PNG, JPEG, WebP, GIF or BMP"


@dataclass(frozen=True)
class Input:
    """One input of a network.

    Attributes:
        kind: of input.
        first: a text, token ids as they were typed, or the SHA-256 of a picture.
        second: what the decoder of two towers is given, or how a picture is fitted; else "".
        file: of a picture, for the lines of Python that open it.
    """

    kind: Literal["text", "ids", "image"]
    first: str
    second: str = ""
    file: str = ""


def choose(config: "Config", model: str) -> Input:
    """The controls of the input, and what they say.

    Args:
        config: of the network.
        model: of the catalogue, if the network has its weights; "" if they are random.
    """
    from models.seq2seq import Seq2SeqConfig
    from models.vit import ViTConfig

    if isinstance(config, ViTConfig):
        return _picture(model)
    pair = isinstance(config, Seq2SeqConfig)
    with st.container(key=f"{PAGE}_input", horizontal=True, vertical_alignment="bottom"):
        help = "Words are hashed into the vocabulary, or give the ids themselves"
        if controls.choice(PAGE, "reads", "Input", READS, help) == "ids":
            first = entry.text(PAGE, "ids", "Source ids" if pair else "Token ids")
            second = entry.text(PAGE, "answer_ids", "Target ids") if pair else ""
            return Input("ids", first, second)
        first = entry.text(PAGE, "text", "Source" if pair else "Text")
        label = "Target (leave empty to generate)"
        return Input("text", first, entry.text(PAGE, "answer", label) if pair else "")


def _picture(model: str) -> Input:
    """The choice of a picture: the trained network's own ones or else photos, or a dropped file."""
    own = picture.samples(model)
    upload, photo = session.get(PAGE, "upload"), session.get(PAGE, "photo")
    with st.container(key=f"{PAGE}_source", horizontal=True, vertical_alignment="bottom"):
        for name, title in ({name: each.name for name, each in own.items()} or PHOTOS).items():
            shown = not upload and name == photo
            controls.button(title, f"{PAGE}_photo_{_slug(name)}", _take, name, chosen=shown)
        controls.choice(PAGE, "fit", "A picture that is not square", FITS, FIT_HELP)
        st.file_uploader(OWN, key=_uploader(), on_change=_take_file, args=(_uploader(),), width=360)
    refused = st.session_state.get(f"{PAGE}/refused")
    if refused:
        shared.error_line(f"{refused}. The picture before it is still here.")
    if upload and attachments.find(upload) is None:
        shared.error_line(
            f"This link was made with a picture of somebody's own (SHA-256 {upload[:12]}…): drop"
            " that file to see the same. Here is a photo instead."
        )
    data, file = attachments.find(upload), "picture.png"
    if data is None:
        path = picture.PICTURES[photo]
        data, file = path.read_bytes(), path.relative_to(ROOT).as_posix()
    return Input("image", attachments.keep(data), session.get(PAGE, "fit"), file)


def _take(name: str) -> None:
    """Chooses one of our pictures; a trained network's comes with a head to look at."""
    example = picture.samples(presets.trained(network.chosen())).get(name)
    selection = None if example is None else presets.head_of(example)
    st.session_state[f"{PAGE}/refused"] = None
    session.give(PAGE, {"photo": name, "upload": ""}, selection)


def _take_file(key: str) -> None:
    """Takes a dropped file, or says why not and leaves everything as it was."""
    file = st.session_state[key]
    if file is None:
        return
    data = file.getvalue()
    try:
        picture.opened_image(digest_of(data), data)
    except ValueError as error:
        st.session_state[f"{PAGE}/refused"] = str(error)
        return
    st.session_state[f"{PAGE}/refused"] = None
    session.give(PAGE, {"upload": attachments.keep(data)})


def _uploader() -> str:
    """The uploader's key: another one in each revision, as the old one would list its file."""
    return f"{PAGE}_file_{session.current(PAGE).revision}"


def _slug(name: str) -> str:
    return name.replace("/", "_").removesuffix(".png")


def arguments(config: "Config", given: Input) -> "tuple[Any, Any]":
    """Input and target as `trace` takes them."""
    from models.text import clean

    if given.kind == "image":
        return pixels(config, fitted(config, given)), None
    if given.kind == "ids":
        return _ids(given.first), _ids(given.second) if given.second else None
    return clean(given.first)[0], clean(given.second)[0] if given.second.strip() else None


def parts(config: "Config", given: Input) -> tuple[Any, ...]:
    """The parts of the network for this very input.

    Raises:
        ValueError: for an input that is empty or too long.
    """
    from models.cost.count import parts
    from models.text import WordTokenizer, clean

    values = [given.first, *([given.second] if given.second else [])]
    if given.kind == "image":
        return parts(config)
    if given.kind == "ids":
        return parts(config, *(max(1, len(reading.numbers_in(text))) for text in values))
    texts = [clean(text)[0] for text in values]
    if not texts[0].strip():
        raise ValueError("there is no text to read: type a sentence")
    counts = [len(WordTokenizer(shared.VOCAB).encode(text)) for text in texts]
    counts[1:] = [count + 1 for count in counts[1:]]  # a target begins with its first symbol
    return parts(config, *counts)


def code(config: Any, given: Input) -> tuple[str, list[str], str]:
    """Lines of Python: imports, what makes the input, and the arguments of `trace`."""
    if given.kind == "text":
        return "", [], ", ".join(repr(value) for value in arguments(config, given) if value)
    if given.kind == "ids":
        ids = [reading.numbers_in(text) for text in (given.first, given.second) if text]
        return "import torch\n\n", [], ", ".join(f"torch.tensor([{values}])" for values in ids)
    size, channels = config.image, config.channels
    lines = [
        f"picture = open_image(Path({given.file!r}))",
        f"image, note = fit_image(picture, {size}, {size}, {given.second!r})",
        "pixels = to_pixels(image)",
    ]
    imports = "from pathlib import Path\n\n"
    if channels == 1:
        lines.append("pixels = pixels.mean(1, keepdim=True)  # grey")
    elif channels != 3:
        imports += "import torch\n\n"
        lines.append(f"pixels = torch.nn.functional.pad(pixels, (0, 0, 0, 0, 0, {channels - 3}))")
    return f"{imports}from models.image import fit_image, open_image, to_pixels\n", lines, "pixels"


def fitted(config: Any, given: Input) -> "Image":
    """The picture as the network sees it, in colour."""
    from models.image import fit_image

    data = attachments.find(given.first)
    if data is None:
        raise ValueError("expected a picture, and it is no longer held: choose it again")
    opened = picture.opened_image(given.first, data)
    return fit_image(opened, config.image, config.image, cast("How", given.second))[0]


def pixels(config: Any, image: "Image") -> "Tensor":
    """The picture as the network's channels: of one, grey; of more than three, with zeros."""
    import torch

    from models.image import to_pixels

    found = to_pixels(image)
    if config.channels == 1:
        return found.mean(1, keepdim=True)
    return torch.nn.functional.pad(found, (0, 0, 0, 0, 0, config.channels - 3))


def _ids(text: str) -> "Tensor":
    import torch

    return torch.tensor([reading.numbers_in(text)])
