"""The strip of cards: there while nothing was chosen, gone with a choice, back with the name."""

from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from models.catalogue import entry
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import choose, opened, press, setting, view
from viz.pages.explore import page, source, welcome
from viz.pages.state import session


def strip(app: AppTest) -> list[dict]:
    """The cards on the page; [] where there is no strip."""
    found = helpers.views(app, "strip")
    return found[0]["items"] if found else []


def take(app: AppTest, name: str) -> AppTest:
    """Chooses a card, as the callback of the strip notes it."""
    action = partial(welcome.take, name, page.params_of)
    app.session_state["state/waiting"].append(session.Waiting(action, None, 0))
    return helpers.checked(app.run())


def test_the_page_opens_with_the_strip_until_something_is_chosen() -> None:
    app = opened()
    assert [item["id"] for item in strip(app)] == [card.name for card in welcome.CARDS]
    choose(app, "input", "A text of one's own.")
    assert strip(app)  # nothing jumps while one types
    press(app, "example_1")
    assert not strip(app)


@pytest.mark.parametrize("query", [{"model": "built"}, {"layer": "2"}])
def test_a_link_that_chooses_has_no_strip(query: dict[str, str]) -> None:
    assert not strip(opened(**query))


def test_a_card_is_a_link_that_is_followed_within_the_page() -> None:
    app = take(opened(), "built")
    assert setting(app, "model") == "built"
    assert not strip(app)
    assert view(app)["start"] == view(opened(model="built"))["start"]


def test_a_public_server_offers_none_of_your_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLIC", "1")
    assert "own" not in {item["id"] for item in strip(opened())}
    assert "own" not in {item["id"] for item in strip(take(opened(), "own"))}


def test_a_model_that_is_not_here_says_how_much_is_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(welcome, "is_here", lambda entry: False)
    details = {item["id"]: item["detail"] for item in strip(opened())}
    megabytes = f"{entry('whisper').download / 1e6:.0f}"
    assert details["speech"] == f"Get ({megabytes} MB)"
    assert details["sentence"] == "Who is “it”?"


def test_every_card_s_link_leads_to_what_it_chooses() -> None:
    for card in welcome.CARDS:
        assert card.link.startswith("./")
        assert len(card.title.split()) == 2
        if card.page == welcome.PAGE:
            usual = {
                each.name: each.default
                for each in page.params_of({"model": card.settings["model"]})
            }
            assert card.settings["model"] in source.TITLES
            for name in ("layer", "head"):  # of Whisper, the trace tells the usual ones
                assert usual[name] is None or card.settings[name] == str(usual[name])
                assert card.settings[name].isdecimal()
