"""Random use of every page; longer runs are benchmarks.hostile."""

import pytest

from tests.browser.driver import drive

pytestmark = [pytest.mark.browser, pytest.mark.long]
ACTIONS = 60


def test_random_actions_leave_everything_in_agreement(page, app_url):
    found = drive(page, app_url, seed=1, actions=ACTIONS)
    assert found.problems == [], "\n".join([*found.problems, *found.log[-40:]])
