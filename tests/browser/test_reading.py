"""The form Text and the reading aids, in a browser without Streamlit."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.explorer_pages import Source, random_source
from tests.browser.test_explorer import ODD
from tests.browser.views import open_lab
from viz import theme

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def test_the_text_is_shaded_and_read_by_the_word_that_is_chosen(explore):
    source = random_source(3, 4, len(ODD), labels=ODD, special=[0, len(ODD) - 1])
    shown = explore(source, form="text", layer=1, head=2)
    page = shown.page
    words = page.get_by_role("radiogroup", name="Words").get_by_role("radio")
    expect(words).to_have_count(len(ODD))
    assert page.locator(".hs-text script, .hs-text img").count() == 0
    assert page.evaluate("window.bad === undefined")
    words.nth(4).click()
    page.wait_for_url(re.compile("token=4"))
    row = source.array[1, 2, 4]
    best = int(row.argmax())
    share = f"{100 * row[best]:.0f} %"
    expect(words.nth(best)).to_have_attribute(
        "aria-label", re.compile(rf"position {best}, {share}$")
    )
    expect(page.locator(".hs-reading .hs-bar-row").first).to_contain_text(share)
    page.get_by_role("button", name="Who looks at").click()
    page.wait_for_url(re.compile("token=4&direction=in"))
    column = source.array[1, 2, :, 4]
    share = f"{100 * column.max():.0f} %"
    expect(page.locator(".hs-reading .hs-bar-row").first).to_contain_text(share)
    words.nth(4).press("ArrowRight")
    expect(words.nth(5)).to_be_focused()
    page.wait_for_url(re.compile("token=5&direction=in"))
    page.keyboard.press("Escape")
    expect(page.locator("[aria-checked='true']")).to_have_count(0)


def test_words_are_legible_in_the_colour_of_their_weight(explore):
    weights = np.zeros((1, 1, 53, 53), np.float32)
    weights[..., 0] = np.linspace(0, 1, 53) ** 2
    weights[..., 1] = 1 - weights[..., 0]
    labels = [f"w{i}" for i in range(53)]
    shown = explore(Source(weights, labels), form="text", token=0, direction="in")
    words = shown.page.locator(".hs-word")
    expect(words.nth(52)).to_have_attribute("aria-label", re.compile(r"100 %$"))
    for mode in theme.MODES:
        shown.page.emulate_media(color_scheme=mode)
        expect(shown.root).to_have_attribute("data-mode", mode)
        pairs = words.evaluate_all(
            "all => all.map(getComputedStyle).map((style) => [style.color, style.backgroundColor]"
            ".map((colour) => colour.match(/\\d+/g).slice(0, 3).map(Number)))"
        )
        assert pairs[52][1] == theme.sequential(mode)[255].tolist()
        for colour, ground in np.array(pairs)[1:]:
            assert contrast(colour, ground) >= 4.5


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    def luminance(colour: np.ndarray) -> float:
        encoded = colour / 255
        light = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
        return float(light @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_search_goes_from_match_to_match(explore):
    labels = [f"w{i}" for i in range(300)]
    labels[40] = labels[250] = "Needle"
    lines = explore(random_source(1, 1, 300, labels=labels), form="lines")
    open_lab(lines.page, "Numbers")
    box = lines.page.get_by_role("searchbox", name="Find a token")
    box.fill("needle")
    for index in (40, 250, 40):
        box.press("Enter")
        expect(lines.token("query", index)).to_be_in_viewport()
        expect(lines.token("query", index)).to_have_class(re.compile("hs-match"))
    expect(lines.page.locator(".hs-count").first).to_have_text("1 of 2")
    lines.page.wait_for_url(re.compile("find=needle"))
