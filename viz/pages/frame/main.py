"""The script that Streamlit runs: page settings, the bar, and the page that was asked for."""

import streamlit as st

from viz.pages.frame.registry import pages
from viz.pages.lessons.frame import way_back

st.set_page_config(page_title="Headscope", page_icon="viz/icon.svg", layout="wide")
page = st.navigation([*pages().values()], position="top")
way_back(page.url_path)
page.run()
