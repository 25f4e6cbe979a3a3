"""No serious or critical finding of axe-core in what the app draws itself, in every look.

Streamlit's own elements are Streamlit's: of what axe finds, the findings inside our views and
inside the HTML of the lessons count. test_course.py visits the lessons.
"""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import new_page
from tests.browser.looks import looks

pytestmark = pytest.mark.browser
OURS = ".headscope, .stHtml"
PAGES = {  # what is on a page once it is drawn
    "": ".headscope[data-trace]",
    "?form=lines": ".headscope[data-trace]",
    "?form=text": ".headscope[data-trace]",
    "?form=head": ".headscope[data-trace]",
    "?form=model": ".headscope[data-trace]",
    "?model=objects": ".headscope[data-trace]",
    "?chooser=catalogue": ".headscope",
    "corpus": ".hs-example",
    "corpus?run=dinov2": ".hs-example",
    "build": ".hs-build-strips",
    "course": ".headscope",
    "quiz": ".stHtml",
}


@pytest.fixture
def page(open_context: BrowserContext) -> Iterator[Page]:
    """A window in which axe may run."""
    with new_page(open_context) as page:
        yield page


def serious(page: Page) -> list[str]:
    """The findings in what we draw, once nothing waits for a script: the rule, and where.

    Axe looks into shadow trees as well.
    """
    expect(page.locator("[data-test-script-state=notRunning]")).to_have_count(1)
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    found = Axe().run(page, OURS).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_serious_in_what_we_draw(page: Page, app_url: str, path: str):
    page.goto(f"{app_url}/{path}")
    expect(page.locator(PAGES[path]).first).to_be_visible(timeout=60_000)
    for mode in looks(page):
        assert serious(page) == [], mode
