"""The Image page's picture and network: opened, checked, cut to size and traced.

Everything that needs torch is imported when called.
"""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import streamlit as st

from models.catalogue import CHECKPOINTS, Entry, catalogue, read_config
from models.files.card import Example, card
from viz.image import Picture as Encoded
from viz.pages.shared import forward_pass

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.image import Picture
    from models.run import Model
    from models.trace import Trace

PHOTOS = {
    name: Path(__file__).parents[2] / "photos" / f"{name}.jpg" for name in ("flower", "china")
}
How = Literal["crop", "pad", "stretch"]
BUILT = "built"  # a network that is built on the page, with random weights
TRAINED: dict[str, Entry] = {known.name: known for known in catalogue() if known.reads == "image"}


@dataclass(frozen=True)
class ViTChoice:
    """A vision transformer: its sizes, and whether it is built here; pictures are square."""

    model: str = BUILT
    size: int = 224
    patch: int = 16
    heads: int = 6
    dim: int = 192
    depth: int = 6
    positions: str = "learned"
    registers: int = 0
    seed: int = 0
    order: str = "p1 p2 c"

    @property
    def sizes(self) -> dict[str, Any]:
        """The fields of its `ViTConfig`."""
        names = ("patch", "dim", "depth", "heads", "positions", "registers", "seed", "order")
        fields = {name: getattr(self, name) for name in names}
        return {"image": self.size, "mlp": 4 * self.dim, **fields}


def trained(model: str) -> ViTChoice:
    """A trained network with the sizes it has."""
    told = read_config(CHECKPOINTS / TRAINED[model].folder).get("config", {})
    names = ("patch", "heads", "dim", "depth", "positions", "registers", "seed", "order")
    return ViTChoice(model, size=told["image"], **{name: told[name] for name in names})


def samples(model: str) -> dict[str, Example]:
    """A trained network's own pictures, by the name each has in a link."""
    known = card(TRAINED[model]) if model in TRAINED else None
    return {} if known is None else {f"{model}/{each.input}": each for each in known.examples}


SAMPLES = {
    name: CHECKPOINTS / TRAINED[model].folder / each.input
    for model in TRAINED
    for name, each in samples(model).items()
}
PICTURES = PHOTOS | SAMPLES


class Cut(Protocol):
    """How a picture is cut into square patches that become tokens."""

    @property
    def patch(self) -> int: ...

    @property
    def dim(self) -> int: ...

    @property
    def order(self) -> str: ...


@dataclass(frozen=True, eq=False)
class Seen:
    """A traced picture, its name for the browser, and what was done to it on the way."""

    trace: "Trace"
    identity: str
    picture: Encoded
    notes: tuple[str, ...]


def source(page: str) -> tuple[bytes, str]:
    """The picture's file as it is, and its SHA-256: an uploaded one, or one of ours."""
    state = st.session_state
    files = state.get(f"{page}_files") or {}
    data = files.get(state[f"{page}_upload"]) or PICTURES[state[f"{page}_photo"]].read_bytes()
    return data, hashlib.sha256(data).hexdigest()


def take(page: str, data: bytes) -> None:
    """Makes these bytes the page's picture, or says why not and leaves everything as it was."""
    state = st.session_state
    try:
        opened_image(hashlib.sha256(data).hexdigest(), data)
    except ValueError as error:
        state[f"{page}_refused"] = str(error)
        return
    state[f"{page}_refused"] = None
    state[f"{page}_upload"] = hashlib.sha256(data).hexdigest()
    state[f"{page}_files"] = {state[f"{page}_upload"]: data}


@st.cache_resource(max_entries=6, show_spinner=False)
def opened_image(digest: str, _data: bytes) -> "Picture":
    """The decoded picture; the digest is what it is remembered by."""
    from models.image import open_image

    return open_image(_data)


@st.cache_resource(max_entries=4, show_spinner=False)
def network(choice: ViTChoice, device: str) -> "Model":
    """The network, loaded or built once and shared: nothing may change it."""
    from models.run import load
    from models.vit import ViTConfig

    source = ViTConfig(**choice.sizes) if choice.model == BUILT else choice.model
    return load(source, device=device)


@st.cache_resource(max_entries=3, show_spinner=False)
def seen(choice: ViTChoice, device: str, digest: str, how: How, _data: bytes) -> Seen:
    """One forward pass over one picture."""
    from models.image import fit_image
    from models.run import trace
    from viz.pages.image import memory

    memory.check(choice)
    picture = opened_image(digest, _data)
    image, note = fit_image(picture, choice.size, choice.size, how)
    name = f"{choice}|{device}|{digest}|{how}".encode()
    model = network(choice, device)
    with forward_pass(model):
        done = trace(model, image)
    notes = (*picture.notes, *([note] if note else []))
    return Seen(done, hashlib.sha256(name).hexdigest()[:12], encoded(image), notes)


def encoded(image: "Image") -> Encoded:
    """The picture as a file: without loss, as the view reads the patches’ numbers from it."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return Encoded(file.getvalue(), "image/png")
