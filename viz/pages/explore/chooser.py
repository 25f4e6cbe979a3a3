"""The choice of the model and of where it comes from."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext

import streamlit as st

from models.catalogue import entry, is_here
from models.request import Source
from viz.api import tracing
from viz.pages import shared
from viz.pages.explore import compute, download, shelves, source
from viz.pages.explore.names import PAGE
from viz.pages.explore.source import NAMES, TITLES
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

SHELVES = {"catalogue": "With the app", "hub": "Hugging Face Hub", "folder": "A folder"}
CLOSED = "no"  # the chooser
HINTS = {
    "hub": "Type the hub id of a model, such as owner/name, or select a downloaded one.",
    "folder": "Type the path of a folder that holds config.json and weights, or select one.",
}
OPEN = f"{PAGE}/open"  # the source that was opened last


def shelf(query: Mapping[str, str]) -> link.Param:
    """Which shelf of the chooser is open; by default one where nothing is chosen yet.

    Args:
        query: the settings in a link.
    """
    place = link.value(source.PLACE, query)
    chosen = place == "catalogue" or bool(query.get(NAMES[place]))
    return link.choice("chooser", CLOSED if chosen else place, (CLOSED, *SHELVES))


def settle(on_change: Callable[[], None]) -> None:
    """Takes a choice from the lists, and leaves what this server does not open.

    Args:
        on_change: called after another model of the list was chosen.
    """
    if asked := shelves.taken():
        _open(*asked, on_change)
    if session.get(PAGE, "place") not in source.places():
        session.edit(PAGE, {"place": "catalogue"})
        shared.error_line(tracing.CLOSED)
    if session.get(PAGE, "chooser") not in (CLOSED, *source.places()):
        session.edit(PAGE, {"chooser": "catalogue"})


def button() -> None:
    """The model that is chosen, which opens the list."""
    opened = session.get(PAGE, "chooser")
    label = source.title(source.chosen()) or "Choose a model"
    label = f"{shared.plain(label)} :material/expand_more:"
    label = label if opened == CLOSED else "Close the list"
    help = "Choose another model: with the app, from the hub, a folder, or build one"
    controls.button(label, f"{PAGE}_choose", _toggle, help=help)


def lists() -> None:
    """The lists of models, while they are open."""
    opened = session.get(PAGE, "chooser")
    if opened != CLOSED:
        with st.container(key=f"{PAGE}_chooser", border=True):
            _shelf(opened)


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
        session.assign(PAGE, {"place": place, NAMES[place]: name, "chooser": CLOSED}, {})
        if place == "catalogue":
            on_change()


def _typed(place: str) -> None:
    """Called after a name was typed: the model of that name is chosen."""
    session.fold(PAGE)
    opening = place if not session.get(PAGE, NAMES[place]).strip() else CLOSED
    session.assign(PAGE, {"place": place, "chooser": opening})


def _toggle() -> None:
    """Opens the chooser at the shelf of the open model, or closes it."""
    session.fold(PAGE)
    now, place = session.get(PAGE, "chooser"), session.get(PAGE, "place")
    session.assign(PAGE, {"chooser": place if now == CLOSED else CLOSED})


def first_that_opens(wanted: Source, *, quietly: bool = False) -> Source | None:
    """The requested model if it opens; else the previously open one, and a line with the reason.

    Args:
        wanted: the requested model.
        quietly: whether a picture is there already, and need not be pushed down by a message.

    Raises:
        ValueError: for a network built here whose sizes do not fit together.
    """
    state = st.session_state
    if wanted.place == "built":
        tracing.opened(wanted)
        return wanted
    try:
        if not wanted.name:
            st.caption(HINTS[wanted.place])
        elif not (_is_missing(wanted) or _is_parent(wanted)):
            message = st.spinner("Opening the model …")
            with nullcontext() if quietly else message:
                stamped = tracing.stamped(wanted)
                tracing.opened(stamped)
            if wanted.place == "folder":
                shelves.remember(wanted.name)
            state[OPEN] = stamped
            return stamped
    except ValueError as error:
        shared.error_line(error)
    before: Source | None = state.get(OPEN)
    if before is not None and before.place in tracing.places() and _stays_open(before):
        st.caption(f"Still open: {shared.plain(source.title(before))}.")
        return before
    return None


def _stays_open(before: Source) -> bool:
    """Whether a model that was open can still be used, also if its files are gone."""
    try:
        tracing.opened(before)
    except ValueError:
        return False
    return True


def _is_missing(wanted: Source) -> bool:
    """Whether it is a model that is not downloaded yet; offers the download."""
    if wanted.place == "catalogue" and not tracing.public():
        known = entry(wanted.name)
        missing = bool(known.download) and not is_here(known)
        if missing:
            download.offer_entry(wanted.name)
        return missing
    if wanted.place != "hub" or tracing.public():
        return False
    if (
        not compute.hub.HUB_ID.fullmatch(wanted.name)
        or compute.hub.cached_folder(wanted.name) is not None
    ):
        return False
    download.offer(wanted.name)
    return True


def _is_parent(wanted: Source) -> bool:
    """Whether it is a folder of checkpoints; lists them."""
    return wanted.place == "folder" and not tracing.public() and shelves.checkpoints(wanted.name)
