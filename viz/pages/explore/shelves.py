"""Where a model can be taken from: the app's own models, the hub and its cache, a folder."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import streamlit as st
from headscope_views import view

from models.catalogue import Entry, catalogue, is_here
from models.files.checkpoints import checkpoints_in
from viz.api import tracing
from viz.architecture import short
from viz.pages.explore import compute, sizes
from viz.pages.explore.names import PAGE
from viz.pages.state import session
from viz.pages.widgets import controls

LISTS = {  # of the chooser, and the places of what is in them
    "included": "catalogue",
    "cached": "hub",
    "recent": "folder",
    "checkpoints": "folder",
}
READS = {"text": "text", "image": "pictures", "sound": "sound"}
SEEN, MOST = f"{PAGE}/folders", 8  # opened in this session


def taken() -> tuple[str, str] | None:
    """Place and name of the model that was chosen from a list before this run."""
    for name, place in LISTS.items():
        asked = (st.session_state.get(f"{PAGE}_{name}") or {}).get("chosen")
        if isinstance(asked, str):
            return place, asked
    return None


def catalogue_shelf() -> None:
    """The models that come with the app, and the networks that are built here, as cards."""
    cards = [(each.name, each.title, each.summary, _tag(each)) for each in catalogue()]
    for model, title in sizes.TITLES.items():
        cards.append((model, title, sizes.ABOUT[model], READS[sizes.READS[model]]))
    chosen = session.get(PAGE, "model") if session.get(PAGE, "place") == "catalogue" else ""
    items = [
        {"id": name, "title": title, "detail": detail, "tag": tag, "chosen": name == chosen}
        for name, title, detail, tag in cards
    ]
    _choices("included", "", items, layout="cards")


def _tag(entry: Entry) -> str:
    """What a model reads, and its size while it is not on this machine."""
    missing = entry.download and not is_here(entry)
    return READS[entry.reads] + (f" · {entry.download / 1e6:.0f} MB" if missing else "")


def hub_shelf(opened: Callable[[str], None]) -> None:
    """Any model of the hub by its id, and those that were downloaded.

    Args:
        opened: called with the place when an id was typed.
    """
    help = "A model is downloaded once, after showing its size; then it opens offline."
    typed, hint = lambda: opened("hub"), "owner/name"
    controls.text_input(PAGE, "id", "Hub id", help, placeholder=hint, width=360, on_change=typed)
    cached = () if tracing.public() else compute.hub.cached_models()
    items = [
        {"id": each.name, "title": each.name, "tag": short(each.size, "memory")}
        for each in cached
        if each.complete
    ]
    empty = "None yet: what is downloaded here or by other programs is listed."
    _choices("cached", "On this machine", items, empty=empty)


def folder_shelf(opened: Callable[[str], None]) -> None:
    """Any folder by its path, and those opened before.

    Args:
        opened: called with the place when a path was typed.
    """
    label, typed = "Path, on the machine this app runs on", lambda: opened("folder")
    hint = "a folder with config.json and .safetensors, or a folder of such folders"
    controls.text_input(PAGE, "folder", label, placeholder=hint, on_change=typed)
    seen = st.session_state.get(SEEN, ())
    items = [{"id": path, "title": Path(path).name, "detail": path} for path in seen]
    empty = "Folders you open are remembered in this browser."
    _choices("recent", "Recent", items, kept="folders", empty=empty)


def checkpoints(folder: str) -> bool:
    """A list of the checkpoints in a folder, to choose from; False if there are none."""
    path = Path(folder).expanduser()
    items = [{"id": str(path / name), "title": name} for name in checkpoints_in(path)]
    if items:
        _choices("checkpoints", f"Checkpoints in {path.name or path}: choose one", items)
    return bool(items)


def remember(folder: str) -> None:
    """Takes note of a folder that was opened."""
    others = (each for each in st.session_state.get(SEEN, ()) if each != folder)
    st.session_state[SEEN] = (folder, *others)[:MOST]


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
