"""A presenter and two followers, each in a browser of their own."""

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from benchmarks import servers
from viz.lessons import course

pytestmark = pytest.mark.browser


@pytest.fixture
def rooms() -> Generator[str, None, None]:
    """The address of an app with rooms."""
    with servers.served(ROOM="1") as server:
        yield server.url


@pytest.fixture
def people(rooms: str, browser: Browser) -> Generator[list[Page], None, None]:
    """The presenter, a follower at a desk and one with a phone; none has a console error."""
    problems: list[str] = []

    def heard(said: ConsoleMessage) -> None:
        if said.type == "error":
            problems.append(said.text)

    pages = []
    for width, mode in ((1280, "light"), (1280, "dark"), (390, "dark")):
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=mode,  # type: ignore[arg-type]
        )
        page = context.new_page()
        page.on("console", heard)
        page.on("pageerror", lambda error: problems.append(str(error)))
        pages.append(page)
    yield pages
    for page in pages:
        page.context.close()
    assert not problems


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def says(page: Page, words: str) -> None:
    expect(page.locator(".hs-room-strip:visible .hs-room-status")).to_contain_text(words)


def at_step(page: Page, number: int) -> None:
    expect(page.locator(".story-place")).to_contain_text(f"Step {number} of")


def test_the_question_on_the_screen_becomes_a_poll(people: list[Page], rooms: str) -> None:
    presenter, desk, _ = people
    lesson = course.lesson("scale")
    number = [step.name for step in lesson.steps].index("scaled")
    asked = lesson.steps[number].ask
    assert asked is not None
    presenter.goto(f"{rooms}/scale?story={number}")
    press(presenter, "Present")
    says(presenter, "Presenting")
    desk.goto(presenter.locator(".hs-room-link").inner_text())
    says(presenter, "1 following")
    press(presenter, "Question")
    press(presenter, "Take the question on the screen")
    expect(presenter.get_by_role("textbox", name="Question")).to_have_value(asked.text)
    choices = presenter.locator(".hs-room-entries .hs-entry:visible")
    expect(choices).to_have_count(len(asked.options))
    choices.first.fill("Something else")
    press(presenter, "Ask")
    expected = ["Something else", *(option.text for option in asked.options[1:])]
    expect(desk.locator(".hs-room-choice")).to_have_text(expected)


def test_a_lesson_is_followed(people: list[Page], rooms: str) -> None:
    presenter, desk, phone = people
    first = "dictionary"
    number, (_, after) = course.number(first), course.neighbours(first)
    assert after is not None
    second = after.name
    presenter.goto(f"{rooms}/{first}")
    press(presenter, "Present")
    says(presenter, "Presenting")
    link = presenter.locator(".hs-room-link").inner_text()
    assert re.fullmatch(re.escape(f"{rooms}/{first}?room=") + "[a-z2-9]{8}", link)
    desk.goto(link)
    phone.goto(link.replace(first, "course"))  # any page brings one to the room
    says(presenter, "2 following")
    picture = presenter.get_by_role("img", name="QR code of the link")
    expect(picture).to_be_visible()
    assert picture.evaluate("node => node.decode().then(() => node.naturalWidth)")
    press(presenter, "Link")
    phone.wait_for_url(f"**/{first}")
    for page in people:
        page.evaluate("window.opened = 'once'")

    for step in (2, 3):
        press(presenter, "The next step")
        for page in people:
            at_step(page, step)
    says(phone, f"Following · lesson {number}, step 3 of")
    presenter.locator(".story-field").fill("Mike")
    for page in people:
        expect(page.locator(".story-field")).to_have_value("Mike")
    press(desk, "The step before")
    says(desk, f"The presenter is at lesson {number}, step 3 of")
    press(desk, "Back to the presenter")
    at_step(desk, 3)

    press(phone, "Wander off")
    presenter.locator(".st-key-lesson_next a").click()
    desk.wait_for_url(f"**/{second}*")
    says(phone, f"The presenter is at lesson {number + 1}")
    there = phone.get_by_role("button", name="Back to the presenter").bounding_box()
    says(phone, f"The presenter is at lesson {number + 1}, step 1 of")
    assert phone.get_by_role("button", name="Back to the presenter").bounding_box() == there
    assert first in phone.url
    press(phone, "Back to the presenter")
    phone.wait_for_url(f"**/{second}*")
    assert {page.evaluate("window.opened") for page in people} == {"once"}  # nothing was reloaded

    presenter.get_by_role("link", name="Explore").first.click()
    says(desk, "The presenter is on another page")
    presenter.go_back()
    says(desk, "Following")

    press(presenter, "Question")
    presenter.get_by_role("textbox", name="Question").fill("Which <b>way</b>?")
    press(presenter, "Ask")
    expect(desk.get_by_text("Which <b>way</b>?")).to_be_visible()
    press(desk, "C")
    press(phone, "A")
    press(phone, "B")
    expect(presenter.get_by_text("2 answered, 2 following")).to_be_visible()
    counts = presenter.locator(".hs-room-bars li span")
    expect(counts).to_have_text(["0 (0 %)", "1 (50 %)", "1 (50 %)", "0 (0 %)"])
    press(presenter, "Show the results to all")
    expect(phone.get_by_text("1 (50 %) · yours")).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390

    presenter.reload()
    says(presenter, "2 following")
    strip = presenter.locator(".hs-room-strip:visible")  # Streamlit has a Stop of its own
    strip.get_by_role("button", name="Stop", exact=True).click()
    says(desk, "The presenter has closed the room")
