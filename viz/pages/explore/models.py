"""The model of the page: the list it is chosen from, over the page, and which one is open."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from headscope_views import view

from models.catalogue import Entry, bundled, catalogue, entry, is_here
from models.request import Source
from viz.api import tracing
from viz.architecture import short
from viz.pages import compute, shared
from viz.pages.explore import download, edits, sizes, source
from viz.pages.explore.names import PAGE
from viz.pages.state import session

if TYPE_CHECKING:
    from models.model import Model

LISTS = {  # of the popover, and the places of what is in them
    "included": "catalogue",
    "small": "catalogue",
    "cached": "hub",
    "recent": "folder",
}
READS = {"text": "reads text", "image": "sees pictures", "sound": "hears"}
SAME = "✓ Same numbers as the original model"
ROUNDED = "Weights rounded to {} bits: not quite the original’s numbers"
KNOWN = {  # short name, what the model does, and how its numbers relate to the published ones
    "minilm": ("MiniLM", "understands sentences · 6 layers × 12 heads", SAME),
    "smollm2": ("SmolLM2", "continues a text · 30 layers × 9 heads", ROUNDED.format(4)),
    "dinov2": (
        "DINOv2",
        "sees pictures · 12 layers × 6 heads",
        "✓ Same numbers as the packaged model",
    ),
    "whisper": ("Whisper", "writes what it hears · 4 + 4 layers × 6 heads", ROUNDED.format(16)),
    "translate": ("Bergamot", "English to Portuguese · 6 + 2 layers × 8 heads", ROUNDED.format(8)),
    "translate-pt": (
        "Bergamot",
        "Portuguese to English · 6 + 2 layers × 8 heads",
        ROUNDED.format(8),
    ),
}
OPEN = f"{PAGE}/open"  # the source that was opened last
OFFERED = f"{PAGE}/offered"  # one that was chosen, and is not on this machine yet
FOLDERS, MOST = f"{PAGE}/folders", 8  # opened in this session
CHOOSE = "Choose a model from the list, or type a hub id or the path of a folder there."


def settle(on_change: Callable[[], None]) -> None:
    """Takes a choice from the lists, and leaves what this server does not open.

    Args:
        on_change: called after another model of the list was chosen.
    """
    for name, place in LISTS.items():
        asked = (st.session_state.get(f"{PAGE}_{name}") or {}).get("chosen")
        if isinstance(asked, str):
            _choose(place, asked, on_change)
    offered: Source | None = st.session_state.get(OFFERED)
    if offered is not None and not is_missing(offered):
        _choose(offered.place, offered.name, on_change)
    if session.get(PAGE, "place") not in source.places():
        session.edit(PAGE, {"place": "catalogue"})
        shared.error_line(tracing.CLOSED)


def _choose(place: str, name: str, on_change: Callable[[], None]) -> None:
    """Makes a model that of the page; one that is not here yet is offered beside the open one."""
    if place not in source.places() or (place == "catalogue" and name not in source.TITLES):
        return
    st.session_state.pop(OFFERED, None)
    settings = {"place": place, source.NAMES[place]: name}
    chosen = source.of({**session.current(PAGE).settings, **settings})
    if is_missing(chosen) and OPEN in st.session_state:
        st.session_state[OFFERED] = chosen
        return
    session.assign(PAGE, settings | edits.cleared(), {})  # heads of another model are others
    if place == "catalogue":
        on_change()


# ---- the button and its list


def button(opened: Source | None, on_change: Callable[[], None]) -> None:
    """The model's name, which opens the list over the page.

    Args:
        opened: the model of the picture; None before there is one.
        on_change: as in `settle`.
    """
    wanted = source.chosen()
    name, does, _ = about(wanted)
    does = does or ("" if opened is None else _size(opened))
    label = f"**{shared.plain(name) or 'Choose a model'}** {shared.plain(does)}"
    key = f"{PAGE}_models_{session.current(PAGE).revision}"  # a choice closes the list
    with st.popover(label, key=key, width="stretch", on_change="rerun") as popover:
        if popover.open:
            lists(on_change)


def about(model: Source) -> tuple[str, str, str]:
    """A short name of a model, what it does, and what is known of its numbers."""
    if model.place == "built":
        return source.title(model), "", "Untrained: its weights are random"
    if model.place != "catalogue":
        return source.title(model), "", "Runs as its files have it"
    if model.name in KNOWN:
        return KNOWN[model.name]
    known = entry(model.name)
    return known.title, READS[known.reads], "✓ Trained for this app"


@lru_cache(maxsize=32)
def _size(opened: Source) -> str:
    """Layers and heads: `6 + 2 layers × 8 heads`."""
    parts = compute.summary.parts(tracing.opened(opened))
    layers = " + ".join(str(part.layers or "?") for part in parts)
    heads = {part.heads for part in parts if part.heads}
    return f"{layers} layers × {heads.pop()} heads" if len(heads) == 1 else f"{layers} layers"


def lists(on_change: Callable[[], None]) -> None:
    """Real models, a box for any other, those on this machine, and the small ones."""
    ours = {each.name for each in bundled() if each.trained_here}
    _choices("included", "", [_card(each) for each in catalogue() if each.name not in ours])
    if len(source.places()) > 1:
        key = f"{PAGE}_typed_{session.current(PAGE).revision}"

        def open_it() -> None:
            _typed(str(st.session_state.get(key) or ""), on_change)

        hint = "owner/name, or a folder with config.json and .safetensors"
        st.text_input(
            "A model of the hub, or a folder",
            key=key,
            placeholder=hint,
            on_change=session.callback(open_it),
        )
        here = [
            {"id": each.name, "title": each.name, "tag": short(each.size, "memory")}
            for each in compute.hub.cached_models()
        ]
        _choices("cached", "On this machine", here, layout="rows")
        seen = st.session_state.get(FOLDERS, ())
        items = [{"id": path, "title": Path(path).name, "detail": path} for path in seen]
        _choices("recent", "Folders opened before", items, layout="rows", kept="folders")
    small = [_card(each) for each in catalogue() if each.name in ours]
    for name, title in sizes.TITLES.items():
        tag = READS[sizes.READS[name]]
        small.append({"id": name, "title": title, "detail": sizes.ABOUT[name], "tag": tag})
    with st.expander("More: small networks, as in the lessons, and networks of any size"):
        _choices("small", "", small)


def _card(known: Entry) -> dict[str, Any]:
    """A model of the list, with its size while it is not on this machine."""
    missing = known.download and not is_here(known)
    size = f" · {known.download / 1e6:.0f} MB to get" if missing else ""
    chosen = source.listed() == known.name
    tag, detail = READS[known.reads] + size, known.summary
    return {"id": known.name, "title": known.title, "detail": detail, "tag": tag, "chosen": chosen}


def _choices(
    name: str, label: str, items: Iterable[dict[str, Any]], *, layout: str = "cards", kept: str = ""
) -> None:
    """A list of the browser's; `kept` is the name under which it remembers the items."""
    props = {"label": label, "items": list(items), "layout": layout, "kept": kept}
    view("choices", props, key=f"{PAGE}_{name}", on=("chosen",))


