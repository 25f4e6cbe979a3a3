"""The explorer in a browser, without Streamlit: what is seen, what is read out, what is asked."""

import base64
import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from headscope_views.standalone import page as standalone
from playwright.sync_api import Browser, Page, expect

from tests.browser.explorer_pages import Source, random_source
from viz import theme
from viz.pack import message

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]

ODD = [
    *("[CLS]", "<script>window.bad=1</script>", "🙂", "مرحبا", "the", "the", "x" * 60, "&amp;"),
    *("<img src=x onerror=window.bad=1>", " ", "[SEP]"),
]
SIZES = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


class Explorer:
    """The page, and a server that answers when told to."""

    def __init__(self, page: Page, folder: Path, source: Source, first: bytes) -> None:
        self.page, self.source = page, source
        self.answered: set[int] = set()
        file = folder / "explorer.html"
        file.write_text(standalone(first, listen=True), encoding="utf-8")
        page.goto(file.as_uri())
        self.root = page.locator(".headscope")
        self.read = page.locator(".hs-matrix .hs-read")
        expect(self.root).to_have_attribute("data-trace", source.trace)

    def events(self) -> list[dict[str, Any]]:
        return self.page.evaluate("headscope.events")

    def asks(self) -> list[dict[str, Any]]:
        """Every question so far, each once."""
        asked = {event["ask"]["id"]: event["ask"] for event in self.events() if event["ask"]}
        return [asked[number] for number in sorted(asked)]

    def asks_for(self, *place: Any) -> list[dict[str, Any]]:
        """Questions for nothing but the whole map of one head (other heads are asked for ahead)."""
        return [a for a in self.asks() if [m[:2] for m in a["maps"]] == [list(place)]]

    def send(self, blob: bytes) -> None:
        self.page.evaluate("headscope.update", base64.b64encode(blob).decode())

    def until(self, there: Callable[[], Any], seconds: float = 5) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := there():
                return found
            self.page.wait_for_timeout(20)
        raise AssertionError("it did not come about in time")

    def serve(self, there: Callable[[], Any]) -> None:
        """Answers every question until something is the case."""

        def turn() -> Any:
            found = there()
            for ask in self.asks():
                if ask["id"] not in self.answered:
                    self.answered.add(ask["id"])
                    self.send(self.source.answer(ask))
            return found

        self.until(turn)

    def painted(self) -> int:
        return int(self.root.get_attribute("data-painted") or 0)

    def head(self) -> tuple[str | None, str | None]:
        return self.root.get_attribute("data-site"), self.root.get_attribute("data-head")

    def thumb(self, site: int, column: int) -> tuple[float, float]:
        """The middle of a small picture, relative to the canvas of all."""
        label = self.page.locator(".hs-columns span").nth(column)
        row = self.page.locator(".hs-rows span").nth(site)
        box = self.page.locator(".hs-thumbs").bounding_box()
        across, down = label.bounding_box(), row.bounding_box()
        assert box
        assert across
        assert down
        return across["x"] + across["width"] / 2 - box["x"], down["y"] + 15 - box["y"]

    def choose(self, site: int, column: int) -> None:
        x, y = self.thumb(site, column)
        self.page.locator(".hs-thumbs").click(position={"x": x, "y": y}, force=True)

    def walk_to(self, query: int, key: int) -> None:
        """Moves the cross-hair by keyboard: no pixel has to be known."""
        self.page.locator(".hs-overlay").focus()
        for name, times in (("ArrowRight", key), ("ArrowDown", query)):
            for _ in range(times + (name == "ArrowRight")):
                self.page.keyboard.press(name)

    def picture(self) -> str:
        return self.page.locator(".hs-picture").evaluate("canvas => canvas.toDataURL()")


