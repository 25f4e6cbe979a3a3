"""A long forward pass on a page: its estimate, its progress, and what Stop does."""

from streamlit.testing.v1 import AppTest

SCRIPT = """
import streamlit as st

from models.loading.estimate import Estimate
from viz.pages.state import link_on_entry
from viz.pages.widgets.running import Pass

link_on_entry.enter("test", ())
run = Pass("test", "id", lambda: (Estimate({flops}, 3 * 2**30), "cpu"))
if run.stopped:
    run.offer()
else:
    with run.progress() as progress:
        progress(0, 12)
        progress(5, 12)
        if st.session_state.get("interrupted"):
            st.stop()
        progress(12, 12)
    st.write("the picture")
"""


def page(flops: float, *, interrupted: bool = False) -> AppTest:
    script = SCRIPT.replace("{flops}", str(int(flops)))
    app = AppTest.from_string(script, default_timeout=60)
    app.session_state["interrupted"] = interrupted
    return app.run()


def test_a_long_pass_shows_its_estimate_and_its_layers_and_clears_up_behind_itself() -> None:
    app = page(1e15, interrupted=True)
    [bar] = app.get("progress")
    assert "3.00 GiB · 0 of 12 layers" in bar.proto.text
    assert bar.proto.text.startswith("Takes about ")
    assert [button.label for button in app.button] == ["Stop"]
    app = page(1e15)
    assert not app.get("progress")
    assert not app.button
    assert [each.value for each in app.markdown] == ["the picture"]


def test_stop_offers_to_run_it_after_all() -> None:
    app = page(1e15, interrupted=True)
    app.session_state["interrupted"] = False
    app.button[0].click().run()
    assert "Stopped" in app.info[0].value
    assert not app.markdown
    [again] = app.button
    assert again.label.startswith("Run it (about ")
    again.click().run()
    assert [each.value for each in app.markdown] == ["the picture"]
