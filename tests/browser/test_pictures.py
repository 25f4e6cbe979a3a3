"""Pictures in a real browser, as a person explores them."""

import io
import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.views import another_trace, open_lab, open_page, painted, trace_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
SMALL = "model=built-vit&size=64&heads=2&dim=16&depth=3"


def opened(page: Page, url: str, query: str = SMALL) -> None:
    open_page(page, f"{url}/?{query}")


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


def drop(page: Page, file: dict[str, object] | list[dict[str, object]]) -> None:
    page.locator("input[type=file]").set_input_files(file)  # pyright: ignore[reportArgumentType]


def said(page: Page, words: str) -> None:
    """Waits for the address to say what was changed, and for the picture that shows it."""
    page.wait_for_url(re.compile(rf"[?&]{words}(&|$)"))
    painted(page)
    expect(page.locator(".hs-dim")).to_have_count(0)


def test_an_own_picture_a_bad_one_an_odd_one_and_back_to_a_photo(page, app_url):
    opened(page, app_url)
    before = trace_of(page)
    bad = {"name": "text.png", "mimeType": "", "buffer": b"only words"}
    refused = page.get_by_text("this is no image that can be read")
    drop(page, bad)
    expect(refused).to_be_visible()
    painted(page, trace=before)
    drop(page, picture())
    another_trace(page, before)
    page.wait_for_url(re.compile("upload=[0-9a-f]{64}"))
    expect(page.get_by_text("from 90 × 50 pixels")).to_be_visible()
    expect(refused).to_have_count(0)
    last = trace_of(page)
    drop(page, moving())
    expect(page.get_by_text("animated: its first frame")).to_be_visible()
    another_trace(page, last)
    own = trace_of(page)
    drop(page, bad)
    expect(refused).to_be_visible()
    painted(page, trace=own)
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Remove your picture").click()
    painted(page, trace=before)
    expect(refused).to_have_count(0)


def test_two_pictures_show_the_same_patch_and_one_of_several_is_chosen(page, app_url):
    opened(page, app_url, f"{SMALL}&compare=photo:china")
    photos = page.get_by_role("img", name="Arrow keys choose a patch")
    expect(photos).to_have_count(2)
    for pointed in (1, 0):
        photos.nth(pointed).hover(position={"x": 3, "y": 3})
        expect(page.locator(".hs-headline").first).to_contain_text("This patch")
    photos.nth(1).press("End")
    painted(page, token=16)
    page.wait_for_url(re.compile("compare=photo.*token=16"))
    page.get_by_role("radio", name="mean of heads").nth(1).press("End")
    painted(page, head="max")
    drop(page, [picture(), moving()])
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Your picture 2", exact=True).click()
    expect(page.get_by_role("button", name="Your picture 2 drop, paste")).to_be_visible()
    open_lab(page, "Compare")
    beside = page.get_by_label("Compare with")
    beside.select_option("Picture: Your picture 1")
    expect(page.get_by_role("heading", name="Your picture 1", exact=True)).to_be_visible()
    beside.select_option("nothing")
    expect(photos).to_have_count(1)


PASTE = """([bytes, name, type]) => {
  const data = new DataTransfer();
  if (name) data.items.add(new File([new Uint8Array(bytes)], name, {type}));
  document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
}"""


def test_a_pasted_picture_is_an_uploaded_one(page: Page, app_url: str) -> None:
    """A paste without a file, and one of a file that is no picture, say so in one line."""
    opened(page, app_url)
    before = trace_of(page)
    expect(page.get_by_role("button", name="A flower drop, paste")).to_be_visible()
    page.evaluate(PASTE, [[], "", ""])
    expect(page.get_by_text("The clipboard holds no picture")).to_be_visible()
    page.evaluate(PASTE, [list(b"%PDF-1.7 nothing"), "page.pdf", "application/pdf"])
    expect(page.get_by_text("this is no image that can be read")).to_be_visible()
    data = picture()["buffer"]
    assert isinstance(data, bytes)
    page.evaluate(PASTE, [list(data), "image.png", "image/png"])
    expect(page.get_by_role("button", name="Your picture")).to_be_visible()
    another_trace(page, before)
    expect(page.get_by_text("The clipboard holds no picture")).to_have_count(0)


def test_a_class_and_a_patch_are_followed_over_the_picture(page: Page, app_url: str) -> None:
    """The class in the line opens its relevance; features follow the patch that is clicked."""
    opened(page, app_url, "model=digits")
    page.locator(".hs-answer").get_by_role("button").first.click()
    title = page.get_by_role("heading", name="Relevance (Chefer) of “3”")
    expect(title).to_be_visible()
    page.wait_for_url(re.compile(r"form=model.*&output=3"))
    page.get_by_role("button", name="Test by removing patches").click()
    expect(page.get_by_text("Patches are greyed out one after another")).to_be_visible()
    page.get_by_label("Method", exact=True).select_option("rollout")
    expect(page.get_by_role("heading", name="Rollout from the class token")).to_be_visible()
    page.get_by_role("button", name="Features").click()
    expect(page.get_by_role("heading", name=re.compile(r"Features: 64 patches"))).to_be_visible()
    alike = page.locator(".hs-over-parts .hs-photo .hs-face").last
    alike.focus()
    alike.press("End")
    expect(page.get_by_role("heading", name="Like patch 7,7")).to_be_visible()
    expect(page.locator(".hs-dim")).to_have_count(0)
    page.get_by_role("button", name="Picture", exact=True).click()
    said(page, "token=64")


def test_the_patches_of_a_picture_are_rows_of_a_matrix_and_a_head_is_opened(
    page: Page, app_url: str
) -> None:
    opened(page, app_url, "model=digits")
    page.get_by_role("button", name="Matrix").click()
    matrix = page.get_by_role("img", name=re.compile("65 query tokens .* over 65 key tokens"))
    matrix.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        matrix.press(key)
    said(page, "token=1")
    page.get_by_role("button", name="Inside a head").click()
    expect(page.get_by_text("What this head computes, from left to right")).to_be_visible()
    said(page, "form=head")
    page.get_by_role("button", name="Picture", exact=True).click()
    painted(page, token=1)


def test_a_head_is_patched_from_the_second_picture(page: Page, app_url: str) -> None:
    opened(page, app_url, "model=digits&compare=photo:digits/a-four.png")
    expect(page.locator(".hs-tiles")).to_have_count(2)
    expect(page.locator(".hs-beside-heads section[inert], .hs-dim")).to_have_count(0)
    open_lab(page, "Experiment")
    page.get_by_role("button", name="Patch from another picture").click()
    page.get_by_role("button", name="Patch", exact=True).click()
    page.wait_for_url(re.compile(r"edits=Patch%282.*head%3D\d.*second=photo"))
    painted(page)
