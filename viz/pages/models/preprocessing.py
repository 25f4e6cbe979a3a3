"""Preprocessing of the picture on the Models page: what the checkpoint states, and changes."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages import picture, shared
from viz.pages.models.source import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, pictures

if TYPE_CHECKING:
    from models.model import Model
    from models.preprocessing import Preprocessing

MOST = 2048  # pixels a side that can be chosen here
TALL, WIDEST, ENLARGED = 40, 120, 640  # pixels of the picture that the network reads
MODES = {"crop": "Crop", "pad": "Pad", "stretch": "Stretch", "none": "As it is"}
CHANNELS = "red, green, blue"
PARAMS = (
    link.number("rows_px", 0, 0, MOST),
    link.number("cols_px", 0, 0, MOST),
    link.choice("resize", "", ("", *MODES)),
    link.text("mean", ""),
    link.text("std", ""),
)


def choose(model: "Model") -> None:
    """The settings, folded; nothing for a model whose processor alone decides."""
    stated = model.preprocessing
    before = st.session_state.get(f"{PAGE}/preprocessing")
    st.session_state[f"{PAGE}/preprocessing"] = model.name
    if before not in (None, model.name) and is_changed():
        session.edit(PAGE, {param.name: param.default for param in PARAMS})
    if stated is None or stated.size is None:
        return
    label = "Preprocessing (changed)" if is_changed() else "Preprocessing"
    if not (stated.stated or is_changed()):
        label = "Preprocessing (assumed)"
        line = ". ".join(assumed(model))
        shared.notice(f"{line[0].upper()}{line[1:]}.")
    with st.popover(label, key=f"{PAGE}_preprocessing"):
        _settings(stated)
    _preview(model)


def _preview(model: "Model") -> None:
    """What the network reads, as high as the controls beside it; Streamlit's button enlarges it."""
    try:
        data, digest = pictures.current(PAGE)
        image = picture.prepared(digest, chosen(model)[0], data).image
    except ValueError:  # reported where the picture is read
        return
    if image is None:  # its processor makes no picture of it
        return
    wide = min(max(TALL * image.width // image.height, 8), WIDEST)
    with st.container(
        key=f"{PAGE}_reads", horizontal=True, vertical_alignment="center", width="content"
    ):
        st.caption(f"It reads {image.height} × {image.width}:", width="content")
        st.image(picture.data_url(image, ENLARGED), width=wide)


def _seen(stated: "Preprocessing") -> tuple[int, int]:
    """Rows and columns of the page's picture as the checkpoint's own processor makes it."""
    try:
        data, digest = pictures.current(PAGE)
        image = picture.prepared(digest, stated, data).image
    except ValueError:  # reported where the picture is read
        image = None
    return stated.size or (0, 0) if image is None else (image.height, image.width)


def assumed(model: "Model") -> tuple[str, ...]:
    """What the preprocessing of a checkpoint that states none is; told once, above the picture."""
    own = model.preprocessing
    return () if own is None or own.stated else own.notes


def is_changed() -> bool:
    """Whether anything differs from what the checkpoint states."""
    settings = session.current(PAGE).settings
    return any(settings[param.name] != param.default for param in PARAMS)


def chosen(model: "Model") -> "tuple[Preprocessing, dict[str, Any]]":
    """The preprocessing, and what is changed, as arguments of `models.preprocessing.changed`.

    Raises:
        ValueError: for a model that states none, or for changes that no image can be prepared with.
    """
    from models.preprocessing import changed

    stated = model.preprocessing
    if stated is None:
        raise ValueError(f"{model.name} does not state its image size: use a notebook")
    settings = session.current(PAGE).settings
    changes: dict[str, Any] = {}
    rows, cols = int(settings["rows_px"]), int(settings["cols_px"])
    if stated.size is not None and (rows or cols or settings["resize"]):
        high, wide = _seen(stated)
        changes["size"] = rows or high, cols or wide
    if settings["resize"]:
        changes["resize"] = settings["resize"]
    for name in ("mean", "std"):
        if settings[name].strip():
            changes[name] = _numbers(name, settings[name])
    return changed(stated, **changes), changes


def _settings(stated: "Preprocessing") -> None:
    from models.preprocessing import mode_of

    rows, cols = _seen(stated)
    by = "the checkpoint states" if stated.stated else "is assumed"
    st.caption(f"An empty box is what {by}, which stands in it in grey.")
    with st.container(horizontal=True, gap="small"):
        help = "Height in pixels; many models accept only one size"
        controls.number(PAGE, "rows_px", "Rows", (0, MOST), help, auto=str(rows))
        help = "Width in pixels"
        controls.number(PAGE, "cols_px", "Columns", (0, MOST), help, auto=str(cols))
    own = MODES[mode_of(stated)]
    help = "How a picture with another aspect ratio is fitted"
    titles = {"": f"As {'stated' if stated.stated else 'assumed'}: {own.lower()}", **MODES}
    controls.select(PAGE, "resize", "Resize", titles, help, width=276)
    for name, label, values in (("mean", "Mean", stated.mean), ("std", "Std", stated.std)):
        shown = " ".join(f"{value:g}" for value in values)
        help = f"Of {CHANNELS}, for levels scaled to 0 to 1"
        controls.text_input(PAGE, name, f"{label} ({CHANNELS})", help, placeholder=shown, width=276)
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
