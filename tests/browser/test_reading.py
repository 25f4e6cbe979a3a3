"""The form Text and the reading aids, in a browser without Streamlit."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorer_pages import Source, random_source
from tests.browser.test_explorer import ODD
from tests.browser.test_lines import Lines
from tests.browser.views import Server
from viz import theme

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


@pytest.fixture
def draw(page: Page, server: Server) -> Callable[..., Lines]:
    def opened(source, **start) -> Lines:
        page.set_viewport_size({"width": 1280, "height": 900})
        lines = Lines(page, server, source, {"start": start})
        lines.is_painted()
        return lines

    return opened


def test_every_copy_of_the_text_reads_its_own_exact_number(draw):
    source = random_source(3, 4, len(ODD), labels=ODD, special=[0, len(ODD) - 1])
    shown = draw(source, form="text", layer=1, head=2, shown="0.2", layers="0.2")
    page = shown.page
    copies = page.locator(".hs-copy")
    expect(copies).to_have_count(4)
    assert page.locator(".hs-copies script, .hs-copies img").count() == 0
    assert page.evaluate("window.bad === undefined")
    copies.first.locator("[data-index='4']").click()
    page.wait_for_url(re.compile("token=4"))
    copies.nth(3).locator("[data-index='7']").hover()
    places = [(0, 0), (0, 2), (2, 0), (2, 2)]
    for copy, (layer, head) in zip(copies.all(), places, strict=True):
        expect(copy.locator(".hs-copy-title")).to_have_text(f"layer {layer} · head {head}")
        number = f"(7) {source.array[layer, head, 4, 7]:.5f}"
        expect(copy.locator(".hs-copy-number")).to_contain_text(number)
    page.get_by_role("button", name="To a token").click()
    copies.nth(3).locator("[data-index='7']").hover()
    expect(copies.nth(3).locator(".hs-copy-number")).to_contain_text(
        f"(7) {source.array[2, 2, 7, 4]:.5f}"
    )
    copies.first.locator("[data-index='4']").press("ArrowRight")
    expect(copies.first.locator("[data-index='5']")).to_be_focused()
    expect(copies.nth(3).locator("[data-index='5']")).to_have_attribute("aria-checked", "true")
    page.keyboard.press("Escape")
    expect(page.locator("[aria-checked='true']")).to_have_count(0)


def test_chips_are_legible_in_the_colour_of_their_weight(draw):
    weights = np.tile(np.linspace(0, 1, 53, dtype=np.float32) ** 2, (53, 1))[None, None]
    shown = draw(Source(weights, [f"w{i}" for i in range(53)]), form="text", token=0, scale="own")
    chips = shown.page.locator(".hs-chip")
    expect(chips.nth(52)).to_have_attribute("aria-label", re.compile(r"weight 0\.\d{5}$"))
    for mode in theme.MODES:
        shown.page.emulate_media(color_scheme=mode)
        expect(shown.root).to_have_attribute("data-mode", mode)
        pairs = chips.evaluate_all(
            "all => all.map(getComputedStyle).map((style) => [style.color, style.backgroundColor]"
            ".map((colour) => colour.match(/\\d+/g).slice(0, 3).map(Number)))"
        )
        assert pairs[52][1] == list(theme.rgb(theme.COLOURS[mode].heads[0]))
        for colour, ground in np.array(pairs)[1:]:
            assert contrast(colour, ground) >= 4.5


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    def luminance(colour: np.ndarray) -> float:
        encoded = colour / 255
        light = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
        return float(light @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_long_text_is_read_page_by_page(draw):
    shown = draw(random_source(1, 1, 1300), form="text")
    chips = shown.page.locator(".hs-chip")
    expect(chips).to_have_count(1024)
    shown.page.get_by_role("button", name="Later tokens").click()
    expect(chips).to_have_count(276)
    expect(shown.page.get_by_text("tokens 1024–1299 of 1300")).to_be_visible()
    shown.page.get_by_role("searchbox", name="Find a token").fill("w30")
    shown.page.get_by_role("searchbox", name="Find a token").press("Enter")
    expect(shown.page.locator("[data-index='30']")).to_be_visible()


def test_brushed_tokens_alone_are_drawn_and_what_they_hide_is_told(draw):
    source = random_source(1, 2, 12)
    lines = draw(source, form="lines", head=1, rows="3-7", columns="2-9")
    expect(lines.left.locator("[role=option]")).to_have_count(4)
    whole = source.array[0, 1, 3:7].astype(np.float64)
    drawn = np.where(whole >= 0.01, whole, 0)[:, 2:9].sum()
    hidden = 100 * (1 - drawn / whole.sum())
    expect(lines.page.locator(".hs-hidden-share")).to_contain_text(f"{hidden:.0f} %")
    lines.page.get_by_role("button", name="Show all tokens again").click()
    expect(lines.left.locator("[role=option]")).to_have_count(12)
    lines.page.wait_for_url(re.compile("^(?!.*rows=)"))


def test_a_search_goes_from_match_to_match_and_a_threshold_hides(draw):
    labels = [f"w{i}" for i in range(300)]
    labels[40] = labels[250] = "Needle"
    lines = draw(random_source(1, 1, 300, labels=labels), form="lines")
    box = lines.page.get_by_role("searchbox", name="Find a token")
    box.fill("needle")
    for index in (40, 250, 40):
        box.press("Enter")
        expect(lines.token("query", index)).to_be_in_viewport()
        expect(lines.token("query", index)).to_have_class(re.compile("hs-match"))
    expect(lines.page.locator(".hs-count").first).to_have_text("1 of 2")
    slider = lines.page.get_by_role("slider", name="Hide weights below")
    slider.press("End")
    expect(lines.page.locator(".hs-hidden-share")).to_have_text("100 % of the weight is hidden")
    lines.page.wait_for_url(re.compile("least=1.*find=needle"))