@pytest.fixture
def explore(page: Page, tmp_path: Path) -> Callable[..., Explorer]:
    """Opens the explorer on a source; keywords choose what is selected first."""

    def opened(source: Source, size: str = "wide", mode: Any = "light", **first: Any) -> Explorer:
        page.set_viewport_size(SIZES[size])  # pyright: ignore[reportArgumentType]
        page.emulate_media(color_scheme=mode)
        explorer = Explorer(page, tmp_path, source, source.first(**first))
        if first.get("maps") is None:
            explorer.until(explorer.painted)
        return explorer

    return opened


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", theme.MODES)
def test_the_weight_under_the_cross_hair_is_the_array_s(explore, size: str, mode: str):
    source = random_source(2, 3, 11, labels=ODD)
    explorer = explore(source, size, mode, site=1, head=2)
    explorer.walk_to(4, 7)
    weights = source.weights[1, 2]
    expect(explorer.read).to_contain_text("“the” (4) → “&amp;” (7): ≈ ")
    rough = float(explorer.read.inner_text().split("≈")[1])
    # the byte is off by max/255 at most, the text by half its last digit
    assert abs(rough - weights[4, 7]) <= weights.max() / 255 + 0.0005
    explorer.serve(lambda: "row sum" in explorer.read.inner_text())
    total = weights[4].sum(dtype=np.float64)
    exact = f"“the” (4) → “&amp;” (7): {weights[4, 7]:.5f} · row sum {total:.6f}"
    assert explorer.read.inner_text() == exact
    assert explorer.root.get_attribute("data-mode") == mode
    assert explorer.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_pointing_with_the_mouse_reads_the_cell_under_it(explore):
    source = random_source(1, 2, 7)
    explorer = explore(source)
    overlay = explorer.page.locator(".hs-overlay")
    box = overlay.bounding_box()
    explorer.page.mouse.move(box["x"] + 300, box["y"] + 300)
    explorer.serve(lambda: "row sum" in explorer.read.inner_text())
    words = explorer.read.inner_text()
    query, key = (int(part.split(")")[0]) for part in words.split("(")[1:3])
    assert f": {source.weights[0, 0, query, key]:.5f} " in words
    explorer.page.mouse.move(5, 5)
    expect(explorer.read).to_contain_text("Point at a cell")


def test_a_cell_has_the_colour_of_its_weight(explore):
    """A 2x2 map with known weights: its pixels have the colours of the theme's ramp."""
    weights = np.array([[1.0, 0.0], [0.75, 0.25]], dtype=np.float32)[None, None]
    explorer = explore(Source(weights, ["a", "b"]))
    seen = explorer.page.locator(".hs-picture").evaluate(
        "c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
    )
    width = explorer.page.locator(".hs-picture").evaluate("canvas => canvas.width")
    colours = {tuple(c) for c in np.array(seen).reshape(-1, width, 4)[..., :3].reshape(-1, 3)}
    for weight in (1.0, 0.0, 0.75, 0.25):
        ramp = theme.sequential("light")[round(255 * weight**0.5)]
        assert tuple(int(c) for c in ramp) in colours


def test_a_click_in_the_atlas_redraws_without_a_question(explore):
    explorer = explore(random_source(3, 5, 13))
    before, painted = explorer.picture(), explorer.painted()
    explorer.choose(2, 4)
    explorer.until(lambda: explorer.painted() > painted)
    assert explorer.head() == ("2", "4")
    assert explorer.picture() != before
    explorer.page.wait_for_timeout(500)
    assert explorer.asks() == []
    assert explorer.events()[-1]["select"]["site"] == 2
    assert explorer.events()[-1]["select"]["head"] == 4
    explorer.choose(1, 6)  # three after the last head: five heads, mean, max
    explorer.until(lambda: explorer.head() == ("1", "max"))


def test_what_is_missing_is_asked_for_and_the_old_picture_stays(explore):
    source = random_source(2, 3, 61)
    explorer = explore(source)
    before = explorer.picture()
    explorer.choose(1, 2)
    ask = explorer.until(lambda: explorer.asks_for(1, 2))[0]
    assert ask == {
        "id": ask["id"],
        "trace": "t1",
        "base": False,
        "maps": [[1, 2, 0, 61, 0, 61]],
        "rows": [],
    }
    explorer.until(lambda: explorer.head() == ("1", "2"))
    assert explorer.picture() == before
    expect(explorer.page.locator(".hs-wait")).to_contain_text("layer 1 · head 2")
    expect(explorer.page.locator(".hs-stage")).to_have_class("hs-stage hs-dim")
    explorer.send(source.answer(ask))
    expect(explorer.page.locator(".hs-wait")).to_be_hidden()
    assert explorer.picture() != before


