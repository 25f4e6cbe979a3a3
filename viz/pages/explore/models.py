"""The model of the page: the list it is chosen from, over the page, fetching and opening it."""

import threading
import time
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import streamlit as st
from headscope_views import view

from models import fetch as fetching
from models.catalogue import Entry, bundled, catalogue, entry, is_here
from models.files.errors import FetchCancelledError
from models.presets import config_of
from models.request import Source
from viz.amounts import short
from viz.api import tracing
from viz.pages import compute, shared
from viz.pages.explore import edits, examples, source
from viz.pages.explore.names import PAGE
from viz.pages.frame import registry
from viz.pages.shared import plain
from viz.pages.state import session

if TYPE_CHECKING:
    from models.files.hub import DownloadPlan


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
POLL = 0.25  # seconds between two updates of the progress bar
BAR = f"{PAGE}/bar"
PLAN = f"{PAGE}/plan"  # in the session, that of the model looked up last, or why there is none
CHOOSE = "Choose a model from the list, or type a hub id or the path of a folder there."


def take() -> None:
    """Takes a choice from the lists."""
    for name, place in LISTS.items():
        asked = (st.session_state.get(f"{PAGE}_{name}") or {}).get("chosen")
        if isinstance(asked, str):
            _choose(place, asked)


def _choose(place: str, name: str) -> None:
    """Makes a model that of the page."""
    if place not in source.places() or (place == "catalogue" and name not in source.TITLES):
        return
    # heads of another model are others
    change = {"place": place, source.NAMES[place]: name} | edits.cleared()
    session.assign(PAGE, change, {})
    if place == "catalogue":
        examples.follow()


# ---- the button and its list


def button(opened: Source | None) -> None:
    """The model's name, which opens the list over the page.

    Args:
        opened: the model, once it is open.
    """
    name, does, _ = about(source.chosen())
    does = does or ("" if opened is None else _size(opened))
    label = f"**{shared.plain(name) or 'Choose a model'}** {shared.plain(does)}"
    key = f"{PAGE}_models_{session.current(PAGE).revision}"  # a choice closes the list
    with st.popover(label, key=key, width="stretch", on_change="rerun") as popover:
        if popover.open:
            _lists()


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


def _lists() -> None:
    """Real models, a box for any other, those on this machine, and the small ones."""
    ours = {each.name for each in bundled() if each.trained_here}
    _choices("included", "", (_card(each) for each in catalogue() if each.name not in ours))
    if "hub" in source.places():
        key = f"{PAGE}_typed_{session.current(PAGE).revision}"
        st.text_input(
            "A model of the hub, or a folder",
            key=key,
            placeholder="owner/name, or a folder with config.json and .safetensors",
            on_change=session.callback(lambda: _typed(str(st.session_state.get(key) or ""))),
        )
        here = (
            {"id": each.name, "title": each.name, "tag": short(each.size, "memory")}
            for each in compute.hub.cached_models()
        )
        _choices("cached", "On this machine", here, layout="rows")
        path = session.get(PAGE, "folder") if session.get(PAGE, "place") == "folder" else ""
        items = [{"id": path, "title": Path(path).name, "detail": path}] if path else ()
        _choices("recent", "Folders opened before", items, layout="rows", kept="folders")
    small = [_card(each) for each in catalogue() if each.name in ours]
    with st.expander("More: small networks, as in the lessons, and networks of any size"):
        _choices("small", "", small)
        to_build("Build one of your own, untrained")


def to_build(label: str) -> None:
    """A link to page Build, and to the page's network there if it was built."""
    settings = session.current(PAGE).settings
    query = settings[source.NAMES["built"]] if settings["place"] == "built" else ""
    st.page_link(registry.page(registry.BUILD), label=label, query_params=parse_qsl(query))


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


def _typed(name: str) -> None:
    """Chooses what was typed: a hub id if it looks like one and is no folder here."""
    if name := name.strip():
        is_id = compute.hub.HUB_ID.fullmatch(name) and not Path(name).expanduser().is_dir()
        _choose("hub" if is_id else "folder", name)


# ---- opening it


def open_or_offer(wanted: Source, busy: Callable[[str], None]) -> Source | None:
    """The page's model, opened and stamped; None, with the reason or what to do, if it is not here.

    Args:
        wanted: the page's model.
        busy: called with a line before a model is opened that was not open.

    Raises:
        ValueError: if it cannot be opened.
    """
    if not wanted.name:
        shared.notice(CHOOSE)
    elif _is_missing(wanted):
        with st.container(key=f"{PAGE}_offer", gap="xsmall"):
            offer = _offer_entry if wanted.place == "catalogue" else _offer_hub
            offer(wanted.name)
    else:
        if wanted.place == "built":
            config = config_of(wanted.name, dict(wanted.sizes))
            shared.check_memory(compute.peak_memory(config))
        stamped = tracing.stamped(wanted)
        if stamped != st.session_state.get(f"{PAGE}/open"):
            busy(f"Opening {about(wanted)[0]} …")
        tracing.opened(stamped)
        st.session_state[f"{PAGE}/open"] = stamped
        return stamped
    return None


