"""One visit to each lesson: every step, every reply, and what has to fit and be accessible."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import new_page
from tests.browser.looks import TRIED, fits, look
from tests.browser.test_accessibility import serious
from tests.browser.test_stories import STORY, open_story, shows
from viz import course

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
UNKNOWN = re.compile("^–?$")  # numbers that are not written yet, or that the figure lacks


SETTLED = """() => document.querySelector("[data-test-script-state=notRunning]")
    && document.querySelector(".lesson-takeaways, .stAlert")"""


SMALLEST = """scene => Math.min(...[...scene.querySelectorAll("text")].map(
    each => each.getAttribute("font-size") * scene.getScreenCTM().a))"""


@pytest.fixture
def page(open_context: BrowserContext) -> Iterator[Page]:
    """A window in which axe may run."""
    with new_page(open_context) as page:
        yield page


@pytest.mark.parametrize("name", [each.name for each in course.STORIES])
def test_one_visit(page: Page, app_url: str, name: str):
    """Every step and reply in the first look; every look fits, and axe finds nothing serious."""
    look(page, *TRIED[0])
    page.goto(f"{app_url}/{name}")
    expect(page.locator(STORY)).to_have_count(1, timeout=60_000)
    steps = course.lesson(name).steps
    for step in sorted(steps, key=lambda each: each.deeper):
        if step.deeper:
            page.get_by_text("Going deeper", exact=True).click()
            page.locator(".story-deeper").get_by_role("button", name=step.title).click()
        shows(page, step.name)
        section = page.locator(f"#step-{step.name}")
        unknown = section.locator(".story-number").filter(has_text=UNKNOWN)
        for option in section.locator(".story-option").all():
            option.click()
            expect(section.locator(".story-feedback")).not_to_be_empty()
            expect(unknown).to_have_count(0)
        expect(unknown).to_have_count(0)
        assert page.locator(".story-problem").is_hidden()
        page.keyboard.press("PageDown")
    for width, mode in TRIED:
        fits(page, width, mode)
        assert serious(page) == [], mode
    assert page.locator(".stException, .stAlert").count() == 0


def arrived(page: Page, name: str) -> None:
    expect(page.locator(".hs-rail [aria-current=page]")).to_have_attribute(
        "title", course.lesson(name).title, timeout=60_000
    )
    page.wait_for_function(SETTLED)


def test_the_short_way_is_gone_by_keys_and_ticks_what_is_done(page: Page, app_url: str):
    """Done is what was seen to the end, with its questions answered."""
    page.goto(f"{app_url}/course")
    page.get_by_role("link", name="Start with “Soft dictionary”").click()
    arrived(page, "dictionary")
    page.evaluate("window.unloaded = false")
    expect(page.locator(".hs-rail li")).to_have_count(len(course.SHORT))
    steps = [each for each in course.lesson("dictionary").steps if not each.deeper]
    for step in steps:
        shows(page, step.name)
        expect(page.locator(".hs-rail .done")).to_have_count(0)
        if step.ask:
            page.locator(".story-show").click()
        page.keyboard.press("PageDown")
    expect(page.locator(".hs-rail .done")).to_have_count(0)  # looking up is no answer
    for step in reversed(steps):
        shows(page, step.name)
        if step.ask:
            page.keyboard.press("1")
        page.keyboard.press("PageUp")
    expect(page.locator(".hs-rail .done")).to_have_count(1)
    page.keyboard.press("n")
    arrived(page, "by_hand")
    term = page.locator(".story-glossary").first
    term.focus()
    shown = term.evaluate("t => getComputedStyle(t, '::after').content")
    assert term.get_attribute("data-meaning") in shown
    assert page.evaluate("window.unloaded === false")


def test_to_the_explorer_and_back_to_the_step(page: Page, app_url: str):
    open_story(page, app_url, "dictionary?story=2")
    page.get_by_role("link", name="See how MiniLM reads a query").click()
    expect(page.locator(".headscope[data-trace]")).to_have_count(1, timeout=60_000)
    page.get_by_role("link", name=re.compile("Back to the lesson")).click()
    arrived(page, "dictionary")
    shows(page, "softmax")


def test_paper_has_all_steps_and_no_controls(page: Page, app_url: str):
    open_story(page, app_url, "by_hand")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.locator(".story-told")).to_have_count(len(course.lesson("by_hand").steps))
    expect(page.locator(".story-number").filter(has_text=UNKNOWN)).to_have_count(0)
    expect(page.locator(".st-key-frame_bar, .story-controls, .story-tools").first).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".story-told")).to_have_count(1)


def test_the_quiz_judges_an_answer_and_has_another_seed(page: Page, app_url: str):
    page.goto(f"{app_url}/quiz")
    arrived(page, "quiz")
    page.get_by_role("textbox", name="Answer 1", exact=True).fill("9999")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Not yet.").first).to_be_visible()
    page.get_by_role("spinbutton").first.press("ArrowUp")
    page.wait_for_url(re.compile("seed=1"))


def test_progress_and_answers_outlive_a_reload(page: Page, app_url: str):
    open_story(page, app_url, "dictionary?story=3")
    page.locator(".story-show").click()
    expect(page.locator(".story-told")).to_be_visible()
    page.reload()
    shows(page, "flow")
    expect(page.locator(".story-told")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    shows(page, "softmax")
    page.goto(f"{app_url}/course")
    start = page.locator(".hs-course-start")
    expect(start).to_contain_text("Continue with “Soft dictionary”")


def test_a_lesson_is_presented_in_one_click_by_a_clicker(page: Page, app_url: str):
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(f"{app_url}/course")
    page.get_by_role("button", name="For teachers").click()
    expect(page.get_by_text("Aim", exact=True)).to_have_count(len(course.COURSE))
    page.get_by_role("link", name="Present Many heads").click()
    shows(page, "band")
    page.keyboard.press("Space")
    shows(page, "split")
    page.wait_for_url(re.compile("story=split&present=yes"))
    figure = page.locator(".story-figure").bounding_box()
    assert figure
    assert figure["width"] == pytest.approx(0.7 * 1920, abs=20)
    expect(page.locator(".story-caption")).to_be_in_viewport(ratio=1)
    shown = page.locator(".story button:visible:not(.story-controls *)")
    expect(shown).to_have_count(0)
    assert page.locator(".story-scene").evaluate(SMALLEST) >= 19.9
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Next")).to_be_visible()


def test_a_step_opens_in_its_own_state_and_keeps_what_the_reader_typed(
    page: Page, app_url: str, console: list[str]
):
    open_story(page, app_url, "sampling")
    text = page.locator(".story-field").first
    text.fill("the king saw the dog because")
    page.get_by_role("button", name="Next").click()
    shows(page, "temperature")
    page.locator(".story-show").click()
    slider = page.get_by_role("slider", name="Temperature T")
    expect(slider).to_have_attribute("aria-valuetext", "3.00")
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "0.10")
    page.get_by_role("button", name="Next").click()
    expect(slider).to_have_attribute("aria-valuetext", "3.00")
    expect(text).to_have_value("the king saw the dog because")
    # the model is not there: of a text that is not stored the server says so, with status 400
    console[:] = [line for line in console if "/api/figure/sampling" not in line]
