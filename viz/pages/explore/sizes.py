"""Networks built here, of random weights: their sizes, and the sliders for them."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from models.presets import config_of
from models.request import Source
from viz.pages import compute, shared
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets.controls import seed, select, slider

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
SIZES: Mapping[str, Mapping[str, tuple[Any, Sequence[Any]]]] = {  # default and values of each field
    ENCODER: {
        "heads": (4, range(1, 17)),
        "dim": (64, range(8, 257, 8)),
        "depth": (4, range(1, 13)),
        "positions": (
            "sinusoidal",
            ("sinusoidal", "learned", "rotary", "alibi", "relative", "none"),
        ),
        "norm": ("post", ("post", "pre")),
        "seed": (0, range(1000)),
    },
    VIT: {
        "size": (224, range(32, 513, 16)),
        "patch": (16, (4, 7, 8, 14, 16, 20, 28, 32, 56)),
        "heads": (6, range(1, 17)),
        "dim": (192, range(16, 769, 16)),
        "depth": (6, range(1, 13)),
        "positions": ("learned", ("learned", "sinusoidal", "sincos2d", "none")),
        "registers": (0, range(9)),
        "order": ("p1 p2 c", ("p1 p2 c", "c p1 p2")),
        "seed": (0, range(1000)),
    },
}
LABELS = {  # and what each is
    "size": ("Image size", "Input size of the network in pixels; a multiple of the patch size"),
    "patch": ("Patch", "Side of a patch in pixels; a divisor of the image size"),
    "heads": ("Heads", "Number of attention heads per layer; must divide the width"),
    "dim": ("Dim", "Width of the model; each head gets dim / heads"),
    "depth": ("Depth", "Number of blocks, with one attention layer each"),
    "positions": ("Positions", "How positions are encoded; none: tokens have no order"),
    "norm": ("Norm", "LayerNorm after (post) or before (pre) each sub-layer"),
    "registers": ("Registers", "Extra learned tokens without a position"),
    "order": ("Order", "Order of a patch's numbers: by pixel, or by channel (c first)"),
    "seed": ("Seed", "Seed of the random weights"),
}
FITS = {  # numbers that must divide others
    **dict.fromkeys(("size", "patch"), lambda now: now["size"] % now["patch"] == 0),
    **dict.fromkeys(("heads", "dim"), lambda now: now["dim"] % now["heads"] == 0),
}


def params(model: str) -> tuple[link.Param, ...]:
    """The settings of a network built here, and what the other kind has beside them."""
    fields = {**SIZES[VIT], **SIZES[ENCODER], **SIZES.get(model, {})}
    return tuple(_param(name, *field) for name, field in fields.items())


def _param(name: str, default: Any, values: Sequence[Any]) -> link.Param:
    if isinstance(values, range):
        return link.number(name, default, values[0], values[-1], values.step)
    if isinstance(default, int):
        return link.one_of(name, default, values)
    return link.choice(name, default, values)


def of(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the config of a network built here."""
    fields = {name: settings[name] for name in SIZES[model]}
    more = {"mlp": 4 * fields["dim"]}
    if model == ENCODER:
        return {"vocab": VOCAB, **more, **fields}
    return {"image": fields.pop("size"), **more, **fields}


def begin(model: str) -> dict[str, Any]:
    """The settings with which a network built here begins."""
    return {name: default for name, (default, _) in SIZES.get(model, {}).items()}


def check(source: Source) -> None:
    """Raises ValueError for a network built here that is not consistent, or too large."""
    if source.place == "built":
        config = config_of(source.name, dict(source.sizes))
        shared.check_memory(compute.peak_memory(config))


def controls() -> None:
    """The controls of the chosen network: a number that does not fit the others moves, as heads
    that do not divide the width; what stands before it stays."""
    settings = session.current(PAGE).settings
    if settings["place"] != "catalogue" or settings["model"] not in KINDS:
        return
    st.caption(UNTRAINED)
    now = dict(settings)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for name, (default, values) in SIZES[settings["model"]].items():
            label, help = LABELS[name]
            if name == "seed":
                seed(PAGE, width=124)
            elif isinstance(default, str):
                select(PAGE, name, label, {each: each for each in values}, help, width=150)
            else:
                valid = [each for each in values if _fits(name, each, now)]
                steps = values.step if isinstance(values, range) else 1
                free = isinstance(values, range) and len(valid) == len(values)
                span, allowed = (values[0], values[-1]), () if free else valid
                slider(PAGE, name, label, span, help, step=steps, width=128, allowed=allowed)
                now[name] = min(valid or (now[name],), key=lambda each: abs(each - now[name]))


def _fits(name: str, value: int, now: Mapping[str, Any]) -> bool:
    return name not in FITS or FITS[name]({**now, name: value})
