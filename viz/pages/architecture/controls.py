"""Controls of the Architecture page: kind, preset, hyperparameters, and fixes for invalid ones."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from models.presets import PRESETS, first_of
from viz.pages import shared
from viz.pages.architecture import network, presets
from viz.pages.architecture.fields import KINDS, SECTIONS, Field, fields
from viz.pages.architecture.presets import PAGE
from viz.pages.frame import registry
from viz.pages.state import session
from viz.pages.widgets import controls

VIEWS = {"no": "Parts", "yes": "Run it"}
SLIDER, BOX = 150, 148  # pixels: widths of the controls


def choose() -> None:
    """The kind of network, and a preset of that kind."""
    preset = PRESETS[network.chosen()]
    if session.current(PAGE).settings.get("kind") != preset.kind:  # it is not in the link
        session.edit(PAGE, {"kind": preset.kind})
    with st.container(key=f"{PAGE}_top", horizontal=True):
        controls.choice(
            PAGE,
            "kind",
            "Kind",
            KINDS,
            "Encoder: every token sees all tokens. Decoder: only those up to itself.",
            on_change=_follow_kind,
        )
        controls.select(
            PAGE,
            "preset",
            "Start from",
            {name: each.title for name, each in PRESETS.items() if each.kind == preset.kind},
            "Sizes from papers and courses, small ones to experiment with, and models trained here",
            width=290,
            on_change=_follow_preset,
        )
    if preset.source:
        st.caption(shared.plain(f"From {preset.source}."))
    if preset.model:
        explore = registry.page(registry.FIRST)
        label = "Its heads with trained weights"
        st.page_link(explore, label=label, query_params={"model": preset.model})


def change() -> None:
    """The hyperparameters of this kind of network; those less used in sections."""
    visible = fields(PRESETS[network.chosen()].kind)
    with st.container(key=f"{PAGE}_controls", horizontal=True, gap="small"):
        _draw(visible, "")
        with st.popover("More", width="content", key=f"{PAGE}_more"):
            for section, title in SECTIONS.items():
                if any(field.section == section for field in visible):
                    st.markdown(f"**{title}**")
                    key = f"{PAGE}_more_{section}"
                    with st.container(key=key, horizontal=True, gap="small"):
                        _draw(visible, section)


def problem(error: ValueError) -> None:
    """Why these settings are invalid, in one line, and the way back."""
    shared.error_line(error)
    with st.container(key=f"{PAGE}_fixes", horizontal=True, vertical_alignment="center"):
        st.caption("The last valid settings are still shown.", width="content")
        _reset_button("Back to the preset", "back")


def view(summary: str) -> str:
    """The choice between the parts of the network and its attention.

    Args:
        summary: the network's totals as a line of HTML.
    """
    with st.container(key=f"{PAGE}_shown", horizontal=True, vertical_alignment="center"):
        controls.choice(PAGE, "run", "View", VIEWS, "", collapsed=True)
        st.html(summary)
        if network.changed():
            _reset_button("Undo my changes", "reset")
    return session.get(PAGE, "run")


def _reset_button(label: str, name: str) -> None:
    def reset() -> None:
        session.assign(PAGE, presets.values(network.chosen()))

    key = f"{PAGE}_{name}"
    st.button(label, key=key, on_click=session.callback(reset), type="tertiary")


def _follow_preset() -> None:
    """Called after a preset was selected."""
    session.fold(PAGE)
    _begin(network.chosen())


def _follow_kind() -> None:
    """Called after a kind was selected: switches to its first preset."""
    session.fold(PAGE)
    _begin(first_of(session.get(PAGE, "kind")))


def _begin(name: str) -> None:
    session.assign(PAGE, presets.values(name) | {"preset": name})


def _draw(visible: Sequence[Field], section: str) -> None:
    for field in visible:
        if field.section == section:
            _control(field)


def _control(field: Field) -> None:
    place = PAGE, field.name, field.label
    low, high = field.span
    if field.options and field.name == "norm":
        controls.choice(*place, field.options, field.help)
    elif field.options:
        controls.select(*place, field.options, field.help, width=BOX)
    elif isinstance(field.default, str):
        controls.text_input(*place, field.help, width=BOX)
    elif isinstance(field.default, float):
        auto, span = "none" if field.auto else "", (float(low), float(high))
        decimals: Any = {"step": 0.05, "format": "%.2f", "width": BOX, "auto": auto}
        controls.number(*place, span, field.help, **decimals)
    elif field.slider:
        controls.slider(*place, (int(low), int(high)), field.help, width=SLIDER)
    else:
        auto = "auto" if field.auto else ""
        controls.number(*place, (int(low), int(high)), field.help, width=BOX, auto=auto)