def _is_missing(wanted: Source) -> bool:
    """Whether it is a model that is not downloaded yet, and can be."""
    if tracing.public():
        return False
    if wanted.place == "catalogue":
        known = entry(wanted.name)
        return bool(known.download) and not is_here(known)
    hub = compute.hub
    is_id = wanted.place == "hub" and hub.HUB_ID.fullmatch(wanted.name)
    return bool(is_id) and hub.cached_folder(wanted.name) is None


# ---- fetching it: its size first, then a bar; a download can be stopped


class Download(threading.Thread):
    """The download of one model; `fetch` takes a `progress`, `stop` ends it.

    Attributes:
        size: bytes to download.
        come: bytes received so far.
        problem: error message; empty if there was no error.
    """

    def __init__(self, size: int, fetch: Callable[..., Any]) -> None:
        super().__init__(name="download", daemon=True)
        self.size, self.come, self.problem = size, 0, ""
        self._fetch, self._stopped = fetch, threading.Event()
        self.stop = self._stopped.set

    def run(self) -> None:
        """Downloads the files; an error is kept for the page to show."""
        try:
            self._fetch(progress=self._received)
        except ValueError as error:
            self.problem = str(error)

    def _received(self, come: int, total: int) -> None:
        if self._stopped.is_set():
            raise FetchCancelledError("the download was stopped")
        self.come = come


@st.cache_resource(show_spinner=False)
def downloads() -> dict[str, Download]:
    """All running and ended downloads, of all users, by hub id or name in the catalogue."""
    return {}


def _offer_entry(name: str) -> None:
    """Offers a model of the catalogue that is fetched first: its provenance, size and a button."""
    known = entry(name)
    about = f"{known.title}. {known.summary} {known.provenance}"
    size = f"{known.download / 1e6:.0f} MB"
    _offer(name, known.download, partial(fetching.fetch, known), about, f"Get ({size})")


def _offer_hub(name: str) -> None:
    """Offers a download of the hub: a button to look up the size, then a button to download.

    Raises:
        ValueError: for an invalid id, or if the hub is unreachable.
    """
    plan: DownloadPlan | None
    asked, plan, problem = st.session_state.get(PLAN, ("", None, ""))
    if asked == name and plan is not None:
        size = short(plan.size, "memory")
        licence = f", licence {plan.licence}" if plan.licence else ""
        about = f"{name}: {size} in {len(plan.files)} files{licence}."
        fetch = partial(compute.hub.download, plan)
        _offer(name, plan.size, fetch, about, f"Fetch it ({size})")
        return
    label, help = "Look it up on the hub", "Requests the size alone"
    action = partial(_look_up, name)
    st.button(label, key=f"{PAGE}_look_up", on_click=session.callback(action), help=help)
    if asked == name:
        shared.error_line(problem)


def _look_up(name: str) -> None:
    try:
        tracing.check(Source("hub", name))
        st.session_state[PLAN] = name, compute.hub.plan_download(name), ""
    except ValueError as error:
        st.session_state[PLAN] = name, None, str(error)


def _offer(name: str, size: int, fetch: Callable[..., Any], about: str, label: str) -> None:
    """A button that downloads; while it does, a bar and a button that stops it."""
    last = downloads().get(name)
    if last is not None and last.is_alive():
        st.session_state[BAR] = name, st.empty()
        st.button("Stop", key=f"{PAGE}_stop", on_click=session.callback(last.stop))
        return
    if last is not None and last.problem:
        shared.error_line(last.problem)
    st.caption(plain(about))
    start = partial(_start, name, size, fetch)
    st.button(label, key=f"{PAGE}_fetch", type="primary", on_click=session.callback(start))


def _start(name: str, size: int, fetch: Callable[..., Any]) -> None:
    running = downloads()
    for other in [other for other, each in running.items() if not each.is_alive()]:
        running.pop(other, None)
    running[name] = Download(size, fetch)
    running[name].start()


def follow() -> None:
    """Updates the progress bar until the download ends, then runs the page again.

    Must be called last on a page: any interaction interrupts it at the next update of the bar.
    """
    name, bar = st.session_state.pop(BAR, ("", None))
    if bar is None:
        return
    running = downloads()[name]
    while running.is_alive():
        come, total = (short(each, "memory") for each in (running.come, running.size))
        share = min(1.0, running.come / max(1, running.size))
        bar.progress(share, plain(f"{name}: {come} of {total}"))
        time.sleep(POLL)
    st.rerun()
