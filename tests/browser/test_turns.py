"""What a view says while the app runs: it waits, and a late answer brings no old picture back."""

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.browser.test_image_page import ROOT, open_page, root, said

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
STATE = "data-test-script-state"
QUIET = 700  # milliseconds after which a page has said what it had to


class Line:
    """What goes from a page to the app; once it is told to, another run is asked for just after."""

    def __init__(self, page: Page) -> None:
        self.asked: list[str] = []  # the fragment of every run
        self.add: str | None = None
        page.route_web_socket("**/_stcore/stream", self._connect)

    def _connect(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()

        def hear(message: str | bytes) -> None:
            server.send(message)
            assert isinstance(message, bytes)
            run = BackMsg.FromString(message)
            if run.WhichOneof("type") != "rerun_script":
                return
            self.asked.append(run.rerun_script.fragment_id)
            if self.add is not None:
                run.rerun_script.fragment_id, self.add = self.add, None
                server.send(run.SerializeToString())

        browser.on_message(hear)


def test_a_picture_that_is_gone_stays_gone_when_its_last_question_comes_late(page, app_url):
    line = Line(page)
    open_page(page, app_url, "size=80&heads=2&dim=16&depth=3")
    page.wait_for_timeout(QUIET)
    view = line.asked[-1]
    page.get_by_role("combobox", name="Patch").click()
    line.add = view
    page.get_by_role("option", name="14").click()
    expect(page.get_by_text("patch 14 does not divide image 80")).to_be_visible()
    assert line.add is None
    page.wait_for_timeout(QUIET)
    expect(page.locator(ROOT)).to_have_count(0)


def test_a_view_waits_while_the_app_runs_and_then_says_the_newest(page, app_url):
    line = Line(page)
    open_page(page, app_url, "size=64&heads=4&dim=16&depth=3")
    page.wait_for_timeout(QUIET)
    app = page.locator(f"[{STATE}]")
    expect(app).to_have_attribute(STATE, "notRunning")
    before = len(line.asked)
    app.evaluate(f"app => app.setAttribute('{STATE}', 'running')")
    for head in (1, 2):
        page.get_by_role("button", name="Next head").click()
        root(page, head=head)
    page.wait_for_timeout(QUIET)
    assert len(line.asked) == before
    app.evaluate(f"app => app.setAttribute('{STATE}', 'notRunning')")
    said(page, "head=2")
    assert len(line.asked) > before
