"""Preprocessing of the picture: what the checkpoint states, and changes."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from models.request import Items, Picture, Source
from viz.api.pictures import data_url
from viz.pages.explore import compute
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, pictures

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.model import Model
    from models.preprocessing import Preprocessing

MOST = 2048  # pixels a side that can be chosen here
TALL, WIDEST, ENLARGED = 40, 120, 640  # pixels of the picture that the network reads
MODES = {"crop": "Crop", "pad": "Pad", "stretch": "Stretch", "none": "As it is"}
CHANNELS = "red, green, blue"
SCALABLE = ("dinov2", "dinov2_with_registers")  # model types that interpolate their positions
LOWEST, HIGHEST = 224, 1036  # pixels a side of their pictures
PARAMS = (
    link.number("pixels", 0, 0, HIGHEST),
    link.number("rows_px", 0, 0, MOST),
    link.number("cols_px", 0, 0, MOST),
    link.choice("resize", "", ("", *MODES)),
    link.text("mean", ""),
    link.text("std", ""),
)


def choose(source: Source, model: "Model") -> None:
    """The settings, folded; nothing for a model whose processor alone decides."""
    stated, now = model.preprocessing, (source.place, source.name)
    before = st.session_state.get(f"{PAGE}/preprocessing")
    st.session_state[f"{PAGE}/preprocessing"] = now
    if before not in (None, now) and is_changed():
        session.edit(PAGE, {param.name: param.default for param in PARAMS})
    if stated is None or stated.size is None:
        return
    label = "Preprocessing (changed)" if is_changed() else "Preprocessing"
    if not (stated.stated or is_changed()):
        label = "Preprocessing (assumed)"
    with st.popover(label, key=f"{PAGE}_preprocessing"):
        _resolution(model)
        _settings(model, stated)
    _preview(model)


def _resolution(model: "Model") -> None:
    """The side of the picture, for a model that reads pictures of any size."""
    if patch := _patch(model):
        help = "Side of the picture that the model reads; the cost grows with its fourth power"
        span = LOWEST - LOWEST % patch, HIGHEST - HIGHEST % patch
        controls.slider(PAGE, "pixels", "Pixels a side", span, help, step=patch, width=276)


def _patch(model: "Model") -> int:
    """Side of a patch of a model that reads pictures of any size; 0 for any other model."""
    config = model.network.config
    return config.patch_size if getattr(config, "model_type", "") in SCALABLE else 0


def _preview(model: "Model") -> None:
    """What the network gets, as high as the controls beside it; Streamlit's button enlarges it."""
    try:
        image = _seen_by(model, changes(model))
    except ValueError:  # reported where the picture is read
        return
    if image is None:  # its processor makes no picture of it
        return
    wide = min(max(TALL * image.width // image.height, 8), WIDEST)
    with st.container(
        key=f"{PAGE}_reads", horizontal=True, vertical_alignment="center", width="content"
    ):
        st.caption(f"Prepared, {image.width} × {image.height}:", width="content")
        st.image(data_url(image, ENLARGED), width=wide)


def _seen_by(model: "Model", changes: Items) -> "Image | None":
    """The page's picture as the model sees it; None if it cannot be read, or is cut into parts."""
    try:
        return compute.seen(Picture(pictures.current(PAGE), changes), model).image
    except ValueError:  # reported where the picture is read
        return None


def _size(model: "Model", stated: "Preprocessing") -> tuple[int, int]:
    """Rows and columns of the page's picture as the checkpoint's own processor makes it."""
    image = _seen_by(model, ())
    return stated.size or (0, 0) if image is None else (image.height, image.width)


def assumed(model: "Model") -> tuple[str, ...]:
    """What the preprocessing of a checkpoint that states none is; a note on every picture."""
    preprocessing = model.preprocessing
    return () if preprocessing is None or preprocessing.stated else preprocessing.notes


def is_changed() -> bool:
    """Whether anything differs from what the checkpoint states."""
    settings = session.current(PAGE).settings
    return any(settings[param.name] != param.default for param in PARAMS)


def changes(model: "Model") -> Items:
    """What is changed, as arguments of `models.preprocessing.changed`.

    Raises:
        ValueError: for numbers that cannot be read.
    """
    stated, settings = model.preprocessing, session.current(PAGE).settings
    if stated is None:
        return ()
    changes: dict[str, Any] = {}
    rows, cols = int(settings["rows_px"]), int(settings["cols_px"])
    if _patch(model) and settings["pixels"]:
        rows, cols = rows or settings["pixels"], cols or settings["pixels"]
    if stated.size is not None and (rows or cols or settings["resize"]):
        high, wide = _size(model, stated)
        changes["size"] = rows or high, cols or wide
    if settings["resize"]:
        changes["resize"] = settings["resize"]
    for name in ("mean", "std"):
        if settings[name].strip():
            changes[name] = _numbers(name, settings[name])
    return tuple(changes.items())


def _settings(model: "Model", stated: "Preprocessing") -> None:
    rows, cols = _size(model, stated)
    by = "the checkpoint states" if stated.stated else "is assumed"
    st.caption(f"Leave a box empty for what {by} (grey).")
    with st.container(horizontal=True, gap="small"):
        help = "Height in pixels; many models accept only one size"
        controls.number(PAGE, "rows_px", "Rows", (0, MOST), help, auto=str(rows))
        help = "Width in pixels"
        controls.number(PAGE, "cols_px", "Columns", (0, MOST), help, auto=str(cols))
    mode = MODES[stated.resize]
    help = "How a picture with another aspect ratio is fitted"
    titles = {"": f"As {'stated' if stated.stated else 'assumed'}: {mode.lower()}", **MODES}
    controls.select(PAGE, "resize", "Resize", titles, help, width=276)
    for name, label, values in (("mean", "Mean", stated.mean), ("std", "Std", stated.std)):
        current = " ".join(f"{value:g}" for value in values)
        help = f"Of {CHANNELS}, for levels scaled to 0 to 1"
        controls.text_input(
            PAGE, name, f"{label} ({CHANNELS})", help, placeholder=current, width=276
        )
    controls.button("Reset to the checkpoint’s own", f"{PAGE}_preprocessing_reset", _reset)


def _reset() -> None:
    session.assign(PAGE, {param.name: param.default for param in PARAMS})


def _numbers(name: str, text: str) -> tuple[float, ...]:
    """Three numbers of a text box."""
    try:
        red, green, blue = (float(part) for part in text.replace(",", " ").split())
    except ValueError:
        raise ValueError(f"{name}: expected three numbers such as 0.5 0.5 0.5") from None
    return red, green, blue
