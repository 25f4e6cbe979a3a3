"""The app's frame: page settings, what all pages share, and the way to each page."""

import streamlit as st

from viz.pages import shared

st.set_page_config(
    page_title="Headscope",
    page_icon="viz/icon.svg",
    layout="wide",
    initial_sidebar_state="collapsed",
)
st.logo("viz/icon.svg", size="medium")
shared.frame()
explore = [
    st.Page(
        f"viz/pages/explore/{name}.py",
        title=name.capitalize(),
        icon=f":material/{icon}:",
        url_path=name,
        default=name == "text",
    )
    for name, icon in (("text", "notes"), ("image", "image"), ("positions", "tag"))
]
page = st.navigation({"Explore": explore}, position="top")
page.run()
shared.sidebar()
