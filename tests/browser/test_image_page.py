"""The Image page in a real browser, as a person uses it."""

import io
import re
from collections.abc import Generator

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

import start

pytestmark = pytest.mark.browser
ROOT = ".headscope[data-painted]"
SMALL = "size=64&heads=2&dim=16&depth=3"


@pytest.fixture(autouse=True)
def silent(console: list[str]) -> Generator[None, None, None]:
    """The console, but for what Streamlit asks below a page first, and then at the root."""
    yield
    console[:] = [problem for problem in console if "/image/_stcore/" not in problem]


def open_page(page: Page, url: str, query: str = SMALL) -> None:
    page.goto(f"{url}/image?{query}")
    expect(page.locator(ROOT)).to_have_count(1, timeout=60_000)


def root(page: Page, **data: object) -> None:
    wanted = "".join(f"[data-{name}='{value}']" for name, value in data.items())
    expect(page.locator(ROOT + wanted)).to_have_count(1)


def picture(kind: str = "PNG") -> dict[str, object]:
    file = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 255, (50, 90, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(file, kind)
    return {"name": f"mine.{kind.lower()}", "mimeType": "", "buffer": file.getvalue()}


def drop(page: Page, file: dict[str, object]) -> None:
    page.locator("input[type=file]").set_input_files(file)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_window_and_every_control_of_the_view_moves_it(page, app_url, mode, width):
    page.emulate_media(color_scheme=mode)
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, app_url, "")
    root(page, mode=mode, site=0, head=0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.get_by_text("untrained: random weights").first).to_be_visible()
    before = page.locator(ROOT).get_attribute("data-trace")
    page.get_by_role("button", name="Next layer").click()
    page.get_by_role("button", name="Next head").click()
    root(page, site=1, head=1, trace=before)
    for name in ("Is looked at by", "Own", "0 to 1", "Shared", "Looks at", "Picture only"):
        button = page.get_by_role("button", name=name, exact=True)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
    page.locator(".hs-photo").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    root(page, token=2)
    page.wait_for_url(re.compile(r"layer=1&head=1&token=2"))
    expect(page.locator(".hs-stage.hs-dim")).to_have_count(0)


def test_the_page_is_in_the_menu(page, app_url):
    page.goto(app_url)
    page.get_by_text("Explore").click()
    page.get_by_role("menuitem", name="Image").click()
    expect(page.get_by_text("Where does every head look?")).to_be_visible()
    expect(page.locator(".hs-photo")).to_be_visible()


def test_the_read_out_is_the_exact_weight(page, app_url):
    open_page(page, app_url, f"{SMALL}&layer=2&head=1&token=6")
    words = page.locator(".hs-image-grid section").nth(0).locator(".hs-read")
    expect(words).to_have_text(re.compile(r"^Patch 5 \(.*\d\.\d{5}$"))
    expect(words).not_to_contain_text("≈")
    names: dict = {}
    code = page.locator("[data-testid=stCode]").text_content()
    exec(code.rsplit("# query", 1)[0].replace("viz/photos", f"{start.ROOT}/viz/photos"), names)
    row = names["t"].weights(layer=2, head=1)[6, 1:]
    found = re.findall(r"most to patch (\d+) .* (\d\.\d{5})$", words.text_content())
    assert found == [(str(int(row.argmax())), f"{row.max():.5f}")]


def test_hovering_and_another_head_need_no_server(page, app_url):
    open_page(page, app_url, "")
    page.wait_for_timeout(800)
    sent: list[object] = []
    page.on("websocket", lambda socket: sent.append(socket))
    box = page.locator(".hs-photo").bounding_box()
    page.context.set_offline(True)
    for step in range(1, 6):
        page.mouse.move(box["x"] + 30 * step, box["y"] + 20 * step)
        root(
            page,
            token=1
            + 14 * ((20 * step * 14) // int(box["height"]))
            + (30 * step * 14) // int(box["width"]),
        )
    page.locator(".hs-tiles").focus()
    page.keyboard.press("End")
    root(page, head="max")
    page.context.set_offline(False)


def test_an_own_picture_a_bad_one_and_back_to_a_photo(page, app_url):
    open_page(page, app_url)
    before = page.locator(ROOT).get_attribute("data-trace")
    drop(page, picture())
    expect(page.locator(f"{ROOT}[data-trace='{before}']")).to_have_count(0)
    page.wait_for_url(re.compile("upload=[0-9a-f]{64}"))
    expect(page.get_by_text("from 90 × 50 pixels")).to_be_visible()
    mine = page.locator(ROOT).get_attribute("data-trace")
    drop(page, {"name": "text.png", "mimeType": "", "buffer": b"only words"})
    expect(page.get_by_text("this is no image that can be read")).to_be_visible()
    root(page, trace=mine)
    page.get_by_role("button", name="A flower").click()
    root(page, trace=before)
    expect(page.get_by_text("this is no image that can be read")).to_have_count(0)


def test_sizes_are_live_and_a_patch_that_does_not_fit_is_one_line(page, app_url):
    open_page(page, app_url)
    slider = page.get_by_role("slider", name="Image size")
    slider.focus()
    slider.press("ArrowRight")
    expect(page.get_by_text("5 × 5", exact=True)).to_be_visible()
    page.get_by_role("combobox", name="Patch").click()
    page.get_by_role("option", name="14").click()
    expect(page.get_by_text("patch 14 does not divide image 80")).to_be_visible()
    expect(page.locator(ROOT)).to_have_count(0)
    page.get_by_role("combobox", name="Patch").click()
    page.get_by_role("option", name="8", exact=True).click()
    expect(page.get_by_text("10 × 10", exact=True)).to_be_visible()
    root(page)
