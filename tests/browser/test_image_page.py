"""The Image page in a real browser, as a person uses it."""

import io
import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

import start
from tests.browser.looks import looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
ROOT = ".headscope[data-painted]"
SMALL = "size=64&heads=2&dim=16&depth=3"


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


def moving() -> dict[str, object]:
    """A GIF of two frames."""
    file = io.BytesIO()
    first, second = (Image.new("RGB", (40, 40), colour) for colour in ("red", "blue"))
    first.save(file, "GIF", save_all=True, append_images=[second])
    return {"name": "moving.gif", "mimeType": "image/gif", "buffer": file.getvalue()}


def deep() -> dict[str, object]:
    """A PNG of 16 bits a pixel."""
    file = io.BytesIO()
    Image.new("I;16", (40, 40), 40_000).save(file, "PNG")
    return {"name": "deep.png", "mimeType": "image/png", "buffer": file.getvalue()}


def drop(page: Page, file: dict[str, object]) -> None:
    page.locator("input[type=file]").set_input_files(file)  # pyright: ignore[reportArgumentType]


def said(page: Page, words: str) -> None:
    """Waits for the address to say what was changed, and for the picture that shows it."""
    page.wait_for_url(re.compile(rf"[?&]{words}(&|$)"))
    expect(page.locator(ROOT)).to_have_count(1)
    expect(page.locator(".hs-dim")).to_have_count(0)


def window(page: Page, mode: str, width: int) -> None:
    page.emulate_media(color_scheme=mode)  # pyright: ignore[reportArgumentType]
    page.set_viewport_size({"width": width, "height": 900})


@looks
def test_every_control_of_the_network_moves_it(page, app_url, mode, width):
    window(page, mode, width)
    open_page(page, app_url, "size=64&heads=2&dim=32&depth=2")
    page.get_by_role("button", name="A temple").click()
    said(page, "photo=china")
    for name, key, words in (
        ("size", "ArrowRight", "size=80"),
        ("heads", "ArrowLeft", "heads=1"),
        ("dim", "ArrowRight", "dim=48"),
        ("depth", "ArrowRight", "depth=3"),
    ):
        page.locator(f".st-key-image_{name}").get_by_role("slider").press(key)
        said(page, words)
    pick(page, "Patch", "8")
    said(page, "patch=8")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("radio", name="Pad").click()
    said(page, "fit=pad")
    pick(page, "Positions", "sincos2d")
    said(page, "positions=sincos2d")
    page.locator(".st-key-image_registers").get_by_role("slider").press("ArrowRight")
    said(page, "registers=1")
    pick(page, "Order", "by channel")
    said(page, "order=c[^&]*")
    page.locator(".st-key-image_seed").get_by_test_id("stNumberInputStepUp").click()
    said(page, "seed=1")
    page.keyboard.press("Escape")
    expect(page.get_by_text("102 × 48 with the class token and 1 register")).to_be_visible()
    expect(page.locator(".stAlert, .stException")).to_have_count(0)
    page.get_by_role("button", name="A flower").click()
    expect(page.get_by_role("button", name="A flower")).to_have_attribute("kind", "primary")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def pick(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


@looks
def test_it_fits_the_window_and_every_control_of_the_view_moves_it(page, app_url, mode, width):
    window(page, mode, width)
    open_page(page, app_url, "registers=1")
    root(page, mode=mode, site=0, head=0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.get_by_text("untrained: random weights").first).to_be_visible()
    before = page.locator(ROOT).get_attribute("data-trace")
    for button, wanted in (
        *(("Next layer", {"site": 1}), ("Previous layer", {"site": 0})),
        *(("Next head", {"head": 1}), ("Previous head", {"head": 0})),
    ):
        page.get_by_role("button", name=button).click()
        root(page, **wanted)
    page.get_by_role("combobox", name="Layer").select_option("1")
    page.get_by_role("combobox", name="Head").select_option("max")
    root(page, site=1, head="max", trace=before)
    for name in ("Is looked at by", "Own", "0 to 1", "Shared", "Looks at", "Picture only"):
        button = page.get_by_role("button", name=name, exact=True)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
    page.locator(".hs-photo").focus()
    for key, token in (("ArrowDown", 2), ("ArrowRight", 3), ("Home", 0)):
        page.keyboard.press(key)
        root(page, token=token)
    page.get_by_role("button", name="register 0").click()
    root(page, token=1)
    page.locator(".hs-photo").click(position={"x": 3, "y": 3})
    root(page, token=2)
    page.locator(".hs-flat").click(position={"x": 9, "y": 190})
    page.wait_for_url(re.compile(r"layer=1&head=max&token=\d\d+$"))
    page.locator(".hs-tiles").click(position={"x": 40, "y": 60})
    root(page, head=0)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the picture").click()
    assert saved.value.suggested_filename == "image-layer-1-head-0.png"
    page.get_by_text("The same in Python").click()
    expect(page.locator("[data-testid=stCode]")).to_be_visible()
    expect(page.locator(".hs-dim, .stAlert, .stException")).to_have_count(0)


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


def test_of_an_animated_or_a_deep_picture_it_says_what_is_left(page, app_url):
    open_page(page, app_url)
    for file, words in (
        (moving(), "animated: its first frame"),
        (deep(), "16 bits a channel reduced to 8"),
    ):
        before = page.locator(ROOT).get_attribute("data-trace")
        drop(page, file)
        expect(page.get_by_text(words)).to_be_visible()
        expect(page.locator(f"{ROOT}[data-trace='{before}']")).to_have_count(0)
        root(page)


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
