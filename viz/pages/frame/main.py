"""The script that Streamlit runs: page config, the bar, and the current page."""

from pathlib import Path

import streamlit as st

from viz.pages.frame import bar, registry
from viz.pages.state import link_on_entry, session

VIZ = Path(__file__).parents[2]

page = st.navigation(list(registry.pages().values()), position="hidden")
entry = registry.entry_of(page)
st.set_page_config(
    page_title=f"{entry.title} · Headscope", page_icon=str(VIZ / "icon.svg"), layout="wide"
)
st.html(VIZ / "app.css")
if st.context.is_embedded:
    st.html(VIZ / "embedded.css")
again = session.is_on(entry.name)
link_on_entry.enter_app(entry.name)
place = bar.place()
if not again:
    bar.draw(entry, place)
bar.way_back(entry.name)
try:
    page.run()
finally:
    if again:  # the browser has the bar already: what the page draws anew comes first
        bar.draw(entry, place)