def test_an_unanswered_question_is_repeated_twice_with_growing_ids(explore):
    explorer = explore(random_source(2, 3, 61))
    explorer.choose(1, 0)
    explorer.until(lambda: len(explorer.asks_for(1, 0)) == 3, 10)
    first, second, third = (ask["id"] for ask in explorer.asks_for(1, 0))
    # 1.5 s each; ids start from the clock in milliseconds
    assert second - first >= 1400
    assert third - second >= 1400
    explorer.page.wait_for_timeout(1800)
    assert len(explorer.asks_for(1, 0)) == 3
    expect(explorer.page.locator(".hs-wait")).to_contain_text("No answer")


def test_the_other_heads_are_fetched_ahead_and_then_need_no_question(explore):
    source = random_source(2, 3, 61)
    explorer = explore(source)
    explorer.serve(lambda: sum(len(ask["maps"]) for ask in explorer.asks()) == 5)
    ahead = [part[:2] for part in explorer.asks()[0]["maps"]]
    assert ahead == [[1, 0], [0, 1], [0, 2], [0, "mean"], [0, "max"]]
    explorer.page.wait_for_timeout(100)
    asked, painted = len(explorer.asks()), explorer.painted()
    explorer.choose(0, 3)
    explorer.until(lambda: explorer.painted() > painted)
    assert explorer.head() == ("0", "mean")
    wanted = [part for ask in explorer.asks()[asked:] for part in ask["maps"]]
    assert [0, "mean", 0, 61, 0, 61] not in wanted


def test_additions_to_another_trace_are_ignored(explore):
    source = random_source(2, 3, 61)
    explorer = explore(source)
    explorer.choose(1, 1)
    ask = explorer.until(lambda: explorer.asks_for(1, 1))[0]
    foreign = random_source(2, 3, 61, seed=1, trace="other")
    before = explorer.picture()
    explorer.send(foreign.answer(ask))
    explorer.page.wait_for_timeout(200)
    assert explorer.picture() == before
    expect(explorer.page.locator(".hs-wait")).to_be_visible()
    explorer.send(source.answer(ask))
    expect(explorer.page.locator(".hs-wait")).to_be_hidden()


def test_a_new_trace_keeps_the_choice_as_far_as_it_fits(explore):
    explorer = explore(random_source(3, 5, 13), token=12)
    explorer.choose(2, 4)
    explorer.until(lambda: explorer.head() == ("2", "4"))
    smaller = random_source(2, 3, 7, trace="t2")
    explorer.send(smaller.first(token=12))  # the choice it was sent before: no news
    explorer.until(lambda: explorer.root.get_attribute("data-trace") == "t2")
    assert explorer.head() == ("1", "2")
    explorer.send(smaller.first(site=0, head="mean"))
    explorer.until(lambda: explorer.head() == ("0", "mean"))


def test_an_echo_of_the_user_s_choice_does_not_undo_a_later_one(explore):
    source = random_source(3, 5, 13)
    explorer = explore(source)
    explorer.choose(1, 1)
    explorer.until(lambda: explorer.events() and explorer.events()[-1]["select"]["site"] == 1)
    heard = explorer.events()[-1]["said"]
    explorer.choose(2, 2)
    explorer.send(source.first(site=1, head=1, heard=heard))
    explorer.page.wait_for_timeout(300)
    assert explorer.head() == ("2", "2")


def test_a_server_that_has_heard_everything_is_obeyed(explore):
    source = random_source(3, 5, 13)
    explorer = explore(source)
    explorer.choose(1, 1)
    explorer.until(lambda: explorer.events() and explorer.head() == ("1", "1"))
    explorer.choose(2, 2)
    explorer.until(lambda: explorer.events()[-1]["select"]["site"] == 2)
    explorer.send(source.first(site=1, head=1, heard=explorer.events()[-1]["said"]))
    explorer.until(lambda: explorer.head() == ("1", "1"))


