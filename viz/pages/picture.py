"""Pictures shipped with the app, and files decoded and fitted to a network's input size.

Modules that need torch are imported inside functions.
"""

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import streamlit as st

from models.card import Example, card
from models.catalogue import CHECKPOINTS, Entry, bundled
from viz.image import Picture as Encoded

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.image import Picture
    from models.inputs.pictures import Processed
    from models.preprocessing import Preprocessing

PHOTOS = {
    name: Path(__file__).parents[1] / "photos" / f"{name}.jpg" for name in ("flower", "china")
}
TITLES = {"flower": "A flower", "china": "A temple"}
THUMBNAIL = 96  # pixels of the longer side
How = Literal["crop", "pad", "stretch"]
TRAINED: dict[str, Entry] = {entry.name: entry for entry in bundled() if entry.reads == "image"}


def samples(model: str) -> dict[str, Example]:
    """The example pictures of a trained network, by their names in links."""
    found = card(TRAINED[model]) if model in TRAINED else None
    return {} if found is None else {f"{model}/{each.input}": each for each in found.examples}


SAMPLES = {
    name: CHECKPOINTS / TRAINED[model].folder / example.input
    for model in TRAINED
    for name, example in samples(model).items()
}
PICTURES = PHOTOS | SAMPLES


@st.cache_resource(max_entries=3, show_spinner=False)
def opened_image(digest: str, _data: bytes) -> "Picture":
    """The decoded picture, cached by the digest of its file."""
    from models.image import open_image

    return open_image(_data)


@st.cache_resource(max_entries=32, show_spinner=False)
def frames(digest: str, _data: bytes) -> int:
    """Number of frames, cached by the digest of the file; 1 for a file that cannot be read."""
    from models.image import frame_count

    try:
        return frame_count(_data)
    except ValueError:
        return 1


@st.cache_resource(max_entries=16, show_spinner=False)
def still(digest: str, frame: int, _data: bytes) -> bytes:
    """One frame of an animated file as a PNG, cached by the file's digest."""
    from models.image import frame_of

    return encoded(frame_of(_data, frame)).data


@st.cache_resource(max_entries=64, show_spinner=False)
def thumbnail(digest: str, _data: bytes) -> str:
    """A thumbnail of the picture as a data URL, cached by the file's digest."""
    return data_url(opened_image(digest, _data).image, THUMBNAIL)


@st.cache_resource(max_entries=32, show_spinner=False)
def fitted(
    digest: str, rows: int, cols: int, how: How, _data: bytes
) -> "tuple[Image, tuple[str, ...]]":
    """The picture at a network's input size, with notes on its preprocessing."""
    from models.image import fit_image

    opened = opened_image(digest, _data)
    image, note = fit_image(opened, rows, cols, how)
    return image, (*opened.notes, *([note] if note else []))


@st.cache_resource(max_entries=8, show_spinner=False)
def prepared(digest: str, preprocessing: "Preprocessing", _data: bytes) -> "Processed":
    """The picture as a model with this preprocessing reads it, cached by its digest."""
    from models.inputs.pictures import processed

    return processed(preprocessing, opened_image(digest, _data))


def data_url(image: "Image", longest: int) -> str:
    """The picture as a data URL, its longer side reduced to at most that many pixels."""
    small = image.convert("RGB")
    small.thumbnail((longest, longest))
    return f"data:image/png;base64,{base64.b64encode(encoded(small).data).decode()}"


def encoded(image: "Image") -> Encoded:
    """The picture as a lossless file: the view reads the patches' pixel values from it."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return Encoded(file.getvalue(), "image/png")
