"""Build: a network as one picture of this pass, from the whole down to one multiplication."""

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from headscope_views import view

from models.presets import PRESETS, config_of
from models.request import Input, Picture, Source, TraceRequest, built
from models.text import WordTokenizer, clean
from viz.amounts import short
from viz.api import samples, snippet, tracing
from viz.api.entries import TraceEntry
from viz.api.registry import registry
from viz.pages import compute, shared
from viz.pages.build import controls, settings
from viz.pages.build.settings import OPEN, PAGE
from viz.pages.state import link_on_entry, session
from viz.pages.widgets import charts, running
from viz.pages.widgets import controls as widgets

if TYPE_CHECKING:
    from models.model import Config
    from viz.api.registry import Held

LIVE = 5_000_000  # parameters up to which a network runs by itself
POSITIONS = 64  # that waves are drawn for
SIDES = (1, 4.2)  # settings and picture


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, settings.params_of, frozenset({OPEN})).problems
    with st.container(key=f"{PAGE}_top"):
        st.markdown("#### What is a transformer made of?")
        for problem in problems:
            shared.error_line(problem)
        kind = PRESETS[settings.chosen()].kind
        given = _photo() if kind == "vit" else _texts(kind)
    left, right = st.columns(SIDES, gap="medium")
    with left:
        controls.draw()
        rest = st.container(key=f"{PAGE}_rest", gap="small")
        totals = st.container(key=f"{PAGE}_totals")
    with right:
        notes, place = st.container(key=f"{PAGE}_notes"), st.container()
        waiting = st.empty()
        if shared.cold():  # the browser loads its modules while PyTorch is imported
            with waiting.container():
                view("preload", {"load": "build"}, key=f"{PAGE}_preload")
    network, error = settings.possible()
    source = built(kind, network, shared.device())
    held = None
    with notes:
        if error is not None:
            controls.problem(error)
        try:
            held = _held(source, given, totals)
        except ValueError as refused:
            shared.error_line(refused)
    waiting.empty()
    with place:
        _draw(held, busy=error is not None)
    with rest:
        controls.draw_rest()
    with place:
        if network.get("positions") == "sinusoidal":
            _waves(network["dim"])
        if held is not None and isinstance(held.value, TraceEntry):
            with st.expander("The same in Python", key=f"{PAGE}_code"):
                st.code(snippet.code(held.value, 0), language="python")


def _texts(kind: str) -> tuple[Input, str]:
    """The text, and the target of a network that reads one."""
    with st.container(key=f"{PAGE}_input", horizontal=True, vertical_alignment="bottom"):
        both = kind in controls.TARGETS
        first = widgets.entry(PAGE, "text", "Source" if both else "Text", bare=not both)
        second = widgets.entry(PAGE, "answer", controls.TARGETS[kind]) if both else ""
    return clean(first)[0], clean(second)[0] if second.strip() else ""


def _photo() -> tuple[Picture, str]:
    """The choice of a photo."""
    photo = widgets.choice(PAGE, "photo", "Photo", samples.TITLES, "", collapsed=True)
    return Picture(samples.file(photo)), ""


def _held(source: Source, given: tuple[Input, str], totals: Any) -> "Held[Any]":
    """The network with the numbers of its pass, or its shapes while it is too large for that.

    Raises:
        ValueError: for an input that is empty or too long, and a network too large for the memory.
    """
    text, target = given
    if not isinstance(text, Picture) and not str(text).strip():
        raise ValueError("the text is empty: type a sentence")
    config = config_of(source.name, dict(source.sizes))
    sizes = _lengths(source.name, config, given)
    whole = compute.shapes(config, *sizes).card("")
    memory = compute.peak_memory(config, *sizes)
    is_large = whole.parameters > LIVE and session.get(PAGE, "run") == "no"
    with totals:
        _say_totals(whole.parameters, whole.flops, memory)
    if is_large:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("Shapes alone: a network of this size runs when you ask for it.")
            label = f"Run it ({short(memory, 'memory')})"
            widgets.button(label, f"{PAGE}_run", session.assign, PAGE, {"run": "yes"})
        return registry.once(
            ("shapes", config, sizes), lambda: compute.shapes_entry(config, *sizes)
        )
    shared.check_memory(memory)
    request = TraceRequest(source, text, target or None)
    running.traced(PAGE, request)
    held = tracing.entry_for(request)
    for note in held.value.trace.notes:
        shared.notice(note)
    return held


def _lengths(kind: str, config: "Config", given: tuple[Input, str]) -> tuple[int, int]:
    """How many tokens the input has, and the target."""
    if isinstance(given[0], Picture):
        return 1, 1
    reader = WordTokenizer(1)
    tokens, target = (len(reader.encode(str(each))) if each else 0 for each in given)
    begins = kind == "seq2seq"  # a target begins with its first symbol
    sizes = max(1, tokens), max(1, target + begins if target else tokens)
    compute.check_input(config, *sizes)
    return sizes


def _say_totals(parameters: int, flops: int, memory: int) -> None:
    size, work = short(4 * parameters, "memory"), short(flops)
    st.html(
        f"<p class='totals'><b>{parameters:,}</b><br>parameters, {size} as float32"
        f"<br>{work}{'' if ' ' in work else ' '}FLOP a pass, {short(memory, 'memory')} of memory"
        "<br>Untrained: the numbers are random. Look at shapes and steps, not at meaning.</p>"
    )


def _waves(width: int) -> None:
    """The waves that positions are made of, as curves."""
    waves = st.expander("The waves of its positions", key=f"{PAGE}_waves", on_change="rerun")
    if not waves.open:
        return
    at, table = np.arange(POSITIONS), compute.sinusoidal(POSITIONS, width).numpy(force=True)
    columns = sorted({min(width - 1, 2 * n) for n in (0, 2, 4, 8, 16)})
    lines = {f"feature {n}": table[:, n] for n in columns}
    title = f"{len(columns)} of {width} features over {POSITIONS} positions"
    with waves:
        charts.curves(PAGE, at, lines, title=title, x="position", y="value")


def _draw(held: "Held[Any] | None", *, busy: bool) -> None:
    """The picture; without a network of now the last one, dimmed."""
    state, key = st.session_state, f"{PAGE}/drawn"
    last = state.get(key) if held is None else held.id
    if held is not None:
        state[key] = held.id
    props = session.props(PAGE, settings.params(settings.chosen()))
    props |= {"trace": last, "busy": busy or held is None}
    view("build", props, key=f"{PAGE}_view", on=("trace_lost",))
