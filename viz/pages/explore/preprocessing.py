"""Preprocessing of the picture: what the checkpoint states, how large it is read, how it fits."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from models.request import Items, Picture, Source
from viz.pages import compute
from viz.pages.explore import pictures
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.model import Model

MODES = {"crop": "Crop", "pad": "Pad", "stretch": "Stretch", "none": "As it is"}
SCALABLE = ("dinov2", "dinov2_with_registers")  # model types that interpolate their positions
LOWEST, HIGHEST = 224, 1036  # pixels a side of their pictures
PARAMS = (link.number("pixels", 0, 0, HIGHEST), link.choice("resize", "", ("", *MODES)))


def settle(source: Source) -> None:
    """Takes changes back when another model is there."""
    now = source.place, source.name
    before = st.session_state.get(f"{PAGE}/preprocessing")
    st.session_state[f"{PAGE}/preprocessing"] = now
    if before not in (None, now) and is_changed():
        session.edit(PAGE, {param.name: param.default for param in PARAMS})


def choose(model: "Model") -> None:
    """Draws the settings; nothing for a model whose processor alone decides."""
    stated = model.preprocessing
    if stated is None or stated.size is None:
        return
    if patch := _patch(model):
        help = "Side of the picture that the model reads; the cost grows with its fourth power"
        span = LOWEST - LOWEST % patch, HIGHEST - HIGHEST % patch
        controls.slider(PAGE, "pixels", "Pixels a side", span, help, step=patch, width=276)
    help = "How a picture with another aspect ratio is fitted"
    usual = f"As {'stated' if stated.stated else 'assumed'}: {MODES[stated.resize].lower()}"
    controls.select(PAGE, "resize", "Resize", {"": usual, **MODES}, help, width=276)


def _patch(model: "Model") -> int:
    """Side of a patch of a model that reads pictures of any size; 0 for any other model."""
    config = model.network.config
    return config.patch_size if getattr(config, "model_type", "") in SCALABLE else 0


def _seen_by(model: "Model", changes: Items) -> "Image | None":
    """The page's picture as the model sees it; None if it cannot be read, or is cut into parts."""
    try:
        return compute.seen(Picture(pictures.current(), changes), model).image
    except ValueError:  # reported where the picture is read
        return None


def assumed(model: "Model") -> tuple[str, ...]:
    """What the preprocessing of a checkpoint that states none is; a note on every picture."""
    preprocessing = model.preprocessing
    return () if preprocessing is None or preprocessing.stated else preprocessing.notes


def is_changed() -> bool:
    """Whether anything differs from what the checkpoint states."""
    settings = session.current(PAGE).settings
    return any(settings[param.name] != param.default for param in PARAMS)


def changes(model: "Model") -> Items:
    """What is changed, as arguments of `models.preprocessing.changed`."""
    stated, settings = model.preprocessing, session.current(PAGE).settings
    if stated is None:
        return ()
    changes: dict[str, Any] = {}
    side, resize = settings["pixels"] if _patch(model) else 0, settings["resize"]
    if stated.size is not None and (side or resize):
        image = None if side else _seen_by(model, ())
        size = stated.size if image is None else (image.height, image.width)
        changes["size"] = (side, side) if side else size
    if resize:
        changes["resize"] = resize
    return tuple(changes.items())
