"""A long forward pass on a page: its progress, and what Stop does."""

from streamlit.testing.v1 import AppTest

SCRIPT = """
import streamlit as st

from models.request import Source, TraceRequest
from viz.pages.state import link_on_entry
from viz.pages.widgets import running

link_on_entry.enter("test", ())
request = TraceRequest(Source("built", "encoder"), "a text")
if not running.is_stopped("test", request):
    with running.progress("test", request, lambda: True) as progress:
        progress(0, 12)
        progress(5, 12)
        if st.session_state.get("interrupted"):
            st.stop()
        progress(12, 12)
    st.write("the picture")
"""


def page(*, interrupted: bool = False) -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.session_state["interrupted"] = interrupted
    return app.run()


def test_a_long_pass_shows_its_layers_and_clears_up_behind_itself() -> None:
    app = page(interrupted=True)
    [bar] = app.get("progress")
    assert bar.proto.text == "0 of 12 layers"
    assert [button.label for button in app.button] == ["Stop"]
    app = page()
    assert not app.get("progress")
    assert not app.button
    assert [each.value for each in app.markdown] == ["the picture"]


def test_stop_offers_to_run_it_after_all() -> None:
    app = page(interrupted=True)
    app.session_state["interrupted"] = False
    app.button[0].click().run()
    assert "Stopped" in app.info[0].value
    assert not app.markdown
    [again] = app.button
    assert again.label == "Run it"
    again.click().run()
    assert [each.value for each in app.markdown] == ["the picture"]
