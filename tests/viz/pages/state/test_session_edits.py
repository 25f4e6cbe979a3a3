"""Settings changed by the script, empty number boxes, and pages without a view or with several."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers

PAGE = "edits"
HEADING = "import streamlit as st\nst.markdown('#### Edits')\n"
EDITS = f"""{HEADING}
from viz.pages.state import params as link
from viz.pages.state import link_on_entry, session
from viz.pages.widgets import attention, controls

PARAMS = (link.number("length", 64, 8, 64), link.number("position", 20, 0, 63),
          link.number("width", 0, 0, 64), link.number("head", 0, 0, 9))
link_on_entry.enter("{PAGE}", PARAMS, frozenset())
length = controls.slider("{PAGE}", "length", "Length", (8, 64), "")
if session.get("{PAGE}", "position") >= length:
    session.edit("{PAGE}", {{"position": length - 1}})
controls.slider("{PAGE}", "position", "Position", (0, length - 1), "")
controls.number("{PAGE}", "width", "Width", (0, 64), "", auto="auto (16)")
attention.address("{PAGE}", PARAMS)
"""


def opened(script: str, **query: str) -> AppTest:
    app = AppTest.from_string(script, default_timeout=30)
    for name, value in query.items():
        app.query_params[name] = value
    return helpers.checked(app.run())


def slider(app: AppTest, label: str) -> dict[str, Any]:
    return next(props for props in helpers.views(app, "slider") if props["label"] == label)


def test_a_setting_that_the_script_changes_mounts_its_widget_anew():
    app = opened(EDITS)
    before = helpers.key(app, PAGE, "position"), helpers.key(app, PAGE, "length")
    helpers.choose(app, PAGE, "length", 16)
    assert slider(app, "Position")["value"] == helpers.setting(app, PAGE, "position") == 15
    assert helpers.key(app, PAGE, "position") != before[0]
    assert helpers.key(app, PAGE, "length") == before[1]
    helpers.choose(app, PAGE, "length", 64)
    assert helpers.setting(app, PAGE, "position") == 15
    helpers.choose(app, PAGE, "position", 40)
    assert helpers.link(app) == {"position": "40"}


def test_what_no_slider_sends_is_not_taken_over():
    app = opened(EDITS)
    for sent, length in ((10**9, 64), ("many", 64), (9.4, 9), (None, 9), (-1, 8)):
        helpers.choose(app, PAGE, "length", sent)
        assert helpers.setting(app, PAGE, "length") == length


def test_an_empty_number_box_stands_for_zero():
    app = opened(EDITS, width="8")
    assert helpers.link(app) == {"width": "8"}
    helpers.choose(app, PAGE, "width", None)
    assert helpers.link(app) == {}
    (box,) = app.number_input
    assert (box.value, box.proto.placeholder) == (None, "auto (16)")
