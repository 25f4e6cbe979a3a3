"""The menu: settings shared by all pages, and a link to the current view."""

import streamlit as st
from headscope_views import view

from viz.pages import compute
from viz.pages.shared import cold
from viz.pages.state.session import APP, app
from viz.pages.widgets import controls


def draw() -> None:
    """Draws the closed menu."""
    with st.popover("View", icon=":material/tune:", type="tertiary", key="frame_menu"):
        controls.toggle(APP, "projector", "Projector mode", "Larger type, for the back row")
        _device()
        _copy_link()
    if app("projector") == "yes":
        with st.container(key="frame_projector", width="content"):
            st.html("<span></span>")  # app.css enlarges the type if this exists; empty is not drawn


def _device() -> None:
    """A choice of device, if this machine is known to have more than one."""
    if cold():
        return
    names = compute.devices()
    if len(names) > 1:
        titles = {name: name.upper() for name in names}
        controls.choice(APP, "device", "Device", titles, "What the models run on")


def _copy_link() -> None:
    view("copy", {"label": "Copy the link to this view"}, key="frame_copy")
