"""What a reader touches in a story: an arrow that is dragged, a number that is typed, a row."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_stories import open_story, shows

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def edges(place: Locator) -> tuple[float, float, float, float]:
    """Left, top, right, bottom."""
    box = place.bounding_box()
    assert box is not None
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def middle(page: Page, key: str) -> tuple[float, float]:
    box = page.locator(f"[data-key='{key}']").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_query_is_dragged_moved_by_keys_and_put_back(page, app_url):
    open_story(page, app_url, "query_key_value?story=1")
    shows(page, "plane")
    query = page.get_by_role("slider", name="Query of it")
    expect(query).to_have_attribute("aria-valuetext", "(1.60, 0.80)")
    (x, y), (there, below) = middle(page, "query/head"), middle(page, "key2/head")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(there, below, steps=5)
    page.mouse.up()
    expect(query).to_have_attribute("aria-valuetext", "(−2.60, 1.60)")
    page.keyboard.press("ArrowRight")
    expect(query).to_have_attribute("aria-valuetext", "(−2.50, 1.60)")
    shows(page, "plane")
    page.wait_for_url(re.compile(r"dq%3A-4.1%3B0.8"))
    page.get_by_role("button", name="The figure as it was at first").click()
    expect(query).to_have_attribute("aria-valuetext", "(1.60, 0.80)")


def test_a_number_is_typed_in_its_cell_and_a_row_is_followed(page, app_url):
    open_story(page, app_url, "by_hand?story=2")
    shows(page, "scores")
    row = page.locator("[data-key='X/row1']")
    row.click()
    expect(row).to_have_attribute("aria-pressed", "true")
    page.locator("[data-key='X/0.0']").click()
    field = page.get_by_role("textbox", name="word 0, feature 0")
    field.fill("2")
    field.press("Enter")
    scene = page.locator(".story-scene")
    expect(scene).to_have_attribute("aria-label", re.compile(r"scores X Xᵀ: word 0 4\.331"))
    cell, tip = page.locator("[data-key='S/0.1']"), page.locator(".story-tip")
    cell.hover()
    expect(tip).to_contain_text("2.0000·0.6150 + ")
    (left, top, right, bottom), (x, y, to, low) = edges(cell), edges(tip)
    assert to <= left or x >= right or low <= top or y >= bottom  # beside it
    assert 0 <= x < to <= 1280
    assert 0 <= y < low <= 800
    page.get_by_role("img", name=re.compile("word 0 · word 0 =")).focus()
    expect(tip).to_contain_text("word 0 · word 0 =")
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("word 1 · word 0 =")
    page.keyboard.press("Escape")
    expect(tip).to_be_empty()
    shows(page, "scores")
