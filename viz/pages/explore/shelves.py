"""Where a model can be taken from: the app's own models, the hub and its cache, a folder."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import streamlit as st
from headscope_views import view

from models.catalogue import Entry, catalogue, is_here
from models.files.checkpoints import checkpoints_in, is_checkpoint
from viz.api import tracing
from viz.architecture import short
from viz.pages.explore import compute, folder_browser, sizes
from viz.pages.explore.names import PAGE
from viz.pages.state import session
from viz.pages.widgets import controls

LISTS = {  # of the chooser, and the places of what is in them
    "included": "catalogue",
    "cached": "hub",
    "recent": "folder",
    "browser": "folder",
    "checkpoints": "folder",
}
READS = {"text": "text", "image": "pictures", "sound": "sound"}
SEEN = f"{PAGE}/folders"  # opened in this session
HERE = f"{PAGE}/folder"  # that is listed


def taken() -> tuple[str, str] | None:
    """Place and name of the model that was chosen from a list before this run."""
    for name, place in LISTS.items():
        state = st.session_state.get(f"{PAGE}_{name}") or {}
        asked = state.get("chosen")
        if not isinstance(asked, str):
            continue
        if name == "browser" and not is_checkpoint(Path(asked)):
            st.session_state[HERE] = asked
        else:
            return place, asked
    return None


def catalogue_shelf() -> None:
    """The models that come with the app, and the networks that are built here, as cards."""
    chosen = session.get(PAGE, "model") if session.get(PAGE, "place") == "catalogue" else ""
    items = [
        {
            "id": entry.name,
            "title": entry.title,
            "detail": entry.summary,
            "tag": _tag(entry),
            "chosen": entry.name == chosen,
        }
        for entry in catalogue()
    ]
    items += [
        {
            "id": model,
            "title": title,
            "detail": sizes.ABOUT[model],
            "tag": READS[sizes.READS[model]],
            "chosen": model == chosen,
        }
        for model, title in sizes.TITLES.items()
    ]
    _choices("included", "", items, layout="cards")


def _tag(entry: Entry) -> str:
    """What a model reads, and its size while it is not on this machine."""
    missing = entry.download and not is_here(entry)
    return READS[entry.reads] + (f" · {entry.download / 1e6:.0f} MB" if missing else "")


def hub_shelf(opened: Callable[[str], None]) -> None:
    """Downloaded models, and any other by its id.

    Args:
        opened: called with the place when an id was typed.
    """
    help = "A model is downloaded once, after showing its size; then it opens offline."
    controls.text_input(
        PAGE,
        "id",
        "Hub id",
        help,
        placeholder="owner/name",
        width=360,
        on_change=lambda: opened("hub"),
    )
    items = [
        {"id": each.name, "title": each.name, "tag": short(each.size, "memory")}
        for each in _cached()
    ]
    empty = "None yet: what is downloaded here or by other programs is listed."
    _choices("cached", "On this machine", items, empty=empty)


def folder_shelf(opened: Callable[[str], None]) -> None:
    """Folders opened before, any folder by its path, and the folders of this machine.

    Args:
        opened: called with the place when a path was typed.
    """
    controls.text_input(
        PAGE,
        "folder",
        "Path, on the machine this app runs on",
        placeholder="a folder with config.json and .safetensors",
        on_change=lambda: opened("folder"),
    )
    recent, machine = st.columns(2)
    with recent:
        seen = st.session_state.get(SEEN, ())
        items = [{"id": path, "title": Path(path).name, "detail": path} for path in seen]
        empty = "Folders you open are remembered in this browser."
        _choices("recent", "Recent", items, kept="folders", empty=empty)
    if folder_browser.are_listed():
        with machine:
            _folders()


def checkpoints(folder: str) -> bool:
    """A list of the checkpoints in a folder, to choose from; False if there are none."""
    path = Path(folder).expanduser()
    names = checkpoints_in(path)
    if names:
        st.session_state[HERE] = str(path)
        items = [{"id": str(path / name), "title": name} for name in names]
        _choices("checkpoints", f"Checkpoints in {path.name or path}: choose one", items)
    return bool(names)


def remember(folder: str) -> None:
    """Takes note of a folder that was opened, for the lists of recent and of neighbouring ones."""
    before = st.session_state.get(SEEN, ())
    st.session_state[SEEN] = (folder, *(each for each in before if each != folder))[:8]
    if folder not in before:
        st.session_state[HERE] = str(Path(folder).expanduser().parent)


def _folders() -> None:
    """The folders in one folder; a checkpoint among them opens."""
    here = Path(st.session_state.get(HERE) or Path.home())
    up = [{"id": str(here.parent), "title": "..", "tag": "up"}] if here.parent != here else []
    inside = [
        {"id": str(each.path), "title": each.name, "tag": "model" if each.model else ""}
        for each in folder_browser.listed(here)
    ]
    _choices("browser", str(here), [*up, *inside])


def _choices(
    name: str,
    label: str,
    items: Iterable[dict[str, Any]],
    *,
    layout: str = "rows",
    kept: str = "",
    empty: str = "",
) -> None:
    """A list of the browser's; `kept` is the name under which it remembers the items."""
    props = {"label": label, "items": list(items), "layout": layout, "kept": kept, "empty": empty}
    view("choices", props, key=f"{PAGE}_{name}", on=("chosen",))


def _cached() -> tuple:
    if tracing.public():
        return ()
    return tuple(model for model in compute.hub.cached_models() if model.complete)
