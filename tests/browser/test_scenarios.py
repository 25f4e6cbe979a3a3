"""What must hold whatever comes late, is left, is lost or is opened again; all from outside."""

import random
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks import servers
from tests.browser.driver import differences, drive, picture, rest, state, still
from tests.browser.lines import Line
from tests.browser.views import VIEW, go_to_head, open_page, painted, trace_of

pytestmark = pytest.mark.browser
SENTENCE = re.compile("Type a sentence")
EXAMPLE, EXAMPLE_TEXT = "Subject far from its verb", "The keys to the cabinet are on the table."
OTHER = "bank: two meanings"
BUILT = "?model=built&dim=16&heads=2&depth=3"
SMALL_IMAGE = "model=built-vit&size=64&heads=2&dim=16&depth=3"


@pytest.fixture(autouse=True)
def silent(request: pytest.FixtureRequest) -> Iterator[None]:
    """The console reports nothing but that a trace was gone, which the view deals with.

    Tests of the server alone open no page.
    """
    console = request.getfixturevalue("console") if "page" in request.fixturenames else []
    yield
    console[:] = [each for each in console if not re.search(r"40[4]|410.*api/trace|_stcore/", each)]


# ---- what a person does


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name=SENTENCE).first


def head(page: Page, which: str) -> None:
    site = int(page.locator(VIEW).get_attribute("data-site") or 0)
    go_to_head(page, site, which)


def go_to(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).first.click()


def agree(page: Page) -> None:
    """Controls, picture and address agree: a new tab at this address shows the same."""
    still(page)
    here, address = state(page), page.url
    other = page.context.new_page()
    other.goto(address)
    still(other)
    assert other.url == address
    assert differences(here, state(other)) == []
    other.close()
    expect(page.locator(".stException")).to_have_count(0)


def query(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


# ---- late events


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "control"),
    [
        (f"?{SMALL_IMAGE}", "file"),
        ("", SENTENCE),
    ],
)
def test_a_control_and_the_view_at_the_same_moment(page, app_url, path, control):
    line = Line(page)
    open_page(page, f"{app_url}/{path}")
    rest(page)
    before = trace_of(page)
    line.hold_out = True
    head(page, "mean")
    if control == "file":
        page.locator("input[type=file]").set_input_files(picture(random.Random(0)))
    else:
        box(page).fill("A cat sat on a mat")
    head(page, "max")
    page.wait_for_function("() => location.search.includes('head=max')")
    line.go_on()
    expect(page.locator(f"{VIEW}[data-trace='{before}']")).to_have_count(0)
    painted(page, head="max")
    if control != "file":
        agree(page)


@pytest.mark.long
def test_the_view_moves_while_a_run_is_under_way(page, app_url):
    """The newest choice stays, and none of them causes a run."""
    line = Line(page)
    open_page(page, f"{app_url}/{BUILT}")
    rest(page)
    line.hold_in = True
    box(page).fill("A cat sat on a mat")
    for which in ("1", "mean", "max"):
        head(page, which)
    line.go_on()
    painted(page, head="max")
    rest(page)
    before = len(line.runs)
    head(page, "0")
    painted(page, head=0)
    rest(page)
    assert len(line.runs) == before
    agree(page)


# ---- links, Back, other pages


def test_a_page_is_found_again_as_it_was(page, app_url):
    """By Back, through the bar, whose links say nothing of settings, and after a reload."""
    open_page(page, app_url)
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name=OTHER).click()
    painted(page, site=2, head=9)
    box(page).fill("A cat sat on a mat")
    page.wait_for_url(re.compile("input=A"))
    still(page)  # what is worth seeing in it is chosen
    head(page, "7")
    page.wait_for_url(re.compile("head=7"))
    still(page)
    here, address, site = state(page), page.url, page.locator(VIEW).get_attribute("data-site")

    def is_as_it_was() -> None:
        expect(box(page)).to_have_value("A cat sat on a mat")
        painted(page, site=site, head=7)
        still(page)
        assert differences(here, state(page)) == []
        assert page.url == address

    go_to(page, "Build")
    expect(page.get_by_role("heading", name="What is a transformer made of?")).to_be_visible()
    page.go_back()
    is_as_it_was()
    go_to(page, "Course")
    expect(page.get_by_role("heading", name="How does a transformer work?")).to_be_visible()
    go_to(page, "Explore")
    is_as_it_was()
    page.reload()  # what a new tab at this address shows
    is_as_it_was()


# ---- the view and the page


def test_the_view_stays_mounted(page, app_url):
    """What was shown stays until the new picture is there: the element is never replaced."""
    open_page(page, f"{app_url}/?input=A+cat+sat")
    rest(page)
    page.locator(VIEW).evaluate("view => { view.marked = true; }")
    for change in (
        lambda: box(page).fill("A cat sat on"),
        lambda: box(page).fill("Zoë’s café 🙂"),
        lambda: page.get_by_role("button", name=EXAMPLE).first.click(),
    ):
        before = trace_of(page)
        change()
        expect(page.locator(f"{VIEW}[data-trace='{before}']")).to_have_count(0)
        painted(page)
        assert page.locator(VIEW).evaluate("view => view.marked === true")
    box(page).fill("")
    expect(page.locator(f"{VIEW}.hs-busy")).to_have_count(1)
    assert page.locator(VIEW).evaluate("view => view.marked === true")
    box(page).fill("Here again")
    painted(page)
    agree(page)


@pytest.mark.long
def test_a_server_that_starts_anew(page, console):
    """What was shown is shown again, by itself: also what was typed since the page was loaded."""
    port = servers.free_port()
    with servers.served(port) as server:
        open_page(page, f"{server.url}/?input=One+two+three&layer=2&head=4")
        painted(page, site=2, head=4)
        first = trace_of(page)
        box(page).fill("One two three four")
        expect(page.locator(VIEW)).not_to_have_attribute("data-trace", first)
        painted(page, site=2, head=4)
        rest(page)
        before = trace_of(page)
    with servers.served(port):
        go_to_head(page, 3, 4)
        expect(page.locator(f"{VIEW}:not([data-trace='{before}'])")).to_have_count(
            1, timeout=60_000
        )
        painted(page, site=3, head=4)
        rest(page)
        expect(box(page)).to_have_value("One two three four")
        agree(page)
    gone = "REFUSED|reaching|responding|disconnected"
    console[:] = [each for each in console if not re.search(gone, each)]


@pytest.mark.long
def test_random_actions_leave_everything_in_agreement(page: Page, app_url: str) -> None:
    done = drive(page, app_url, seed=1, actions=60)
    assert done.problems == [], "\n".join([*done.problems, *done.log[-40:]])
