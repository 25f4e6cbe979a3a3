"""The Architecture page's diagram, and what is told of the part that is chosen in it."""

import hashlib
import inspect
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.architecture import QUANTITIES, message, short, treemap
from viz.pages import blueprint_texts
from viz.pages.blueprint import PAGE
from viz.pages.explorer import LARGE

if TYPE_CHECKING:
    from models.count import Config
    from models.count_parts import Part, Shape

Parts = tuple[Any, ...]
ROOT = Path(__file__).parents[2]
DIAGRAM = f"{PAGE}_diagram"
STYLE = """<style>
@media (min-width: 641px) {
  .st-key-architecture_told { position: sticky; top: 4rem; max-height: calc(100vh - 5rem);
    overflow-y: auto; overflow-x: hidden; }
  [data-testid="stColumn"]:has(.st-key-architecture_told) > div { height: 100%; }
}
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
    from models.count import parts

    return parts(config, tokens, target)


def diagram(parts: Parts, title: str, *, stale: bool) -> str:
    """Shows the parts; returns the path of the one that is chosen."""
    from headscope_views import architecture

    from models.count import walk

    state = st.session_state
    known = [path for path, _, _ in walk(parts)]
    said = (state.get(DIAGRAM) or {}).get("view") or {}
    heard = said.get("said") if isinstance(said.get("said"), int | float) else 0
    if heard != state.get(f"{PAGE}_heard", 0):
        state[f"{PAGE}_heard"] = heard
        if said.get("select") in known:
            state[f"{PAGE}_part"] = said["select"]
    if state[f"{PAGE}_part"] not in known:
        state[f"{PAGE}_part"] = blueprint_texts.first_look(known)
    look = state[f"{PAGE}_look"]
    told = [_told(part) for part in parts]
    data = message(
        told,
        identity=hashlib.sha256(repr(told).encode()).hexdigest()[:12],
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
    from models.count import walk

    times, part = next((times, part) for at, times, part in walk(parts) if at == path)
    many = f" × {times}" if times > 1 else ""
    st.markdown(f"**{part.title}{many}**")
    st.markdown(blueprint_texts.does(part))
    rows = [
        *([("From the encoder", _axes(part.context))] if part.context else []),
        ("Out", _axes(part.gives)),
        ("Formula", part.formula),
        *((QUANTITIES[name][0], _amount(part, name, times)) for name in QUANTITIES),
    ]
    table = "".join(f"| {name} | {text.replace('|', chr(92) + '|')} |\n" for name, text in rows)
    st.markdown(f"| In | {_axes(part.takes)} |\n|---|---|\n{table}")
    name, line, lines = source(part)
    st.caption(f"What runs: {name}, line {line}")
    st.code(lines, language="python")


def shares(parts: Parts, quantity: str, title: str) -> None:
    """All parts as areas, each as large as its share."""
    from models.count import walk

    rows = [
        (path, part.title, times * getattr(part, quantity)) for path, times, part in walk(parts)
    ]
    if not any(value for _, _, value in rows):
        st.caption("Nothing to show: no part has any.")
        return
    figure = treemap(*zip(*rows, strict=True), title=title, quantity=quantity)
    st.plotly_chart(figure, key=f"{PAGE}_shares", alt=f"{QUANTITIES[quantity][0]} of every part")
    st.caption(blueprint_texts.COUNTED[quantity])


def summary(parts: Parts) -> str:
    """The network's numbers in one line."""
    from models.count import needed, total

    weights = total(parts, "parameters")
    return (
        f"**{weights:,}** parameters ({short(4 * weights, 'memory')} as float32)"
        f" · **{short(total(parts, 'flops'))}FLOP** a pass"
        f" · **{short(total(parts, 'memory'), 'memory')}** kept for a backward pass"
        f" · {short(needed(parts), 'memory')} to build and run it"
    )


def source(part: "Part") -> tuple[str, int, str]:
    """The file, the first line, and the lines of what runs."""
    function = inspect.unwrap(part.source)
    file = Path(inspect.getsourcefile(function) or "")
    _, line = inspect.getsourcelines(function)
    name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name
    return name, line, textwrap.dedent(inspect.getsource(function))


def _amount(part: "Part", quantity: str, times: int) -> str:
    value = getattr(part, quantity)
    if quantity == "memory":
        one, all_ = short(value, "memory"), short(times * value, "memory")
    else:
        one, all_ = f"{value:,}", f"{times * value:,}"
    return f"{one} each, {all_} in all" if times > 1 and value else one


def _axes(shape: "Shape") -> str:
    return " × ".join(f"{size:,} {name}" for name, size in shape)


def _told(part: "Part") -> dict[str, Any]:
    """The part as the browser takes it."""
    return {
        **{name: getattr(part, name) for name in ("name", "title", "kind", "skips", "causal")},
        **{name: getattr(part, name) for name in ("parameters", "flops", "memory", "times")},
        **{
            name: [list(axis) for axis in getattr(part, name)]
            for name in ("takes", "gives", "context")
        },
        "parts": [_told(inner) for inner in part.parts],
    }
