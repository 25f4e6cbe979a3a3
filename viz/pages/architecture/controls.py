"""The Architecture page's controls: kind, preset, everything that can be changed, and ways out."""

import streamlit as st

from viz.pages import settings, shared
from viz.pages.architecture import blueprint
from viz.pages.architecture import fixes as blueprint_fixes
from viz.pages.architecture.blueprint import PAGE
from viz.pages.architecture.fields import KINDS, Field, fields
from viz.pages.image import picture

PAGE_KEY, SHOWN_KEY = f"{PAGE}_page", f"{PAGE}_shown"
LOOKS = {"part": "Chosen part", "parameters": "Parameters", "flops": "FLOPs", "memory": "Memory"}
VIEWS = {"no": "Its parts", "yes": "Run it"}
STYLE = """<style>
.st-key-architecture_controls { row-gap: .4rem; }
.st-key-architecture_fixes button { min-height: 2rem; padding: .1rem .7rem; }
</style>"""


def network() -> None:
    """Which kind of network, and which one of that kind to begin with."""
    from models.presets import PRESETS

    state, preset = st.session_state, PRESETS[blueprint.chosen()]
    state[f"{PAGE}_kind"] = preset.kind
    st.html(STYLE)
    with st.container(key=f"{PAGE}_top", horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Kind",
            list(KINDS),
            format_func=KINDS.__getitem__,
            key=f"{PAGE}_kind",
            required=True,
            on_change=_take_kind,
            help="Encoder: every token sees every other. Decoder: only those before it.",
        )
        st.selectbox(
            "Begin with",
            [name for name, each in PRESETS.items() if each.kind == preset.kind],
            format_func=lambda name: PRESETS[name].title,
            key=f"{PAGE}_preset",
            on_change=_take_preset,
            persist_state="session",
            width=290,
        )
    with st.container():  # always there: what follows is a fragment, known by its place
        if preset.source:
            st.caption(shared.plain(f"From {preset.source}."))


def controls() -> None:
    """Everything that can be changed in this kind of network."""
    from models.presets import PRESETS

    shown = fields(PRESETS[blueprint.chosen()].kind)
    with st.container(
        key=f"{PAGE}_controls", horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        for field in shown:
            if not field.more:
                _control(field)
        with st.popover("More", width="content"):
            for field in shown:
                if field.more:
                    _control(field)


def problem(error: ValueError) -> None:
    """Why these settings are impossible, in one line, and the nearest that are not."""
    shared.error_line(error)
    st.caption("Possible with one change (what is shown are the last settings that were possible):")
    with st.container(key=f"{PAGE}_fixes", horizontal=True, gap="small"):
        for number, fix in enumerate(blueprint_fixes.nearest()):
            st.button(fix.label, key=f"{PAGE}_fix_{number}", on_click=change, args=(fix.changes,))
        st.button("Back to the preset", key=f"{PAGE}_back", on_click=take, type="tertiary")


def view(summary: str) -> bool:
    """The switch between a network's parts and its patterns; whether it is to be run."""
    with st.container(key=f"{PAGE}_said", horizontal=True, vertical_alignment="center"):
        said = st.segmented_control(
            "View",
            list(VIEWS),
            format_func=VIEWS.__getitem__,
            key=f"{PAGE}_run",
            required=True,
            persist_state="session",
            label_visibility="collapsed",
        )
        st.html(summary)
        if blueprint.values() != blueprint.preset_values(blueprint.chosen()):
            st.button("Undo my changes", key=f"{PAGE}_reset", on_click=take, type="tertiary")
    return said == "yes"


def look() -> str | None:
    """What stands beside the diagram: the chosen part, or all parts' shares of something."""
    return st.segmented_control(
        "Show",
        list(LOOKS),
        format_func=LOOKS.__getitem__,
        key=f"{PAGE}_look",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )


def take() -> None:
    """Makes every control say what the preset does, for a callback."""
    change(blueprint.preset_values(blueprint.chosen()))


def change(values: dict[str, int | str]) -> None:
    """Makes controls say something else, for a callback: all of them are shown anew."""
    settings.say(PAGE, values)
    st.rerun(PAGE_KEY)


def _take_preset() -> None:
    from models.presets import PRESETS

    key = f"{PAGE}_preset"
    said = st.session_state[key]  # a title where the box no longer offers it: the answer is late
    st.session_state[key] = next(n for n, each in PRESETS.items() if said in (n, each.title))
    if "preset" not in settings.hear(PAGE):
        _begin()


def _begin() -> None:
    """The preset's own settings; its own input too, where the one before is a trained model's."""
    name, state = blueprint.chosen(), st.session_state
    settings.say(PAGE, blueprint.preset_values(name))
    foreign = state[f"{PAGE}_photo"] in picture.SAMPLES or _of_a_model(state[f"{PAGE}_text"])
    if blueprint.trained(name) or foreign:
        settings.say(PAGE, blueprint.first_input(name) | {"reads": "text"})


def _of_a_model(text: str) -> bool:
    """Whether a text is an example of a model that was trained here."""
    from models.presets import PRESETS

    return any(text == example.input for name in PRESETS for example in blueprint.examples(name))


def _take_kind() -> None:
    from models.presets import first_of

    settings.hear(PAGE)
    settings.say(PAGE, {"preset": first_of(st.session_state[f"{PAGE}_kind"])})
    _begin()


def _redraw() -> None:
    """Shows what follows from a control that was changed, and leaves the controls as they are."""
    st.rerun(SHOWN_KEY)


def _control(field: Field) -> None:
    {"slider": _slider, "number": _number, "switch": _switch, "select": _select}[field.control](
        field
    )


def _slider(field: Field) -> None:
    st.slider(
        field.label,
        min_value=field.low,
        max_value=field.high,
        step=1,
        key=f"{PAGE}_{field.name}",
        on_change=_redraw,
        persist_state="session",
        help=field.told,
        width=150,
    )


def _number(field: Field) -> None:
    st.number_input(
        field.label,
        min_value=field.low,
        max_value=field.high,
        step=1,
        key=f"{PAGE}_{field.name}",
        on_change=_redraw,
        persist_state="session",
        help=field.told,
        width=132,
    )


def _switch(field: Field) -> None:
    st.segmented_control(
        field.label,
        field.options,
        key=f"{PAGE}_{field.name}",
        on_change=_redraw,
        required=True,
        persist_state="session",
        help=field.told,
    )


def _select(field: Field) -> None:
    st.selectbox(
        field.label,
        field.options,
        key=f"{PAGE}_{field.name}",
        on_change=_redraw,
        persist_state="session",
        help=field.told,
        width=132,
    )
