"""What is said while the app runs: nothing late brings an old picture or old settings back."""

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

import start
from tests.browser.test_architecture_page import EXPLORER
from tests.browser.test_architecture_page import open_page as open_architecture
from tests.browser.test_image_page import ROOT, open_page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
ADAPTER = start.ROOT / "viz/components/headscope_views/assets/adapter.js"
STATE = "data-test-script-state"
QUIET = 700  # milliseconds in which a late answer would have come


class Line:
    """What goes from a page to the app and back.

    Once it is told to, another run is asked for just after; while it is told to, answers wait.
    """

    def __init__(self, page: Page) -> None:
        self.asked: list[str] = []  # the fragment of every run
        self.add: str | None = None
        self.wait: list[bytes] | None = None
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

        def answer(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            if self.wait is None:
                browser.send(message)
            else:
                self.wait.append(message)

        browser.on_message(hear)
        server.on_message(answer)
        self._browser = browser

    def go_on(self) -> None:
        """Lets the browser have what had to wait."""
        waiting, self.wait = self.wait or [], None
        for message in waiting:
            self._browser.send(message)


def test_a_picture_that_is_gone_stays_gone_when_its_last_question_comes_late(page, app_url):
    line = Line(page)
    open_page(page, app_url, "size=80&heads=2&dim=16&depth=3")
    expect(page.locator(f"[{STATE}]")).to_have_attribute(STATE, "notRunning")
    while len(line.asked) < 2:
        page.wait_for_timeout(QUIET)
    view = line.asked[-1]
    page.get_by_role("combobox", name="Patch").click()
    line.add = view
    page.get_by_role("option", name="14").click()
    expect(page.get_by_text("patch 14 does not divide image 80")).to_be_visible()
    assert line.add is None
    page.wait_for_timeout(QUIET)
    expect(page.locator(ROOT)).to_have_count(0)


def test_a_click_before_the_preset_was_heard_of_leaves_the_preset_as_it_is(page, app_url):
    line = Line(page)
    open_architecture(page, app_url, "preset=small")
    dim = page.get_by_role("spinbutton", name="Dim", exact=True)
    expect(dim).to_have_value("64")
    expect(page.locator(f"[{STATE}]")).to_have_attribute(STATE, "notRunning")
    line.wait = []
    page.get_by_role("radio", name="Smallest", exact=True).click()
    while not any(b"preset=smallest" in message for message in line.wait):
        page.wait_for_timeout(QUIET)
    page.get_by_text("Run it", exact=True).click()
    page.wait_for_timeout(QUIET)
    line.go_on()
    expect(page.locator(EXPLORER)).to_have_count(1)
    expect(dim).to_have_value("3")
    page.wait_for_url(lambda address: "preset=smallest&run=yes" in address)
    assert page.get_by_role("slider", name="Heads").count() == 0


def test_a_view_waits_while_the_app_runs_and_then_says_the_newest(page):
    page.set_content(f"<main {STATE}=running><div><p class=headscope></p></div></main>")
    heard = page.evaluate(
        """async ([source, state]) => {
          const file = new Blob([source], { type: "text/javascript" });
          const { adapt } = await import(URL.createObjectURL(file));
          const app = document.querySelector("main");
          const heard = [];
          const told = { parentElement: app.firstChild, data: null,
                         setStateValue: (_, event) => heard.push(event) };
          let say;
          const view = { update() {}, destroy() {} };
          const stop = adapt((_root, _data, mounted) => ((say = mounted), view))(told);
          const become = async (now) => {
            app.setAttribute(state, now);
            heard.push(now);
            await new Promise((go) => setTimeout(go, 300));
          };
          say("overtaken");
          say("newest");
          await become("rerunRequested");
          await become("notRunning");
          await become("running");
          say("next");
          await become("notRunning");
          say("at once");
          await become("running");
          say("too late");
          stop();
          await become("notRunning");
          return heard;
        }""",
        [ADAPTER.read_text(encoding="utf-8"), STATE],
    )
    waited = ["rerunRequested", "notRunning", "newest", "running", "notRunning", "next"]
    assert heard == [*waited, "at once", "running", "notRunning"]
