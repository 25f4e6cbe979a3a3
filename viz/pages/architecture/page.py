"""Architecture: choose a network, change it, and see its parts, its costs and its attention."""

import sys

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages import compute, shared
from viz.pages.architecture import controls, diagram, network, presets, run
from viz.pages.architecture.presets import PAGE
from viz.pages.state import link_on_entry
from viz.pages.widgets import attention


def page() -> None:
    """Draws the page."""
    problems = link_on_entry.enter(PAGE, presets.params_of).problems
    st.markdown("#### What is a transformer made of?")
    with attention.controls(PAGE):
        for problem in problems:
            shared.error_line(problem)
        controls.choose()
        controls.change()
    above, place = st.container(key=f"{PAGE}_above", gap="small"), st.container()
    waiting = st.empty()
    if "torch" not in sys.modules:  # needed to compute the parts
        with waiting.container():
            diagram.wait()
    _show(above, place)
    waiting.empty()


def _show(above: DeltaGenerator, place: DeltaGenerator) -> None:
    """The parts or the attention; if the settings are invalid, the last valid ones, dimmed."""
    config, sizes, error = network.possible()
    costs = compute.parts(config, *sizes)
    with above:
        if error is not None:
            controls.problem(error)
        is_run = controls.view(diagram.summary(costs)) == "yes"
    with place:
        if is_run and error is None:
            run.show(config)
        elif not (is_run and run.stale()):
            diagram.show(costs, stale=error is not None, link=not is_run)
