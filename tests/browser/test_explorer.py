"""The text view in a browser, without Streamlit: what is seen, read out and fetched."""

import itertools
import re

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.explorer_pages import Explorer, Source, open_text, random_source
from tests.browser.views import LOOKS, SIZES, Server, open_lab

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]

ODD = [
    *("[CLS]", "<script>window.bad=1</script>", "🙂", "مرحبا", "the", "the", "x" * 60, "&amp;"),
    *("<img src=x onerror=window.bad=1>", " ", "[SEP]"),
]
# notes every control whose top changes by over 2 pixels after the picture was painted
MOVES = """
window.tops = new Map();
window.moves = [];
function note() {
  const painted = ".headscope[data-painted]";
  for (const control of document.querySelectorAll(`${painted} :is(button, select, summary)`)) {
    const { top, height } = control.getBoundingClientRect();
    const before = tops.get(control);
    if (!height) continue;
    if (Math.abs((before ?? top) - top) > 2) moves.push([control.textContent, before, top]);
    tops.set(control, top);
  }
  requestAnimationFrame(note);
}
requestAnimationFrame(note);
"""
SAME_PICTURE = "old => document.querySelector('.hs-picture').toDataURL() === old"
OTHER_PICTURE = "old => document.querySelector('.hs-picture').toDataURL() !== old"


def choose(explorer: Explorer, site: int, column: int) -> None:
    """Clicks the middle of a small picture."""
    label = explorer.page.locator(".hs-columns span").nth(column)
    row = explorer.page.locator(".hs-rows span").nth(site)
    thumbs = explorer.page.locator(".hs-thumbs")
    box, across, down = (each.bounding_box() for each in (thumbs, label, row))
    assert box
    assert across
    assert down
    x = across["x"] + across["width"] / 2 - box["x"]
    y = down["y"] + down["height"] / 2 - box["y"]
    thumbs.evaluate("e => e.scrollIntoView({ block: 'center' })")  # not below the toolbar
    thumbs.click(position={"x": x, "y": y}, force=True)


# ---- what is read


@pytest.mark.parametrize(("size", "mode"), LOOKS)
def test_the_weight_under_the_cross_hair_is_the_array_s(explore, server, size: str, mode: str):
    source = random_source(2, 3, 11, labels=ODD)
    server.hold("row")
    explorer = explore(source, size, mode, layer=1, head=2)
    explorer.walk_to(4, 7)
    weights = source.array[1, 2]
    expect(explorer.read).to_contain_text("“the” (4) → “&amp;” (7): ≈ ")
    rough = float(explorer.read.inner_text().split("≈")[1])
    # the byte is off by max/255 at most, the text by half its last digit
    assert abs(rough - weights[4, 7]) <= weights.max() / 255 + 0.0005
    expect(explorer.tip).to_have_text(f"“the” → “&amp;”: ≈ {rough:.3f}")
    server.release()
    total = weights[4].sum(dtype=np.float64)
    exact = f"“the” (4) → “&amp;” (7): {weights[4, 7]:.5f} · row sum {total:.6f}"
    expect(explorer.read).to_have_text(exact)
    expect(explorer.tip).to_have_text(f"“the” → “&amp;”: {weights[4, 7]:.5f}")
    assert explorer.root.get_attribute("data-mode") == mode
    assert explorer.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert explorer.page.evaluate("window.bad === undefined")  # texts are never markup


# ---- what is fetched


def test_a_click_in_the_atlas_redraws_without_fetching_a_map(explore, server):
    explorer = explore(random_source(3, 5, 13), token=2)
    before, painted = explorer.picture(), explorer.painted()
    choose(explorer, 2, 4)
    explorer.is_painted(painted)
    explorer.shows(2, 4)
    explorer.wait(OTHER_PICTURE, before)
    choose(explorer, 1, 6)  # three after the last head: five heads, mean, max
    explorer.shows(1, "max")
    # a row of what is chosen now is asked for last: nothing was before it that is not here
    server.until(lambda: "row?site=1&head=max&axis=query&index=2" in server.paths())
    assert server.paths("map") == []
    assert explorer.events() == []


