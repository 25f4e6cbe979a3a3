"""The Models page's controls: where a model comes from, and how it is opened."""

import streamlit as st

from models.catalogue import catalogue
from viz.architecture import short
from viz.pages import settings, shared
from viz.pages.models import checkpoint
from viz.pages.models import fetch as checkpoint_fetch
from viz.pages.models.checkpoint import PAGE, Open, Source
from viz.pages.shared import plain
from viz.pages.state import params as link
from viz.pages.widgets import controls

TITLES = {known.name: known.title for known in catalogue()}
DEVICES = ("cpu", "cuda", "mps")
PLACES = {"catalogue": "With the app", "hub": "From the hub", "folder": "A folder"}
DOORS = {"auto": "Whichever fits", "own": "Ours", "transformers": "transformers"}
PARAMS = (
    link.choice("place", "catalogue", checkpoint.PLACES),
    link.choice("model", "minilm", TITLES),
    link.text("id", ""),
    link.text("folder", ""),
    link.choice("dtype", "float32", checkpoint.DTYPES),
    link.choice("device", "cpu", DEVICES),
    link.choice("door", "auto", checkpoint.DOORS),
)
STYLE = """<style>
.st-key-models_where { row-gap: .4rem; }
.st-key-models_source [data-testid="stFileUploaderDropzone"] {
  padding: 0 .5rem; min-height: 0; flex-direction: row; align-items: center; gap: .6rem; }
.st-key-models_source [data-testid="stFileUploaderDropzone"] button { min-height: 2.2rem; }
.st-key-models_source button[kind="primary"] { background: transparent; color: inherit;
  border-width: 2px; }
.models-card table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
.models-card :is(th, td) { text-align: start; vertical-align: top; font-weight: 400;
  padding: .3rem .9rem .3rem 0; border-bottom: 1px solid rgba(128, 134, 148, .25);
  overflow-wrap: anywhere; }
.models-card th { opacity: .75; white-space: nowrap; width: 9rem; }
</style>"""


def choose() -> Source:
    """The controls, and the source they name."""
    state = st.session_state
    st.html(STYLE)
    with st.container(
        key=f"{PAGE}_where", horizontal=True, gap="medium", vertical_alignment="bottom"
    ):
        if len(checkpoint.places()) > 1:
            controls.choice(PAGE, "place", "A model", PLACES, "Where its files come from")
        elif state[f"{PAGE}_place"] not in checkpoint.places():
            state[f"{PAGE}_place"] = "catalogue"
            shared.error_line(checkpoint.CLOSED)
        place = state[f"{PAGE}_place"]
        {"catalogue": _catalogue, "hub": _hub, "folder": _folder}[place]()
        with st.popover("Options", key=f"{PAGE}_options"):
            _options()
    name = state[f"{PAGE}_{ {'catalogue': 'model', 'hub': 'id', 'folder': 'folder'}[place] }"]
    values = {name: state[f"{PAGE}_{name}"] for name in ("dtype", "device", "door")}
    return Source(place, name.strip(), **values)


def first_that_opens(wanted: Source) -> Open | None:
    """What is wanted if it opens; else what was open before, and a line that says why."""
    state, key = st.session_state, f"{PAGE}_open"
    try:
        if not _not_here(wanted):
            with st.spinner("Opening the model …"):
                state[key] = checkpoint.opened(wanted)
            return state[key]
    except ValueError as error:
        shared.error_line(error)
    before = state.get(key)
    if before is not None and before.source.place in checkpoint.places():
        st.caption(f"Still open: {said(before.source)}.")
        return before
    return None


def _not_here(source: Source) -> bool:
    """Whether it is a model of the hub that has to be fetched first; offers to."""
    if source.place != "hub" or checkpoint.public():
        return False
    from models.files import hub

    if not hub.HUB_ID.fullmatch(source.name) or hub.cached_folder(source.name) is not None:
        return False
    checkpoint_fetch.offer(source.name)
    return True


def _catalogue() -> None:
    st.selectbox(
        "Which",
        options=list(TITLES),
        format_func=TITLES.__getitem__,
        key=f"{PAGE}_model",
        persist_state="session",
        width=260,
    )


def _hub() -> None:
    st.text_input(
        "Its id",
        key=f"{PAGE}_id",
        persist_state="session",
        placeholder="owner/name",
        width=280,
        help="A model is fetched once, after its size was said; then it opens without a network.",
    )
    found = {model.name: model.size for model in _cached()}
    if found:
        st.selectbox(
            "On this machine",
            options=list(found),
            index=None,
            format_func=lambda name: f"{name} · {short(found[name], 'memory')}",
            key=f"{PAGE}_cached",
            on_change=_take_cached,
            placeholder="Models fetched before",
            width=300,
        )


def _take_cached() -> None:
    if chosen := st.session_state[f"{PAGE}_cached"]:
        settings.say(PAGE, {"id": chosen})


def _cached() -> tuple:
    if checkpoint.public():
        return ()
    from models.files import hub

    return tuple(model for model in hub.cached_models() if model.complete)


def _folder() -> None:
    st.text_input(
        "Its path, on the machine this app runs on",
        key=f"{PAGE}_folder",
        persist_state="session",
        placeholder="a folder with config.json and .safetensors",
        width="stretch",
    )


def _options() -> None:
    told = "Half precision takes half the memory; pictures are worked out in float32 all the same"
    names = {name: name for name in checkpoint.DTYPES}
    controls.choice(PAGE, "dtype", "Numbers", names, told)
    told = "Ours is this project’s network, filled by a converter (BERT, ViT); transformers is the"
    told += " library’s own code, through its attention interface"
    controls.choice(PAGE, "door", "Whose code", DOORS, told)
    if shared.warm():
        from models.run import devices

        found = devices()
        if len(found) > 1:
            named = {name: name.upper() for name in found}
            controls.choice(PAGE, "device", "Device", named, "What it runs on")


def said(source: Source) -> str:
    """The source in a few words, letter by letter."""
    return plain(TITLES[source.name] if source.place == "catalogue" else source.name)
