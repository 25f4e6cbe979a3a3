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
page = st.navigation(
    {
        "Explore": [
            st.Page(
                "viz/pages/explore/text.py",
                title="Text",
                icon=":material/notes:",
                url_path="text",
                default=True,
            )
        ]
    },
    position="top",
)
page.run()
shared.sidebar()
