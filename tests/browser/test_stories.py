"""A story in a real browser: steps, a prediction, inputs, the link, the file that is saved."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
STORY = ".story[data-ready]"


def open_story(page: Page, url: str, path: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{url}/{path}")
    expect(page.locator(STORY)).to_have_count(1, timeout=60_000)


def shows(page: Page, step: str) -> None:
    expect(page.locator(f"{STORY}[data-step='{step}']")).to_have_count(1)


def test_a_story_is_read_by_keys_and_its_figure_answers(page, app_url):
    open_story(page, app_url, "dictionary")
    shows(page, "exact")
    box = page.locator(".story-scene").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 800
    for step in ("similarity", "softmax", "softmax"):  # the last waits for a prediction
        page.keyboard.press("ArrowRight")
        shows(page, step)
    page.get_by_role("button", name=re.compile("A mixture")).click()
    shows(page, "flow")
    expect(page.locator(".story-feedback")).to_contain_text("Right.")
    expect(page.locator("[data-key='answer']")).to_have_count(1)
    page.locator(".story-field").fill("Mike")
    expect(page.locator(".story-scene")).to_have_attribute("aria-label", re.compile("query Mike"))
    page.wait_for_url(re.compile(r"story=3&figure=query%3AMike"))
    page.reload()
    expect(page.locator(STORY)).to_have_count(1, timeout=60_000)
    expect(page.locator(".story-field")).to_have_value("Mike")
    expect(page.locator(".story-place")).to_contain_text("Step 4 of 5")


def test_a_figure_is_saved_as_a_file_that_stands_alone(page, app_url, tmp_path: Path):
    open_story(page, app_url, "dictionary?story=2")
    shows(page, "softmax")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this figure").click()
    path = tmp_path / "figure.svg"
    download.value.save_as(path)
    assert download.value.suggested_filename == "headscope-dictionary-softmax.svg"
    root = ElementTree.parse(path).getroot()
    shown = "".join(root.itertext())
    assert "Anna" in shown
    assert "0.663" in shown
    assert root[1].attrib == {"width": "560", "height": "430", "fill": "#ffffff"}
