"""Sliders, text fields and uploads in a browser: what they send, what a re-run leaves alone."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.views import Server

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]

HEADS = {
    "kind": "slider",
    "label": "Heads",
    "min": 1,
    "max": 16,
    "step": 1,
    "value": 4,
    "help": "They divide the width",
}
SENTENCE = {"kind": "entry", "label": "Sentence", "value": "A cat", "multiline": True}
FILES = {
    "kind": "files",
    "label": "Your pictures",
    "hint": "or drop or paste pictures",
    "accept": "image/*",
    "most": 3,
    "limit": 1,
    "pasted": "image/",
}
GIVEN = """([kind, files, on]) => {
  const data = new DataTransfer();
  for (const [name, type, text] of files) data.items.add(new File([text], name, {type}));
  const shared = {bubbles: true, cancelable: true, composed: true};
  const event = kind === "paste"
    ? new ClipboardEvent(kind, {...shared, clipboardData: data})
    : new DragEvent(kind, {...shared, dataTransfer: data});
  (on ? document.querySelector(on) : document.body).dispatchEvent(event);
  return event.defaultPrevented;
}"""
LAST = """value => {
  const last = headscope.events.at(-1);
  return last && last[0] === 'value' && last[1] === value;
}"""


def opened(page: Page, server: Server, props: dict[str, Any]) -> None:
    server.props = props
    page.goto(server.url)
    page.wait_for_function("window.headscope")


def sent(page: Page) -> list[Any]:
    return [value for _, value in page.evaluate("headscope.events")]


def is_sent(page: Page, value: Any) -> None:
    """Waits until this is the last value that was sent."""
    page.wait_for_function(LAST, arg=value, timeout=60_000)


def shows(page: Page, value: float) -> None:
    """The slider says this value."""
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", str(value))
    expect(page.locator(".hs-slider-number")).to_have_text(str(value))


def test_a_slider_sends_its_value_while_it_is_dragged(page: Page, server: Server):
    opened(page, server, HEADS | {"min": 0, "max": 100, "value": 0})
    track = page.get_by_role("slider").bounding_box()
    assert track
    y, knob = track["y"] + track["height"] / 2, 8
    page.mouse.move(track["x"] + knob, y)
    page.mouse.down()
    for share in range(10, 101, 10):
        page.mouse.move(track["x"] + knob + (track["width"] - 2 * knob) * share / 100, y)
        shows(page, share)
    is_sent(page, 100)  # the button is still down
    values = sent(page)
    assert values == sorted(values)
    assert len(values) > 2
    page.mouse.up()
    page.mouse.move(track["x"], y)
    shows(page, 100)


def test_what_is_typed_is_sent_and_a_re_run_leaves_text_and_caret_alone(page: Page, server: Server):
    opened(page, server, SENTENCE)
    field = page.get_by_role("textbox", name="Sentence")
    expect(field).to_have_value("A cat")
    field.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    for letter in " big":
        page.keyboard.press(letter if letter != " " else "Space")
        page.evaluate("headscope.update", {"value": "something older", "placeholder": "Text"})
    expect(field).to_have_value("A big cat")
    is_sent(page, "A big cat")
    assert field.evaluate("field => field.selectionStart") == len("A big")
    expect(field).to_be_focused()


def test_keys_typed_into_a_field_reach_no_shortcut_of_the_page(page: Page, server: Server):
    opened(page, server, SENTENCE)
    page.evaluate("document.addEventListener('keydown', () => (window.shortcut = true))")
    page.get_by_role("textbox").press("r")
    is_sent(page, "A catr")
    assert page.evaluate("window.shortcut") is None


def uploading(page: Page, server: Server) -> list[str]:
    """Opens the uploader; returns what it sends to the server, which refuses "bad"."""
    bodies: list[str] = []

    def answer(route: Route) -> None:
        body = route.request.post_data or ""
        bodies.append(body)
        if body == "bad":
            route.fulfill(status=500, body="this <b>cannot</b> be kept")
        else:
            route.fulfill(json={"digest": f"digest of {body}"})

    page.route("**/api/upload", answer)
    opened(page, server, FILES)
    return bodies


def files_sent(page: Page, count: int) -> dict[str, Any]:
    """The last message of this many; its id is taken off."""
    page.wait_for_function("count => headscope.events.length === count", arg=count)
    messages = sent(page)
    assert len({message["id"] for message in messages}) == count
    return {name: value for name, value in messages[-1].items() if name != "id"}


def test_a_large_file_is_not_sent_and_a_refusal_is_reported(
    page: Page, server: Server, console: list[str]
):
    bodies = uploading(page, server)
    empty = {"name": "empty.png", "mimeType": "", "buffer": b""}
    large = {"name": "large.png", "mimeType": "", "buffer": b"x" * (2**20 + 1)}
    bad = {"name": "bad.png", "mimeType": "", "buffer": b"bad"}
    page.locator("input[type=file]").set_input_files([empty, large, bad])  # pyright: ignore[reportArgumentType]
    reasons = [
        "the file is empty",
        "this file has 2 MB; expected at most 1 MB",
        "this <b>cannot</b> be kept",
    ]
    assert files_sent(page, 1)["refused"] == [
        {"name": name, "reason": reason}
        for name, reason in zip(("empty.png", "large.png", "bad.png"), reasons, strict=True)
    ]
    assert bodies == ["bad"]
    page.unroute("**/api/upload")
    page.route("**/api/upload", lambda route: route.abort())
    page.locator("input[type=file]").set_input_files([bad])  # pyright: ignore[reportArgumentType]
    assert "could not be sent" in files_sent(page, 2)["refused"][0]["reason"]
    console[:] = [each for each in console if "Failed to load resource" not in each]


def test_a_file_may_be_dropped_anywhere_and_pasted(page: Page, server: Server):
    """But not where it belongs to something else: a field, or whatever takes it first."""
    uploading(page, server)
    sign = page.get_by_text("Drop them here")
    files = [["a.png", "image/png", "a"]]
    assert page.evaluate(GIVEN, ["dragover", files, ""])
    expect(sign).to_be_visible()
    page.evaluate(GIVEN, ["dragleave", files, ""])
    expect(sign).to_be_hidden()
    page.evaluate(GIVEN, ["dragover", files, ""])
    assert page.evaluate(GIVEN, ["drop", files, ""])
    expect(sign).to_be_hidden()
    assert files_sent(page, 1)["sent"] == [{"name": "a.png", "digest": "digest of a"}]
    page.evaluate(
        """() => {
          const other = document.body.appendChild(document.createElement("textarea"));
          other.addEventListener("drop", (event) => event.preventDefault());
        }"""
    )
    page.evaluate(GIVEN, ["drop", files, "textarea"])
    assert not page.evaluate(GIVEN, ["paste", [], ""])
    none = page.get_by_text("The clipboard holds no picture")
    expect(none).to_be_visible()
    assert not page.evaluate(GIVEN, ["paste", [["a.txt", "text/plain", "a"]], "textarea"])
    expect(none).to_be_hidden()
    assert page.evaluate(GIVEN, ["paste", [["b.png", "image/png", "b"]], "textarea"])
    assert files_sent(page, 2)["sent"] == [{"name": "b.png", "digest": "digest of b"}]
    page.evaluate("headscope.update", {"pasted": ""})
    assert not page.evaluate(GIVEN, ["paste", files, ""])
    assert not page.evaluate(GIVEN, ["drop", [], ""])
    assert len(sent(page)) == 2
