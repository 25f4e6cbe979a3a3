"""Settings that were given other values, and messages of a browser that had not heard of it."""

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

import start
from viz.pages import settings
from viz.pages.state import params as link

PARAMS = (link.number("heads", 4, 1, 32), link.number("dim", 64, 1, 999))


def again() -> None:
    raise InterruptedError


class Address(dict):
    def from_dict(self, query) -> None:
        self.clear()
        self.update(query)


@pytest.fixture
def state(monkeypatch):
    """The session of a page that stands in the browser, with its address."""
    session, address = {}, Address()
    told = SimpleNamespace(
        session_state=session, query_params=address, rerun=again, text_input=lambda *_, **__: None
    )
    monkeypatch.setattr(settings, "st", told)
    monkeypatch.setattr(settings, "get_script_run_ctx", lambda: None)
    assert run({}) == []
    return session


def run(changed, address=None) -> list[str]:
    """A run, from what the browser says of its controls and address: what is told in it."""
    settings.st.session_state.update(changed)
    if address is not None:
        settings.st.query_params.from_dict(address)
    told = settings.from_link("page", PARAMS)
    settings.tell("page")
    settings.to_link("page", PARAMS)
    return told


def heard(number: int) -> dict[str, str]:
    """What the browser says along with its controls: how many changes it has heard of."""
    return {"page_unseen": str(number)}


def test_an_old_value_that_comes_late_is_put_back(state) -> None:
    settings.say("page", {"heads": 8, "dim": 128})
    run({})
    assert settings.st.query_params == {"heads": "8", "dim": "128"}
    run({"page_heads": 4, "page_dim": 64, **heard(1)}, {})
    assert (state["page_heads"], state["page_dim"]) == (8, 128)
    assert settings.st.query_params == {"heads": "8", "dim": "128"}


def test_the_new_address_may_come_with_an_old_value(state) -> None:
    settings.say("page", {"heads": 8})
    run({})
    run({"page_heads": 4, **heard(1)})
    assert state["page_heads"] == 8
    assert settings.st.query_params == {"heads": "8"}


def test_what_was_changed_in_the_late_message_itself_counts(state) -> None:
    settings.say("page", {"heads": 8, "dim": 128})
    run({})
    run({"page_heads": 2, "page_dim": 64, **heard(1)}, {})
    assert (state["page_heads"], state["page_dim"]) == (2, 128)


def test_a_message_that_missed_two_changes_gets_the_newest(state) -> None:
    for heads in (8, 12):
        settings.say("page", {"heads": heads})
        run({})
    run({"page_heads": 4, **heard(1)}, {})
    assert state["page_heads"] == 12
    run({"page_heads": 8, **heard(2)}, {"heads": "8"})
    assert state["page_heads"] == 12


def test_a_message_may_be_older_than_what_was_changed_before_it(state) -> None:
    run({"page_heads": 8})
    settings.say("page", {"dim": 128})
    run({})
    run({"page_dim": 64, **heard(1)}, {})
    assert (state["page_heads"], state["page_dim"]) == (8, 128)


def test_a_new_link_overrules_what_was_said_before_it(state) -> None:
    settings.say("page", {"heads": 8})
    run({})
    run({}, {"heads": "4", "dim": "32"})
    run({"page_dim": 64})
    run({}, {"heads": "4", "dim": "32"})
    assert state["page_heads"] == 4


def test_the_values_before_a_link_may_come_after_it(state) -> None:
    settings.say("page", {"heads": 8})
    run({})
    run({}, {"heads": "2", "dim": "32"})
    run({"page_heads": 8, "page_dim": 64, **heard(2)})
    assert (state["page_heads"], state["page_dim"]) == (2, 32)
    run({"page_heads": 4, "page_dim": 64, **heard(1)})
    assert (state["page_heads"], state["page_dim"]) == (2, 32)


