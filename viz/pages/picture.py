"""The Image page's picture and network: opened, checked, cut to size, traced and spoken of.

Everything that needs torch is imported when called.
"""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from viz.image import Layer, Rows, factor_for, message
from viz.image import Picture as Encoded
from viz.pages import explorer
from viz.pages.answers import UNTRAINED, number_in
from viz.pages.shared import forward_pass

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor

    from models.image import Picture
    from models.run import Model
    from models.trace import Site, Trace

PHOTOS = {
    name: Path(__file__).parents[1] / "photos" / f"{name}.jpg" for name in ("flower", "china")
}
MANY = 512  # tokens from which on whole layers are not worked out for one key
MAX_PARTS = 8  # layers or rows in one answer
How = Literal["crop", "pad", "stretch"]
SCALES = ("layer", "own", "fixed")


@dataclass(frozen=True)
class ViTChoice:
    """The sizes of a vision transformer that is built here; pictures are square."""

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


@dataclass(frozen=True, eq=False)
class Seen:
    """A traced picture, its name for the browser, and what was done to it on the way."""

    trace: "Trace"
    identity: str
    picture: Encoded
    notes: tuple[str, ...]


def source(page: str) -> tuple[bytes, str]:
    """The picture's file as it is, and its SHA-256: an uploaded one, or a photo."""
    state = st.session_state
    files = state.get(f"{page}_files") or {}
    data = files.get(state[f"{page}_upload"]) or PHOTOS[state[f"{page}_photo"]].read_bytes()
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
def built(choice: ViTChoice, device: str) -> "Model":
    """The network, built once and shared: nothing may change it."""
    from models.run import load
    from models.vit import ViTConfig

    return load(ViTConfig(**choice.sizes), device=device)


@st.cache_resource(max_entries=3, show_spinner=False)
def seen(choice: ViTChoice, device: str, digest: str, how: How, _data: bytes) -> Seen:
    """One forward pass over one picture."""
    from models.image import fit_image
    from models.run import trace
    from viz.pages import memory

    memory.check(choice)
    picture = opened_image(digest, _data)
    image, note = fit_image(picture, choice.size, choice.size, how)
    name = f"{choice}|{device}|{digest}|{how}".encode()
    model = built(choice, device)
    with forward_pass(model):
        done = trace(model, image)
    notes = (*picture.notes, *([note] if note else []))
    return Seen(done, hashlib.sha256(name).hexdigest()[:12], _encoded(image), notes)


def show(page: str, choice: ViTChoice, found: Seen) -> None:
    """The image view for this trace. The choice in it lives in the page's settings."""
    from headscope_views import image

    explorer.exchange(
        page,
        found.trace,
        found.identity,
        image,
        lambda select, **told: first(choice, found, select, **told),
        lambda ask: addition(found, ask),
        scales=SCALES,
    )


def first(
    choice: ViTChoice,
    found: Seen,
    select: dict[str, Any],
    *,
    answer: int | None = None,
    heard: int = 0,
    type_size: float = 1.0,
) -> bytes:
    """The picture, the shapes on the way, and all heads of the chosen layer."""
    from analysis.patches import grid_of

    trace = found.trace
    grid, prefix = grid_of(trace)
    base = {
        "model": trace.model,
        "note": "" if trace.trained else UNTRAINED,
        "query_labels": trace.labels,
        "key_labels": trace.labels,
        "sites": [
            {"layer": s.layer, "kind": s.kind, "heads": s.heads, "queries": s.queries}
            | {"keys": s.keys}
            for s in trace.sites
        ],
        "select": select,
        "grid": list(grid),
        "prefix": prefix,
        "patch": [choice.patch, choice.patch],
        "order": choice.order,
        "shapes": shapes(choice, grid, prefix),
        "heard": heard,
        "type_size": type_size,
    }
    return message(
        trace=found.identity,
        answer=answer,
        base=base,
        picture=found.picture,
        layers=[_layer(trace, select["site"])],
    )


def addition(found: Seen, ask: dict[str, Any]) -> bytes:
    """The layers and exact rows that were asked for; what makes no sense is left out."""
    layers = [_layer(found.trace, site) for site in _asked(found, ask, "maps", 6)]
    rows = [_rows(found, *part) for part in _asked_rows(found, ask)]
    return message(trace=found.identity, answer=number_in(ask, "id"), layers=layers, rows=rows)


def shapes(choice: ViTChoice, grid: tuple[int, int], prefix: int) -> list[dict[str, str]]:
    """What the picture becomes on its way into the first block."""
    rows, cols = grid
    count, side = rows * cols, choice.patch
    steps = [
        ("picture", f"3 × {rows * side} × {cols * side}"),
        (f"patches of {side} × {side} × 3", f"{rows} × {cols}"),
        ("unrolled", f"{count} × {3 * side * side}"),
        ("projected", f"{count} × {choice.dim}"),
    ]
    if prefix:
        extra = "class token" if prefix == 1 else f"class token and {prefix - 1} registers"
        steps.append((f"with the {extra}", f"{prefix + count} × {choice.dim}"))
    return [{"name": name, "shape": shape} for name, shape in steps]


def _layer(trace: "Trace", index: int) -> Layer:
    from analysis.patches import grid_of, layer_cells

    site = trace.sites[index]
    grid, prefix = grid_of(trace)
    factor = factor_for(site.heads, grid, prefix)
    weights = layer_cells(trace, site, factor).numpy(force=True)
    peaks = (float(weights[..., prefix:].max()), float(weights[:, prefix:].max()))
    return Layer(index, weights, factor, peaks)


def _rows(found: Seen, index: int, axis: str, token: int) -> Rows:
    from analysis.patches import heads_of_key, heads_of_query

    site: Site = found.trace.sites[index]
    if axis == "query":
        weights = heads_of_query(found.trace, site, token)
    else:
        totals = _totals(found.identity, index, found.trace) if site.keys > MANY else None
        weights = heads_of_key(found.trace, site, token, totals)
    return Rows(index, axis, token, weights.numpy(force=True))


@st.cache_resource(max_entries=24, show_spinner=False)
def _totals(identity: str, index: int, _trace: "Trace") -> "Tensor | None":
    """What makes one key's weights quick to have at many tokens: `head query` numbers."""
    from analysis.patches import totals_of

    return totals_of(_trace, _trace.sites[index])


def _asked(found: Seen, ask: dict[str, Any], name: str, length: int) -> list[Any]:
    """The sites of the questions of one kind."""
    return [part[0] for part in _parts(found, ask, name, length)]


def _asked_rows(found: Seen, ask: dict[str, Any]) -> list[tuple[int, str, int]]:
    parts = [(part[0], part[2], part[3]) for part in _parts(found, ask, "rows", 4)]
    count = len(found.trace.labels)
    return [
        (site, axis, token)
        for site, axis, token in parts
        if axis in ("query", "key") and type(token) is int and 0 <= token < count
    ]


def _parts(found: Seen, ask: dict[str, Any], name: str, length: int) -> list[list[Any]]:
    parts = ask.get(name)
    if not isinstance(parts, list):
        return []
    sites = range(len(found.trace.sites))
    return [
        part
        for part in parts[:MAX_PARTS]
        if isinstance(part, list) and len(part) == length and type(part[0]) is int
        if part[0] in sites
    ]


def _encoded(image: "Image") -> Encoded:
    """Without loss, and quickly: the view reads the patches' numbers from it."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return Encoded(file.getvalue(), "image/png")
