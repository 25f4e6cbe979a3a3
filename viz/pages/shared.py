"""What pages share: the door to torch, bounded caches, the error line, settings from the link.

Pages import nothing that needs torch: the functions here do, when they are called, so that a
page's first output does not wait for it.
"""

import hashlib
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz import link

if TYPE_CHECKING:
    from models.run import Model
    from models.text import Tokenizer
    from models.trace import Trace
    from viz.pack import Thumbs

VOCAB = 4096  # of encoders built here: words are hashed into so many ids
FORWARDS = threading.BoundedSemaphore(2)  # forward passes at one time, over all users


@dataclass(frozen=True)
class Choice:
    """Which model a page shows: a name of the catalogue, or "built" with an encoder's sizes."""

    model: str
    heads: int = 4
    dim: int = 64
    depth: int = 4
    positions: str = "sinusoidal"
    norm: str = "post"
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Traced:
    """A trace, its name for the browser, and its overview."""

    trace: "Trace"
    identity: str
    thumbs: "Thumbs"


STYLE = """<style>
.stMainBlockContainer { padding-top: 3.6rem; padding-bottom: 2rem; max-width: 1600px; }
[class*="_examples"] button { min-height: 2rem; padding: .1rem .7rem; }
@media (max-width: 640px) { .stMainBlockContainer { padding-left: .8rem; padding-right: .8rem; } }
%s
</style>"""
PROJECTOR = "html { font-size: 130%; }"


def frame() -> None:
    """The look of every page: less empty space on top, larger type for a projector."""
    st.html(STYLE % (PROJECTOR if st.session_state.get("projector") else ""))


def error_line(message: object) -> None:
    """One line that says what is wrong and what to do; never markdown or HTML of the user's."""
    line = " ".join(str(message).split())
    with st.container(key=f"problem_{hashlib.sha1(line.encode()).hexdigest()[:8]}"):
        st.error(plain(line), icon=":material/error:")


def notice(message: object) -> None:
    """One line about something that was changed or left out on the way."""
    st.info(plain(" ".join(str(message).split())), icon=":material/info:")


def plain(text: str) -> str:
    """Text that Streamlit's markdown shows letter by letter."""
    escaped = "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$:&@/=" else c for c in text)
    return escaped.replace("\\:", "\\:\u200b")


@st.cache_resource(max_entries=12, show_spinner=False)
def opened(choice: Choice, device: str) -> "Model":
    """The model, loaded or built once and shared: nothing may change it."""
    from models.encoder import EncoderConfig
    from models.run import load

    if choice.model != "built":
        return load(choice.model, device=device)
    config = EncoderConfig(
        vocab=VOCAB,
        dim=choice.dim,
        depth=choice.depth,
        heads=choice.heads,
        mlp=4 * choice.dim,
        positions=choice.positions,
        norm=choice.norm,
        seed=choice.seed,
    )
    return load(config, device=device)


def tokenizer(choice: Choice, device: str) -> "Tokenizer":
    """What reads text for the model."""
    found = opened(choice, device).tokenizer
    if found is None:
        raise ValueError("this model reads token ids only")
    return found


@st.cache_resource(max_entries=24, show_spinner=False)
def traced(choice: Choice, device: str, text: str) -> Traced:
    """One forward pass, kept as the recipe of its patterns (a few MB at most)."""
    from models.run import trace
    from viz.pages.answers import thumbs

    model = opened(choice, device)
    with FORWARDS:
        done = trace(model, text)
        name = f"{choice}|{device}|{text}".encode("utf-8", "replace")
        return Traced(done, hashlib.sha256(name).hexdigest()[:12], thumbs(done))


def device() -> str:
    """What the models run on."""
    return st.session_state.get("device", "cpu")


def sidebar() -> None:
    """Settings that hold on every page. Comes after the page: it has to know the devices."""
    from models.run import devices

    with st.sidebar:
        st.toggle(
            "Projector mode",
            key="projector",
            persist_state="session",
            help="Larger type, for the back row",
        )
        found = devices()
        if len(found) > 1:
            st.selectbox("Device", found, format_func=str.upper, key="device")
        else:
            st.caption("Runs on the CPU: no GPU was found on this machine.")


def warm_up() -> None:
    """Loads what the first picture needs, for a server that is to be ready early."""
    opened(Choice("minilm"), "cpu")


def same_in_python(choice: Choice, text: str, select: Mapping[str, Any]) -> None:
    """The lines that give the numbers of the picture in a notebook."""
    if choice.model == "built":
        fields = f"vocab={VOCAB}, dim={choice.dim}, depth={choice.depth}, heads={choice.heads}, "
        fields += f"mlp={4 * choice.dim}, positions={choice.positions!r}, norm={choice.norm!r}, "
        source = f"EncoderConfig({fields}seed={choice.seed})"
        imports = "from models.encoder import EncoderConfig\n"
    else:
        source, imports = repr(choice.model), ""
    head = select["head"]
    weights = f"t.weights(layer={select['site']}, head={head})"
    if head == "mean":
        weights = f"t.weights(layer={select['site']}).mean(0)"
    if head == "max":
        weights = f"t.weights(layer={select['site']}).amax(0)"
    with st.expander("The same in Python"):
        st.code(
            f"{imports}from models.run import load, trace\n\nmodel = load({source})\n"
            f"t = trace(model, {text!r})\n{weights}  # query × key; rows sum to 1",
            language="python",
        )


def from_link(page: str, params: Iterable[link.Param]) -> list[str]:
    """Puts the link's settings where the page's widgets find them, when the link is new.

    Returns:
        One line for each thing in the link that makes no sense, until a setting is changed, and
        for each long text that it stands for, until that text is there.
    """
    params, query, state = tuple(params), dict(st.query_params), st.session_state
    if state.get(f"{page}_link") != query:
        values, problems = link.read(params, query)
        for name, value in values.items():
            state[f"{page}_{name}"] = value
        state[f"{page}_link"], state[f"{page}_problems"] = query, problems
        state[f"{page}_wanted"] = link.wanted(params, query)
    elif _written(page, params) != state[f"{page}_settled"]:
        state[f"{page}_problems"] = []
    missing = [
        f"This link was made with a text too long for a link (SHA-256 {wanted[:12]}…):"
        " paste that text to see the same picture."
        for name, wanted in state[f"{page}_wanted"].items()
        if link.digest(state[f"{page}_{name}"]) != wanted
    ]
    return state[f"{page}_problems"] + missing


def to_link(page: str, params: Iterable[link.Param]) -> None:
    """Writes the page's settings into the address bar."""
    query = _written(page, params)
    if dict(st.query_params) != query:
        st.query_params.from_dict(query)
    st.session_state[f"{page}_link"] = st.session_state[f"{page}_settled"] = query


def _written(page: str, params: Iterable[link.Param]) -> dict[str, str]:
    return link.write(params, {p.name: st.session_state[f"{page}_{p.name}"] for p in params})
