"""The transitions of a page's state."""

import pytest

from viz.pages.state.page_state import Assigned, Edited, Entered, PageState, reduce

STATE = PageState(5, {"heads": 4, "input": "a"}, {"layer": 2}, ("a problem",))


def test_an_edit_of_this_revision_changes_settings_and_ends_the_problems() -> None:
    after = reduce(STATE, Edited(5, {"heads": 8}))
    assert after == PageState(5, {"heads": 8, "input": "a"}, {"layer": 2}, ())


@pytest.mark.parametrize("revision", [0, 4, 6])
def test_an_edit_of_another_revision_changes_nothing(revision: int) -> None:
    assert reduce(STATE, Edited(revision, {"heads": 8})) is STATE


def test_an_edit_to_the_same_values_changes_nothing() -> None:
    assert reduce(STATE, Edited(5, {"heads": 4})) is STATE
    assert reduce(STATE, Edited(5, {})) is STATE


def test_what_is_given_begins_a_revision() -> None:
    after = reduce(STATE, Assigned({"heads": 8}, {"layer": 0, "head": "max"}, ("another",)))
    assert after == PageState(
        6, {"heads": 8, "input": "a"}, {"layer": 0, "head": "max"}, ("another",)
    )


def test_without_a_selection_the_view_stays_where_it_is() -> None:
    assert reduce(STATE, Assigned({"heads": 8})).selection is None


def test_a_page_that_is_entered_again_is_as_it_was_with_new_widgets() -> None:
    after = reduce(STATE, Entered())
    assert after == PageState(6, STATE.settings, None, STATE.problems)
