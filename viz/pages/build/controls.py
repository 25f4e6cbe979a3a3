"""The controls of page Build, from the kind of network to its rarest setting."""

from typing import Any

import streamlit as st

from models.presets import PRESETS, first_of
from viz.pages import shared
from viz.pages.build import networks, settings
from viz.pages.build.fields import FIELDS, KINDS, SECTIONS, Field
from viz.pages.build.settings import PAGE
from viz.pages.frame import registry
from viz.pages.state import session
from viz.pages.widgets import controls

WIDTH = 232  # pixels: of the column
FEW = ("heads", "dim", "depth", "positions", "norm", "mlp", "image", "patch", "d_k", "d_v")
TARGETS = {
    "seq2seq": "Target (leave empty to generate)",
    "layer": "Target (if empty, the source attends to itself)",
}
WIDTHS = ("query_input_dim", "key_input_dim", "value_input_dim")


def draw() -> None:
    """The kind of network, a preset of that kind, and the settings that matter most."""
    preset = PRESETS[settings.chosen()]
    if session.current(PAGE).settings.get("kind") != preset.kind:  # it is not in the link
        session.edit(PAGE, {"kind": preset.kind})
    help = "Encoder: every token sees all tokens. Decoder: only those up to itself."
    controls.select(PAGE, "kind", "Kind", KINDS, help, width=WIDTH, on_change=_follow_kind)
    of_kind = {name: each.title for name, each in PRESETS.items() if each.kind == preset.kind}
    help = "Sizes from papers and courses, small ones to play with, and models trained here"
    controls.select(
        PAGE, "preset", "Start from", of_kind, help, width=WIDTH, on_change=_follow_preset
    )
    fields = {field.name: field for field in FIELDS[preset.kind]}
    for name in (*WIDTHS, *FEW):
        if name in fields:
            _control(fields[name])


def draw_rest() -> None:
    """The less common settings and links to Explore, drawn last: the picture does not wait."""
    preset = PRESETS[settings.chosen()]
    with st.popover("More settings", width="stretch", key=f"{PAGE}_more"):
        if preset.source:
            st.caption(shared.plain(f"From {preset.source}."))
        for section, title in {"": "Sizes", **SECTIONS}.items():
            fields = [each for each in FIELDS[preset.kind] if each.section == section]
            rest = [each for each in fields if each.name not in (*FEW, *WIDTHS)]
            if rest:
                st.markdown(f"**{title}**")
                with st.container(key=f"{PAGE}_more_{section}", horizontal=True, gap="small"):
                    for field in rest:
                        _control(field, 148)
    if settings.changed():
        _button("Undo my changes", "reset")
    explore = registry.page(registry.FIRST)
    st.page_link(explore, label="Open in Explore", query_params=_in_explore(preset.kind))
    if preset.model:
        label = "Its heads with trained weights"
        st.page_link(explore, label=label, query_params={"model": preset.model})


def _in_explore(kind: str) -> dict[str, str]:
    """The link to this network and its input there."""
    given = session.current(PAGE).settings
    network = networks.written(settings.chosen(), settings.current())
    query = {"place": "built", networks.NETWORK.name: network}
    if kind == "vit":
        return query | {"photo": given["photo"]}
    return (
        query | {"input": given["text"]} | ({"target": given["answer"]} if kind in TARGETS else {})
    )


def problem(error: ValueError) -> None:
    """Why these settings make no network, in one line, and the way back."""
    shared.error_line(error)
    with st.container(key=f"{PAGE}_fixes", horizontal=True, vertical_alignment="center"):
        st.caption("The last network that works is still shown.", width="content")
        _button("Back to the preset", "back")


def _button(label: str, name: str) -> None:
    def reset() -> None:
        session.assign(PAGE, networks.values(settings.chosen()))

    st.button(label, key=f"{PAGE}_{name}", on_click=session.callback(reset), type="tertiary")


def _follow_preset() -> None:
    """Called after a preset was selected."""
    session.fold(PAGE)
    _begin(settings.chosen())


def _follow_kind() -> None:
    """Called after a kind was selected: switches to its first preset."""
    session.fold(PAGE)
    _begin(first_of(session.get(PAGE, "kind")))


def _begin(name: str) -> None:
    session.assign(PAGE, networks.values(name) | {"preset": name, "run": "no"})


def _control(field: Field, width: int = WIDTH) -> None:
    place = PAGE, field.name, field.label
    low, high = field.span
    if field.options and field.name == "norm":
        controls.choice(*place, field.options, field.help)
    elif field.options:
        controls.select(*place, field.options, field.help, width=width)
    elif isinstance(field.default, str):
        controls.text_input(*place, field.help, width=width)
    elif isinstance(field.default, float):
        auto, span = "none" if field.auto else "", (float(low), float(high))
        decimals: Any = {"step": 0.05, "format": "%.2f", "width": width, "auto": auto}
        controls.number(*place, span, field.help, **decimals)
    elif field.slider:
        controls.slider(*place, (int(low), int(high)), field.help, width=width)
    else:
        auto = "auto" if field.auto else ""
        controls.number(*place, (int(low), int(high)), field.help, width=width, auto=auto)
