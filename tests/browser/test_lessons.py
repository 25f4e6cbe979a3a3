"""All lessons in a real browser: every control moved, every link tried, the course by keyboard.

Lessons are found by their pages; one window goes through all of them, as a reader would.
"""

import re
from collections.abc import Iterator
from importlib import import_module
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.looks import looks
from viz.pages.lessons import course

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
LESSONS = course.lessons()
TEXTS = {"input": " 1", "textarea": "\nZoe: 171"}  # what is typed behind what is there
# what is a control of the lesson: an element with the name of a setting, and something to move
CONTROLS = """name => [...document.querySelectorAll(`[class*='st-key-${name}_']`)]
    .filter(e => e.querySelector("input, textarea, [role=slider], [role=radio], [role=combobox]"))
    .map(e => [...e.classList].find(each => each.startsWith(`st-key-${name}_`)))
    .filter(each => each && !/_(code|chart|print|unseen)/.test(each))"""
SAYS = """wanted => {
    const said = new URLSearchParams(location.search);
    return said.size === wanted.length && wanted.every(([k, v]) => said.get(k) === v);
}"""
UNFOLD = """() => [...document.querySelectorAll("details:not([open])")]
    .filter(box => box.querySelector("input, [role=radio]"))
    .forEach(box => box.querySelector("summary").click())"""
SETTLED = """() => document.querySelector("[data-test-script-state=notRunning]")
    && document.querySelector(".lesson-took, .stAlert")"""


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


@looks
def test_every_control_of_every_lesson_moves_once(page, app_url, width, mode):
    page.emulate_media(color_scheme=mode)
    page.set_viewport_size({"width": width, "height": 900})
    open_lesson(page, app_url, LESSONS[0].name)
    for lesson in LESSONS:
        arrived(page, lesson.name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, lesson.name
        move_all(page, lesson.name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, lesson.name
        by_key(page, "n")


def move_all(page: Page, name: str) -> None:
    page.evaluate(UNFOLD)
    for key in controls(page, name):
        before = page.url
        move(page, page.locator(f".{key}").first)
        try:
            page.wait_for_url(lambda url, before=before: url != before)
        except Exception as error:
            raise AssertionError(f"{name}: {key} moved, the link did not") from error
        settled(page)


def controls(page: Page, name: str) -> Iterator[str]:
    """Each control that is there, also those that a moved one brings; of a matrix its first box."""
    seen: set[str] = set()
    while new := [key for key in page.evaluate(CONTROLS, name) if matrix(key) not in seen]:
        seen.add(matrix(new[0]))
        yield new[0]


def matrix(key: str) -> str:
    """The matrix a box belongs to; any other control for itself."""
    return re.sub(r"(?<=[a-z])[1-9]{2}$", "", key)


def move(page: Page, control: Locator) -> None:
    if control.get_by_role("slider").count():
        slider = control.get_by_role("slider").first
        last = slider.evaluate(
            "s => Number(s.ariaValueNow ?? s.value) >= (s.ariaValueMax ?? s.max)"
        )
        slider.press("ArrowLeft" if last else "ArrowRight")
    elif control.get_by_role("radio").count():
        choices = control.get_by_role("radio").all()
        chosen = [choice.get_attribute("aria-checked") == "true" for choice in choices]
        choices[(chosen.index(True) + 1) % len(choices)].click()
    elif control.get_by_role("combobox").count():
        control.get_by_role("combobox").first.click()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    elif control.locator("input[type=checkbox]").count():
        control.locator("label").first.click()
    elif control.locator("input[type=number]").count():
        control.locator("input").press("ArrowUp")
        control.locator("input").press("Enter")
    else:
        box = control.locator("textarea, input").first
        kind = box.evaluate("box => box.localName")
        box.fill(box.input_value() + TEXTS[kind])
        box.press("ControlOrMeta+Enter" if kind == "textarea" else "Enter")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_link_to_try_lands_where_it_says(page, app_url, lesson):
    module = import_module(f"viz.pages.lesson.{lesson.name}")
    usual = {param.name: param.default for param in module.PARAMS}  # is not in the address
    open_lesson(page, app_url, lesson.name)
    links = page.locator("[class*='st-key-lesson_tries'] a")
    for number in range(links.count()):
        given = query(links.nth(number).get_attribute("href") or "")
        links.nth(number).click()
        page.wait_for_function(SAYS, arg=[[k, v] for k, v in given if str(usual[k]) != v])
        settled(page)
        told = page.locator(".stAlert").filter(has_text=re.compile("The link"))
        assert told.count() == 0
        in_view(page, [f".st-key-{lesson.name}_{key}" for key, _ in given])


def in_view(page: Page, places: list[str]) -> None:
    """The first of the controls that a link sets can be seen: the link was far below it."""
    for place in places:
        control = page.locator(place).first
        if control.count() and control.is_visible():
            expect(control).to_be_in_viewport()
            return


def query(address: str) -> list[list[str]]:
    return [list(pair) for pair in parse_qsl(urlsplit(address).query, keep_blank_values=True)]


def test_the_whole_course_by_keyboard_alone(page, app_url):
    page.set_viewport_size({"width": 1280, "height": 900})
    open_lesson(page, app_url, LESSONS[0].name)
    for lesson in LESSONS:
        arrived(page, lesson.name)
        if page.locator(".st-key-lesson_back").count():
            page.keyboard.press("ArrowLeft")
            page.wait_for_url(re.compile(r"[?&]step=\d"))
            settled(page)
            page.keyboard.press("ArrowRight")
            page.wait_for_url(lambda url: "step=" not in url)
        page.keyboard.press("n")
    for lesson in LESSONS[-2::-1]:
        page.keyboard.press("p")
        arrived(page, lesson.name)


def test_terms_explain_themselves_on_focus_and_progress_is_kept(page, app_url):
    page.set_viewport_size({"width": 1280, "height": 900})
    open_lesson(page, app_url, LESSONS[0].name)
    page.keyboard.press("n")
    arrived(page, LESSONS[1].name)
    expect(page.locator(".lesson-bar i.seen")).to_have_count(1)
    term = page.locator(".lesson-term").first
    term.focus()
    shown = term.evaluate("t => getComputedStyle(t, '::after').content")
    assert term.get_attribute("data-told") in shown


def test_to_the_explorer_and_back(page, app_url):
    page.set_viewport_size({"width": 1280, "height": 900})
    open_lesson(page, app_url, "dictionary?query=Mike")
    page.get_by_role("link", name="See how MiniLM reads the query").click()
    expect(page.locator(".headscope[data-painted]")).to_have_count(1, timeout=60_000)
    assert dict(query(page.url))["input"] == "Mike"
    page.get_by_role("link", name=re.compile("Back to the lesson")).click()
    arrived(page, "dictionary")
    page.wait_for_url(re.compile(r"/dictionary\?query=Mike$"))


def test_paper_has_no_controls_and_all_steps(page, app_url):
    open_lesson(page, app_url, "by_hand?step=1&print=yes")
    expect(page.get_by_text("unlearned(").first).to_be_visible()
    assert page.locator("[class*='st-key-lesson_page'] input:visible").count() == 0
    expect(page.locator(".lesson-matrix")).to_have_count(5)
    page.emulate_media(media="print")
    expect(page.locator("[data-testid=stHeader]")).to_be_hidden()
