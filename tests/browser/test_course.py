"""One visit to each lesson: every step, every reply to a question, and what has to fit."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_stories import open_story, shows
from viz.lessons import course

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
PENDING = re.compile("…(?!”)")  # a number that is not written yet, not a quoted pause


@pytest.mark.parametrize("name", [each.name for each in course.COURSE if each.name != "quiz"])
def test_every_reply_says_its_numbers(page: Page, app_url: str, name: str):
    open_story(page, app_url, name)
    for question in page.locator(".story-step:has(.story-ask)").all():
        reply = question.locator(".story-feedback")
        for option in question.locator(".story-options .hs-button").all():
            option.click()
            expect(reply).not_to_be_empty()
            assert not PENDING.search(reply.inner_text()), reply.inner_text()


def test_progress_and_answers_outlive_a_reload(page: Page, app_url: str):
    open_story(page, app_url, "dictionary?story=3")
    shows(page, "softmax")  # the step waits for an answer
    page.locator(".current .story-show").click()
    shows(page, "flow")
    page.reload()
    shows(page, "flow")
    page.goto(f"{app_url}/course")
    expect(page.locator(".hs-course-start")).to_contain_text(
        "Continue where you left off: lesson 3"
    )
    expect(page.locator(".hs-lessons [aria-description=opened]")).to_have_count(1)


def test_a_clicker_moves_by_one_step_also_after_a_click(page: Page, app_url: str):
    open_story(page, app_url, "position")
    for step in ("hand", "clock"):
        page.keyboard.press("PageDown")
        shows(page, step)
    page.locator(".story-text").click()
    page.keyboard.press("PageDown")
    shows(page, "add")
    page.keyboard.press("PageUp")
    shows(page, "clock")


def test_projector_mode_keeps_the_step(page: Page, app_url: str):
    open_story(page, app_url, "heads?story=1")
    page.get_by_role("button", name="Larger type and figure").click()
    page.wait_for_url(re.compile("projector=yes"))
    shows(page, "split")
    expect(page.locator(".current .story-title")).to_be_in_viewport()


def test_a_step_opens_in_its_own_state_and_keeps_what_the_reader_typed(page: Page, app_url: str):
    open_story(page, app_url, "sampling")
    text = page.locator(".story-field").first
    text.fill("the king saw the dog because")
    page.locator(".story-show").first.click()
    shows(page, "temperature")
    slider = page.get_by_role("slider", name="Temperature T")
    expect(slider).to_have_attribute("aria-valuetext", "3.00")
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "0.10")
    for button in ("The next step", "The step before"):
        page.get_by_role("button", name=button).click()
        expect(slider).to_have_attribute("aria-valuetext", "3.00")
        expect(text).to_have_value("the king saw the dog because")
