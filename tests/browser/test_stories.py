"""A story in a real browser: steps, a prediction, inputs, the link, the file that is saved."""

import re
from xml.etree import ElementTree

import pytest
from PIL import Image
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
    for step in ("similarity", "softmax", "flow"):
        page.keyboard.press("ArrowRight")
        shows(page, step)
    expect(page.locator(".story-waits")).to_have_text("waits for your answer")
    answer = page.locator("[data-key='answer/text'], .story-scene").last
    expect(answer).not_to_contain_text("170.55")
    expect(page.locator(".story-told")).to_have_count(0)
    page.keyboard.press("3")
    expect(page.locator(".story-feedback")).to_contain_text("Right.")
    expect(page.locator(".story-waits")).to_have_count(0)
    expect(answer).to_contain_text("170.55")
    page.locator(".story-field").fill("Mike")
    expect(page.locator(".story-scene")).to_have_attribute("aria-label", re.compile("query Mike"))
    page.wait_for_url(re.compile(r"story=flow&figure=query%3AMike"))
    page.reload()
    expect(page.locator(STORY)).to_have_count(1, timeout=60_000)
    expect(page.locator(".story-field")).to_have_value("Mike")
    expect(page.locator(".story-place")).to_contain_text("step 4 of 5")


def test_a_cell_of_a_map_opens_down_to_one_multiplication(page, app_url):
    open_story(page, app_url, "heads?story=cell")
    shows(page, "cell")
    told = page.locator(".story-told")
    expect(told).to_contain_text("In this head “it” has a query")
    scores = page.get_by_role("img", name=re.compile("^scores"))
    expect(page.get_by_role("heading", name="scores: “it” reads “animal”")).to_be_visible()
    box = scores.bounding_box()
    assert box is not None
    scores.click(
        position={"x": box["width"] * 8.5 / 16, "y": box["height"] * 9.5 / 16}
    )  # of 16 tokens
    expect(page.get_by_role("heading", name="scores: “because” reads “street”")).to_be_visible()
    expect(told).to_contain_text("In this head “because” has a query")
    expect(told).to_contain_text("and “street” a key")
    page.get_by_role("group", name="Products").press("ArrowRight")
    said = page.locator(".hs-build-strips .hs-read").text_content()
    numbers = re.fullmatch(r"(\S+) × (\S+) = (\S+): element \d+", said or "")
    assert numbers
    q, k, both = (float(each.replace("−", "-")) for each in numbers.groups())
    assert abs(q * k - both) < 0.005 * (abs(q) + abs(k) + 2)  # each is rounded
    link = page.locator(".story-explore")
    expect(link).to_have_attribute("href", re.compile("form=head.*token=9&partner=8"))
    link.click()
    expect(page.locator(".headscope[data-trace]")).to_have_count(1, timeout=60_000)
    read = page.locator(".headscope").get_by_text(re.compile("because.*street"))
    expect(read.first).to_be_visible()


def test_a_long_computation_says_so(page, app_url):
    open_story(page, app_url, "dictionary?story=2")
    said, held = page.locator(".story-computed"), []
    page.route("**/api/figure/dictionary?*Bob*", lambda route: held.append(route), times=1)
    page.get_by_role("textbox", name="Query").fill("Bob")
    expect(said).to_have_text("Still computing …")
    expect(page.locator(".story-turning")).to_have_count(1)
    for each in held:
        each.continue_()
    expect(said).to_contain_text("Computed now")
    expect(page.locator(".story-turning")).to_have_count(0)


def test_on_a_phone_the_text_of_a_step_is_below_its_figure(page, app_url):
    page.set_viewport_size({"width": 390, "height": 850})
    page.goto(f"{app_url}/dictionary?story=2")
    shows(page, "softmax")
    figure, text = (page.locator(each).bounding_box() for each in (".story-figure", ".story-text"))
    assert figure
    assert text
    assert text["y"] >= figure["y"] + figure["height"]
    assert text["y"] < 850
    page.get_by_role("button", name="Back").click()
    shows(page, "similarity")


def saved(page, kind, folder):
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save this figure as {kind} file").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_a_figure_is_saved_as_a_file(page, app_url, tmp_path):
    open_story(page, app_url, "dictionary?story=2")
    page.emulate_media(color_scheme="dark")  # files are light
    shows(page, "softmax")
    path = saved(page, "an SVG", tmp_path)
    assert path.name == "headscope-dictionary-softmax.svg"
    root = ElementTree.parse(path).getroot()
    shown = "".join(root.itertext())
    assert "Anna" in shown
    assert "0.663" in shown
    assert "Ann" in str(root[1].text)  # what it shows
    assert root[2].attrib == {"width": "560", "height": "430", "fill": "#ffffff"}
    with Image.open(saved(page, "a PNG", tmp_path)) as pixels:
        assert pixels.size == (3 * 560, 3 * 430)
