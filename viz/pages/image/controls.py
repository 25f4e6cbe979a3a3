"""Controls of the Image page: the list of networks, and the sizes of one built here."""

from collections.abc import Callable, Iterable

import streamlit as st

from viz.pages import picture
from viz.pages.image import cost, network
from viz.pages.image.network import ViTChoice
from viz.pages.shared import BUILT
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import pictures
from viz.pages.widgets.controls import choice, seed, select, slider

SIZES, PATCHES, DIMS = cost.RANGES["size"], cost.RANGES["patch"], cost.RANGES["dim"]
POSITIONS = ("learned", "sinusoidal", "sincos2d", "none")
ORDERS = {"p1 p2 c": "by pixel", "c p1 p2": "by channel"}
FITS = {"crop": "Crop", "pad": "Pad", "stretch": "Stretch"}
FIELDS = ("size", "patch", "heads", "dim", "depth", "positions", "registers", "seed", "order")
PARAMS = (
    link.choice("fit", "crop", FITS),
    link.number("size", 224, 32, 512, 16),
    link.one_of("patch", 16, PATCHES),
    link.number("heads", 6, 1, 16),
    link.number("dim", 192, 16, 768, 16),
    link.number("depth", 6, 1, 12),
    link.choice("positions", "learned", POSITIONS),
    link.number("registers", 0, 0, 8),
    link.number("seed", 0, 0, 999),
    link.choice("order", "p1 p2 c", ORDERS),
)
SLIDER = 120  # pixels: all controls fit in one row on a small laptop


def model(page: str, on_change: Callable[[], None]) -> str:
    """The choice of a network."""
    return select(
        page,
        "model",
        "Network",
        network.TITLES,
        "Small vision transformers trained for this app, each on one task; or build one here and"
        " change its sizes: its weights are random, so the pictures show architecture, not"
        " learning.",
        width=210,
        on_change=on_change,
    )


def chosen(page: str) -> ViTChoice:
    """The selected network, with the sizes of one built here."""
    return choice_of(page, session.get(page, "model"))


def choice_of(page: str, model: str) -> ViTChoice:
    """A network of the list, with the page's sizes if it is built here."""
    settings = session.current(page).settings
    if model != BUILT:
        return network.trained(model)
    return ViTChoice(**{name: settings[name] for name in FIELDS})


def sizes(page: str) -> None:
    """The sizes of a network built here; less common ones are in an expander.

    Each slider snaps to the values that are valid given the others.
    """
    if session.get(page, "model") != BUILT:
        return
    now = chosen(page)
    with st.container(
        key=f"{page}_controls", horizontal=True, gap="small", vertical_alignment="bottom"
    ):
        help = "Input size of the network in pixels; a multiple of the patch size"
        works = _those(SIZES, lambda size: size % now.patch == 0)
        slider(page, "size", "Image size", (32, 512), help, step=16, width=SLIDER, allowed=works)
        help = "Side of a patch in pixels; a divisor of the image size"
        works = _those(PATCHES, lambda patch: now.size % patch == 0)
        slider(page, "patch", "Patch", (4, 56), help, width=SLIDER, allowed=works)
        help = "Number of attention heads per layer; must divide the width"
        works = _those(range(1, 17), lambda heads: now.dim % heads == 0)
        slider(page, "heads", "Heads", (1, 16), help, width=SLIDER, allowed=works)
        help = "Width of the model; each head gets dim / heads"
        works = _those(DIMS, lambda dim: dim % now.heads == 0)
        slider(page, "dim", "Dim", (16, 768), help, step=16, width=SLIDER, allowed=works)
        help = "Number of blocks, with one attention layer each"
        slider(page, "depth", "Depth", (1, 12), help, width=SLIDER)
        with st.popover("More", key=f"{page}_more"):
            _more(page)


def fit(page: str) -> None:
    """How a picture that is not square becomes square; nothing for a square one.

    Raises:
        ValueError: for a picture that cannot be read.
    """
    data, digest = pictures.current(page)
    wide, high = picture.opened_image(digest, data).image.size
    if wide != high:
        help = "The network takes square pictures: crop the sides, add grey bars, or stretch"
        choice(page, "fit", f"Make {wide} × {high} square", FITS, help)


def _more(page: str) -> None:
    with st.container(horizontal=True, gap="small"):
        help = "How patch positions are encoded; none: patches have no order"
        names = {name: name for name in POSITIONS}
        select(page, "positions", "Positions", names, help, width=130)
        help = "Extra learned tokens without a position"
        slider(page, "registers", "Registers", (0, 8), help, width=SLIDER)
        help = "Order of a patch's numbers in the flattened vector"
        select(page, "order", "Order", ORDERS, help, width=120)
        seed(page)


def _those(values: Iterable[int], work: Callable[[int], bool]) -> list[int]:
    """The valid values; empty if every step of the slider is valid."""
    found = [value for value in values if work(value)]
    return [] if isinstance(values, range) and len(found) == len(values) else found
