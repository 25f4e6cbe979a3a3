"""The model selection of the Models page: source, dtype and implementation."""

from collections.abc import Callable

import streamlit as st

from models.catalogue import catalogue
from viz.architecture import short
from viz.pages import shared
from viz.pages.models import download, source
from viz.pages.models.source import PAGE, Open, Source
from viz.pages.shared import plain
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

TITLES = {entry.name: entry.title for entry in catalogue()}
PLACES = {"catalogue": "Included", "hub": "From the hub", "folder": "A folder"}
DOORS = {"auto": "Automatic", "own": "Headscope", "transformers": "transformers"}
NAMES = {"catalogue": "model", "hub": "id", "folder": "folder"}  # the setting that names a model
HINTS = {
    "hub": "Type the hub id of a model, such as owner/name, or select a downloaded one.",
    "folder": "Type the path of a folder that holds config.json and weights.",
}
MODEL = link.choice("model", "minilm", TITLES)
PLACE = link.choice("place", "catalogue", source.PLACES)
PARAMS = (
    PLACE,
    MODEL,
    link.text("id", ""),
    link.text("folder", ""),
    link.choice("dtype", "float32", source.DTYPES),
    link.choice("door", "auto", source.DOORS),
)


def choose(on_change: Callable[[], None]) -> Source:
    """The controls, and the source they name.

    Args:
        on_change: called after another catalogue model was selected.
    """
    if session.get(PAGE, "place") not in source.places():
        session.edit(PAGE, {"place": "catalogue"})
        shared.error_line(source.CLOSED)
    with st.container(
        key=f"{PAGE}_chooser", horizontal=True, gap="medium", vertical_alignment="bottom"
    ):
        if len(source.places()) > 1:
            controls.choice(PAGE, "place", "Model", PLACES, "Where its files come from")
        place = session.get(PAGE, "place")
        if place == "catalogue":
            help = "The models that come with the app"
            controls.select(PAGE, "model", "Name", TITLES, help, width=260, on_change=on_change)
        elif place == "hub":
            _hub()
        else:
            label = "Path, on the machine this app runs on"
            hint = "a folder with config.json and .safetensors"
            controls.text_input(PAGE, "folder", label, placeholder=hint)
        with st.popover("Options", key=f"{PAGE}_options"):
            _options()
    settings = session.current(PAGE).settings
    name = settings[NAMES[place]].strip()
    return Source(place, name, settings["dtype"], shared.device(), settings["door"])


def first_that_opens(wanted: Source) -> Open | None:
    """The requested model if it opens; else the previously open one, and a line with the reason."""
    state, key = st.session_state, f"{PAGE}/open"
    try:
        if not wanted.name:
            st.caption(HINTS[wanted.place])
        elif not _is_missing(wanted):
            with st.spinner("Opening the model …"):
                state[key] = source.opened(wanted)
            return state[key]
    except ValueError as error:
        shared.error_line(error)
    before = state.get(key)
    if before is not None and before.source.place in source.places():
        st.caption(f"Still open: {_name(before.source)}.")
        return before
    return None


def _is_missing(wanted: Source) -> bool:
    """Whether it is a hub model that is not downloaded yet; offers the download."""
    if wanted.place != "hub" or source.public():
        return False
    from models.files import hub

    if not hub.HUB_ID.fullmatch(wanted.name) or hub.cached_folder(wanted.name) is not None:
        return False
    download.offer(wanted.name)
    return True


def _hub() -> None:
    help = "A model is downloaded once, after showing its size; then it opens offline."
    controls.text_input(PAGE, "id", "Hub id", help, placeholder="owner/name", width=280)
    found = {model.name: model.size for model in _cached()}
    if found:
        st.selectbox(
            "On this machine",
            options=list(found),
            index=None,
            format_func=lambda name: f"{name} · {short(found[name], 'memory')}",
            key=f"{PAGE}_cached",
            on_change=_take_cached,
            placeholder="Downloaded models",
            width=300,
        )


def _take_cached() -> None:
    if chosen := st.session_state[f"{PAGE}_cached"]:
        session.assign(PAGE, {"id": chosen})


def _cached() -> tuple:
    if source.public():
        return ()
    from models.files import hub

    return tuple(model for model in hub.cached_models() if model.complete)


def _options() -> None:
    help = "Half precision halves the memory; attention weights are computed in float32 anyway"
    names = {name: name for name in source.DTYPES}
    controls.choice(PAGE, "dtype", "Precision", names, help)
    help = (
        "Headscope: this project’s networks, with converted weights (BERT, ViT); transformers:"
        " the library’s code, through its attention interface"
    )
    controls.choice(PAGE, "door", "Implementation", DOORS, help)


def _name(found: Source) -> str:
    """A short name of the source."""
    return plain(TITLES[found.name] if found.place == "catalogue" else found.name)
