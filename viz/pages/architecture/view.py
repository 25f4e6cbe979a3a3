"""The Architecture page's diagram, and what is told of the part that is chosen in it."""

import hashlib
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.architecture import QUANTITIES, message, short, treemap
from viz.pages.architecture.blueprint import PAGE
from viz.pages.architecture.texts import COUNTED, does
from viz.pages.explorer import LARGE
from viz.pages.widgets.sources import source

if TYPE_CHECKING:
    from models.cost.parts import Part, Shape
    from models.model import Config

Parts = tuple[Any, ...]
DIAGRAM = f"{PAGE}_diagram"
LOOK = "attention/attend"  # where tokens attend: what is shown when nothing was chosen
STYLE = """<style>
@media (min-width: 641px) {
  .st-key-architecture_told { position: sticky; top: 4rem; max-height: calc(100vh - 5rem);
    overflow-y: auto; overflow-x: hidden; }
  [data-testid="stColumn"]:has(.st-key-architecture_told) > div { height: 100%; }
}
.st-key-architecture_said p { margin: 0; }
.architecture-told table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.architecture-told :is(th, td) { text-align: start; vertical-align: top; font-weight: 400;
  padding: .3rem .9rem .3rem 0; border-bottom: 1px solid rgba(128, 134, 148, .25);
  overflow-wrap: anywhere; }
.architecture-told th { opacity: .75; white-space: nowrap; }
.architecture-told h5 { padding: 0; margin: .2rem 0 .4rem; font-size: 1.1rem; }
.architecture-told p { margin: 0 0 .7rem; }
</style>"""


def style() -> None:
    """Keeps what is told of a part beside a long diagram."""
    st.html(STYLE)


def wait() -> None:
    """Lets the browser load the diagram while PyTorch is loaded; it asks when ready."""
    from headscope_views import architecture

    architecture(message([]), key=DIAGRAM, on_change=lambda: None)


def parts_of(config: "Config", tokens: int, target: int) -> Parts:
    """The parts of the network that is shown."""
    from models.cost.count import parts

    return parts(config, tokens, target)


def diagram(parts: Parts, title: str, *, stale: bool) -> str:
    """Shows the parts; returns the path of the one that is chosen."""
    from headscope_views import architecture

    from models.cost.count import walk

    state = st.session_state
    known = [path for path, _, _ in walk(parts)]
    said = (state.get(DIAGRAM) or {}).get("view") or {}
    heard = said.get("said") if isinstance(said.get("said"), int | float) else 0
    if heard != state.get(f"{PAGE}_heard", 0):
        state[f"{PAGE}_heard"] = heard
        if said.get("select") in known:
            state[f"{PAGE}_part"] = said["select"]
    if state[f"{PAGE}_part"] not in known:
        state[f"{PAGE}_part"] = next(path for path in known if path.endswith(LOOK))
    look = state[f"{PAGE}_look"]
    sent = [_sent(part) for part in parts]
    data = message(
        sent,
        identity=hashlib.sha256(repr(sent).encode()).hexdigest()[:12],
        title=title,
        select=state[f"{PAGE}_part"],
        heard=int(heard or 0),
        quantity=look if look in QUANTITIES else "parameters",
        stale=stale,
        type_size=LARGE if state.get("projector") else 1.0,
    )
    architecture(data, key=DIAGRAM, on_change=lambda: None)
    return state[f"{PAGE}_part"]


def chosen(parts: Parts, path: str) -> None:
    """The chosen part: what it does, its shapes and numbers, and the lines that run."""
    from models.cost.count import walk

    times, part = next((times, part) for at, times, part in walk(parts) if at == path)
    rows = [
        ("In", _axes(part.takes)),
        *([("From the encoder", _axes(part.context))] if part.context else []),
        ("Out", _axes(part.gives)),
        ("Formula", part.formula),
        *((QUANTITIES[name][0], _amount(part, name, times)) for name in QUANTITIES),
    ]
    st.html(told(part.title + (f" × {times}" if times > 1 else ""), does(part), rows))
    name, line, lines = source(part.source)
    st.caption(f"What runs: {name}, line {line}")
    st.code(lines, language="python")


def told(title: str, sentence: str, rows: Sequence[tuple[str, str]]) -> str:
    """Heading, sentence and table as HTML, which a browser shows quicker than markdown."""
    table = "".join(f"<tr><th>{escape(n)}</th><td>{escape(text)}</td></tr>" for n, text in rows)
    return (
        f'<div class="architecture-told"><h5>{escape(title)}</h5><p>{escape(sentence)}</p>'
        f"<table>{table}</table></div>"
    )


def shares(parts: Parts, quantity: str, title: str) -> None:
    """All parts as areas, each as large as its share."""
    from models.cost.count import walk

    rows = [
        (path, part.title, times * getattr(part, quantity)) for path, times, part in walk(parts)
    ]
    if not any(value for _, _, value in rows):
        st.caption("Nothing to show: no part has any.")
        return
    figure = treemap(*zip(*rows, strict=True), title=title, quantity=quantity)
    st.plotly_chart(figure, key=f"{PAGE}_shares", alt=f"{QUANTITIES[quantity][0]} of every part")
    st.caption(COUNTED[quantity])


def summary(parts: Parts) -> str:
    """The network's numbers in one line of HTML."""
    from models.cost.count import total
    from models.cost.memory import peak_memory

    weights = total(parts, "parameters")
    return (
        f"<p><b>{weights:,}</b> parameters ({short(4 * weights, 'memory')} as float32)"
        f" · <b>{short(total(parts, 'flops'))}FLOP</b> a pass"
        f" · <b>{short(total(parts, 'memory'), 'memory')}</b> kept for a backward pass"
        f" · {short(peak_memory(parts), 'memory')} to build and run it</p>"
    )


def _amount(part: "Part", quantity: str, times: int) -> str:
    value = getattr(part, quantity)
    if quantity == "memory":
        one, all_ = short(value, "memory"), short(times * value, "memory")
    else:
        one, all_ = f"{value:,}", f"{times * value:,}"
    return f"{one} each, {all_} in all" if times > 1 and value else one


def _axes(shape: "Shape") -> str:
    return " × ".join(f"{size:,} {name}" for name, size in shape)


def _sent(part: "Part") -> dict[str, Any]:
    """The part as the browser takes it."""
    return {
        **{name: getattr(part, name) for name in ("name", "title", "kind", "skips", "causal")},
        **{name: getattr(part, name) for name in ("parameters", "flops", "memory", "times")},
        **{
            name: [list(axis) for axis in getattr(part, name)]
            for name in ("takes", "gives", "context")
        },
        "parts": [_sent(inner) for inner in part.parts],
    }
