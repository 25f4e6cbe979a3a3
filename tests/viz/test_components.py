"""The views' wrappers: what Streamlit is handed, what comes back, and pages that need no server."""

import re

from headscope_views.standalone import page
from streamlit.testing.v1 import AppTest

from viz.pack import message

BLOB = message(trace="k3j")


def script() -> None:
    import streamlit as st
    from headscope_views import explorer

    from viz.pack import message

    view = explorer(message(trace="k3j"), key="page_view", on_change=lambda: None)
    st.text("nothing yet" if view is None else f"site {view['select']['site']}, ask {view['ask']}")


def test_streamlit_is_handed_the_bytes_and_packaged_files():
    app = AppTest.from_function(script, default_timeout=30).run()
    assert not app.exception
    assert app.text[0].value == "nothing yet"
    sent = app.get("bidi_component")[0].proto
    assert sent.bytes == BLOB
    assert (sent.js_source_path, sent.css_source_path) == ("streamlit.js", "explorer.css")
    assert sent.js_content == sent.css_content == ""


def test_what_the_view_said_comes_back():
    app = AppTest.from_function(script, default_timeout=30).run()
    app.session_state["page_view"] = {"view": {"select": {"site": 3}, "ask": None}}
    app.run()
    assert not app.exception
    assert app.text[0].value == "site 3, ask None"


def test_a_page_of_its_own_fetches_nothing():
    html = page(BLOB, title="<b>title</b>")
    assert "<title>&lt;b&gt;title&lt;/b&gt;</title>" in html
    assert not re.search(r"https?://|//cdn|@import|url\(", html)
    assert re.findall(r'\b(?:src|href)="', html) == []


def mode_script() -> None:
    from headscope_views import mode

    mode("dark", key="page_mode")


def test_the_mode_is_watched_by_a_file_of_its_own():
    app = AppTest.from_function(mode_script, default_timeout=30).run()
    assert not app.exception
    sent = app.get("bidi_component")[0].proto
    assert (sent.bytes, sent.js_source_path) == (b"dark", "streamlit_mode.js")
