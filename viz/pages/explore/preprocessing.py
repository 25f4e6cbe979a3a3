"""Preprocessing of the picture: how large it is read, and what is assumed of it."""

from typing import TYPE_CHECKING

import streamlit as st

from models.request import Items, Source
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.model import Model

SCALABLE = ("dinov2", "dinov2_with_registers")  # model types that interpolate their positions
LOWEST, HIGHEST = 224, 1036  # pixels a side of their pictures
PARAMS = (link.number("pixels", 0, 0, HIGHEST),)


def settle(source: Source) -> None:
    """Takes changes back when another model is there."""
    now = source.place, source.name
    before = st.session_state.get(f"{PAGE}/preprocessing")
    st.session_state[f"{PAGE}/preprocessing"] = now
    if before not in (None, now) and is_changed():
        session.edit(PAGE, {param.name: param.default for param in PARAMS})


def choose(model: "Model") -> None:
    """Draws the size of pictures, for a model that reads any."""
    if patch := _patch(model):
        help = "Side of the picture that the model reads; the cost grows with its fourth power"
        span = LOWEST - LOWEST % patch, HIGHEST - HIGHEST % patch
        controls.slider(PAGE, "pixels", "Pixels a side", span, help, step=patch, width=276)


def _patch(model: "Model") -> int:
    """Side of a patch of a model that reads pictures of any size; 0 for any other model."""
    stated, config = model.preprocessing, model.network.config
    scales = stated is not None and stated.size and getattr(config, "model_type", "") in SCALABLE
    return config.patch_size if scales else 0


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
    side = session.current(PAGE).settings["pixels"] if _patch(model) else 0
    return (("size", side),) if side else ()
