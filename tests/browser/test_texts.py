"""Texts in a real browser, as a person explores them."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from playwright.sync_api import expect

from models.run import load, trace
from tests.browser.views import VIEW, another_trace, open_lab, open_page, painted, trace_of
from viz.pages.explore.examples import EXAMPLES

EXAMPLE = EXAMPLES["minilm"][0]

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
SCRIPT = "?input=%3Cscript%3Ealert(1)%3C/script%3E%20%3Cb%3Ebold%3C/b%3E"


@pytest.mark.parametrize("path", ["?", "image?", "models?"])
def test_an_embed_link_shows_the_view_alone(page, app_url, path):
    open_page(page, f"{app_url}/{path}embed=true")
    others = page.locator(".st-key-frame_bar, [class*='_before'], h4")
    expect(others).not_to_have_count(0)
    expect(others.filter(visible=True)).to_have_count(0)


def test_a_text_is_shown_as_it_is_with_its_exact_weights(page, app_url):
    page.on("dialog", lambda dialog: pytest.fail("the text was executed"))
    open_page(page, f"{app_url}/{SCRIPT}&form=text")
    words = page.get_by_role("radiogroup", name="Words", exact=True)
    expect(words.get_by_role("radio", name=re.compile("^script, position"))).to_have_count(2)
    expect(words.locator("b, script")).to_have_count(0)
    expect(page.locator(".headscope script")).to_have_count(0)
    expect(page.locator(".headscope b").filter(has_text=re.compile("^bold$"))).to_have_count(0)
    before = trace_of(page)
    text = "A cat sat on a mat"
    page.get_by_role("textbox", name="Type a sentence").fill(text)
    another_trace(page, before)
    expect(words.get_by_role("radio", name=re.compile("^mat, position"))).to_be_visible()
    page.wait_for_url(re.compile(r"input=A(\+|%20)cat(\+|%20)sat"))
    painted(page, site=EXAMPLE.layer, head=EXAMPLE.head)
    page.get_by_role("button", name="Matrix", exact=True).click()
    page.get_by_role("img", name=re.compile("^Attention of .* query tokens")).press("ArrowRight")
    line = page.locator(".hs-matrix .hs-read")
    expect(line).to_have_text(re.compile(r"→.*: \d\.\d{5} · row sum 1\.000000"))
    said = line.text_content() or ""
    query, key = (int(n) for n in re.findall(r"” \((\d+)\)", said))
    value = float(re.findall(r": (\d\.\d{5})", said)[0])
    weights = trace(load("minilm"), text).weights(EXAMPLE.layer, EXAMPLE.head)
    assert value == pytest.approx(weights[query, key].item(), abs=6e-6)


def test_a_head_of_the_atlas_is_in_the_link_until_an_example_brings_its_own(page, app_url):
    open_page(page, app_url)
    atlas = page.get_by_role("group", name="All heads")
    atlas.press("ArrowRight")
    painted(page, site=3, head=2)
    page.get_by_role("button", name="Who is “it”?").click()  # the example that is shown
    painted(page, site=3, head=1)
    for key in ("ArrowRight", "ArrowDown"):
        atlas.press(key)
    painted(page, site=4, head=2)
    page.wait_for_url(re.compile("layer=4&head=2"))
    again = page.context.new_page()
    open_page(again, page.url)
    painted(again, site=4, head=2)
    again.close()
    page.get_by_role("button", name="Subject far from its verb").click()
    painted(page, site=3, head=1)
    page.wait_for_url(re.compile(r"input=The(\+|%20)keys"))


def moved(slider, key):
    """Presses a key until the slider moves: a run that draws it anew may lose one."""
    value = "(slider) => slider.getAttribute('aria-valuenow') ?? slider.value"
    before = slider.evaluate(value)
    for _ in range(5):
        slider.press(key)
        slider.page.wait_for_timeout(1000)
        if slider.evaluate(value) != before:
            return
    raise AssertionError(f"{key} does not move the slider from {before}")


def test_a_network_of_build_is_live_and_opens_here_and_one_that_does_not_fit_is_told(page, app_url):
    page.goto(f"{app_url}/?model=built&input=one+two+three&heads=7")
    problem = page.get_by_text("heads must divide dim")
    expect(problem).to_be_visible(timeout=60_000)
    expect(page.locator(VIEW)).to_have_count(0)
    page.get_by_role("link", name="Change it in Build").click()
    moved(page.get_by_role("slider", name="Heads"), "ArrowRight")  # the next that divides
    expect(page).to_have_url(re.compile("heads=8"))
    expect(problem).to_have_count(0)
    page.get_by_role("link", name="Open in Explore").click()
    expect(page.locator(VIEW).get_by_text("untrained: random weights").first).to_be_visible()


def test_save_gives_files_that_open(page, app_url, tmp_path):
    open_page(page, f"{app_url}/?form=text&layer=1&head=2&token=1&shown=0.2")
    model = load("minilm")
    weights = trace(model, EXAMPLE.input).weights
    expected = [weights(1, head)[1].numpy() for head in (0, 2)]
    open_lab(page, "Save")
    save = page.get_by_role("region", name="Save")

    def saved(name: str) -> bytes:
        with page.expect_download() as download:
            save.get_by_role("button", name=name).click()
        path = tmp_path / download.value.suggested_filename
        assert path.stem == "all-MiniLM-L6-v2-text-layer-1-head-0-2"
        download.value.save_as(path)
        return path.read_bytes()

    found = np.load(io.BytesIO(saved("NPZ")))["weight"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7)
    rows = list(csv.DictReader(io.StringIO(saved("CSV").decode())))
    assert [float(row["value"]) for row in rows] == pytest.approx(found.ravel(), rel=1e-6)
    names = [f"head {head}" for head in (0, 2)]
    svg = [element.text for element in ElementTree.fromstring(saved("SVG")).iter()]
    assert [text for text in svg if text in names] == names
    text = pypdfium2.PdfDocument(saved("PDF"))[0].get_textpage().get_text_range()
    assert all(name in text for name in names)
    assert Image.open(io.BytesIO(saved("PNG"))).width == round(468 * 300 / 72)
    saved("Web page")
    page.keyboard.press("Escape")  # closes the drawer; the token stays
    expect(save).to_be_hidden()
    page.context.set_offline(True)
    page.goto(next(Path(tmp_path).glob("*.html")).as_uri())
    place = int(expected[1].argmax())
    share = f"{100 * expected[1][place]:.0f} %"
    expect(page.locator(".hs-reading .hs-bar-row").first).to_contain_text(share)
