"""What is said while the app runs: nothing late brings an old picture or old settings back."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

import start
from tests.browser.test_architecture_page import EXPLORER
from tests.browser.test_architecture_page import open_page as open_architecture
from tests.browser.test_image_page import ROOT, drop, open_page, picture
from viz.pages.lessons import course

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
ADAPTER = start.ROOT / "viz/components/headscope_views/assets/adapter.js"
STATE = "data-test-script-state"
QUIET = 700  # milliseconds in which a late answer would have come


class Line:
    """What goes from a page to the app and back.

    Once it is told to, another run is asked for just after, or in place of the one that is asked
    for; while it is told to, answers wait, or do from the one on that says something. What is
    asked for next can be kept, and said once more later.
    """

    def __init__(self, page: Page) -> None:
        self.said: dict[str, str] = {}  # by a view: what, and for which fragment
        self.add: str | None = None
        self.replace: str | None = None
        self.wait: list[bytes] | None = None
        self.wait_after: bytes | None = None
        self.keep = False
        self.kept = BackMsg()
        page.route_web_socket("**/_stcore/stream", self._connect)

    def _connect(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()

        def hear(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            run = BackMsg.FromString(message)
            if run.WhichOneof("type") != "rerun_script":
                server.send(message)
                return
            for widget in run.rerun_script.widget_states.widgets:
                if widget.id.endswith("_view"):
                    self.said.setdefault(widget.json_value, run.rerun_script.fragment_id)
            if self.replace is not None:
                run.rerun_script.fragment_id, self.replace = self.replace, None
            server.send(run.SerializeToString())
            if self.keep:
                self.kept.CopyFrom(run)
                self.keep = False
            if self.add is not None:
                run.rerun_script.fragment_id, self.add = self.add, None
                server.send(run.SerializeToString())

        def answer(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            if self.wait is None:
                browser.send(message)
            else:
                self.wait.append(message)
            if self.wait_after is not None and self.wait_after in message:
                self.wait, self.wait_after = [], None

        browser.on_message(hear)
        server.on_message(answer)
        self._browser, self._server = browser, server

    def view(self, page: Page) -> str:
        """The fragment of the page's view, which is made to speak; then all is quiet."""
        self.said.clear()
        page.locator(ROOT).get_by_role("combobox", name="Head").select_option("mean")
        expect(page).to_have_url(re.compile("head=mean"))
        expect(page.locator(f"[{STATE}]")).to_have_attribute(STATE, "notRunning")
        return list(self.said.values())[-1]

    def quiet(self, page: Page) -> None:
        """Returns when nothing is being drawn, and nothing is about to be."""
        page.wait_for_timeout(QUIET)
        expect(page.locator(f"[{STATE}=notRunning]")).to_have_count(1)

    def say_again(self, address: str) -> None:
        """Sends the values of the controls that were kept, as from another address of the page."""
        run = self.kept.rerun_script
        run.query_string = urlsplit(address).query
        values = [widget for widget in run.widget_states.widgets if not widget.trigger_value]
        del run.widget_states.widgets[:]
        run.widget_states.widgets.extend(values)
        self._server.send(self.kept.SerializeToString())

    def go_on(self) -> None:
        """Lets the browser have what had to wait."""
        waiting, self.wait = self.wait or [], None
        for message in waiting:
            self._browser.send(message)


def test_a_picture_that_is_gone_stays_gone_when_its_last_question_comes_late(page, app_url):
    line = Line(page)
    open_page(page, app_url, "size=80&heads=2&dim=16&depth=3")
    view = line.view(page)
    page.get_by_role("combobox", name="Patch").click()
    line.add = view
    page.get_by_role("option", name="14").click()
    expect(page.get_by_text("patch 14 does not divide image 80")).to_be_visible()
    assert line.add is None
    page.wait_for_timeout(QUIET)
    expect(page.locator(ROOT)).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "control"),
    [
        ("image?size=64&heads=2&dim=16&depth=3", "Image size"),
        ("?model=built&dim=16", "Depth"),
        ("", "Type a sentence"),
        ("image?size=64", "file"),
        ("models", "Text"),
        ("architecture?run=yes", "Text"),
    ],
)
def test_a_control_that_moves_just_as_the_view_speaks_is_followed(page, app_url, path, control):
    """What changes at once in the browser is sent as one message, for the first's fragment."""
    line = Line(page)
    page.goto(f"{app_url}/{path}")
    expect(page.locator(ROOT)).to_have_count(1, timeout=60_000)
    line.replace = line.view(page)
    before = page.locator(ROOT).get_attribute("data-trace")
    slider = page.get_by_role("slider", name=control)
    if control == "file":
        drop(page, picture())
    elif slider.count():
        slider.focus()
        slider.press("ArrowRight")
    else:
        page.get_by_role("textbox", name=control).first.fill("A cat sat on a mat")
    expect(page.locator(f"{ROOT}[data-trace='{before}']")).to_have_count(0)
    expect(page.locator(ROOT)).to_have_count(1)
    assert line.replace is None


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


@pytest.mark.parametrize(
    ("path", "role", "name", "after"),
    [
        ("", "button", "Keys … are", r"input=The\+keys"),
        ("architecture", "radio", "Smallest", "preset=smallest"),
        ("head_layer?step=1", "button", "→", "step=2"),
    ],
)
def test_the_new_address_may_come_with_old_values(page, app_url, path, role, name, after):
    """The browser has its new address a moment before its controls have their new values."""
    line = Line(page)
    page.goto(f"{app_url}/{path}")
    button = page.get_by_role(role, name=name, exact=True)
    expect(button).to_be_visible(timeout=60_000)
    line.quiet(page)
    line.keep = True
    button.click()
    page.wait_for_url(re.compile(after))
    line.quiet(page)
    address, others = page.url, list[str]()
    page.on("framenavigated", lambda frame: others.append(frame.url))
    line.say_again(address)
    line.quiet(page)
    assert (page.url, others) == (address, [])


def test_the_way_back_needs_one_step_also_at_once(page, app_url):
    page.goto(f"{app_url}/?head=5")
    page.get_by_role("button", name="Keys … are").click(timeout=60_000)
    page.wait_for_url(re.compile("input=The"))
    page.go_back()
    expect(page.get_by_role("textbox").first).to_have_value(re.compile("^The animal"))
    expect(page.locator(f"{ROOT}[data-head='5']")).to_have_count(1)
    assert page.url.endswith("?head=5")


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


def test_a_key_pressed_while_a_lesson_is_being_drawn_waits_for_its_link(page, app_url):
    first, second = (course.lesson(name) for name in ("dictionary", "by_hand"))
    line = Line(page)
    line.wait_after = f"· {first.title}".encode()  # the menu has the title too
    page.goto(f"{app_url}/{first.name}")
    title = page.get_by_role("heading", name=first.title, level=4)
    expect(title).to_be_visible(timeout=60_000)
    page.wait_for_function("() => document.documentElement.dataset.lessonKeys")
    expect(page.locator(".st-key-lesson_next a")).to_have_count(0)
    page.keyboard.press("n")
    line.go_on()
    expect(page.get_by_role("heading", name=second.title, level=4)).to_be_visible()
