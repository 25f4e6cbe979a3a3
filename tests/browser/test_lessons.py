"""All lessons in a real browser: a control of every kind, what there is to try, the keyboard.

One window goes through all lessons, as a reader would. Every control and every button to try is
moved without a browser in tests/viz/pages/lessons.
"""

import re
from typing import Literal, get_args
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.looks import TRIED, look
from viz.lessons import course

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
LESSONS = course.COURSE
Kind = Literal["slider", "radio", "spinbutton", "textbox"]  # role of a control
KINDS: tuple[Kind, ...] = get_args(Kind)
TEXTS = {"input": "1", "textarea": "\nZoe: 171"}  # what is typed behind what is there
SETTLED = """() => document.querySelector("[data-test-script-state=notRunning]")
    && document.querySelector(".lesson-takeaways, .stAlert")"""

IN_VIEW = """places => [...document.querySelectorAll(places)].some(place => {
    const { top, bottom, height } = place.getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= innerHeight;
})"""


def open_lesson(page: Page, url: str, name: str) -> None:
    page.goto(f"{url}/{name}")
    arrived(page, name.partition("?")[0])


def arrived(page: Page, name: str) -> None:
    title = course.lesson(name).title
    expect(page.get_by_role("heading", name=title, level=4)).to_be_visible(timeout=60_000)
    page.wait_for_function("() => document.documentElement.dataset.lessonKeys")
    settled(page)


def settled(page: Page) -> None:
    page.wait_for_function(SETTLED)
    assert page.locator(".stException").count() == 0


def by_key(page: Page, key: str) -> None:
    """Presses a key that belongs to no control."""
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press(key)


OPEN = """() => [...document.querySelectorAll("[class*='_numbers_'] details")].every(
    (each) => !each.getAnimations({ subtree: true }).length)"""


