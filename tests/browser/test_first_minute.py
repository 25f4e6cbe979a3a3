"""The first minute: a picture before PyTorch is there, a strip that never moves it, the policy."""

import re
import sys

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks import servers
from tests.browser.views import VIEW
from viz.pages.explore import opening

pytestmark = pytest.mark.browser
WITHOUT_TORCH = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "transformers"):
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
import uvicorn
import app
uvicorn.run(app.app, port=int(sys.argv[1]), log_level="error")
"""


def test_the_first_picture_comes_without_torch(browser: Browser) -> None:
    port = servers.free_port()
    command = [sys.executable, "-c", WITHOUT_TORCH, str(port)]
    with servers.running(command, servers.ROOT, port) as server:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(server.url)
        view = page.locator(VIEW)
        view.wait_for(timeout=60_000)
        expect(view.get_by_text("layer 3 · head 1").first).to_be_visible()
        expect(view.get_by_role("figure", name=re.compile("Reading “"))).to_be_visible()
        assert view.locator("canvas").count()
        expect(page.get_by_text(opening.LOADING)).to_be_visible()
        page.close()


def top(page: Page) -> float:
    """Where what is below the strip begins."""
    box = page.locator(VIEW).bounding_box()
    assert box is not None
    return box["y"]


def test_what_is_below_the_strip_stays_where_it_is(
    page: Page, app_url: str, console: list[str]
) -> None:
    """Whatever the model, the input, a notice or an open list say."""
    page.set_viewport_size({"width": 1280, "height": 800})
    for query in (
        "",
        "?model=digits",
        "?model=dates",
        "?layer=x&chooser=hub",
        "?input=" + "a+" * 900,
    ):
        page.goto(f"{app_url}/{query}")
        page.locator(VIEW).wait_for(timeout=60_000)
        expect(page.get_by_role("button", name="More")).to_be_visible()
        assert top(page) == 152, query
    for name in ("MiniLM understands", "More"):
        page.get_by_role("button", name=name).click()
        assert top(page) == 152, name
        page.keyboard.press("Escape")


def test_the_list_opens_over_the_page_and_another_model_takes_its_place(
    page: Page, app_url: str, console: list[str]
) -> None:
    page.goto(app_url)
    page.locator(VIEW).wait_for(timeout=60_000)
    page.get_by_role("button", name="MiniLM understands").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="SmolLM2-135M-Instruct")).to_be_visible()
    page.get_by_text("More: small networks").click()
    page.get_by_role("button", name="Digits").first.click()
    page.wait_for_url("**/?model=digits*")
    expect(page.get_by_role("button", name="SmolLM2-135M-Instruct")).to_have_count(0)
    expect(page.get_by_role("button", name="sees pictures")).to_be_visible()


def test_a_presented_page_is_input_picture_and_caption_alone(
    page: Page, app_url: str, console: list[str]
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{app_url}/?projector=yes&form=text")
    view = page.locator(VIEW)
    view.wait_for(timeout=60_000)
    figure = view.get_by_role("figure", name=re.compile("^Text"))
    expect(figure).to_be_visible()
    box = figure.bounding_box()
    assert box is not None
    assert box["width"] * box["height"] > 0.6 * 1280 * 800
    for region in ("Heads", "What it looks at"):
        expect(view.get_by_role("region", name=region)).to_be_hidden()
    expect(page.get_by_role("button", name="MiniLM understands")).to_be_hidden()
    page.keyboard.press("3")
    expect(view.get_by_role("figure", name=re.compile("^Matrix"))).to_be_visible()


def test_arrow_keys_go_through_the_tour_of_a_presented_page_and_back(
    page: Page, app_url: str, console: list[str]
) -> None:
    """Also over a step that changes the text, whose trace comes later than the step's words."""
    page.goto(f"{app_url}/?projector=yes&form=text")
    view = page.locator(VIEW)
    view.wait_for(timeout=60_000)
    said = view.locator(".hs-walk-text")
    first = view.get_attribute("data-trace") or ""
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        expect(view).not_to_have_attribute("data-trace", first)
        expect(said).to_contain_text("Now the street may be meant")
        expect(view.get_by_role("radio", name=re.compile("^wide,"))).to_be_visible()
        page.keyboard.press("ArrowLeft")
        expect(view).to_have_attribute("data-trace", first)
        expect(said).to_contain_text("“it” gives “animal” 68 %")
        for name, value in {"site": "3", "head": "1", "token": "10"}.items():
            expect(view).to_have_attribute(f"data-{name}", value)


def test_the_start_page_keeps_its_policy_and_asks_no_other_server(
    browser: Browser, app_url: str
) -> None:
    page = browser.new_page()  # that has fetched nothing before
    asked: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    answer = page.goto(app_url)
    assert answer is not None
    assert "script-src 'self' 'sha256-" in answer.headers["content-security-policy"]
    page.locator(".headscope[data-painted]").wait_for(timeout=60_000)
    page.wait_for_load_state("networkidle")
    page.close()
    own = (app_url, app_url.replace("http:", "ws:"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []
    assert problems == []