def _typed(name: str, on_change: Callable[[], None]) -> None:
    """Chooses what was typed: a hub id if it looks like one and is no folder here."""
    name = name.strip()
    if name:
        is_id = compute.hub.HUB_ID.fullmatch(name) and not Path(name).expanduser().is_dir()
        _choose("hub" if is_id else "folder", name, on_change)


# ---- which is open


def first_that_opens(wanted: Source, busy: Callable[[str], None]) -> Source | None:
    """The page's model if it opens; else, with the reason, the one before, which it is again.

    Args:
        wanted: the page's model.
        busy: called with a line before a model is opened that was not open.

    Raises:
        ValueError: for a network built here whose sizes do not fit together.
    """
    state = st.session_state
    before: Source | None = state.get(OPEN)
    try:
        if offered := state.get(OFFERED):
            _offer(offered)
        if not wanted.name:
            shared.notice(CHOOSE)
        elif is_missing(wanted):
            _offer(wanted)
        else:
            stamped = wanted if wanted.place == "built" else tracing.stamped(wanted)
            if stamped != before:
                busy(f"Opening {about(wanted)[0]} …")
            tracing.opened(stamped)
            if wanted.place == "folder":
                others = (each for each in state.get(FOLDERS, ()) if each != wanted.name)
                state[FOLDERS] = (wanted.name, *others)[:MOST]
            state[OPEN] = stamped
            return stamped
    except ValueError as error:
        if wanted.place == "built":
            raise
        shared.error_line(error)
    if before is None or before.place not in tracing.places():
        return None
    try:
        tracing.opened(before)
    except ValueError:
        return None
    if source.key(before) != source.key(wanted):
        session.edit(PAGE, source.settings_of(before))
        st.caption(f"Still open: {shared.plain(source.title(before))}.")
    return before


def followed(wanted: Source) -> str:
    """The name of the model whose download the page waits for, if one runs."""
    offered: Source | None = st.session_state.get(OFFERED)
    return wanted.name if offered is None else offered.name


def unlisted(opened: Source) -> "Model | None":
    """The model, if the catalogue does not tell what the page needs of it before it is open."""
    return None if source.listed() else tracing.opened(opened)


def is_missing(wanted: Source) -> bool:
    """Whether it is a model that is not downloaded yet, and can be."""
    if tracing.public():
        return False
    if wanted.place == "catalogue":
        known = entry(wanted.name)
        return bool(known.download) and not is_here(known)
    hub = compute.hub
    is_id = wanted.place == "hub" and hub.HUB_ID.fullmatch(wanted.name)
    return bool(is_id) and hub.cached_folder(wanted.name) is None


def _offer(wanted: Source) -> None:
    """Offers the download of a model."""
    with st.container(key=f"{PAGE}_offer", gap="xsmall"):
        offer = download.offer_entry if wanted.place == "catalogue" else download.offer
        offer(wanted.name)
