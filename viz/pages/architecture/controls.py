"""Controls of the Architecture page: kind, preset, hyperparameters, and fixes for invalid ones."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from models.presets import PRESETS, first_of
from viz.api.samples import SAMPLES
from viz.pages import shared
from viz.pages.architecture import fixes, network, presets
from viz.pages.architecture.fields import KINDS, SECTIONS, Field, automatic, fields
from viz.pages.architecture.presets import PAGE
from viz.pages.state import session
from viz.pages.widgets import controls

BESIDE = {"part": "Selected part", "parameters": "Parameters", "flops": "FLOPs"}
VIEWS = {"no": "Parts", "yes": "Run it", "score": "Score it"}
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


def change() -> None:
    """The hyperparameters of this kind of network."""
    visible = fields(PRESETS[network.chosen()].kind)
    with st.container(key=f"{PAGE}_controls", horizontal=True, gap="small"):
        for field in visible:
            if not field.section:
                _control(field)
        with st.popover("More", width="content", key=f"{PAGE}_more"):
            _more([field for field in visible if field.section])


def _more(visible: Sequence[Field]) -> None:
    """The less used hyperparameters, by section."""
    for section in SECTIONS:
        inside = [field for field in visible if field.section == section]
        if inside:
            name = section.partition(",")[0].partition(" ")[0].lower()
            st.markdown(f"**{section}**")
            with st.container(key=f"{PAGE}_more_{name}", horizontal=True, gap="small"):
                for field in inside:
                    _control(field)


def problem(error: ValueError) -> None:
    """Why these settings are invalid, in one line, and the nearest valid ones."""
    shared.error_line(error)
    st.caption("Works with one change (the last valid settings are still shown):")
    with st.container(key=f"{PAGE}_fixes", horizontal=True, gap="small"):
        for number, fix in enumerate(fixes.nearest()):
            controls.button(fix.label, f"{PAGE}_fix_{number}", session.assign, PAGE, fix.changes)
        st.button(
            "Back to the preset",
            key=f"{PAGE}_back",
            on_click=session.callback(_reset),
            type="tertiary",
        )


def view(summary: str) -> str:
    """The choice between the parts of the network, its attention and its accuracy.

    Args:
        summary: the network's totals as a line of HTML.
    """
    with st.container(key=f"{PAGE}_shown", horizontal=True, vertical_alignment="center"):
        controls.choice(PAGE, "run", "View", VIEWS, "", collapsed=True)
        choice = session.get(PAGE, "run")
        if choice == "no":
            controls.choice(PAGE, "look", "Beside the diagram", BESIDE, "", collapsed=True)
        st.html(summary)
        if network.changed():
            st.button(
                "Undo my changes",
                key=f"{PAGE}_reset",
                on_click=session.callback(_reset),
                type="tertiary",
            )
    return choice


def _reset() -> None:
    session.assign(PAGE, presets.values(network.chosen()))


def _follow_preset() -> None:
    """Called after a preset was selected."""
    session.fold(PAGE)
    _begin(network.chosen())


def _follow_kind() -> None:
    """Called after a kind was selected: switches to its first preset."""
    session.fold(PAGE)
    _begin(first_of(session.get(PAGE, "kind")))


def _begin(name: str) -> None:
    """Sets the preset's settings, and its input if the present one is a trained model's example."""
    settings, selection = presets.values(name) | {"preset": name}, None
    foreign = session.get(PAGE, "photo") in SAMPLES or _of_a_model(session.get(PAGE, "text"))
    if presets.trained(name) or foreign:
        example = presets.first_example(name)
        settings |= presets.input_of(name, example) | {"reads": "text"}
        selection = presets.head_of(example)
    session.assign(PAGE, settings, selection)


def _of_a_model(text: str) -> bool:
    """Whether a text is an example of a trained model."""
    return any(text == example.input for name in PRESETS for example in presets.examples(name))


def _control(field: Field) -> None:
    span = field.low, field.high
    if field.control == "slider":
        controls.slider(PAGE, field.name, field.label, span, field.help, width=SLIDER)
    elif field.control == "number":
        auto = _automatic(field) if field.auto else ""
        controls.number(PAGE, field.name, field.label, span, field.help, width=BOX, auto=auto)
    elif field.control == "decimal":
        auto, span = "none" if field.auto else "", (float(field.low), float(field.high))
        if field.high == 1:  # a share that is dropped: never all
            span = 0.0, 0.95
        decimals: Any = {"step": 0.05, "format": "%.2f", "width": BOX, "auto": auto}
        controls.number(PAGE, field.name, field.label, span, field.help, **decimals)
    elif field.control == "text":
        controls.text_input(PAGE, field.name, field.label, field.help, width=BOX)
    else:
        titles = dict(zip(field.options, field.titles or field.options, strict=True))
        if field.control == "switch":
            controls.choice(PAGE, field.name, field.label, titles, field.help)
        else:
            controls.select(PAGE, field.name, field.label, titles, field.help, width=BOX)


def _automatic(field: Field) -> str:
    value = automatic(field.name, network.values())
    return "auto" if value is None else f"auto ({value:,})"
