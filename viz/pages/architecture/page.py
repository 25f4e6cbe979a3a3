"""Architecture: choose a network, change it, and see its parts, its costs and its heads."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.architecture import QUANTITIES
from viz.pages import explorer, settings, shared
from viz.pages.architecture import blueprint
from viz.pages.architecture import controls as blueprint_controls
from viz.pages.architecture import run as blueprint_run
from viz.pages.architecture import view as blueprint_view

PAGE = blueprint.PAGE


@st.fragment(key=blueprint_controls.PAGE_KEY)
def page() -> None:
    with st.container(gap="small"):
        name = blueprint.named_in(st.query_params.to_dict())
        problems = settings.from_link(PAGE, blueprint.params(name))
        st.markdown("#### What is a transformer made of?")
        for problem in problems:
            shared.error_line(problem)
        blueprint_view.style()
        blueprint_controls.network()
        blueprint_controls.controls()
        _shown()


@st.fragment(key=blueprint_controls.SHOWN_KEY)
def _shown() -> None:
    """What follows from the controls: a changed control runs this alone, and not them."""
    settings.hear(PAGE)
    notes = st.container(key="architecture_notes", gap="small")
    with st.container(key="architecture_picture"):
        if shared.warm():
            _show(notes)
        else:
            blueprint_view.wait()
    settings.tell(PAGE)
    settings.to_link(PAGE, blueprint.params(blueprint.chosen()))


def _show(notes: DeltaGenerator) -> None:
    """The diagram; where the settings are impossible, that of the last ones that were not."""
    name, said, error = blueprint.possible()
    config = blueprint.config(name, said)
    parts = blueprint_view.parts_of(config, *blueprint.sizes(said))
    with notes:
        if error is not None:
            blueprint_controls.problem(error)
        running = blueprint_controls.view(blueprint_view.summary(parts))
    drawn, run = st.container(), st.container()
    if running and error is None:
        drawn.empty()
        with run.container(gap="small"):
            blueprint_run.show(name, config)
        return
    explorer.hide(PAGE, run)
    with drawn.container():
        _look(parts, blueprint.title(name), stale=error is not None)


@st.fragment
def _look(parts: blueprint_view.Parts, title: str, *, stale: bool) -> None:
    """What is chosen in the diagram runs this alone."""
    settings.hear(PAGE)
    left, right = st.columns([3, 2] if len(parts) > 2 else [7, 4], gap="medium")
    with left:
        path = blueprint_view.diagram(parts, title, stale=stale)
    with right, st.container(key="architecture_told", gap="small"):
        look = blueprint_controls.look()
        if look in QUANTITIES:
            blueprint_view.shares(parts, look, title)
        else:
            blueprint_view.chosen(parts, path)
    settings.to_link(PAGE, blueprint.params(blueprint.chosen()))


page()
