"""Hostile use, a short run of each kind; long ones are benchmarks.hostile and .hostile_wire."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.hostile_wire import room
from tests.browser.driver import drive

pytestmark = pytest.mark.browser
ACTIONS = 60
PEOPLE, SECONDS = 8, 15.0  # late messages take ten seconds


def test_random_actions_leave_everything_in_agreement(page, app_url):
    found = drive(page, app_url, seed=1, actions=ACTIONS)
    assert found.problems == [], "\n".join([*found.problems, *found.log[-40:]])


def test_a_room_on_slow_lines_sees_no_error_and_its_last_change(app_url):
    with ThreadPoolExecutor(1) as beside:  # Playwright keeps this thread's event loop
        people = beside.submit(asyncio.run, room(app_url, PEOPLE, SECONDS, seed=1)).result()
    assert sum(person.changes for person in people) > PEOPLE * SECONDS / 2
    assert [error for person in people for error in person.errors] == []
    assert [each for person in people for each in person.disagreements] == []
