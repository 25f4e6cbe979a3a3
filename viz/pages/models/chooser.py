"""The model of the Models page: where it comes from, its precision and its implementation."""

from collections.abc import Callable, Mapping

import streamlit as st

from models.catalogue import catalogue, entry, is_here
from viz.pages import shared
from viz.pages.models import download, shelves, source
from viz.pages.models.source import NAMES, PAGE, Open, Source
from viz.pages.shared import plain
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

TITLES = {entry.name: entry.title for entry in catalogue()}
SHELVES = {"catalogue": "With the app", "hub": "Hugging Face Hub", "folder": "A folder"}
CLOSED = "no"  # the chooser
DOORS = {"auto": "Automatic", "own": "Headscope", "transformers": "transformers"}
HINTS = {
    "hub": "Type the hub id of a model, such as owner/name, or select a downloaded one.",
    "folder": "Type the path of a folder that holds config.json and weights, or select one.",
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


def shelf(query: Mapping[str, str]) -> link.Param:
    """Which shelf of the chooser is open; by default one where nothing is chosen yet.

    Args:
        query: the settings in a link.
    """
    place = link.value(PLACE, query)
    chosen = bool(query) and (place == "catalogue" or bool(query.get(NAMES[place])))
    return link.choice("chooser", CLOSED if chosen else place, (CLOSED, *SHELVES))


def choose(on_change: Callable[[], None]) -> Source:
    """The bar and, while it is open, the chooser; returns the source that is chosen.

    Args:
        on_change: called after another catalogue model was selected.
    """
    if asked := shelves.taken():
        _open(*asked, on_change)
    if session.get(PAGE, "place") not in source.places():
        session.edit(PAGE, {"place": "catalogue"})
        shared.error_line(source.CLOSED)
    if session.get(PAGE, "chooser") not in (CLOSED, *source.places()):
        session.edit(PAGE, {"chooser": "catalogue"})
    with st.container(key=f"{PAGE}_top", horizontal=True, vertical_alignment="center"):
        st.markdown("#### What does your model look at?", width="content")
        st.space("stretch")
        opened = session.get(PAGE, "chooser")
        label = "Choose a model" if opened == CLOSED else "Close the list"
        controls.button(label, f"{PAGE}_choose", _toggle)
        with st.popover("Options", key=f"{PAGE}_options"):
            _options()
    if opened != CLOSED:
        with st.container(key=f"{PAGE}_chooser", border=True):
            _shelf(opened)
    settings = session.current(PAGE).settings
    place = settings["place"]
    return Source(
        place,
        settings[NAMES[place]].strip(),
        settings["dtype"],
        shared.device(),
        settings["door"],
    )


def _shelf(opened: str) -> None:
    """One shelf, and the choice among them."""
    if len(source.places()) > 1:
        help = "Where a model comes from"
        controls.choice(PAGE, "chooser", "Models from", SHELVES, help, collapsed=True)
    if opened == "hub":
        shelves.hub_shelf(_typed)
    elif opened == "folder":
        shelves.folder_shelf(_typed)
    else:
        shelves.catalogue_shelf()


def _open(place: str, name: str, on_change: Callable[[], None]) -> None:
    """Chooses a model and closes the chooser; what this server does not have stays unchosen."""
    if place in source.places() and (place != "catalogue" or name in TITLES):
        session.assign(PAGE, {"place": place, NAMES[place]: name, "chooser": CLOSED})
        if place == "catalogue":
            on_change()


def _typed(place: str) -> None:
    """Called after a name was typed: the model of that name is chosen."""
    session.fold(PAGE)
    shown = place if not session.get(PAGE, NAMES[place]).strip() else CLOSED
    session.assign(PAGE, {"place": place, "chooser": shown})


def _toggle() -> None:
    """Opens the chooser at the shelf of the open model, or closes it."""
    session.fold(PAGE)
    now, place = session.get(PAGE, "chooser"), session.get(PAGE, "place")
    session.assign(PAGE, {"chooser": place if now == CLOSED else CLOSED})


def first_that_opens(wanted: Source) -> Open | None:
    """The requested model if it opens; else the previously open one, and a line with the reason."""
    state, key = st.session_state, f"{PAGE}/open"
    try:
        if not wanted.name:
            st.caption(HINTS[wanted.place])
        elif not (_is_missing(wanted) or _is_parent(wanted)):
            with st.spinner("Opening the model …"):
                state[key] = source.opened(wanted)
            if wanted.place == "folder":
                shelves.remember(wanted.name)
            return state[key]
    except ValueError as error:
        shared.error_line(error)
    before = state.get(key)
    if before is not None and before.source.place in source.places():
        st.caption(f"Still open: {_name(before.source)}.")
        return before
    return None


def _is_missing(wanted: Source) -> bool:
    """Whether it is a model that is not downloaded yet; offers the download."""
    if wanted.place == "catalogue" and not source.public():
        known = entry(wanted.name)
        missing = bool(known.download) and not is_here(known)
        if missing:
            download.offer_entry(wanted.name)
        return missing
    if wanted.place != "hub" or source.public():
        return False
    from models.files import hub

    if not hub.HUB_ID.fullmatch(wanted.name) or hub.cached_folder(wanted.name) is not None:
        return False
    download.offer(wanted.name)
    return True


def _is_parent(wanted: Source) -> bool:
    """Whether it is a folder of checkpoints; lists them."""
    return wanted.place == "folder" and not source.public() and shelves.checkpoints(wanted.name)


def _options() -> None:
    help = "Half precision halves the memory; attention weights are computed in float32 anyway"
    names = {name: name for name in source.DTYPES}
    controls.choice(PAGE, "dtype", "Precision", names, help)
    help = (
        "Headscope: this project’s networks, with converted weights (BERT, ViT); transformers:"
        " the library’s code, through its attention interface. Automatic: Headscope, unless the"
        " checkpoint has a head that Headscope’s network has no place for"
    )
    controls.choice(PAGE, "door", "Implementation", DOORS, help)


def _name(found: Source) -> str:
    """A short name of the source."""
    return plain(TITLES[found.name] if found.place == "catalogue" else found.name)