def test_zooming_into_a_pooled_map_fetches_the_part_in_view(explore, server):
    tokens = 1283
    near = abs(np.arange(tokens)[:, None] - np.arange(tokens)[None]) < 2
    weights = (near / near.sum(1, keepdims=True)).astype(np.float32)[None, None]
    explorer = explore(Source(weights, [f"w{i}" for i in range(tokens)]))
    server.hold("row")

    def zoom() -> None:
        explorer.page.locator(".hs-overlay").focus()
        for _ in range(5):
            explorer.page.keyboard.press("+")
        explorer.is_zoomed()

    def parts() -> list[tuple[int, ...]]:
        """Rows and columns of each part that was asked for."""
        asked = [re.findall(r"\d+", path.partition("rows=")[2]) for path in server.paths("map")]
        return [tuple(map(int, numbers)) for numbers in asked if numbers]

    zoom()
    explorer.walk_to(0, 0)
    expect(explorer.read).to_contain_text("≈")  # not "≤": the part has come
    part = parts()[-1]  # coarser ones came before it where the keys paused for longer
    top, bottom, left, right = part
    assert 0 <= top < bottom <= tokens
    assert 0 <= left < right <= tokens
    assert bottom - top <= 640
    painted = explorer.painted()
    explorer.page.keyboard.press("Escape")
    explorer.is_painted(painted)
    zoom()
    expect(explorer.read).to_contain_text("≈")
    assert parts().count(part) == 1


# ---- traces, revisions, the link


def test_the_picture_of_the_last_trace_stays_until_the_next_has_come(explore, server):
    explorer = explore(random_source(2, 3, 61))
    before = explorer.picture()
    server.sources["t2"] = random_source(2, 3, 61, seed=1, trace="t2")
    server.hold("overview", "map")
    explorer.update(trace="t2")
    server.until(lambda: [r.route for r in server.requests if r.trace == "t2"] != [])
    explorer.wait(SAME_PICTURE, before)
    expect(explorer.root).to_have_class(re.compile("hs-busy"))
    server.release("overview")
    expect(explorer.root).to_have_attribute("data-trace", "t2")
    explorer.wait(SAME_PICTURE, before)
    expect(explorer.stage).to_have_class("hs-stage hs-dim")
    server.release("map")
    explorer.wait(OTHER_PICTURE, before)
    expect(explorer.stage).to_have_class("hs-stage")
    expect(explorer.root).not_to_have_class(re.compile("hs-busy"))


# ---- pointer, wheel, keyboard, fingers


def test_the_keyboard_alone_is_enough(explore):
    explorer = explore(random_source(3, 5, 13))
    page = explorer.page
    page.locator(".hs-body").focus()
    for key, place in (
        ("ArrowRight", (0, 1)),
        ("ArrowDown", (1, 1)),
        ("ArrowLeft", (1, 0)),
        ("ArrowLeft", (1, 0)),
        ("ArrowUp", (0, 0)),
    ):
        page.keyboard.press(key)
        explorer.shows(*place)
    explorer.walk_to(2, 3)
    page.keyboard.press("Enter")
    expect(explorer.root).to_have_attribute("data-token", "2")
    explorer.is_zoomed(False)
    page.keyboard.press("+")
    explorer.is_zoomed()
    page.keyboard.press("Escape")
    explorer.is_zoomed(False)
    page.keyboard.press("]")
    explorer.shows(0, 1)
    page.keyboard.press("}")
    explorer.shows(1, 1)


def test_zooming_by_wheel_panning_and_back(explore):
    explorer = explore(random_source(1, 2, 37))
    page = explorer.page
    whole = explorer.picture()
    overlay = page.locator(".hs-overlay")
    box = overlay.bounding_box()
    place = {"clientX": box["x"] + 250, "clientY": box["y"] + 250}
    overlay.dispatch_event("wheel", {"deltaY": -60, **place, "ctrlKey": True})
    explorer.is_zoomed()
    explorer.wait(OTHER_PICTURE, whole)
    zoomed = explorer.picture()
    box = overlay.bounding_box()
    page.mouse.move(box["x"] + 320, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 250, box["y"] + 170, steps=4)
    page.mouse.up()
    explorer.wait(OTHER_PICTURE, zoomed)
    expect(explorer.root).to_have_attribute("data-token", "")  # a drag pins nothing
    overlay.dblclick(position={"x": 320, "y": 200})
    explorer.is_zoomed(False)