def test_an_old_value_chosen_again_is_the_users(state) -> None:
    settings.say("page", {"heads": 8})
    run({})
    run({"page_heads": 4, **heard(2)})
    assert state["page_heads"] == 4
    assert settings.st.query_params == {}


def test_after_a_while_an_old_address_is_news_again(state, monkeypatch) -> None:
    settings.say("page", {"heads": 8})
    run({})
    monkeypatch.setattr(settings, "LATE", 0.0)
    run({}, {})
    assert state["page_heads"] == 4


def test_the_way_back_is_news_at_once(state, monkeypatch) -> None:
    settings.say("page", {"heads": 8})
    run({})
    back = SimpleNamespace(is_history_navigation=True)
    monkeypatch.setattr(settings, "get_script_run_ctx", lambda: back)
    run({}, {})
    assert state["page_heads"] == 4
    assert settings.st.query_params == {}


def test_who_asks_is_told_what_was_put_back(state) -> None:
    settings.say("page", {"heads": 8, "dim": 64})
    run({})
    state["page_heads"] = 4
    assert settings.hear("page") == set()
    state.update(heard(1))
    assert settings.hear("page") == {"heads"}
    assert settings.hear("page") == set()


@pytest.mark.parametrize("nonsense", ["", "−1", "1e9", "<b>"])
def test_a_number_that_is_none_is_no_number_heard_of(state, nonsense) -> None:
    settings.say("page", {"heads": 8})
    run({"page_heads": 4, "page_unseen": nonsense})
    assert state["page_heads"] == 8


def test_a_view_of_other_settings_has_everything_drawn_anew(state) -> None:
    drawn = settings.controls("page", PARAMS)
    settings.keep_up("page", PARAMS, drawn)
    state["page_heads"] = 8
    with pytest.raises(InterruptedError):
        settings.keep_up("page", PARAMS, drawn)


def test_what_comes_before_everything_is_drawn_anew_is_late(state) -> None:
    drawn = settings.controls("page", PARAMS)
    settings.say("page", {"heads": 8})
    with pytest.raises(InterruptedError):
        settings.keep_up("page", PARAMS, drawn)
    run({"page_heads": 4, **heard(1)}, {})
    assert state["page_heads"] == 8


def test_what_is_chosen_in_a_view_is_none_of_its_controls(state) -> None:
    params = (*PARAMS, link.number("layer", 3, 0, 9))
    drawn = settings.controls("page", params)
    state["page_layer"] = 5
    assert settings.controls("page", params) == drawn
    assert {"heads": 4, "dim": 64}.items() <= drawn.items()


@pytest.mark.parametrize("everywhere", [{"device": "cuda"}, {"projector": True}])
def test_a_view_follows_what_holds_on_every_page(state, everywhere) -> None:
    drawn = settings.controls("page", PARAMS)
    state.update(everywhere)
    with pytest.raises(InterruptedError):
        settings.keep_up("page", PARAMS, drawn)


def test_a_view_follows_a_file_that_was_dropped(state) -> None:
    drawn = settings.controls("page", PARAMS)
    with pytest.raises(InterruptedError):
        settings.keep_up("page", PARAMS, drawn, dropped=True)


def test_only_the_newest_changes_are_kept(state) -> None:
    for number in range(3 * settings.KEPT):
        settings.say("page", {"heads": 1 + number % 32})
        run({})
    assert len(state["page_said"]) == len(state["page_replaced"]) == settings.KEPT


PAGES = sorted(
    path
    for section in ("explore", "lab", "learn")
    for path in (start.ROOT / "viz/pages" / section).glob("[!_]*.py")
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_page_tells_the_browser_what_its_link_gave_its_settings(path) -> None:
    """Of what the browser is never told it would undo everything that is chosen after it."""
    app = AppTest.from_file(str(start.ROOT / "app.py"), default_timeout=60)
    app.switch_page(str(path.relative_to(start.ROOT)))
    app.run()
    told = app.text_input(f"{path.stem}_unseen").value
    assert told == str(app.session_state[f"{path.stem}_number"]) != "0"