@pytest.mark.parametrize(("width", "mode"), TRIED)
def test_through_every_lesson(page, app_url, width, mode):
    """With a control of every kind in the first look, by steps and tries in the others."""
    kinds = set(KINDS)
    look(page, width, mode)
    open_lesson(page, app_url, LESSONS[0].name)
    for lesson in LESSONS:
        arrived(page, lesson.name)
        if (width, mode) != TRIED[0]:
            step_on(page)  # before the page is scrolled, which shows another step
        unfold(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, lesson.name
        if (width, mode) == TRIED[0]:
            kinds -= moved(page, lesson.name, kinds)
        else:
            press_the_last_try(page, lesson.name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, lesson.name
        by_key(page, "n")
    assert (width, mode) != TRIED[0] or not kinds
    by_key(page, "p")
    arrived(page, LESSONS[-2].name)


def moved(page: Page, name: str, kinds: set[Kind]) -> set[Kind]:
    """Moves the first control of each of these kinds; the kinds that the lesson has."""
    controls = page.locator(f"[class*='st-key-{name}-']")
    here: set[Kind] = set()
    for kind in kinds:
        found = controls.filter(has=page.get_by_role(kind)).filter(visible=True)
        if found.count():
            before = page.url
            move(page, found.first, kind)
            page.wait_for_url(lambda url, before=before: url != before)
            settled(page)
            here.add(kind)
    return here


def unfold(page: Page) -> None:
    """Shows the controls below a story."""
    closed = page.locator("[class*='_numbers_False'] summary")
    if closed.count():
        closed.first.click()  # an expander may hold another
        page.wait_for_function(OPEN)  # what moves takes no clicks


def step_on(page: Page) -> None:
    """By keyboard, and back again, where a lesson has steps."""
    if page.locator(".story").count():
        expect(page.locator(".story[data-ready]")).to_have_count(1)
        by_key(page, "ArrowRight")
        page.wait_for_url(re.compile(r"[?&]story=1"))
        by_key(page, "ArrowLeft")
        page.wait_for_url(lambda url: "story=" not in url)


def press_the_last_try(page: Page, name: str) -> None:
    """What the button sets comes into view."""
    before = page.url
    page.locator("[class*='st-key-lesson_tries'] button").last.click()
    page.wait_for_url(lambda url: url != before)
    settled(page)
    names = [name for name, _ in parse_qsl(urlsplit(page.url).query, keep_blank_values=True)]
    places = ", ".join(f"[class*='st-key-{name}-'][class*='-0-{each} ']" for each in names)
    if page.locator(places).filter(visible=True).count():
        page.wait_for_function(IN_VIEW, arg=places)


def move(page: Page, control: Locator, kind: Kind) -> None:
    found = control.get_by_role(kind)
    if kind == "slider":
        last = found.evaluate("s => Number(s.ariaValueNow) >= Number(s.ariaValueMax)")
        found.press("ArrowLeft" if last else "ArrowRight")
    elif kind == "radio":
        chosen = [choice.get_attribute("aria-checked") == "true" for choice in found.all()]
        found.nth((chosen.index(True) + 1) % len(chosen)).click()
    elif kind == "spinbutton":
        found.press("ArrowUp")
        found.press("Enter")
    else:
        name = found.evaluate("box => box.localName")
        found.fill(found.input_value() + TEXTS[name])
        found.press("ControlOrMeta+Enter" if name == "textarea" else "Enter")


def test_terms_explain_themselves_on_focus(page, app_url):
    page.set_viewport_size({"width": 1280, "height": 900})
    open_lesson(page, app_url, LESSONS[0].name)
    page.keyboard.press("n")
    arrived(page, LESSONS[1].name)
    term = page.locator(".lesson-term, .story-glossary").filter(visible=True).first
    term.focus()
    shown = term.evaluate("t => getComputedStyle(t, '::after').content")
    assert term.get_attribute("data-meaning") in shown


def test_parts_of_the_map_lead_to_their_lessons_without_a_reload(page, app_url):
    """By a click in the list of the course, by a click on a part, and by keyboard from there."""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{app_url}/course")
    page.evaluate("window.unloaded = false")
    page.locator(".hs-lessons").get_by_role("link", name="· Many heads").click()
    arrived(page, "heads")
    expect(page.locator(".hs-map-part.lit")).to_have_attribute("data-part", "heads")
    page.locator(".hs-map-part[data-part=position] rect").first.click()
    arrived(page, "position")
    page.locator(".hs-map-part[aria-current]").press("ArrowDown")
    page.locator(".hs-map-part:focus").press("Enter")
    arrived(page, "query_key_value")
    assert page.evaluate("window.unloaded === false")


def test_to_the_explorer_and_back(page, app_url):
    page.set_viewport_size({"width": 1280, "height": 900})
    open_lesson(page, app_url, "dictionary?query=Mike")
    page.get_by_role("link", name="See how MiniLM reads the query").click()
    expect(page.locator(".headscope[data-trace]")).to_have_count(1, timeout=60_000)
    assert dict(parse_qsl(urlsplit(page.url).query))["input"] == "Mike"
    page.get_by_role("link", name=re.compile("Back to the lesson")).click()
    arrived(page, "dictionary")
    page.wait_for_url(re.compile(r"/dictionary\?query=Mike$"))


def test_a_link_opens_the_lesson_as_it_was(page, app_url):
    open_lesson(page, app_url, "heads?dim=10&heads=20&width=wide&sentence=A+bank&step=2")
    page.wait_for_url(lambda url: "step=2" in url)
    assert page.locator(".lesson-lines").first.inner_text().count("3 scores") == 1
    expect(page.get_by_role("slider", name="Heads", exact=True)).to_have_attribute(
        "aria-valuenow", "20"
    )
    page.get_by_role("radio", name="free").click()
    page.wait_for_url(re.compile("width=free"))
    page.reload()
    arrived(page, "heads")
    expect(page.get_by_role("radio", name="free")).to_be_checked()


def test_paper_has_no_controls_and_all_steps(page, app_url):
    open_lesson(page, app_url, "by_hand?step=1&print=yes")
    expect(page.get_by_text("unlearned(").first).to_be_visible()
    assert page.locator("[class*='st-key-lesson_page'] input:visible").count() == 0
    expect(page.locator(".lesson-matrix")).to_have_count(5)
    page.emulate_media(media="print")
    expect(page.locator(".st-key-frame_bar")).to_be_hidden()
