"""The lines between two columns of tokens, in a browser without Streamlit."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorer_pages import Source, random_source
from tests.browser.views import LOOKS, SIZES, open_lab

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def inked(page: Page, x: float, y: float) -> bool:
    """Whether a line runs through this place of the picture."""
    return page.locator(".hs-strands").evaluate(
        """(canvas, [x, y]) => {
          const ratio = canvas.width / canvas.clientWidth;
          const at = [Math.round(x * ratio) - 2, Math.round(y * ratio) - 2, 5, 5];
          return canvas.getContext("2d").getImageData(...at).data.some((part) => part > 40);
        }""",
        [x, y],
    )


def single(cells: dict[tuple[int, int], float], tokens: int = 6, heads: int = 2) -> Source:
    """Weights of one layer that are zero but for these cells of head 0."""
    weights = np.zeros((1, heads, tokens, tokens))
    for (query, key), weight in cells.items():
        weights[0, 0, query, key] = weight
    return Source(weights, [f"t{i}" for i in range(tokens)])


@pytest.mark.parametrize(("size", "mode"), LOOKS)
def test_a_line_runs_from_the_query_to_the_key(explore, size, mode):
    lines = explore(single({(1, 4): 1.0}), size, mode, form="lines")
    width = lines.page.locator(".hs-strands").evaluate("canvas => canvas.clientWidth")
    row = lines.token("query", 0).bounding_box()["height"]
    middle = (1.5 + 4.5) / 2 * row
    assert inked(lines.page, width / 2, middle)
    assert not inked(lines.page, width / 2, middle - 1.5 * row)
    assert not inked(lines.page, width / 2, middle + 1.5 * row)
    assert lines.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


def test_heads_are_switched_on_off_and_alone(explore):
    lines = explore(random_source(1, 4, 6), form="lines", head=1)
    head = [lines.page.get_by_role("button", name=f"Head {i}", exact=True) for i in range(4)]
    expect(head[1]).to_have_count(0)
    open_lab(lines.page, "Numbers")
    drawn = lines.page.get_by_role("combobox", name="Heads drawn")
    drawn.select_option("Several heads")
    expect(lines.page.locator(".hs-head-switch[aria-pressed='true']")).to_have_count(4)
    lines.page.keyboard.press("Escape")
    head[3].focus()
    lines.page.keyboard.press("Space")
    expect(head[3]).to_have_attribute("aria-pressed", "false")
    expect(head[3]).to_be_focused()
    lines.page.wait_for_url(re.compile(r"shown=0\.1\.2(&|$)"))
    head[1].click()
    lines.page.wait_for_url(re.compile(r"shown=0\.2(&|$)"))
    head[2].dblclick()
    expect(head[2]).to_have_count(0)
    lines.shows(0, 2)