def test_larger_type_keeps_the_whole_matrix_in_view(explore):
    explorer = explore(random_source(2, 12, 16))
    painted = explorer.painted()
    explorer.update(type_size=1.4)
    explorer.is_painted(painted)
    explorer.is_zoomed(False)
    assert explorer.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = explorer.page.locator(".hs-columns span").evaluate_all(
        """all => all.map((span) => {
          const range = document.createRange();
          range.selectNodeContents(span);
          const { left, right } = range.getBoundingClientRect();
          return [left, right];
        })"""
    )
    for (_, end), (start, _) in itertools.pairwise(boxes):
        assert end <= start + 1


def test_resting_tokens_are_ignored(explore):
    explorer = explore(Source(0.3 * random_source(1, 2, 13).array, list("abcdefghijklm")))
    before = explorer.picture()
    explorer.page.get_by_role("switch", name="Ignore “a”").click()
    expect(explorer.page.get_by_role("switch", name="Ignore “a”")).to_be_checked()
    explorer.wait(OTHER_PICTURE, before)


def test_a_switch_of_theme_redraws(explore):
    explorer = explore(random_source(1, 2, 7))
    light = explorer.picture()
    explorer.page.emulate_media(color_scheme="dark")
    expect(explorer.root).to_have_attribute("data-mode", "dark")
    explorer.wait(OTHER_PICTURE, light)


def test_everything_can_be_hit_with_a_finger(explore):
    explorer = explore(random_source(2, 3, 7), "phone")
    for box in explorer.page.locator("button, select").evaluate_all(
        "all => all.filter((one) => one.checkVisibility())"
        ".map((one) => one.getBoundingClientRect()).map((b) => [b.width, b.height])"
    ):
        assert min(box) >= 24


def test_a_tap_chooses_and_reads(browser: Browser, server: Server):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    source = random_source(1, 2, 7, labels=list("abcdefg"))
    explorer = open_text(page, server, source)
    explorer.is_painted()
    page.locator(".hs-overlay").tap(position={"x": 180, "y": 250})
    expect(explorer.root).to_have_attribute("data-token", re.compile(r"\d"))
    chosen = "abcdefg"[int(explorer.root.get_attribute("data-token") or 0)]
    expect(explorer.read).to_contain_text(f"“{chosen}” (")
    context.close()


# ---- what is said of the picture


@pytest.mark.parametrize("size", SIZES)
def test_nothing_moves_once_the_picture_is_painted(page, explore, server, size: str):
    labels = [f"token {i}" for i in range(10)]
    found = {"title": "next", "labels": labels, "probabilities": [0.1] * 10, "note": ""}
    found["lead"] = ["What comes after", "the"]
    page.add_init_script(MOVES)
    server.hold("predictions", "numbers", "worth")
    source = random_source(2, 3, 7, predictions=found)
    explore(source, size, predicts=True, token=3)
    server.until(lambda: server.paths("worth") and server.paths("predictions"))
    server.release()
    expect(page.locator(".hs-answer-chip")).to_have_count(4)
    assert page.evaluate("tops.size") >= 8
    assert page.evaluate("moves") == []


def test_the_lines_are_copied(browser: Browser, server: Server):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    explorer = open_text(page, server, random_source(1, 2, 7))
    explorer.is_painted()
    open_lab(page, "Save")
    save = page.get_by_role("region", name="Save")
    save.get_by_role("button", name="Python").click()
    expect(save.get_by_role("status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("weights = t.weights(layer=0, head=0)  # query × key")
    expect(save.locator(".hs-code")).to_have_text(copied)
    context.close()
