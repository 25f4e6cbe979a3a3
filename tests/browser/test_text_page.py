"""The Text page in a real browser, as a person uses it."""

import re

import pytest
from playwright.sync_api import Page, expect

from models.run import load, trace
from tests.browser.looks import looks
from viz.pages.text.examples import EXAMPLES

pytestmark = pytest.mark.browser
ROOT = ".headscope[data-painted]"


def open_page(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator(ROOT)).to_have_count(1, timeout=60_000)


def shown(page: Page) -> tuple[str, str]:
    root = page.locator(ROOT)
    return root.get_attribute("data-site") or "", root.get_attribute("data-head") or ""


def wait_for(page: Page, site: int, head: int | str) -> None:
    expect(page.locator(f"{ROOT}[data-site='{site}'][data-head='{head}']")).to_have_count(1)


@looks
def test_it_fits_the_window_and_the_console_is_silent(page, app_url, console, mode, width):
    page.emulate_media(color_scheme=mode)
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, app_url)
    page.wait_for_timeout(500)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    expect(page.get_by_text("What to look at")).to_be_visible()


def test_typing_changes_the_picture(page, app_url, console):
    open_page(page, app_url)
    first = page.locator(ROOT).get_attribute("data-trace")
    box = page.get_by_role("textbox", name=re.compile("Type a sentence"))
    box.fill("A cat sat on a mat")
    expect(page.locator(f"{ROOT}[data-trace='{first}']")).to_have_count(0)
    expect(page.locator(".hs-chip", has_text="mat")).to_be_visible()
    page.wait_for_url(re.compile(r"input=A(\+|%20)cat"))


def test_a_click_in_the_atlas_shows_that_head_and_the_link_remembers(page, app_url, console):
    open_page(page, app_url)
    atlas = page.locator(".hs-atlas [tabindex='0']").first
    atlas.focus()
    atlas.press("ArrowRight")
    wait_for(page, 3, 2)
    atlas.press("ArrowDown")
    wait_for(page, 4, 2)
    page.wait_for_url(re.compile(r"layer=4"))
    assert "head=2" in page.url
    again = page.context.new_page()
    open_page(again, page.url)
    assert shown(again) == ("4", "2")


def test_the_read_out_is_the_exact_weight(page, app_url, console):
    open_page(page, app_url)
    example = EXAMPLES[0]
    weights = trace(load("minilm"), example.input).weights(example.layer, example.head)
    matrix = page.locator(".hs-matrix .hs-overlay")
    matrix.focus()
    matrix.press("ArrowRight")
    line = page.locator(".hs-matrix .hs-read")
    expect(line).to_have_text(re.compile(r"→.*: \d\.\d{5} · row sum 1\.000000"))
    text = line.text_content() or ""
    query, key = (int(n) for n in re.findall(r"” \((\d+)\)", text))
    value = float(re.findall(r": (\d\.\d{5})", text)[0])
    assert value == pytest.approx(weights[query, key].item(), abs=6e-6)


def test_script_as_text_stays_text(page, app_url, console):
    open_page(page, f"{app_url}/?input=%3Cscript%3Ealert(1)%3C/script%3E%20%3Cb%3Ebold%3C/b%3E")
    page.on("dialog", lambda dialog: pytest.fail("the text was executed"))
    expect(page.locator(".hs-chip").get_by_text("script", exact=True).first).to_be_visible()
    assert page.locator(".headscope b, .headscope script").count() == 0


def test_building_one_is_live(page, app_url, console):
    open_page(page, f"{app_url}/?model=built&input=one+two+three")
    expect(
        page.locator(ROOT).get_by_text(re.compile("untrained: random weights")).first
    ).to_be_visible()
    before = page.locator(ROOT).get_attribute("data-trace")
    slider = page.get_by_role("slider", name="Depth")
    slider.focus()
    slider.press("ArrowRight")
    expect(page.locator(f"{ROOT}[data-trace='{before}']")).to_have_count(0)
    page.wait_for_url(re.compile("depth=5"))


def test_an_error_and_the_way_back(page, app_url, console):
    open_page(page, f"{app_url}/?model=built")
    slider = page.get_by_role("slider", name="Heads")
    slider.focus()
    slider.press("ArrowRight")
    expect(page.get_by_text("heads must divide dim")).to_be_visible()
    expect(page.locator(ROOT)).to_have_count(0)
    slider.press("ArrowLeft")
    expect(page.locator(ROOT)).to_have_count(1)
    expect(page.get_by_text("heads must divide dim")).to_have_count(0)


def test_an_example_after_wandering_about_shows_its_own_head(page, app_url, console):
    open_page(page, app_url)
    atlas = page.locator(".hs-atlas [tabindex='0']").first
    atlas.focus()
    for _ in range(3):
        atlas.press("ArrowRight")
    wait_for(page, 3, 4)
    page.get_by_role("button", name="Keys … are").click()
    wait_for(page, 3, 1)
    page.wait_for_url(re.compile(r"input=The(\+|%20)keys"))


def test_the_example_that_is_shown_brings_its_own_head_back(page, app_url, console):
    open_page(page, app_url)
    atlas = page.locator(".hs-atlas [tabindex='0']").first
    atlas.focus()
    atlas.press("ArrowRight")
    page.wait_for_url(re.compile("head=2"))
    page.get_by_role("button", name="Who is “it”?").click()
    wait_for(page, 3, 1)


def test_the_python_box_opens(page, app_url, console):
    open_page(page, app_url)
    page.get_by_text("The same in Python").click()
    expect(page.get_by_text("t.weights(layer=3, head=1)")).to_be_visible()
