"""The script that Streamlit runs: page settings, the bar, and the page that was asked for."""

import streamlit as st

from viz.pages.text import page as text

st.set_page_config(page_title="Headscope", page_icon="viz/icon.svg", layout="wide")
st.navigation([st.Page(text.page, title="Text", url_path="text", default=True)]).run()
