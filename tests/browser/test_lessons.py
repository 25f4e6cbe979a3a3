"""All lessons in a real browser: a control of every kind, what there is to try, the keyboard.

One window goes through all lessons, as a reader would. Every control and every button to try is
moved without a browser in tests/viz/pages/lessons.
"""

import re
from typing import Literal, get_args
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.looks import looks
from viz.pages.lessons import course

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
LESSONS = course.COURSE
Kind = Literal["slider", "radio", "spinbutton", "combobox", "textbox"]  # role of a control
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


@looks
def test_a_control_of_every_kind_moves_in_every_lesson(page, app_url, width, mode):
    page.emulate_media(color_scheme=mode)
    page.set_viewport_size({"width": width, "height": 900})
    open_lesson(page, app_url, LESSONS[0].name)
    for lesson in LESSONS:
        arrived(page, lesson.name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, lesson.name
        controls = page.locator(f"[class*='st-key-{lesson.name}-']")
        for kind in KINDS:
            found = controls.filter(has=page.get_by_role(kind)).filter(visible=True)
            if found.count():
                before = page.url
                move(page, found.first, kind)
                page.wait_for_url(lambda url, before=before: url != before)
                settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, lesson.name
        by_key(page, "n")


def move(page: Page, control: Locator, kind: Kind) -> None:
    found = control.get_by_role(kind)
    if kind == "slider":
        last = found.evaluate("s => Number(s.ariaValueNow) >= Number(s.ariaValueMax)")
        found.press("ArrowLeft" if last else "ArrowRight")
    elif kind == "radio":
        chosen = [choice.get_attribute("aria-checked") == "true" for choice in found.all()]
        found.nth((chosen.index(True) + 1) % len(chosen)).click()
    elif kind == "combobox":
        found.first.click()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    elif kind == "spinbutton":
        found.press("ArrowUp")
        found.press("Enter")
    else:
        name = found.evaluate("box => box.localName")
        found.fill(found.input_value() + TEXTS[name])
        found.press("ControlOrMeta+Enter" if name == "textarea" else "Enter")


def test_what_a_button_to_try_sets_comes_into_view(page, app_url):
    page.set_viewport_size({"width": 1280, "height": 900})
    open_lesson(page, app_url, LESSONS[0].name)
    for lesson in LESSONS:
        arrived(page, lesson.name)
        tries = page.locator("[class*='st-key-lesson_tries'] button")
        before = page.url
        tries.last.click()
        page.wait_for_url(lambda url, before=before: url != before)
        settled(page)
        names = [name for name, _ in parse_qsl(urlsplit(page.url).query, keep_blank_values=True)]
        places = ", ".join(
            f"[class*='st-key-{lesson.name}-'][class*='-0-{name} ']" for name in names
        )
        if page.locator(places).filter(visible=True).count():
            page.wait_for_function(IN_VIEW, arg=places)
        by_key(page, "n")


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
    expect(page.locator(".lesson-bar i.opened")).to_have_count(1)
    term = page.locator(".lesson-term").first
    term.focus()
    shown = term.evaluate("t => getComputedStyle(t, '::after').content")
    assert term.get_attribute("data-meaning") in shown


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