def test_a_server_that_overrules_is_obeyed_though_it_has_not_heard_everything(explore):
    source = random_source(3, 5, 13)
    explorer = explore(source)
    explorer.choose(2, 2)
    explorer.send(source.first(site=1, head=1, heard=0, overruled=1))
    explorer.until(lambda: explorer.head() == ("1", "1"))
    explorer.choose(0, 3)
    explorer.send(source.first(site=1, head=1, heard=0, overruled=1))
    explorer.until(lambda: explorer.events() and explorer.events()[-1]["select"]["head"] == 3)
    assert explorer.events()[-1]["overruled"] == 1
    assert explorer.head() == ("0", "3")


def test_a_view_that_missed_a_trace_asks_for_its_base(explore):
    explorer = explore(random_source(2, 3, 7))
    other = random_source(2, 3, 7, seed=1, trace="t2")
    explorer.send(message(trace="t2", rows=[other.row(0, 0, "query", 1)]))
    ask = explorer.until(lambda: [a for a in explorer.asks() if a["base"]])[0]
    explorer.send(other.answer(ask))
    expect(explorer.root).to_have_attribute("data-trace", "t2")


def test_a_view_without_a_base_asks_for_it(page: Page, tmp_path: Path):
    source = random_source(2, 3, 7)
    file = tmp_path / "explorer.html"
    row = message(trace="t1", rows=[source.row(0, 0, "query", 1)])
    file.write_text(standalone(row, listen=True), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_function("headscope.events.length > 0")
    ask = page.evaluate("headscope.events[0].ask")
    assert (ask["base"], ask["trace"], ask["maps"], ask["rows"]) == (True, None, [], [])
    page.evaluate("headscope.update", base64.b64encode(source.answer(ask)).decode())
    expect(page.locator(".headscope")).to_have_attribute("data-trace", "t1")


def test_nothing_is_reported_while_mounting(explore):
    explorer = explore(random_source(2, 3, 7))
    explorer.page.wait_for_timeout(400)
    assert explorer.events() == []


def test_tokens_are_literal_and_nothing_of_them_runs(explore):
    explorer = explore(random_source(1, 2, 11, labels=ODD, special=[0, 10]), token=1)
    chips = explorer.page.locator(".hs-chip")
    assert chips.all_inner_texts() == [label if label.strip() else "␣" for label in ODD]
    explorer.walk_to(1, 8)
    expect(explorer.read).to_contain_text("“<script>window.bad=1</script>” (1)")
    expect(explorer.read).to_contain_text("“<img src=x onerror=window.bad=1>” (8)")
    assert explorer.page.evaluate("typeof window.bad") == "undefined"
    assert explorer.page.locator(".headscope img, .headscope script").count() == 0


def test_the_text_is_shaded_outwards_and_inwards(explore):
    source = random_source(1, 2, 7, labels=["a", "b", "the", "the", "c", "d", "e"])
    explorer = explore(source, token=3)
    says = explorer.page.locator(".hs-text .hs-says")
    chips = explorer.page.locator(".hs-text .hs-chip")
    explorer.serve(lambda: str(chips.first.get_attribute("aria-label")).count("≈") == 0)

    def shades() -> list[str]:
        return chips.evaluate_all("all => all.map((chip) => chip.style.backgroundColor)")

    def wanted(weights: np.ndarray) -> list[str]:
        ramp = theme.sequential("light")[
            np.rint(255 * np.sqrt(weights.astype(np.float64))).astype(int)
        ]
        return [f"rgb({r}, {g}, {b})" for r, g, b in ramp]

    expect(says).to_have_text("Layer 0, head 0: where “the” looks. Darker = more weight.")
    assert shades() == wanted(source.weights[0, 0, 3])
    explorer.page.get_by_role("button", name="is looked at by").click()
    expect(says).to_have_text("Layer 0, head 0: who looks at “the”. Darker = more weight.")
    explorer.serve(lambda: shades() == wanted(source.weights[0, 0, :, 3]))
    explorer.page.keyboard.press("Escape")
    chips.nth(3).press("ArrowRight")
    expect(chips.nth(4)).to_have_attribute("aria-checked", "true")
    expect(chips.nth(4)).to_be_focused()


@pytest.mark.parametrize("mode", theme.MODES)
def test_text_on_shaded_chips_is_legible(explore, mode: str):
    weights = np.tile(np.linspace(0, 1, 53, dtype=np.float32) ** 2, (53, 1))[None, None]
    explorer = explore(Source(weights, [f"w{i}" for i in range(53)]), mode=mode, token=0)
    explorer.serve(
        lambda: "≈" not in str(explorer.page.locator(".hs-chip").first.get_attribute("aria-label"))
    )
    pairs = explorer.page.locator(".hs-chip").evaluate_all(
        "all => all.map(getComputedStyle).map((style) => [style.color, style.backgroundColor]"
        ".map((colour) => colour.match(/\\d+/g).slice(0, 3).map(Number)))"
    )
    for colour, ground in np.array(pairs):
        assert contrast(colour, ground) >= 4.5


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    def luminance(colour: np.ndarray) -> float:
        encoded = colour / 255
        light = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
        return float(light @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_cross_attention_shows_both_texts(explore):
    source = random_source(1, 2, 7)
    source = Source(source.weights[:, :, :5], list("abcde"), key_labels=list("tuvwxyz"))
    explorer = explore(source, token=2)
    assert explorer.page.locator(".hs-choice .hs-chip").all_inner_texts() == list("abcde")
    assert explorer.page.locator(".hs-chips .hs-chip").all_inner_texts() == list("tuvwxyz")
    explorer.page.get_by_role("button", name="is looked at by").click()
    expect(explorer.page.locator(".hs-choice .hs-chip").first).to_have_text("t")


def test_the_keyboard_alone_is_enough(explore):
    explorer = explore(random_source(3, 5, 13))
    page = explorer.page
    atlas = page.locator(".hs-scroller")
    atlas.focus()
    for key, place in (
        ("ArrowRight", ("0", "1")),
        ("ArrowDown", ("1", "1")),
        ("End", ("1", "max")),
        ("ArrowLeft", ("1", "mean")),
        ("ArrowUp", ("0", "mean")),
        ("Home", ("0", "0")),
        ("ArrowLeft", ("0", "0")),
    ):
        page.keyboard.press(key)
        explorer.until(lambda place=place: explorer.head() == place)
    explorer.walk_to(2, 3)
    page.keyboard.press("Enter")
    expect(page.locator(".hs-chip").nth(2)).to_have_attribute("aria-checked", "true")
    reset = page.get_by_role("button", name="Show the whole matrix")
    expect(reset).to_be_disabled()
    page.keyboard.press("+")
    expect(reset).to_be_enabled()
    page.keyboard.press("Escape")
    expect(reset).to_be_disabled()


def test_zooming_by_wheel_panning_and_back(explore):
    explorer = explore(random_source(1, 2, 37))
    page = explorer.page
    whole = explorer.picture()
    box = page.locator(".hs-overlay").bounding_box()
    page.mouse.move(box["x"] + 320, box["y"] + 320)
    reset = page.get_by_role("button", name="Show the whole matrix")
    for _ in range(3):  # a wheel right after a page was opened may reach nobody
        page.mouse.wheel(0, -240)
        with contextlib.suppress(AssertionError):
            expect(reset).to_be_enabled(timeout=3_000)
            break
    expect(reset).to_be_enabled()
    zoomed = explorer.picture()
    assert zoomed != whole
    page.mouse.down()
    page.mouse.move(box["x"] + 250, box["y"] + 280, steps=4)
    page.mouse.up()
    explorer.until(lambda: explorer.picture() != zoomed)
    assert explorer.events() == [] or explorer.events()[-1]["select"]["token"] is None
    page.locator(".hs-overlay").dblclick(position={"x": 320, "y": 320})
    expect(reset).to_be_disabled()


def test_zooming_into_a_pooled_map_asks_for_the_part_in_view(explore):
    tokens = 1283
    near = abs(np.arange(tokens)[:, None] - np.arange(tokens)[None]) < 2
    weights = (near / near.sum(1, keepdims=True)).astype(np.float32)[None, None]
    source = Source(weights, [f"w{i}" for i in range(tokens)])
    explorer = explore(source)
    box = explorer.page.locator(".hs-overlay").bounding_box()
    explorer.page.mouse.move(box["x"] + 320, box["y"] + 320)
    for _ in range(8):
        explorer.page.mouse.wheel(0, -120)

    def tiles() -> list[Any]:
        asked = [wanted for ask in explorer.asks() for wanted in ask["maps"]]
        return [w for w in asked if w[:2] == [0, 0] and w[2:] != [0, tokens, 0, tokens]]

    explorer.serve(tiles)
    top, bottom, left, right = tiles()[-1][2:]
    assert 0 <= top < bottom <= tokens
    assert 0 <= left < right <= tokens
    assert bottom - top <= 640
    explorer.page.wait_for_timeout(600)
    assert len(tiles()) == 1  # answered, so not asked again


def test_stretching_the_contrast_says_so_and_changes_the_colours(explore):
    source = random_source(1, 2, 13)
    source.weights *= 0.3
    explorer = explore(source)
    before = explorer.picture()
    button = explorer.page.get_by_role("button", name="Stretch contrast")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    explorer.until(lambda: explorer.picture() != before)
    explorer.until(
        lambda: explorer.events()[-1:] and explorer.events()[-1]["select"]["scale"] == "own"
    )


def test_a_switch_of_theme_redraws(explore):
    explorer = explore(random_source(1, 2, 7))
    light = explorer.picture()
    explorer.page.emulate_media(color_scheme="dark")
    explorer.until(lambda: explorer.root.get_attribute("data-mode") == "dark")
    assert explorer.picture() != light
    expect(explorer.page.locator(".hs-matrix .hs-says")).to_contain_text("Brighter = more")


def test_the_sentence_tells_whether_rows_sum_to_one(explore):
    explorer = explore(random_source(1, 2, 7))
    says = explorer.page.locator(".hs-matrix .hs-says")
    expect(says).to_contain_text("its weights sum to 1")
    explorer.page.get_by_label("Head", exact=True).select_option("max")
    expect(says).to_contain_text("rows do not sum to 1")
    explorer.page.get_by_role("button", name="Previous head").click()
    expect(says).to_contain_text("mean over the layer")


def test_the_picture_is_saved_with_its_name(explore):
    explorer = explore(random_source(2, 3, 7, note="untrained: random weights"), site=1, head=2)
    label = explorer.page.locator(".hs-overlay").get_attribute("aria-label")
    assert "layer 1, head 2" in label
    assert "untrained: random weights" in label
    with explorer.page.expect_download() as waiting:
        explorer.page.get_by_role("button", name="Save the matrix").click()
    assert waiting.value.suggested_filename == "all-MiniLM-L6-v2-self-layer-1-head-2.png"
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")


def test_everything_can_be_hit_with_a_finger(explore):
    explorer = explore(random_source(2, 3, 7), "phone")
    for box in explorer.page.locator("button, select").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map((b) => [b.width, b.height])"
    ):
        assert min(box) >= 24


def test_a_tap_chooses_and_reads(browser: Browser, tmp_path: Path):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    source = random_source(1, 2, 7, labels=list("abcdefg"))
    explorer = Explorer(page, tmp_path, source, source.first())
    explorer.until(explorer.painted)
    page.locator(".hs-overlay").tap(position={"x": 180, "y": 250})
    expect(page.locator('.hs-chip[aria-checked="true"]')).to_have_count(1)
    chosen = page.locator('.hs-chip[aria-checked="true"]').inner_text()
    expect(explorer.read).to_contain_text(f"“{chosen}” (")
    context.close()


@pytest.mark.parametrize("view", ["atlas", "matrix", "tokens"])
def test_each_view_stands_alone(page: Page, tmp_path: Path, view: str):
    file = tmp_path / "view.html"
    first = random_source(2, 3, 7).first(token=1)
    file.write_text(standalone(first, view=view), encoding="utf-8")
    page.goto(file.as_uri())
    there = {"atlas": ".hs-thumbs", "matrix": ".hs-picture", "tokens": ".hs-chip"}[view]
    expect(page.locator(there).first).to_be_visible()


def test_destroying_the_view_leaves_nothing(explore):
    explorer = explore(random_source(2, 3, 61))
    explorer.choose(1, 1)
    explorer.page.evaluate("headscope.destroy()")
    count = len(explorer.events())
    explorer.page.wait_for_timeout(1800)
    assert explorer.root.inner_html() == ""
    assert len(explorer.events()) == count
