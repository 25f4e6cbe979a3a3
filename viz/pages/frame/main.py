"""The script that Streamlit runs: page config, the bar, and the current page."""

from pathlib import Path

import streamlit as st

from viz.pages.frame import bar, registry
from viz.pages.lessons.frame import way_back
from viz.pages.state import session

VIZ = Path(__file__).parents[2]

page = st.navigation(list(registry.pages().values()), position="hidden")
entry = registry.entry_of(page)
st.set_page_config(
    page_title=f"{entry.title} · Headscope", page_icon=str(VIZ / "icon.svg"), layout="wide"
)
st.html(VIZ / "app.css")
session.enter_app(entry.name)
bar.draw(entry)
way_back(entry.name)
if st.context.is_embedded:
    with st.container(key="frame_embedded"):
        st.html("<span></span>")  # app.css hides everything but the view if this exists
page.run()
