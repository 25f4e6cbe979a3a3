"""A second model beside the first on one text: heads of its own, tokens aligned, in the link."""

import re

import pytest
from playwright.sync_api import Page, expect

from analysis.alike import alike
from models.run import load, trace

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
TEXT = "the cats near the cabinet"
LINK = f"?model=grammar-next&compare=catalogue:minilm&input={TEXT}&layer=1&head=0&token="
SECOND = ".hs-other .headscope"


def test_the_most_similar_head_of_a_second_model_beside_the_first(page: Page, app_url: str) -> None:
    t, other = trace(load("grammar-next"), TEXT), trace(load("minilm"), TEXT)
    result = alike(t, t.sites[1], 0, other)
    (best,) = result.best(1)
    page.goto(f"{app_url}/{LINK}")
    line, second = page.locator(".hs-likeness"), page.locator(SECOND)
    expect(line).to_contain_text(f"Overlap of the two heads: {result.overlap[1, 0]:.2f}")
    expect(page.locator(".hs-half > h3").first).to_have_text("Grammar, next word")
    expect(page.locator(".hs-other > h3")).to_have_text("all-MiniLM-L6-v2")
    line.get_by_role("button", name="Most alike").click()
    expect(line).to_contain_text(f"Overlap of the two heads: {result.overlap[best]:.2f}")
    expect(second).to_have_attribute("data-site", str(best[0]))
    expect(second).to_have_attribute("data-head", str(best[1]))
    page.wait_for_url(re.compile(rf"there={best[0]}%2C{best[1]}"))

    # the token after the arrow keys have gone there is that of the same word in the second
    matrix = page.locator(".hs-half:not(.hs-other) .hs-overlay")
    matrix.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)  # the first shows the cross-hair at the first cell
    expect(page.locator(".hs-half:not(.hs-other) .hs-matrix .hs-read")).to_contain_text("cats")
    page.keyboard.press("Enter")
    expect(second).to_have_attribute("data-token", "2")
    page.wait_for_url(re.compile("token=2"))

    with page.context.expect_page() as opening:
        page.evaluate("open(location.href)")
    tab = opening.value
    expect(tab.locator(SECOND)).to_have_attribute("data-head", str(best[1]))
    expect(tab.locator(SECOND)).to_have_attribute("data-token", "2")
    tab.close()
    line.get_by_role("button", name="Same layer and head").click()
    expect(second).to_have_attribute("data-site", "1")
    page.set_viewport_size({"width": 390, "height": 800})
    pictures = page.locator(".hs-matrix .hs-stage")
    page.wait_for_function(
        "([a, b]) => b.getBoundingClientRect().top > a.getBoundingClientRect().bottom",
        arg=[each.element_handle() for each in pictures.all()],
    )
