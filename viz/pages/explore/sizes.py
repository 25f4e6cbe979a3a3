"""Networks built here, of random weights: their sizes, and the sliders for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from models.presets import config_of
from models.request import Source
from viz.pages import compute, shared
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets.controls import choice, seed, select, slider

ENCODER, VIT = "built", "built-vit"  # values of the setting `model`
KINDS = {ENCODER: "encoder", VIT: "vit"}
MODELS = {kind: model for model, kind in KINDS.items()}
TITLES = {ENCODER: "Build an encoder (untrained)", VIT: "Build a ViT (untrained)"}
READS = {ENCODER: "text", VIT: "image"}
ABOUT = {
    ENCODER: "An encoder of the heads, width and depth you choose, with random weights.",
    VIT: "A vision transformer of the patches, heads and width you choose, with random weights.",
}
UNTRAINED = (
    "Untrained: the weights are random. The pictures show the effect of heads, dims, depth and"
    " positions, and nothing that was learned."
)
VOCAB = 4096  # of encoders built here, into which words are hashed
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")
PATCH_POSITIONS = ("learned", "sinusoidal", "sincos2d", "none")
NORMS = ("post", "pre")
ORDERS = {"p1 p2 c": "by pixel", "c p1 p2": "by channel"}
PATCHES = (4, 7, 8, 14, 16, 20, 28, 32, 56)
RANGES: Mapping[str, Mapping[str, Sequence[int]]] = {
    ENCODER: {"heads": range(1, 17), "dim": range(8, 257, 8), "depth": range(1, 13)},
    VIT: {
        "size": range(32, 513, 16),
        "patch": PATCHES,
        "heads": range(1, 17),
        "dim": range(16, 769, 16),
        "depth": range(1, 13),
    },
}
PARAMS = {
    ENCODER: (
        link.number("heads", 4, 1, 16),
        link.number("dim", 64, 8, 256, 8),
        link.number("depth", 4, 1, 12),
        link.choice("positions", "sinusoidal", POSITIONS),
        link.choice("norm", "post", NORMS),
        link.number("seed", 0, 0, 999),
    ),
    VIT: (
        link.number("size", 224, 32, 512, 16),
        link.one_of("patch", 16, PATCHES),
        link.number("heads", 6, 1, 16),
        link.number("dim", 192, 16, 768, 16),
        link.number("depth", 6, 1, 12),
        link.choice("positions", "learned", PATCH_POSITIONS),
        link.number("registers", 0, 0, 8),
        link.number("seed", 0, 0, 999),
        link.choice("order", "p1 p2 c", ORDERS),
    ),
}
SLIDER = 128  # pixels: all controls fit in one row on a small laptop


def params(model: str) -> tuple[link.Param, ...]:
    """The settings of a network built here, and what the other kind has beside them."""
    named = PARAMS.get(model, PARAMS[ENCODER])
    names = {param.name for param in named}
    every = (param for each in PARAMS.values() for param in each)
    return (*named, *(param for param in every if param.name not in names))


def of(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the config of a network built here."""
    fields = {param.name: settings[param.name] for param in PARAMS[model]}
    more = {"mlp": 4 * fields["dim"]}
    if model == ENCODER:
        return {"vocab": VOCAB, **more, **fields}
    return {"image": fields.pop("size"), **more, **fields}


def begin(model: str) -> dict[str, Any]:
    """The settings with which a network built here begins."""
    return {param.name: param.default for param in PARAMS.get(model, ())}


def check(source: Source) -> None:
    """Raises ValueError for a network built here that is not consistent, or too large."""
    if source.place == "built":
        config = config_of(source.name, dict(source.sizes))
        shared.check_memory(compute.peak_memory(compute.parts(config)))


def controls() -> None:
    """The sliders of the chosen network; each snaps to the values that are valid by the others."""
    settings = session.current(PAGE).settings
    if settings["place"] != "catalogue" or settings["model"] not in KINDS:
        return
    st.caption(UNTRAINED)
    with st.container(
        key=f"{PAGE}_sizes", horizontal=True, gap="small", vertical_alignment="bottom"
    ):
        (_encoder if settings["model"] == ENCODER else _vit)(settings)


def _encoder(settings: Mapping[str, Any]) -> None:
    ranges = RANGES[ENCODER]
    _heads_and_dim(settings, ranges, (8, 256), 8)
    _depth()
    help = "How positions are encoded; none: tokens have no order"
    select(PAGE, "positions", "Positions", {name: name for name in POSITIONS}, help, width=150)
    help = "LayerNorm after (post) or before (pre) each sub-layer"
    choice(PAGE, "norm", "Norm", {name: name for name in NORMS}, help)
    seed(PAGE, width=124)


def _vit(settings: Mapping[str, Any]) -> None:
    ranges, patch, size = RANGES[VIT], settings["patch"], settings["size"]
    help = "Input size of the network in pixels; a multiple of the patch size"
    allowed = _those(ranges["size"], lambda size: size % patch == 0)
    slider(PAGE, "size", "Image size", (32, 512), help, step=16, width=SLIDER, allowed=allowed)
    size = _nearest(allowed, size)
    help = "Side of a patch in pixels; a divisor of the image size"
    allowed = _those(PATCHES, lambda patch: size % patch == 0)
    slider(PAGE, "patch", "Patch", (4, 56), help, width=SLIDER, allowed=allowed)
    _heads_and_dim(settings, ranges, (16, 768), 16)
    _depth()
    with st.popover("More", key=f"{PAGE}_more"), st.container(horizontal=True, gap="small"):
        help = "How patch positions are encoded; none: patches have no order"
        names = {name: name for name in PATCH_POSITIONS}
        select(PAGE, "positions", "Positions", names, help, width=130)
        help = "Extra learned tokens without a position"
        slider(PAGE, "registers", "Registers", (0, 8), help, width=SLIDER)
        help = "Order of a patch's numbers in the flattened vector"
        select(PAGE, "order", "Order", ORDERS, help, width=120)
        seed(PAGE)


def _heads_and_dim(
    settings: Mapping[str, Any],
    ranges: Mapping[str, Sequence[int]],
    span: tuple[int, int],
    step: int,
) -> None:
    """Heads that do not divide the width move; the width stays."""
    help = "Number of attention heads per layer; must divide the width"
    allowed = _those(ranges["heads"], lambda heads: settings["dim"] % heads == 0)
    slider(PAGE, "heads", "Heads", (1, 16), help, width=SLIDER, allowed=allowed)
    heads = _nearest(allowed, settings["heads"])
    help = "Width of the model; each head gets dim / heads"
    allowed = _those(ranges["dim"], lambda dim: dim % heads == 0)
    slider(PAGE, "dim", "Dim", span, help, step=step, width=SLIDER, allowed=allowed)


def _nearest(allowed: Sequence[int], value: int) -> int:
    """Where a slider over the allowed values stands."""
    return min(allowed or (value,), key=lambda each: abs(each - value))


def _depth() -> None:
    help = "Number of blocks, with one attention layer each"
    slider(PAGE, "depth", "Depth", (1, 12), help, width=SLIDER)


def _those(values: Iterable[int], is_valid: Callable[[int], bool]) -> list[int]:
    """The valid values; empty if every step of the slider is valid."""
    valid = [value for value in values if is_valid(value)]
    return [] if isinstance(values, range) and len(valid) == len(values) else valid
