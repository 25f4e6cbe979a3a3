"""Page states in a Streamlit session: links, widgets, pages left and entered again."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.viz.pages import helpers
from viz.pages.state.params import digest_of

SCRIPT = """
import streamlit as st
from viz.pages.state import params as link
from viz.pages.state import link_on_entry, session
from viz.pages.widgets import controls

PARAMS = (
    link.text("input", "hello"),
    link.number("heads", 4, 1, 16),
    link.choice("norm", "post", ("post", "pre")),
    link.choice("more", "no", ("no", "yes")),
    link.number("layer", 0, 0, 99),
)

def interruptible():
    if st.session_state.pop("test/interrupt_action", False):
        st.rerun()
    session.assign(page, {"heads": 9})

page = st.session_state.get("test/page", "one")
state = link_on_entry.enter(page, PARAMS)
controls.entry(page, "input", "Input")
controls.toggle(page, "more", "More", "")
if session.get(page, "more") == "yes":
    controls.number(page, "heads", "Heads", (1, 16), "")
controls.choice(page, "norm", "Norm", {"post": "Post", "pre": "Pre"}, "")
controls.toggle(session.APP, "projector", "Projector", "")
st.button("give", on_click=session.assign, args=(page, {"heads": 7, "norm": "pre"}, {"layer": 3}))
st.button("interruptible", on_click=session.callback(interruptible))
st.json({
    "settings": dict(session.current(page).settings),
    "problems": list(state.problems),
    "props": session.props(page, PARAMS),
})
"""


class Page:
    """An open page."""

    def __init__(self, **query: str) -> None:
        self.app = AppTest.from_string(SCRIPT)
        self.open(**query)

    def open(self, page: str = "one", **query: str) -> None:
        """Goes to a page by a link; without a query, through the menu."""
        self.app.session_state["test/page"] = page
        self.app.query_params.clear()
        for name, value in query.items():
            self.app.query_params[name] = value
        self.run()

    def run(self) -> None:
        self.app.run()
        assert not self.app.exception, [found.message for found in self.app.exception]

    def type(self, text: str) -> None:
        self.app.session_state[self.key("input")] = {"value": text}
        self.run()

    def click(self, label: str) -> None:
        next(button for button in self.app.button if button.label == label).click()
        self.run()

    def choose(self, norm: str) -> None:
        self.app.button_group(self.key("norm")).set_value(norm)
        self.run()

    def turn(self, name: str, on: bool, page: str = "one") -> None:
        self.app.toggle(self.key(name, page)).set_value(on)
        self.run()

    def key(self, name: str, page: str = "one") -> str:
        return self.app.session_state[f"state/{page}/mounts"][name].key

    @property
    def said(self) -> dict[str, Any]:
        return json.loads(self.app.json[0].value)

    @property
    def settings(self) -> dict[str, Any]:
        return self.said["settings"]

    @property
    def props(self) -> dict[str, Any]:
        return self.said["props"]

    @property
    def entry(self) -> dict[str, Any]:
        """What the browser is told about the text entry."""
        (found,) = self.app.get("bidi_component")
        return json.loads(found.proto.json)[0]


def test_a_link_sets_what_it_names_and_leaves_the_rest_at_its_default() -> None:
    page = Page(heads="8", layer="5")
    assert page.settings == {"input": "hello", "heads": 8, "norm": "post", "more": "no"}
    assert page.props["start"] == {"layer": 5}
    assert page.props["link"] == {"heads": "8"}
    assert page.props["defaults"] == {"layer": 0}


def test_the_link_is_read_once_however_often_the_page_runs() -> None:
    page = Page(norm="pre")
    revision = page.props["revision"]
    page.choose("post")
    page.run()
    assert page.settings["norm"] == "post"
    assert page.props["revision"] == revision
    assert page.props["link"] == {}


def test_a_link_that_makes_no_sense_is_named_until_something_changes() -> None:
    page = Page(heads="99", colour="red", projector="maybe")
    assert len(page.said["problems"]) == 3
    page.run()
    assert len(page.said["problems"]) == 3
    page.choose("pre")
    assert page.said["problems"] == []


def test_what_is_given_makes_new_widgets_and_a_selection() -> None:
    page = Page()
    before = page.key("norm"), page.props["revision"]
    page.click("give")
    assert page.settings == {"input": "hello", "heads": 7, "norm": "pre", "more": "no"}
    assert page.props["start"] == {"layer": 3}
    assert page.key("norm") != before[0]
    assert page.props["revision"] != before[1]
    assert page.app.button_group(page.key("norm")).value == "pre"


def test_an_event_of_an_earlier_revision_changes_nothing() -> None:
    page = Page()
    stale = page.key("norm"), page.key("input")
    page.click("give")
    page.app.session_state[stale[0]] = "post"
    page.app.session_state[stale[1]] = {"value": "late"}
    page.run()
    assert page.settings["norm"] == "pre"
    assert page.settings["input"] == "hello"


def test_a_click_whose_action_is_interrupted_counts_once_it_completes() -> None:
    page = Page()
    page.app.session_state["test/interrupt_action"] = True
    page.click("interruptible")
    assert page.settings["heads"] == 9
    page.click("give")
    page.run()
    assert page.settings["heads"] == 7


def test_a_widget_that_was_hidden_comes_back_with_its_value() -> None:
    page = Page(more="yes")
    page.app.number_input(page.key("heads")).set_value(9)
    page.run()
    for _ in range(3):
        page.turn("more", False)
        page.run()
        assert not page.app.number_input
        page.turn("more", True)
        assert page.app.number_input(page.key("heads")).value == 9
        assert page.settings["heads"] == 9


def test_a_page_that_is_left_is_found_as_it_was() -> None:
    page = Page(layer="5")
    page.type("my text")
    page.choose("pre")
    before = page.settings
    page.open("two")
    assert page.settings == {"input": "hello", "heads": 4, "norm": "post", "more": "no"}
    page.open("one")
    assert page.settings == before
    assert page.props["start"] is None  # where the view was
    assert page.entry["value"] == "my text"
    assert page.app.button_group(page.key("norm")).value == "pre"


def test_a_long_text_stands_in_the_link_by_its_digest_and_is_found_again() -> None:
    long = "the river " * 400
    page = Page()
    page.type(long)
    assert page.props["link"] == {"input_sha256": digest_of(long)}
    reloaded = Page(**page.props["link"])
    assert reloaded.settings["input"] == long
    assert reloaded.said["problems"] == []
    assert reloaded.props["link"] == page.props["link"]


def test_the_query_of_another_page_that_was_open_before_is_not_read() -> None:
    page = Page()
    page.app.session_state["state/names"]["three"] = {"place", "norm"}
    page.open("two", place="hub", norm="batch", heads="9")
    assert page.said["problems"] == []
    assert (page.settings["heads"], page.settings["norm"]) == (4, "post")
    page.open("one", norm="batch", nobody="1")  # names that tell nothing
    assert len(page.said["problems"]) == 2


def test_settings_of_the_app_hold_on_every_page_and_stay_in_the_link() -> None:
    page = Page(projector="yes")
    assert page.props["type_size"] > 1
    assert page.props["link"] == {"projector": "yes"}
    page.open("two")
    assert page.props["link"] == {"projector": "yes"}
    page.turn("projector", False, "app")
    assert page.props["link"] == {}
    assert page.props["type_size"] == 1
    page.open("one")
    assert page.props["type_size"] == 1


def test_two_sessions_share_nothing() -> None:
    one, other = Page(), Page()
    one.type("mine")
    other.run()
    assert other.settings["input"] == "hello"
    assert one.props["session"] != other.props["session"]
    assert one.props["revision"] != other.props["revision"]


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
